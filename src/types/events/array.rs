//! Changes of sequences of elements: lists, and the children of XML nodes.

use std::collections::HashSet;

use yatta_encoding::{Any, ID};

use super::changes::{Fate, Piece, Visit, Way, index_at, piece_text, piece_width, pieces, walk};
use super::{Observable, Source};
use crate::block::index::{BranchIdx, ItemIdx};
use crate::block::item::{Id, Item, Kind};
use crate::store::Store;
use crate::transaction::TransactionMut;
use crate::types::array::ArrayRef;
use crate::types::{DeepObservable, Out, Path};

/// One step of a change to a sequence, from its start on.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// These elements were inserted.
    Added(Vec<Out>),
    /// As many elements were deleted.
    Removed(u32),
    /// As many elements stayed.
    Retain(u32),
}

/// The change of a list.
pub struct ArrayEvent {
    source: Source,
    target: ArrayRef,
}

impl ArrayEvent {
    pub(super) fn new(source: Source) -> Self {
        Self { target: ArrayRef::from(source.target.clone()), source }
    }

    /// Returns the list that changed.
    pub fn target(&self) -> &ArrayRef {
        &self.target
    }

    /// Returns the way from the observed type down to this list.
    pub fn path(&self) -> Path {
        self.source.path.clone()
    }

    /// Returns what was inserted, deleted and kept, from the start of the list on. What is kept behind the last change is
    /// left out. Cost O(changes · log n), once.
    pub fn delta(&self, txn: &TransactionMut<'_>) -> &[Change] {
        &self.source.list(txn).delta
    }

    /// Returns the ids of the inserted blocks.
    pub fn inserts(&self, txn: &TransactionMut<'_>) -> &HashSet<ID> {
        &self.source.list(txn).added
    }

    /// Returns the ids of the deleted blocks.
    pub fn removes(&self, txn: &TransactionMut<'_>) -> &HashSet<ID> {
        &self.source.list(txn).removed
    }
}

impl Observable for ArrayRef {
    type Event = ArrayEvent;
}

impl DeepObservable for ArrayRef {}

/// All that is told of a sequence of elements.
#[derive(Default)]
pub(super) struct ListChanges {
    pub(super) delta: Vec<Change>,
    pub(super) added: HashSet<ID>,
    pub(super) removed: HashSet<ID>,
}

impl Source {
    /// What changed of the sequence.
    pub(super) fn list(&self, txn: &TransactionMut<'_>) -> &ListChanges {
        self.shared.list.get_or_init(|| match self.target.resolve(txn.store_ref()) {
            Some(branch) => list_changes(txn, branch, Way::Best),
            None => ListChanges::default(),
        })
    }
}

/// Yjs: `YEvent.changes`.
pub(super) fn list_changes(txn: &TransactionMut<'_>, branch: BranchIdx, way: Way) -> ListChanges {
    let store = txn.store_ref();
    let mut walker = ListWalk { txn, store, branch, last: None, changes: ListChanges::default() };
    walk(txn, branch, way, &mut walker);
    let ListWalk { last, mut changes, .. } = walker;
    changes.delta.extend(last.filter(|last| !matches!(last, Change::Retain(_))));
    changes
}

struct ListWalk<'t, 'doc> {
    txn: &'t TransactionMut<'doc>,
    store: &'t Store,
    branch: BranchIdx,
    last: Option<Change>,
    changes: ListChanges,
}

impl Visit for ListWalk<'_, '_> {
    fn item(&mut self, slot: ItemIdx) {
        let item = &self.store.items[slot];
        if item.kind() != Kind::Format {
            pieces(self.txn, item, |piece| self.piece(item, piece));
        }
    }

    fn gap(&mut self, from: ItemIdx, to: ItemIdx) {
        if to.is_some() {
            let end = index_at(self.store, self.branch, to);
            self.retain(end - index_at(self.store, self.branch, from));
        }
    }
}

impl ListWalk<'_, '_> {
    fn piece(&mut self, item: &Item, piece: Piece) {
        let id = self.store.public_id(Id::new(item.id.client, item.id.clock + piece.from));
        match piece.fate {
            Fate::Added => {
                self.changes.added.insert(id);
                self.add(elements(self.store, item, piece));
            }
            Fate::Removed => {
                self.changes.removed.insert(id);
                self.remove(piece_width(self.store, item, piece));
            }
            Fate::Kept => self.retain(piece_width(self.store, item, piece)),
        }
    }

    fn add(&mut self, mut values: Vec<Out>) {
        if let Some(Change::Added(all)) = &mut self.last {
            all.append(&mut values);
        } else {
            self.changes.delta.extend(self.last.replace(Change::Added(values)));
        }
    }

    fn remove(&mut self, len: u32) {
        if let Some(Change::Removed(all)) = &mut self.last {
            *all += len;
        } else {
            self.changes.delta.extend(self.last.replace(Change::Removed(len)));
        }
    }

    fn retain(&mut self, len: u32) {
        if len == 0 {
            return;
        }
        if let Some(Change::Retain(all)) = &mut self.last {
            *all += len;
        } else {
            self.changes.delta.extend(self.last.replace(Change::Retain(len)));
        }
    }
}

/// The values of a piece; text gives its characters.
fn elements(store: &Store, item: &Item, piece: Piece) -> Vec<Out> {
    if item.kind() == Kind::String {
        let text = piece_text(store, item, piece);
        return text.chars().map(|char| Out::Any(Any::from(char.to_string()))).collect();
    }
    (piece.from..piece.to).filter_map(|offset| Out::element(store, item, offset)).collect()
}
