//! Format marks in the position tree: the last live mark of each key, before any item.
//!
//! Each node has a bit for each lane that is, or contains, a live mark (`Node::marked`), and a summary: the last
//! mark of each key, sorted by key. Looking up climbs from the item to the root and takes from what stands left of
//! the way; a change of one mark updates its key in each node above, and stops where nothing changed. Both are
//! O(log n) for each key. The summaries stand apart from the nodes and are made with the first mark.

use super::node::{EMPTY, below};
use super::{Entries, Marks, Tree};
use crate::block::index::{ItemIdx, KeyIdx};

type Summary = Vec<(KeyIdx, ItemIdx)>;

/// The summary of each leaf and inner node; what is beyond the end of a list has no marks.
#[derive(Debug, Clone, Default)]
pub(super) struct Summaries {
    leaves: Vec<Summary>,
    inner: Vec<Summary>,
}

impl Summaries {
    fn list(&mut self, level: u16) -> &mut Vec<Summary> {
        if level == 0 { &mut self.leaves } else { &mut self.inner }
    }

    pub(super) fn get(&self, level: u16, node: u32) -> &[(KeyIdx, ItemIdx)] {
        let list = if level == 0 { &self.leaves } else { &self.inner };
        list.get(node as usize).map_or(&[], Vec::as_slice)
    }

    fn set(&mut self, level: u16, node: u32, summary: Summary) {
        let list = self.list(level);
        if list.len() <= node as usize {
            if summary.is_empty() {
                return;
            }
            list.resize_with(node as usize + 1, Vec::new);
        }
        list[node as usize] = summary;
    }

    /// Sets the last mark of `key`, `None` if there is none left. Says whether that changed anything.
    fn set_key(&mut self, level: u16, node: u32, key: KeyIdx, last: Option<ItemIdx>) -> bool {
        let list = self.list(level);
        if list.len() <= node as usize {
            list.resize_with(node as usize + 1, Vec::new);
        }
        let summary = &mut list[node as usize];
        match (summary.binary_search_by_key(&key, |mark| mark.0), last) {
            (Ok(at), Some(item)) => std::mem::replace(&mut summary[at].1, item) != item,
            (Ok(at), None) => {
                summary.remove(at);
                true
            }
            (Err(at), Some(item)) => {
                summary.insert(at, (key, item));
                true
            }
            (Err(_), None) => false,
        }
    }

    fn last_of(&self, level: u16, node: u32, key: KeyIdx) -> Option<ItemIdx> {
        let summary = self.get(level, node);
        summary.binary_search_by_key(&key, |mark| mark.0).ok().map(|at| summary[at].1)
    }
}

impl Tree {
    /// Updates the summaries after the mark of `item` appeared or vanished. To be called before anything else
    /// is done with the tree; `item` is in it.
    pub(crate) fn mark_changed(&mut self, entries: &impl Entries, item: ItemIdx) {
        let (leaf, slot) = self.place(entries, item);
        let key = entries.mark(item);
        if key.is_some() {
            self.leaves[leaf as usize].set_marked(slot, true);
            self.update_key(entries, leaf, key);
        } else if self.leaves[leaf as usize].marked >> slot & 1 != 0 {
            self.unmark(entries, leaf, slot);
        }
    }

    /// Fills `out` with the last live mark of each key strictly before `item`, sorted by key.
    pub(crate) fn marks_before(&self, entries: &impl Entries, item: ItemIdx, out: &mut Marks) {
        out.clear();
        let Some(summaries) = &self.summaries else { return };
        let all = summaries.get(self.height as u16, self.root).len();
        if all == 0 {
            return;
        }
        let (leaf, slot) = self.place(entries, item);
        let node = &self.leaves[leaf as usize];
        for slot in ones_from_last(node.marked & below(slot)) {
            let item = ItemIdx(node.lane(slot));
            offer(out, entries.mark(item), item);
        }
        let (mut child, mut at, mut level) = (leaf, node.parent, 0);
        while at != EMPTY && out.len() < all {
            let node = &self.inner[at as usize];
            for slot in ones_from_last(node.marked & below(node.slot_of(child))) {
                for &(key, item) in summaries.get(level, node.lane(slot)) {
                    offer(out, key, item);
                }
            }
            (child, at, level) = (at, node.parent, level + 1);
        }
    }

    /// Fills `out` with the last live mark of each key of the whole sequence, sorted by key.
    pub(crate) fn last_marks(&self, out: &mut Marks) {
        out.clear();
        out.extend_from_slice(self.summary(self.height as u16, self.root));
    }

