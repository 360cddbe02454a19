//! The blocks of one client in the order of the clocks they start at.
//!
//! Chunks of at most [`CHUNK`] entries, with the first clock of each in an array of its own, so that splitting a
//! block moves a chunk, not the whole list. Clocks grow about evenly along the list, so both searches (for the
//! chunk, then in it) guess by interpolation and fall back on bisection: O(log n), mostly O(1).
//!
//! Kept here, and held by [`ClockList::check`] (the order of I1): clocks rise strictly, no chunk is empty,
//! `firsts` are the first clocks. That blocks leave no gaps is known to the store, which knows their lengths.

use crate::block::index::ItemIdx;

/// Entries a chunk at most: 2 KB, which a memmove of half of it hardly feels.
#[cfg(not(test))]
const CHUNK: usize = 256;
// Small under test, so that a few dozen blocks reach every path.
#[cfg(test)]
const CHUNK: usize = 4;

/// A chunk this small is merged with a neighbour if they fill three quarters of one at most.
const SPARSE: usize = CHUNK / 4;
const MERGED: usize = CHUNK - CHUNK / 4;

/// A place in a [`ClockList`]; it holds until blocks are inserted or removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Pos {
    chunk: u32,
    entry: u32,
}

/// Blocks of one client by the clock they start at.
#[derive(Debug, Clone, Default)]
pub(crate) struct ClockList {
    /// The first clock of each chunk.
    firsts: Vec<u32>,
    chunks: Vec<Vec<(u32, ItemIdx)>>,
    len: usize,
}

impl ClockList {
    /// Makes an empty list; allocates nothing.
    pub(crate) const fn new() -> Self {
        Self { firsts: Vec::new(), chunks: Vec::new(), len: 0 }
    }

    /// Whether there are no blocks.
    #[inline]
    pub(crate) const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The block with the greatest start at or below `clock`; `NONE` if there is none.
    #[inline]
    pub(crate) fn find(&self, clock: u32) -> ItemIdx {
        match self.position(clock) {
            Some(pos) => self.chunks[pos.chunk as usize][pos.entry as usize].1,
            None => ItemIdx::NONE,
        }
    }

    /// The place of the block with the greatest start at or below `clock`.
    #[inline]
    pub(crate) fn position(&self, clock: u32) -> Option<Pos> {
        let chunk = last_at_or_below(&self.firsts, clock, |&first| first)?;
        let entry = last_at_or_below(&self.chunks[chunk], clock, |entry| entry.0)?;
        Some(Pos { chunk: chunk as u32, entry: entry as u32 })
    }

    /// The start clock and the block at `pos`.
    #[inline]
    pub(crate) fn at(&self, pos: Pos) -> Option<(u32, ItemIdx)> {
        self.chunks.get(pos.chunk as usize)?.get(pos.entry as usize).copied()
    }

    /// The place after `pos`.
    #[inline]
    pub(crate) fn next(&self, pos: Pos) -> Option<Pos> {
        if pos.entry as usize + 1 < self.chunks.get(pos.chunk as usize)?.len() {
            return Some(Pos { entry: pos.entry + 1, ..pos });
        }
        let chunk = pos.chunk + 1;
        ((chunk as usize) < self.chunks.len()).then_some(Pos { chunk, entry: 0 })
    }

    /// The place before `pos`.
    #[inline]
    pub(crate) fn prev(&self, pos: Pos) -> Option<Pos> {
        if pos.entry > 0 {
            return Some(Pos { entry: pos.entry - 1, ..pos });
        }
        let chunk = pos.chunk.checked_sub(1)?;
        let entry = self.chunks.get(chunk as usize)?.len() as u32 - 1;
        Some(Pos { chunk, entry })
    }

    /// The last block.
    #[inline]
    pub(crate) fn last(&self) -> Option<(u32, ItemIdx)> {
        self.chunks.last()?.last().copied()
    }

