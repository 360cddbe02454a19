//! `IdMap`: id ranges with attributes, for example who wrote what and when.
//!
//! Invariant: I8, where two ranges that touch have different attributes.
//!
//! Bytes (those of yrs; Yjs 13 has no such thing): clients ascending, each as the difference to
//! the one before; then per range clock, length and attributes. An attribute is written once and
//! referred to by its number after that, and so is its name.

use crate::ids::block_range::BlockRange;
use crate::ids::client_ranges::{self, ClientRanges};
use crate::ids::id_ranges::{IdRanges, Merge};
use crate::ids::id_set::IdSet;
use crate::ids::wire::{self, ClockReader, ClockWriter};
use serde::Serialize;
use serde::de::DeserializeOwned;
use smallvec::SmallVec;
use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::ops::{Deref, Range};
use std::slice;
use std::sync::Arc;
use yatta_encoding::serde_any::{from_any, to_any};
use yatta_encoding::{ClientID, Decode, Decoder, Encode, Encoder, Error, ID};

/// The most attributes that one range on the wire may have. Attributes are compared each with
/// each, so that without a limit a small message could cost minutes; real ones have a handful.
const MAX_ATTRIBUTES: u32 = 256;

/// Removes from a map what another map or set contains.
pub trait Diff<D> {
    /// Removes the ids of `other`.
    fn diff_with(&mut self, other: &D);
}

/// A name with a value. Cheap to clone: clones share both.
#[derive(Debug, PartialEq, Eq, Hash, Ord, PartialOrd)]
pub struct ContentAttribute<A>(Arc<(String, A)>);

impl<A> ContentAttribute<A> {
    /// Makes an attribute.
    pub fn new<S: Into<String>>(name: S, value: A) -> Self {
        Self(Arc::new((name.into(), value)))
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.0.0
    }

    /// Returns the value.
    pub fn value(&self) -> &A {
        &self.0.1
    }
}

impl<A> Clone for ContentAttribute<A> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<A: fmt::Display> fmt::Display for ContentAttribute<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "(\"{}\": {})", self.name(), self.value())
    }
}

/// The attributes of a range: a set, compared without regard to order. Merging unites two.
#[derive(Eq, Debug)]
pub struct ContentAttributes<A>(pub SmallVec<[ContentAttribute<A>; 2]>);

impl<A> ContentAttributes<A> {
    /// Makes an empty set.
    pub fn new() -> Self {
        Self(SmallVec::new())
    }

    /// Makes a set of attributes, which should differ from each other.
    pub fn from_attrs(attrs: SmallVec<[ContentAttribute<A>; 2]>) -> Self {
        Self(attrs)
    }

    /// Makes a set of attributes, leaving out repetitions.
    fn distinct(attrs: impl IntoIterator<Item = ContentAttribute<A>>) -> Self
    where
        A: PartialEq,
    {
        let mut set = Self::new();
        for attr in attrs {
            if !set.0.contains(&attr) {
                set.0.push(attr);
            }
        }
        set
    }
}

impl<A> Default for ContentAttributes<A> {
    fn default() -> Self {
        Self::new()
    }
}

impl<A> Clone for ContentAttributes<A> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<A: PartialEq> PartialEq for ContentAttributes<A> {
    fn eq(&self, other: &Self) -> bool {
        // The usual case, in which the order is the same, needs only the first line.
        self.0 == other.0
            || self.0.len() == other.0.len()
                && self.0.iter().all(|attr| other.0.contains(attr))
                && other.0.iter().all(|attr| self.0.contains(attr))
    }
}

impl<A: PartialEq + Eq + Hash + Clone> Merge for ContentAttributes<A> {
    fn merge(&mut self, other: &Self) {
        for attr in &other.0 {
            if !self.0.contains(attr) {
                self.0.push(attr.clone());
            }
        }
    }
}

