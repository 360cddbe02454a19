//! Local edits of sequences and maps: where the item goes decides the bytes.
//!
//! Positions are those of Yjs. A list inserts right of the last visible item before the index; a text also steps over
//! deleted items. Two shortcuts give the result that placing, deleting and squashing would give, in place:
//! *extend* one's own last item when its right neighbour is its right origin, and *shift* the boundary between an item
//! and the deleted run beside it. Cost O(1) at the search marker, O(log n) elsewhere.

use yatta_encoding::Value;

use super::delete::delete;
use super::place::{NewContent, place_new};
use super::split::{cut_to_width, split};
use crate::block::content::Content;
use crate::block::index::{BranchIdx, ItemIdx, KeyIdx};
use crate::block::item::{Flags, Id, Item, Kind};
use crate::block::text_buffer::utf16_len;
use crate::branch::node::SearchMarker;
use crate::change::ChangeSet;
use crate::store::{OffsetKind, Store};

/// Flags of items that must stay as they are: their id is known elsewhere.
const PINNED: u32 = Flags::REDONE | Flags::LINKED;

/// The neighbours of a place in a list: the last visible item before `index` and what follows it.
pub(crate) fn list_position(
    store: &mut Store,
    changes: &mut ChangeSet,
    branch: BranchIdx,
    index: u32,
) -> (ItemIdx, ItemIdx) {
    if index == 0 {
        return (ItemIdx::NONE, store.branches[branch].start);
    }
    let Some((slot, offset)) = store.find_marked(branch, index - 1) else {
        unreachable!("the caller checks the index: {index} > {}", store.branches[branch].len)
    };
    let units = store.units(&store.items[slot], offset + 1);
    if units < store.items[slot].len {
        split(store, changes, slot, units);
    }
    (slot, store.items[slot].right)
}

/// Inserts one content into a list at `index`, which must not exceed its length.
pub(crate) fn list_insert(
    store: &mut Store,
    changes: &mut ChangeSet,
    branch: BranchIdx,
    index: u32,
    content: NewContent<'_>,
) -> ItemIdx {
    let (left, right) = list_position(store, changes, branch, index);
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
    if !store.branches[branch].has_formats && shift_boundary(store, changes, slot, offset, len) {
        return;
    }
    let first = start_of(store, changes, slot, offset);
    let next = delete_from(store, changes, first, len);
    mark_beside(store, branch, first, next, index);
}

