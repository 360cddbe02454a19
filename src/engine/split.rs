//! Cutting an item in two.
//!
//! Cost: O(log n) for the lists and the tree; no text is copied, except where the cut goes through a surrogate pair:
//! then both halves get U+FFFD, as in Yjs (each replica does it when it splits there).

use smallvec::SmallVec;

use crate::block::content::Content;
use crate::block::index::ItemIdx;
use crate::block::item::{Flags, Id, Item, Kind};
use crate::change::ChangeSet;
use crate::store::Store;

/// What stands for half a surrogate pair.
const REPLACEMENT: &str = "\u{FFFD}";

/// Cuts the item in `slot` so that it is no wider than `wanted`, in the document's offset kind. Returns its width then;
/// `None` if `wanted` ends within its first character.
#[inline]
pub(crate) fn cut_to_width(
    store: &mut Store,
    changes: &mut ChangeSet,
    slot: ItemIdx,
    wanted: u32,
) -> Option<u32> {
    let item = store.items[slot];
    let width = store.width(&item);
    if width <= wanted {
        return Some(width);
    }
    let units = store.units(&item, wanted);
    if units == 0 {
        return None;
    }
    split(store, changes, slot, units);
    Some(wanted)
}

/// Splits `slot` after `offset` clock units (0 < offset < len) and returns the right part.
pub(crate) fn split(store: &mut Store, changes: &mut ChangeSet, slot: ItemIdx, offset: u32) -> ItemIdx {
    let item = store.items[slot];
    debug_assert!(offset > 0 && offset < item.len, "split of {item:?} at {offset}");
    let mut right = Item {
        id: Id::new(item.id.client, item.id.clock + offset),
        len: item.len - offset,
        origin: Id::new(item.id.client, item.id.clock + offset - 1),
        left: slot,
        ..item
    };
    right.flags.set(Flags::LEFT_CHOSEN);
    if item.flags.has(Flags::REDONE)
        && let Some(copy) = store.redone.get(&item.id).copied()
    {
        store.redone.insert(right.id, Id::new(copy.client, copy.clock + offset));
    }
    split_content(store, slot, offset, &mut right);
    let right_slot = store.items.alloc(right);
    let left = &mut store.items[slot];
    left.len = offset;
    left.right = right_slot;
    if item.right.is_some() {
        store.items[item.right].left = right_slot;
    }
    if item.flags.has(Flags::LINKED) {
        store.links.copy(slot, right_slot);
    }
    if item.is_item() {
        relink(store, &item, slot, right_slot);
    }
    store.client_mut(item.id.client).blocks.insert(right.id.clock, right_slot);
    changes.candidates.push(right_slot);
    right_slot
}

/// Tells the parent of the new right part.
fn relink(store: &mut Store, item: &Item, slot: ItemIdx, right_slot: ItemIdx) {
    let key = item.key();
    if key.is_some() {
        if item.right.is_none() {
            store.branches[item.parent].map.set(key, right_slot);
        }
        return;
    }
    let width = store.visible_width(&store.items[slot]);
    let right_width = store.visible_width(&store.items[right_slot]);
    let node = &mut store.branches[item.parent];
    node.items += 1;
    if item.right.is_none() {
        node.end = right_slot;
    }
    if let Some(tree) = &mut node.tree {
        let mut view = Store::tree_view(&mut store.items, &store.contents);
        tree.set_width(&view, slot, width);
        tree.insert_after(&mut view, slot, right_slot, right_width);
    }
}

fn split_content(store: &mut Store, slot: ItemIdx, offset: u32, right: &mut Item) {
    let item = store.items[slot];
    match item.kind() {
        Kind::String if item.flags.has(Flags::ASCII) => right.content = item.content + offset,
        Kind::String => split_text(store, slot, offset, right),
        Kind::Any => {
            let Content::Any(values) = store.contents.get_mut(item.content) else {
                unreachable!("an Any item holds other content")
            };
            let tail: SmallVec<_> = values.drain(offset as usize..).collect();
            right.content = store.contents.alloc(Content::Any(tail));
        }
        Kind::Json => {
            let Content::Json(values) = store.contents.get_mut(item.content) else {
                unreachable!("a Json item holds other content")
            };
            let tail = values.split_off(offset as usize);
            right.content = store.contents.alloc(Content::Json(tail));
        }
        Kind::Gc | Kind::Skip | Kind::Deleted => {}
        other => unreachable!("content {other:?} has length 1 and cannot be split"),
    }
}

/// Splits a string that is not ASCII; widths of both parts are settled by the caller.
fn split_text(store: &mut Store, slot: ItemIdx, offset: u32, right: &mut Item) {
    let item = store.items[slot];
    let client = item.id.client;
    let end = store.text_end(&item);
    let (byte, inside) = store.client(client).text.byte_at(item.content, offset);
    if inside {
        let text = store.client(client).text.slice(item.content, end);
        let cut = (byte - item.content) as usize;
        let before = format!("{}{REPLACEMENT}", &text[..cut]);
        let after = format!("{REPLACEMENT}{}", &text[cut + 4..]);
        let delta = (before.len() + after.len()) as u32 - (end - item.content);
        store.client_mut(client).text.add_garbage(end - item.content);
        store.items[slot].content = store.push_text(client, &before).0;
        right.content = store.push_text(client, &after).0;
        if item.is_visible() && store.offset_kind == crate::store::OffsetKind::Bytes {
            store.branches[item.parent].len += delta;
        }
        store.clear_marker_of(&item);
        return;
    }
    right.content = byte;
    // As many bytes as UTF-16 units: ASCII only.
    if byte - item.content == offset {
        store.items[slot].flags.set(Flags::ASCII);
    }
    if end - byte == right.len {
        right.flags.set(Flags::ASCII);
    }
}

/// The item that ends with `id`, split off if need be. A collected range is never split.
pub(crate) fn clean_end(store: &mut Store, changes: &mut ChangeSet, id: Id) -> ItemIdx {
    let slot = store.item_at(id);
    let item = &store.items[slot];
    if item.is_item() && item.end() - 1 != id.clock {
        let offset = id.clock + 1 - item.id.clock;
        split(store, changes, slot, offset);
    }
    slot
}

/// The item that starts with `id`, split off if need be. A collected range is never split.
pub(crate) fn clean_start(store: &mut Store, changes: &mut ChangeSet, id: Id) -> ItemIdx {
    let slot = store.item_at(id);
    let item = &store.items[slot];
    if item.is_item() && item.id.clock != id.clock {
        let offset = id.clock - item.id.clock;
        return split(store, changes, slot, offset);
    }
    slot
}
