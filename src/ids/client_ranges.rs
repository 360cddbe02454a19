//! Clock ranges of many clients, each range with a value: the core of `IdSet` and `IdMap`.
//!
//! Invariant: the ranges of each client obey I8. A client may be held with no ranges at all
//! (`IdSet::range_mut` hands out its list before anything is in it); such a client counts as
//! absent in everything that reads: `len`, `iter`, equality, the wire.

use crate::ids::client_map::{self, ClientMap};
use crate::ids::id_ranges::{IdRanges, Merge};
use std::fmt;
use std::ops::Range;
use yatta_encoding::{ClientID, ID};

/// A map from client id to its [`IdRanges`].
#[derive(Clone)]
pub(crate) struct ClientRanges<T: Merge>(ClientMap<IdRanges<T>, 1>);

impl<T: Merge> ClientRanges<T> {
    #[inline]
    pub(crate) fn new() -> Self {
        Self(ClientMap::new())
    }

    /// Makes a map of clients that ascend strictly.
    pub(crate) fn from_ascending(clients: Vec<(ClientID, IdRanges<T>)>) -> Self {
        Self(ClientMap::from_ascending(clients))
    }

    /// Tells if there are no ranges.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(|(_, ranges)| ranges.is_empty())
    }

    /// Counts the clients that have ranges, in O(clients).
    pub(crate) fn len(&self) -> usize {
        self.iter().count()
    }

    /// Iterates over the clients that have ranges, in ascending order.
    #[inline]
    pub(crate) fn iter(&self) -> Iter<'_, T> {
        Iter(self.0.iter())
    }

    #[inline]
    pub(crate) fn get(&self, client: ClientID) -> Option<&IdRanges<T>> {
        self.0.get(client).filter(|ranges| !ranges.is_empty())
    }

    /// Returns the ranges of `client`, which may be none yet.
    #[inline]
    pub(crate) fn ranges_mut(&mut self, client: ClientID) -> &mut IdRanges<T> {
        self.0.get_or_insert_with(client, IdRanges::default)
    }

    #[inline]
    pub(crate) fn contains(&self, id: &ID) -> bool {
        self.0.get(id.client).is_some_and(|ranges| ranges.contains_clock(id.clock))
    }

    pub(crate) fn insert(&mut self, client: ClientID, range: Range<u32>, value: T) {
        if !range.is_empty() {
            self.ranges_mut(client).insert_with(range, value);
        }
    }

    pub(crate) fn remove(&mut self, client: ClientID, range: Range<u32>) {
        if let Some(ranges) = self.0.get_mut(client) {
            ranges.remove(range);
            if ranges.is_empty() {
                self.0.remove(client);
            }
        }
    }

    /// Adds all of `other` (union).
    pub(crate) fn merge_with(&mut self, other: &Self) {
        for (client, ranges) in other.iter() {
            self.ranges_mut(*client).merge(ranges);
        }
    }

    /// Removes the clocks of `other` (difference).
    pub(crate) fn diff_with<U: Merge>(&mut self, other: &ClientRanges<U>) {
        self.0.retain(|client, ranges| {
            if let Some(others) = other.get(client) {
                ranges.exclude(others);
            }
            !ranges.is_empty()
        });
    }

    /// Keeps what `other` has too (intersection).
    pub(crate) fn intersect_with(&mut self, other: &Self) {
        self.0.retain(|client, ranges| match other.get(client) {
            Some(others) => {
                ranges.intersect(others);
                !ranges.is_empty()
            }
            None => false,
        });
    }

    /// Makes a map of the values that `f` answers for the values of this one, leaving out the
    /// ranges for which it answers none.
    pub(crate) fn filter_map<U: Merge>(&self, f: impl Fn(&T) -> Option<U>) -> ClientRanges<U> {
        let mut clients = Vec::new();
        for (client, ranges) in self.iter() {
            let mut mapped = IdRanges::new();
            for (range, value) in ranges.iter() {
                if let Some(value) = f(value) {
                    mapped.push(range.clone(), value);
                }
            }
            if !mapped.is_empty() {
                clients.push((*client, mapped));
            }
        }
        ClientRanges::from_ascending(clients)
    }

    /// Checks I8 for every client.
    #[cfg(test)]
    pub(crate) fn check(&self) -> Result<(), String> {
        self.0.check()?;
        for (client, ranges) in self.0.iter() {
            ranges.check().map_err(|what| format!("{what} (client {client})"))?;
        }
        Ok(())
    }
}

impl<T: Merge> Default for ClientRanges<T> {
    #[inline]
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Merge> PartialEq for ClientRanges<T> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<T: Merge + Eq> Eq for ClientRanges<T> {}

impl<T: Merge + fmt::Debug> fmt::Debug for ClientRanges<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

/// Iterates over the clients that have ranges, in ascending order.
#[derive(Debug)]
pub(crate) struct Iter<'a, T>(client_map::Iter<'a, IdRanges<T>>);

impl<T> Clone for Iter<'_, T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<'a, T: Merge> Iterator for Iter<'a, T> {
    type Item = (&'a ClientID, &'a IdRanges<T>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.0.find(|(_, ranges)| !ranges.is_empty())
    }
}

impl<T: Merge> DoubleEndedIterator for Iter<'_, T> {
    #[inline]
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0.rfind(|(_, ranges)| !ranges.is_empty())
    }
}