/// The item that starts `offset` into `slot`.
pub(crate) fn start_of(store: &mut Store, changes: &mut ChangeSet, slot: ItemIdx, offset: u32) -> ItemIdx {
    let units = store.units(&store.items[slot], offset);
    if units == 0 { slot } else { split(store, changes, slot, units) }
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

/// Whether new content of our own client right of `left` would join it: it is our last block and ends where we are,
/// and what follows is its right origin.
fn can_extend(store: &Store, left: ItemIdx, right: ItemIdx, kind: Kind) -> bool {
    let item = &store.items[left];
    item.id.client == store.me
        && item.kind() == kind
        && item.end() == store.state(store.me)
        && !item.is_deleted()
        // What is kept must not keep what is inserted and deleted at once.
        && !item.flags.has(PINNED | Flags::KEEP)
        && match right.some() {
            None => item.right_origin.is_none(),
            // Beside what is quoted an item of its own is marked.
            Some(right) => {
                let right = &store.items[right];
                right.id == item.right_origin && !right.flags.has(Flags::LINKED)
            }
        }
}

/// Counts units that were added to the end of our own last item.
#[inline]
fn grow(store: &mut Store, changes: &mut ChangeSet, slot: ItemIdx, units: u32, width: u32) {
    let me = store.me;
    let clock = store.state(me);
    changes.note_before(me, clock);
    store.client_mut(me).next = clock.checked_add(units).expect("a client has fewer than 2^32 units");
    let item = &mut store.items[slot];
    item.len += units;
    let parent = item.parent;
    let node = &mut store.branches[parent];
    node.len += width;
    if let Some(tree) = &mut node.tree {
        tree.add_width(&Store::tree_view(&mut store.items, &store.contents), slot, i64::from(width));
    }
    changes.touch(parent, KeyIdx::NONE);
}

/// Extends `left` by values, or gives them back.
fn extend_any(
    store: &mut Store,
    changes: &mut ChangeSet,
    left: ItemIdx,
    right: ItemIdx,
    values: smallvec::SmallVec<[Value; 1]>,
) -> Result<(), smallvec::SmallVec<[Value; 1]>> {
    if left.is_none() || !can_extend(store, left, right, Kind::Any) || store.items[left].key().is_some() {
        return Err(values);
    }
    let units = values.len() as u32;
    let content = store.items[left].content;
    let Content::Any(list) = store.contents.get_mut(content) else {
        unreachable!("{left:?} holds no values")
    };
    list.extend(values);
    grow(store, changes, left, units, units);
    Ok(())
}

/// Extends `left` by text if it would join it. `text` is not empty.
pub(crate) fn extend_text(
    store: &mut Store,
    changes: &mut ChangeSet,
    left: ItemIdx,
    right: ItemIdx,
    text: &str,
) -> bool {
    if left.is_none() || !can_extend(store, left, right, Kind::String) {
        return false;
    }
    let item = store.items[left];
    let me = store.me;
    if store.text_end(&item) != store.client(me).text.len() {
        return false;
    }
    let (_, ascii) = store.push_text(me, text);
    let units = if ascii { text.len() as u32 } else { utf16_len(text) };
    let width = if store.offset_kind == OffsetKind::Bytes { text.len() as u32 } else { units };
    if !ascii {
        store.items[left].flags.clear(Flags::ASCII);
    }
    grow(store, changes, left, units, width);
    true
}

/// Inserts text at the end of the marked item without looking anything up, if that item can be extended.
#[inline]
pub(crate) fn extend_at_marker(
    store: &mut Store,
    changes: &mut ChangeSet,
    branch: BranchIdx,
    index: u32,
    text: &str,
) -> bool {
    let SearchMarker { item: slot, index: start } = store.branches[branch].marker;
    if slot.is_none() {
        return false;
    }
    let item = store.items[slot];
    if index.wrapping_sub(start) != store.visible_width(&item) {
        return false;
    }
    if let Some(right) = item.right.some() {
        // A text insert steps over deleted items and maybe over format marks: not this place then.
        let right = &store.items[right];
        if right.is_deleted() || right.kind() == Kind::Format {
            return false;
        }
    }
    extend_text(store, changes, slot, item.right, text)
}

/// Deletes at an edge of an item by moving the boundary to the collected run beside it.
fn shift_boundary(store: &mut Store, changes: &mut ChangeSet, slot: ItemIdx, offset: u32, len: u32) -> bool {
    let item = store.items[slot];
    if item.kind() != Kind::String
        || !item.flags.has(Flags::ASCII)
        || item.flags.has(PINNED | Flags::KEEP)
        || store.skip_gc
        || changes.hold_content
    {
        return false;
    }
    if offset > 0 && offset + len == item.len {
        return shift_left(store, changes, slot, &item, len);
    }
    if offset == 0 && len < item.len {
        return shift_right(store, changes, slot, &item, len);
    }
    false
}

/// Whether `right` continues `left` as Yjs would squash them, were both deleted.
fn continues(left: &Item, right: &Item) -> bool {
    left.id.client == right.id.client
        && left.end() == right.id.clock
        && right.origin == left.last_id()
        && left.right_origin == right.right_origin
}

/// The tail of an item goes to the deleted run at its right.
fn shift_left(store: &mut Store, changes: &mut ChangeSet, slot: ItemIdx, item: &Item, len: u32) -> bool {
    let Some(run_slot) = item.right.some() else { return false };
    let run = store.items[run_slot];
    if run.kind() != Kind::Deleted || run.flags.has(PINNED | Flags::KEEP) || !continues(item, &run) {
        return false;
    }
    let clock = run.id.clock - len;
    let run_item = &mut store.items[run_slot];
    run_item.id.clock = clock;
    run_item.len += len;
    run_item.origin.clock -= len;
    store.items[slot].len -= len;
    store.client_mut(item.id.client).blocks.rekey(run.id.clock, clock);
    store.drop_text(item.id.client, item.content + item.len - len, item.content + item.len);
    shrink(store, changes, slot, Id::new(item.id.client, clock), len);
    true
}

/// The head of an item goes to the deleted run at its left.
fn shift_right(store: &mut Store, changes: &mut ChangeSet, slot: ItemIdx, item: &Item, len: u32) -> bool {
    let Some(run_slot) = item.left.some() else { return false };
    let run = store.items[run_slot];
    if run.kind() != Kind::Deleted || run.flags.has(PINNED | Flags::KEEP) || !continues(&run, item) {
        return false;
    }
    store.items[run_slot].len += len;
    let moved = &mut store.items[slot];
    moved.id.clock += len;
    moved.len -= len;
    moved.origin.clock += len;
    moved.content += len;
    store.client_mut(item.id.client).blocks.rekey(item.id.clock, item.id.clock + len);
    store.drop_text(item.id.client, item.content, item.content + len);
    shrink(store, changes, slot, item.id, len);
    true
}

/// Counts units that left an item.
fn shrink(store: &mut Store, changes: &mut ChangeSet, slot: ItemIdx, id: Id, len: u32) {
    let parent = store.items[slot].parent;
    let node = &mut store.branches[parent];
    node.len -= len;
    if let Some(tree) = &mut node.tree {
        tree.add_width(&Store::tree_view(&mut store.items, &store.contents), slot, -i64::from(len));
    }
    changes.delete(id, len);
    changes.touch(parent, KeyIdx::NONE);
}
