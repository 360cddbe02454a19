//! `XmlOut`: an XML node of any kind.

use yatta_encoding::block::{TYPE_REFS_XML_ELEMENT, TYPE_REFS_XML_FRAGMENT, TYPE_REFS_XML_TEXT};

use super::{XmlElementRef, XmlFragmentRef, XmlTextRef};
use crate::transaction::{Branch, BranchID, BranchPtr};
use crate::types::{ItemPtr, Out};

/// An XML node.
#[derive(Clone, Debug)]
pub enum XmlOut {
    /// An element.
    Element(XmlElementRef),
    /// A fragment.
    Fragment(XmlFragmentRef),
    /// A text.
    Text(XmlTextRef),
}

impl XmlOut {
    /// Returns the handle.
    pub fn as_ptr(&self) -> BranchPtr {
        BranchPtr::from(AsRef::<Branch>::as_ref(self))
    }

    /// Returns the identity of the node.
    pub fn id(&self) -> BranchID {
        AsRef::<Branch>::as_ref(self).id()
    }

    /// Returns the element, if it is one.
    pub fn into_xml_element(self) -> Option<XmlElementRef> {
        self.try_into().ok()
    }

    /// Returns the fragment, if it is one.
    pub fn into_xml_fragment(self) -> Option<XmlFragmentRef> {
        self.try_into().ok()
    }

    /// Returns the text, if it is one.
    pub fn into_xml_text(self) -> Option<XmlTextRef> {
        self.try_into().ok()
    }
}

impl AsRef<Branch> for XmlOut {
    fn as_ref(&self) -> &Branch {
        match self {
            Self::Element(node) => node.as_ref(),
            Self::Fragment(node) => node.as_ref(),
            Self::Text(node) => node.as_ref(),
        }
    }
}

macro_rules! from_xml_out {
    ($($target:ident: $variant:ident),*) => {
        $(impl TryFrom<XmlOut> for $target {
            type Error = XmlOut;

            fn try_from(node: XmlOut) -> Result<Self, XmlOut> {
                match node {
                    XmlOut::$variant(node) => Ok(node),
                    other => Err(other),
                }
            }
        })*
    };
}

from_xml_out!(XmlElementRef: Element, XmlFragmentRef: Fragment, XmlTextRef: Text);

impl TryFrom<BranchPtr> for XmlOut {
    type Error = BranchPtr;

    fn try_from(branch: BranchPtr) -> Result<Self, BranchPtr> {
        match branch.kind() {
            TYPE_REFS_XML_ELEMENT => Ok(Self::Element(branch.into())),
            TYPE_REFS_XML_FRAGMENT => Ok(Self::Fragment(branch.into())),
            TYPE_REFS_XML_TEXT => Ok(Self::Text(branch.into())),
            _ => Err(branch),
        }
    }
}

impl TryFrom<Out> for XmlOut {
    type Error = Out;

    fn try_from(value: Out) -> Result<Self, Out> {
        match value {
            Out::YXmlElement(node) => Ok(Self::Element(node)),
            Out::YXmlFragment(node) => Ok(Self::Fragment(node)),
            Out::YXmlText(node) => Ok(Self::Text(node)),
            other => Err(other),
        }
    }
}

impl From<XmlOut> for Out {
    fn from(node: XmlOut) -> Self {
        match node {
            XmlOut::Element(node) => Self::YXmlElement(node),
            XmlOut::Fragment(node) => Self::YXmlFragment(node),
            XmlOut::Text(node) => Self::YXmlText(node),
        }
    }
}

impl TryFrom<ItemPtr> for XmlOut {
    type Error = ItemPtr;

    fn try_from(item: ItemPtr) -> Result<Self, ItemPtr> {
        item.branch().and_then(|branch| Self::try_from(branch).ok()).ok_or(item)
    }
}
