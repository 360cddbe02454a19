//! Local edits of sequences and maps: where the item goes decides the bytes.
//!
//! Positions are those of Yjs. A list inserts right of the last visible item before the index; a text also steps over
//! deleted items. What can be done without a new item is done so (see `in_place`). Cost O(1) at the search marker,
//! O(log n) elsewhere.

use super::delete::delete;
use super::in_place::{extend_any, shift_boundary};
use super::place::{NewContent, place_new};
use super::split::{cut_to_width, split};
use crate::block::index::{BranchIdx, ItemIdx, KeyIdx};
use crate::branch::node::SearchMarker;
use crate::change::ChangeSet;
use crate::store::Store;

/// The neighbours of a place in a list: the last visible item before `index` and what follows it.
pub(crate) fn list_position(
    store: &mut Store,
    changes: &mut ChangeSet,
    branch: BranchIdx,
    index: u32,
) -> (ItemIdx, ItemIdx, u32) {
    if index == 0 {
        return (ItemIdx::NONE, store.branches[branch].start, 0);
    }
    let Some((slot, offset)) = store.find_marked(branch, index - 1) else {
        unreachable!("the caller checks the index: {index} > {}", store.branches[branch].len)
    };
    let start = index - 1 - offset;
    let units = store.units(&store.items[slot], offset + 1);
    if units == 0 {
        // Within the first character of an item.
        return list_position(store, changes, branch, start);
    }
    if units < store.items[slot].len {
        split(store, changes, slot, units);
    }
    let item = &store.items[slot];
    let index = if units == offset + 1 { index } else { start + store.width(item) };
    (slot, item.right, index)
}

/// Inserts one content into a list at `index`, which must not exceed its length.
pub(crate) fn list_insert(
    store: &mut Store,
    changes: &mut ChangeSet,
    branch: BranchIdx,
    index: u32,
    content: NewContent<'_>,
) -> ItemIdx {
    let (left, right, index) = list_position(store, changes, branch, index);
    list_insert_at(store, changes, branch, index, (left, right), content)
}

/// As [`list_insert`], between two known neighbours.
pub(crate) fn list_insert_at(
    store: &mut Store,
    changes: &mut ChangeSet,
    branch: BranchIdx,
    index: u32,
    (left, right): (ItemIdx, ItemIdx),
    content: NewContent<'_>,
) -> ItemIdx {
    let content = match content {
        NewContent::Any(values) => match extend_any(store, changes, left, right, values) {
            Ok(()) => return left,
            Err(values) => NewContent::Any(values),
        },
        other => other,
    };
    let slot = place_new(store, changes, branch, KeyIdx::NONE, left, right, content);
    if store.items[slot].is_visible() {
        store.branches[branch].marker = SearchMarker { item: slot, index };
    }
    slot
}

/// Appends one content after the very last item of a list, deleted ones included.
pub(crate) fn list_push(
    store: &mut Store,
    changes: &mut ChangeSet,
    branch: BranchIdx,
    content: NewContent<'_>,
) -> ItemIdx {
    let (left, index) = (store.branches[branch].end, store.branches[branch].len);
    list_insert_at(store, changes, branch, index, (left, ItemIdx::NONE), content)
}

/// Sets a key of a map.
pub(crate) fn map_set(
    store: &mut Store,
    changes: &mut ChangeSet,
    branch: BranchIdx,
    key: KeyIdx,
    content: NewContent<'_>,
) -> ItemIdx {
    let left = store.branches[branch].map.get(key);
    place_new(store, changes, branch, key, left, ItemIdx::NONE, content)
}

/// Deletes `len` of a sequence from `index` on; the range must be within its length.
pub(crate) fn list_delete(
    store: &mut Store,
    changes: &mut ChangeSet,
    branch: BranchIdx,
    index: u32,
    len: u32,
) {
    if len == 0 {
        return;
    }
    let Some((slot, offset)) = store.find_marked(branch, index) else { return };
    if shift_boundary(store, changes, slot, offset, len) {
        return;
    }
    let first = start_of(store, changes, slot, offset);
    let index = boundary(store, slot, first, index - offset);
    let next = delete_from(store, changes, first, len);
    mark_beside(store, branch, first, next, index);
}

/// The item that starts `offset` into `slot`.
pub(crate) fn start_of(store: &mut Store, changes: &mut ChangeSet, slot: ItemIdx, offset: u32) -> ItemIdx {
    let units = store.units(&store.items[slot], offset);
    if units == 0 { slot } else { split(store, changes, slot, units) }
}

/// The index of `right`, which [`start_of`] made of a place in `slot`, whose own index is `start`. It is less than what was
/// asked for where that was a byte within a character.
#[inline]
pub(crate) fn boundary(store: &Store, slot: ItemIdx, right: ItemIdx, start: u32) -> u32 {
    if right == slot { start } else { start + store.width(&store.items[slot]) }
}

/// Deletes visible items from `first` on until `len` is used up. Returns the item after the last one.
pub(crate) fn delete_from(store: &mut Store, changes: &mut ChangeSet, first: ItemIdx, len: u32) -> ItemIdx {
    let mut left_over = len;
    let mut at = first;
    while left_over > 0
        && let Some(slot) = at.some()
    {
        let item = store.items[slot];
        if item.is_visible() {
            let Some(width) = cut_to_width(store, changes, slot, left_over) else { break };
            left_over -= width;
            delete(store, changes, slot);
        }
        at = store.items[slot].right;
    }
    at
}

/// Moves the search marker to a live item beside a deleted range that began at `index` with `first`.
fn mark_beside(store: &mut Store, branch: BranchIdx, first: ItemIdx, next: ItemIdx, index: u32) {
    let left = store.items[first].left;
    let marker = if left.is_some() && store.items[left].is_visible() {
        SearchMarker { item: left, index: index - store.width(&store.items[left]) }
    } else if next.is_some() && store.items[next].is_visible() {
        SearchMarker { item: next, index }
    } else {
        return;
    };
    store.branches[branch].marker = marker;
}
