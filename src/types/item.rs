//! What stands for an item in the API after it was inserted: a view of it.

use std::sync::Arc;

use yatta_encoding::block::{HAS_ORIGIN, HAS_PARENT_SUB, HAS_RIGHT_ORIGIN};
use yatta_encoding::{Any, ID};

use super::Out;
use crate::block::index::ItemIdx;
use crate::block::item::{Flags, Item as Stored, Kind};
use crate::ids::BlockRange;
use crate::store::{OffsetKind, Store};
use crate::transaction::BranchPtr;

/// State bits of an item, numbered as in yrs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ItemFlags(u16);

impl ItemFlags {
    const KEEP: u16 = 1;
    const COUNTABLE: u16 = 1 << 1;
    const DELETED: u16 = 1 << 2;
    const MARKED: u16 = 1 << 3;
    const LINKED: u16 = 1 << 8;

    /// Makes flags of their bits.
    pub fn new(source: u16) -> Self {
        Self(source)
    }

    fn of(item: &Stored) -> Self {
        let bit = |when: bool, bit: u16| if when { bit } else { 0 };
        Self(
            bit(item.flags.has(Flags::KEEP), Self::KEEP)
                | bit(item.kind().is_countable(), Self::COUNTABLE)
                | bit(item.is_deleted(), Self::DELETED)
                | bit(item.flags.has(Flags::LINKED), Self::LINKED),
        )
    }

    /// Returns whether the item is kept from collection.
    pub fn is_keep(&self) -> bool {
        self.0 & Self::KEEP != 0
    }

    /// Marks as kept.
    pub fn set_keep(&mut self) {
        self.0 |= Self::KEEP;
    }

    /// Marks as not kept.
    pub fn clear_keep(&mut self) {
        self.0 &= !Self::KEEP;
    }

    /// Marks as counting for the length of its type.
    pub fn set_countable(&mut self) {
        self.0 |= Self::COUNTABLE;
    }

    /// Marks as not counting.
    pub fn clear_countable(&mut self) {
        self.0 &= !Self::COUNTABLE;
    }

    /// Returns whether the item counts for the length of its type as long as it is not deleted.
    pub fn is_countable(&self) -> bool {
        self.0 & Self::COUNTABLE != 0
    }

    /// Marks as deleted.
    pub fn set_deleted(&mut self) {
        self.0 |= Self::DELETED;
    }

    /// Returns whether the item is deleted.
    pub fn is_deleted(&self) -> bool {
        self.0 & Self::DELETED != 0
    }

    /// Returns a bit that yrs reserves for search markers; never set here.
    pub fn is_marked(&self) -> bool {
        self.0 & Self::MARKED != 0
    }

    /// Returns whether a weak link quotes the item.
    pub fn is_linked(&self) -> bool {
        self.0 & Self::LINKED != 0
    }

    /// Marks as quoted.
    pub fn set_linked(&mut self) {
        self.0 |= Self::LINKED;
    }

    /// Marks as not quoted.
    pub fn clear_linked(&mut self) {
        self.0 &= !Self::LINKED;
    }
}

impl From<ItemFlags> for u16 {
    fn from(flags: ItemFlags) -> Self {
        flags.0
    }
}

/// A block of content as it was when it was looked at.
#[derive(Clone, Debug)]
pub struct Item {
    id: ID,
    len: u32,
    /// The length in UTF-8 bytes, for text.
    bytes: u32,
    /// The first byte on the wire.
    info: u8,
    flags: ItemFlags,
    value: Out,
}

impl Item {
    fn of(store: &Store, slot: ItemIdx) -> Self {
        let item = &store.items[slot];
        let bit = |when: bool, bit: u8| if when { bit } else { 0 };
        Self {
            id: store.public_id(item.id),
            len: item.len,
            bytes: if item.kind() == Kind::String { store.text(item).len() as u32 } else { item.len },
            info: item.kind() as u8
                | bit(item.origin.is_some(), HAS_ORIGIN)
                | bit(item.right_origin.is_some(), HAS_RIGHT_ORIGIN)
                | bit(item.key().is_some(), HAS_PARENT_SUB),
            flags: ItemFlags::of(item),
            value: Out::last_of(store, slot).unwrap_or_default(),
        }
    }

    /// Returns the id of the first element.
    pub fn id(&self) -> &ID {
        &self.id
    }

    /// Returns the last element; text as a whole. Undefined for a format mark.
    pub fn value(&self) -> &Out {
        &self.value
    }

