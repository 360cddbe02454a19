//! Taking a step off a stack and doing the reverse of it.

use yatta_encoding::ID;

use super::event::{Event, EventKind};
use super::options::Meta;
use super::shared::{Shared, State};
use super::stack_item::StackItem;
use crate::block::index::ItemIdx;
use crate::doc::Doc;
use crate::engine::delete::delete;
use crate::engine::redo::{Step, items_to_delete, redo_deletions};
use crate::transaction::TransactionMut;
use crate::types::ItemPtr;

/// The document of the last step of a stack. Steps of documents that the manager does not have (any more) are dropped.
pub(super) fn next_doc<'d, M>(shared: &Shared<M>, docs: &'d [Doc], kind: EventKind) -> Option<&'d Doc> {
    let mut state = shared.lock();
    loop {
        let guid = state.stack(kind).last()?.doc();
        if let Some(doc) = docs.iter().find(|doc| doc.guid() == *guid) {
            return Some(doc);
        }
        state.stack_mut(kind).pop();
    }
}

/// Says in the state that a step is being popped, until this value is dropped, be it by a panic.
struct Popping<'s, M>(&'s Shared<M>);

impl<M> Drop for Popping<'_, M> {
    fn drop(&mut self) {
        self.0.lock().popping = None;
    }
}

/// Pops steps of the document of `txn` until one changes something, and commits. Returns whether one did.
///
/// Yjs: `popStackItem`. Cost O(changes of the step).
pub(super) fn pop<M: Meta>(shared: &Shared<M>, mut txn: TransactionMut<'_>, kind: EventKind) -> bool {
    let popping = Popping(shared);
    shared.lock().popping = Some(kind);
    let guid = txn.doc().guid();
    let mut done = None;
    while done.is_none() {
        let mut state = shared.lock();
        if state.stack(kind).last().is_none_or(|item| *item.doc() != guid) {
            break;
        }
        let Some(item) = state.stack_mut(kind).pop() else { break };
        let (brought_back, to_delete) = reverse(&state, &mut txn, &item);
        let filter = state.delete_filter.clone();
        drop(state);
        let mut changed = brought_back;
        // Children before parents: a filter then still sees where they are.
        for slot in to_delete.into_iter().rev() {
            let allowed = match &filter {
                None => true,
                Some(allows) => allows(&txn, &ItemPtr::of(txn.store_ref(), slot)),
            };
            if allowed {
                let (store, changes) = txn.parts();
                delete(store, changes, slot);
                changed = true;
            }
        }
        done = changed.then_some(item);
    }
    let changed = match &done {
        Some(_) if !shared.popped.is_empty() => txn.changed_parent_types().to_vec(),
        _ => Vec::new(),
    };
    txn.commit();
    drop(popping);
    let Some(item) = done else { return false };
    if !shared.popped.is_empty() {
        let mut event = Event { meta: item.meta, origin: Some(shared.origin()), kind, changed };
        shared.popped.trigger(|call| call(&txn, &mut event));
    }
    true
}

/// Brings back what a step deleted. Returns whether there was any, and the items that are to be deleted.
fn reverse<M>(state: &State<M>, txn: &mut TransactionMut<'_>, item: &StackItem<M>) -> (bool, Vec<ItemIdx>) {
    let scope = state.scope_in(txn.store_ref(), item.doc());
    let on_stack = |id: &ID| {
        let mut all = state.stack(EventKind::Undo).iter().chain(state.stack(EventKind::Redo));
        all.any(|other| other.deletions().contains(id) && other.doc() == item.doc())
    };
    let step = Step {
        scope: &scope,
        insertions: item.ordered_insertions(),
        deletions: item.ordered_deletions(),
        on_stack: &on_stack,
        ignore_remote_map_changes: state.ignore_remote_map_changes,
    };
    let (store, changes) = txn.parts();
    let to_delete = items_to_delete(store, changes, &step);
    let brought_back = redo_deletions(store, changes, &step);
    (brought_back, to_delete)
}
