//! `StateVector`: for each client the clock its next element will have.
//!
//! Cost: a look-up or change is a scan of a few inline entries for the usual one or two clients,
//! O(log n) for many (see `client_map`). Bytes: the same in V1 and V2, clients descending.

use crate::ids::client_hasher::ClientHasher;
use crate::ids::client_map::{self, ClientMap};
use crate::ids::wire;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::iter::FusedIterator;
use yatta_encoding::{ClientID, Decode, Decoder, Encode, Encoder, Error, ID, Read, Write};

/// Says how much of each client's changes a document has seen: for each client the clock that its
/// next element will have. A client that is not listed counts as 0.
///
/// ```
/// use yatta::StateVector;
/// use yatta::block::ClientID;
///
/// let mut sv = StateVector::default();
/// sv.set_max(ClientID::new(1), 5);
/// sv.inc_by(ClientID::new(1), 2);
/// assert_eq!(sv.get(&ClientID::new(1)), 7);
/// assert_eq!(sv.get(&ClientID::new(2)), 0);
/// ```
#[derive(Default, Debug, Clone, PartialEq, Eq)]
pub struct StateVector(ClientMap<u32, 2>);

impl StateVector {
    /// Tells if no client is listed.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number of clients.
    #[inline]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Makes a state vector of a hash map, in O(n log n).
    pub fn new(map: HashMap<ClientID, u32, BuildHasherDefault<ClientHasher>>) -> Self {
        Self::from_unsorted(map.into_iter().collect())
    }

    /// Makes a state vector of entries in any order; of several for a client the last one counts.
    fn from_unsorted(mut entries: Vec<(ClientID, u32)>) -> Self {
        if entries.is_sorted_by(|a, b| a.0 > b.0) {
            entries.reverse();
        } else {
            // The sort is stable, so that the last entry of a client comes last.
            entries.sort_by_key(|(client, _)| *client);
            entries.dedup_by(|next, kept| {
                let same = next.0 == kept.0;
                if same {
                    kept.1 = next.1;
                }
                same
            });
        }
        Self(ClientMap::from_ascending(entries))
    }

    /// Tells if the clock of `id` is at most the clock listed for its client.
    ///
    /// So the clock that the client will use next counts as contained, as in yrs. To ask whether
    /// the element is known compare `id.clock < sv.get(&id.client)`.
    #[inline]
    pub fn contains(&self, id: &ID) -> bool {
        id.clock <= self.get(&id.client)
    }

    /// Tells if a client is listed.
    #[inline]
    pub fn contains_client(&self, client_id: &ClientID) -> bool {
        self.0.get(*client_id).is_some()
    }

    /// Returns the next clock of a client, 0 if it is not listed.
    #[inline]
    pub fn get(&self, client_id: &ClientID) -> u32 {
        self.0.get(*client_id).copied().unwrap_or(0)
    }

    /// Adds `delta` to the clock of a client. Nothing is listed for a `delta` of 0; the sum stops
    /// at `u32::MAX`, the end of all clocks.
    #[inline]
    pub fn inc_by(&mut self, client: ClientID, delta: u32) {
        if delta > 0 {
            let clock = self.0.get_or_insert_with(client, || 0);
            *clock = clock.saturating_add(delta);
        }
    }

    /// Lowers the clock of a client to `clock`, or lists it if the client was not listed.
    #[inline]
    pub fn set_min(&mut self, client: ClientID, clock: u32) {
        let held = self.0.get_or_insert_with(client, || clock);
        *held = clock.min(*held);
    }

    /// Raises the clock of a client to `clock`, or lists it if the client was not listed.
    #[inline]
    pub fn set_max(&mut self, client: ClientID, clock: u32) {
        let held = self.0.get_or_insert_with(client, || clock);
        *held = clock.max(*held);
    }

    /// Sets the clock of a client.
    #[inline]
    pub(crate) fn set(&mut self, client: ClientID, clock: u32) {
        self.0.insert(client, clock);
    }

    /// Iterates over the clients and their clocks in ascending order of the clients; `rev()` gives
    /// the order of the wire.
    #[inline]
    pub fn iter(&self) -> Iter<'_> {
        Iter(self.0.iter())
    }

    /// Takes for each client the larger clock of the two vectors.
    pub fn merge(&mut self, other: Self) {
        if self.is_empty() {
            *self = other;
            return;
        }
        for (client, clock) in other.iter() {
            self.set_max(*client, *clock);
        }
    }

    /// Checks that the clients ascend.
    #[cfg(test)]
    pub(crate) fn check(&self) -> Result<(), String> {
        self.0.check()
    }

    /// Writes the clients in descending order, as Yjs does.
    pub(crate) fn write<W: Write>(&self, to: &mut W) {
        to.write_var(self.len());
        for (client, clock) in self.iter().rev() {
            to.write_var(client.get());
            to.write_var(*clock);
        }
    }

    /// Reads clients in any order; of several entries for one the last counts, as in Yjs. Time
    /// and memory are bounded by the bytes read, whatever the count says.
    pub(crate) fn read<R: Read>(from: &mut R) -> Result<Self, Error> {
        let count: u32 = from.read_var()?;
        let mut entries = Vec::with_capacity(count.min(wire::RESERVE) as usize);
        for _ in 0..count {
            let client = wire::read_client(from)?;
            entries.push((client, from.read_var()?));
        }
        Ok(Self::from_unsorted(entries))
    }
}

