//! `Out`: a value read from a document.

use yatta_encoding::block::{
    TYPE_REFS_ARRAY, TYPE_REFS_MAP, TYPE_REFS_TEXT, TYPE_REFS_XML_ELEMENT, TYPE_REFS_XML_FRAGMENT,
    TYPE_REFS_XML_HOOK, TYPE_REFS_XML_TEXT,
};
use yatta_encoding::{Any, Value};

use super::array::ArrayRef;
use super::xml::{XmlElementRef, XmlFragmentRef, XmlTextRef};
use super::{ItemPtr, MapRef, ReadTxn, TextRef, ToJson};
use crate::block::content::Content;
use crate::block::index::{BranchIdx, ItemIdx};
use crate::block::item::{Item, Kind};
use crate::doc::Doc;
use crate::doc::subdoc::subdoc;
use crate::store::Store;
use crate::transaction::{Branch, BranchPtr};

/// A value of a shared type: plain data, or a shared type within it.
#[derive(Clone, Debug, PartialEq)]
pub enum Out {
    /// Plain data.
    Any(Any),
    /// A text.
    YText(TextRef),
    /// A list.
    YArray(ArrayRef),
    /// A map, or an XML hook.
    YMap(MapRef),
    /// An XML element.
    YXmlElement(XmlElementRef),
    /// A list of XML nodes.
    YXmlFragment(XmlFragmentRef),
    /// An XML text.
    YXmlText(XmlTextRef),
    /// A sub-document.
    YDoc(Doc),
    /// A weak link.
    #[cfg(feature = "weak")]
    YWeakLink(super::weak::WeakRef<BranchPtr>),
    /// A type whose kind is not known yet.
    UndefinedRef(BranchPtr),
}

impl Default for Out {
    fn default() -> Self {
        Self::Any(Any::Undefined)
    }
}

impl Out {
    /// Converts to a Rust value or a certain shared type.
    ///
    /// # Errors
    /// Gives the value back if it is another one.
    pub fn cast<T>(self) -> Result<T, Self>
    where
        T: TryFrom<Self, Error = Self>,
    {
        T::try_from(self)
    }

    /// Returns the value as text: a text as it is, XML as XML, all else as JSON or as `Any` shows itself.
    pub fn to_string<T: ReadTxn>(self, txn: &T) -> String {
        use super::GetString;
        match self {
            Self::Any(any) => any.to_string(),
            Self::YText(text) => text.get_string(txn),
            Self::YArray(array) => array.to_json(txn).to_string(),
            Self::YMap(map) => map.to_json(txn).to_string(),
            Self::YXmlElement(node) => node.get_string(txn),
            Self::YXmlFragment(node) => node.get_string(txn),
            Self::YXmlText(node) => node.get_string(txn),
            Self::YDoc(doc) => doc.to_string(),
            #[cfg(feature = "weak")]
            Self::YWeakLink(link) => super::weak::WeakRef::<TextRef>::from(link).get_string(txn),
            Self::UndefinedRef(_) => String::new(),
        }
    }

    /// The handle of a shared type.
    pub(crate) fn branch(&self) -> Option<BranchPtr> {
        use super::SharedRef;
        fn of<S: SharedRef>(shared: &S) -> Option<BranchPtr> {
            Some(BranchPtr::from(shared.as_ref()))
        }
        match self {
            Self::Any(_) | Self::YDoc(_) => None,
            Self::YText(text) => of(text),
            Self::YArray(array) => of(array),
            Self::YMap(map) => of(map),
            Self::YXmlElement(node) => of(node),
            Self::YXmlFragment(node) => of(node),
            Self::YXmlText(node) => of(node),
            #[cfg(feature = "weak")]
            Self::YWeakLink(link) => Some(BranchPtr::from(link.as_ref())),
            Self::UndefinedRef(branch) => Some(branch.clone()),
        }
    }

    /// Returns the handle of a shared type.
    pub fn try_branch(&self) -> Option<&Branch> {
        match self {
            Self::Any(_) | Self::YDoc(_) => None,
            Self::YText(text) => Some(text.as_ref()),
            Self::YArray(array) => Some(array.as_ref()),
            Self::YMap(map) => Some(map.as_ref()),
            Self::YXmlElement(node) => Some(node.as_ref()),
            Self::YXmlFragment(node) => Some(node.as_ref()),
            Self::YXmlText(node) => Some(node.as_ref()),
            #[cfg(feature = "weak")]
            Self::YWeakLink(link) => Some(link.as_ref()),
            Self::UndefinedRef(branch) => Some(branch),
        }
    }

    /// A shared type by its node.
    pub(crate) fn of_branch(store: &Store, branch: BranchIdx) -> Self {
        Self::of_kind(store.branches[branch].tag.kind, BranchPtr::of(store, branch))
    }

    /// A shared type by its handle.
    pub(crate) fn of_handle(handle: BranchPtr) -> Self {
        Self::of_kind(handle.kind(), handle)
    }

