//! What a transaction did: layer 4, filled by the engine and read by the commit.
//!
//! Everything here grows with the changes of one transaction, never with the document.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::block::content::{SubdocContent, SubdocLink};
use crate::block::index::{BranchIdx, ClientIdx, ItemIdx, KeyIdx};
use crate::block::item::Id;
use crate::store::Store;

/// A deleted range of one client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DeletedRange {
    pub(crate) client: ClientIdx,
    pub(crate) clock: u32,
    pub(crate) len: u32,
}

/// With more clients than this, `before` is looked up in a hash set.
const SCAN_MAX: usize = 8;

/// A transaction of more candidates or deletions than this gives their room back: the next one is seldom as large.
const KEPT_ROOM: usize = 1024;

/// Sub-documents that came, went, or were asked to load in a transaction.
#[derive(Default, Debug)]
pub struct Subdocs {
    /// Their items; what was collected since left its slot to others.
    pub(crate) added: Vec<(ItemIdx, Id)>,
    pub(crate) removed: Vec<RemovedSubdoc>,
    /// What somebody asked to load, and how many of `added` came before.
    pub(crate) loaded: Vec<(usize, SubdocLink)>,
}

/// A sub-document whose item was deleted, or that was replaced by a fresh one.
#[derive(Debug)]
pub(crate) struct RemovedSubdoc {
    pub(crate) id: Id,
    pub(crate) content: Arc<SubdocContent>,
    /// It came in the same transaction.
    pub(crate) born: bool,
}

/// The changes of one transaction.
#[derive(Default, Debug)]
pub(crate) struct ChangeSet {
    /// The state of each client that got new blocks, before the first of them.
    before: Vec<(ClientIdx, u32)>,
    /// The clients of `before`, once they are many.
    noted: FxHashSet<ClientIdx>,
    /// What was deleted, in the order in which it happened; neighbours are joined as they come.
    pub(crate) deleted: Vec<DeletedRange>,
    /// Items that may now join their left neighbour.
    pub(crate) candidates: Vec<ItemIdx>,
    /// Children of deleted types that were deleted before this transaction: once collected they may join both neighbours.
    pub(crate) old_children: Vec<Id>,
    /// Types that changed, with the key for map entries (`NONE` for the sequence), in the order of the first change.
    pub(crate) touched: Vec<(BranchIdx, KeyIdx)>,
    /// Sub-documents that came, went, or were asked to load.
    pub(crate) subdocs: Option<Box<Subdocs>>,
    /// Trees are rebuilt at the commit rather than kept up to date (a large update).
    pub(crate) bulk: bool,
    /// Deletions of needless format marks.
    pub(crate) cleaned: Vec<DeletedRange>,
    /// Something that has content was deleted.
    pub(crate) to_collect: bool,
    /// Somebody may look at deleted content before the commit collects it: no shortcut may drop it at once.
    pub(crate) hold_content: bool,
}

impl ChangeSet {
    #[inline]
    pub(crate) fn clear(&mut self) {
        if self.is_plain() && self.before.len() <= SCAN_MAX && self.deleted.len() <= SCAN_MAX {
            self.before.clear();
            self.deleted.clear();
            self.touched.clear();
            self.bulk = false;
        } else {
            self.clear_all();
        }
    }

    fn clear_all(&mut self) {
        if self.before.len() > SCAN_MAX {
            self.before = Vec::new();
            self.noted = FxHashSet::default();
        }
        self.before.clear();
        self.deleted.clear();
        self.deleted.shrink_to(KEPT_ROOM);
        self.candidates.clear();
        self.candidates.shrink_to(KEPT_ROOM);
        self.old_children.clear();
        self.touched.clear();
        self.subdocs = None;
        self.cleaned = Vec::new();
        self.bulk = false;
        self.hold_content = false;
        self.to_collect = false;
    }

    /// What happened to sub-documents.
    pub(crate) fn subdocs_mut(&mut self) -> &mut Subdocs {
        self.subdocs.get_or_insert_default()
    }

    /// Notes the state of a client before its first new block.
    #[inline]
    pub(crate) fn note_before(&mut self, client: ClientIdx, state: u32) {
        match self.before.last() {
            None => self.before.push((client, state)),
            Some(last) if last.0 == client => {}
            Some(_) => self.note_other(client, state),
        }
    }

    fn note_other(&mut self, client: ClientIdx, state: u32) {
        if self.before.len() > SCAN_MAX {
            if self.noted.insert(client) {
                self.before.push((client, state));
            }
            return;
        }
        // The client that writes now stands last, where it is found at once.
        if let Some(place) = self.before.iter().position(|entry| entry.0 == client) {
            let last = self.before.len() - 1;
            self.before.swap(place, last);
            return;
        }
        self.before.push((client, state));
        if self.before.len() > SCAN_MAX {
            self.noted.extend(self.before.iter().map(|entry| entry.0));
        }
    }

    /// Clients with new blocks and their state before.
    pub(crate) fn inserted(&self) -> &[(ClientIdx, u32)] {
        &self.before
    }

    /// The state of `client` before this transaction, given its state now.
    pub(crate) fn state_before(&self, client: ClientIdx, now: u32) -> u32 {
        self.before.iter().find(|entry| entry.0 == client).map_or(now, |entry| entry.1)
    }

    /// Whether a unit came in this transaction. Where many clients would make that a search, false.
    #[inline]
    pub(crate) fn surely_new(&self, id: Id) -> bool {
        let is_new = |entry: &(ClientIdx, u32)| entry.0 == id.client && id.clock >= entry.1;
        self.before.len() <= SCAN_MAX && self.before.iter().any(is_new)
    }

    /// Notes a range that is deleted and was not before, here and in the store.
    #[inline]
    pub(crate) fn delete(&mut self, store: &mut Store, id: Id, len: u32) {
        store.client_mut(id.client).deleted.note(id.clock, len);
        if let Some(last) = self.deleted.last_mut()
            && last.client == id.client
        {
            if last.clock + last.len == id.clock {
                last.len += len;
                return;
            }
            if id.clock + len == last.clock {
                last.clock = id.clock;
                last.len += len;
                return;
            }
        }
        self.deleted.push(DeletedRange { client: id.client, clock: id.clock, len });
    }

    /// Notes that a needless format mark was deleted.
    pub(crate) fn clean(&mut self, id: Id) {
        self.cleaned.push(DeletedRange { client: id.client, clock: id.clock, len: 1 });
    }

    /// Notes that a type changed.
    #[inline]
    pub(crate) fn touch(&mut self, branch: BranchIdx, key: KeyIdx) {
        if self.touched.last() != Some(&(branch, key)) {
            self.touched.push((branch, key));
        }
    }

    /// Whether there is nothing to tidy up: text or values were added or taken away in place, at most.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        !self.to_collect
            && self.candidates.is_empty()
            && self.old_children.is_empty()
            && self.cleaned.is_empty()
            && self.subdocs.is_none()
    }

    /// Whether nothing happened.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.before.is_empty() && self.deleted.is_empty()
    }
}
