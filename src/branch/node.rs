//! The node of a shared type: its children as a list and as a map, its length and the ways to find a position.
//!
//! Invariants: I3 `len` is the sum of the live countable widths and so at every node of the tree; I4 a map entry is
//! the rightmost item of its key; I5 the search marker names a live item at its true index.
//!
//! Finding a position costs O(1) beside the marker and O(log n) elsewhere; a type of at most [`TREE_MIN`] items
//! has no tree and is walked.

use std::any::Any as StdAny;
use std::sync::{Arc, OnceLock};

use rustc_hash::FxHashMap;

use yatta_encoding::block::WeakTag;

use super::tree::Tree;
use crate::block::index::{BranchIdx, ItemIdx, KeyIdx};

/// Sequences of more items than this get a position tree. Below it a walk over neighbours is as fast.
pub(crate) const TREE_MIN: u32 = 32;

/// The kind of a shared type, as on the wire.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tag {
    /// One of the `TYPE_REFS_*` numbers.
    pub(crate) kind: u8,
    /// The node name of an XML element or hook.
    pub(crate) name: Option<Arc<str>>,
    /// What a weak link links.
    pub(crate) link: Option<Arc<WeakTag<'static>>>,
}

impl Tag {
    pub(crate) const fn of(kind: u8) -> Self {
        Self { kind, name: None, link: None }
    }
}

/// A search marker: a live item and the index at which it starts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SearchMarker {
    pub(crate) item: ItemIdx,
    pub(crate) index: u32,
}

impl SearchMarker {
    pub(crate) const NONE: Self = Self { item: ItemIdx::NONE, index: 0 };
}

/// The keys of a map and the newest item of each, in the order in which the keys first came.
#[derive(Default, Debug)]
pub(crate) struct Entries {
    list: Vec<(KeyIdx, ItemIdx)>,
    /// The place of each key in `list`, once there are many.
    index: Option<Box<FxHashMap<KeyIdx, u32>>>,
}

/// Maps of more keys than this are hashed; below it a scan of the list is faster and smaller.
const HASH_MIN: usize = 12;

impl Entries {
    fn place(&self, key: KeyIdx) -> Option<usize> {
        // Keys are numbered as they come: those of a large map, or of many small ones alike, follow each other.
        let guess = key.get().wrapping_sub(self.list.first()?.0.get());
        if self.list.get(guess).is_some_and(|entry| entry.0 == key) {
            return Some(guess);
        }
        match &self.index {
            Some(index) => index.get(&key).map(|place| *place as usize),
            None => self.list.iter().position(|entry| entry.0 == key),
        }
    }

    /// The newest item of `key`, or `NONE`.
    pub(crate) fn get(&self, key: KeyIdx) -> ItemIdx {
        self.place(key).map_or(ItemIdx::NONE, |place| self.list[place].1)
    }

    pub(crate) fn set(&mut self, key: KeyIdx, item: ItemIdx) {
        if let Some(place) = self.place(key) {
            self.list[place].1 = item;
            return;
        }
        let place = self.list.len() as u32;
        self.list.push((key, item));
        if let Some(index) = &mut self.index {
            index.insert(key, place);
        } else if self.list.len() > HASH_MIN {
            let all = self.list.iter().enumerate().map(|(place, entry)| (entry.0, place as u32));
            self.index = Some(Box::new(all.collect()));
        }
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (KeyIdx, ItemIdx)> + '_ {
        self.list.iter().copied()
    }

    /// The entry at a place of the list: lets a caller iterate while it changes other parts of the store.
    pub(crate) fn at(&self, place: usize) -> Option<(KeyIdx, ItemIdx)> {
        self.list.get(place).copied()
    }
}

/// What a node needs of the handle that users hold, which is a type of a higher layer.
pub(crate) trait NodeHandle: StdAny + Send + Sync {
    /// The type was deleted.
    fn note_deleted(&self);

    /// The sequence has this many elements.
    fn note_len(&self, len: u32);

    /// Whether somebody listens to changes within the type.
    fn has_deep_observers(&self) -> bool;

    /// The handle as it is.
    fn into_any(self: Arc<Self>) -> Arc<dyn StdAny + Send + Sync>;
}

impl std::fmt::Debug for dyn NodeHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("NodeHandle")
    }
}

/// The node of a shared type.
#[derive(Debug)]
pub(crate) struct BranchNode {
    pub(crate) tag: Tag,
    /// The item that holds this type; none for a root.
    pub(crate) item: ItemIdx,
    /// The name of a root.
    pub(crate) name: Option<Arc<str>>,
    pub(crate) start: ItemIdx,
    pub(crate) end: ItemIdx,
    pub(crate) map: Entries,
    /// The visible length in the units of the document's offset kind.
    pub(crate) len: u32,
    /// Linked items of the sequence, deleted ones included.
    pub(crate) items: u32,
    pub(crate) tree: Option<Box<Tree>>,
    pub(crate) marker: SearchMarker,
    /// A format mark was linked at some time.
    pub(crate) has_formats: bool,
    /// The handle that users hold, made when it is first asked for.
    pub(crate) handle: OnceLock<Arc<dyn NodeHandle>>,
    /// Counts the types that lived in this slot, so that a handle of a collected type is told from a live one.
    pub(crate) generation: u32,
}

impl BranchNode {
    pub(crate) fn new(tag: Tag, item: ItemIdx, name: Option<Arc<str>>) -> Self {
        Self {
            tag,
            item,
            name,
            start: ItemIdx::NONE,
            end: ItemIdx::NONE,
            map: Entries::default(),
            len: 0,
            items: 0,
            tree: None,
            marker: SearchMarker::NONE,
            has_formats: false,
            handle: OnceLock::new(),
            generation: 0,
        }
    }
}

/// All shared types of a document.
#[derive(Default)]
pub(crate) struct Branches {
    nodes: Vec<BranchNode>,
    free: Vec<BranchIdx>,
}

impl Branches {
    pub(crate) fn alloc(&mut self, mut node: BranchNode) -> BranchIdx {
        if let Some(slot) = self.free.pop() {
            node.generation = self.nodes[slot.get()].generation;
            self.nodes[slot.get()] = node;
            return slot;
        }
        self.nodes.push(node);
        BranchIdx(self.nodes.len() as u32 - 1)
    }

    /// Frees the slot of a collected type; its handles become stale.
    pub(crate) fn free(&mut self, slot: BranchIdx) {
        let generation = self.nodes[slot.get()].generation + 1;
        let mut node = BranchNode::new(Tag::of(15), ItemIdx::NONE, None);
        node.generation = generation;
        self.nodes[slot.get()] = node;
        self.free.push(slot);
    }

    /// The node in `slot` if it is still the one that had this generation.
    pub(crate) fn live(&self, slot: BranchIdx, generation: u32) -> Option<&BranchNode> {
        self.nodes.get(slot.get()).filter(|node| node.generation == generation)
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }
}

impl std::ops::Index<BranchIdx> for Branches {
    type Output = BranchNode;

    #[inline]
    fn index(&self, slot: BranchIdx) -> &BranchNode {
        &self.nodes[slot.get()]
    }
}

impl std::ops::IndexMut<BranchIdx> for Branches {
    #[inline]
    fn index_mut(&mut self, slot: BranchIdx) -> &mut BranchNode {
        &mut self.nodes[slot.get()]
    }
}
