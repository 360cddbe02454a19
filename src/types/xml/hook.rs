//! `XmlHookRef`: a map with a name among XML nodes. Old; kept so that documents that have some can be read
//! and made.

use std::sync::Arc;

use yatta_encoding::Any;
use yatta_encoding::block::TYPE_REFS_XML_HOOK;

use super::XmlPrelim;
use crate::transaction::{Branch, BranchPtr, TransactionMut};
use crate::types::map::MapPrelim;
use crate::types::{
    ItemContent, ItemPtr, Map, MapRef, Out, Prelim, ReadTxn, RootRef, SharedRef, ToJson, TypeRef,
};

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

/// A hook that is about to be inserted, with the entries of its map in the order in which they are written.
#[derive(Clone, Debug, PartialEq)]
pub struct XmlHookPrelim {
    /// The name.
    pub name: Arc<str>,
    /// The entries.
    pub entries: MapPrelim,
}

impl XmlHookPrelim {
    /// Makes a hook without entries.
    pub fn new<S: Into<Arc<str>>>(name: S) -> Self {
        Self { name: name.into(), entries: MapPrelim::default() }
    }
}

impl XmlPrelim for XmlHookPrelim {}

impl Prelim for XmlHookPrelim {
    type Return = XmlHookRef;

    fn into_content(self, _txn: &mut TransactionMut<'_>) -> (ItemContent, Option<Self>) {
        (ItemContent::Type(TypeRef::XmlHook), Some(self))
    }

    fn integrate(self, txn: &mut TransactionMut<'_>, inner_ref: BranchPtr) {
        self.entries.integrate(txn, inner_ref);
    }

    fn hook_name(&self) -> Option<Arc<str>> {
        Some(Arc::clone(&self.name))
    }
}

impl TryFrom<MapRef> for XmlHookRef {
    type Error = MapRef;

    /// Takes a map as the hook that it is; gives it back if it is none.
    fn try_from(map: MapRef) -> Result<Self, MapRef> {
        let branch: &Branch = map.as_ref();
        if branch.kind() == TYPE_REFS_XML_HOOK { Ok(Self(map)) } else { Err(map) }
    }
}

impl TryFrom<ItemPtr> for XmlHookRef {
    type Error = ItemPtr;

    fn try_from(item: ItemPtr) -> Result<Self, ItemPtr> {
        match item.clone().into_value() {
            Out::YMap(map) => Self::try_from(map).map_err(|_| item),
            _ => Err(item),
        }
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
