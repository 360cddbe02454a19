//! Joining neighbours that were written as one run, at the commit.
//!
//! Only what the transaction deleted and its candidates are looked at, each against its left neighbours. Keeps I6. The conditions are those of Yjs, so that the bytes are too.

use crate::block::content::Content;
use crate::block::index::{ItemIdx, KeyIdx};
use crate::block::item::{Flags, Id, Item, Kind};
use crate::branch::node::SearchMarker;
use crate::change::{ChangeSet, DeletedRange};
use crate::store::Store;

/// Joins what can be joined: collected ranges within and around `collected` (deletions of the transaction, none if it
/// collected no type), then the candidates from the last to the first.
pub(crate) fn squash(store: &mut Store, changes: &mut ChangeSet, collected: &[DeletedRange]) {
    // From the last to the first, as in Yjs: what one range is joined to may end before a collected range that only the
    // next one meets.
    for range in collected.iter().rev() {
        join_range(store, range);
    }
    let mut candidates = std::mem::take(&mut changes.candidates);
    for slot in candidates.iter().rev() {
        let flags = store.items[*slot].flags;
        if flags.has(Flags::FREE) {
            continue;
        }
        if flags.kind() == Kind::Gc {
            join_left(store, *slot);
        } else {
            merge_run(store, *slot);
        }
    }
    candidates.clear();
    changes.candidates = candidates;
    // Yjs: the rest of `_mergeStructs`. By id, as they may be part of another block by now.
    for id in changes.old_children.iter().rev() {
        let slot = store.item_at(*id);
        let item = &store.items[slot];
        if item.kind() == Kind::Gc {
            join_collected(store, slot);
            continue;
        }
        let right = item.right;
        if right.is_none() || !try_merge(store, right) {
            merge_run(store, slot);
        }
    }
}

/// Joins an item to its left neighbour, that one to its own, and so on as long as they can be one: what was kept or cut
/// before may still stand apart there.
fn merge_run(store: &mut Store, slot: ItemIdx) {
    let mut at = slot;
    loop {
        let left = store.items[at].left;
        if !try_merge(store, at) {
            break;
        }
        at = left;
    }
}

/// Joins an item to its left neighbour if the two can be one.
pub(crate) fn try_merge(store: &mut Store, slot: ItemIdx) -> bool {
    let right = store.items[slot];
    if right.left.is_none() {
        return false;
    }
    let left = store.items[right.left];
    if !can_merge(&left, &right) || !merge_content(store, right.left, slot) {
        return false;
    }
    let left_slot = right.left;
    let merged = &mut store.items[left_slot];
    merged.len += right.len;
    merged.right = right.right;
    if !right.flags.has(Flags::ASCII) {
        merged.flags.clear(Flags::ASCII);
    }
    if right.flags.has(Flags::KEEP) {
        merged.flags.set(Flags::KEEP);
    }
    if right.right.is_some() {
        store.items[right.right].left = left_slot;
    }
    unlink_right(store, &left, left_slot, &right, slot);
    store.client_mut(right.id.client).blocks.remove(right.id.clock);
    store.items.free(slot);
    true
}

/// Whether two neighbours could be one after the commit has collected deleted content.
pub(crate) fn may_merge(left: &Item, right: &Item) -> bool {
    left.end() == right.id.clock && (can_merge(left, right) || left.is_deleted() && right.is_deleted())
}

/// Whether two neighbours were written as one run, as far as ids and flags tell. Yjs: `Item.mergeWith`.
pub(crate) fn can_merge(left: &Item, right: &Item) -> bool {
    const NEVER: u32 = Flags::REDONE | Flags::LINKED;
    left.id.client == right.id.client
        && left.end() == right.id.clock
        && left.kind() == right.kind()
        && right.origin == left.last_id()
        && left.right_origin == right.right_origin
        && left.is_deleted() == right.is_deleted()
        && !left.flags.has(NEVER)
        && !right.flags.has(NEVER)
}