    fn of_kind(kind: u8, handle: BranchPtr) -> Self {
        match kind {
            TYPE_REFS_ARRAY => Self::YArray(ArrayRef::from(handle)),
            TYPE_REFS_MAP | TYPE_REFS_XML_HOOK => Self::YMap(MapRef::from(handle)),
            TYPE_REFS_TEXT => Self::YText(TextRef::from(handle)),
            TYPE_REFS_XML_ELEMENT => Self::YXmlElement(handle.into()),
            TYPE_REFS_XML_FRAGMENT => Self::YXmlFragment(handle.into()),
            TYPE_REFS_XML_TEXT => Self::YXmlText(handle.into()),
            #[cfg(feature = "weak")]
            yatta_encoding::block::TYPE_REFS_WEAK => Self::YWeakLink(handle.into()),
            _ => Self::UndefinedRef(handle),
        }
    }

    /// The last element of an item; none for format marks and for what was collected.
    pub(crate) fn last_of(store: &Store, slot: ItemIdx) -> Option<Self> {
        let item = &store.items[slot];
        Self::element(store, item, item.len.checked_sub(1)?)
    }

    /// One element of an item.
    pub(crate) fn element(store: &Store, item: &Item, offset: u32) -> Option<Self> {
        match item.kind() {
            Kind::String => return Some(Self::Any(Any::from(store.text(item)))),
            Kind::Gc | Kind::Skip | Kind::Deleted | Kind::Format => return None,
            _ => {}
        }
        Some(match store.boxed(item) {
            Content::Any(values) => Self::Any(values[offset as usize].any().clone()),
            Content::Json(values) => {
                let text = &values[offset as usize];
                Self::Any(Any::json_parse(text).unwrap_or(Any::Undefined))
            }
            Content::Binary(bytes) => Self::Any(Any::from(bytes.as_ref())),
            Content::Embed(value) => Self::Any(Value::any(value).clone()),
            Content::Type(branch) => Self::of_branch(store, *branch),
            Content::Doc(doc) => Self::YDoc(subdoc(store, item.id, doc).clone()),
            Content::Format(..) | Content::Free => return None,
        })
    }
}

/// One element of an item that is plain data, with its BigInts kept apart.
pub(crate) fn exact_element(store: &Store, item: &Item, offset: u32) -> Option<Value> {
    if matches!(item.kind(), Kind::Any | Kind::Embed) {
        return match store.boxed(item) {
            Content::Any(values) => values.get(offset as usize).cloned(),
            Content::Embed(value) => Some(value.clone()),
            _ => None,
        };
    }
    match Out::element(store, item, offset)? {
        Out::Any(any) => Some(Value::from(any)),
        _ => None,
    }
}

impl std::fmt::Display for Out {
    /// Plain data as it shows itself, and the names of shared types; see [`Self::to_string`] for their content.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Any(any) => std::fmt::Display::fmt(any, f),
            Self::YText(_) => f.write_str("TextRef"),
            Self::YArray(_) => f.write_str("ArrayRef"),
            Self::YMap(_) => f.write_str("MapRef"),
            Self::YXmlElement(_) => f.write_str("XmlElementRef"),
            Self::YXmlFragment(_) => f.write_str("XmlFragmentRef"),
            Self::YXmlText(_) => f.write_str("XmlTextRef"),
            #[cfg(feature = "weak")]
            Self::YWeakLink(_) => f.write_str("WeakRef"),
            Self::YDoc(doc) => write!(f, "Doc(guid:{})", doc.guid()),
            Self::UndefinedRef(_) => f.write_str("UndefinedRef"),
        }
    }
}

impl ToJson for Out {
    fn to_json<T: ReadTxn>(&self, txn: &T) -> Any {
        super::json::json_of(txn, self.clone())
    }
}

impl TryFrom<ItemPtr> for Out {
    type Error = ItemPtr;

    fn try_from(item: ItemPtr) -> Result<Self, Self::Error> {
        Ok(item.into_value())
    }
}

impl TryFrom<Out> for Any {
    type Error = Out;

    fn try_from(value: Out) -> Result<Self, Out> {
        match value {
            Out::Any(any) => Ok(any),
            other => Err(other),
        }
    }
}

impl<T: Into<Any>> From<T> for Out {
    fn from(value: T) -> Self {
        Self::Any(value.into())
    }
}

macro_rules! out_to {
    ($($target:ty),*) => {
        $(impl TryFrom<Out> for $target {
            type Error = Out;

            fn try_from(value: Out) -> Result<Self, Out> {
                match value {
                    Out::Any(any) => any.try_into().map_err(Out::Any),
                    other => Err(other),
                }
            }
        })*
    };
}

out_to!(bool, String, std::sync::Arc<str>, i64, i32, i16, u32, u16, f64, f32);

impl super::AsPrelim for Out {
    type Prelim = super::In;

    fn as_prelim<T: ReadTxn>(&self, txn: &T) -> super::In {
        super::copy::value(txn, self, 0)
    }
}