    /// All blocks in clock order.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (u32, ItemIdx)> + '_ {
        self.chunks.iter().flatten().copied()
    }

    /// The blocks from the one with the greatest start at or below `clock` on; all if there is no such block.
    pub(crate) fn iter_from(&self, clock: u32) -> impl DoubleEndedIterator<Item = (u32, ItemIdx)> + '_ {
        let Pos { chunk, entry } = self.position(clock).unwrap_or(Pos { chunk: 0, entry: 0 });
        let mut chunks = self.chunks.get(chunk as usize..).unwrap_or_default().iter();
        let first = chunks.next().and_then(|chunk| chunk.get(entry as usize..)).unwrap_or_default();
        first.iter().chain(chunks.flatten()).copied()
    }

    /// The number of blocks from `pos` on.
    pub(crate) fn count_from(&self, pos: Pos) -> usize {
        let (chunk, entry) = (pos.chunk as usize, pos.entry as usize);
        if chunk * 2 < self.chunks.len() {
            let before: usize = self.chunks[..chunk].iter().map(Vec::len).sum();
            return self.len - before - entry;
        }
        self.chunks[chunk..].iter().map(Vec::len).sum::<usize>() - entry
    }

    /// Appends a block whose clock is above all others.
    #[inline]
    pub(crate) fn push(&mut self, clock: u32, item: ItemIdx) {
        debug_assert!(self.last().is_none_or(|last| last.0 < clock), "I1: {clock} after {:?}", self.last());
        self.len += 1;
        match self.chunks.last_mut() {
            Some(chunk) if chunk.len() < CHUNK => chunk.push((clock, item)),
            _ => self.push_chunk(clock, item),
        }
    }

    #[cold]
    fn push_chunk(&mut self, clock: u32, item: ItemIdx) {
        if self.chunks.is_empty() {
            // Most clients of a large document have one block: they get by with three small allocations.
            self.chunks.reserve_exact(1);
            self.firsts.reserve_exact(1);
            self.chunks.push(Vec::with_capacity(1));
        } else {
            self.chunks.push(Vec::with_capacity(CHUNK));
        }
        self.chunks[self.firsts.len()].push((clock, item));
        self.firsts.push(clock);
    }

    /// Inserts a block at a clock that no other starts at.
    ///
    /// # Panics
    /// If there is a block that starts at `clock`.
    pub(crate) fn insert(&mut self, clock: u32, item: ItemIdx) {
        let Some(pos) = self.position(clock) else {
            self.insert_front(clock, item);
            return;
        };
        let (mut chunk, mut entry) = (pos.chunk as usize, pos.entry as usize);
        assert_ne!(
            self.chunks[chunk][entry].0, clock,
            "I1: two blocks at one clock, the new one is {item:?}"
        );
        entry += 1;
        if self.chunks[chunk].len() == CHUNK {
            self.split_chunk(chunk);
            if entry > CHUNK / 2 {
                (chunk, entry) = (chunk + 1, entry - CHUNK / 2);
            }
        }
        self.chunks[chunk].insert(entry, (clock, item));
        self.len += 1;
    }

    /// Inserts in front of all others.
    fn insert_front(&mut self, clock: u32, item: ItemIdx) {
        if self.is_empty() {
            self.push(clock, item);
            return;
        }
        if self.chunks[0].len() == CHUNK {
            self.split_chunk(0);
        }
        self.chunks[0].insert(0, (clock, item));
        self.firsts[0] = clock;
        self.len += 1;
    }

    #[cold]
    fn split_chunk(&mut self, chunk: usize) {
        let mut right = Vec::with_capacity(CHUNK);
        right.extend_from_slice(&self.chunks[chunk][CHUNK / 2..]);
        self.chunks[chunk].truncate(CHUNK / 2);
        self.firsts.insert(chunk + 1, right[0].0);
        self.chunks.insert(chunk + 1, right);
    }

    /// Removes the block that starts at `clock` and returns it.
    ///
    /// # Panics
    /// If no block starts there.
    pub(crate) fn remove(&mut self, clock: u32) -> ItemIdx {
        let Pos { chunk, entry } = self.exactly(clock);
        let (chunk, entry) = (chunk as usize, entry as usize);
        let (_, item) = self.chunks[chunk].remove(entry);
        self.len -= 1;
        if self.chunks[chunk].len() <= SPARSE {
            self.shrink_chunk(chunk);
        } else if entry == 0 {
            self.firsts[chunk] = self.chunks[chunk][0].0;
        }
        item
    }

    /// Drops a chunk if it is empty, or appends it to its left neighbour if there is room.
    #[cold]
    fn shrink_chunk(&mut self, chunk: usize) {
        let len = self.chunks[chunk].len();
        if len > 0 {
            self.firsts[chunk] = self.chunks[chunk][0].0;
            let right = self.chunks.get(chunk + 1).map_or(CHUNK, Vec::len);
            let left = chunk.checked_sub(1).map_or(CHUNK, |left| self.chunks[left].len());
            if left + len <= MERGED {
                self.merge_into_left(chunk);
            } else if right + len <= MERGED {
                self.merge_into_left(chunk + 1);
            }
            return;
        }
        self.chunks.remove(chunk);
        self.firsts.remove(chunk);
    }

    fn merge_into_left(&mut self, chunk: usize) {
        let right = self.chunks.remove(chunk);
        self.firsts.remove(chunk);
        self.chunks[chunk - 1].extend_from_slice(&right);
    }

    /// Notes that the block which started at `old` now starts at `new`, in the same place of the order.
    ///
    /// # Panics
    /// If no block starts at `old`.
    #[inline]
    pub(crate) fn rekey(&mut self, old: u32, new: u32) {
        let pos = self.exactly(old);
        let Pos { chunk, entry } = pos;
        self.chunks[chunk as usize][entry as usize].0 = new;
        if entry == 0 {
            self.firsts[chunk as usize] = new;
        }
        let clock = |pos| self.at(pos).map(|entry| entry.0);
        debug_assert!(
            self.prev(pos).and_then(clock).is_none_or(|before| before < new)
                && self.next(pos).and_then(clock).is_none_or(|after| new < after),
            "I1: the block at {old} passes a neighbour when it moves to {new}"
        );
    }

    /// The place of the block that starts at `clock`, which is known to exist.
    #[inline]
    fn exactly(&self, clock: u32) -> Pos {
        let pos = self.position(clock).filter(|&pos| self.at(pos).is_some_and(|entry| entry.0 == clock));
        pos.unwrap_or_else(|| panic!("I1: no block starts at {clock}; nearest {:?}", self.position(clock)))
    }

    /// Panics with the values if an invariant does not hold. O(n).
    pub(crate) fn check(&self) {
        assert_eq!(self.firsts.len(), self.chunks.len(), "I1: firsts and chunks");
        for (at, chunk) in self.chunks.iter().enumerate() {
            assert!((1..=CHUNK).contains(&chunk.len()), "I1: chunk {at} has {} entries", chunk.len());
            assert_eq!(self.firsts[at], chunk[0].0, "I1: first clock of chunk {at}");
        }
        let mut before = None;
        for entry in self.iter() {
            assert!(before.is_none_or(|it| it < entry.0), "I1: {entry:?} after clock {before:?}");
            assert!(entry.1.is_some(), "I1: no item at {entry:?}");
            before = Some(entry.0);
        }
        assert_eq!(self.iter().count(), self.len, "I1: number of blocks");
    }
}

