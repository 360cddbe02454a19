//! The blocks of one client in clock order.

use crate::block::index::ItemIdx;

/// A place in a [`ClockList`]; valid until the list changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pos {
    pub(crate) chunk: u32,
    pub(crate) entry: u32,
}

/// Blocks of one client by the clock they start at.
#[derive(Debug, Clone, Default)]
pub(crate) struct ClockList {}

#[allow(unused_variables, dead_code, clippy::unimplemented, reason = "signatures first")]
impl ClockList {
    /// Makes an empty list; allocates nothing.
    pub(crate) const fn new() -> Self {
        Self {}
    }

    /// The number of blocks.
    pub(crate) fn len(&self) -> usize {
        unimplemented!()
    }

    /// Whether there are no blocks.
    pub(crate) fn is_empty(&self) -> bool {
        unimplemented!()
    }

    /// Appends a block whose clock is above all others.
    pub(crate) fn push(&mut self, clock: u32, item: ItemIdx) {
        unimplemented!()
    }

    /// Inserts a block at a clock that no other starts at.
    pub(crate) fn insert(&mut self, clock: u32, item: ItemIdx) {
        unimplemented!()
    }

    /// Removes the block that starts at `clock` and returns it.
    pub(crate) fn remove(&mut self, clock: u32) -> ItemIdx {
        unimplemented!()
    }

    /// Notes that the block which started at `old` now starts at `new`, in the same place of the order.
    pub(crate) fn rekey(&mut self, old: u32, new: u32) {
        unimplemented!()
    }

    /// Puts another item in the place of the block that starts at `clock`; returns the old one.
    pub(crate) fn replace(&mut self, clock: u32, item: ItemIdx) -> ItemIdx {
        unimplemented!()
    }

    /// The block with the greatest start at or below `clock`; `NONE` if there is none.
    pub(crate) fn find(&self, clock: u32) -> ItemIdx {
        unimplemented!()
    }

    /// The place of the block with the greatest start at or below `clock`.
    pub(crate) fn position(&self, clock: u32) -> Option<Pos> {
        unimplemented!()
    }

    /// The start clock and the block at `pos`.
    pub(crate) fn at(&self, pos: Pos) -> Option<(u32, ItemIdx)> {
        unimplemented!()
    }

    /// The place after `pos`.
    pub(crate) fn next(&self, pos: Pos) -> Option<Pos> {
        unimplemented!()
    }

    /// The place before `pos`.
    pub(crate) fn prev(&self, pos: Pos) -> Option<Pos> {
        unimplemented!()
    }

    /// The first block.
    pub(crate) fn first(&self) -> Option<(u32, ItemIdx)> {
        unimplemented!()
    }

    /// The last block.
    pub(crate) fn last(&self) -> Option<(u32, ItemIdx)> {
        unimplemented!()
    }

    /// All blocks in clock order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, ItemIdx)> + '_ {
        std::iter::empty()
    }

    /// The blocks from the one that contains `clock` (greatest start at or below it) on.
    pub(crate) fn iter_from(&self, clock: u32) -> impl Iterator<Item = (u32, ItemIdx)> + '_ {
        std::iter::empty()
    }

    /// Panics with the values if an invariant does not hold.
    pub(crate) fn check(&self) {
        unimplemented!()
    }
}
