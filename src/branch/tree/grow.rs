//! How the position tree grows: building it in one go, inserting an entry, splitting what is full.
//!
//! A full leaf is split in half, except where an entry goes to its end or front: then the neighbouring leaf takes
//! it if there is room, else a new leaf. So appending, prepending, and typing in one place all fill their leaves.

use super::node::EMPTY;
use super::{Entries, FANOUT, Inner, LEAF, Leaf, Tree};
use crate::block::index::{ItemIdx, LeafIdx};

/// How full nodes are when built: room for a few insertions before the first split.
const LEAF_FILL: usize = LEAF - LEAF / 8;
const FANOUT_FILL: usize = FANOUT - FANOUT / 8;

/// On which side of a node something new goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
}

impl Tree {
    /// Builds a tree bottom-up from about `count` items in sequence order with their widths, as `next` finds them. O(n).
    pub(crate) fn build<E: Entries>(
        entries: &mut E,
        count: usize,
        mut next: impl FnMut(&E) -> Option<(ItemIdx, u32)>,
    ) -> Self {
        let mut tree = Self::new();
        tree.leaves.reserve_exact(count.div_ceil(LEAF_FILL));
        while let Some((item, width)) = next(entries) {
            if tree.leaves.last().is_none_or(|leaf| leaf.len() == LEAF_FILL) {
                push_tight(&mut tree.leaves, Leaf::new(0));
            }
            let at = tree.leaves.len() - 1;
            let marked = entries.mark(item).is_some();
            tree.leaves[at].push(item.0, width, marked);
            entries.set_leaf(item, LeafIdx(at as u32));
            tree.count += 1;
        }
        if tree.count == 0 {
            return tree;
        }
        let mut level = 0..tree.leaves.len();
        while level.len() > 1 {
            let first = tree.inner.len();
            for kid in level {
                tree.push_kid(first, kid);
            }
            tree.height += 1;
            level = first..tree.inner.len();
        }
        tree.root = level.start as u32;
        tree.summarise_all(entries);
        tree
    }

    /// Appends a node of the level below to the level that is being built, which begins at `first`.
    fn push_kid(&mut self, first: usize, kid: usize) {
        if self.inner.len() == first || self.inner.last().is_some_and(|node| node.len() == FANOUT_FILL) {
            push_tight(&mut self.inner, Inner::new(self.height as u16 + 1));
        }
        let at = self.inner.len() - 1;
        let (width, marked) = if self.height == 0 {
            self.leaves[kid].parent = at as u32;
            (self.leaves[kid].total(), self.leaves[kid].marked)
        } else {
            self.inner[kid].parent = at as u32;
            (self.inner[kid].total(), self.inner[kid].marked)
        };
        self.inner[at].push(kid as u32, width, marked != 0);
    }

    /// Inserts `item` right of `left`, or at the front if that is `NONE`.
    pub(crate) fn insert_after(
        &mut self,
        entries: &mut impl Entries,
        left: ItemIdx,
        item: ItemIdx,
        width: u32,
    ) {
        self.settle_cursor();
        let (leaf, slot) = if left.is_some() {
            let (leaf, slot) = self.place(entries, left);
            (leaf, slot + 1)
        } else {
            (self.leftmost(), 0)
        };
        self.insert_at(entries, leaf, slot, item, width);
    }

    /// The first leaf; an empty tree gets one.
    fn leftmost(&mut self) -> u32 {
        if self.root == EMPTY {
            self.root = self.new_leaf(Leaf::new(0));
            return self.root;
        }
        self.descend(self.root, self.height, Side::Left)
    }

    /// The first or last leaf under a node that is `height` levels above the leaves.
    fn descend(&self, node: u32, height: u32, side: Side) -> u32 {
        let mut at = node;
        for _ in 0..height {
            let node = &self.inner[at as usize];
            at = node.lane(if side == Side::Left { 0 } else { node.len() - 1 });
        }
        at
    }

