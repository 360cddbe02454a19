//! Subscriptions: keyed callbacks, called in the order in which they were made.
//!
//! The list is copied on write, so that a callback may subscribe and unsubscribe while the list is being walked: those
//! that it adds are called from the next event on, those that it removes are not called any more. A callback that panics
//! does not keep the others from being called; the panic goes on after the last. Triggering an empty registry costs one
//! load; else a lock and a reference count.

use std::any::Any as StdAny;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use parking_lot::{Mutex, MutexGuard};

use super::lock::thread_token;
use super::origin::Origin;

/// What a callback panicked with.
pub(crate) type Panic = Box<dyn StdAny + Send>;

struct Entry<F: ?Sized> {
    key: Origin,
    active: AtomicBool,
    /// The thread that is calling back, 0 if none is.
    caller: AtomicUsize,
    callback: Mutex<Box<F>>,
}

impl<F: ?Sized> Entry<F> {
    /// The callback, after waiting for other threads; `None` if this very thread is calling it already.
    fn enter(&self) -> Option<Entered<'_, F>> {
        let here = thread_token();
        if self.caller.load(Ordering::Relaxed) == here {
            return None;
        }
        let callback = self.callback.lock();
        self.caller.store(here, Ordering::Relaxed);
        Some(Entered { callback, caller: &self.caller })
    }
}

/// A callback that is being called.
struct Entered<'e, F: ?Sized> {
    callback: MutexGuard<'e, Box<F>>,
    caller: &'e AtomicUsize,
}

impl<F: ?Sized> Drop for Entered<'_, F> {
    fn drop(&mut self) {
        self.caller.store(0, Ordering::Relaxed);
    }
}

/// Makes sure that a callback is not called any more. Returns whether there is one.
fn retire<F: ?Sized>(entry: Option<Arc<Entry<F>>>) -> bool {
    if let Some(entry) = &entry {
        entry.active.store(false, Ordering::Release);
    }
    entry.is_some()
}

/// The callbacks in their order, shared while they are being called.
type List<F> = Arc<Vec<Arc<Entry<F>>>>;

/// Callbacks of one kind of event.
pub(crate) struct Registry<F: ?Sized> {
    /// `None` until somebody subscribes: each handle of a type has two registries, and most have no subscriber ever.
    entries: Mutex<Option<List<F>>>,
    len: AtomicUsize,
}

impl<F: ?Sized> Default for Registry<F> {
    fn default() -> Self {
        Self { entries: Mutex::new(None), len: AtomicUsize::new(0) }
    }
}

impl<F: ?Sized> Registry<F> {
    /// Whether nobody listens.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of callbacks.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len.load(Ordering::Acquire)
    }

    /// Adds a callback; one of the same key is replaced in its place. Returns whether it is an additional one.
    pub(crate) fn subscribe(&self, key: Origin, callback: Box<F>) -> bool {
        let entry = Arc::new(Entry {
            key,
            active: AtomicBool::new(true),
            caller: AtomicUsize::new(0),
            callback: Mutex::new(callback),
        });
        let mut entries = self.entries.lock();
        let list = Arc::make_mut(entries.get_or_insert_default());
        let old = match list.iter_mut().find(|old| old.key == entry.key) {
            Some(place) => Some(std::mem::replace(place, entry)),
            None => {
                list.push(entry);
                None
            }
        };
        self.len.store(list.len(), Ordering::Release);
        drop(entries);
        // What a callback owns may subscribe when it is dropped: not under the lock.
        !retire(old)
    }

    /// Removes a callback. Returns whether there was one of this key.
    pub(crate) fn unsubscribe(&self, key: &Origin) -> bool {
        let mut entries = self.entries.lock();
        let Some(list) = entries.as_mut() else { return false };
        let Some(place) = list.iter().position(|entry| entry.key == *key) else { return false };
        let list = Arc::make_mut(list);
        let old = list.remove(place);
        self.len.store(list.len(), Ordering::Release);
        drop(entries);
        retire(Some(old))
    }

    /// Removes all callbacks.
    pub(crate) fn clear(&self) {
        let mut entries = self.entries.lock();
        let old = std::mem::take(&mut *entries);
        self.len.store(0, Ordering::Release);
        drop(entries);
        for entry in old.iter().flat_map(|list| list.iter()) {
            entry.active.store(false, Ordering::Release);
        }
    }

    /// Calls each callback through `call`. One that this thread is calling already (an event within its own event) is
    /// left out.
    ///
    /// # Panics
    /// With the first panic of a callback, after the last callback.
    pub(crate) fn trigger(&self, call: impl FnMut(&mut F)) {
        let mut panicked = None;
        self.trigger_all(&mut panicked, call);
        if let Some(panic) = panicked {
            resume_unwind(panic);
        }
    }

    /// As [`Self::trigger`], but keeps the first panic of a callback for the caller, unless there is one already.
    #[inline]
    pub(crate) fn trigger_all(&self, panicked: &mut Option<Panic>, call: impl FnMut(&mut F)) {
        if !self.is_empty() {
            self.trigger_each(panicked, call);
        }
    }

    fn trigger_each(&self, panicked: &mut Option<Panic>, mut call: impl FnMut(&mut F)) {
        let entries = self.entries.lock().clone();
        for entry in entries.iter().flat_map(|list| list.iter()) {
            if !entry.active.load(Ordering::Acquire) {
                continue;
            }
            let Some(mut entered) = entry.enter() else { continue };
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| call(&mut entered.callback))) {
                panicked.get_or_insert(panic);
            }
        }
    }
}

impl<F: ?Sized> std::fmt::Debug for Registry<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Registry({} subscriptions)", self.len.load(Ordering::Relaxed))
    }
}
