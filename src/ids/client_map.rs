//! A map from client id to a value, in ascending order of the ids.
//!
//! Most documents and nearly all transactions know one or two clients, so that the entries live in
//! a sorted vector (inline for the first `N`), which a short scan or a binary search looks through.
//! An insertion moves what lies behind it; so that this stays cheap in whatever order a peer
//! introduces its clients, a long vector becomes a B-tree when it is inserted into. Nothing is
//! hashed: the wire needs the order, and ids that a peer chose to collide cost nothing.
//!
//! Invariant: the ids of [`Entries::Sorted`] ascend strictly.
//! Cost of a look-up: O(log n). Of an insertion: O(1) behind the last id, else O(log n) plus a
//! move of at most [`MANY`] entries; no allocation for the first `N`.

use smallvec::SmallVec;
use std::collections::{BTreeMap, btree_map};
use std::fmt;
use std::iter::FusedIterator;
use std::slice;
use yatta_encoding::ClientID;

/// As tree entries as a scan finds at least as fast as a binary search does.
const SCAN: usize = 4;

/// With so tree entries the next insertion that is not behind them makes a B-tree of the vector:
/// below, a move costs about as much as a look-up in the tree. Small under test, so that small
/// inputs reach both forms.
const MANY: usize = if cfg!(test) { 6 } else { 512 };

#[derive(Clone)]
enum Entries<V, const N: usize> {
    Sorted(SmallVec<[(ClientID, V); N]>),
    Tree(BTreeMap<ClientID, V>),
}

/// A map from client id to `V`, iterated in ascending order of the ids.
#[derive(Clone)]
pub(crate) struct ClientMap<V, const N: usize>(Entries<V, N>);

impl<V, const N: usize> ClientMap<V, N> {
    pub(crate) fn new() -> Self {
        Self(Entries::Sorted(SmallVec::new()))
    }

    /// Makes a map of entries whose ids ascend strictly.
    pub(crate) fn from_ascending(entries: Vec<(ClientID, V)>) -> Self {
        debug_assert!(entries.windows(2).all(|pair| pair[0].0 < pair[1].0), "the ids must ascend");
        if entries.len() <= N {
            Self(Entries::Sorted(entries.into_iter().collect()))
        } else {
            Self(Entries::Sorted(SmallVec::from_vec(entries)))
        }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        match &self.0 {
            Entries::Sorted(list) => list.len(),
            Entries::Tree(tree) => tree.len(),
        }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[inline]
    pub(crate) fn get(&self, client: ClientID) -> Option<&V> {
        match &self.0 {
            Entries::Sorted(list) => list.get(find(list, client).ok()?).map(|entry| &entry.1),
            Entries::Tree(tree) => tree.get(&client),
        }
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, client: ClientID) -> Option<&mut V> {
        match &mut self.0 {
            Entries::Sorted(list) => {
                let at = find(list, client).ok()?;
                list.get_mut(at).map(|entry| &mut entry.1)
            }
            Entries::Tree(tree) => tree.get_mut(&client),
        }
    }

    /// Returns the value of `client`, made by `default` if there is none.
    #[inline]
    pub(crate) fn get_or_insert_with(&mut self, client: ClientID, default: impl FnOnce() -> V) -> &mut V {
        if let Entries::Sorted(list) = &self.0
            && list.len() >= MANY
            && find(list, client).is_err_and(|at| at < list.len())
        {
            self.make_tree();
        }
        match &mut self.0 {
            Entries::Sorted(list) => {
                let at = find(list, client).unwrap_or_else(|at| {
                    list.insert(at, (client, default()));
                    at
                });
                &mut list[at].1
            }
            Entries::Tree(tree) => tree.entry(client).or_insert_with(default),
        }
    }

    /// Sets the value of `client`.
    #[inline]
    pub(crate) fn insert(&mut self, client: ClientID, value: V) {
        // The closure and the assignment both need the value, and only one of them runs.
        let mut value = Some(value);
        let place = self.get_or_insert_with(client, || value.take().expect("taken once, here"));
        if let Some(value) = value {
            *place = value;
        }
    }

    /// Takes out the entry of `client`.
    pub(crate) fn remove(&mut self, client: ClientID) -> Option<V> {
        match &mut self.0 {
            Entries::Sorted(list) => {
                let at = find(list, client).ok()?;
                Some(list.remove(at).1)
            }
            Entries::Tree(tree) => tree.remove(&client),
        }
    }

    /// Keeps the entries for which `keep` answers true.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(ClientID, &mut V) -> bool) {
        match &mut self.0 {
            Entries::Sorted(list) => list.retain(|(client, value)| keep(*client, value)),
            Entries::Tree(tree) => tree.retain(|client, value| keep(*client, value)),
        }
    }