    pub(super) fn summary(&self, level: u16, node: u32) -> &[(KeyIdx, ItemIdx)] {
        self.summaries.as_ref().map_or(&[], |summaries| summaries.get(level, node))
    }

    /// Clears the bit of an entry whose mark vanished, or which is about to be removed.
    pub(super) fn unmark(&mut self, entries: &impl Entries, leaf: u32, slot: usize) {
        let node = &mut self.leaves[leaf as usize];
        node.set_marked(slot, false);
        let item = ItemIdx(node.lane(slot));
        // The item may have lost its key already. Where it is not the last of its key, no summary names it.
        let key = self.summary(0, leaf).iter().find(|mark| mark.1 == item).map(|mark| mark.0);
        if let Some(key) = key {
            self.update_key(entries, leaf, key);
        }
    }

    /// Sets the last mark of `key` in a leaf, where something changed, and in the nodes above.
    pub(super) fn update_key(&mut self, entries: &impl Entries, leaf: u32, key: KeyIdx) {
        let summaries = self.summaries.get_or_insert_default();
        let node = &self.leaves[leaf as usize];
        let mut items = ones_from_last(node.marked).map(|slot| ItemIdx(node.lane(slot)));
        let last = items.find(|&item| entries.mark(item) == key);
        if !summaries.set_key(0, leaf, key, last) {
            return;
        }
        let (mut child, mut at, mut level) = (leaf, node.parent, 0);
        let mut marked = node.marked != 0;
        while at != EMPTY {
            let node = &mut self.inner[at as usize];
            node.set_marked(node.slot_of(child), marked);
            let last =
                ones_from_last(node.marked).find_map(|slot| summaries.last_of(level, node.lane(slot), key));
            marked = node.marked != 0;
            level += 1;
            if !summaries.set_key(level, at, key, last) {
                return;
            }
            (child, at) = (at, node.parent);
        }
    }

    /// Makes the summary of a leaf anew.
    pub(super) fn summarise_leaf(&mut self, entries: &impl Entries, leaf: u32) {
        let node = &self.leaves[leaf as usize];
        let mut marks = Marks::new();
        for slot in ones_from_last(node.marked) {
            let item = ItemIdx(node.lane(slot));
            offer(&mut marks, entries.mark(item), item);
        }
        if let Some(summaries) = &mut self.summaries {
            summaries.set(0, leaf, marks.to_vec());
        }
    }

    /// Makes the summary of an inner node anew from those of its kids.
    pub(super) fn summarise_inner(&mut self, at: u32) {
        let Some(summaries) = &mut self.summaries else { return };
        let node = &self.inner[at as usize];
        let mut marks = Marks::new();
        for slot in ones_from_last(node.marked) {
            for &(key, item) in summaries.get(node.level - 1, node.lane(slot)) {
                offer(&mut marks, key, item);
            }
        }
        summaries.set(node.level, at, marks.to_vec());
    }

    /// Makes all summaries of a tree that was just built; kids stand before their parents.
    pub(super) fn summarise_all(&mut self, entries: &impl Entries) {
        if self.leaves.iter().all(|leaf| leaf.marked == 0) {
            return;
        }
        self.summaries = Some(Box::default());
        for leaf in 0..self.leaves.len() {
            self.summarise_leaf(entries, leaf as u32);
        }
        for inner in 0..self.inner.len() {
            self.summarise_inner(inner as u32);
        }
    }

    /// Empties the summary of a leaf that goes to the free list.
    pub(super) fn forget_leaf(&mut self, leaf: u32) {
        if let Some(summaries) = &mut self.summaries {
            summaries.set(0, leaf, Vec::new());
        }
    }

    /// Empties the summary of an inner node that goes to the free list.
    pub(super) fn forget_inner(&mut self, inner: u32) {
        if let Some(summaries) = &mut self.summaries {
            summaries.set(1, inner, Vec::new());
        }
    }
}

/// Adds a mark unless one of its key, which is further right, is there.
fn offer(marks: &mut Marks, key: KeyIdx, item: ItemIdx) {
    if key.is_some()
        && let Err(at) = marks.binary_search_by_key(&key, |mark| mark.0)
    {
        marks.insert(at, (key, item));
    }
}

/// The bits that are set, the highest first.
fn ones_from_last(bits: u32) -> impl Iterator<Item = usize> {
    let mut left = bits;
    std::iter::from_fn(move || {
        let slot = left.checked_ilog2()?;
        left &= !(1 << slot);
        Some(slot as usize)
    })
}
