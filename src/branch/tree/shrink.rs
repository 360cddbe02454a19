//! How the position tree shrinks: removing an entry, freeing what became empty, merging what became sparse.
//!
//! A node that is a quarter full or less is merged with a sibling under the same parent if the two leave a quarter
//! of the room, so that the next insertion does not split them again.

use super::grow::Side;
use super::node::EMPTY;
use super::{Entries, FANOUT, LEAF, Tree};
use crate::block::index::{ItemIdx, LeafIdx};

const LEAF_SPARSE: usize = LEAF / 4;
const LEAF_MERGED: usize = LEAF - LEAF / 4;
// The smallest fan-out (under test) has no quarter.
const INNER_SPARSE: usize = if FANOUT < 4 { 1 } else { FANOUT / 4 };
const INNER_MERGED: usize = FANOUT - INNER_SPARSE;

impl Tree {
    /// Takes `item` out.
    pub(crate) fn remove(&mut self, entries: &mut impl Entries, item: ItemIdx) {
        self.settle();
        if self.warm == item {
            self.warm = ItemIdx::NONE;
        }
        let (leaf, slot) = self.place(entries, item);
        if self.leaves[leaf as usize].marked >> slot & 1 != 0 {
            self.unmark(entries, leaf, slot);
        }
        let node = &mut self.leaves[leaf as usize];
        let width = node.width(slot);
        node.remove(slot);
        let (len, parent) = (node.len(), node.parent);
        entries.set_leaf(item, LeafIdx::NONE);
        self.count -= 1;
        if width != 0 {
            self.add_above(leaf, parent, width.wrapping_neg());
        }
        if len <= LEAF_SPARSE {
            self.shrink_leaf(entries, leaf);
        }
    }

    #[cold]
    fn shrink_leaf(&mut self, entries: &mut impl Entries, leaf: u32) {
        let (len, parent) = (self.leaves[leaf as usize].len(), self.leaves[leaf as usize].parent);
        if parent == EMPTY {
            if len == 0 {
                self.free_leaf(leaf);
                self.root = EMPTY;
            }
            return;
        }
        let slot = self.inner[parent as usize].slot_of(leaf);
        if len == 0 {
            self.free_leaf(leaf);
            self.inner[parent as usize].remove(slot);
            self.shrink_inner(parent);
            return;
        }
        let leaf_len = |lane: u32| self.leaves[lane as usize].len();
        let Some((sibling, side)) = self.sibling(parent, slot, LEAF_MERGED - len, leaf_len) else { return };
        let sparse = self.leaves[leaf as usize].clone();
        for &item in sparse.lanes() {
            entries.set_leaf(ItemIdx(item), LeafIdx(sibling));
        }
        self.leaves[sibling as usize].absorb(&sparse, side == Side::Right);
        if sparse.marked != 0 {
            self.summarise_leaf(entries, sibling);
        }
        self.free_leaf(leaf);
        self.merge_lanes(parent, slot, side);
        self.shrink_inner(parent);
    }

    /// Sees to an inner node that lost a kid: frees it if empty, merges it if sparse, and lowers the root.
    fn shrink_inner(&mut self, node: u32) {
        let (len, parent) = (self.inner[node as usize].len(), self.inner[node as usize].parent);
        if parent == EMPTY {
            self.lower_root();
            return;
        }
        if len > INNER_SPARSE {
            return;
        }
        let slot = self.inner[parent as usize].slot_of(node);
        if len == 0 {
            self.free_inner(node);
            self.inner[parent as usize].remove(slot);
            self.shrink_inner(parent);
            return;
        }
        let inner_len = |lane: u32| self.inner[lane as usize].len();
        let Some((sibling, side)) = self.sibling(parent, slot, INNER_MERGED - len, inner_len) else { return };
        let sparse = self.inner[node as usize].clone();
        let target = &mut self.inner[sibling as usize];
        let first = if side == Side::Right { 0 } else { target.len() };
        target.absorb(&sparse, side == Side::Right);
        self.adopt(sibling, first..first + len);
        if sparse.marked != 0 {
            self.summarise_inner(sibling);
        }
        self.free_inner(node);
        self.merge_lanes(parent, slot, side);
        self.shrink_inner(parent);
    }

    /// A sibling of the kid at `slot` with at most `most` lanes.
    fn sibling(
        &self,
        parent: u32,
        slot: usize,
        most: usize,
        len: impl Fn(u32) -> usize,
    ) -> Option<(u32, Side)> {
        let lanes = self.inner[parent as usize].lanes();
        let fits = |at: usize| lanes.get(at).copied().filter(|&lane| len(lane) <= most);
        let left = slot.checked_sub(1).and_then(fits).map(|lane| (lane, Side::Left));
        left.or_else(|| fits(slot + 1).map(|lane| (lane, Side::Right)))
    }

    /// Adds what the kid at `slot` held to the sibling on `side`, which took it over, and drops its lane.
    fn merge_lanes(&mut self, parent: u32, slot: usize, side: Side) {
        let node = &mut self.inner[parent as usize];
        let (width, marked) = (node.width(slot), node.marked >> slot & 1 != 0);
        node.remove(slot);
        let taker = if side == Side::Left { slot - 1 } else { slot };
        node.add(taker, width);
        if marked {
            node.set_marked(taker, true);
        }
    }

    /// Takes away roots that have one kid or none.
    fn lower_root(&mut self) {
        while self.height > 0 && self.inner[self.root as usize].len() <= 1 {
            let old = self.root;
            let node = &self.inner[old as usize];
            if node.len() == 0 {
                (self.root, self.height) = (EMPTY, 0);
            } else {
                self.root = node.lane(0);
                self.height -= 1;
                self.set_parent(self.height as u16, self.root, EMPTY);
            }
            self.free_inner(old);
        }
    }

    fn free_leaf(&mut self, leaf: u32) {
        self.forget_leaf(leaf);
        self.leaves[leaf as usize].parent = self.free_leaf;
        self.free_leaf = leaf;
    }

    fn free_inner(&mut self, inner: u32) {
        self.forget_inner(inner);
        self.inner[inner as usize].parent = self.free_inner;
        self.free_inner = inner;
    }
}