impl<A> Deref for ContentAttributes<A> {
    type Target = [ContentAttribute<A>];

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

/// A range of clocks with its attributes, as [`IdMap`] answers it.
#[derive(Debug, PartialEq, Eq)]
pub struct AttrRange<A> {
    /// The clocks.
    pub range: Range<u32>,
    /// The attributes; none for clocks that the map does not contain.
    pub attrs: ContentAttributes<A>,
}

impl<A> AttrRange<A> {
    /// Makes a range without attributes.
    pub fn new(range: Range<u32>) -> Self {
        Self { range, attrs: ContentAttributes::new() }
    }

    /// Replaces the attributes.
    #[must_use]
    pub fn with_attrs(self, attrs: SmallVec<[ContentAttribute<A>; 2]>) -> Self {
        Self { range: self.range, attrs: ContentAttributes(attrs) }
    }
}

impl<A> Clone for AttrRange<A> {
    fn clone(&self) -> Self {
        Self { range: self.range.clone(), attrs: self.attrs.clone() }
    }
}

/// A map from ids, kept as ranges of clocks per client, to sets of attributes.
#[derive(Debug, Clone)]
pub struct IdMap<A: PartialEq + Eq + Hash + Clone> {
    inner: ClientRanges<ContentAttributes<A>>,
}

impl<A: PartialEq + Eq + Hash + Clone> IdMap<A> {
    /// Makes an empty map.
    pub fn new() -> Self {
        Self { inner: ClientRanges::new() }
    }

    /// Makes a map that gives every id of a set the same attributes.
    #[expect(clippy::needless_pass_by_value, reason = "the signature of yrs")]
    pub fn from_set(id_set: IdSet, attrs: Vec<ContentAttribute<A>>) -> Self {
        let attrs = ContentAttributes::distinct(attrs);
        Self { inner: id_set.0.filter_map(|()| Some(attrs.clone())) }
    }

    /// Iterates over the ranges in ascending order of clients and clocks.
    pub fn iter(&self) -> Iter<'_, A> {
        Iter { clients: self.inner.iter(), client: None }
    }

    /// Tells if the map contains nothing.
    pub fn is_empty(&self) -> bool {
        self.inner.is_empty()
    }

    /// Tells if the map contains `id`, in O(log n).
    pub fn contains(&self, id: &ID) -> bool {
        self.inner.contains(id)
    }

    /// Cuts `range` into pieces and answers the attributes of each, in ascending order without
    /// gaps; pieces that the map does not contain have none.
    pub fn attributions(&self, range: &BlockRange) -> Vec<AttrRange<A>> {
        let Range { start, end } = range.clock_range();
        let mut pieces = Vec::new();
        let mut at = start;
        let ranges = self.inner.get(range.client).map_or(&[][..], |ranges| {
            let from = ranges.find_start(start).unwrap_or(ranges.len());
            &ranges.as_slice()[from..]
        });
        for (entry, attrs) in ranges.iter().take_while(|(entry, _)| entry.start < end) {
            if at < entry.start {
                pieces.push(AttrRange::new(at..entry.start));
            }
            let piece = entry.start.max(start)..entry.end.min(end);
            at = piece.end;
            pieces.push(AttrRange { range: piece, attrs: attrs.clone() });
        }
        if at < end || pieces.is_empty() {
            pieces.push(AttrRange::new(at..end));
        }
        pieces
    }

    /// Adds attributes to the ids of `range`; those that they have already stay. Without
    /// attributes nothing is changed.
    pub fn insert(&mut self, range: BlockRange, attrs: Vec<ContentAttribute<A>>) {
        if !attrs.is_empty() {
            self.inner.insert(range.client, range.clock_range(), ContentAttributes::distinct(attrs));
        }
    }

    /// Removes the ids of `range`.
    pub fn remove(&mut self, range: &BlockRange) {
        self.inner.remove(range.client, range.clock_range());
    }

    /// Adds all of `other` (union), uniting the attributes of ids that both have.
    #[expect(clippy::needless_pass_by_value, reason = "the signature of yrs")]
    pub fn merge_with(&mut self, other: Self) {
        self.inner.merge_with(&other.inner);
    }

    /// Returns the union of several maps.
    pub fn merge_many(id_maps: &[Self]) -> Self {
        let mut union = Self::new();
        for map in id_maps {
            union.inner.merge_with(&map.inner);
        }
        union
    }

