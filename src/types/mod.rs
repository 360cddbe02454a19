//! The shared types (layer 8): text, array, map, XML, and what they have in common.
//!
//! A type is a small handle ([`BranchPtr`]); every call takes a transaction and looks the node up in it. A handle whose
//! type was collected reads as empty, and writes to it do nothing. With a transaction of another document it reads as
//! empty, and writes panic: a write that is silently lost is worse. Calls that return an
//! [`EditError`](crate::error::EditError) return one in both cases.

pub mod array;
mod branch;
mod content;
mod copy;
mod events;
pub mod exact;
mod input;
mod item;
pub(crate) mod iter;
mod json;
pub mod map;
mod out;
mod prelim;
mod roots;
mod store;
mod subdoc;
pub mod text;
mod txn;
mod type_ref;
#[cfg(feature = "weak")]
pub mod weak;
pub mod xml;

use std::collections::VecDeque;
use std::sync::Arc;

use indexmap::IndexMap;
use yatta_encoding::Any;

use crate::transaction::{Branch, BranchPtr};

pub use content::{ItemContent, SplittableString};
pub use events::{Change, DeepObservable, EntryChange, Event, Events, EventsIter, Observable};
pub use input::In;
pub use item::{Item, ItemFlags, ItemPtr, Unused};
pub use map::{Map, MapRef};
pub use out::Out;
pub use prelim::{EmbedPrelim, Prelim};
pub use roots::{Hook, Nested, Root};
pub use text::{Text, TextRef};
pub use txn::{ReadTxn, RootRefs, WriteTxn};
pub use type_ref::TypeRef;
pub use yatta_encoding::block::{
    TYPE_REFS_ARRAY, TYPE_REFS_DOC, TYPE_REFS_MAP, TYPE_REFS_TEXT, TYPE_REFS_UNDEFINED, TYPE_REFS_WEAK,
    TYPE_REFS_XML_ELEMENT, TYPE_REFS_XML_FRAGMENT, TYPE_REFS_XML_HOOK, TYPE_REFS_XML_TEXT,
};

/// Formatting attributes, in the order in which they are written.
pub type Attrs = IndexMap<Arc<str>, Any>;

/// The way from a type down to one within it.
pub type Path = VecDeque<PathSegment>;

/// A step of a [`Path`].
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub enum PathSegment {
    /// Into the value of a map key or an attribute.
    Key(Arc<str>),
    /// Into the element at this index.
    Index(u32),
}

/// A type that users hold: made from a [`BranchPtr`] and leading back to it.
pub trait SharedRef: From<BranchPtr> + AsRef<Branch> {
    /// Returns a logical reference that needs no document: see [`Hook`].
    fn hook(&self) -> Hook<Self> {
        Hook::from(self.as_ref().id())
    }
}

/// A type that can be a root of a document.
pub trait RootRef: SharedRef {
    /// Returns the kind of this type.
    fn type_ref() -> TypeRef;

    /// Returns a logical reference to a root of this kind.
    fn root<N: Into<Arc<str>>>(name: N) -> Root<Self> {
        Root::new(name)
    }
}

/// A type that is text, or can be written as text.
pub trait GetString {
    /// Returns the text. Cost O(length).
    fn get_string<T: ReadTxn>(&self, txn: &T) -> String;
}

/// Anything that has a JSON form.
pub trait ToJson {
    /// Returns the value with all that it holds, as plain data. Cost O(size).
    fn to_json<T: ReadTxn>(&self, txn: &T) -> Any;
}

/// A type that can be copied into a preliminary one, to be inserted elsewhere.
pub trait AsPrelim {
    /// The preliminary type.
    type Prelim: Prelim<Return = Self>;

    /// Copies the content. Types nested deeper than 200 levels in it are copied as `undefined`, XML nodes are left out there:
    /// dropping a preliminary type recurses, and a peer may nest types deeper than a stack. Cost O(size).
    fn as_prelim<T: ReadTxn>(&self, txn: &T) -> Self::Prelim;
}

/// A type that can be made empty.
pub trait DefaultPrelim {
    /// The preliminary type.
    type Prelim: Prelim<Return = Self>;

    /// Returns an empty preliminary type.
    fn default_prelim() -> Self::Prelim;
}

/// One step of a change to a text: see [`Text::apply_delta`].
#[derive(Clone, Debug, PartialEq)]
pub enum Delta<T = Out> {
    /// Inserted content with its attributes.
    Inserted(T, Option<Box<Attrs>>),
    /// As much was deleted.
    Deleted(u32),
    /// As much stayed; with attributes it was formatted.
    Retain(u32, Option<Box<Attrs>>),
}

impl<T> Delta<T> {
    /// Converts what is inserted.
    pub fn map<U, F: FnOnce(T) -> U>(self, f: F) -> Delta<U> {
        match self {
            Self::Inserted(value, attributes) => Delta::Inserted(f(value), attributes),
            Self::Deleted(len) => Delta::Deleted(len),
            Self::Retain(len, attributes) => Delta::Retain(len, attributes),
        }
    }
}

impl Delta<In> {
    /// Keeps the next `len` (in the document's offset kind).
    pub fn retain(len: u32) -> Self {
        Self::Retain(len, None)
    }

    /// Inserts a value without attributes.
    pub fn insert<T: Into<In>>(value: T) -> Self {
        Self::Inserted(value.into(), None)
    }

    /// Inserts a value with attributes.
    pub fn insert_with<T: Into<In>>(value: T, attrs: Attrs) -> Self {
        Self::Inserted(value.into(), Some(Box::new(attrs)))
    }

    /// Deletes the next `len` (in the document's offset kind).
    pub fn delete(len: u32) -> Self {
        Self::Deleted(len)
    }
}

/// The conversions that each shared type needs. The type is a newtype of a [`BranchPtr`] or of another shared type, or
/// says how it is made of a [`BranchPtr`].
macro_rules! shared_ref {
    ($name:ident, $out:ident) => {
        crate::types::shared_ref!($name, $out, |branch| Self(branch.into()));
    };
    ($name:ident, $out:ident, |$branch:ident| $make:expr) => {
        impl AsRef<crate::transaction::Branch> for $name {
            #[inline]
            fn as_ref(&self) -> &crate::transaction::Branch {
                self.0.as_ref()
            }
        }

        impl From<crate::transaction::BranchPtr> for $name {
            fn from($branch: crate::transaction::BranchPtr) -> Self {
                $make
            }
        }

        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                self.0 == other.0
            }
        }

        impl Eq for $name {}

        impl crate::types::SharedRef for $name {}

        impl TryFrom<crate::types::ItemPtr> for $name {
            type Error = crate::types::ItemPtr;

            fn try_from(item: crate::types::ItemPtr) -> Result<Self, Self::Error> {
                item.branch().map(Self::from).ok_or(item)
            }
        }

        impl TryFrom<crate::types::Out> for $name {
            type Error = crate::types::Out;

            fn try_from(value: crate::types::Out) -> Result<Self, Self::Error> {
                match value {
                    crate::types::Out::$out(value) => Ok(value),
                    other => Err(other),
                }
            }
        }
    };
}
pub(crate) use shared_ref;
