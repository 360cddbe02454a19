//! The position tree of one sequence.

use std::cmp::Ordering;

use smallvec::SmallVec;

use crate::block::index::{ItemIdx, KeyIdx, LeafIdx};

/// What the tree asks of the items it holds.
pub(crate) trait Entries {
    /// The leaf that holds `item`, as last told to [`Self::set_leaf`].
    fn leaf(&self, item: ItemIdx) -> LeafIdx;
    /// Notes the leaf that now holds `item`.
    fn set_leaf(&mut self, item: ItemIdx, leaf: LeafIdx);
    /// The key of a live format mark, `NONE` for everything else.
    fn mark(&self, item: ItemIdx) -> KeyIdx;
}

/// Format marks, one a key, in the order of their keys.
pub(crate) type Marks = SmallVec<[(KeyIdx, ItemIdx); 4]>;

/// Order-statistic B+tree of the items of one sequence.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tree {}

#[allow(unused_variables, dead_code, clippy::unimplemented, reason = "signatures first")]
impl Tree {
    /// Makes an empty tree; allocates nothing.
    pub(crate) const fn new() -> Self {
        Self {}
    }

    /// Builds a tree bottom-up from items in sequence order with their widths.
    pub(crate) fn build(entries: &mut impl Entries, items: impl Iterator<Item = (ItemIdx, u32)>) -> Self {
        unimplemented!()
    }

    /// The sum of all widths.
    pub(crate) fn total(&self) -> u32 {
        unimplemented!()
    }

    /// The number of entries.
    pub(crate) fn count(&self) -> usize {
        unimplemented!()
    }

    /// Whether there are no entries.
    pub(crate) fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// The entry whose range contains `index`, and the offset within it.
    pub(crate) fn find(&self, index: u32) -> Option<(ItemIdx, u32)> {
        unimplemented!()
    }

    /// The sum of the widths before `item`.
    pub(crate) fn index_of(&self, entries: &impl Entries, item: ItemIdx) -> u32 {
        unimplemented!()
    }

    /// The order of two items in the sequence.
    pub(crate) fn compare(&self, entries: &impl Entries, a: ItemIdx, b: ItemIdx) -> Ordering {
        unimplemented!()
    }

    /// Inserts `item` right of `left`, or at the front if that is `NONE`.
    pub(crate) fn insert_after(
        &mut self,
        entries: &mut impl Entries,
        left: ItemIdx,
        item: ItemIdx,
        width: u32,
    ) {
        unimplemented!()
    }

    /// Inserts `item` left of `right`, or at the end if that is `NONE`.
    pub(crate) fn insert_before(
        &mut self,
        entries: &mut impl Entries,
        right: ItemIdx,
        item: ItemIdx,
        width: u32,
    ) {
        unimplemented!()
    }

    /// Sets the width of `item`.
    pub(crate) fn set_width(&mut self, entries: &impl Entries, item: ItemIdx, width: u32) {
        unimplemented!()
    }

    /// Adds `delta` to the width of `item`.
    pub(crate) fn add_width(&mut self, entries: &impl Entries, item: ItemIdx, delta: i64) {
        unimplemented!()
    }

    /// Takes `item` out.
    pub(crate) fn remove(&mut self, entries: &mut impl Entries, item: ItemIdx) {
        unimplemented!()
    }

    /// Updates the summaries after the mark of `item` appeared or vanished.
    pub(crate) fn mark_changed(&mut self, entries: &impl Entries, item: ItemIdx) {
        unimplemented!()
    }

    /// Fills `out` with the last live mark of each key strictly before `item`, sorted by key.
    pub(crate) fn marks_before(&self, entries: &impl Entries, item: ItemIdx, out: &mut Marks) {
        unimplemented!()
    }

    /// Fills `out` with the last live mark of each key of the whole sequence, sorted by key.
    pub(crate) fn last_marks(&self, out: &mut Marks) {
        unimplemented!()
    }

    /// Panics with the values if an invariant does not hold.
    pub(crate) fn check(&self, entries: &impl Entries, expected: impl Iterator<Item = (ItemIdx, u32)>) {
        unimplemented!()
    }
}
