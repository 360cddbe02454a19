//! [`Entries`]: key-value pairs in insertion order, a plain list while they are few.
//!
//! Nearly all objects have a handful of keys. Comparing those with each other is cheaper than hashing them,
//! and a list takes one allocation less. From [`MAX_FEW`] on, a hash index bounds the cost of a key.

use super::Any;
use indexmap::{IndexMap, map};
use std::{slice, vec};

/// Up to so many entries are searched one by one. Decoding objects of 8 short keys takes the same time either
/// way; smaller ones are faster as a list.
const MAX_FEW: usize = 8;

/// Key-value pairs in insertion order.
#[derive(Clone)]
pub(super) enum Entries {
    Few(Vec<(String, Any)>),
    Many(IndexMap<String, Any>),
}

impl Default for Entries {
    fn default() -> Self {
        Self::Few(Vec::new())
    }
}

impl Entries {
    pub(super) fn with_capacity(capacity: usize) -> Self {
        if capacity > MAX_FEW {
            Self::Many(IndexMap::with_capacity(capacity))
        } else {
            Self::Few(Vec::with_capacity(capacity))
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Few(list) => list.len(),
            Self::Many(map) => map.len(),
        }
    }

    pub(super) fn get(&self, key: &str) -> Option<&Any> {
        match self {
            Self::Few(list) => list.iter().find(|(k, _)| k == key).map(|(_, value)| value),
            Self::Many(map) => map.get(key),
        }
    }

    /// Puts a value under a key and returns what was there; a key that is there keeps its place.
    pub(super) fn insert(&mut self, key: String, value: Any) -> Option<Any> {
        let list = match self {
            Self::Many(map) => return map.insert(key, value),
            Self::Few(list) => list,
        };
        if let Some((_, old)) = list.iter_mut().find(|(k, _)| *k == key) {
            return Some(std::mem::replace(old, value));
        }
        list.push((key, value));
        if list.len() > MAX_FEW {
            *self = Self::Many(std::mem::take(list).into_iter().collect());
        }
        None
    }

    pub(super) fn remove(&mut self, key: &str) -> Option<Any> {
        match self {
            Self::Few(list) => {
                let at = list.iter().position(|(k, _)| k == key)?;
                Some(list.remove(at).1)
            }
            Self::Many(map) => map.shift_remove(key),
        }
    }

    pub(super) fn iter(&self) -> Iter<'_> {
        Iter(match self {
            Self::Few(list) => Walk::Few(list.iter()),
            Self::Many(map) => Walk::Many(map.iter()),
        })
    }

    pub(super) fn values_mut(&mut self) -> impl Iterator<Item = &mut Any> {
        let (few, many) = match self {
            Self::Few(list) => (Some(list.iter_mut()), None),
            Self::Many(map) => (None, Some(map.values_mut())),
        };
        few.into_iter().flatten().map(|(_, value)| value).chain(many.into_iter().flatten())
    }
}

impl IntoIterator for Entries {
    type Item = (String, Any);
    type IntoIter = IntoIter;

    fn into_iter(self) -> IntoIter {
        IntoIter(match self {
            Self::Few(list) => Walk::Few(list.into_iter()),
            Self::Many(map) => Walk::Many(map.into_iter()),
        })
    }
}

#[derive(Debug, Clone)]
enum Walk<F, M> {
    Few(F),
    Many(M),
}

/// Walks the entries of a map in insertion order.
#[derive(Debug, Clone)]
pub struct Iter<'a>(Walk<slice::Iter<'a, (String, Any)>, map::Iter<'a, String, Any>>);

impl<'a> Iterator for Iter<'a> {
    type Item = (&'a String, &'a Any);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Walk::Few(iter) => iter.next().map(|(key, value)| (key, value)),
            Walk::Many(iter) => iter.next(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match &self.0 {
            Walk::Few(iter) => iter.size_hint(),
            Walk::Many(iter) => iter.size_hint(),
        }
    }
}

impl ExactSizeIterator for Iter<'_> {}

/// Walks the entries of a map in insertion order, owning them.
#[derive(Debug)]
pub struct IntoIter(Walk<vec::IntoIter<(String, Any)>, map::IntoIter<String, Any>>);

impl Iterator for IntoIter {
    type Item = (String, Any);

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Walk::Few(iter) => iter.next(),
            Walk::Many(iter) => iter.next(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match &self.0 {
            Walk::Few(iter) => iter.size_hint(),
            Walk::Many(iter) => iter.size_hint(),
        }
    }
}

impl ExactSizeIterator for IntoIter {}
