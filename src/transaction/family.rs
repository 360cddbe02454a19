//! Where a shared type stands among others, for calls without a transaction: its parent, and the first child of an XML
//! node. Both are kept in the handles ([`Branch`]), so that they can be read at any time, also by a thread that has a
//! write transaction open.
//!
//! The parent of a type never changes. The first child is a copy, renewed by each XML edit, by `apply_update` and when
//! a commit begins (before any observer); between an edit of another sort and the commit it may be that of before.
//! Both are weak: only the node of a type keeps its handle alive, so no chain of handles is ever dropped in one go.
//!
//! The handle of a type is made with those of the types that hold it and, for an XML node, those of its first children,
//! all before any is published. Cost O(depth), once: each handle is made once.

use std::sync::{Arc, Weak};

use yatta_encoding::block::{TYPE_REFS_UNDEFINED, TYPE_REFS_XML_ELEMENT, TYPE_REFS_XML_FRAGMENT};

use super::handle::{Branch, BranchPtr, existing, new_handle};
use crate::block::content::Content;
use crate::block::index::{BranchIdx, KeyIdx};
use crate::block::item::Kind;
use crate::store::Store;

/// Whether a type may hold XML nodes: an element, a fragment, or a root of which nobody said what it is.
#[inline]
fn holds_nodes(store: &Store, idx: BranchIdx) -> bool {
    matches!(
        store.branches[idx].tag.kind,
        TYPE_REFS_XML_ELEMENT | TYPE_REFS_XML_FRAGMENT | TYPE_REFS_UNDEFINED
    )
}

/// The type that holds a type.
fn parent(store: &Store, idx: BranchIdx) -> Option<BranchIdx> {
    let item = store.branches[idx].item.some()?;
    store.items[item].parent.some()
}

/// The type in the first visible item of an XML node.
fn first_child(store: &Store, idx: BranchIdx) -> Option<BranchIdx> {
    if !holds_nodes(store, idx) {
        return None;
    }
    let (slot, _) = store.find(idx, 0)?;
    let item = &store.items[slot];
    if item.kind() != Kind::Type {
        return None;
    }
    match store.boxed(item) {
        Content::Type(child) => Some(*child),
        other => unreachable!("{item:?} holds {other:?}"),
    }
}

/// Makes the handle of a type, with all those that it refers to.
pub(super) fn make(store: &Store, idx: BranchIdx) -> Arc<Branch> {
    let _alone = store.making.lock();
    if let Some(branch) = existing(store, idx) {
        return branch;
    }
    let mut line = vec![idx];
    let mut at = parent(store, idx);
    while let Some(holder) = at
        && existing(store, holder).is_none()
    {
        line.push(holder);
        at = parent(store, holder);
    }
    let mut above =
        at.and_then(|holder| existing(store, holder)).map_or_else(Weak::new, |it| Arc::downgrade(&it));
    let mut made: Vec<(BranchIdx, Arc<Branch>)> = Vec::with_capacity(line.len());
    for idx in line.iter().rev() {
        let branch = new_handle(store, *idx, above);
        above = Arc::downgrade(&branch);
        made.push((*idx, branch));
    }
    let wanted = Arc::clone(&made[line.len() - 1].1);
    add_first_children(store, &mut made, line.len());
    for (idx, branch) in made {
        assert!(store.branches[idx].handle.set(branch).is_ok(), "handles are made one at a time");
    }
    wanted
}

/// Fills in the first children of new handles. The first `line` of them stand one within the next.
fn add_first_children(store: &Store, made: &mut Vec<(BranchIdx, Arc<Branch>)>, line: usize) {
    let mut place = 0;
    while place < made.len() {
        let (idx, branch) = (made[place].0, Arc::clone(&made[place].1));
        place += 1;
        let Some(child) = first_child(store, idx) else { continue };
        let next = made.get(place).filter(|next| place < line && next.0 == child);
        let handle = match next.map(|next| Arc::clone(&next.1)).or_else(|| existing(store, child)) {
            Some(handle) => handle,
            None => {
                let handle = new_handle(store, child, Arc::downgrade(&branch));
                made.push((child, Arc::clone(&handle)));
                handle
            }
        };
        branch.set_first_child(Some(&handle));
    }
}

/// Renews what the handle of a type knows of its first child, if there is a handle.
#[inline]
pub(crate) fn refresh(store: &Store, idx: BranchIdx) {
    if holds_nodes(store, idx) {
        refresh_child(store, idx);
    }
}

fn refresh_child(store: &Store, idx: BranchIdx) {
    if let Some(branch) = existing(store, idx) {
        let child = first_child(store, idx).map(|child| BranchPtr::of(store, child));
        branch.set_first_child(child.as_ref().map(BranchPtr::arc));
    }
}

/// As [`refresh`], for all types whose list changed.
#[inline]
pub(crate) fn refresh_touched(store: &Store, touched: &[(BranchIdx, KeyIdx)]) {
    for (branch, key) in touched {
        if key.is_none() {
            refresh(store, *branch);
            let node = &store.branches[*branch];
            if let Some(handle) = node.handle.get() {
                handle.note_len(node.len);
            }
        }
    }
}

/// Takes the kind of a root over into its handle, after somebody said what it is.
pub(crate) fn define_root(store: &Store, idx: BranchIdx) {
    if let Some(branch) = existing(store, idx) {
        branch.define(store.branches[idx].tag.kind);
        // An undefined root might have held XML nodes.
        refresh_child(store, idx);
    }
}

/// Checks that what the handles know is true. Holds outside of transactions. Cost O(types).
pub(crate) fn check(store: &Store) {
    for idx in (0..store.branches.len() as u32).map(BranchIdx) {
        let Some(branch) = existing(store, idx) else { continue };
        let known = branch.first_child().map(|child| child.idx());
        assert_eq!(known, first_child(store, idx), "first child in the handle of {idx:?}, {branch:?}");
        let known = branch.parent().map(|parent| parent.idx());
        assert_eq!(known, parent(store, idx), "parent in the handle of {idx:?}, {branch:?}");
        let tag = &store.branches[idx].tag;
        let as_asked = tag.kind == TYPE_REFS_UNDEFINED;
        assert!(as_asked || branch.kind() == tag.kind, "{branch:?} is of kind {tag:?}");
    }
}
