//! The position tree of one sequence: which item stands at an index, and at which index an item stands.
//!
//! An order-statistic B+tree. Its leaves hold items with their widths (the visible length; 0 for what is deleted
//! and for format marks), its inner nodes the running sums of their kids. All nodes live in two `Vec`s and are
//! named by their index; an item knows its leaf ([`Entries::leaf`]), a node its parent, so the way up needs no
//! search. Looking up, inserting, removing and changing a width cost O(log n); at random places, in ns at 10k,
//! 100k and 600k entries: `find` 34, 49, 60; `index_of` 33, 92, 235; `add_width` 51, 135, 270; `insert_after` 85,
//! 220, 420 (from 100k on it is cache misses); appending 50 to 70. About 9 to 12 bytes an entry.
//!
//! The item that grows or shrinks again and again (somebody is typing) is kept in a **cursor**: its start, its
//! width, and how much of that the nodes have not been told yet. Such a change is O(1); what is read in between
//! takes the untold part into account; every change of structure settles it first. Likewise a leaf that takes in entry
//! after entry (somebody prepends, or types between the words of others) **lags**: what its new entries add up to is told
//! to the nodes above once, not for each. There is a cursor or a lag, never both.
//!
//! Format marks: each node knows the last live mark of each key in it (`marks.rs`), so the formats in force at
//! an item are found in O(log n) for each key. Without marks nothing is stored for them.
//!
//! Kept here, and held by [`Tree::check`] (I3): sums are exact at each node up to the cursor; all leaves are at
//! the same depth and none is empty; each item points at its leaf; the summaries of marks are exact.

mod check;
mod grow;
mod marks;
mod node;
mod shrink;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;

use smallvec::SmallVec;

use self::marks::Summaries;
use self::node::{EMPTY, Node};
use crate::block::index::{ItemIdx, KeyIdx, LeafIdx};

/// Entries a leaf. With 16, all is 10 % faster in small trees and 30 to 40 % slower at 600k entries.
#[cfg(not(test))]
const LEAF: usize = 32;
/// Kids an inner node. With 32, looking up gains 10 to 20 % and every change loses as much.
#[cfg(not(test))]
const FANOUT: usize = 16;

// Small under test, so that a few dozen items reach every path.
#[cfg(test)]
const LEAF: usize = 4;
#[cfg(test)]
const FANOUT: usize = 3;

type Leaf = Node<LEAF>;
type Inner = Node<FANOUT>;

/// What the tree asks of the items it holds.
pub(crate) trait Entries {
    /// The leaf that holds `item`, as last told to [`Self::set_leaf`].
    fn leaf(&self, item: ItemIdx) -> LeafIdx;
    /// Notes the leaf that now holds `item`; `NONE` once it is removed.
    fn set_leaf(&mut self, item: ItemIdx, leaf: LeafIdx);
    /// The key of a live format mark, `NONE` for everything else.
    fn mark(&self, item: ItemIdx) -> KeyIdx;
}

/// Format marks, one a key, sorted by key.
pub(crate) type Marks = SmallVec<[(KeyIdx, ItemIdx); 4]>;

/// Order-statistic B+tree of the items of one sequence.
#[derive(Debug, Clone)]
pub(crate) struct Tree {
    leaves: Vec<Leaf>,
    inner: Vec<Inner>,
    /// Heads of the lists of free nodes, linked by `parent`.
    free_leaf: u32,
    free_inner: u32,
    /// A leaf if `height` is 0, else an inner node; `EMPTY` if there are no entries.
    root: u32,
    /// Inner levels above the leaves.
    height: u32,
    count: u32,
    /// The item whose width changed last: if it is the same once more, the cursor goes there.
    warm: ItemIdx,
    cursor: Cursor,
    /// The leaf that took an entry in last: if it is the same once more, it lags from there on.
    warm_leaf: u32,
    lag: Lag,
    /// Made with the first mark.
    summaries: Option<Box<Summaries>>,
}

/// The entry that changes again and again. Its width in the nodes is above 0, which makes it unambiguous
/// whether another entry that starts at a given index is before or behind it.
#[derive(Debug, Clone, Copy)]
struct Cursor {
    /// `NONE`: there is no cursor, and the other fields mean nothing.
    item: ItemIdx,
    leaf: u32,
    /// Index of the item.
    start: u32,
    /// True width of the item.
    width: u32,
    /// The part of `width` that the nodes do not know of (wrapping).
    untold: u32,
}

/// The leaf that takes in entry after entry. It is exact itself; the nodes above know less. What they know of it is above
/// 0, for the same reason as with the cursor.
#[derive(Debug, Clone, Copy)]
struct Lag {
    /// `EMPTY`: none lags, and the other fields mean nothing.
    leaf: u32,
    /// Index of the first entry.
    start: u32,
    /// The part of its total that the nodes above do not know of.
    untold: u32,
}

