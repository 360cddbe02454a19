//! Subscriptions: keyed callbacks, called in the order in which they were made.
//!
//! The list is copied on write, so that a callback may subscribe and unsubscribe while the list is being walked: those
//! that it adds are called from the next event on, those that it removes are not called any more. A callback that panics
//! does not keep the others from being called; the panic goes on after the last. Triggering an empty registry costs one
//! load; else a lock and a reference count, or a load where the caller keeps a [`Listeners`].

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
    /// Taken away when it is removed, as a list that is still in use may hold the entry for long.
    callback: Mutex<Option<Box<F>>>,
}

impl<F: ?Sized> Entry<F> {
    /// The callback, after waiting for other threads; `None` if this very thread is calling it already.
    #[inline]
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
    callback: MutexGuard<'e, Option<Box<F>>>,
    caller: &'e AtomicUsize,
}

impl<F: ?Sized> Drop for Entered<'_, F> {
    fn drop(&mut self) {
        self.caller.store(0, Ordering::Relaxed);
    }
}

/// Makes sure that a callback is not called any more, and drops it unless it is being called just now.
fn retire<F: ?Sized>(entry: &Entry<F>) {
    entry.active.store(false, Ordering::Release);
    let callback = entry.callback.try_lock().and_then(|mut callback| callback.take());
    // What it owns may subscribe when it is dropped: not under the lock.
    drop(callback);
}

/// The callbacks of a registry as they were when last looked at. Whoever triggers it often keeps this, which costs a load
/// where a look at the registry costs a lock and a reference count.
pub(crate) struct Listeners<F: ?Sized> {
    version: usize,
    entries: Entries<F>,
}

impl<F: ?Sized> Default for Listeners<F> {
    fn default() -> Self {
        Self { version: 0, entries: None }
    }
}

impl<F: ?Sized> Listeners<F> {
    /// Takes over what changed in the registry.
    #[inline]
    pub(crate) fn refresh(&mut self, registry: &Registry<F>) {
        if self.version != registry.version.load(Ordering::Acquire) {
            let entries = registry.entries.lock();
            // Under the lock it cannot change.
            self.version = registry.version.load(Ordering::Relaxed);
            let old = std::mem::replace(&mut self.entries, Entries::clone(&entries));
            drop(entries);
            // What a callback owns may subscribe when it is dropped: not under the lock.
            drop(old);
        }
    }

    /// As [`Registry::trigger_all`].
    #[inline]
    pub(crate) fn trigger_all(&self, panicked: &mut Option<Panic>, call: impl FnMut(&mut F)) {
        trigger_each(self.entries.iter().flat_map(|entries| &**entries), panicked, call);
    }
}

/// Calls each callback that is still wanted.
#[inline]
fn trigger_each<'e, F: ?Sized + 'e>(
    entries: impl Iterator<Item = &'e Arc<Entry<F>>>,
    panicked: &mut Option<Panic>,
    mut call: impl FnMut(&mut F),
) {
    for entry in entries {
        if !entry.active.load(Ordering::Acquire) {
            continue;
        }
        let Some(mut entered) = entry.enter() else { continue };
        let Some(callback) = &mut *entered.callback else { continue };
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| call(callback))) {
            panicked.get_or_insert(panic);
        }
    }
}

/// The callbacks in their order, shared while they are being called. Nothing until somebody subscribes: each handle of a
/// type has two registries, and most have no subscriber ever.
type Entries<F> = Option<Arc<Vec<Arc<Entry<F>>>>>;

/// Callbacks of one kind of event.
pub(crate) struct Registry<F: ?Sized> {
    entries: Mutex<Entries<F>>,
    len: AtomicUsize,
    /// Changes with each change of the list, under its lock.
    version: AtomicUsize,
}

impl<F: ?Sized> Default for Registry<F> {
    fn default() -> Self {
        Self { entries: Mutex::new(None), len: AtomicUsize::new(0), version: AtomicUsize::new(0) }
    }
}

impl<F: ?Sized> Registry<F> {
    /// Publishes the number of callbacks. To be called under the lock of the list.
    fn set_len(&self, len: usize) {
        self.len.store(len, Ordering::Release);
        self.version.fetch_add(1, Ordering::AcqRel);
    }

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
            callback: Mutex::new(Some(callback)),
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
        self.set_len(list.len());
        drop(entries);
        if let Some(old) = &old {
            retire(old);
        }
        old.is_none()
    }

    /// Removes a callback. Returns whether there was one of this key.
    pub(crate) fn unsubscribe(&self, key: &Origin) -> bool {
        let mut entries = self.entries.lock();
        let Some(list) = &mut *entries else { return false };
        let Some(place) = list.iter().position(|entry| entry.key == *key) else { return false };
        let list = Arc::make_mut(list);
        let old = list.remove(place);
        self.set_len(list.len());
        drop(entries);
        retire(&old);
        true
    }

    /// Removes all callbacks.
    pub(crate) fn clear(&self) {
        let mut entries = self.entries.lock();
        let old = std::mem::take(&mut *entries);
        self.set_len(0);
        drop(entries);
        old.iter().flat_map(|entries| &**entries).for_each(|entry| retire(entry));
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
            let entries = Entries::clone(&self.entries.lock());
            trigger_each(entries.iter().flat_map(|entries| &**entries), panicked, call);
        }
    }
}

impl<F: ?Sized> std::fmt::Debug for Registry<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Registry({} subscriptions)", self.len.load(Ordering::Relaxed))
    }
}
