//! `In`: a value of any kind on its way into a document.

use yatta_encoding::{Any, Value};

use super::array::ArrayPrelim;
use super::content::ItemContent;
use super::map::MapPrelim;
use super::text::{DeltaPrelim, TextPrelim};
use super::xml::{XmlDeltaPrelim, XmlElementPrelim, XmlFragmentPrelim};
use super::{Out, Prelim, TypeRef};
use crate::doc::Doc;
use crate::transaction::{BranchPtr, TransactionMut};

/// A value to be inserted: plain data, or a shared type with what it holds.
#[derive(Clone, Debug, PartialEq)]
pub enum In {
    /// Plain data.
    Any(Any),
    /// A text.
    Text(DeltaPrelim),
    /// A list.
    Array(ArrayPrelim),
    /// A map.
    Map(MapPrelim),
    /// An XML element.
    XmlElement(XmlElementPrelim),
    /// A list of XML nodes.
    XmlFragment(XmlFragmentPrelim),
    /// An XML text.
    XmlText(XmlDeltaPrelim),
    /// A sub-document.
    Doc(Doc),
    /// A weak link.
    #[cfg(feature = "weak")]
    WeakLink(super::weak::WeakPrelim<BranchPtr>),
}

impl Prelim for In {
    type Return = Out;

    fn into_content(self, _txn: &mut TransactionMut<'_>) -> (ItemContent, Option<Self>) {
        let kind = match &self {
            Self::Any(any) => return (ItemContent::Any(vec![any.clone()]), None),
            Self::Doc(doc) => return (ItemContent::Doc(None, doc.clone()), None),
            Self::Text(_) => TypeRef::Text,
            Self::Array(_) => TypeRef::Array,
            Self::Map(_) => TypeRef::Map,
            Self::XmlElement(node) => TypeRef::XmlElement(std::sync::Arc::clone(&node.tag)),
            Self::XmlFragment(_) => TypeRef::XmlFragment,
            Self::XmlText(_) => TypeRef::XmlText,
            #[cfg(feature = "weak")]
            Self::WeakLink(link) => TypeRef::WeakLink(std::sync::Arc::clone(link.source())),
        };
        (ItemContent::Type(kind), Some(self))
    }

    fn integrate(self, txn: &mut TransactionMut<'_>, inner_ref: BranchPtr) {
        match self {
            Self::Any(_) | Self::Doc(_) => {}
            Self::Text(text) => text.integrate(txn, inner_ref),
            Self::Array(array) => array.integrate(txn, inner_ref),
            Self::Map(map) => map.integrate(txn, inner_ref),
            Self::XmlElement(node) => node.integrate(txn, inner_ref),
            Self::XmlFragment(node) => node.integrate(txn, inner_ref),
            Self::XmlText(node) => node.integrate(txn, inner_ref),
            #[cfg(feature = "weak")]
            Self::WeakLink(_) => {}
        }
    }

    fn into_plain(self) -> Result<Value, Self> {
        match self {
            Self::Any(any) => Ok(Value::from(any)),
            other => Err(other),
        }
    }
}

macro_rules! in_from_plain {
    ($($source:ty),*) => {
        $(impl From<$source> for In {
            fn from(value: $source) -> Self {
                Self::Any(value.into())
            }
        })*
    };
}

in_from_plain!(
    Any,
    bool,
    i16,
    i32,
    i64,
    u16,
    u32,
    f32,
    f64,
    String,
    std::sync::Arc<str>,
    &str,
    Vec<u8>,
    &[u8]
);

impl From<Doc> for In {
    fn from(doc: Doc) -> Self {
        Self::Doc(doc)
    }
}

impl From<TextPrelim> for In {
    fn from(text: TextPrelim) -> Self {
        Self::Text(text.into())
    }
}

impl From<DeltaPrelim> for In {
    fn from(text: DeltaPrelim) -> Self {
        Self::Text(text)
    }
}

impl From<ArrayPrelim> for In {
    fn from(array: ArrayPrelim) -> Self {
        Self::Array(array)
    }
}

impl From<MapPrelim> for In {
    fn from(map: MapPrelim) -> Self {
        Self::Map(map)
    }
}
