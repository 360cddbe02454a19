//! Edits in place: what placing or integrating an item, deleting and squashing would leave behind, without the item.
//!
//! Whoever types continues the last item of a client, whoever deletes backwards widens the deleted run beside an item, and
//! both make two items that the commit joins at once. Here the neighbour is changed instead: *extend* appends to the last
//! item of a client if what follows that is its right origin, *shift* moves the boundary between an item and the deleted
//! run beside it. Local edits come from `insert` and `format`, updates from `apply`.
//!
//! An item may thus be partly new and a deleted run partly newly deleted: whoever looks at changes goes by clocks. Cost
//! O(1) where the search marker or the cursor of the position tree stands, else O(log n).

use smallvec::SmallVec;
use yatta_encoding::Value;

use crate::block::content::Content;
use crate::block::index::{BranchIdx, ClientIdx, ItemIdx, KeyIdx};
use crate::block::item::{Flags, Id, Item, Kind};
use crate::block::text_buffer::utf16_len;
use crate::branch::node::SearchMarker;
use crate::change::ChangeSet;
use crate::store::{OffsetKind, Store};

/// Flags of items that must stay as they are: their id is known elsewhere, or what is kept must not keep what is inserted
/// and deleted at once.
pub(crate) const PINNED: u32 = Flags::REDONE | Flags::LINKED | Flags::KEEP;

/// Whether an item is the last of its client and content that continues it would join it.
#[inline]
fn is_open(store: &Store, item: &Item, kind: Kind) -> bool {
    item.flags.is(kind)
        && !item.flags.has(PINNED | Flags::DELETED | Flags::MAP)
        && item.end() == store.state(item.id.client)
}

/// Whether what follows an item is its right origin: then nobody else wrote at its end.
#[inline]
fn is_undisputed(store: &Store, item: &Item, right: ItemIdx) -> bool {
    match right.some() {
        None => item.right_origin.is_none(),
        // Beside what is quoted an item of its own is marked.
        Some(right) => {
            let right = &store.items[right];
            right.id == item.right_origin && !right.flags.has(Flags::LINKED)
        }
    }
}

/// Whether new content of our own client between `left` and `right` would join `left`.
#[inline]
fn can_extend(store: &Store, left: &Item, right: ItemIdx, kind: Kind) -> bool {
    left.id.client == store.me && is_open(store, left, kind) && is_undisputed(store, left, right)
}

/// Counts units that were added to the end of the last item of a client.
#[inline(always)]
fn grow(store: &mut Store, changes: &mut ChangeSet, slot: ItemIdx, units: u32, width: u32) {
    let item = &mut store.items[slot];
    item.len += units;
    let (client, parent) = (item.id.client, item.parent);
    let next = &mut store.client_mut(client).next;
    let clock = *next;
    *next = clock + units;
    changes.note_before(client, clock);
    let node = &mut store.branches[parent];
    node.len += width;
    if let Some(tree) = &mut node.tree {
        tree.add_width(&Store::tree_view(&mut store.items, &store.contents), slot, i64::from(width));
    }
    changes.touch(parent, KeyIdx::NONE);
}

/// Stops before anything is changed if a client would run out of clocks.
#[inline]
fn check_room(next: u32, units: u32) {
    assert!(next.checked_add(units).is_some(), "a client has fewer than 2^32 units: {next} and {units} more");
}

/// Appends text to an open item whose text is the last of its client. Returns false if that is not so.
// Inlined, so that what the caller has looked up is not looked up again.
#[inline(always)]
fn append_text(store: &mut Store, changes: &mut ChangeSet, slot: ItemIdx, text: &str, units: u32) -> bool {
    let item = &mut store.items[slot];
    let client = &mut store.clients[item.id.client.get()];
    let end = if item.flags.has(Flags::ASCII) {
        item.content + item.len
    } else {
        client.text.byte_at(item.content, item.len).0
    };
    if end != client.text.len() {
        return false;
    }
    check_room(client.next, units);
    let bytes = text.len() as u32;
    client.text.push_str(text);
    if units != bytes {
        item.flags.clear(Flags::ASCII);
    }
    let width = if store.offset_kind == OffsetKind::Bytes { bytes } else { units };
    grow(store, changes, slot, units, width);
    true
}

fn append_values(store: &mut Store, changes: &mut ChangeSet, slot: ItemIdx, values: SmallVec<[Value; 1]>) {
    let units = values.len() as u32;
    let Item { content, id, .. } = store.items[slot];
    check_room(store.state(id.client), units);
    let Content::Any(list) = store.contents.get_mut(content) else {
        unreachable!("{slot:?} holds no values")
    };
    list.extend(values);
    grow(store, changes, slot, units, units);
}

