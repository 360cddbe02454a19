//! [`AnyMap`]: an object's entries, in the order they were put in.
//!
//! A clone shares the entries (one atomic increment); changing a shared map copies it first. Code written for
//! a standard `HashMap` gets one by `as_ref()` or by dereferencing; it is built on first use (a copy of all
//! keys) and kept.

use super::Any;
use super::entries::{Entries, IntoIter, Iter};
use std::collections::HashMap;
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

/// Entries of an object, in insertion order; cheap to clone.
///
/// Two maps are equal when they hold equal values under the same keys, in whatever order.
#[derive(Clone, Default)]
pub struct AnyMap(
    /// Nothing for an empty map, which then costs no memory.
    Option<Arc<Inner>>,
);

#[derive(Default)]
struct Inner {
    entries: Entries,
    /// The entries as a standard map; empty until somebody asks.
    #[expect(clippy::box_collection, reason = "hardly ever there, and every map carries the room for it")]
    view: OnceLock<Box<HashMap<String, Any>>>,
}

impl Clone for Inner {
    fn clone(&self) -> Self {
        Self { entries: self.entries.clone(), view: OnceLock::new() }
    }
}

/// What an empty map lends.
static EMPTY: Entries = Entries::Few(Vec::new());

impl AnyMap {
    /// Makes an empty map.
    pub fn new() -> Self {
        Self(None)
    }

    /// Makes an empty map with room for `capacity` entries.
    pub fn with_capacity(capacity: usize) -> Self {
        Self(Some(Arc::new(Inner { entries: Entries::with_capacity(capacity), view: OnceLock::new() })))
    }

    /// Returns the value under `key`. Costs at most one hash.
    pub fn get(&self, key: &str) -> Option<&Any> {
        self.entries().get(key)
    }

    /// Tells whether there is a value under `key`.
    pub fn contains_key(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Tells whether both are one map in memory: one is a clone of the other, or both are empty.
    #[inline]
    pub fn ptr_eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (None, None) => true,
            _ => false,
        }
    }

    /// Counts the entries.
    pub fn len(&self) -> usize {
        self.entries().len()
    }

    /// Tells whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Walks the entries in insertion order.
    pub fn iter(&self) -> Iter<'_> {
        self.entries().iter()
    }

    /// Walks the keys in insertion order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &String> + Clone {
        self.iter().map(|(key, _)| key)
    }

    /// Walks the values in insertion order.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &Any> + Clone {
        self.iter().map(|(_, value)| value)
    }

    /// Puts `value` under `key` and returns what was there; a key that is there keeps its place.
    ///
    /// Copies the map first if it is shared.
    pub fn insert(&mut self, key: String, value: Any) -> Option<Any> {
        self.entries_mut().insert(key, value)
    }

    /// Takes the entry of `key` out, closing the gap (costs O(entries)).
    ///
    /// Copies the map first if it is shared.
    pub fn remove(&mut self, key: &str) -> Option<Any> {
        self.entries_mut().remove(key)
    }

    fn entries(&self) -> &Entries {
        self.0.as_ref().map_or(&EMPTY, |inner| &inner.entries)
    }

    fn entries_mut(&mut self) -> &mut Entries {
        let inner = Arc::make_mut(self.0.get_or_insert_default());
        inner.view = OnceLock::new();
        &mut inner.entries
    }
}

impl From<Entries> for AnyMap {
    fn from(entries: Entries) -> Self {
        Self(Some(Arc::new(Inner { entries, view: OnceLock::new() })))
    }
}

impl AsRef<HashMap<String, Any>> for AnyMap {
    fn as_ref(&self) -> &HashMap<String, Any> {
        self
    }
}

impl Deref for AnyMap {
    type Target = HashMap<String, Any>;

    /// Views the entries as a standard map, which is built on first use.
    fn deref(&self) -> &HashMap<String, Any> {
        static EMPTY: OnceLock<HashMap<String, Any>> = OnceLock::new();
        let Some(inner) = &self.0 else { return EMPTY.get_or_init(HashMap::new) };
        inner.view.get_or_init(|| {
            let copies = inner.entries.iter().map(|(key, value)| (key.clone(), value.clone()));
            Box::new(copies.collect())
        })
    }
}

impl fmt::Debug for AnyMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<T: Into<Any>, S> From<HashMap<String, T, S>> for AnyMap {
    fn from(map: HashMap<String, T, S>) -> Self {
        map.into_iter().collect()
    }
}

impl<S> From<Arc<HashMap<String, Any, S>>> for AnyMap {
    fn from(map: Arc<HashMap<String, Any, S>>) -> Self {
        match Arc::try_unwrap(map) {
            Ok(map) => map.into(),
            Err(shared) => shared.iter().map(|(k, v)| (k.clone(), v.clone())).collect(),
        }
    }
}

impl<K: Into<String>, V: Into<Any>, const N: usize> From<[(K, V); N]> for AnyMap {
    fn from(entries: [(K, V); N]) -> Self {
        entries.into_iter().collect()
    }
}

impl<K: Into<String>, V: Into<Any>> FromIterator<(K, V)> for AnyMap {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut map = Self::new();
        map.extend(entries);
        map
    }
}

impl<K: Into<String>, V: Into<Any>> Extend<(K, V)> for AnyMap {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        let entries = entries.into_iter();
        if self.0.is_none() {
            *self = Self::with_capacity(entries.size_hint().0);
        }
        let own = self.entries_mut();
        for (key, value) in entries {
            own.insert(key.into(), value.into());
        }
    }
}

impl<'a> IntoIterator for &'a AnyMap {
    type Item = (&'a String, &'a Any);
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

impl IntoIterator for AnyMap {
    type Item = (String, Any);
    type IntoIter = IntoIter;

    /// Walks the entries in insertion order; those of a shared map are copied.
    fn into_iter(mut self) -> IntoIter {
        std::mem::take(self.entries_mut()).into_iter()
    }
}

impl Drop for Inner {
    /// Empties nested containers in a loop: the depth of a value must not decide the depth of the stack.
    fn drop(&mut self) {
        let mut stack: Vec<Any> = Vec::new();
        let unnest = |value: &mut Any, stack: &mut Vec<Any>| {
            if matches!(value, Any::Array(_) | Any::Map(_)) {
                stack.push(std::mem::replace(value, Any::Null));
            }
        };
        self.entries.values_mut().for_each(|value| unnest(value, &mut stack));
        while let Some(mut any) = stack.pop() {
            // What is shared lives on; nobody else sees the rest.
            match &mut any {
                Any::Array(values) => {
                    let values = Arc::get_mut(values).into_iter().flatten();
                    values.for_each(|value| unnest(value, &mut stack));
                }
                Any::Map(AnyMap(Some(inner))) => {
                    if let Some(inner) = Arc::get_mut(inner) {
                        inner.entries.values_mut().for_each(|value| unnest(value, &mut stack));
                    }
                }
                _ => {}
            }
        }
    }
}
