//! The commit, phase by phase, in the order of Yjs.
//!
//! 1. sort and join the deletions;
//! 2. observers before the type observers;
//! 3. type observers, then deep ones;
//! 4. observers after the transaction;
//! 5. after a remote change of formatted text: find needless marks (they go in a transaction of their
//!    own);
//! 6. collect deleted content;
//! 7. squash;
//! 8. rebuild trees that a large update left behind;
//! 9. a new client id if somebody else uses ours;
//! 10. clean-up observers;
//! 11. update observers;
//! 12. sub-documents.
//!
//! Every phase costs O(changes); one that nobody listens to costs a load.
//!
//! A callback that panics stops nothing: the other callbacks are called, the commit is completed, and the first panic
//! goes on when all is done (Yjs: `callAll` and `finally`).

use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use yatta_encoding::block::{TYPE_REFS_TEXT, TYPE_REFS_XML_TEXT};
use yatta_encoding::{ClientID, Encoder, EncoderV1, EncoderV2};

use super::event::{TransactionCleanupEvent, UpdateEvent};
use super::handle::BranchPtr;
use super::lock::DocState;
use super::registry::Panic;
use super::{TransactionMut, family, sorted_ranges};
use crate::block::index::BranchIdx;
use crate::branch::node::TREE_MIN;
use crate::change::{ChangeSet, DeletedRange};
use crate::engine::{clean, gc, squash};
use crate::store::Store;

/// The buffer of an update event larger than this is not kept for the next one, which is seldom as large.
const KEPT_BYTES: usize = 1024;