/// Extends `left` by values, or gives them back.
pub(crate) fn extend_any(
    store: &mut Store,
    changes: &mut ChangeSet,
    left: ItemIdx,
    right: ItemIdx,
    values: SmallVec<[Value; 1]>,
) -> Result<(), SmallVec<[Value; 1]>> {
    if left.is_none() || !can_extend(store, &store.items[left], right, Kind::Any) {
        return Err(values);
    }
    append_values(store, changes, left, values);
    Ok(())
}

/// Extends `left` by text if it would join it. `text` is not empty.
#[inline]
pub(crate) fn extend_text(
    store: &mut Store,
    changes: &mut ChangeSet,
    left: ItemIdx,
    right: ItemIdx,
    text: &str,
) -> bool {
    left.is_some()
        && can_extend(store, &store.items[left], right, Kind::String)
        && append_text(store, changes, left, text, utf16_len(text))
}

/// Inserts text at the end of the marked item without looking anything up, if that item can be extended: what nearly every
/// keystroke is.
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
    let item = &store.items[slot];
    if !can_extend(store, item, item.right, Kind::String) || index.wrapping_sub(start) != store.width(item) {
        return false;
    }
    if let Some(right) = item.right.some() {
        // A text insert steps over deleted items and maybe over format marks: not this place then.
        let flags = store.items[right].flags;
        if flags.has(Flags::DELETED) || flags.is(Kind::Format) {
            return false;
        }
    }
    append_text(store, changes, slot, text, utf16_len(text))
}

/// The last item of a client if a block of an update with these origins, of the next clock, continues it and would join it.
fn continued(store: &Store, client: ClientIdx, kind: Kind, origin: Id, right_origin: Id) -> Option<ItemIdx> {
    let (_, slot) = store.client(client).blocks.last()?;
    let item = &store.items[slot];
    let continues = is_open(store, item, kind)
        && item.last_id() == origin
        && item.right_origin == right_origin
        && is_undisputed(store, item, item.right);
    continues.then_some(slot)
}

/// An update writes into an item: a search marker elsewhere may stand right of it.
#[inline]
fn unmark_others(store: &mut Store, slot: ItemIdx) {
    let node = &mut store.branches[store.items[slot].parent];
    if node.marker.item != slot {
        node.marker = SearchMarker::NONE;
    }
}

/// Takes in text of an update that continues the last item of its client and would join it.
pub(crate) fn continue_text(
    store: &mut Store,
    changes: &mut ChangeSet,
    client: ClientIdx,
    (origin, right_origin): (Id, Id),
    text: &str,
    units: u32,
) -> bool {
    let Some(slot) = continued(store, client, Kind::String, origin, right_origin) else { return false };
    unmark_others(store, slot);
    append_text(store, changes, slot, text, units)
}

/// Takes in values of an update that continue the last item of their client and would join it, or gives them back.
pub(crate) fn continue_any(
    store: &mut Store,
    changes: &mut ChangeSet,
    client: ClientIdx,
    (origin, right_origin): (Id, Id),
    values: SmallVec<[Value; 1]>,
) -> Result<(), SmallVec<[Value; 1]>> {
    let Some(slot) = continued(store, client, Kind::Any, origin, right_origin) else { return Err(values) };
    unmark_others(store, slot);
    append_values(store, changes, slot, values);
    Ok(())
}

/// Deletes `len` units from `offset` on at an edge of a live item by moving the boundary to the collected run beside it.
/// The search marker, if there is one, stands at this item.
pub(crate) fn shift_boundary(
    store: &mut Store,
    changes: &mut ChangeSet,
    slot: ItemIdx,
    offset: u32,
    len: u32,
) -> bool {
    let item = store.items[slot];
    if item.kind() != Kind::String
        || !item.flags.has(Flags::ASCII)
        || item.flags.has(PINNED)
        || store.skip_gc
        || changes.hold_content
        || store.branches[item.parent].has_formats
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

/// As [`shift_boundary`] for a deletion of an update: `clock..end` of a client, within `slot`.
pub(crate) fn shift_deleted(
    store: &mut Store,
    changes: &mut ChangeSet,
    slot: ItemIdx,
    clock: u32,
    end: u32,
) -> bool {
    let item = &store.items[slot];
    if item.flags.has(Flags::DELETED | Flags::MAP) || item.end() < end {
        return false;
    }
    let offset = clock - item.id.clock;
    let shifted = shift_boundary(store, changes, slot, offset, end - clock);
    if shifted {
        unmark_others(store, slot);
    }
    shifted
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
    if run.kind() != Kind::Deleted || run.flags.has(PINNED) || !continues(item, &run) {
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
    if run.kind() != Kind::Deleted || run.flags.has(PINNED) || !continues(&run, item) {
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
    changes.delete(store, id, len);
    changes.touch(parent, KeyIdx::NONE);
}
