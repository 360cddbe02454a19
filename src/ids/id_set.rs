//! `IdSet`: a set of ids as clock ranges per client. It serves as delete set (in updates,
//! snapshots and events), as insert set, and as the range of an undo step.
//!
//! Invariant: I8 (see `id_ranges`), checked by [`IdSet::check`].
//! Cost: look-up O(log n) in the ranges of the client; union, difference and intersection are
//! linear.

use crate::ids::block_range::BlockRange;
use crate::ids::client_ranges::{self, ClientRanges};
use crate::ids::id_ranges::{IdRange, IdRangeBuilder, IdRanges};
use crate::ids::wire::{self, ClockReader, ClockWriter};
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::iter::FusedIterator;
use std::ops::Range;
use std::slice;
use yatta_encoding::{ClientID, Decode, Decoder, Encode, Encoder, Error, ID};

/// A set of ids, kept as ranges of clocks per client.
///
/// ```
/// use yatta::{ID, IdSet};
/// use yatta::block::ClientID;
///
/// let mut set = IdSet::new();
/// set.insert(ID::new(ClientID::new(1), 0), 3);
/// set.insert(ID::new(ClientID::new(1), 3), 2);
/// assert!(set.contains(&ID::new(ClientID::new(1), 4)));
/// assert_eq!(set.to_string(), "{1: [[0..5)]}");
/// ```
#[doc(alias = "DeleteSet")]
#[derive(Default, Clone, PartialEq, Eq)]
pub struct IdSet(pub(crate) ClientRanges<()>);

impl IdSet {
    /// Makes an empty set.
    #[inline]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes a set of clients and their ranges, which may come in any order, overlap and repeat.
    #[expect(clippy::should_implement_trait, reason = "the name of yrs; its items are no one type")]
    pub fn from_iter<I1, I2>(iter: I1) -> Self
    where
        I1: IntoIterator<Item = (ClientID, I2)>,
        I2: IntoIterator<Item = Range<u32>>,
    {
        let mut set = Self::new();
        for (client, ranges) in iter {
            set.insert_range(client, IdRanges::from_ranges(ranges));
        }
        set
    }

    /// Makes a set of `(client, clock, len)` in any order, overlapping or not, in O(n log n), or
    /// O(n) if they come in order.
    pub(crate) fn from_ranges(mut ranges: Vec<(ClientID, u32, u32)>) -> Self {
        if !ranges.is_sorted() {
            ranges.sort_unstable();
        }
        let clients = ranges.chunk_by(|a, b| a.0 == b.0).filter_map(|chunk| {
            let ranges = chunk.iter().map(|&(_, clock, len)| clock..clock.saturating_add(len));
            let ranges = IdRanges::from_ranges(ranges);
            (!ranges.is_empty()).then(|| (chunk[0].0, ranges))
        });
        Self(ClientRanges::from_ascending(clients.collect()))
    }

