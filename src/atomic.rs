//! `AtomicRef`: a shared value that is replaced as a whole.
//!
//! Readers get an `Arc` of the value as it was. A mutex guards the pointer alone and is never held while code of the
//! caller runs. Every call but [`AtomicRef::update`] costs one uncontended lock.

use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;

/// A value, or none, that many threads read and replace.
///
/// ```
/// use yatta::atomic::AtomicRef;
///
/// let names = AtomicRef::new(vec!["Ada"]);
/// names.update(|old| [old.cloned().unwrap_or_default(), vec!["Grace"]].concat());
/// assert_eq!(names.get().as_deref(), Some(&vec!["Ada", "Grace"]));
/// ```
pub struct AtomicRef<T>(Mutex<Option<Arc<T>>>);

impl<T> AtomicRef<T> {
    /// Makes a cell with this value.
    pub fn new(value: T) -> Self {
        Self(Mutex::new(Some(Arc::new(value))))
    }

    /// Returns the present value, if there is one.
    pub fn get(&self) -> Option<Arc<T>> {
        self.0.lock().clone()
    }

    /// Replaces the value and returns the old one.
    pub fn swap(&self, value: T) -> Option<Arc<T>> {
        self.0.lock().replace(Arc::new(value))
    }

    /// Takes the value out.
    pub fn take(&self) -> Option<Arc<T>> {
        self.0.lock().take()
    }

    /// Replaces the value by what `f` makes of it. `f` is called again if another thread replaced the value meanwhile.
    pub fn update<F>(&self, f: F)
    where
        F: Fn(Option<&T>) -> T,
    {
        loop {
            let old = self.get();
            let new = Arc::new(f(old.as_deref()));
            let mut cell = self.0.lock();
            if cell.as_ref().map(Arc::as_ptr) == old.as_ref().map(Arc::as_ptr) {
                *cell = Some(new);
                // the old value is dropped, which may run code of the caller, when `old` goes: after the lock
                return;
            }
        }
    }
}

impl<T: Copy> AtomicRef<T> {
    /// Returns a copy of the present value, if there is one.
    pub fn get_owned(&self) -> Option<T> {
        self.0.lock().as_deref().copied()
    }
}

impl<T> Default for AtomicRef<T> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

impl<T: PartialEq> PartialEq for AtomicRef<T> {
    fn eq(&self, other: &Self) -> bool {
        // one lock at a time: a cell may be compared with itself, and two threads may compare crosswise
        self.get() == other.get()
    }
}

impl<T: Eq> Eq for AtomicRef<T> {}

impl<T: fmt::Debug> fmt::Debug for AtomicRef<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AtomicRef({:?})", self.get().as_deref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_and_go() {
        let cell = AtomicRef::new(1);
        assert_eq!(cell.get_owned(), Some(1));
        assert_eq!(cell.swap(2).as_deref(), Some(&1));
        assert_eq!(cell.take().as_deref(), Some(&2));
        assert_eq!(cell, AtomicRef::default());
        cell.update(|old| old.copied().unwrap_or(10) + 1);
        assert_eq!(format!("{cell:?}"), "AtomicRef(Some(11))");
    }

    #[test]
    fn no_update_is_lost() {
        let cell = AtomicRef::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..1000).for_each(|_| cell.update(|old| old.copied().unwrap_or(0) + 1)));
            }
        });
        assert_eq!(cell.get_owned(), Some(4000));
    }

    #[test]
    fn an_update_may_look_at_its_own_cell() {
        let cell = AtomicRef::new(5);
        cell.update(|_| cell.get_owned().unwrap_or(0) * 2);
        assert_eq!(cell.get_owned(), Some(10));
    }
}
