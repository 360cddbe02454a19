//! The clock ranges of one client, each with a value: the element of [`IdSet`] (value `()`) and
//! of [`IdMap`] (value: attributes).
//!
//! Invariant (I8): ranges are not empty, ascend, do not overlap, and two that touch have
//! different values; with `()` as value no two touch. Kept by every method and checked by
//! [`IdRanges::check`].
//!
//! Cost: an insertion behind the last range is O(1), elsewhere O(log n) plus moving what lies
//! behind; union, difference and intersection are one walk over both lists.
//!
//! [`IdSet`]: crate::ids::IdSet
//! [`IdMap`]: crate::ids::IdMap

use smallvec::SmallVec;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::slice;

/// A value attached to clock ranges.
pub trait Merge: Clone + PartialEq {
    /// Joins `other` into this value, where two ranges overlap. Joining an equal value changes
    /// nothing.
    fn merge(&mut self, other: &Self);
}

impl Merge for () {
    #[inline]
    fn merge(&mut self, _other: &Self) {}
}

/// Sorted, disjoint clock ranges of one client with a value each. One range lives inline.
#[derive(Clone, PartialEq, Eq)]
pub struct IdRanges<T>(Entries<T>);

/// The clock ranges of one client in an [`IdSet`](crate::ids::IdSet).
pub(crate) type IdRange = IdRanges<()>;

type Entries<T> = SmallVec<[(Range<u32>, T); 1]>;

/// A union with at most so many ranges inserts them one by one rather than rebuild the list.
const INSERT_ONE_BY_ONE: usize = 2;

impl<T> Default for IdRanges<T> {
    #[inline]
    fn default() -> Self {
        Self(SmallVec::new())
    }
}

impl<T: Merge> IdRanges<T> {
    /// Makes an empty list.
    #[inline]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes an empty list with room for `capacity` ranges. Never pass a count from the wire.
    pub fn with_capacity(capacity: usize) -> Self {
        Self(SmallVec::with_capacity(capacity))
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

    /// Returns the first clock.
    #[inline]
    pub fn clock_start(&self) -> Option<u32> {
        self.0.first().map(|(range, _)| range.start)
    }

    /// Returns the clock behind the last one.
    #[inline]
    pub fn clock_end(&self) -> Option<u32> {
        self.0.last().map(|(range, _)| range.end)
    }

    /// Tells if `clock` lies in one of the ranges, in O(log n).
    #[inline]
    pub fn contains_clock(&self, clock: u32) -> bool {
        self.find_start(clock).is_some_and(|at| self.0[at].0.start <= clock)
    }

    /// Returns the index of the range that contains `clock`, or else of the first one behind it,
    /// in O(log n).
    #[inline]
    pub fn find_start(&self, clock: u32) -> Option<usize> {
        let at = self.0.partition_point(|(range, _)| range.end <= clock);
        (at < self.0.len()).then_some(at)
    }

    /// Adds `range` with `value`. Where it overlaps a range the values are merged; an empty range
    /// changes nothing.
    pub fn insert_with(&mut self, range: Range<u32>, value: T) {
        if range.is_empty() {
            return;
        }
        if self.0.last().is_none_or(|(last, _)| last.end < range.start) {
            self.0.push((range, value));
            return;
        }

        // `lo..hi` overlap the new range or touch it.
        let lo = self.0.partition_point(|(entry, _)| entry.end < range.start);
        let hi = lo + self.0[lo..].partition_point(|(entry, _)| entry.start <= range.end);
        if lo == hi {
            self.0.insert(lo, (range, value));
        } else if self.0[lo..hi].iter().all(|(_, held)| *held == value) {
            let end = self.0[hi - 1].0.end.max(range.end);
            let first = &mut self.0[lo].0;
            first.start = first.start.min(range.start);
            first.end = end;
            self.0.drain(lo + 1..hi);
        } else {
            let mut joined: SmallVec<[(Range<u32>, T); 4]> = SmallVec::new();
            sweep(&self.0[lo..hi], &[(range, value)], |piece, held, new| {
                push_joined(&mut joined, piece, join(held, new));
            });
            self.0.drain(lo..hi);
            self.0.insert_many(lo, joined);
        }
    }

    /// Removes the clocks of `range`. What is left keeps its values.
    pub fn remove(&mut self, range: Range<u32>) {
        if range.is_empty() {
            return;
        }
        let Some(mut lo) = self.find_start(range.start) else { return };
        let first = &mut self.0[lo].0;
        if first.start < range.start {
            let rest = range.end..first.end;
            first.end = range.start;
            lo += 1;
            if !rest.is_empty() {
                let value = self.0[lo - 1].1.clone();
                self.0.insert(lo, (rest, value));
                return;
            }
        }
        let hi = lo + self.0[lo..].partition_point(|(entry, _)| entry.end <= range.end);
        if let Some((next, _)) = self.0.get_mut(hi) {
            next.start = next.start.max(range.end);
        }
        self.0.drain(lo..hi);
    }

    /// Adds all of `other` (union). Where both have a clock, their values are merged.
    pub fn merge(&mut self, other: &Self) {
        if self.is_empty() {
            self.0.clone_from(&other.0);
        } else if other.len() <= INSERT_ONE_BY_ONE {
            for (range, value) in &other.0 {
                self.insert_with(range.clone(), value.clone());
            }
        } else {
            let mut union = Entries::with_capacity(self.len().max(other.len()));
            sweep(&self.0, &other.0, |piece, a, b| push_joined(&mut union, piece, join(a, b)));
            self.0 = union;
        }
    }

    /// Removes the clocks of `other` (difference); its values do not matter.
    pub fn exclude<U>(&mut self, other: &IdRanges<U>) {
        if self.is_empty() || other.0.is_empty() {
            return;
        }
        let mut rest = Entries::with_capacity(self.len());
        sweep(&self.0, &other.0, |piece, a, b| {
            if let (Some(value), None) = (a, b) {
                push_joined(&mut rest, piece, value.clone());
            }
        });
        self.0 = rest;
    }

    /// Keeps the clocks that `other` has too (intersection), with the values of both merged.
    pub fn intersect(&mut self, other: &Self) {
        let mut common = Entries::new();
        sweep(&self.0, &other.0, |piece, a, b| {
            if a.is_some() && b.is_some() {
                push_joined(&mut common, piece, join(a, b));
            }
        });
        self.0 = common;
    }

    /// Iterates over ranges and values in ascending order.
    #[inline]
    pub fn iter(&self) -> slice::Iter<'_, (Range<u32>, T)> {
        self.0.iter()
    }