    /// Iterates in ascending order of the ids; `rev()` gives the order of the wire.
    #[inline]
    pub(crate) fn iter(&self) -> Iter<'_, V> {
        match &self.0 {
            Entries::Sorted(list) => Iter::Sorted(list.iter()),
            Entries::Tree(tree) => Iter::Tree(tree.iter()),
        }
    }

    #[cold]
    fn make_tree(&mut self) {
        if let Entries::Sorted(list) = &mut self.0 {
            self.0 = Entries::Tree(list.drain(..).collect());
        }
    }

    /// Checks the invariant of this module.
    #[cfg(test)]
    pub(crate) fn check(&self) -> Result<(), String> {
        if let Entries::Sorted(list) = &self.0 {
            for pair in list.windows(2) {
                if pair[0].0 >= pair[1].0 {
                    return Err(format!("client {} stands before client {}", pair[0].0, pair[1].0));
                }
            }
        }
        Ok(())
    }
}

/// Finds the place of `client`, or where it would stand.
#[inline]
fn find<V>(list: &[(ClientID, V)], client: ClientID) -> Result<usize, usize> {
    if list.len() > SCAN {
        return list.binary_search_by_key(&client, |entry| entry.0);
    }
    match list.iter().position(|entry| entry.0 >= client) {
        Some(at) if list[at].0 == client => Ok(at),
        Some(at) => Err(at),
        None => Err(list.len()),
    }
}

impl<V, const N: usize> Default for ClientMap<V, N> {
    fn default() -> Self {
        Self::new()
    }
}

/// Entries are equal whatever form they are kept in.
impl<V: PartialEq, const N: usize> PartialEq for ClientMap<V, N> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl<V: Eq, const N: usize> Eq for ClientMap<V, N> {}

impl<V: fmt::Debug, const N: usize> fmt::Debug for ClientMap<V, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

/// Iterates over clients and values in ascending order of the client ids.
#[derive(Debug)]
pub(crate) enum Iter<'a, V> {
    Sorted(slice::Iter<'a, (ClientID, V)>),
    Tree(btree_map::Iter<'a, ClientID, V>),
}

impl<V> Clone for Iter<'_, V> {
    fn clone(&self) -> Self {
        match self {
            Self::Sorted(list) => Self::Sorted(list.clone()),
            Self::Tree(tree) => Self::Tree(tree.clone()),
        }
    }
}

impl<'a, V> Iterator for Iter<'a, V> {
    type Item = (&'a ClientID, &'a V);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Sorted(list) => list.next().map(|(client, value)| (client, value)),
            Self::Tree(tree) => tree.next(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match self {
            Self::Sorted(list) => list.size_hint(),
            Self::Tree(tree) => tree.size_hint(),
        }
    }
}

impl<V> DoubleEndedIterator for Iter<'_, V> {
    #[inline]
    fn next_back(&mut self) -> Option<Self::Item> {
        match self {
            Self::Sorted(list) => list.next_back().map(|(client, value)| (client, value)),
            Self::Tree(tree) => tree.next_back(),
        }
    }
}

impl<V> ExactSizeIterator for Iter<'_, V> {}
impl<V> FusedIterator for Iter<'_, V> {}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    #[test]
    fn agrees_with_a_btree_map_in_both_forms() {
        for seed in 0..200 {
            let mut rng = Pcg64Mcg::seed_from_u64(seed);
            let clients = rng.random_range(1..=3 * MANY as u64);
            let mut map = ClientMap::<u32, 1>::new();
            let mut model = BTreeMap::new();
            for step in 0..60 {
                let client = ClientID::new(rng.random_range(0..clients));
                match rng.random_range(0..5) {
                    0 => assert_eq!(map.remove(client), model.remove(&client), "seed {seed} step {step}"),
                    1 => {
                        map.insert(client, step);
                        model.insert(client, step);
                    }
                    2 => {
                        let odd = rng.random::<bool>();
                        if step % 10 == 0 {
                            map.retain(|_, value| (*value % 2 == 1) == odd);
                            model.retain(|_, value| (*value % 2 == 1) == odd);
                        }
                    }
                    3 => {
                        if let Some(value) = map.get_mut(client) {
                            *value += 1;
                        }
                        if let Some(value) = model.get_mut(&client) {
                            *value += 1;
                        }
                    }
                    _ => {
                        let ours = *map.get_or_insert_with(client, || step);
                        assert_eq!(ours, *model.entry(client).or_insert(step), "seed {seed} step {step}");
                    }
                }
                assert_eq!(map.check(), Ok(()), "seed {seed} step {step}");
                assert_eq!(map.len(), model.len());
                assert!(map.iter().eq(model.iter()), "seed {seed} step {step}");
                assert!(map.iter().rev().eq(model.iter().rev()), "seed {seed} step {step}");
                assert_eq!(map.get(client), model.get(&client));
            }
            let copy = ClientMap::<u32, 1>::from_ascending(model.into_iter().collect());
            assert_eq!(copy, map, "seed {seed}");
        }
    }
}
