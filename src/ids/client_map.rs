//! A map from client id to a value, in ascending order of the ids.
//!
//! Most documents and nearly all transactions know one or two clients, so that a few entries live
//! in a sorted vector (inline for the first `N`) and are found by a linear scan; more of them live
//! in a B-tree. Nothing is hashed: the order of the ids is needed for the wire, and ids that a
//! peer chose to collide cost nothing.
//!
//! Invariant: the ids of [`Entries::Few`] ascend strictly and number at most [`FEW`].
//! Cost of a look-up or an insertion: O(log n); of the first `N` insertions no allocation.

use smallvec::SmallVec;
use std::collections::{BTreeMap, btree_map};
use std::fmt;
use std::iter::FusedIterator;
use std::slice;
use yatta_encoding::ClientID;

/// As many entries as a linear scan finds faster than a B-tree does (a cache line or two of
/// state vector). Small under test, so that small inputs reach both forms.
const FEW: usize = if cfg!(test) { 3 } else { 8 };

#[derive(Clone)]
enum Entries<V, const N: usize> {
    Few(SmallVec<[(ClientID, V); N]>),
    Many(BTreeMap<ClientID, V>),
}

/// A map from client id to `V`, iterated in ascending order of the ids.
#[derive(Clone)]
pub(crate) struct ClientMap<V, const N: usize>(Entries<V, N>);

impl<V, const N: usize> ClientMap<V, N> {
    pub(crate) fn new() -> Self {
        Self(Entries::Few(SmallVec::new()))
    }

    /// Makes a map of entries whose ids ascend strictly.
    pub(crate) fn from_ascending(entries: Vec<(ClientID, V)>) -> Self {
        debug_assert!(entries.windows(2).all(|pair| pair[0].0 < pair[1].0), "the ids must ascend");
        if entries.len() <= FEW {
            Self(Entries::Few(entries.into_iter().collect()))
        } else {
            Self(Entries::Many(entries.into_iter().collect()))
        }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        match &self.0 {
            Entries::Few(few) => few.len(),
            Entries::Many(many) => many.len(),
        }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[inline]
    pub(crate) fn get(&self, client: ClientID) -> Option<&V> {
        match &self.0 {
            Entries::Few(few) => few.iter().find(|entry| entry.0 == client).map(|entry| &entry.1),
            Entries::Many(many) => many.get(&client),
        }
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, client: ClientID) -> Option<&mut V> {
        match &mut self.0 {
            Entries::Few(few) => few.iter_mut().find(|entry| entry.0 == client).map(|entry| &mut entry.1),
            Entries::Many(many) => many.get_mut(&client),
        }
    }

    /// Returns the value of `client`, made by `default` if there is none.
    #[inline]
    pub(crate) fn get_or_insert_with(&mut self, client: ClientID, default: impl FnOnce() -> V) -> &mut V {
        if let Entries::Few(few) = &self.0
            && few.len() == FEW
            && self.get(client).is_none()
        {
            self.spill();
        }
        match &mut self.0 {
            Entries::Few(few) => {
                let at = few.iter().position(|entry| entry.0 >= client).unwrap_or(few.len());
                if few.get(at).is_none_or(|entry| entry.0 != client) {
                    few.insert(at, (client, default()));
                }
                &mut few[at].1
            }
            Entries::Many(many) => many.entry(client).or_insert_with(default),
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
            Entries::Few(few) => {
                let at = few.iter().position(|entry| entry.0 == client)?;
                Some(few.remove(at).1)
            }
            Entries::Many(many) => many.remove(&client),
        }
    }

    /// Keeps the entries for which `keep` answers true.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(ClientID, &mut V) -> bool) {
        match &mut self.0 {
            Entries::Few(few) => few.retain(|(client, value)| keep(*client, value)),
            Entries::Many(many) => many.retain(|client, value| keep(*client, value)),
        }
    }

    /// Iterates in ascending order of the ids; `rev()` gives the order of the wire.
    #[inline]
    pub(crate) fn iter(&self) -> Iter<'_, V> {
        match &self.0 {
            Entries::Few(few) => Iter::Few(few.iter()),
            Entries::Many(many) => Iter::Many(many.iter()),
        }
    }

    #[cold]
    fn spill(&mut self) {
        if let Entries::Few(few) = &mut self.0 {
            self.0 = Entries::Many(few.drain(..).collect());
        }
    }

    /// Checks the invariant of this module.
    pub(crate) fn check(&self) -> Result<(), String> {
        if let Entries::Few(few) = &self.0 {
            if few.len() > FEW {
                return Err(format!("{} clients in the short form, at most {FEW} fit", few.len()));
            }
            for pair in few.windows(2) {
                if pair[0].0 >= pair[1].0 {
                    return Err(format!("client {} stands before client {}", pair[0].0, pair[1].0));
                }
            }
        }
        Ok(())
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
    Few(slice::Iter<'a, (ClientID, V)>),
    Many(btree_map::Iter<'a, ClientID, V>),
}

impl<V> Clone for Iter<'_, V> {
    fn clone(&self) -> Self {
        match self {
            Self::Few(few) => Self::Few(few.clone()),
            Self::Many(many) => Self::Many(many.clone()),
        }
    }
}

impl<'a, V> Iterator for Iter<'a, V> {
    type Item = (&'a ClientID, &'a V);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Few(few) => few.next().map(|(client, value)| (client, value)),
            Self::Many(many) => many.next(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match self {
            Self::Few(few) => few.size_hint(),
            Self::Many(many) => many.size_hint(),
        }
    }
}

impl<V> DoubleEndedIterator for Iter<'_, V> {
    #[inline]
    fn next_back(&mut self) -> Option<Self::Item> {
        match self {
            Self::Few(few) => few.next_back().map(|(client, value)| (client, value)),
            Self::Many(many) => many.next_back(),
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
            let clients = rng.random_range(1..=2 * FEW as u64);
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