    /// Iterates over the ranges in ascending order.
    #[inline]
    pub fn ranges(&self) -> impl DoubleEndedIterator<Item = &Range<u32>> + ExactSizeIterator {
        self.0.iter().map(|(range, _)| range)
    }

    /// Returns the range at `idx` with its value.
    #[inline]
    pub fn get(&self, idx: usize) -> Option<&(Range<u32>, T)> {
        self.0.get(idx)
    }

    /// Returns ranges and values as a slice, in ascending order.
    #[inline]
    pub fn as_slice(&self) -> &[(Range<u32>, T)] {
        &self.0
    }

    /// Tells if every clock of `range` is here, whatever the values. True for an empty range.
    pub(crate) fn contains_range(&self, range: Range<u32>) -> bool {
        let mut at = range.start;
        let from = self.find_start(at).unwrap_or(self.len());
        for (entry, _) in &self.0[from..] {
            // Ranges with different values may touch.
            if at >= range.end || entry.start > at {
                break;
            }
            at = entry.end;
        }
        at >= range.end
    }

    /// Adds a range that begins behind or at the end of the last one.
    pub(crate) fn push(&mut self, range: Range<u32>, value: T) {
        debug_assert!(self.clock_end().is_none_or(|end| end <= range.start), "push out of order");
        push_joined(&mut self.0, range, value);
    }

    /// Checks I8.
    #[cfg(test)]
    pub(crate) fn check(&self) -> Result<(), String> {
        if let Some((range, _)) = self.0.iter().find(|(range, _)| range.is_empty()) {
            return Err(format!("I8: range {range:?} is empty"));
        }
        for pair in self.0.windows(2) {
            let (a, b) = (&pair[0], &pair[1]);
            if b.0.start < a.0.end {
                return Err(format!("I8: {:?} stands before {:?}", a.0, b.0));
            }
            if b.0.start == a.0.end && a.1 == b.1 {
                return Err(format!("I8: {:?} touches {:?} and is equal", a.0, b.0));
            }
        }
        Ok(())
    }
}

impl IdRanges<()> {
    /// Adds `range`; an empty one changes nothing.
    #[inline]
    pub fn insert(&mut self, range: Range<u32>) {
        self.insert_with(range, ());
    }