    /// The leaf beside `leaf`.
    fn leaf_beside(&self, leaf: u32, side: Side) -> Option<u32> {
        let (mut child, mut at, mut height) = (leaf, self.leaves[leaf as usize].parent, 0);
        while at != EMPTY {
            let node = &self.inner[at as usize];
            let slot = node.slot_of(child);
            match side {
                Side::Left if slot > 0 => {
                    return Some(self.descend(node.lane(slot - 1), height, Side::Right));
                }
                Side::Right if slot + 1 < node.len() => {
                    return Some(self.descend(node.lane(slot + 1), height, Side::Left));
                }
                _ => (child, at, height) = (at, node.parent, height + 1),
            }
        }
        None
    }

    fn insert_at(&mut self, entries: &mut impl Entries, leaf: u32, slot: usize, item: ItemIdx, width: u32) {
        let (leaf, slot) = if self.leaves[leaf as usize].is_full() {
            self.settle_lag();
            self.make_room(entries, leaf, slot)
        } else {
            (leaf, slot)
        };
        let node = &mut self.leaves[leaf as usize];
        let mark = entries.mark(item);
        node.insert(slot, item.0, width, mark.is_some());
        entries.set_leaf(item, LeafIdx(leaf));
        self.count += 1;
        if width != 0 {
            self.add_entry_above(leaf, width);
        }
        if mark.is_some() {
            self.update_key(entries, leaf, mark);
        }
    }

    /// Finds or makes a free lane for an entry that goes to `slot` of a full leaf.
    #[cold]
    fn make_room(&mut self, entries: &mut impl Entries, leaf: u32, slot: usize) -> (u32, usize) {
        let side = match slot {
            0 => Side::Left,
            LEAF => Side::Right,
            _ => {
                let at = LEAF / 2;
                let new = self.split_leaf(entries, leaf, at);
                return if slot <= at { (leaf, slot) } else { (new, slot - at) };
            }
        };
        let beside = self.leaf_beside(leaf, side).filter(|&it| !self.leaves[it as usize].is_full());
        let target = beside.unwrap_or_else(|| {
            let new = self.new_leaf(Leaf::new(0));
            self.add_kid(leaf, new, 0, side);
            new
        });
        (target, if side == Side::Left { self.leaves[target as usize].len() } else { 0 })
    }

    /// Moves the entries from `at` on to a new leaf to the right.
    fn split_leaf(&mut self, entries: &mut impl Entries, leaf: u32, at: usize) -> u32 {
        let right = self.leaves[leaf as usize].split_off(at);
        let marked = right.marked != 0;
        let new = self.new_leaf(right);
        for &item in self.leaves[new as usize].lanes() {
            entries.set_leaf(ItemIdx(item), LeafIdx(new));
        }
        if marked {
            self.summarise_leaf(entries, leaf);
            self.summarise_leaf(entries, new);
        }
        self.add_kid(leaf, new, 0, Side::Right);
        new
    }

    /// Gives `new`, a node of `level` without a parent, the place beside `child`. What `new` holds is what
    /// `child` held until now, or nothing, so that sums and marks further up stay as they are.
    fn add_kid(&mut self, child: u32, new: u32, level: u16, side: Side) {
        let parent = self.parent(level, child);
        if parent == EMPTY {
            self.grow_root(child, new, level, side);
            return;
        }
        let mut target = parent;
        let mut split = EMPTY;
        if self.inner[parent as usize].is_full() {
            let slot = self.inner[parent as usize].slot_of(child);
            // At an end, `child` and `new` stay together: the next one of a run finds its neighbour there.
            let at = match side {
                Side::Left if slot == 0 => 1,
                Side::Right if slot == FANOUT - 1 => FANOUT - 1,
                _ => FANOUT / 2,
            };
            split = self.split_inner(parent, at);
            if slot >= at {
                target = split;
            }
        }
        let (moved, marked) = self.brief(level, new);
        let (_, child_marked) = self.brief(level, child);
        let node = &mut self.inner[target as usize];
        let slot = node.slot_of(child);
        node.set_marked(slot, child_marked);
        if side == Side::Left {
            node.insert(slot, new, moved, marked);
            node.add(slot + 1, moved.wrapping_neg());
        } else {
            node.add(slot, moved.wrapping_neg());
            node.insert(slot + 1, new, moved, marked);
        }
        self.set_parent(level, new, target);
        if split != EMPTY {
            self.summarise_inner(parent);
            self.summarise_inner(split);
            self.add_kid(parent, split, level + 1, Side::Right);
        }
    }