/// The last of some entries in rising order whose key is at or below `clock`.
#[inline]
fn last_at_or_below<T>(entries: &[T], clock: u32, key: impl Fn(&T) -> u32) -> Option<usize> {
    let last = entries.len().checked_sub(1)?;
    let (low, high) = (key(&entries[0]), key(&entries[last]));
    if clock >= high {
        return Some(last);
    }
    if clock < low {
        return None;
    }
    // `low <= clock < high`, so the guess is below `last`; it is exact where clocks grow evenly.
    let guess = (u64::from(clock - low) * last as u64 / u64::from(high - low)) as usize;
    if key(&entries[guess]) > clock {
        return Some(entries[..guess].partition_point(|entry| key(entry) <= clock) - 1);
    }
    if key(&entries[guess + 1]) > clock {
        return Some(guess);
    }
    Some(guess + entries[guess + 1..].partition_point(|entry| key(entry) <= clock))
}

#[cfg(test)]
mod tests {
    use super::ClockList;
    use crate::block::index::ItemIdx;

    type Entry = (u32, ItemIdx);

    /// Every answer of the list against a sorted `Vec`.
    fn check(list: &ClockList, model: &[Entry]) {
        list.check();
        assert_eq!(list.iter().collect::<Vec<_>>(), model);
        assert_eq!(list.iter().rev().collect::<Vec<_>>(), model.iter().rev().copied().collect::<Vec<_>>());
        assert_eq!((list.len, list.is_empty()), (model.len(), model.is_empty()));
        assert_eq!(list.last(), model.last().copied());
        let end = model.last().map_or(3, |entry| entry.0 + 3);
        for clock in 0..end {
            let at = model.partition_point(|entry| entry.0 <= clock).checked_sub(1);
            assert_eq!(list.find(clock), at.map_or(ItemIdx::NONE, |at| model[at].1), "find {clock}");
            let pos = list.position(clock);
            assert_eq!(pos.and_then(|pos| list.at(pos)), at.map(|at| model[at]), "position {clock}");
            let next = pos.and_then(|pos| list.next(pos)).and_then(|pos| list.at(pos));
            assert_eq!(next, at.and_then(|at| model.get(at + 1).copied()), "next of {clock}");
            let prev = pos.and_then(|pos| list.prev(pos)).and_then(|pos| list.at(pos));
            assert_eq!(prev, at.and_then(|at| at.checked_sub(1)).map(|at| model[at]), "prev of {clock}");
            assert_eq!(list.iter_from(clock).collect::<Vec<_>>(), model[at.unwrap_or(0)..], "from {clock}");
        }
    }