/// Appends the content of `right` to that of `left`; false if this kind of content does not join.
fn merge_content(store: &mut Store, left: ItemIdx, right: ItemIdx) -> bool {
    let (left_item, right_item) = (store.items[left], store.items[right]);
    match left_item.kind() {
        Kind::Deleted => true,
        Kind::String => {
            merge_text(store, left, &left_item, &right_item);
            true
        }
        Kind::Any => {
            let Content::Any(mut tail) = store.contents.take(right_item.content) else {
                unreachable!("{right_item:?} holds no values")
            };
            let Content::Any(values) = store.contents.get_mut(left_item.content) else {
                unreachable!("{left_item:?} holds no values")
            };
            values.append(&mut tail);
            true
        }
        Kind::Json => {
            let Content::Json(mut tail) = store.contents.take(right_item.content) else {
                unreachable!("{right_item:?} holds no values")
            };
            let Content::Json(values) = store.contents.get_mut(left_item.content) else {
                unreachable!("{left_item:?} holds no values")
            };
            values.append(&mut tail);
            true
        }
        _ => false,
    }
}

/// Contiguous clocks are contiguous bytes, unless a surrogate pair was split: then both parts are copied.
fn merge_text(store: &mut Store, left: ItemIdx, left_item: &Item, right_item: &Item) {
    let left_end = store.text_end(left_item);
    if left_end == right_item.content {
        return;
    }
    let client = left_item.id.client;
    let right_end = store.text_end(right_item);
    let text = &store.client(client).text;
    let joined =
        [text.slice(left_item.content, left_end), text.slice(right_item.content, right_end)].concat();
    let start = store.push_text(client, &joined).0;
    store.drop_text(client, left_item.content, left_end);
    store.drop_text(client, right_item.content, right_end);
    store.items[left].content = start;
}

/// Takes the right item out of its parent; `left` is the left item as it was.
fn unlink_right(store: &mut Store, left: &Item, left_slot: ItemIdx, right: &Item, slot: ItemIdx) {
    let key: KeyIdx = right.key();
    if key.is_some() {
        if right.right.is_none() {
            store.branches[right.parent].map.set(key, left_slot);
        }
        return;
    }
    let right_width = store.visible_width(right);
    let left_width = store.visible_width(left);
    let node = &mut store.branches[right.parent];
    node.items -= 1;
    if right.right.is_none() {
        node.end = left_slot;
    }
    if node.marker.item == slot {
        node.marker = SearchMarker { item: left_slot, index: node.marker.index - left_width };
    }
    if let Some(tree) = &mut node.tree {
        let mut view = Store::tree_view(&mut store.items, &store.contents);
        tree.remove(&mut view, slot);
        if right_width > 0 {
            tree.set_width(&view, left_slot, left_width + right_width);
        }
    }
}

/// The block before or after another one of the same client.
fn neighbour(store: &Store, slot: ItemIdx, after: bool) -> Option<ItemIdx> {
    let item = &store.items[slot];
    let blocks = &store.client(item.id.client).blocks;
    let pos = blocks.position(item.id.clock)?;
    let pos = if after { blocks.next(pos) } else { blocks.prev(pos) };
    Some(blocks.at(pos?)?.1)
}

/// Joins the collected ranges that begin within a deletion, and the one directly after it, to what is collected before
/// them. Yjs: `tryMergeDeleteSet`.
fn join_range(store: &mut Store, range: &DeletedRange) {
    let last = store.item_at(Id::new(range.client, range.clock + range.len - 1));
    let mut at = neighbour(store, last, true).or(Some(last));
    while let Some(slot) = at
        && store.items[slot].id.clock >= range.clock
    {
        let first = if store.items[slot].kind() == Kind::Gc { join_left(store, slot) } else { slot };
        at = neighbour(store, first, false);
    }
}

/// Joins a collected range to all those directly before it. Returns what it is part of now.
fn join_left(store: &mut Store, slot: ItemIdx) -> ItemIdx {
    let mut at = slot;
    while let Some(previous) = neighbour(store, at, false)
        && store.items[previous].kind() == Kind::Gc
    {
        absorb(store, previous, at);
        at = previous;
    }
    at
}

/// Joins a collected range to the one after it, and to all those directly before it.
fn join_collected(store: &mut Store, slot: ItemIdx) {
    if let Some(next) = neighbour(store, slot, true)
        && store.items[next].kind() == Kind::Gc
    {
        absorb(store, slot, next);
    }
    join_left(store, slot);
}

fn absorb(store: &mut Store, left: ItemIdx, right: ItemIdx) {
    let item = store.items[right];
    store.items[left].len += item.len;
    store.client_mut(item.id.client).blocks.remove(item.id.clock);
    store.items.free(right);
}
