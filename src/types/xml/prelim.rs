//! XML nodes on their way into a document.
//!
//! What they hold goes in as in Yjs: the node itself, then its children in order (each with all that it holds) or its text,
//! then its attributes.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use indexmap::IndexMap;

use super::write::value_string;
use super::{Attributes, Xml, XmlElementRef, XmlFragment, XmlFragmentRef, XmlOut, XmlTextRef};
use crate::transaction::{Branch, BranchPtr, TransactionMut};
use crate::types::{Delta, EmbedPrelim, In, ItemContent, Prelim, ReadTxn, Text, TypeRef};

/// A value that becomes an XML node.
pub trait XmlPrelim: Prelim {}

/// An XML node of any kind that is about to be inserted.
#[derive(Clone, Debug, PartialEq)]
pub enum XmlIn {
    /// A text.
    Text(XmlDeltaPrelim),
    /// An element.
    Element(XmlElementPrelim),
    /// A fragment.
    Fragment(XmlFragmentPrelim),
}

/// An element that is about to be inserted.
#[derive(Clone, Debug, PartialEq)]
pub struct XmlElementPrelim {
    /// The node name.
    pub tag: Arc<str>,
    /// The attributes, in the order in which they are written.
    pub attributes: IndexMap<Arc<str>, String>,
    /// The nodes within it.
    pub children: Vec<XmlIn>,
}

impl XmlElementPrelim {
    /// Makes an element without attributes.
    pub fn new<S, I>(tag: S, iter: I) -> Self
    where
        S: Into<Arc<str>>,
        I: IntoIterator<Item = XmlIn>,
    {
        Self { tag: tag.into(), attributes: IndexMap::default(), children: iter.into_iter().collect() }
    }

    /// Makes an element without attributes and children.
    pub fn empty<S>(tag: S) -> Self
    where
        S: Into<Arc<str>>,
    {
        Self::new(tag, [])
    }
}

/// A plain XML text that is about to be inserted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct XmlTextPrelim(String);

impl XmlTextPrelim {
    /// Makes a text with this content.
    pub fn new<S: Into<String>>(str: S) -> Self {
        Self(str.into())
    }
}

impl Deref for XmlTextPrelim {
    type Target = String;

    fn deref(&self) -> &String {
        &self.0
    }
}

impl DerefMut for XmlTextPrelim {
    fn deref_mut(&mut self) -> &mut String {
        &mut self.0
    }
}

/// A formatted XML text with attributes that is about to be inserted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct XmlDeltaPrelim {
    /// The attributes of the text as a whole, in the order in which they are written.
    pub attributes: IndexMap<Arc<str>, String>,
    /// The content.
    pub delta: Vec<Delta<In>>,
}

impl Deref for XmlDeltaPrelim {
    type Target = [Delta<In>];

    fn deref(&self) -> &[Delta<In>] {
        &self.delta
    }
}

impl From<XmlTextPrelim> for XmlDeltaPrelim {
    fn from(text: XmlTextPrelim) -> Self {
        let delta = if text.is_empty() { Vec::new() } else { vec![Delta::insert(text.0)] };
        Self { attributes: IndexMap::default(), delta }
    }
}

/// A fragment that is about to be inserted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct XmlFragmentPrelim(Vec<XmlIn>);

impl XmlFragmentPrelim {
    /// Makes a fragment of these nodes. The second type parameter has no use; it is there because yrs has it. Where it
    /// cannot be guessed, collect the nodes instead.
    pub fn new<I, T>(iter: I) -> Self
    where
        I: IntoIterator<Item = XmlIn>,
    {
        iter.into_iter().collect()
    }
}

impl FromIterator<XmlIn> for XmlFragmentPrelim {
    fn from_iter<I: IntoIterator<Item = XmlIn>>(nodes: I) -> Self {
        Self(nodes.into_iter().collect())
    }
}

impl XmlPrelim for XmlIn {}
impl XmlPrelim for XmlElementPrelim {}
impl XmlPrelim for XmlTextPrelim {}
impl XmlPrelim for XmlDeltaPrelim {}
impl XmlPrelim for XmlFragmentPrelim {}

impl Prelim for XmlIn {
    type Return = XmlOut;

