//! A node as the list and the map that it is, whatever its handle: the operations on lists and maps do the work. And
//! the steps from items to nodes.

use super::XmlOut;
use crate::block::index::ItemIdx;
use crate::store::Store;
use crate::transaction::{Branch, BranchPtr};
use crate::types::array::Array;
use crate::types::map::Map;

/// The children of a node.
pub(super) struct Children<'b>(pub(super) &'b Branch);

impl AsRef<Branch> for Children<'_> {
    fn as_ref(&self) -> &Branch {
        self.0
    }
}

impl Array for Children<'_> {}

/// The attributes of a node.
pub(super) struct AttributeMap<'b>(pub(super) &'b Branch);

impl AsRef<Branch> for AttributeMap<'_> {
    fn as_ref(&self) -> &Branch {
        self.0
    }
}

impl Map for AttributeMap<'_> {}

/// The node in an item, unless it is deleted.
pub(super) fn node_in(store: &Store, slot: ItemIdx) -> Option<XmlOut> {
    if store.items[slot].is_deleted() {
        return None;
    }
    XmlOut::try_from(BranchPtr::of(store, store.held_type(&store.items[slot])?)).ok()
}

/// The index of `child` in the list of `parent`, if it is there.
pub(super) fn index_in(store: &Store, parent: &Branch, child: &Branch) -> Option<u32> {
    let slot = child.node(store)?.item.some()?;
    let item = &store.items[slot];
    let inside = parent.resolve(store) == Some(item.parent) && item.key().is_none() && item.is_visible();
    inside.then(|| store.index_of(slot))
}