    /// Keeps the ids that `other` has too (intersection), with the attributes of both.
    pub fn intersect_with(&mut self, other: &Self) {
        self.inner.intersect_with(&other.inner);
    }

    /// Returns the ranges whose attributes satisfy `predicate`.
    #[must_use]
    pub fn filter<F>(&self, predicate: F) -> Self
    where
        F: Fn(&[ContentAttribute<A>]) -> bool,
        A: Clone,
    {
        Self { inner: self.inner.filter_map(|attrs| predicate(attrs).then(|| attrs.clone())) }
    }

    /// Returns the ids without their attributes.
    pub fn as_id_set(&self) -> IdSet {
        IdSet(self.inner.filter_map(|_| Some(())))
    }

    /// Checks I8.
    #[cfg(test)]
    pub(crate) fn check(&self) -> Result<(), String> {
        self.inner.check()
    }
}

impl<A: PartialEq + Eq + Hash + Clone> Default for IdMap<A> {
    fn default() -> Self {
        Self::new()
    }
}

impl<A: PartialEq + Eq + Hash + Clone> PartialEq for IdMap<A> {
    fn eq(&self, other: &Self) -> bool {
        self.inner == other.inner
    }
}

impl<A: PartialEq + Eq + Hash + Clone> Diff<IdSet> for IdMap<A> {
    fn diff_with(&mut self, other: &IdSet) {
        self.inner.diff_with(&other.0);
    }
}

impl<A, U> Diff<IdMap<U>> for IdMap<A>
where
    A: Eq + Hash + Clone,
    U: Eq + Hash + Clone,
{
    fn diff_with(&mut self, other: &IdMap<U>) {
        self.inner.diff_with(&other.inner);
    }
}

impl<A: PartialEq + Eq + Hash + Clone> From<IdMap<A>> for IdSet {
    fn from(map: IdMap<A>) -> Self {
        map.as_id_set()
    }
}

type RangesIter<'a, A> = slice::Iter<'a, (Range<u32>, ContentAttributes<A>)>;

/// Iterates over the ranges of an [`IdMap`], in ascending order of clients and clocks.
#[derive(Debug, Clone)]
pub struct Iter<'a, A: PartialEq + Eq + Hash + Clone> {
    clients: client_ranges::Iter<'a, ContentAttributes<A>>,
    client: Option<(ClientID, RangesIter<'a, A>)>,
}

impl<A: PartialEq + Eq + Hash + Clone> Iterator for Iter<'_, A> {
    type Item = (ClientID, AttrRange<A>);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some((client, ranges)) = &mut self.client
                && let Some((range, attrs)) = ranges.next()
            {
                return Some((*client, AttrRange { range: range.clone(), attrs: attrs.clone() }));
            }
            let (client, ranges) = self.clients.next()?;
            self.client = Some((*client, ranges.iter()));
        }
    }
}

impl<A: Serialize + PartialEq + Eq + Hash + Clone> Encode for IdMap<A> {
    /// Encodes the map.
    ///
    /// # Panics
    /// If a value cannot be serialized (its `Serialize` answers an error).
    fn encode<E: Encoder>(&self, encoder: &mut E) {
        let mut attributes: HashMap<&ContentAttribute<A>, usize> = HashMap::new();
        let mut names: HashMap<&str, usize> = HashMap::new();
        let mut last_client = 0;

        encoder.write_var(self.inner.len());
        for (client, ranges) in self.inner.iter() {
            encoder.next_client();
            encoder.write_var(client.get() - last_client);
            last_client = client.get();
            encoder.write_var(ranges.len());
            for (range, attrs) in ranges.iter() {
                encoder.write_range(range);
                encoder.write_var(attrs.len());
                for attr in attrs.iter() {
                    let fresh = attributes.len();
                    let number = *attributes.entry(attr).or_insert(fresh);
                    encoder.write_var(number);
                    if number == fresh {
                        write_attribute(attr, &mut names, encoder);
                    }
                }
            }
        }
    }
}

