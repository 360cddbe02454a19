//! Transactions: the unit of reading and writing (layer 6, together with `doc`: the API of yrs ties the two to each
//! other, `TransactionMut::doc` and `Doc::transact`).
//!
//! A write transaction holds the lock and a change set; dropping it commits (see `commit`). Starting and committing an
//! empty one costs the lock.

mod commit;
mod event;
pub(crate) mod family;
pub(crate) mod handle;
pub(crate) mod lock;
mod origin;
pub(crate) mod registry;
mod subdocs;

use std::any::Any as StdAny;
use std::cell::OnceCell;

use yatta_encoding::{ClientID, Encoder, EncoderV1, EncoderV2};

use crate::block::update::Update;
use crate::change::{ChangeSet, DeletedRange};
use crate::doc::{Doc, StoreEvents};
use crate::engine::encode::{deleted_ranges, encode_changes};
use crate::error::UpdateError;
use crate::ids::{IdSet, StateVector};
use crate::store::Store;
use lock::{ReadGuard, WriteGuard};

pub use event::{TransactionCleanupEvent, UpdateEvent};
pub use handle::{Branch, BranchID, BranchPtr};
pub use origin::Origin;
pub use subdocs::{SubdocsEvent, SubdocsEventIter};

/// A read-only transaction: while it lives, nobody writes.
pub struct Transaction<'doc> {
    guard: ReadGuard<'doc>,
}

impl<'doc> Transaction<'doc> {
    pub(crate) fn new(guard: ReadGuard<'doc>) -> Self {
        Self { guard }
    }

    #[inline]
    pub(crate) fn store_ref(&self) -> &Store {
        &self.guard.state.store
    }
}

impl std::fmt::Debug for Transaction<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Transaction").finish_non_exhaustive()
    }
}

/// What is worked out of the changes when it is first asked for.
#[derive(Default)]
struct Summary {
    before_state: OnceCell<StateVector>,
    after_state: OnceCell<StateVector>,
    insert_set: OnceCell<IdSet>,
    delete_set: OnceCell<IdSet>,
    cleanups: OnceCell<IdSet>,
    changed: OnceCell<Vec<BranchPtr>>,
    /// What a higher layer works out for the observers of types.
    observed: OnceCell<Box<dyn StdAny + Send>>,
}

/// A read-write transaction: nobody else reads or writes. Dropping it commits it.
pub struct TransactionMut<'doc> {
    doc: &'doc Doc,
    guard: WriteGuard<'doc>,
    /// The deletions, sorted and joined, once the commit has begun.
    ranges: Ranges,
    origin: Option<Origin>,
    /// Made when it is first asked for: most transactions never are.
    summary: OnceCell<Box<Summary>>,
    /// False once an update was applied before anything else happened.
    local: bool,
    committed: bool,
    /// [`Self::commit`] was called: what is written now is another transaction.
    over: bool,
}

impl<'doc> TransactionMut<'doc> {
    // Inlined, so that it is built where it will live: moved, it costs a stall for what has just been stored.
    #[inline(always)]
    pub(crate) fn new(doc: &'doc Doc, mut guard: WriteGuard<'doc>, origin: Option<Origin>) -> Self {
        let inner = doc.inner();
        if let Some(client) = inner.due_client() {
            guard.state.store.me = guard.state.store.client_idx(client);
        }
        let listening = inner.events.listening();
        guard.state.changes.hold_content = listening.hold_content();
        if listening.nobody_before() {
            return Self::open(doc, guard, origin);
        }
        Self::announced(doc, guard, origin)
    }

    #[inline(always)]
    fn open(doc: &'doc Doc, guard: WriteGuard<'doc>, origin: Option<Origin>) -> Self {
        Self {
            doc,
            guard,
            ranges: Ranges::new(),
            origin,
            summary: OnceCell::new(),
            local: true,
            committed: false,
            over: false,
        }
    }

    /// Opens a transaction and tells those who want to hear that it begins.
    #[cold]
    fn announced(doc: &'doc Doc, guard: WriteGuard<'doc>, origin: Option<Origin>) -> Self {
        let mut txn = Self::open(doc, guard, origin);
        txn.begin();
        txn
    }