    fn into_content(self, _txn: &mut TransactionMut<'_>) -> (ItemContent, Option<Self>) {
        let kind = match &self {
            Self::Text(_) => TypeRef::XmlText,
            Self::Element(element) => TypeRef::XmlElement(Arc::clone(&element.tag)),
            Self::Fragment(_) => TypeRef::XmlFragment,
        };
        (ItemContent::Type(kind), Some(self))
    }

    fn integrate(self, txn: &mut TransactionMut<'_>, inner_ref: BranchPtr) {
        match self {
            Self::Text(text) => text.integrate(txn, inner_ref),
            Self::Element(element) => element.integrate(txn, inner_ref),
            Self::Fragment(fragment) => fragment.integrate(txn, inner_ref),
        }
    }
}

impl Prelim for XmlElementPrelim {
    type Return = XmlElementRef;

    fn into_content(self, _txn: &mut TransactionMut<'_>) -> (ItemContent, Option<Self>) {
        (ItemContent::Type(TypeRef::XmlElement(Arc::clone(&self.tag))), Some(self))
    }

    fn integrate(self, txn: &mut TransactionMut<'_>, inner_ref: BranchPtr) {
        let element = XmlElementRef::from(inner_ref);
        for node in self.children {
            element.push_back(txn, node);
        }
        set_attributes(&element, txn, self.attributes);
    }
}

impl Prelim for XmlFragmentPrelim {
    type Return = XmlFragmentRef;

    fn into_content(self, _txn: &mut TransactionMut<'_>) -> (ItemContent, Option<Self>) {
        (ItemContent::Type(TypeRef::XmlFragment), Some(self))
    }

    fn integrate(self, txn: &mut TransactionMut<'_>, inner_ref: BranchPtr) {
        let fragment = XmlFragmentRef::from(inner_ref);
        for node in self.0 {
            fragment.push_back(txn, node);
        }
    }
}

impl Prelim for XmlTextPrelim {
    type Return = XmlTextRef;

    fn into_content(self, _txn: &mut TransactionMut<'_>) -> (ItemContent, Option<Self>) {
        (ItemContent::Type(TypeRef::XmlText), Some(self))
    }

    fn integrate(self, txn: &mut TransactionMut<'_>, inner_ref: BranchPtr) {
        XmlTextRef::from(inner_ref).push(txn, &self.0);
    }
}

impl Prelim for XmlDeltaPrelim {
    type Return = XmlTextRef;

    fn into_content(self, _txn: &mut TransactionMut<'_>) -> (ItemContent, Option<Self>) {
        (ItemContent::Type(TypeRef::XmlText), Some(self))
    }

    fn integrate(self, txn: &mut TransactionMut<'_>, inner_ref: BranchPtr) {
        let text = XmlTextRef::from(inner_ref);
        text.apply_delta(txn, self.delta);
        set_attributes(&text, txn, self.attributes);
    }
}

fn set_attributes<X: Xml>(node: &X, txn: &mut TransactionMut<'_>, attributes: IndexMap<Arc<str>, String>) {
    for (name, value) in attributes {
        node.insert_attribute(txn, name, value);
    }
}

/// The attributes of a node, as text.
pub(in crate::types) fn attributes_of<T: ReadTxn>(branch: &Branch, txn: &T) -> IndexMap<Arc<str>, String> {
    let attributes = Attributes::<&T, T>::new(branch, txn);
    attributes.map(|(name, value)| (Arc::from(name), value_string(txn.store(), &value))).collect()
}

macro_rules! prelim_into {
    ($($source:ident => $($target:ident::$variant:ident),+;)*) => {
        $($(impl From<$source> for $target {
            fn from(prelim: $source) -> Self {
                Self::$variant(prelim.into())
            }
        })+)*
    };
}

prelim_into! {
    XmlDeltaPrelim => XmlIn::Text, In::XmlText;
    XmlTextPrelim => XmlIn::Text, In::XmlText;
    XmlElementPrelim => XmlIn::Element, In::XmlElement;
    XmlFragmentPrelim => XmlIn::Fragment, In::XmlFragment;
}

macro_rules! prelim_embeds {
    ($($source:ident),*) => {
        $(impl From<$source> for EmbedPrelim<$source> {
            fn from(prelim: $source) -> Self {
                Self::Shared(prelim)
            }
        })*
    };
}

prelim_embeds!(XmlElementPrelim, XmlTextPrelim, XmlDeltaPrelim, XmlFragmentPrelim);