/// Writes an attribute for the first time.
fn write_attribute<'a, A: Serialize, E: Encoder>(
    attr: &'a ContentAttribute<A>,
    names: &mut HashMap<&'a str, usize>,
    encoder: &mut E,
) {
    let fresh = names.len();
    let number = *names.entry(attr.name()).or_insert(fresh);
    encoder.write_var(number);
    if number == fresh {
        encoder.write_string(attr.name());
    }
    let value = to_any(attr.value()).expect("documented: the values of an IdMap must serialize");
    encoder.write_any(&value);
}

impl<A: DeserializeOwned + PartialEq + Eq + Hash + Clone> Decode for IdMap<A> {
    /// Decodes a map.
    ///
    /// # Errors
    /// If the input ends early or a value is not an `A`; if clients or ranges do not ascend or
    /// ranges overlap, which no writer does; if one range has more than 256 attributes.
    fn decode<D: Decoder>(decoder: &mut D) -> Result<Self, Error> {
        let mut known = Known { attributes: Vec::new(), names: Vec::new() };
        let mut clients: Vec<(ClientID, IdRanges<ContentAttributes<A>>)> = Vec::new();
        let mut last_client: Option<u64> = None;

        let client_count: u32 = decoder.read_var()?;
        for _ in 0..client_count {
            decoder.next_client();
            let step: u64 = decoder.read_var()?;
            let number = match last_client {
                None => step,
                Some(last) => last
                    .checked_add(step)
                    .filter(|_| step > 0)
                    .ok_or_else(|| invalid("the clients do not ascend"))?,
            };
            let client = wire::client_id(number)?;
            last_client = Some(number);

            let ranges = known.read_ranges(decoder)?;
            if !ranges.is_empty() {
                clients.push((client, ranges));
            }
        }
        Ok(Self { inner: ClientRanges::from_ascending(clients) })
    }
}

/// What a decoder has read and later input refers to by number.
struct Known<A> {
    attributes: Vec<ContentAttribute<A>>,
    names: Vec<Arc<str>>,
}

impl<A: DeserializeOwned + PartialEq + Eq + Hash + Clone> Known<A> {
    fn read_ranges<D: Decoder>(&mut self, decoder: &mut D) -> Result<IdRanges<ContentAttributes<A>>, Error> {
        let count: u32 = decoder.read_var()?;
        let mut ranges = IdRanges::new();
        for _ in 0..count {
            let range = decoder.read_range()?;
            let attr_count: u32 = decoder.read_var()?;
            if attr_count > MAX_ATTRIBUTES {
                return Err(invalid("too many attributes for one range"));
            }
            let mut attrs = ContentAttributes::new();
            for _ in 0..attr_count {
                let attr = self.read_attribute(decoder)?;
                if !attrs.contains(&attr) {
                    attrs.0.push(attr);
                }
            }
            if range.is_empty() {
                continue;
            }
            if ranges.clock_end().is_some_and(|end| range.start < end) {
                return Err(invalid("the ranges do not ascend"));
            }
            ranges.push(range, attrs);
        }
        Ok(ranges)
    }

    fn read_attribute<D: Decoder>(&mut self, decoder: &mut D) -> Result<ContentAttribute<A>, Error> {
        let number: usize = decoder.read_var()?;
        if let Some(attr) = self.attributes.get(number) {
            return Ok(attr.clone());
        }
        if number > self.attributes.len() {
            return Err(invalid("an attribute is referred to before it is given"));
        }
        let number: usize = decoder.read_var()?;
        if number > self.names.len() {
            return Err(invalid("a name is referred to before it is given"));
        }
        if number == self.names.len() {
            let name = decoder.read_string()?.into();
            self.names.push(name);
        }
        let value: A = from_any(&decoder.read_any()?)?;
        let attr = ContentAttribute::new(&*self.names[number], value);
        self.attributes.push(attr.clone());
        Ok(attr)
    }
}

#[cold]
fn invalid(what: &str) -> Error {
    Error::Custom(format!("id map: {what}"))
}