    /// Tells that this transaction begins.
    fn begin(&mut self) {
        let mut panicked = None;
        let doc = self.doc;
        doc.inner().events.before_all.trigger_all(&mut panicked, |call| call(self));
        self.notify_before(&mut panicked);
        // Who was called may have subscribed to this very transaction.
        self.guard.state.changes.hold_content = doc.inner().events.listening().hold_content();
        if let Some(panic) = panicked {
            std::panic::resume_unwind(panic);
        }
    }

    #[inline]
    pub(crate) fn store_ref(&self) -> &Store {
        &self.guard.state.store
    }

    /// What happened so far. It lives beside the store, under the lock, so that starting a transaction moves nothing.
    #[inline]
    pub(crate) fn changes(&self) -> &ChangeSet {
        &self.guard.state.changes
    }

    fn summary(&self) -> &Summary {
        self.summary.get_or_init(Box::default)
    }

    /// The changes are not what they were.
    #[inline]
    fn forget_summary(&mut self) {
        if self.summary.get().is_some() {
            self.summary = OnceCell::new();
        }
    }

    /// The store and the change set, for an edit.
    #[inline]
    pub(crate) fn parts(&mut self) -> (&mut Store, &mut ChangeSet) {
        if self.over {
            self.begin_anew();
        }
        let state = &mut *self.guard.state;
        (&mut state.store, &mut state.changes)
    }

    /// Returns whether anything was inserted or deleted so far.
    pub fn has_changes(&self) -> bool {
        !self.changes().is_empty()
    }

    /// Returns the document.
    pub fn doc(&self) -> &Doc {
        self.doc
    }

    /// Returns the origin that this transaction was started with.
    pub fn origin(&self) -> Option<&Origin> {
        self.origin.as_ref()
    }

    /// Returns whether this transaction is one of this peer: false if it began with an update. Yjs: `transaction.local`.
    pub const fn is_local(&self) -> bool {
        self.local
    }

    /// The deletions in the order of the wire, joined, once the commit has begun.
    pub(crate) fn deleted_ranges(&self) -> &[DeletedRange] {
        &self.ranges
    }

