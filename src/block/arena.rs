//! The paged arena of all blocks of a document.
//!
//! Pages of 256 slots never move, so growing copies nothing and wastes at most one page; freed slots are reused. Only the
//! first page starts small and grows: most documents of a server are. Access costs two index operations.

use std::ops::{Index, IndexMut};

use super::index::{ItemIdx, LeafIdx};
use super::item::{Flags, Item};

const PAGE: usize = 256;

/// The room of the first page to begin with.
const FIRST: usize = 4;

/// All blocks, addressed by [`ItemIdx`].
#[derive(Default)]
pub(crate) struct Arena {
    /// All pages but the last are full.
    pages: Vec<Vec<Item>>,
    used: usize,
    free: Vec<ItemIdx>,
}

impl Arena {
    /// Stores an item and returns its slot.
    #[inline]
    pub(crate) fn alloc(&mut self, item: Item) -> ItemIdx {
        if let Some(slot) = self.free.pop() {
            self[slot] = item;
            return slot;
        }
        if self.used == self.pages.len() * PAGE {
            let room = if self.used == 0 { FIRST } else { PAGE };
            self.pages.push(Vec::with_capacity(room));
        }
        let slot = ItemIdx(self.used as u32);
        assert!(slot.is_some(), "a document holds at most 2^32 - 1 blocks");
        self.pages[self.used / PAGE].push(item);
        self.used += 1;
        slot
    }

    /// Gives a slot back.
    #[inline]
    pub(crate) fn free(&mut self, slot: ItemIdx) {
        debug_assert!(!self[slot].flags.has(Flags::FREE), "I10: {slot:?} freed twice");
        self[slot] = Item::EMPTY;
        self.free.push(slot);
    }

    /// The number of slots in use.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.used - self.free.len()
    }
}

impl Index<ItemIdx> for Arena {
    type Output = Item;

    #[inline]
    fn index(&self, slot: ItemIdx) -> &Item {
        &self.pages[slot.get() / PAGE][slot.get() % PAGE]
    }
}

impl IndexMut<ItemIdx> for Arena {
    #[inline]
    fn index_mut(&mut self, slot: ItemIdx) -> &mut Item {
        &mut self.pages[slot.get() / PAGE][slot.get() % PAGE]
    }
}

impl Arena {
    #[inline]
    pub(crate) fn set_leaf(&mut self, slot: ItemIdx, leaf: LeafIdx) {
        let item = &mut self[slot];
        debug_assert!(!item.flags.has(Flags::MAP), "{slot:?} is a map entry, it has no leaf");
        item.place = leaf.0;
    }
}
