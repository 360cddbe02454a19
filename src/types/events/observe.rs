//! Subscribing to the changes of shared types.

use super::{Event, Events};
use crate::transaction::{Branch, BranchPtr, Origin, TransactionMut};

/// A shared type whose changes can be observed.
///
/// Callbacks are called when a transaction commits, in the order of their subscription, each at most once a transaction.
/// The transaction is still open: reading goes through it, starting another one panics with a clear message (or fails,
/// for the `try_` forms). Subscribing and unsubscribing from within a callback is fine: a new one is called from the next
/// transaction on, one that is removed is not called any more. A callback that panics stops neither the others nor the
/// commit; the panic goes on after it.
pub trait Observable: AsRef<Branch> {
    /// What a callback is told.
    type Event: 'static;

    /// Calls back on changes of this type (not of those within it). A subscription of the same key is replaced.
    ///
    /// Until it is removed with [`Self::unobserve`], or the type is gone, deleted content is kept up to the end of each
    /// transaction. A handle of another kind than the type has is never called.
    fn observe<K, F>(&self, key: K, mut f: F)
    where
        K: Into<Origin>,
        F: FnMut(&TransactionMut<'_>, &Self::Event) + Send + 'static,
        Event: AsRef<Self::Event>,
    {
        let callback = move |txn: &TransactionMut<'_>, target: &BranchPtr| {
            let event = Event::of_wanted::<Self::Event>(txn, target);
            if let Some(event) = event.as_ref().and_then(|event| event.inner().downcast_ref()) {
                f(txn, event);
            }
        };
        self.as_ref().subscribe(key.into(), Box::new(callback));
    }

    /// Ends a subscription. Returns whether there was one of this key.
    fn unobserve<K: Into<Origin>>(&self, key: K) -> bool {
        self.as_ref().unsubscribe(&key.into())
    }
}

/// A shared type whose changes can be observed together with those of all types within it.
///
/// What [`Observable`] says of callbacks is true here too.
pub trait DeepObservable: AsRef<Branch> {
    /// Calls back on changes of this type and those within it. A subscription of the same key is replaced.
    fn observe_deep<K, F>(&self, key: K, f: F)
    where
        K: Into<Origin>,
        F: FnMut(&TransactionMut<'_>, &Events<'_>) + Send + 'static,
    {
        self.as_ref().observe_deep(key.into(), f);
    }

    /// Ends a subscription. Returns whether there was one of this key.
    fn unobserve_deep<K: Into<Origin>>(&self, key: K) -> bool {
        self.as_ref().unsubscribe_deep(&key.into())
    }
}

impl Branch {
    /// Calls back on changes of this type: see [`Observable`].
    pub fn observe<F>(&self, key: Origin, mut f: F)
    where
        F: FnMut(&TransactionMut<'_>, &Event) + Send + 'static,
    {
        let callback = move |txn: &TransactionMut<'_>, target: &BranchPtr| {
            if let Some(event) = Event::of(txn, target, target) {
                f(txn, &event);
            }
        };
        self.subscribe(key, Box::new(callback));
    }

    /// Ends a subscription. Returns whether there was one of this key.
    pub fn unobserve(&self, key: &Origin) -> bool {
        self.unsubscribe(key)
    }

    /// Calls back on changes of this type and those within it: see [`DeepObservable`].
    pub fn observe_deep<F>(&self, key: Origin, mut f: F)
    where
        F: FnMut(&TransactionMut<'_>, &Events<'_>) + Send + 'static,
    {
        let callback = move |txn: &TransactionMut<'_>, current: &BranchPtr, targets: &[BranchPtr]| {
            let events = targets.iter().filter_map(|target| Event::of(txn, target, current));
            let events: Vec<Event> = events.collect();
            if !events.is_empty() {
                f(txn, &Events(&events));
            }
        };
        self.subscribe_deep(key, Box::new(callback));
    }

    /// Ends a deep subscription. Returns whether there was one of this key.
    pub fn unobserve_deep(&self, key: &Origin) -> bool {
        self.unsubscribe_deep(key)
    }
}
