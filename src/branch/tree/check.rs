//! The check of the position tree: against what it should hold, entry by entry, and of every cached sum.

use std::collections::BTreeMap;

use super::node::EMPTY;
use super::{Entries, Tree};
use crate::block::index::{ItemIdx, KeyIdx, LeafIdx};

/// What a subtree was found to hold.
#[derive(Default)]
struct Found {
    told: u32,
    marks: BTreeMap<KeyIdx, ItemIdx>,
    leaves: usize,
    inner: usize,
}

impl Tree {
    /// Panics with the values if an invariant does not hold, or if the entries and widths are not those expected.
    /// O(n).
    pub(crate) fn check(&self, entries: &impl Entries, expected: impl Iterator<Item = (ItemIdx, u32)>) {
        let mut expected = expected.fuse();
        let mut seen = (0, 0);
        let mut on_entry = |item: ItemIdx, width: u32| {
            assert_eq!(Some((item, width)), expected.next(), "I3: entry {} at index {}", seen.0, seen.1);
            if self.cursor.item == item {
                assert_eq!(self.cursor.start, seen.1, "I5: start of the cursor {:?}", self.cursor);
            }
            if self.lag.leaf != EMPTY && self.leaves[self.lag.leaf as usize].lane(0) == item.0 {
                assert_eq!(self.lag.start, seen.1, "I5: start of the leaf that lags {:?}", self.lag);
            }
            seen.0 += 1;
            seen.1 += width;
        };
        let found = if self.root == EMPTY {
            Found::default()
        } else {
            self.check_node(entries, self.root, self.height as u16, EMPTY, &mut on_entry)
        };
        assert_eq!(None, expected.next(), "I3: the tree ends after {} entries", seen.0);
        assert_eq!(self.count(), seen.0, "I3: count of entries");
        assert_eq!(self.total(), seen.1, "I3: total of the tree");
        let free_leaves = free(self.free_leaf, |at| self.leaves[at as usize].parent);
        assert_eq!(self.leaves.len(), found.leaves + free_leaves, "a leaf is lost");
        let free_inner = free(self.free_inner, |at| self.inner[at as usize].parent);
        assert_eq!(self.inner.len(), found.inner + free_inner, "an inner node is lost");
    }

    fn check_node(
        &self,
        entries: &impl Entries,
        at: u32,
        level: u16,
        parent: u32,
        on_entry: &mut impl FnMut(ItemIdx, u32),
    ) -> Found {
        assert_eq!(self.parent(level, at), parent, "I3: parent of node {at} of level {level}");
        let found = if level == 0 {
            self.check_leaf(entries, at, on_entry)
        } else {
            self.check_inner(entries, at, level, on_entry)
        };
        let marks: Vec<_> = found.marks.iter().map(|(&key, &item)| (key, item)).collect();
        assert_eq!(self.summary(level, at), marks, "marks of node {at} of level {level}");
        found
    }

    fn check_leaf(&self, entries: &impl Entries, at: u32, on_entry: &mut impl FnMut(ItemIdx, u32)) -> Found {
        let leaf = &self.leaves[at as usize];
        leaf.check();
        assert_eq!(leaf.level, 0, "level of leaf {at}");
        let mut found = Found { told: leaf.total(), leaves: 1, ..Found::default() };
        if self.lag.leaf == at {
            assert!(self.cursor.item.is_none(), "{:?} beside {:?}", self.cursor, self.lag);
            found.told = found.told.wrapping_sub(self.lag.untold);
            assert!(found.told > 0, "I5: told total of the leaf that lags {:?}", self.lag);
        }
        for (slot, &lane) in leaf.lanes().iter().enumerate() {
            let item = ItemIdx(lane);
            assert_eq!(entries.leaf(item), LeafIdx(at), "I3: leaf of {item:?}");
            let mut width = leaf.width(slot);
            if self.cursor.item == item {
                assert_eq!(self.cursor.leaf, at, "I5: leaf of the cursor {:?}", self.cursor);
                assert!(width > 0, "I5: told width of the cursor {:?}", self.cursor);
                width = width.wrapping_add(self.cursor.untold);
                assert_eq!(self.cursor.width, width, "I5: width of the cursor {:?}", self.cursor);
            }
            on_entry(item, width);
            let key = entries.mark(item);
            assert_eq!(key.is_some(), leaf.marked >> slot & 1 != 0, "mark bit of {item:?}");
            if key.is_some() {
                found.marks.insert(key, item);
            }
        }
        found
    }

    fn check_inner(
        &self,
        entries: &impl Entries,
        at: u32,
        level: u16,
        on_entry: &mut impl FnMut(ItemIdx, u32),
    ) -> Found {
        let node = &self.inner[at as usize];
        node.check();
        assert_eq!(node.level, level, "level of inner node {at}");
        let mut found = Found { told: node.total(), inner: 1, ..Found::default() };
        for (slot, &kid) in node.lanes().iter().enumerate() {
            let below = self.check_node(entries, kid, level - 1, at, on_entry);
            assert_eq!(node.width(slot), below.told, "I3: sum of kid {slot} of inner node {at}");
            let bit = node.marked >> slot & 1 != 0;
            assert_eq!(bit, !below.marks.is_empty(), "mark bit of kid {slot} of inner node {at}");
            found.marks.extend(below.marks);
            found.leaves += below.leaves;
            found.inner += below.inner;
        }
        found
    }
}

/// The length of a free list.
fn free(head: u32, next: impl Fn(u32) -> u32) -> usize {
    std::iter::successors((head != EMPTY).then_some(head), |&at| Some(next(at)).filter(|&it| it != EMPTY))
        .count()
}