    /// What a higher layer keeps for the observers of this transaction, made at the first call.
    ///
    /// # Panics
    /// When it is asked for as two types.
    pub(crate) fn observed<T: Send + 'static>(&self, make: impl FnOnce() -> T) -> &T {
        let observed = self.summary().observed.get_or_init(|| Box::new(make()));
        observed.downcast_ref().expect("there is one user of this slot")
    }

    /// Returns the state vector from before this transaction. Cost O(clients), once.
    pub fn before_state(&self) -> &StateVector {
        self.summary().before_state.get_or_init(|| {
            let store = self.store_ref();
            let mut state = state_vector(store);
            for (client, clock) in self.changes().inserted() {
                state.set(store.client(*client).id, *clock);
            }
            state
        })
    }

    /// Returns the state vector at the commit; before that, the present one. Cost O(clients), once.
    pub fn after_state(&self) -> &StateVector {
        self.summary().after_state.get_or_init(|| state_vector(self.store_ref()))
    }

    /// Returns what was inserted. Cost O(clients that inserted), once.
    pub fn insert_set(&self) -> &IdSet {
        self.summary().insert_set.get_or_init(|| {
            let store = self.store_ref();
            let inserted = self.changes().inserted().iter();
            IdSet::from_ranges(
                inserted
                    .map(|(client, clock)| (store.client(*client).id, *clock, store.state(*client) - clock))
                    .collect(),
            )
        })
    }

    /// Returns what was deleted. Cost O(deletions), once.
    pub fn delete_set(&self) -> &IdSet {
        self.summary().delete_set.get_or_init(|| {
            let store = self.store_ref();
            let deleted = self.changes().deleted.iter();
            IdSet::from_ranges(
                deleted.map(|range| (store.client(range.client).id, range.clock, range.len)).collect(),
            )
        })
    }

    /// Returns the deletions of format marks that said nothing any more, a part of [`Self::delete_set`]. Cost O(deletions),
    /// once.
    pub fn cleanups(&self) -> &IdSet {
        self.summary().cleanups.get_or_init(|| {
            let store = self.store_ref();
            let cleaned = self.changes().cleaned.iter();
            IdSet::from_ranges(
                cleaned.map(|range| (store.client(range.client).id, range.clock, range.len)).collect(),
            )
        })
    }

    /// Returns the subscriptions of the document: always there, unlike in yrs.
    pub fn events(&self) -> Option<&StoreEvents> {
        Some(&self.doc.inner().events)
    }

    /// Returns the subscriptions of the document.
    pub fn events_mut(&mut self) -> &StoreEvents {
        &self.doc.inner().events
    }

    /// Collects deleted content now, also where the document keeps it (`Options::skip_gc`): what is in `delete_set`, or
    /// all of it. What an undo manager still needs stays. Cost O(what is deleted), or O(what is in `delete_set`).
    pub fn gc(&mut self, delete_set: Option<&IdSet>) {
        let (store, changes) = self.parts();
        let mut ranges = Vec::new();
        match delete_set {
            None => {
                for client in store.clients_descending() {
                    deleted_ranges(store, client, &mut ranges);
                }
            }
            Some(set) => {
                for (client, clocks) in set.iter() {
                    let Some(client) = store.known_client(*client) else { continue };
                    let state = store.state(client);
                    ranges.extend(clocks.iter().filter(|range| range.start < state).map(|range| {
                        DeletedRange { client, clock: range.start, len: range.end.min(state) - range.start }
                    }));
                }
            }
        }
        crate::engine::gc::gc(store, &ranges, None);
        crate::engine::gc::join_later(store, changes, &ranges);
    }

    /// Returns what this transaction did as an update in V1. Cost O(changes).
    pub fn encode_update_v1(&self) -> Vec<u8> {
        let mut encoder = EncoderV1::new();
        self.encode_update(&mut encoder);
        encoder.to_vec()
    }

    /// Returns what this transaction did as an update in V2. Cost O(changes).
    pub fn encode_update_v2(&self) -> Vec<u8> {
        let mut encoder = EncoderV2::new();
        self.encode_update(&mut encoder);
        encoder.to_vec()
    }

    /// Writes what this transaction did as an update. Cost O(changes).
    pub fn encode_update<E: Encoder>(&self, encoder: &mut E) {
        let store = self.store_ref();
        let unsorted;
        let ranges = if self.committed {
            &self.ranges
        } else {
            unsorted = sorted_ranges(store, &self.changes().deleted);
            &unsorted
        };
        let parts = self.changes().inserted();
        if parts.len() < 2 {
            return encode_changes(store, encoder, parts, ranges);
        }
        let mut parts = parts.to_vec();
        parts.sort_unstable_by_key(|(client, _)| std::cmp::Reverse(store.client(*client).id));
        encode_changes(store, encoder, &parts, ranges);
    }

    /// Integrates an update. What lacks its dependencies waits in the document until they come.
    ///
    /// # Errors
    /// None today: a decoded update has been checked whole. The type is yrs's.
    pub fn apply_update(&mut self, mut update: Update) -> Result<(), UpdateError> {
        self.local &= !self.parts().1.is_empty();
        let (store, changes) = self.parts();
        let before = changes.touched.len().saturating_sub(1);
        crate::engine::pending::apply_update(store, changes, &mut update);
        family::refresh_touched(store, &changes.touched[before..]);
        Ok(())
    }
}

impl std::fmt::Debug for TransactionMut<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TransactionMut").field("origin", &self.origin).finish_non_exhaustive()
    }
}

/// The next clock of each client.
pub(crate) fn state_vector(store: &Store) -> StateVector {
    let known = store.clients_descending().map(|client| store.client(client));
    known.map(|client| (client.id, client.next)).collect::<StateVector>()
}

/// Deletions: most transactions have one at most.
type Ranges = smallvec::SmallVec<[DeletedRange; 1]>;

/// Deletions in the order of the wire, with what touches or overlaps joined.
fn sorted_ranges(store: &Store, deleted: &[DeletedRange]) -> Ranges {
    let mut ranges = Ranges::from_slice(deleted);
    if ranges.len() < 2 {
        return ranges;
    }
    let id = |range: &DeletedRange| -> ClientID { store.client(range.client).id };
    ranges.sort_unstable_by(|a, b| id(b).cmp(&id(a)).then(a.clock.cmp(&b.clock)));
    ranges.dedup_by(|next, last| {
        let joined = next.client == last.client && next.clock <= last.clock + last.len;
        if joined {
            last.len = last.len.max(next.clock + next.len - last.clock);
        }
        joined
    });
    ranges
}
