//! `StickyIndex`: a place in a sequence that stays with its neighbour while others edit (Yjs: `RelativePosition`).
//!
//! It names the element that it sticks to by id, or else the type at whose end it is. Bytes, JSON and results are those of
//! Yjs; indices count in the document's offset kind. Making and resolving one costs O(log n).

use yatta_encoding::ID;

use crate::block::index::{BranchIdx, ItemIdx};
use crate::block::item::{Item, Kind};
use crate::engine::redo::follow_redone;
use crate::store::{OffsetKind, Store};
use crate::transaction::{Branch, BranchID, BranchPtr};
use crate::types::ReadTxn;

pub use crate::ids::{Assoc, IndexScope, StickyIndex};

#[cfg(test)]
mod tests;
mod wire;

impl StickyIndex {
    /// Makes the place at the end of a type (after) or at its start (before).
    pub fn from_type<T, B>(_txn: &T, branch: &B, assoc: Assoc) -> Self
    where
        T: ReadTxn,
        B: AsRef<Branch>,
    {
        Self::new(IndexScope::from_id(branch.as_ref().id()), assoc)
    }

    /// Returns the type and index where the place is now. Where the element was deleted and brought back by an undo of
    /// this peer, its copy counts. `None` if the element or type is not here yet, or was collected. Cost O(log n).
    #[doc(alias = "createAbsolutePositionFromRelativePosition")]
    pub fn get_offset<T: ReadTxn>(&self, txn: &T) -> Option<Offset> {
        self.resolve(txn.store(), true)
    }

    /// As [`Self::get_offset`], without following what an undo brought back: other peers cannot do that, and so get this
    /// result. Cost O(log n).
    pub fn get_offset_without_undo<T: ReadTxn>(&self, txn: &T) -> Option<Offset> {
        self.resolve(txn.store(), false)
    }

    fn resolve(&self, store: &Store, follow: bool) -> Option<Offset> {
        let (branch, index) = match &self.scope {
            IndexScope::Relative(id) => {
                let (slot, units) = element(store, *id, follow)?;
                let branch = store.items[slot].parent;
                (branch, index_beside(store, branch, slot, units, self.assoc))
            }
            IndexScope::Nested(id) => {
                let (slot, _) = element(store, *id, follow)?;
                let branch = store.held_type(&store.items[slot])?;
                (branch, edge(store, branch, self.assoc))
            }
            IndexScope::Root(name) => {
                let branch = *store.roots.get(name.as_ref())?;
                (branch, edge(store, branch, self.assoc))
            }
        };
        Some(Offset { branch: BranchPtr::of(store, branch), index, assoc: self.assoc })
    }

    /// Makes the place at `index` of a sequence (in the document's offset kind). At the end, a place that stays with what
    /// comes after is the end of the type; at the start, one that stays with what is before is its start. `None` beyond
    /// the end. An index within a character is rounded down to its start. Cost O(log n).
    #[doc(alias = "createRelativePositionFromTypeIndex")]
    pub fn at<T: ReadTxn>(txn: &T, branch: BranchPtr, index: u32, assoc: Assoc) -> Option<Self> {
        let store = txn.store();
        let idx = branch.resolve(store)?;
        let len = store.branches[idx].len;
        if index > len {
            return None;
        }
        let place = match assoc {
            Assoc::After => index,
            Assoc::Before if index == 0 => return Some(Self::from_type(txn, &branch, assoc)),
            Assoc::Before => index - 1,
        };
        let Some((slot, offset)) = store.find(idx, place) else {
            return Some(Self::from_type(txn, &branch, assoc));
        };
        let item = &store.items[slot];
        let units = match assoc {
            Assoc::After => store.units(item, offset),
            // The last unit of the character that ends at the index.
            Assoc::Before => store.units(item, offset + 1).max(1) - 1,
        };
        let mut id = store.public_id(item.id);
        id.clock += units;
        Some(Self::from_id(id, assoc))
    }
}

/// The item that holds the element of this id, or its last copy, and the offset in clock units.
fn element(store: &Store, id: ID, follow: bool) -> Option<(ItemIdx, u32)> {
    let known = store.known_id(id)?;
    if known.clock >= store.state(known.client) {
        return None;
    }
    let (slot, offset) = if follow {
        follow_redone(store, known)
    } else {
        let slot = store.item_at(known);
        (slot, known.clock - store.items[slot].id.clock)
    };
    store.items[slot].is_item().then_some((slot, offset))
}

/// The index beside an element. In a deleted type it is 0.
fn index_beside(store: &Store, branch: BranchIdx, slot: ItemIdx, units: u32, assoc: Assoc) -> u32 {
    let item = &store.items[slot];
    if store.is_branch_deleted(branch) {
        return 0;
    }
    let start = if item.key().is_some() { 0 } else { store.index_of(slot) };
    if !item.is_visible() {
        return start;
    }
    let units = if assoc == Assoc::After { units } else { units + 1 };
    start + width_of_units(store, item, units)
}

/// The first `units` clock units of an item in the document's offset kind.
fn width_of_units(store: &Store, item: &Item, units: u32) -> u32 {
    if store.offset_kind == OffsetKind::Utf16 || item.kind() != Kind::String || units == 0 {
        return units;
    }
    if units >= item.len {
        return store.width(item);
    }
    let byte = if store.text(item).len() as u32 == item.len {
        item.content + units
    } else {
        store.client(item.id.client).text.byte_at(item.content, units).0
    };
    byte - item.content
}

/// The end (after) or start (before) of a type.
fn edge(store: &Store, branch: BranchIdx, assoc: Assoc) -> u32 {
    if assoc == Assoc::After { store.branches[branch].len } else { 0 }
}

impl IndexScope {
    /// Makes the scope that is a type.
    pub fn from_branch(branch: BranchPtr) -> Self {
        Self::from_id(branch.id())
    }

    fn from_id(id: BranchID) -> Self {
        match id {
            BranchID::Nested(id) => Self::Nested(id),
            BranchID::Root(name) => Self::Root(name),
        }
    }
}

/// A sequence in which places can stick to their neighbours.
pub trait IndexedSequence: AsRef<Branch> {
    /// Makes the place at `index` (in the document's offset kind); `None` beyond the end. See [`StickyIndex::at`].
    fn sticky_index<T: ReadTxn>(&self, txn: &T, index: u32, assoc: Assoc) -> Option<StickyIndex> {
        StickyIndex::at(txn, BranchPtr::from(self.as_ref()), index, assoc)
    }
}

impl IndexedSequence for crate::types::TextRef {}
impl IndexedSequence for crate::types::array::ArrayRef {}
impl IndexedSequence for crate::types::xml::XmlElementRef {}
impl IndexedSequence for crate::types::xml::XmlFragmentRef {}
impl IndexedSequence for crate::types::xml::XmlTextRef {}

/// Where a place is now.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Offset {
    /// The type.
    pub branch: BranchPtr,
    /// The index in it, in the document's offset kind.
    pub index: u32,
    /// Which neighbour the place stays with.
    pub assoc: Assoc,
}
