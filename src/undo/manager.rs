//! `UndoManager`: the public calls.

use std::sync::Arc;

use super::capture::capture;
use super::event::{Event, EventKind, StackClearedEvent};
use super::options::{Meta, Options};
use super::pop::{next_doc, pop};
use super::shared::Shared;
use super::stack_item::StackItem;
use super::view::Views;
use crate::doc::{AsyncTransact, Doc, Transact, TransactionAcqError};
use crate::engine::redo::keep_all;
use crate::transaction::{Branch, BranchPtr, Origin, TransactionMut};
use crate::types::ItemPtr;

/// Takes one's own changes back and brings them again, in one or several documents.
///
/// A change is captured when it concerns a type in scope (see [`Self::expand_scope`]) and its transaction has a tracked
/// origin; while no origin is tracked, transactions without one are captured. Changes that follow each other within
/// [`Options::capture_timeout_millis`] make one step. What others did meanwhile stays.
///
/// ```
/// use yatta::{Doc, GetString, Text, Transact, UndoManager};
///
/// let doc = Doc::new();
/// let text = doc.get_or_insert_text("article");
/// let mut undo = UndoManager::new();
/// undo.expand_scope(&doc, &text);
/// text.insert(&mut doc.transact_mut(), 0, "one");
/// undo.reset(); // the next change begins a new step
/// text.insert(&mut doc.transact_mut(), 3, " two");
/// assert!(undo.undo_blocking());
/// assert_eq!(text.get_string(&doc.transact()), "one");
/// assert!(undo.redo_blocking());
/// assert_eq!(text.get_string(&doc.transact()), "one two");
/// ```
pub struct UndoManager<M> {
    shared: Arc<Shared<M>>,
    docs: Vec<Doc>,
    views: Views<M>,
}

