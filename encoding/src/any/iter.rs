//! Iterators over the inside of an [`Any`]: borrowing ([`AnyIter`]) and owning ([`AnyIntoIter`]).

use super::{Any, AnyMap, AnyMapIntoIter, AnyMapIter};
use std::collections::HashMap;
use std::sync::Arc;

/// Walks an array or the entries of a map; what it yields has a key in the second case.
#[derive(Debug, Clone)]
pub enum AnyIter<'a> {
    /// Over an array.
    Array(std::slice::Iter<'a, Any>),
    /// Over a map, in insertion order.
    Map(AnyMapIter<'a>),
}

impl<'a> Iterator for AnyIter<'a> {
    type Item = (Option<&'a str>, &'a Any);

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Array(iter) => iter.next().map(|value| (None, value)),
            Self::Map(iter) => iter.next().map(|(key, value)| (Some(key.as_str()), value)),
        }
    }
}

/// Walks a shared array, cloning each value.
#[derive(Debug, Clone)]
pub struct AnyArrayIter {
    source: Arc<[Any]>,
    index: usize,
}

impl AnyArrayIter {
    /// Starts at the front.
    pub fn new(source: Arc<[Any]>) -> Self {
        Self { source, index: 0 }
    }
}

impl Iterator for AnyArrayIter {
    type Item = Any;

    fn next(&mut self) -> Option<Any> {
        let value = self.source.get(self.index)?.clone();
        self.index += 1;
        Some(value)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.source.len() - self.index;
        (left, Some(left))
    }
}

impl ExactSizeIterator for AnyArrayIter {}

/// Walks an array or the entries of a map, owning what it yields.
#[derive(Debug)]
pub enum AnyIntoIter {
    /// Over an array.
    Array(AnyArrayIter),
    /// Over a map, in insertion order.
    Map(AnyMapIntoIter),
}

impl From<Arc<[Any]>> for AnyIntoIter {
    fn from(values: Arc<[Any]>) -> Self {
        Self::Array(AnyArrayIter::new(values))
    }
}

impl From<AnyMap> for AnyIntoIter {
    fn from(map: AnyMap) -> Self {
        Self::Map(map.into_iter())
    }
}

impl From<Arc<HashMap<String, Any>>> for AnyIntoIter {
    fn from(map: Arc<HashMap<String, Any>>) -> Self {
        AnyMap::from(map).into()
    }
}

impl Iterator for AnyIntoIter {
    type Item = (Option<String>, Any);

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Array(iter) => iter.next().map(|value| (None, value)),
            Self::Map(iter) => iter.next().map(|(key, value)| (Some(key), value)),
        }
    }
}