    /// Returns the number of clients.
    #[inline]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Iterates over the clients in ascending order.
    pub fn client_ids<'a>(&'a self) -> impl Iterator<Item = ClientID> + 'a {
        self.0.iter().map(|(client, _)| *client)
    }

    /// Iterates over the clients and their ranges, in ascending order; `rev()` gives the order of
    /// the wire.
    #[inline]
    pub fn iter(&self) -> Iter<'_> {
        Iter(self.0.iter())
    }

    /// Returns the ranges of a client, to be changed in place.
    #[inline]
    pub fn range_mut(&mut self, client_id: ClientID) -> &mut IdRange {
        self.0.ranges_mut(client_id)
    }

    /// Tells if `id` is in the set.
    #[inline]
    pub fn contains(&self, id: &ID) -> bool {
        self.0.contains(id)
    }

    /// Tells if the set is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds `len` ids (clock units) from `id` on. O(1) if they lie behind all others of their client; to add
    /// many out of order, collect them first.
    #[inline]
    pub fn insert(&mut self, id: ID, len: u32) {
        self.0.insert(id.client, BlockRange::new(id, len).clock_range(), ());
    }

    /// Adds ranges of a client.
    pub fn insert_range(&mut self, client: ClientID, range: IdRange) {
        if range.is_empty() {
            return;
        }
        let ranges = self.0.ranges_mut(client);
        if ranges.is_empty() {
            *ranges = range;
        } else {
            ranges.merge(&range);
        }
    }

    /// Adds all of `other` (union).
    pub fn merge_with(&mut self, other: Self) {
        if self.is_empty() {
            *self = other;
        } else {
            self.0.merge_with(&other.0);
        }
    }

    /// Returns the union of two sets.
    #[must_use]
    pub fn merge(&self, other: &Self) -> Self {
        let mut union = self.clone();
        union.0.merge_with(&other.0);
        union
    }

    /// Removes all of `other` (difference).
    pub fn diff_with(&mut self, other: &Self) {
        self.0.diff_with(&other.0);
    }

    /// Returns what is in this set and not in `other`.
    #[must_use]
    pub fn diff(&self, other: &Self) -> Self {
        let mut rest = self.clone();
        rest.diff_with(other);
        rest
    }

    /// Keeps what is in `other` too (intersection).
    pub fn intersect_with(&mut self, other: &Self) {
        self.0.intersect_with(&other.0);
    }

    /// Returns what is in both sets.
    #[must_use]
    pub fn intersect(&self, other: &Self) -> Self {
        let mut common = self.clone();
        common.intersect_with(other);
        common
    }

    /// Removes the ids of `range`.
    pub fn remove_range(&mut self, range: &BlockRange) {
        self.0.remove(range.client, range.clock_range());
    }

    /// Returns the ranges of a client, if it has any.
    #[inline]
    pub fn get(&self, client_id: &ClientID) -> Option<&IdRange> {
        self.0.get(*client_id)
    }

    /// Returns the ranges of a client in ascending order, none if it is unknown.
    #[inline]
    pub(crate) fn ranges(&self, client: ClientID) -> &[(Range<u32>, ())] {
        self.0.get(client).map_or(&[], IdRanges::as_slice)
    }

    /// Checks I8.
    #[cfg(test)]
    pub(crate) fn check(&self) -> Result<(), String> {
        self.0.check()
    }

    /// Writes the clients in descending order, as Yjs does.
    pub(crate) fn write<W: ClockWriter>(&self, to: &mut W) {
        to.write_var(self.len());
        for (client, ranges) in self.0.iter().rev() {
            to.next_client();
            to.write_var(client.get());
            write_ranges(ranges, to);
        }
    }

    /// Reads clients and ranges in any order; ranges of a client that comes twice are united.
    /// Time and memory are bounded by the bytes read, whatever the counts say.
    pub(crate) fn read<R: ClockReader>(from: &mut R) -> Result<Self, Error> {
        let count: u32 = from.read_var()?;
        let mut clients: Vec<(ClientID, IdRange)> = Vec::new();
        let mut descending = true;
        for _ in 0..count {
            from.next_client();
            let client = wire::read_client(from)?;
            let ranges = read_ranges(from)?;
            if ranges.is_empty() {
                continue;
            }
            descending &= clients.last().is_none_or(|(last, _)| *last > client);
            clients.push((client, ranges));
        }
        if descending {
            clients.reverse();
            return Ok(Self(ClientRanges::from_ascending(clients)));
        }
        let flat = clients.iter().flat_map(|(client, ranges)| {
            ranges.ranges().map(|range| (*client, range.start, range.end - range.start))
        });
        Ok(Self::from_ranges(flat.collect()))
    }
}

fn write_ranges<W: ClockWriter>(ranges: &IdRange, to: &mut W) {
    to.write_var(ranges.len());
    for range in ranges.ranges() {
        to.write_range(range);
    }
}

fn read_ranges<R: ClockReader>(from: &mut R) -> Result<IdRange, Error> {
    let count: u32 = from.read_var()?;
    let mut ranges = IdRangeBuilder::with_capacity(count.min(wire::RESERVE) as usize);
    for _ in 0..count {
        ranges.add(from.read_range()?);
    }
    Ok(ranges.finish())
}

impl Encode for IdRange {
    fn encode<E: Encoder>(&self, encoder: &mut E) {
        write_ranges(self, encoder);
    }
}

