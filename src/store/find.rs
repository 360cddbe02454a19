//! Finding positions in a sequence: by index, and the index of an item.
//!
//! Order of attempts: the search marker and its neighbours, then the position tree, then (a short sequence) a walk.

use super::content::width;
use super::{Store, TreeRead};
use crate::block::index::{BranchIdx, ItemIdx};
use crate::block::item::Item;
use crate::branch::node::{SearchMarker, TREE_MIN};
use crate::branch::tree::Tree;

/// How many neighbours of the search marker are looked at before the tree is asked.
const MARKER_STEPS: u32 = 6;

impl Store {
    /// The visible item that contains `index` and the offset within it, both in the document's offset kind.
    /// `None` at or beyond the end.
    pub(crate) fn find(&self, branch: BranchIdx, index: u32) -> Option<(ItemIdx, u32)> {
        let node = &self.branches[branch];
        if index >= node.len {
            return None;
        }
        if node.marker.item.is_some()
            && let Some((item, start)) = self.find_near(node.marker, index)
        {
            return Some((item, index - start));
        }
        if let Some(tree) = &node.tree {
            return tree.find(index);
        }
        let mut at = node.start;
        let mut start = 0;
        while let Some(slot) = at.some() {
            let item = &self.items[slot];
            let width = self.visible_width(item);
            if index < start + width {
                return Some((slot, index - start));
            }
            start += width;
            at = item.right;
        }
        unreachable!("I3: branch {branch:?} has length {} but ends at {start}", node.len)
    }

    /// As [`Self::find`], and moves the search marker there; makes the tree of a long sequence if it is missing.
    #[inline]
    pub(crate) fn find_marked(&mut self, branch: BranchIdx, index: u32) -> Option<(ItemIdx, u32)> {
        let node = &self.branches[branch];
        if node.marker.item.is_some() {
            let SearchMarker { item: slot, index: start } = node.marker;
            if index >= start && index - start < self.visible_width(&self.items[slot]) {
                return Some((slot, index - start));
            }
        }
        if node.tree.is_none() && node.items > TREE_MIN {
            self.build_tree(branch);
        }
        let (slot, offset) = self.find(branch, index)?;
        self.branches[branch].marker = SearchMarker { item: slot, index: index - offset };
        Some((slot, offset))
    }

    /// The visible item that contains `index`, if it is close to the marker, and its start.
    fn find_near(&self, marker: SearchMarker, index: u32) -> Option<(ItemIdx, u32)> {
        let mut slot = marker.item;
        let mut start = marker.index;
        if index >= start {
            for _ in 0..MARKER_STEPS {
                let item = &self.items[slot];
                let width = self.visible_width(item);
                if index - start < width {
                    return Some((slot, start));
                }
                start += width;
                slot = item.right.some()?;
            }
        } else {
            for _ in 0..MARKER_STEPS {
                slot = self.items[slot].left.some()?;
                start -= self.visible_width(&self.items[slot]);
                if index >= start {
                    return Some((slot, start));
                }
            }
        }
        None
    }

    /// The index at which an item of a sequence starts, in the document's offset kind.
    pub(crate) fn index_of(&self, slot: ItemIdx) -> u32 {
        let node = &self.branches[self.items[slot].parent];
        if let Some(tree) = &node.tree {
            return tree.index_of(&TreeRead(self), slot);
        }
        let mut index = 0;
        let mut at = self.items[slot].left;
        while let Some(left) = at.some() {
            index += self.visible_width(&self.items[left]);
            at = self.items[left].left;
        }
        index
    }

    /// Whether `a` stands left of `b`; both are items of one sequence.
    pub(crate) fn is_left_of(&self, a: ItemIdx, b: ItemIdx) -> bool {
        let node = &self.branches[self.items[a].parent];
        if let Some(tree) = &node.tree {
            return tree.compare(&TreeRead(self), a, b).is_lt();
        }
        let mut at = self.items[a].right;
        while let Some(slot) = at.some() {
            if slot == b {
                return true;
            }
            at = self.items[slot].right;
        }
        false
    }

    /// Builds the position tree of a sequence anew.
    pub(crate) fn build_tree(&mut self, branch: BranchIdx) {
        let node = &self.branches[branch];
        let (count, mut at) = (node.items as usize, node.start);
        let (clients, kind) = (&self.clients, self.offset_kind);
        let mut view = Self::tree_view(&mut self.items, &self.contents);
        let tree = Tree::build(&mut view, count, |view| {
            let slot = at.some()?;
            let item = view.item(slot);
            at = item.right;
            Some((slot, if item.is_visible() { width(clients, kind, item) } else { 0 }))
        });
        self.branches[branch].tree = Some(Box::new(tree));
    }

    /// Forgets the search marker: something changed that it does not follow.
    #[inline]
    pub(crate) fn clear_marker(&mut self, branch: BranchIdx) {
        self.branches[branch].marker = SearchMarker::NONE;
    }

    /// Forgets the search marker of the sequence that holds `item`.
    pub(crate) fn clear_marker_of(&mut self, item: &Item) {
        if item.parent.is_some() {
            self.clear_marker(item.parent);
        }
    }
}