/// Of several entries for a client the last one counts.
impl FromIterator<(ClientID, u32)> for StateVector {
    fn from_iter<T: IntoIterator<Item = (ClientID, u32)>>(iter: T) -> Self {
        Self::from_unsorted(iter.into_iter().collect())
    }
}

impl Encode for StateVector {
    fn encode<E: Encoder>(&self, encoder: &mut E) {
        self.write(encoder);
    }

    /// Encodes the state vector; the bytes are those of V1.
    fn encode_v2(&self) -> Vec<u8> {
        self.encode_v1()
    }
}

impl Decode for StateVector {
    fn decode<D: Decoder>(decoder: &mut D) -> Result<Self, Error> {
        Self::read(decoder)
    }

    /// Decodes a state vector, with or without the header that yrs writes in front of V2.
    fn decode_v2(data: &[u8]) -> Result<Self, Error> {
        match wire::decode_with_header(data) {
            Some(sv) => Ok(sv),
            None => Self::decode_v1(data),
        }
    }
}

/// Less means that all clocks are at most those of the other vector and one is smaller; neither
/// is less if each has seen something that the other has not. Clients not listed count as 0.
impl PartialOrd for StateVector {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        let less = self.iter().any(|(client, clock)| *clock < other.get(client))
            || other.iter().any(|(client, clock)| self.get(client) < *clock);
        let greater = self.iter().any(|(client, clock)| *clock > other.get(client));
        match (less, greater) {
            (false, false) => Some(Ordering::Equal),
            (true, false) => Some(Ordering::Less),
            (false, true) => Some(Ordering::Greater),
            (true, true) => None,
        }
    }
}

/// Iterates over the clients of a [`StateVector`] and their clocks, in ascending order.
#[derive(Debug, Clone)]
pub struct Iter<'a>(client_map::Iter<'a, u32>);

impl<'a> Iterator for Iter<'a> {
    type Item = (&'a ClientID, &'a u32);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.0.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl DoubleEndedIterator for Iter<'_> {
    #[inline]
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0.next_back()
    }
}

impl ExactSizeIterator for Iter<'_> {}
impl FusedIterator for Iter<'_> {}

impl<'a> IntoIterator for &'a StateVector {
    type Item = (&'a ClientID, &'a u32);
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sv<const N: usize>(entries: [(u64, u32); N]) -> StateVector {
        entries.into_iter().map(|(client, clock)| (ClientID::new(client), clock)).collect()
    }

    #[test]
    fn order_is_partial_and_missing_clients_count_as_zero() {
        assert_eq!(sv([]).partial_cmp(&sv([])), Some(Ordering::Equal));
        assert_eq!(sv([(1, 0)]).partial_cmp(&sv([])), Some(Ordering::Equal));
        assert_eq!(sv([(1, 1), (2, 2)]).partial_cmp(&sv([(2, 2), (1, 1)])), Some(Ordering::Equal));
        assert_eq!(sv([(1, 1)]).partial_cmp(&sv([(1, 1), (2, 1)])), Some(Ordering::Less));
        assert_eq!(sv([(1, 1), (2, 1)]).partial_cmp(&sv([(2, 1)])), Some(Ordering::Greater));
        assert_eq!(sv([(1, 1)]).partial_cmp(&sv([(2, 1)])), None);
        assert_eq!(sv([(1, 2), (2, 1)]).partial_cmp(&sv([(1, 1), (2, 2)])), None);
    }

    #[test]
    fn changes() {
        let client = ClientID::new(7);
        let mut vector = StateVector::default();
        vector.inc_by(client, 0);
        assert!(!vector.contains_client(&client));
        vector.set_min(client, 5);
        vector.set_min(client, 9);
        assert_eq!(vector.get(&client), 5);
        vector.set_max(client, 8);
        vector.set_max(client, 2);
        assert_eq!(vector.get(&client), 8);
        vector.inc_by(client, u32::MAX);
        assert_eq!(vector.get(&client), u32::MAX);
        vector.set(client, 3);
        assert!(vector.contains(&ID::new(client, 3)));
        assert!(!vector.contains(&ID::new(client, 4)));
        vector.merge(sv([(7, 2), (8, 1)]));
        assert_eq!(vector, sv([(7, 3), (8, 1)]));
    }

    #[test]
    fn a_hash_map_becomes_a_state_vector() {
        let map: HashMap<_, _, BuildHasherDefault<ClientHasher>> =
            (0..100).map(|client| (ClientID::new(client * 977), 1)).collect();
        let vector = StateVector::new(map);
        assert_eq!(vector.check(), Ok(()));
        assert_eq!(vector.len(), 100);
        assert_eq!(vector.get(&ClientID::new(977)), 1);
    }

    #[test]
    fn of_two_entries_for_a_client_the_last_counts() {
        assert_eq!(sv([(1, 5), (2, 1), (1, 3)]), sv([(2, 1), (1, 3)]));
        let bytes = [3, 1, 5, 2, 1, 1, 3];
        assert_eq!(StateVector::decode_v1(&bytes).unwrap(), sv([(2, 1), (1, 3)]));
    }
}
