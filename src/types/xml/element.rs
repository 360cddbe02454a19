//! `XmlElementRef`: an element with a name, attributes and children.

use std::sync::{Arc, LazyLock};

use yatta_encoding::block::TYPE_REFS_XML_ELEMENT;

use super::write::string_of;
use super::{Xml, XmlElementPrelim, XmlFragment, XmlFragmentRef};
use crate::transaction::Branch;
use crate::types::array::ArrayRef;
use crate::types::{AsPrelim, GetString, ReadTxn, RootRef, TypeRef, copy, shared_ref};

/// What Yjs calls an element that was given no name, which all root elements are: a root has no kind on the wire.
static UNNAMED: LazyLock<Arc<str>> = LazyLock::new(|| Arc::from("UNDEFINED"));

/// An XML element.
#[derive(Clone, Debug)]
pub struct XmlElementRef(XmlFragmentRef);

shared_ref!(XmlElementRef, YXmlElement);

impl XmlElementRef {
    /// Returns the node name, if this is an element; a root element is called `UNDEFINED`.
    pub fn try_tag(&self) -> Option<&Arc<str>> {
        let branch: &Branch = self.as_ref();
        (branch.kind() == TYPE_REFS_XML_ELEMENT).then(|| branch.node_name().unwrap_or(&UNNAMED))
    }

    /// Returns the node name; `UNDEFINED` for a root, and for a handle of another kind of type.
    pub fn tag(&self) -> &Arc<str> {
        self.try_tag().unwrap_or(&UNNAMED)
    }
}

impl RootRef for XmlElementRef {
    fn type_ref() -> TypeRef {
        TypeRef::XmlElement(Arc::clone(&UNNAMED))
    }
}

impl Xml for XmlElementRef {}
impl XmlFragment for XmlElementRef {}

impl AsRef<XmlFragmentRef> for XmlElementRef {
    fn as_ref(&self) -> &XmlFragmentRef {
        &self.0
    }
}

impl AsRef<ArrayRef> for XmlElementRef {
    fn as_ref(&self) -> &ArrayRef {
        self.0.as_ref()
    }
}

impl GetString for XmlElementRef {
    /// Returns the element as XML: the name in lower case, the attributes sorted, nothing escaped. Cost O(size).
    fn get_string<T: ReadTxn>(&self, txn: &T) -> String {
        string_of(txn.store(), self.as_ref(), TYPE_REFS_XML_ELEMENT)
    }
}

impl AsPrelim for XmlElementRef {
    type Prelim = XmlElementPrelim;

    fn as_prelim<T: ReadTxn>(&self, txn: &T) -> XmlElementPrelim {
        copy::element(txn, self, 0)
    }
}
