//! Subscriptions: keyed callbacks, called in the order in which they were made.
//!
//! The list is copied on write, so that a callback may subscribe and unsubscribe while the list is being walked: those
//! that it adds are called from the next event on, those that it removes are not called any more. A callback that panics
//! does not keep the others from being called; the panic goes on after the last. Triggering an empty registry costs one
//! load; else a lock and a reference count.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use parking_lot::Mutex;

use super::origin::Origin;

struct Entry<F: ?Sized> {
    key: Origin,
    active: AtomicBool,
    callback: Mutex<Box<F>>,
}

/// Callbacks of one kind of event.
pub(crate) struct Registry<F: ?Sized> {
    entries: Mutex<Arc<Vec<Arc<Entry<F>>>>>,
    len: AtomicUsize,
}

impl<F: ?Sized> Default for Registry<F> {
    fn default() -> Self {
        Self { entries: Mutex::new(Arc::new(Vec::new())), len: AtomicUsize::new(0) }
    }
}

impl<F: ?Sized> Registry<F> {
    /// Whether nobody listens.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.len.load(Ordering::Acquire) == 0
    }

    /// Adds a callback; one of the same key is replaced in its place. Returns whether it is an additional one.
    pub(crate) fn subscribe(&self, key: Origin, callback: Box<F>) -> bool {
        let entry =
            Arc::new(Entry { key, active: AtomicBool::new(true), callback: Mutex::new(callback) });
        let mut entries = self.entries.lock();
        let list = Arc::make_mut(&mut entries);
        let old = list.iter().position(|old| old.key == entry.key);
        match old {
            Some(place) => {
                list[place].active.store(false, Ordering::Release);
                list[place] = entry;
            }
            None => list.push(entry),
        }
        self.len.store(list.len(), Ordering::Release);
        old.is_none()
    }

    /// Removes a callback. Returns whether there was one of this key.
    pub(crate) fn unsubscribe(&self, key: &Origin) -> bool {
        let mut entries = self.entries.lock();
        let list = Arc::make_mut(&mut entries);
        let Some(place) = list.iter().position(|entry| entry.key == *key) else { return false };
        list.remove(place).active.store(false, Ordering::Release);
        self.len.store(list.len(), Ordering::Release);
        true
    }

    /// Calls each callback through `call`. A callback that is being called already (an event within its own event) is
    /// left out.
    pub(crate) fn trigger(&self, mut call: impl FnMut(&mut F)) {
        if self.is_empty() {
            return;
        }
        let entries = Arc::clone(&self.entries.lock());
        let mut panicked = None;
        for entry in entries.iter() {
            if !entry.active.load(Ordering::Acquire) {
                continue;
            }
            let Some(mut callback) = entry.callback.try_lock() else { continue };
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| call(&mut callback))) {
                panicked.get_or_insert(panic);
            }
        }
        if let Some(panic) = panicked {
            resume_unwind(panic);
        }
    }
}

impl<F: ?Sized> std::fmt::Debug for Registry<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Registry({} subscriptions)", self.len.load(Ordering::Relaxed))
    }
}
