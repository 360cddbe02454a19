//! Finding the place of a remote item among concurrent ones (YATA) and linking it there.
//!
//! Usual cost: two lookups by id. If others inserted at the same place, the run of concurrent items is scanned, with
//! visit stamps in place of Yjs's two sets. The B2.1 rule avoids that scan where one peer prepended a long run: an
//! item remembers (flag `LEFT_CHOSEN`) that its left neighbour is still the one that integration chose for it; a new
//! item of the same client and origin whose right origin it is must then stand directly left of it, because every
//! item between the origin and that neighbour was judged before and would be judged the same. Refused: an index of
//! siblings per (parent, origin), which costs memory in every document for a case of few.

use super::place::place;
use super::split::{clean_end, clean_start};
use crate::block::content::Content;
use crate::block::index::{BranchIdx, ClientIdx, ItemIdx, KeyIdx};
use crate::block::item::{Flags, Id, Item, Kind};
use crate::change::ChangeSet;
use crate::store::Store;

/// Where a remote item says that it belongs.
#[derive(Clone, Copy, Debug)]
pub(crate) enum IncomingParent {
    /// To the parent of its origin, or of its right origin.
    Inherit,
    Branch(BranchIdx),
    Item(Id),
}

/// Stores a collected range at the end of its client's blocks.
pub(crate) fn integrate_collected(store: &mut Store, changes: &mut ChangeSet, id: Id, len: u32) {
    changes.note_before(id.client, id.clock);
    store.client_mut(id.client).next = id.clock + len;
    let slot = store.items.alloc(Item::bare(Kind::Gc, id, len));
    let client = store.client_mut(id.client);
    client.blocks.push(id.clock, slot);
    client.deleted.note(id.clock, len);
    changes.candidates.push(slot);
}

/// Integrates an item whose dependencies are all here and whose content is stored; its neighbours, parent and place are
/// still open. One whose parent is gone is stored as a collected range. `hint` is an item that may be the origin (the
/// last one integrated: runs of items follow each other). Returns the new item, or `NONE` for a collected range.
pub(crate) fn integrate(
    store: &mut Store,
    changes: &mut ChangeSet,
    mut item: Item,
    parent: IncomingParent,
    key: KeyIdx,
    hint: ItemIdx,
) -> ItemIdx {
    let left = if item.origin.is_none() {
        ItemIdx::NONE
    } else if hint.is_some() && store.items[hint].last_id() == item.origin {
        hint
    } else {
        clean_end(store, changes, item.origin)
    };
    let right = if item.right_origin.is_some() {
        right_of_origin(store, changes, left, item.right_origin)
    } else {
        ItemIdx::NONE
    };
    let Some((parent, key)) = parent_of(store, parent, key, left, right) else {
        let (id, len) = (item.id, item.len);
        discard_content(store, item);
        integrate_collected(store, changes, id, len);
        return ItemIdx::NONE;
    };
    let first = match left.some() {
        Some(left) => store.items[left].right,
        None => first_of(store, parent, key),
    };
    let left = if first == right || (left.is_none() && right.is_some() && store.items[right].left.is_none()) {
        left
    } else {
        let origins = (item.origin, item.right_origin);
        resolve(store, item.id.client, origins, (parent, key), left, (first, right))
    };
    let right = match left.some() {
        Some(left) => store.items[left].right,
        None => first,
    };
    if store.branches[parent].marker.item.is_some() {
        store.clear_marker(parent);
    }
    (item.left, item.right, item.parent, item.place) = (left, right, parent, key.0);
    let slot = place(store, changes, item);
    if left.is_none() && key.is_some() {
        store.first_entry = slot;
    }
    slot
}

/// Lets the content of an item go that gets no place.
#[cold]
fn discard_content(store: &mut Store, item: Item) {
    match item.kind() {
        Kind::Deleted => {}
        Kind::String => store.drop_text(item.id.client, item.content, store.text_end(&item)),
        Kind::Type => {
            if let Content::Type(branch) = store.contents.take(item.content) {
                store.branches.free(branch);
            }
        }
        _ => {
            store.contents.take(item.content);
        }
    }
}

