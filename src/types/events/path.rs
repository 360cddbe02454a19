//! The way from one shared type down to another.

use std::sync::Arc;

use crate::block::index::BranchIdx;
use crate::store::Store;
use crate::types::{Path, PathSegment};

/// The path from `from` down to `to`; from the root if `to` is not within `from`. Cost O(depth · log n).
///
/// Yjs: `getPathTo`. Indices are those after the transaction, in the document's offset kind.
pub(crate) fn path(store: &Store, from: BranchIdx, to: BranchIdx) -> Path {
    let mut path = Path::new();
    let mut at = to;
    while at != from
        && let Some(slot) = store.branches[at].item.some()
    {
        let item = &store.items[slot];
        path.push_front(match item.key().some() {
            Some(key) => PathSegment::Key(Arc::clone(store.key(key))),
            None => PathSegment::Index(store.index_of(slot)),
        });
        at = item.parent;
    }
    path
}