impl TransactionMut<'_> {
    /// Commits: tells observers, tidies up, emits the update. Dropping the transaction does the same. Doing it twice does
    /// nothing. What is written afterwards is a transaction of its own, of the same origin, that begins with the first write
    /// (in yrs, no peer and no observer hears of it). Cost O(changes).
    ///
    /// # Panics
    /// With the first panic of a callback, once the commit is complete.
    pub fn commit(&mut self) {
        let panicked = self.complete();
        self.over = true;
        if let Some(panic) = panicked
            && !std::thread::panicking()
        {
            resume_unwind(panic);
        }
    }

    /// Begins another transaction after an explicit commit.
    #[cold]
    pub(super) fn begin_anew(&mut self) {
        (self.over, self.committed, self.local) = (false, false, true);
        self.guard.state.changes.clear();
        self.ranges.clear();
        self.forget_summary();
        self.begin();
    }

    /// Commits and returns the first panic of a callback.
    fn complete(&mut self) -> Option<Panic> {
        if self.committed {
            return None;
        }
        self.committed = true;
        let mut panicked = None;
        let mut follow_ups = Vec::new();
        self.commit_changes(&mut panicked, &mut follow_ups);
        if !follow_ups.is_empty() {
            self.commit_follow_ups(&mut panicked, follow_ups);
        }
        let doc = self.doc;
        doc.inner().events.after_all.trigger_all(&mut panicked, |call| call(self));
        panicked
    }

    /// Commits the transactions that this one brought about, and those that they bring about.
    #[cold]
    fn commit_follow_ups(&mut self, panicked: &mut Option<Panic>, follow_ups: Vec<ChangeSet>) {
        let mut waiting = VecDeque::from(follow_ups);
        while let Some(changes) = waiting.pop_front() {
            let mut follow_ups = Vec::new();
            self.origin = None;
            self.local = true;
            self.guard.state.changes = changes;
            self.forget_summary();
            self.notify_before(panicked);
            self.guard.state.changes.hold_content = self.doc().inner().events.listening().hold_content();
            self.commit_changes(panicked, &mut follow_ups);
            waiting.extend(follow_ups);
        }
    }

    /// Commits the present changes, and adds those that transactions of their own have to follow with.
    fn commit_changes(&mut self, panicked: &mut Option<Panic>, follow_ups: &mut Vec<ChangeSet>) {
        let doc = self.doc;
        let events = &doc.inner().events;
        let listening = events.listening();
        let idle = self.changes().is_empty() && self.changes().touched.is_empty();
        // Items that were only cut (for a look at a snapshot) are joined again below.
        let silent = self.changes().candidates.is_empty() && self.changes().subdocs.is_none();
        if idle && silent && listening.nobody_after() {
            return;
        }
        // What was worked out before the commit began may have changed since.
        self.forget_summary();
        self.sort_deleted();
        events.before_observers.trigger_all(panicked, |call| call(self));
        if !idle && events.listening().types() {
            self.build_trees();
            self.notify_types(panicked);
        }
        if !events.after_transaction.is_empty() {
            events.after_transaction.trigger_all(panicked, |call| call(self));
            self.forget_summary();
            self.sort_deleted();
        }
        if let Some(changes) = self.clean_formatting() {
            follow_ups.push(changes);
        }
        self.tidy(panicked);
        self.check_client();
        self.emit(panicked);
        self.emit_subdocs(panicked, follow_ups);
    }

    /// Does all of a commit if no phase has anything to do but those that every edit needs, and nobody listens but to
    /// updates. Returns false if that is not so, and nothing was done then.
    #[inline]
    fn commit_plain(&mut self) -> bool {
        let listening = self.doc.inner().events.listening();
        let changes = self.changes();
        let unformatted = self.local || !self.formats_changed();
        if !listening.only_updates() || !changes.is_plain() || !unformatted {
            return false;
        }
        let idle = changes.touched.is_empty() && changes.is_empty();
        self.committed = true;
        if idle {
            return true;
        }
        self.sort_deleted();
        self.compact();
        self.check_client();
        if listening.updates() {
            self.forget_summary();
            let mut panicked = None;
            self.emit(&mut panicked);
            self.go_on(panicked);
        }
        true
    }

    /// Clears up, then goes on with the panic of a callback, if there was one.
    fn go_on(&mut self, panicked: Option<Panic>) {
        // Before the panic goes on: else the next transaction would begin with these changes.
        self.guard.state.changes.clear();
        if let Some(panic) = panicked
            && !std::thread::panicking()
        {
            resume_unwind(panic);
        }
    }

    /// Phase 1.
    #[inline]
    fn sort_deleted(&mut self) {
        family::refresh_touched(self.store_ref(), &self.changes().touched);
        if self.changes().deleted.is_empty() {
            self.ranges.clear();
        } else {
            self.ranges = sorted_ranges(self.store_ref(), &self.changes().deleted);
        }
    }

    /// Tells that a transaction begins.
    pub(super) fn notify_before(&mut self, panicked: &mut Option<Panic>) {
        let doc = self.doc;
        doc.inner().events.before_transaction.trigger_all(panicked, |call| call(self));
    }

    /// Types that existed before and live, each once, in the order of their first change.
    pub(crate) fn changed_types(&self) -> Vec<BranchIdx> {
        let store = self.store_ref();
        let mut changed: Vec<BranchIdx> = Vec::new();
        let mut seen = rustc_hash::FxHashSet::default();
        for (branch, _) in &self.changes().touched {
            if !seen.insert(*branch) {
                continue;
            }
            let item = store.branches[*branch].item;
            if item.is_some() {
                let item = &store.items[item];
                let before = self.changes().state_before(item.id.client, store.state(item.id.client));
                if item.is_deleted() || item.id.clock >= before {
                    continue;
                }
            }
            changed.push(*branch);
        }
        changed
    }

    /// Phase 3.
    fn notify_types(&mut self, panicked: &mut Option<Panic>) {
        let changed = self.changed_types();
        for branch in &changed {
            if let Some(handle) = BranchPtr::existing(self.store_ref(), *branch) {
                handle.observers.trigger_all(panicked, |call| call(self, &handle));
            }
        }
        self.notify_deep(&changed, panicked);
    }

    /// Each type with deep observers gets the changed types within it, the nearest first.
    fn notify_deep(&mut self, changed: &[BranchIdx], panicked: &mut Option<Panic>) {
        let store = self.store_ref();
        let mut listeners: Vec<(BranchPtr, BTreeMap<usize, Vec<BranchPtr>>)> = Vec::new();
        for branch in changed {
            each_holder(store, *branch, |ancestor, depth| {
                // Asked through the node: taking the handle of each type up to the root would cost two locked instructions.
                if store.branches[ancestor].handle.get().is_some_and(|handle| handle.has_deep_observers())
                    && let Some(handle) = BranchPtr::existing(store, ancestor)
                {
                    let place = listeners.iter().position(|entry| entry.0 == handle).unwrap_or_else(|| {
                        listeners.push((handle, BTreeMap::new()));
                        listeners.len() - 1
                    });
                    listeners[place].1.entry(depth).or_default().push(BranchPtr::of(store, *branch));
                }
                true
            });
        }
        for (handle, events) in listeners {
            let events: Vec<BranchPtr> = events.into_values().flatten().collect();
            handle.deep_observers.trigger_all(panicked, |call| call(self, &handle, &events));
        }
    }

    /// Whether a type changed that has, or had, format marks.
    fn formats_changed(&self) -> bool {
        let store = self.store_ref();
        self.changes().touched.iter().any(|(branch, _)| store.branches[*branch].has_formats)
    }

    /// Phase 5. Yjs: `cleanupYTextAfterTransaction`.
    fn clean_formatting(&mut self) -> Option<ChangeSet> {
        if self.local || !self.doc().inner().options.cleanup_formatting {
            return None;
        }
        // Yjs: only if a text changed that it knows as one, that lives, and that was there before.
        let store = self.store_ref();
        let formatted = self.formats_changed()
            && self.changed_types().into_iter().any(|branch| {
                let node = &store.branches[branch];
                node.has_formats && matches!(node.tag.kind, TYPE_REFS_TEXT | TYPE_REFS_XML_TEXT)
            });
        if !formatted {
            return None;
        }
        let mut follow_up = ChangeSet::default();
        // Yjs: the clients of the delete set in the order in which they came to it.
        let mut places = rustc_hash::FxHashMap::default();
        for (place, range) in self.changes().deleted.iter().enumerate() {
            places.entry(range.client.0).or_insert(place);
        }
        let mut ranges = self.ranges.clone();
        ranges.sort_by_key(|range| places.get(&range.client.0).copied());
        let state = &mut *self.guard.state;
        clean::clean_after(&mut state.store, &state.changes, &ranges, &mut follow_up);
        (!follow_up.is_empty()).then_some(follow_up)
    }

    /// Phases 6 to 8.
    fn tidy(&mut self, panicked: &mut Option<Panic>) {
        let filter = self.doc.inner().events.gc_filter();
        let DocState { store, changes, .. } = &mut *self.guard.state;
        let collected = !store.skip_gc
            && changes.to_collect
            && match filter {
                None => gc::gc(store, &self.ranges, None),
                Some(filter) => collect_filtered(store, &self.ranges, &*filter, panicked),
            };
        if collected || !changes.candidates.is_empty() {
            squash::squash(store, changes, if collected { &self.ranges } else { &[] });
        }
        self.compact();
    }

    /// What is left of phases 6 to 8 where nothing was collected or joined.
    #[inline]
    fn compact(&mut self) {
        for range in &self.ranges {
            self.guard.state.store.compact_text(range.client);
        }
        self.build_trees();
    }

    /// Phase 8: the trees that a large update left behind. Observers need them before.
    #[inline]
    fn build_trees(&mut self) {
        let DocState { store, changes, .. } = &mut *self.guard.state;
        let mut last = BranchIdx::NONE;
        for (branch, _) in &changes.touched {
            let branch = *branch;
            if branch != last {
                last = branch;
                let node = &store.branches[branch];
                if node.items > TREE_MIN && node.tree.is_none() {
                    store.build_tree(branch);
                }
            }
        }
    }

    /// Phase 9. Yjs: a remote transaction that moves our own clock means that somebody else has our id.
    #[inline]
    fn check_client(&mut self) {
        let DocState { store, changes, .. } = &mut *self.guard.state;
        if self.local || !changes.inserted().iter().any(|(client, _)| *client == store.me) {
            return;
        }
        let fresh = std::iter::repeat_with(ClientID::random)
            .find(|id| store.known_client(*id).is_none())
            .unwrap_or_else(ClientID::random);
        store.me = store.client_idx(fresh);
        self.doc.inner().set_client_id(fresh);
    }

    /// Phases 10 and 11.
    fn emit(&mut self, panicked: &mut Option<Panic>) {
        let doc = self.doc;
        let events = &doc.inner().events;
        if !events.cleanup.is_empty() {
            let event = TransactionCleanupEvent::new(self);
            events.cleanup.trigger_all(panicked, |call| call(self, &event));
        }
        if self.changes().is_empty() {
            return;
        }
        if !events.update_v1.is_empty() {
            let mut encoder = EncoderV1::with_buffer(std::mem::take(&mut self.guard.state.update));
            self.encode_update(&mut encoder);
            let event = UpdateEvent { update: encoder.to_vec() };
            self.guard.state.listeners.refresh(&events.update_v1);
            self.guard.state.listeners.trigger_all(panicked, |call| call(self, &event));
            // A callback that was removed while it was called is let go now.
            self.guard.state.listeners.refresh(&events.update_v1);
            self.guard.state.update = event.update;
            self.guard.state.update.clear();
            self.guard.state.update.shrink_to(KEPT_BYTES);
        }
        if !events.update_v2.is_empty() {
            let mut encoder = EncoderV2::new();
            self.encode_update(&mut encoder);
            let event = UpdateEvent { update: encoder.to_vec() };
            events.update_v2.trigger_all(panicked, |call| call(self, &event));
        }
    }

    /// Returns handles of the types that this transaction changed so far and of those that they are in, each once.
    /// Cost O(changes and their depth), once.
    pub fn changed_parent_types(&self) -> &[BranchPtr] {
        self.summary().changed.get_or_init(|| {
            let store = self.store_ref();
            let mut seen = rustc_hash::FxHashSet::default();
            let mut handles = Vec::new();
            for branch in self.changed_types() {
                each_holder(store, branch, |holder, _| {
                    let first = seen.insert(holder);
                    if first {
                        handles.push(BranchPtr::of(store, holder));
                    }
                    first
                });
            }
            handles
        })
    }
}