impl Default for Tree {
    fn default() -> Self {
        Self::new()
    }
}

impl Tree {
    /// Makes an empty tree; allocates nothing.
    pub(crate) const fn new() -> Self {
        Self {
            leaves: Vec::new(),
            inner: Vec::new(),
            free_leaf: EMPTY,
            free_inner: EMPTY,
            root: EMPTY,
            height: 0,
            count: 0,
            warm: ItemIdx::NONE,
            cursor: Cursor { item: ItemIdx::NONE, leaf: EMPTY, start: 0, width: 0, untold: 0 },
            warm_leaf: EMPTY,
            lag: Lag { leaf: EMPTY, start: 0, untold: 0 },
            summaries: None,
        }
    }

    /// The sum of all widths.
    #[inline]
    pub(crate) fn total(&self) -> u32 {
        let told = match (self.root, self.height) {
            (EMPTY, _) => 0,
            (root, 0) => self.leaves[root as usize].total(),
            (root, _) => self.inner[root as usize].total(),
        };
        told.wrapping_add(self.untold())
    }

    /// What the root has not been told.
    #[inline]
    const fn untold(&self) -> u32 {
        if self.cursor.item.is_some() {
            self.cursor.untold
        } else if self.lag.leaf != EMPTY {
            self.lag.untold
        } else {
            0
        }
    }

    /// The number of entries.
    #[inline]
    pub(crate) const fn count(&self) -> usize {
        self.count as usize
    }

    /// The entry whose range contains `index`, and the offset within it; `None` at and beyond the end.
    /// Entries without a width are never found.
    #[inline]
    pub(crate) fn find(&self, index: u32) -> Option<(ItemIdx, u32)> {
        let mut index = index;
        if index >= self.total() {
            return None;
        }
        let cursor = &self.cursor;
        if cursor.item.is_some() && index >= cursor.start {
            if index - cursor.start < cursor.width {
                return Some((cursor.item, index - cursor.start));
            }
            index = index.wrapping_sub(cursor.untold);
        }
        let lag = &self.lag;
        if lag.leaf != EMPTY && index >= lag.start {
            let leaf = &self.leaves[lag.leaf as usize];
            if index - lag.start < leaf.total() {
                let slot = leaf.slot_at(index - lag.start);
                return Some((ItemIdx(leaf.lane(slot)), index - lag.start - leaf.start(slot)));
            }
            index = index.wrapping_sub(lag.untold);
        }
        let mut at = self.root;
        for _ in 0..self.height {
            let node = &self.inner[at as usize];
            let slot = node.slot_at(index);
            index -= node.start(slot);
            at = node.lane(slot);
        }
        let leaf = &self.leaves[at as usize];
        let slot = leaf.slot_at(index);
        Some((ItemIdx(leaf.lane(slot)), index - leaf.start(slot)))
    }

    /// The sum of the widths before `item`.
    pub(crate) fn index_of(&self, entries: &impl Entries, item: ItemIdx) -> u32 {
        let cursor = &self.cursor;
        if cursor.item == item {
            return cursor.start;
        }
        let (leaf, slot) = self.place(entries, item);
        let told = self.told_index(leaf, slot);
        let behind = if cursor.item.is_some() {
            told > cursor.start
        } else {
            self.lag.leaf != EMPTY && self.lag.leaf != leaf && told > self.lag.start
        };
        if behind { told.wrapping_add(self.untold()) } else { told }
    }

    /// The width of `item`.
    #[inline]
    #[cfg(test)]
    pub(crate) fn width(&self, entries: &impl Entries, item: ItemIdx) -> u32 {
        if self.cursor.item == item {
            return self.cursor.width;
        }
        let (leaf, slot) = self.place(entries, item);
        self.leaves[leaf as usize].width(slot)
    }

    /// The order of two items in the sequence.
    pub(crate) fn compare(&self, entries: &impl Entries, a: ItemIdx, b: ItemIdx) -> Ordering {
        if a == b {
            return Ordering::Equal;
        }
        let (mut a_node, mut b_node) = (entries.leaf(a).0, entries.leaf(b).0);
        if a_node == b_node {
            let leaf = &self.leaves[a_node as usize];
            return leaf.slot_of(a.0).cmp(&leaf.slot_of(b.0));
        }
        // All leaves are at the same depth, so both ways up meet at the same step.
        let mut a_up = self.leaves[a_node as usize].parent;
        let mut b_up = self.leaves[b_node as usize].parent;
        while a_up != b_up {
            (a_node, b_node) = (a_up, b_up);
            a_up = self.inner[a_up as usize].parent;
            b_up = self.inner[b_up as usize].parent;
        }
        let meeting = &self.inner[a_up as usize];
        meeting.slot_of(a_node).cmp(&meeting.slot_of(b_node))
    }

