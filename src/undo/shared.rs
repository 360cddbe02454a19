//! What a manager shares with the callbacks that it has in its documents: the stacks, the scope, the observers.

use std::collections::HashSet;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

use super::event::{Event, EventKind, StackClearedEvent};
use super::options::{CaptureTransactionFn, Options};
use super::stack_item::StackItem;
use crate::clock::{Clock, Timestamp};
use crate::doc::Uuid;
use crate::engine::redo::Scope;
use crate::store::Store;
use crate::transaction::registry::Registry;
use crate::transaction::{BranchPtr, Origin, TransactionMut};
use crate::types::ItemPtr;

type StepCallback<M> = dyn FnMut(&TransactionMut<'_>, &mut Event<M>) + Send;
type ClearedCallback = dyn FnMut(&StackClearedEvent) + Send;
/// Decides whether an undo may delete an item.
pub(super) type DeleteFilter = Arc<dyn Fn(&TransactionMut<'_>, &ItemPtr) -> bool + Send + Sync>;

/// The part of an undo manager that documents know (weakly). Users meet it only as the target of `Deref`.
#[doc(hidden)]
pub struct Shared<M> {
    state: Mutex<State<M>>,
    pub(super) added: Registry<StepCallback<M>>,
    pub(super) updated: Registry<StepCallback<M>>,
    pub(super) popped: Registry<StepCallback<M>>,
    pub(super) cleared: Registry<ClearedCallback>,
}

/// The length of a stack whose items cannot be shown, because their metadata cannot be cloned.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct StackLen(usize);

impl StackLen {
    /// Returns the number of steps.
    pub fn len(self) -> usize {
        self.0
    }

    /// Returns whether there are no steps.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl<M> Shared<M> {
    pub(super) fn new(mut options: Options<M>) -> Self {
        let mut state = State {
            scope: Vec::new(),
            documents: HashSet::new(),
            tracked: options.tracked_origins,
            capture_timeout: options.capture_timeout_millis,
            capture_transaction: options.capture_transaction,
            clock: options.timestamp,
            delete_filter: None,
            ignore_remote_map_changes: false,
            stacks: [Vec::new(), Vec::new()],
            popping: None,
            last_change: 0,
            version: 0,
            next_key: 1,
        };
        for item in options.init_undo_stack.drain(..) {
            state.push(EventKind::Undo, item);
        }
        for item in options.init_redo_stack.drain(..) {
            state.push(EventKind::Redo, item);
        }
        Self {
            state: Mutex::new(state),
            added: Registry::default(),
            updated: Registry::default(),
            popped: Registry::default(),
            cleared: Registry::default(),
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State<M>> {
        self.state.lock()
    }

    /// The name of the manager among origins and subscriptions: where this part of it lies in memory.
    pub(super) fn origin(&self) -> Origin {
        Origin::from(std::ptr::from_ref(self).addr())
    }

    /// Returns the length of the undo stack.
    pub fn undo_stack(&self) -> StackLen {
        StackLen(self.lock().stack(EventKind::Undo).len())
    }

    /// Returns the length of the redo stack.
    pub fn redo_stack(&self) -> StackLen {
        StackLen(self.lock().stack(EventKind::Redo).len())
    }
}

/// The stacks and all that decides what goes on them.
pub(super) struct State<M> {
    pub(super) scope: Vec<BranchPtr>,
    /// Documents that are in scope as a whole.
    pub(super) documents: HashSet<Uuid>,
    pub(super) tracked: HashSet<Origin>,
    pub(super) capture_timeout: u64,
    pub(super) capture_transaction: Option<CaptureTransactionFn>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) delete_filter: Option<DeleteFilter>,
    pub(super) ignore_remote_map_changes: bool,
    stacks: [Vec<StackItem<M>>; 2],
    /// The stack that a step is being taken from.
    pub(super) popping: Option<EventKind>,
    /// When the last change was captured; 0 if the next one is not to be joined to it.
    pub(super) last_change: Timestamp,
    /// Counts the changes of the stacks.
    pub(super) version: u64,
    next_key: u64,
}

impl<M> State<M> {
    pub(super) fn stack(&self, kind: EventKind) -> &[StackItem<M>] {
        &self.stacks[kind as usize]
    }

    /// A stack that is about to change.
    pub(super) fn stack_mut(&mut self, kind: EventKind) -> &mut Vec<StackItem<M>> {
        self.version += 1;
        &mut self.stacks[kind as usize]
    }

    pub(super) fn push(&mut self, kind: EventKind, mut item: StackItem<M>) -> u64 {
        let key = self.next_key;
        self.next_key += 1;
        item.key = key;
        self.stack_mut(kind).push(item);
        key
    }

    /// The item with this key, wherever it is now.
    pub(super) fn by_key(&mut self, key: u64) -> Option<&mut StackItem<M>> {
        self.version += 1;
        self.stacks.iter_mut().flat_map(|stack| stack.iter_mut().rev()).find(|item| item.key == key)
    }

    /// Takes the items of one document off a stack.
    pub(super) fn take_all(&mut self, kind: EventKind, doc: &Uuid) -> Vec<StackItem<M>> {
        if self.stack(kind).iter().all(|item| item.doc() != doc) {
            return Vec::new();
        }
        let all = std::mem::take(self.stack_mut(kind));
        let (taken, left) = all.into_iter().partition(|item| item.doc() == doc);
        *self.stack_mut(kind) = left;
        taken
    }

    /// Drops all that is known of a document: it was destroyed.
    pub(super) fn forget(&mut self, doc: &Uuid) {
        drop(self.take_all(EventKind::Undo, doc));
        drop(self.take_all(EventKind::Redo, doc));
        self.documents.remove(doc);
        self.scope.retain(|branch| branch.doc().is_some_and(|other| other.guid() != *doc));
    }

    /// The scope within the document of a store.
    pub(super) fn scope_in(&self, store: &Store, doc: &Uuid) -> Scope {
        if self.documents.contains(doc) {
            return Scope::Document;
        }
        Scope::of_types(self.scope.iter().filter_map(|branch| branch.resolve(store)).collect())
    }
}