/// Collects what the filter of the document lets go. One that panics lets nothing go.
#[cold]
fn collect_filtered(
    store: &mut Store,
    ranges: &[DeletedRange],
    filter: &gc::Filter<'_>,
    panicked: &mut Option<Panic>,
) -> bool {
    let caught = std::cell::RefCell::new(panicked);
    let guarded = |store: &Store, slot| match catch_unwind(AssertUnwindSafe(|| filter(store, slot))) {
        Ok(lets_go) => lets_go,
        Err(panic) => {
            caught.borrow_mut().get_or_insert(panic);
            false
        }
    };
    gc::gc(store, ranges, Some(&guarded))
}

/// Calls back with a type and those that it is in, each with the number of steps from there down to it; then, each once,
/// with the weak links that quote one of these and the types that they are in, as if these held all of the document. What
/// is above a type for which `call` returns false is left out.
fn each_holder(store: &Store, branch: BranchIdx, mut call: impl FnMut(BranchIdx, usize) -> bool) {
    let mut links: Vec<BranchIdx> = Vec::new();
    let mut seen = rustc_hash::FxHashSet::default();
    let mut depth = 0;
    let mut next = Some(branch);
    let mut place = 0;
    while let Some(start) = next {
        let mut at = Some(start);
        while let Some(holder) = at
            && (store.links.is_empty() || seen.insert(holder))
            && call(holder, depth)
        {
            at = store.branches[holder].item.some().map(|item| {
                links.extend(store.links.of(item));
                store.items[item].parent
            });
            depth += usize::from(place == 0 && at.is_some());
        }
        next = links.get(place).copied();
        place += 1;
    }
}

impl Drop for TransactionMut<'_> {
    #[inline]
    fn drop(&mut self) {
        if !self.committed && self.commit_plain() {
            self.guard.state.changes.clear();
            return;
        }
        let panicked = self.complete();
        self.go_on(panicked);
    }
}