    /// Sets the width of `item`.
    #[inline]
    pub(crate) fn set_width(&mut self, entries: &impl Entries, item: ItemIdx, width: u32) {
        if self.cursor.item == item {
            let delta = width.wrapping_sub(self.cursor.width);
            self.cursor.width = width;
            self.cursor.untold = self.cursor.untold.wrapping_add(delta);
            return;
        }
        let (leaf, slot) = self.place(entries, item);
        let delta = width.wrapping_sub(self.leaves[leaf as usize].width(slot));
        self.change(item, leaf, slot, delta);
    }

    /// Adds `delta` to the width of `item`, which does not become negative. Repeated on the same item: O(1).
    #[inline]
    pub(crate) fn add_width(&mut self, entries: &impl Entries, item: ItemIdx, delta: i64) {
        // Wrapping: the low half of a negative number subtracts.
        let delta = delta as u32;
        if self.cursor.item == item {
            self.cursor.width = self.cursor.width.wrapping_add(delta);
            self.cursor.untold = self.cursor.untold.wrapping_add(delta);
            return;
        }
        let (leaf, slot) = self.place(entries, item);
        self.change(item, leaf, slot, delta);
    }

    /// Changes the width of an item that is not at the cursor.
    fn change(&mut self, item: ItemIdx, leaf: u32, slot: usize, delta: u32) {
        if delta == 0 {
            return;
        }
        self.settle();
        let width = self.leaves[leaf as usize].width(slot);
        if self.warm == item && width > 0 {
            let start = self.told_index(leaf, slot);
            self.cursor = Cursor { item, leaf, start, width: width.wrapping_add(delta), untold: delta };
        } else {
            self.warm = item;
            self.add_up(leaf, slot, delta);
        }
    }

    /// Tells the nodes what the cursor or the lag kept from them, and takes these away.
    #[inline]
    fn settle(&mut self) {
        self.settle_cursor();
        self.settle_lag();
    }

    #[inline]
    fn settle_cursor(&mut self) {
        let Cursor { item, leaf, untold, .. } = self.cursor;
        if item.is_some() {
            self.cursor.item = ItemIdx::NONE;
            let slot = self.leaves[leaf as usize].slot_of(item.0);
            self.add_up(leaf, slot, untold);
        }
    }

    #[inline]
    fn settle_lag(&mut self) {
        let Lag { leaf, untold, .. } = self.lag;
        if leaf != EMPTY {
            self.lag.leaf = EMPTY;
            self.add_above(leaf, self.leaves[leaf as usize].parent, untold);
        }
    }

    /// Tells the nodes above a leaf of a new entry in it, at once or later. There is no cursor.
    #[inline]
    fn add_entry_above(&mut self, leaf: u32, width: u32) {
        if self.lag.leaf == leaf {
            self.lag.untold = self.lag.untold.wrapping_add(width);
            return;
        }
        self.settle_lag();
        let node = &self.leaves[leaf as usize];
        if self.warm_leaf == leaf && node.parent != EMPTY && node.total() > width {
            self.lag = Lag { leaf, start: self.told_index(leaf, 0), untold: width };
        } else {
            self.warm_leaf = leaf;
            self.add_above(leaf, node.parent, width);
        }
    }

    /// Adds to the width of an entry, from its leaf up to the root.
    #[inline]
    fn add_up(&mut self, leaf: u32, slot: usize, delta: u32) {
        let node = &mut self.leaves[leaf as usize];
        node.add(slot, delta);
        let parent = node.parent;
        self.add_above(leaf, parent, delta);
    }

    /// Adds to the width of `child` in the nodes above it.
    #[inline]
    fn add_above(&mut self, child: u32, parent: u32, delta: u32) {
        let (mut child, mut at) = (child, parent);
        while at != EMPTY {
            let node = &mut self.inner[at as usize];
            let slot = node.slot_of(child);
            node.add(slot, delta);
            (child, at) = (at, node.parent);
        }
    }

    /// The index of an entry as the nodes know it.
    #[inline]
    fn told_index(&self, leaf: u32, slot: usize) -> u32 {
        let node = &self.leaves[leaf as usize];
        let mut index = node.start(slot);
        let (mut child, mut at) = (leaf, node.parent);
        while at != EMPTY {
            let node = &self.inner[at as usize];
            index = index.wrapping_add(node.start(node.slot_of(child)));
            (child, at) = (at, node.parent);
        }
        index
    }

    /// The leaf and slot of an item.
    #[inline]
    fn place(&self, entries: &impl Entries, item: ItemIdx) -> (u32, usize) {
        let leaf = entries.leaf(item);
        assert!(leaf.get() < self.leaves.len(), "I3: {item:?} points at leaf {leaf:?}");
        (leaf.0, self.leaves[leaf.get()].slot_of(item.0))
    }
}