/// The item that starts with the right origin. Usually it is the neighbour of the left one: no lookup then.
fn right_of_origin(store: &mut Store, changes: &mut ChangeSet, left: ItemIdx, id: Id) -> ItemIdx {
    if let Some(left) = left.some() {
        let next = store.items[left].right;
        if next.is_some() && store.items[next].id == id {
            return next;
        }
    }
    clean_start(store, changes, id)
}

/// The parent and key of an incoming item; `None` if it was collected or was never a type.
fn parent_of(
    store: &Store,
    parent: IncomingParent,
    key: KeyIdx,
    left: ItemIdx,
    right: ItemIdx,
) -> Option<(BranchIdx, KeyIdx)> {
    let gone = |slot: ItemIdx| slot.is_some() && !store.items[slot].is_item();
    if gone(left) || gone(right) {
        return None;
    }
    // A block whose front was known already goes on where that front stands, whatever parent it claims.
    let parent = if left.is_some() { IncomingParent::Inherit } else { parent };
    match parent {
        IncomingParent::Branch(branch) => Some((branch, key)),
        IncomingParent::Item(id) => {
            let item = &store.items[store.item_at(id)];
            match item.kind() {
                Kind::Type => match store.boxed(item) {
                    Content::Type(branch) => Some((*branch, key)),
                    other => unreachable!("{item:?} holds {other:?}"),
                },
                _ => None,
            }
        }
        IncomingParent::Inherit => {
            let neighbour = left.some().or(right.some())?;
            let neighbour = &store.items[neighbour];
            Some((neighbour.parent, neighbour.key()))
        }
    }
}

/// The first item of a sequence, or of the chain of a key. Where many set the same key, the chain is long and the first
/// is mostly the one that came last: that is tried before the chain is walked.
fn first_of(store: &Store, parent: BranchIdx, key: KeyIdx) -> ItemIdx {
    if key.is_none() {
        return store.branches[parent].start;
    }
    if let Some(hint) = store.first_entry.some() {
        let item = &store.items[hint];
        if item.flags.has(Flags::MAP) && item.left.is_none() && (item.parent, item.key()) == (parent, key) {
            return hint;
        }
    }
    let mut at = store.branches[parent].map.get(key);
    while let Some(slot) = at.some() {
        let left = store.items[slot].left;
        if left.is_none() {
            return slot;
        }
        at = left;
    }
    at
}

/// YATA: the left neighbour of an item among those that others inserted between its origins, from `first` to `right`.
fn resolve(
    store: &mut Store,
    client: ClientIdx,
    (origin, right_origin): (Id, Id),
    place: (BranchIdx, KeyIdx),
    left: ItemIdx,
    (first, right): (ItemIdx, ItemIdx),
) -> ItemIdx {
    if let Some(right) = right.some() {
        let next = &store.items[right];
        if next.id.client == client
            && next.origin == origin
            && (next.parent, next.key()) == place
            && next.flags.has(Flags::LEFT_CHOSEN)
        {
            return next.left;
        }
    }
    let mut scan = std::mem::take(&mut store.scan);
    if scan.tick > u32::MAX / 2 {
        scan.stamps.clear();
        scan.tick = 0;
    }
    let begin = scan.tick + 1;
    // Stamps below this belong to items that are before the item for good: not in conflict with it any more.
    let mut in_conflict = begin;
    let mut chosen = left;
    let mut at = first;
    while let Some(slot) = at.some()
        && slot != right
    {
        scan.tick += 1;
        if scan.stamps.len() <= slot.get() {
            scan.stamps.resize(slot.get() + 1, 0);
        }
        scan.stamps[slot.get()] = scan.tick;
        let other = &store.items[slot];
        if other.origin == origin {
            if precedes(store, other.id.client, client) {
                chosen = slot;
                in_conflict = scan.tick + 1;
            } else if other.right_origin == right_origin {
                break;
            }
        } else if other.origin.is_some() {
            let before = store.item_at(other.origin);
            let stamp = scan.stamps.get(before.get()).copied().unwrap_or(0);
            if stamp < begin {
                break;
            }
            if stamp < in_conflict {
                chosen = slot;
                in_conflict = scan.tick + 1;
            }
        } else {
            break;
        }
        at = other.right;
    }
    store.scan = scan;
    chosen
}

fn precedes(store: &Store, a: ClientIdx, b: ClientIdx) -> bool {
    store.client(a).id < store.client(b).id
}
