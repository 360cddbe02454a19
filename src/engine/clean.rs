//! Removing format marks that say nothing any more, after a remote change of a formatted text.
//!
//! Yjs: `cleanupYTextAfterTransaction`. Where a mark was inserted or deleted the whole text is looked at, else only the gaps
//! around what was deleted.

use super::delete::delete;
use super::format::{Attributes, clean_gap, set_attribute};
use crate::block::index::{BranchIdx, ItemIdx};
use crate::block::item::{Item, Kind};
use crate::change::{ChangeSet, DeletedRange};
use crate::store::Store;

/// Looks for needless marks after `done` and deletes them into `changes`.
pub(crate) fn clean_after(
    store: &mut Store,
    done: &ChangeSet,
    deleted: &[DeletedRange],
    changes: &mut ChangeSet,
) {
    let mut full: Vec<BranchIdx> = Vec::new();
    for (client, before) in done.inserted() {
        let blocks = store.client(*client).blocks.iter_from(*before);
        for (_, slot) in blocks {
            let item = &store.items[slot];
            if Store::is_live_mark(item) && !full.contains(&item.parent) {
                full.push(item.parent);
            }
        }
    }
    for range in deleted {
        let end = range.clock + range.len;
        let slots: Vec<ItemIdx> = store
            .client(range.client)
            .blocks
            .iter_from(range.clock)
            .take_while(|(clock, _)| *clock < end)
            .map(|(_, slot)| slot)
            .collect();
        for slot in slots {
            let item = store.items[slot];
            if !item.is_item() || !store.branches[item.parent].has_formats || full.contains(&item.parent) {
                continue;
            }
            if item.kind() == Kind::Format {
                full.push(item.parent);
            } else {
                clean_contextless_gap(store, changes, slot);
            }
        }
    }
    for branch in full {
        clean_text(store, changes, branch);
    }
}

/// Yjs: `cleanupContextlessFormattingGap`: of several marks of one key in a gap only the last counts.
fn clean_contextless_gap(store: &mut Store, changes: &mut ChangeSet, slot: ItemIdx) {
    let mut at = slot;
    while let Some(right) = store.items[at].right.some()
        && !store.items[right].is_visible()
    {
        at = right;
    }
    let mut seen = Vec::new();
    let mut at = Some(at);
    while let Some(slot) = at {
        let item: Item = store.items[slot];
        if item.is_visible() {
            break;
        }
        if !item.is_deleted()
            && let Some((key, _)) = store.format(&item)
        {
            if seen.contains(&key) {
                changes.clean(store.items[slot].id);
                delete(store, changes, slot);
            } else {
                seen.push(key);
            }
        }
        at = item.left.some();
    }
}

/// Yjs: `cleanupYTextFormatting`.
fn clean_text(store: &mut Store, changes: &mut ChangeSet, branch: BranchIdx) {
    let mut start = store.branches[branch].start;
    let mut end = start;
    let mut start_attributes = Attributes::new();
    let mut attributes = Attributes::new();
    while let Some(slot) = end.some() {
        let item = store.items[slot];
        if !item.is_deleted() {
            if let Some((key, value)) = store.format(&item) {
                let value = value.clone();
                set_attribute(&mut attributes, key, &value);
            } else {
                clean_gap(store, changes, start, slot, &start_attributes, &mut attributes);
                start_attributes = attributes.clone();
                start = slot;
            }
        }
        end = store.items[slot].right;
    }
}
