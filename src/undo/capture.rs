//! After a transaction: what it did goes on a stack, unless it is none of this manager's business.

use std::panic::resume_unwind;
use std::sync::Arc;

use yatta_encoding::ClientID;

use super::event::{Event, EventKind, StackClearedEvent};
use super::options::Meta;
use super::shared::{Shared, State};
use super::stack_item::StackItem;
use crate::engine::redo::{OrderedIds, Scope, keep_all};
use crate::transaction::registry::Panic;
use crate::transaction::{Origin, TransactionMut};

/// What a transaction has become.
struct Captured {
    key: u64,
    kind: EventKind,
    /// It was joined to a step that was there before.
    joined: bool,
    /// It made the redo stack obsolete.
    cleared_redo: bool,
}

/// Yjs: `UndoManager.afterTransactionHandler`. Cost O(changes).
pub(super) fn capture<M: Meta>(shared: &Shared<M>, txn: &mut TransactionMut<'_>) {
    let filter = shared.lock().capture_transaction.clone();
    if filter.is_some_and(|wanted| !wanted(txn)) {
        return;
    }
    let Some(captured) = put(shared, txn) else { return };
    let mut panicked = None;
    if captured.cleared_redo {
        let event = StackClearedEvent::new(false, true);
        shared.cleared.trigger_all(&mut panicked, |call| call(&event));
    }
    announce(shared, txn, &captured, &mut panicked);
    if let Some(panic) = panicked {
        resume_unwind(panic);
    }
}

/// Puts the changes of a transaction on the stack where they belong.
fn put<M: Meta>(shared: &Shared<M>, txn: &mut TransactionMut<'_>) -> Option<Captured> {
    let own = shared.origin();
    let doc = txn.doc().guid();
    let state = shared.lock();
    let scope = state.scope_in(txn.store_ref(), &doc);
    if !changes_scope(txn, &scope) || !is_tracked(&state, txn, &own) {
        return None;
    }
    let clock = Arc::clone(&state.clock);
    drop(state);
    let now = clock.now();
    let mut state = shared.lock();
    let popping = state.popping.filter(|_| txn.origin() == Some(&own));
    let obsolete = match popping {
        Some(EventKind::Undo) => {
            state.last_change = 0;
            Vec::new()
        }
        Some(EventKind::Redo) => Vec::new(),
        None => state.take_all(EventKind::Redo, &doc),
    };
    let (deleted_order, inserted_order) = (deleted_order(txn), inserted_order(txn));
    let (deletions, insertions) = (txn.delete_set().clone(), txn.insert_set().clone());
    let (store, changes) = txn.parts();
    for item in &obsolete {
        keep_all(store, changes, item.ordered_deletions(), &scope, false);
    }
    keep_all(store, changes, OrderedIds { ids: &deletions, order: &deleted_order }, &scope, true);

    let kind = if popping == Some(EventKind::Undo) { EventKind::Redo } else { EventKind::Undo };
    // As in Yjs, also while a clock runs backwards: what is said to come before the last change is near it.
    let age = now.checked_sub(state.last_change);
    let recent = state.last_change > 0 && age.is_none_or(|age| age < state.capture_timeout);
    let joined =
        popping.is_none() && recent && state.stack(kind).last().is_some_and(|item| *item.doc() == doc);
    if popping.is_none() {
        state.last_change = now;
    }
    let mut item = StackItem::new(doc, Default::default(), Default::default());
    let key = match state.stack_mut(kind).last_mut() {
        Some(last) if joined => {
            last.join(deletions, deleted_order, insertions, inserted_order);
            last.key
        }
        _ => {
            item.join(deletions, deleted_order, insertions, inserted_order);
            state.push(kind, item)
        }
    };
    Some(Captured { key, kind, joined, cleared_redo: !obsolete.is_empty() })
}

/// Whether a transaction changed a type in scope, or one within such a type.
fn changes_scope(txn: &TransactionMut<'_>, scope: &Scope) -> bool {
    let store = txn.store_ref();
    match scope {
        // Differs from Yjs, which captures empty transactions too: they would be steps that do nothing.
        Scope::Document => txn.has_changes(),
        Scope::Types(_) if scope.is_empty() => false,
        Scope::Types(_) => txn.changed_types().into_iter().any(|branch| scope.holds_type(store, branch)),
    }
}

/// Whether the origin of a transaction is one that is captured.
fn is_tracked<M>(state: &State<M>, txn: &TransactionMut<'_>, own: &Origin) -> bool {
    match txn.origin() {
        Some(origin) => origin == own || state.tracked.contains(origin),
        None => state.tracked.is_empty(),
    }
}

/// The clients of the deletions in the order in which they came; empty if there is at most one.
fn deleted_order(txn: &TransactionMut<'_>) -> Vec<ClientID> {
    let store = txn.store_ref();
    let mut order = Vec::new();
    let mut last = None;
    for range in &txn.changes().deleted {
        if last.replace(range.client) != Some(range.client) && !order.contains(&range.client) {
            order.push(range.client);
        }
    }
    if order.len() < 2 {
        return Vec::new();
    }
    order.into_iter().map(|client| store.client(client).id).collect()
}

/// The clients of the insertions in the order in which the document got to know them; empty if there is at most one.
fn inserted_order(txn: &TransactionMut<'_>) -> Vec<ClientID> {
    let inserted = txn.changes().inserted();
    if inserted.len() < 2 {
        return Vec::new();
    }
    let mut order: Vec<_> = inserted.iter().map(|(client, _)| client.0).collect();
    order.sort_unstable();
    let store = txn.store_ref();
    order.into_iter().map(|client| store.clients[client as usize].id).collect()
}

/// Tells observers. The metadata is out of the stack meanwhile, so that no lock is held.
fn announce<M: Meta>(
    shared: &Shared<M>,
    txn: &TransactionMut<'_>,
    captured: &Captured,
    panicked: &mut Option<Panic>,
) {
    let observers = if captured.joined { &shared.updated } else { &shared.added };
    if observers.is_empty() {
        return;
    }
    let Some(meta) = shared.lock().by_key(captured.key).map(|item| std::mem::take(&mut item.meta)) else {
        return;
    };
    let mut event = Event {
        meta,
        origin: txn.origin().cloned(),
        kind: captured.kind,
        changed: txn.changed_parent_types().to_vec(),
    };
    observers.trigger_all(panicked, |call| call(txn, &mut event));
    if let Some(item) = shared.lock().by_key(captured.key) {
        item.meta = event.meta;
    }
}
