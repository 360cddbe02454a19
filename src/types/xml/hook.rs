//! `XmlHookRef`: a map with a name among XML nodes. Old; kept so that documents that have some can be read.

use std::sync::Arc;

use yatta_encoding::Any;

use crate::transaction::{Branch, BranchPtr};
use crate::types::{Map, MapRef, ReadTxn, RootRef, SharedRef, ToJson, TypeRef};

/// A map with a name among XML nodes. [`crate::Out`] shows it as the map that it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct XmlHookRef(MapRef);

impl XmlHookRef {
    /// Returns the name of the hook; a root has none.
    pub fn hook_name(&self) -> Option<&Arc<str>> {
        let branch: &Branch = self.as_ref();
        branch.node_name()
    }
}

impl SharedRef for XmlHookRef {}
impl Map for XmlHookRef {}

impl RootRef for XmlHookRef {
    fn type_ref() -> TypeRef {
        TypeRef::XmlHook
    }
}

impl ToJson for XmlHookRef {
    fn to_json<T: ReadTxn>(&self, txn: &T) -> Any {
        self.0.to_json(txn)
    }
}

impl AsRef<Branch> for XmlHookRef {
    fn as_ref(&self) -> &Branch {
        self.0.as_ref()
    }
}

impl AsRef<MapRef> for XmlHookRef {
    fn as_ref(&self) -> &MapRef {
        &self.0
    }
}

impl From<BranchPtr> for XmlHookRef {
    fn from(branch: BranchPtr) -> Self {
        Self(MapRef::from(branch))
    }
}
