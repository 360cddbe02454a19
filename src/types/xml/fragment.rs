//! `XmlFragmentRef`: a list of nodes.

use yatta_encoding::block::{TYPE_REFS_UNDEFINED, TYPE_REFS_XML_FRAGMENT};

use super::write::string_of;
use super::{XmlFragment, XmlFragmentPrelim, XmlOut};
use crate::transaction::Branch;
use crate::types::array::ArrayRef;
use crate::types::{AsPrelim, DefaultPrelim, GetString, ReadTxn, RootRef, TypeRef, copy, shared_ref};

/// A list of XML nodes without a name or attributes: the root of an XML tree, or a part of one.
#[derive(Clone, Debug)]
pub struct XmlFragmentRef(ArrayRef);

shared_ref!(XmlFragmentRef, YXmlFragment);

impl XmlFragmentRef {
    /// Returns the XML node that holds this one; none for a root, and if it is held by another sort of type.
    pub fn parent(&self) -> Option<XmlOut> {
        let branch: &Branch = self.as_ref();
        XmlOut::try_from(branch.parent()?).ok()
    }

    /// Notes in the handle of a root that was not defined yet that it is asked for as a fragment, so that the parent of a
    /// child is one.
    pub(crate) fn take_root(&self) {
        let branch: &Branch = self.as_ref();
        if branch.kind() == TYPE_REFS_UNDEFINED {
            branch.define(TYPE_REFS_XML_FRAGMENT);
        }
    }
}

impl RootRef for XmlFragmentRef {
    fn type_ref() -> TypeRef {
        TypeRef::XmlFragment
    }
}

impl XmlFragment for XmlFragmentRef {}

impl AsRef<ArrayRef> for XmlFragmentRef {
    fn as_ref(&self) -> &ArrayRef {
        &self.0
    }
}

impl GetString for XmlFragmentRef {
    /// Returns the children as XML, see [`super::XmlElementRef`]. Cost O(size).
    fn get_string<T: ReadTxn>(&self, txn: &T) -> String {
        string_of(txn.store(), self.as_ref(), TYPE_REFS_XML_FRAGMENT)
    }
}

impl AsPrelim for XmlFragmentRef {
    type Prelim = XmlFragmentPrelim;

    fn as_prelim<T: ReadTxn>(&self, txn: &T) -> XmlFragmentPrelim {
        copy::fragment(txn, self, 0)
    }
}

impl DefaultPrelim for XmlFragmentRef {
    type Prelim = XmlFragmentPrelim;

    fn default_prelim() -> XmlFragmentPrelim {
        XmlFragmentPrelim::default()
    }
}
