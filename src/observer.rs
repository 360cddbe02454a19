//! `Observer`: keyed callbacks for events of one's own.

use crate::transaction::Origin;
use crate::transaction::registry::Registry;

/// Callbacks of one kind of event, each under a key, called in the order of their subscription.
///
/// ```
/// use yatta::observer::Observer;
///
/// let mut observer: Observer<Box<dyn FnMut(u32) + Send>> = Observer::new();
/// let (sender, receiver) = std::sync::mpsc::channel();
/// observer.subscribe("key", Box::new(move |value| sender.send(value).expect("the receiver lives")));
/// observer.trigger(|callback| callback(7));
/// assert_eq!(receiver.try_recv(), Ok(7));
/// assert!(observer.unsubscribe(&"key".into()));
/// assert!(!observer.has_subscribers());
/// ```
pub struct Observer<F>(Registry<F>);

impl<F> Observer<F> {
    /// Makes an observer without callbacks.
    pub fn new() -> Self {
        Self(Registry::default())
    }

    /// Returns whether there are callbacks.
    pub fn has_subscribers(&self) -> bool {
        !self.0.is_empty()
    }

    /// Adds a callback; one of the same key is replaced in its place.
    pub fn subscribe(&mut self, id: impl Into<Origin>, callback: F) {
        self.0.subscribe(id.into(), Box::new(callback));
    }

    /// Removes a callback. Returns whether there was one of this key. One that is removed while others are being called is
    /// not called any more.
    pub fn unsubscribe(&self, id: &Origin) -> bool {
        self.0.unsubscribe(id)
    }

    /// Calls `each` with every callback.
    ///
    /// # Panics
    /// With the first panic of a callback, after the last callback.
    pub fn trigger<E: FnMut(&mut F)>(&mut self, each: E) {
        self.0.trigger(each);
    }
}

impl<F> Default for Observer<F> {
    fn default() -> Self {
        Self::new()
    }
}

impl<F> std::fmt::Debug for Observer<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}