    /// Puts a new root above the old one and its new sibling.
    fn grow_root(&mut self, child: u32, new: u32, level: u16, side: Side) {
        let mut root = Inner::new(level + 1);
        let pair = if side == Side::Left { [new, child] } else { [child, new] };
        for kid in pair {
            let (width, marked) = self.brief(level, kid);
            root.push(kid, width, marked);
        }
        let root = self.new_inner(root);
        self.set_parent(level, child, root);
        self.set_parent(level, new, root);
        self.root = root;
        self.height += 1;
        self.summarise_inner(root);
    }

    /// Moves the kids from `at` on to a new node, which has no parent yet.
    fn split_inner(&mut self, node: u32, at: usize) -> u32 {
        let right = self.inner[node as usize].split_off(at);
        let new = self.new_inner(right);
        self.adopt(new, 0..self.inner[new as usize].len());
        new
    }

    /// Makes `node` the parent of the kids in `slots`.
    pub(super) fn adopt(&mut self, node: u32, slots: std::ops::Range<usize>) {
        let level = self.inner[node as usize].level - 1;
        for slot in slots {
            self.set_parent(level, self.inner[node as usize].lane(slot), node);
        }
    }

    /// The total of a node, and whether it contains a mark.
    #[inline]
    fn brief(&self, level: u16, node: u32) -> (u32, bool) {
        if level == 0 {
            let leaf = &self.leaves[node as usize];
            (leaf.total(), leaf.marked != 0)
        } else {
            let inner = &self.inner[node as usize];
            (inner.total(), inner.marked != 0)
        }
    }

    #[inline]
    pub(super) fn parent(&self, level: u16, node: u32) -> u32 {
        if level == 0 { self.leaves[node as usize].parent } else { self.inner[node as usize].parent }
    }

    #[inline]
    pub(super) fn set_parent(&mut self, level: u16, node: u32, parent: u32) {
        if level == 0 {
            self.leaves[node as usize].parent = parent;
        } else {
            self.inner[node as usize].parent = parent;
        }
    }

    fn new_leaf(&mut self, leaf: Leaf) -> u32 {
        if self.free_leaf == EMPTY {
            return push_tight(&mut self.leaves, leaf);
        }
        let at = self.free_leaf;
        self.free_leaf = std::mem::replace(&mut self.leaves[at as usize], leaf).parent;
        at
    }

    fn new_inner(&mut self, inner: Inner) -> u32 {
        if self.free_inner == EMPTY {
            return push_tight(&mut self.inner, inner);
        }
        let at = self.free_inner;
        self.free_inner = std::mem::replace(&mut self.inner[at as usize], inner).parent;
        at
    }
}

/// Appends to a `Vec` that grows by a quarter: doubling would cost as much memory as the nodes themselves, and
/// most sequences are so short that one leaf holds them.
fn push_tight<T>(nodes: &mut Vec<T>, node: T) -> u32 {
    if nodes.len() == nodes.capacity() {
        nodes.reserve_exact(if nodes.is_empty() { 1 } else { (nodes.len() / 4).max(2) });
    }
    nodes.push(node);
    nodes.len() as u32 - 1
}
