//! Deleting an item: it stays in its list, its width becomes 0, and what it holds is deleted with it.
//!
//! The content is let go later (`gc`), so that observers can still see it; text that came in the same transaction at once where there are none. Nested types are walked with an explicit
//! stack: they may be nested as deep as a peer likes.

use std::sync::Arc;

use crate::block::content::Content;
use crate::block::index::{BranchIdx, ClientIdx, ItemIdx};
use crate::block::item::{Flags, Id, Kind};
use crate::change::{ChangeSet, RemovedSubdoc};
use crate::engine::in_place::PINNED;
use crate::engine::link::{link_deleted, quoted_deleted};
use crate::engine::split::split;
use crate::store::Store;

/// A type whose children are being deleted: the next of its sequence, then the next of its map entries.
struct Open {
    branch: BranchIdx,
    at: ItemIdx,
    place: usize,
}

/// Deletes an item and all that it holds, each type's children directly after it (the order in which clients come into
/// a delete set decides the ids of what an undo brings back). Deleting twice does nothing.
pub(crate) fn delete(store: &mut Store, changes: &mut ChangeSet, slot: ItemIdx) {
    let Some(branch) = delete_one(store, changes, slot) else { return };
    let begin =
        |store: &Store, branch: BranchIdx| Open { branch, at: store.branches[branch].start, place: 0 };
    let mut open = vec![begin(store, branch)];
    while let Some(top) = open.last_mut() {
        let slot = if let Some(slot) = top.at.some() {
            top.at = store.items[slot].right;
            slot
        } else if let Some((_, slot)) = store.branches[top.branch].map.at(top.place) {
            top.place += 1;
            slot
        } else {
            open.pop();
            continue;
        };
        let child = store.items[slot];
        if child.is_deleted() {
            // Deleted by an earlier transaction: its parent is collected now, so it may become mergeable.
            changes.old_children.push(child.id);
        } else if let Some(branch) = delete_one(store, changes, slot) {
            open.push(begin(store, branch));
        }
    }
}

/// Deletes an item alone. Returns the type that it holds, if it does.
fn delete_one(store: &mut Store, changes: &mut ChangeSet, slot: ItemIdx) -> Option<BranchIdx> {
    let item = store.items[slot];
    if item.is_deleted() {
        return None;
    }
    let key = item.key();
    store.items[slot].flags.set(Flags::DELETED);
    if key.is_none() {
        let width = store.visible_width(&item);
        let node = &mut store.branches[item.parent];
        node.len -= width;
        node.marker = crate::branch::node::SearchMarker::NONE;
        if let Some(tree) = &mut node.tree {
            let view = Store::tree_view(&mut store.items, &store.contents);
            if width > 0 {
                tree.set_width(&view, slot, 0);
            }
            if item.kind() == Kind::Format {
                tree.mark_changed(&view, slot);
            }
        }
    }
    changes.delete(store, item.id, item.len);
    changes.to_collect = true;
    changes.candidates.push(slot);
    if item.right.is_some() {
        changes.candidates.push(item.right);
    }
    changes.touch(item.parent, key);
    if item.flags.has(Flags::LINKED) {
        quoted_deleted(store, changes, slot, key);
    }
    match item.kind() {
        Kind::String
            if !changes.hold_content
                && !store.skip_gc
                && !item.flags.has(PINNED)
                && changes.surely_new(item.id) =>
        {
            // It came and went: nobody will look at it, not even who subscribes before the commit. Collected at once, so that
            // the next deletion of this transaction beside it only moves a boundary.
            store.drop_content(slot);
            None
        }
        Kind::Type => {
            let Content::Type(branch) = *store.boxed(&item) else { unreachable!("{item:?} is a type") };
            link_deleted(store, changes, branch);
            if let Some(handle) = store.branches[branch].handle.get() {
                handle.note_deleted();
            }
            Some(branch)
        }
        Kind::Doc => {
            let Content::Doc(doc) = store.boxed(&item) else { unreachable!("{item:?} is a sub-document") };
            let born = item.id.clock >= changes.state_before(item.id.client, store.state(item.id.client));
            changes.subdocs_mut().removed.push(RemovedSubdoc { id: item.id, content: Arc::clone(doc), born });
            store.subdocs.remove(&slot);
            None
        }
        _ => None,
    }
}

/// Deletes the range `clock..end` of a client, which must be below its state; splits at both ends.
pub(crate) fn delete_range(
    store: &mut Store,
    changes: &mut ChangeSet,
    client: ClientIdx,
    clock: u32,
    end: u32,
) {
    debug_assert!(end <= store.state(client), "{client:?} {clock}..{end} is not here yet");
    let mut clock = clock;
    while clock < end {
        let mut slot = store.item_at(Id::new(client, clock));
        let item = store.items[slot];
        if item.is_deleted() {
            clock = item.end();
            continue;
        }
        if item.id.clock < clock {
            slot = split(store, changes, slot, clock - item.id.clock);
        }
        let item = store.items[slot];
        if item.end() > end {
            split(store, changes, slot, end - item.id.clock);
        }
        clock = store.items[slot].end();
        delete(store, changes, slot);
    }
}
