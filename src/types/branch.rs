//! What yrs offers on `Branch` itself and is made of what shared types are: kind, lengths, names.

use std::sync::Arc;

use yatta_encoding::block::{
    TYPE_REFS_ARRAY, TYPE_REFS_DOC, TYPE_REFS_MAP, TYPE_REFS_TEXT, TYPE_REFS_XML_ELEMENT,
    TYPE_REFS_XML_FRAGMENT, TYPE_REFS_XML_HOOK, TYPE_REFS_XML_TEXT,
};

use super::{Out, TypeRef};
use crate::transaction::{Branch, BranchPtr, Origin};

impl Branch {
    /// Returns what [`ItemContent::Type`](super::ItemContent::Type) takes for a new type of this kind.
    ///
    /// It is the kind itself: a handle exists only of a type in a document.
    #[expect(clippy::new_ret_no_self, reason = "the name that users of yrs write")]
    pub fn new(type_ref: TypeRef) -> TypeRef {
        type_ref
    }

    /// Returns the kind of this type.
    pub fn type_ref(&self) -> TypeRef {
        let name = || self.node_name().cloned().unwrap_or_else(|| Arc::from("UNDEFINED"));
        match self.kind() {
            TYPE_REFS_ARRAY => TypeRef::Array,
            TYPE_REFS_MAP => TypeRef::Map,
            TYPE_REFS_TEXT => TypeRef::Text,
            TYPE_REFS_XML_ELEMENT => TypeRef::XmlElement(name()),
            TYPE_REFS_XML_FRAGMENT => TypeRef::XmlFragment,
            TYPE_REFS_XML_HOOK => TypeRef::XmlHook,
            TYPE_REFS_XML_TEXT => TypeRef::XmlText,
            TYPE_REFS_DOC => TypeRef::SubDoc,
            #[cfg(feature = "weak")]
            yatta_encoding::block::TYPE_REFS_WEAK => match self.link() {
                Some(tag) => TypeRef::WeakLink(Arc::new(super::weak::LinkSource::of_tag(tag))),
                None => TypeRef::Undefined,
            },
            _ => TypeRef::Undefined,
        }
    }
}

impl std::fmt::Display for Branch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Y{}({})", self.type_ref(), self.id())
    }
}

impl From<BranchPtr> for Out {
    /// The shared type by its kind.
    fn from(branch: BranchPtr) -> Self {
        Self::of_handle(branch)
    }
}

impl From<BranchPtr> for Origin {
    /// An origin that is the same for each handle of one type.
    fn from(branch: BranchPtr) -> Self {
        Self::from(branch.id().to_string())
    }
}
