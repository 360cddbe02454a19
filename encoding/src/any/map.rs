//! [`AnyMap`]: an object's entries, in the order they were put in.
//!
//! A clone shares the entries (one atomic increment); changing a shared map copies it first. Looking up
//! costs one hash. Code written for a standard `HashMap` gets one by `as_ref()` or by dereferencing; it is
//! built on first use (a copy of all keys) and kept.

use super::Any;
use indexmap::IndexMap;
use indexmap::map::{self, Keys, Values};
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
    entries: IndexMap<String, Any>,
    /// The entries as a standard map; empty until somebody asks.
    view: OnceLock<Box<HashMap<String, Any>>>,
}

impl Clone for Inner {
    fn clone(&self) -> Self {
        Self { entries: self.entries.clone(), view: OnceLock::new() }
    }
}

impl AnyMap {
    /// Makes an empty map.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes an empty map with room for `capacity` entries.
    pub fn with_capacity(capacity: usize) -> Self {
        if capacity == 0 {
            return Self(None);
        }
        let entries = IndexMap::with_capacity(capacity);
        Self(Some(Arc::new(Inner { entries, view: OnceLock::new() })))
    }

    /// Returns the value under `key`.
    pub fn get(&self, key: &str) -> Option<&Any> {
        self.entries()?.get(key)
    }

    /// Tells whether there is a value under `key`.
    pub fn contains_key(&self, key: &str) -> bool {
        self.entries().is_some_and(|entries| entries.contains_key(key))
    }

    /// Counts the entries.
    pub fn len(&self) -> usize {
        self.entries().map_or(0, IndexMap::len)
    }

    /// Tells whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Walks the entries in insertion order.
    pub fn iter(&self) -> map::Iter<'_, String, Any> {
        self.entries().unwrap_or_else(|| empty()).iter()
    }

    /// Walks the keys in insertion order.
    pub fn keys(&self) -> Keys<'_, String, Any> {
        self.entries().unwrap_or_else(|| empty()).keys()
    }

    /// Walks the values in insertion order.
    pub fn values(&self) -> Values<'_, String, Any> {
        self.entries().unwrap_or_else(|| empty()).values()
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
        self.entries_mut().shift_remove(key)
    }

    fn entries(&self) -> Option<&IndexMap<String, Any>> {
        self.0.as_ref().map(|inner| &inner.entries)
    }

    fn entries_mut(&mut self) -> &mut IndexMap<String, Any> {
        let inner = Arc::make_mut(self.0.get_or_insert_default());
        inner.view = OnceLock::new();
        &mut inner.entries
    }
}

/// An empty map to borrow from.
fn empty() -> &'static IndexMap<String, Any> {
    static EMPTY: OnceLock<IndexMap<String, Any>> = OnceLock::new();
    EMPTY.get_or_init(IndexMap::new)
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
        match &self.0 {
            None => EMPTY.get_or_init(HashMap::new),
            Some(inner) => inner.view.get_or_init(|| {
                Box::new(inner.entries.iter().map(|(k, v)| (k.clone(), v.clone())).collect())
            }),
        }
    }
}

impl fmt::Debug for AnyMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl PartialEq for AnyMap {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b) || a.entries == b.entries,
            _ => self.len() == other.len(),
        }
    }
}

impl From<IndexMap<String, Any>> for AnyMap {
    fn from(entries: IndexMap<String, Any>) -> Self {
        if entries.is_empty() {
            return Self(None);
        }
        Self(Some(Arc::new(Inner { entries, view: OnceLock::new() })))
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
        entries.into_iter().map(|(k, v)| (k.into(), v.into())).collect::<IndexMap<_, _>>().into()
    }
}

impl<K: Into<String>, V: Into<Any>> Extend<(K, V)> for AnyMap {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        self.entries_mut().extend(entries.into_iter().map(|(k, v)| (k.into(), v.into())));
    }
}

impl<'a> IntoIterator for &'a AnyMap {
    type Item = (&'a String, &'a Any);
    type IntoIter = map::Iter<'a, String, Any>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl IntoIterator for AnyMap {
    type Item = (String, Any);
    type IntoIter = map::IntoIter<String, Any>;

    fn into_iter(mut self) -> Self::IntoIter {
        if self.is_empty() {
            return IndexMap::new().into_iter();
        }
        std::mem::take(self.entries_mut()).into_iter()
    }
}

impl Drop for Inner {
    /// Empties nested containers in a loop: the depth of a value must not decide the depth of the stack.
    fn drop(&mut self) {
        let mut stack: Vec<Any> = Vec::new();
        let nested = |any: &Any| matches!(any, Any::Array(_) | Any::Map(_));
        for value in self.entries.values_mut().filter(|v| nested(v)) {
            stack.push(std::mem::replace(value, Any::Null));
        }
        while let Some(mut any) = stack.pop() {
            match &mut any {
                Any::Array(values) => {
                    for value in Arc::get_mut(values).into_iter().flatten().filter(|v| nested(v)) {
                        stack.push(std::mem::replace(value, Any::Null));
                    }
                }
                Any::Map(AnyMap(inner)) => {
                    let inner = inner.as_mut().and_then(Arc::get_mut);
                    let values = inner.into_iter().flat_map(|inner| inner.entries.values_mut());
                    for value in values.filter(|v| nested(v)) {
                        stack.push(std::mem::replace(value, Any::Null));
                    }
                }
                _ => {}
            }
        }
    }
}