impl Decode for IdRange {
    fn decode<D: Decoder>(decoder: &mut D) -> Result<Self, Error> {
        read_ranges(decoder)
    }
}

impl Encode for IdSet {
    fn encode<E: Encoder>(&self, encoder: &mut E) {
        self.write(encoder);
    }

    /// Encodes the set as V2 does within an update, without an update's header in front.
    fn encode_v2(&self) -> Vec<u8> {
        wire::encode_plain_v2(|writer| self.write(writer))
    }
}

impl Decode for IdSet {
    fn decode<D: Decoder>(decoder: &mut D) -> Result<Self, Error> {
        Self::read(decoder)
    }

    /// Decodes a set from V2, with or without the header that yrs writes in front.
    fn decode_v2(data: &[u8]) -> Result<Self, Error> {
        wire::decode_plain_v2(data, |reader| Self::read(reader))
    }
}

impl Hash for IdSet {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for (client, ranges) in self.0.iter() {
            client.hash(state);
            ranges.hash(state);
        }
    }
}

impl fmt::Debug for IdSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for IdSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        for (i, (client, ranges)) in self.0.iter().enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            write!(f, "{comma}{client}: {ranges}")?;
        }
        f.write_str("}")
    }
}

/// Serializes as the V1 bytes.
impl Serialize for IdSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.encode_v1())
    }
}

impl<'de> Deserialize<'de> for IdSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_bytes(BytesVisitor)
    }
}

/// Takes the V1 bytes as bytes, or as a sequence of numbers where a format has no bytes.
struct BytesVisitor;

impl<'de> Visitor<'de> for BytesVisitor {
    type Value = IdSet;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the bytes of an id set")
    }

    fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<IdSet, E> {
        IdSet::decode_v1(bytes).map_err(E::custom)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<IdSet, A::Error> {
        let mut bytes = Vec::new();
        while let Some(byte) = seq.next_element::<u8>()? {
            bytes.push(byte);
        }
        self.visit_bytes(&bytes)
    }
}

/// Iterates over the clients of an [`IdSet`] and their ranges, in ascending order.
#[derive(Debug, Clone)]
pub struct Iter<'a>(client_ranges::Iter<'a, ()>);

impl<'a> Iterator for Iter<'a> {
    type Item = (&'a ClientID, Ranges<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(client, ranges)| (client, Ranges(ranges)))
    }
}

impl DoubleEndedIterator for Iter<'_> {
    #[inline]
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0.next_back().map(|(client, ranges)| (client, Ranges(ranges)))
    }
}

impl FusedIterator for Iter<'_> {}

impl<'a> IntoIterator for &'a IdSet {
    type Item = (&'a ClientID, Ranges<'a>);
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

/// The ranges of one client of an [`IdSet`].
#[derive(Debug, Clone, Copy)]
pub struct Ranges<'a>(&'a IdRange);

impl<'a> Ranges<'a> {
    /// Iterates over the ranges in ascending order.
    #[inline]
    pub fn iter(&self) -> RangesIter<'a> {
        RangesIter(self.0.iter())
    }

    /// Tells if `clock` lies in one of the ranges, in O(log n).
    pub fn contains_clock(&self, clock: u32) -> bool {
        self.0.contains_clock(clock)
    }

    /// Returns the number of ranges.
    #[inline]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Tells if there are no ranges.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'a> IntoIterator for Ranges<'a> {
    type Item = &'a Range<u32>;
    type IntoIter = RangesIter<'a>;

    fn into_iter(self) -> RangesIter<'a> {
        self.iter()
    }
}

/// Iterates over the ranges of one client in ascending order.
#[derive(Debug, Clone)]
pub struct RangesIter<'a>(slice::Iter<'a, (Range<u32>, ())>);

impl<'a> Iterator for RangesIter<'a> {
    type Item = &'a Range<u32>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(range, ())| range)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl DoubleEndedIterator for RangesIter<'_> {
    #[inline]
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0.next_back().map(|(range, ())| range)
    }
}

impl ExactSizeIterator for RangesIter<'_> {}
impl FusedIterator for RangesIter<'_> {}