    /// Returns the ids of the elements.
    pub fn range(&self) -> BlockRange {
        BlockRange::new(self.id, self.len)
    }

    /// Returns the ids of the elements.
    pub fn block_range(&self) -> BlockRange {
        self.range()
    }

    /// Returns whether an element has this id.
    pub fn contains(&self, id: &ID) -> bool {
        self.range().contains(id)
    }

    /// Returns whether it was deleted.
    pub fn is_deleted(&self) -> bool {
        self.flags.is_deleted()
    }

    /// Returns whether it counts for the length of its type as long as it is not deleted.
    pub fn is_countable(&self) -> bool {
        self.flags.is_countable()
    }

    /// Returns the number of elements; of UTF-16 units for text.
    #[expect(clippy::len_without_is_empty, reason = "no item is empty")]
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Returns the number of elements; for text in this offset kind.
    pub fn content_len(&self, kind: OffsetKind) -> u32 {
        if kind == OffsetKind::Bytes { self.bytes } else { self.len }
    }

    /// Returns the id of the last element.
    pub fn last_id(&self) -> ID {
        ID::new(self.id.client, self.id.clock + self.len - 1)
    }

    /// Returns the first byte of the item on the wire: the kind of its content, and what follows.
    pub fn info(&self) -> u8 {
        self.info
    }
}

impl PartialEq for Item {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl std::fmt::Display for Item {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mark = if self.is_deleted() { "~" } else { "" };
        write!(f, "({}, len: {}: {mark}{}{mark})", self.id, self.len, self.value)
    }
}

impl crate::doc::Doc {
    /// Lets `filter` decide, when a transaction ends, whether the content of a deleted item is collected: it is kept where
    /// the answer is false, for good. The second argument is the type that held the item. What a collected type held is
    /// collected with it, without being asked about. A filter that panics keeps the content, and the panic goes on
    /// after the commit. It may not start transactions.
    #[doc(alias = "gcFilter")]
    pub fn set_gc_filter<F>(&self, filter: F)
    where
        F: Fn(&Item, &BranchPtr) -> bool + Send + Sync + 'static,
    {
        self.inner().events.set_gc_filter(Some(Arc::new(move |store: &Store, slot| {
            filter(&Item::of(store, slot), &BranchPtr::of(store, store.items[slot].parent))
        })));
    }

    /// Ends [`Self::set_gc_filter`]: all that is deleted from now on is collected.
    pub fn clear_gc_filter(&self) {
        self.inner().events.set_gc_filter(None);
    }
}

/// An item after it was inserted or read: a view that it can be read from later, not a pointer to what is stored.
#[derive(Clone, Debug)]
pub struct ItemPtr(Item);

impl ItemPtr {
    /// A view of an item.
    pub(crate) fn of(store: &Store, slot: ItemIdx) -> Self {
        Self(Item::of(store, slot))
    }

    /// The shared type that the item holds.
    pub(crate) fn branch(&self) -> Option<BranchPtr> {
        self.0.value.branch()
    }

    /// The value that the item holds.
    pub(crate) fn into_value(self) -> Out {
        self.0.value
    }
}

impl std::ops::Deref for ItemPtr {
    type Target = Item;

    fn deref(&self) -> &Item {
        &self.0
    }
}

impl From<&Item> for ItemPtr {
    fn from(item: &Item) -> Self {
        Self(item.clone())
    }
}

impl From<&mut Box<Item>> for ItemPtr {
    fn from(item: &mut Box<Item>) -> Self {
        Self((**item).clone())
    }
}

impl TryFrom<ItemPtr> for Any {
    type Error = ItemPtr;

    fn try_from(item: ItemPtr) -> Result<Self, ItemPtr> {
        match item.0.value {
            Out::Any(any) => Ok(any),
            _ => Err(item),
        }
    }
}

impl TryFrom<ItemPtr> for BranchPtr {
    type Error = ItemPtr;

    fn try_from(item: ItemPtr) -> Result<Self, ItemPtr> {
        item.branch().ok_or(item)
    }
}

impl std::fmt::Display for ItemPtr {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "({})", self.id())
    }
}

impl PartialEq for ItemPtr {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl Eq for ItemPtr {}

impl std::hash::Hash for ItemPtr {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.id.hash(state);
    }
}

/// What inserting a plain value returns: nothing of use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unused;

impl TryFrom<ItemPtr> for Unused {
    type Error = ItemPtr;

    #[inline]
    fn try_from(_: ItemPtr) -> Result<Self, Self::Error> {
        Ok(Self)
    }
}
