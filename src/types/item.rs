//! What stands for an item in the API: its content before it is inserted, and a view of it afterwards.

use std::sync::Arc;

use yatta_encoding::{Any, ID};

use super::{Out, TypeRef};
use crate::block::index::ItemIdx;
use crate::doc::Doc;
use crate::store::Store;
use crate::transaction::BranchPtr;

/// A string that is about to be inserted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SplittableString(String);

impl SplittableString {
    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for SplittableString {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

/// Content of an item that is about to be inserted.
#[derive(Clone, Debug, PartialEq)]
pub enum ItemContent {
    /// Plain values.
    Any(Vec<Any>),
    /// Bytes.
    Binary(Vec<u8>),
    /// So many deleted elements.
    Deleted(u32),
    /// A sub-document, with the document that it becomes part of.
    Doc(Option<Doc>, Doc),
    /// JSON texts (legacy).
    JSON(Vec<String>),
    /// An embedded value of a text.
    Embed(Any),
    /// A format mark.
    Format(Arc<str>, Box<Any>),
    /// Text.
    String(SplittableString),
    /// A shared type of this kind.
    Type(TypeRef),
}

/// An item after it was inserted or read.
#[derive(Clone, Debug)]
pub struct ItemPtr {
    id: ID,
    value: Out,
}

impl ItemPtr {
    /// A view of the last element of an item.
    pub(crate) fn of(store: &Store, slot: ItemIdx) -> Self {
        Self {
            id: store.public_id(store.items[slot].last_id()),
            value: Out::last_of(store, slot).unwrap_or_default(),
        }
    }

    /// Returns the id.
    pub fn id(&self) -> &ID {
        &self.id
    }

    /// The shared type that the item holds.
    pub(crate) fn branch(&self) -> Option<BranchPtr> {
        self.value.branch()
    }

    /// The value that the item holds.
    pub(crate) fn into_value(self) -> Out {
        self.value
    }
}

impl PartialEq for ItemPtr {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for ItemPtr {}

impl std::hash::Hash for ItemPtr {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.id.hash(state);
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