impl<M> UndoManager<M>
where
    M: Meta + 'static,
{
    /// Makes an undo manager with default options that has nothing in scope yet.
    #[expect(clippy::new_without_default, reason = "yrs has none; a manager without a scope does nothing")]
    pub fn new() -> Self {
        Self::with_options(Options::default())
    }

    /// Makes an undo manager that has nothing in scope yet.
    pub fn with_options(options: Options<M>) -> Self {
        Self { shared: Arc::new(Shared::new(options)), docs: Vec::new(), views: Views::default() }
    }

    /// Adds a type of a document, with all that is or comes within it, to what is looked after.
    pub fn expand_scope<T>(&mut self, doc: &Doc, scope: &T)
    where
        T: AsRef<Branch>,
    {
        self.attend(doc);
        let branch = BranchPtr::from(scope.as_ref());
        let mut state = self.shared.lock();
        if !state.scope.contains(&branch) {
            state.scope.push(branch);
        }
    }

    /// Adds a whole document, with all types that it has or gets, to what is looked after.
    pub fn expand_scope_to_doc(&mut self, doc: &Doc) {
        self.attend(doc);
        self.shared.lock().documents.insert(doc.guid());
    }

    /// Subscribes to a document, once.
    fn attend(&mut self, doc: &Doc) {
        let guid = doc.guid();
        if self.docs.iter().any(|known| known.guid() == guid) {
            return;
        }
        let shared = Arc::downgrade(&self.shared);
        let subscribed = doc.observe_after_transaction(self.shared.origin(), move |txn| {
            if let Some(shared) = shared.upgrade() {
                capture(&shared, txn);
            }
        });
        debug_assert!(subscribed.is_ok(), "subscribing needs no transaction");
        let shared = Arc::downgrade(&self.shared);
        let subscribed = doc.observe_destroy(self.shared.origin(), move |_, doc| {
            if let Some(shared) = shared.upgrade() {
                shared.lock().forget(&doc.guid());
            }
        });
        debug_assert!(subscribed.is_ok(), "subscribing needs no transaction");
        self.docs.push(doc.clone());
    }

    /// Returns the documents that have something in scope.
    pub fn docs(&self) -> impl Iterator<Item = &Doc> {
        self.docs.iter()
    }

    /// Captures transactions of this origin too. From the first origin on, those without one are not captured any more.
    pub fn include_origin<O>(&mut self, origin: O)
    where
        O: Into<Origin>,
    {
        self.shared.lock().tracked.insert(origin.into());
    }

    /// Does not capture transactions of this origin any more.
    pub fn exclude_origin<O>(&mut self, origin: O)
    where
        O: Into<Origin>,
    {
        self.shared.lock().tracked.remove(&origin.into());
    }

    /// Asks `filter` about each item that an undo or redo is about to delete; what it refuses stays. The filter sees the
    /// id of the last element of the item and its value. Default: everything may be deleted.
    #[doc(alias = "deleteFilter")]
    pub fn set_delete_filter<F>(&mut self, filter: F)
    where
        F: Fn(&TransactionMut<'_>, &ItemPtr) -> bool + Send + Sync + 'static,
    {
        self.shared.lock().delete_filter = Some(Arc::new(filter));
    }

    /// Sets whether a map entry comes back even where another peer has set its key since. Default: false.
    #[doc(alias = "ignoreRemoteMapChanges")]
    pub fn set_ignore_remote_map_changes(&mut self, ignore: bool) {
        self.shared.lock().ignore_remote_map_changes = ignore;
    }

    /// Forgets all steps, so that what they deleted need not be kept any more.
    ///
    /// Waits for transactions of other threads. Where this thread has one open, the steps are forgotten all the same, but
    /// what they deleted stays kept.
    pub fn clear_all(&mut self) {
        self.clear(true, true);
    }

    /// Forgets the steps that could be undone; see [`Self::clear_all`].
    pub fn clear_undo(&mut self) {
        self.clear(true, false);
    }

    /// Forgets the steps that could be redone; see [`Self::clear_all`].
    pub fn clear_redo(&mut self) {
        self.clear(false, true);
    }

    /// Yjs: `UndoManager.clear`.
    fn clear(&mut self, undo: bool, redo: bool) {
        self.views.clear();
        let mut cleared = [false; 2];
        let mut items = Vec::new();
        {
            let mut state = self.shared.lock();
            for kind in [EventKind::Undo, EventKind::Redo] {
                if [undo, redo][kind as usize] && !state.stack(kind).is_empty() {
                    cleared[kind as usize] = true;
                    items.append(state.stack_mut(kind));
                }
            }
        }
        for doc in &self.docs {
            let guid = doc.guid();
            if !items.iter().any(|item| *item.doc() == guid) {
                continue;
            }
            let Ok(guard) = doc.inner().lock.write() else { continue };
            let mut txn = TransactionMut::new(doc, guard, None);
            let scope = self.shared.lock().scope_in(txn.store_ref(), &guid);
            let (store, changes) = txn.parts();
            for item in items.iter().filter(|item| *item.doc() == guid) {
                keep_all(store, changes, item.ordered_deletions(), &scope, false);
            }
        }
        if cleared[0] || cleared[1] {
            let event = StackClearedEvent::new(cleared[0], cleared[1]);
            self.shared.cleared.trigger(|call| call(&event));
        }
    }

    /// Returns the origin of the transactions that this manager makes.
    pub fn as_origin(&self) -> Origin {
        self.shared.origin()
    }

    /// Begins a new step with the next change, however soon it comes.
    #[doc(alias = "stopCapturing")]
    pub fn reset(&mut self) {
        self.shared.lock().last_change = 0;
    }

    /// Returns whether there is a step to undo.
    pub fn can_undo(&self) -> bool {
        !self.shared.undo_stack().is_empty()
    }

    /// Returns whether there is a step to redo.
    pub fn can_redo(&self) -> bool {
        !self.shared.redo_stack().is_empty()
    }

    /// Undoes the last step. Returns whether that changed anything: steps that do not are dropped until one does.
    ///
    /// Waits for other transactions; a future that is dropped while it waits has done nothing.
    pub async fn undo(&mut self) -> bool {
        self.pop(EventKind::Undo).await
    }

    /// Redoes the step that was undone last. Returns whether that changed anything.
    ///
    /// Waits for other transactions; a future that is dropped while it waits has done nothing.
    pub async fn redo(&mut self) -> bool {
        self.pop(EventKind::Redo).await
    }

    /// As [`Self::undo`], blocking the thread while other threads have transactions.
    ///
    /// # Panics
    /// When this very thread has a transaction of the document open: waiting would never end. See [`Self::try_undo`].
    pub fn undo_blocking(&mut self) -> bool {
        self.pop_blocking(EventKind::Undo)
    }

    /// As [`Self::redo`], blocking the thread while other threads have transactions.
    ///
    /// # Panics
    /// When this very thread has a transaction of the document open: waiting would never end. See [`Self::try_redo`].
    pub fn redo_blocking(&mut self) -> bool {
        self.pop_blocking(EventKind::Redo)
    }

    /// As [`Self::undo`], without waiting.
    ///
    /// # Errors
    /// When another transaction of the document is open; nothing is undone then.
    pub fn try_undo(&mut self) -> Result<bool, TransactionAcqError> {
        self.try_pop(EventKind::Undo)
    }

    /// As [`Self::redo`], without waiting.
    ///
    /// # Errors
    /// When another transaction of the document is open; nothing is redone then.
    pub fn try_redo(&mut self) -> Result<bool, TransactionAcqError> {
        self.try_pop(EventKind::Redo)
    }

    async fn pop(&mut self, kind: EventKind) -> bool {
        self.views.clear();
        while let Some(doc) = next_doc(&self.shared, &self.docs, kind) {
            let txn = AsyncTransact::transact_mut_with(doc, self.shared.origin()).await;
            if pop(&self.shared, txn, kind) {
                return true;
            }
        }
        false
    }

    fn pop_blocking(&mut self, kind: EventKind) -> bool {
        self.views.clear();
        while let Some(doc) = next_doc(&self.shared, &self.docs, kind) {
            let txn = Transact::transact_mut_with(doc, self.shared.origin());
            if pop(&self.shared, txn, kind) {
                return true;
            }
        }
        false
    }

    fn try_pop(&mut self, kind: EventKind) -> Result<bool, TransactionAcqError> {
        self.views.clear();
        while let Some(doc) = next_doc(&self.shared, &self.docs, kind) {
            let txn = doc.try_transact_mut_with(self.shared.origin())?;
            if pop(&self.shared, txn, kind) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl<M> UndoManager<M>
where
    M: Meta + Clone + 'static,
{
    /// Returns the steps that can be undone, the last one last.
    ///
    /// The slice is a copy as of now: it does not follow later changes. Copies live until the next call that borrows the
    /// manager exclusively; to ask often whether there is a step, use [`Self::can_undo`]. Metadata that cannot be cloned
    /// cannot be shown: the call then returns the number of steps alone.
    pub fn undo_stack(&self) -> &[StackItem<M>] {
        self.views.stack(&self.shared, EventKind::Undo)
    }

    /// Returns the steps that can be redone, the last one last; see [`Self::undo_stack`].
    pub fn redo_stack(&self) -> &[StackItem<M>] {
        self.views.stack(&self.shared, EventKind::Redo)
    }
}

macro_rules! subscriptions {
    ($($(#[$doc:meta])* $observe:ident, $unobserve:ident, $field:ident, ($($argument:ty),*);)*) => {
        impl<M> UndoManager<M>
        where
            M: Meta + 'static,
        {
            $(
                $(#[$doc])*
                ///
                /// Callbacks are called in the order of their subscription; one of the same key is replaced.
                pub fn $observe<K, F>(&mut self, key: K, f: F)
                where
                    K: Into<Origin>,
                    F: FnMut($($argument),*) + Send + 'static,
                {
                    self.shared.$field.subscribe(key.into(), Box::new(f));
                }

                /// Ends a subscription. Returns whether there was one of this key.
                pub fn $unobserve<K>(&mut self, key: K) -> bool
                where
                    K: Into<Origin>,
                {
                    self.shared.$field.unsubscribe(&key.into())
                }
            )*
        }
    };
}

subscriptions! {
    /// Calls back when a step was added to a stack, within the transaction that it comes from.
    observe_item_added, unobserve_item_added, added, (&TransactionMut<'_>, &mut Event<M>);
    /// Calls back when a change was joined to the last step, within the transaction that it comes from.
    observe_item_updated, unobserve_item_updated, updated, (&TransactionMut<'_>, &mut Event<M>);
    /// Calls back when a step was undone or redone, after the commit.
    observe_item_popped, unobserve_item_popped, popped, (&TransactionMut<'_>, &mut Event<M>);
    /// Calls back when a stack was cleared, be it by a call or because a fresh change makes redoing impossible.
    observe_stack_cleared, unobserve_stack_cleared, cleared, (&StackClearedEvent);
}

/// Reaches the lengths of the stacks where the metadata cannot be cloned; see [`UndoManager::undo_stack`].
#[doc(hidden)]
impl<M> std::ops::Deref for UndoManager<M> {
    type Target = Shared<M>;

    fn deref(&self) -> &Shared<M> {
        &self.shared
    }
}

impl<M: std::fmt::Debug> std::fmt::Debug for UndoManager<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let state = self.shared.lock();
        f.debug_struct("UndoManager")
            .field("scope", &state.scope)
            .field("tracked_origins", &state.tracked)
            .field("undo", &state.stack(EventKind::Undo))
            .field("redo", &state.stack(EventKind::Redo))
            .finish()
    }
}

impl<M> Drop for UndoManager<M> {
    fn drop(&mut self) {
        let origin = self.shared.origin();
        for doc in &self.docs {
            // The answer says whether there was a subscription, which is all the same now.
            let _ = doc.unobserve_after_transaction(origin.clone());
            let _ = doc.unobserve_destroy(origin.clone());
        }
    }
}