    /// Makes a list of ranges that may come in any order, overlap and be empty, in O(n log n), or
    /// O(n) if they ascend.
    pub fn from_ranges(ranges: impl IntoIterator<Item = Range<u32>>) -> Self {
        let mut builder = IdRangeBuilder::default();
        for range in ranges {
            builder.add(range);
        }
        builder.finish()
    }

    /// Tells if `other` contains every clock of this list, in O(n log m).
    pub fn subset_of(&self, other: &Self) -> bool {
        self.0.iter().all(|(range, ())| other.contains_range(range.clone()))
    }
}

/// Collects ranges that may come in any order, overlap and be empty.
#[derive(Default)]
pub(crate) struct IdRangeBuilder {
    list: Entries<()>,
    unsorted: bool,
}

impl IdRangeBuilder {
    /// Makes a builder with room for `capacity` ranges. Never pass a count from the wire.
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Self { list: Entries::with_capacity(capacity), unsorted: false }
    }

    #[inline]
    pub(crate) fn add(&mut self, range: Range<u32>) {
        if range.is_empty() {
            return;
        }
        match self.list.last_mut() {
            Some((last, ())) if range.start <= last.end => {
                if range.start >= last.start {
                    last.end = last.end.max(range.end);
                } else {
                    self.unsorted = true;
                    self.list.push((range, ()));
                }
            }
            _ => self.list.push((range, ())),
        }
    }

    pub(crate) fn finish(mut self) -> IdRange {
        if self.unsorted {
            self.list.sort_unstable_by_key(|(range, ())| range.start);
            self.list.dedup_by(|next, kept| {
                let joins = next.0.start <= kept.0.end;
                if joins {
                    kept.0.end = kept.0.end.max(next.0.end);
                }
                joins
            });
        }
        IdRanges(self.list)
    }
}

/// Joins the values that two lists have for a piece of clocks; one of them has it.
fn join<T: Merge>(a: Option<&T>, b: Option<&T>) -> T {
    match (a, b) {
        (Some(a), Some(b)) => {
            let mut both = a.clone();
            both.merge(b);
            both
        }
        (Some(one), None) | (None, Some(one)) => one.clone(),
        (None, None) => unreachable!("a sweep emits pieces that one of its lists has"),
    }
}

/// Appends `range`, or lengthens the last range if it touches this one with an equal value.
#[inline]
fn push_joined<T: PartialEq, A>(list: &mut SmallVec<A>, range: Range<u32>, value: T)
where
    A: smallvec::Array<Item = (Range<u32>, T)>,
{
    match list.last_mut() {
        Some((last, held)) if last.end == range.start && *held == value => last.end = range.end,
        _ => list.push((range, value)),
    }
}

/// Walks over two lists and emits, in ascending order, every maximal piece that lies wholly within
/// or wholly without the ranges of each, with the values found there. Clocks in neither are left
/// out.
#[inline]
fn sweep<T, U>(
    a: &[(Range<u32>, T)],
    b: &[(Range<u32>, U)],
    mut emit: impl FnMut(Range<u32>, Option<&T>, Option<&U>),
) {
    let (mut i, mut j) = (0, 0);
    // What is left of the current range of each list.
    let (mut x, mut y) = (bounds(a, i), bounds(b, j));
    loop {
        let start = x.0.min(y.0);
        if start == u32::MAX {
            return;
        }
        let (in_a, in_b) = (x.0 == start, y.0 == start);
        let end = (if in_a { x.1 } else { x.0 }).min(if in_b { y.1 } else { y.0 });
        emit(start..end, in_a.then(|| &a[i].1), in_b.then(|| &b[j].1));
        if in_a {
            x.0 = end;
            if x.1 == end {
                i += 1;
                x = bounds(a, i);
            }
        }
        if in_b {
            y.0 = end;
            if y.1 == end {
                j += 1;
                y = bounds(b, j);
            }
        }
    }
}

/// The bounds of a range in a list; behind its end a start that no range has, as none is empty.
#[inline]
fn bounds<T>(list: &[(Range<u32>, T)], at: usize) -> (u32, u32) {
    list.get(at).map_or((u32::MAX, u32::MAX), |(range, _)| (range.start, range.end))
}

impl Hash for IdRanges<()> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for range in self.ranges() {
            range.hash(state);
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for IdRanges<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.0).finish()
    }
}

impl fmt::Display for IdRanges<()> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (i, range) in self.ranges().enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            write!(f, "{comma}[{}..{})", range.start, range.end)?;
        }
        f.write_str("]")
    }
}