    #[test]
    fn random_operations_agree_with_a_vec() {
        for seed in 0..100 {
            println!("seed {seed}");
            let mut random = fastrand::Rng::with_seed(seed);
            let (mut list, mut model) = (ClockList::new(), Vec::<Entry>::new());
            for step in 0..200 {
                let item = ItemIdx(step);
                let grow = step % 100 < 70;
                match random.u32(..9) {
                    0..3 if grow => {
                        let clock = model.last().map_or(0, |entry| entry.0 + 1) + random.u32(..4);
                        list.push(clock, item);
                        model.push((clock, item));
                    }
                    3..6 if grow => {
                        let clock = random.u32(..100);
                        if let Err(at) = model.binary_search_by_key(&clock, |entry| entry.0) {
                            list.insert(clock, item);
                            model.insert(at, (clock, item));
                        }
                    }
                    0..7 if !model.is_empty() => {
                        let (clock, item) = model.remove(random.usize(..model.len()));
                        assert_eq!(list.remove(clock), item);
                    }
                    7.. if !model.is_empty() => {
                        // A boundary between two blocks moves; the order stays.
                        let at = random.usize(..model.len());
                        let low = at.checked_sub(1).map_or(0, |before| model[before].0 + 1);
                        let high = model.get(at + 1).map_or(model[at].0 + 5, |after| after.0);
                        let new = random.u32(low..high);
                        list.rekey(model[at].0, new);
                        model[at].0 = new;
                    }
                    _ => {}
                }
                check(&list, &model);
            }
            while !model.is_empty() {
                let (clock, item) = model.remove(random.usize(..model.len()));
                assert_eq!(list.remove(clock), item);
                check(&list, &model);
            }
        }
    }

    #[test]
    fn clocks_at_the_ends_of_u32() {
        let mut list = ClockList::new();
        let model = [0, 1, 2, u32::MAX - 2, u32::MAX - 1, u32::MAX].map(|clock| (clock, ItemIdx(clock / 2)));
        for (clock, item) in model {
            list.push(clock, item);
        }
        list.check();
        assert_eq!(list.find(u32::MAX), ItemIdx(u32::MAX / 2));
        assert_eq!(list.find(u32::MAX - 3), ItemIdx(1));
        assert_eq!(list.find(1 << 31), ItemIdx(1));
        assert_eq!(list.iter().collect::<Vec<_>>(), model);
    }

    #[test]
    fn a_single_block_takes_little_memory() {
        let mut list = ClockList::new();
        list.push(0, ItemIdx(0));
        assert_eq!((list.chunks.capacity(), list.firsts.capacity()), (1, 1));
        assert!(list.chunks[0].capacity() <= 4, "{}", list.chunks[0].capacity());
    }

    #[test]
    #[should_panic(expected = "I1: no block starts at 5")]
    fn removing_what_is_not_there_stops() {
        let mut list = ClockList::new();
        list.push(4, ItemIdx(0));
        list.remove(5);
    }

    #[test]
    #[should_panic(expected = "I1: two blocks at one clock")]
    fn inserting_twice_stops() {
        let mut list = ClockList::new();
        list.push(4, ItemIdx(0));
        list.insert(4, ItemIdx(1));
    }
}
