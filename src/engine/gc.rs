//! Letting deleted content go, at the commit: content of deleted items becomes `Deleted`, what a deleted type held
//! becomes collected ranges.
//!
//! Only the ranges that a transaction deleted are looked at. Keeps I7.

use crate::block::content::Content;
use crate::block::index::{BranchIdx, ClientIdx, ItemIdx};
use crate::block::item::{Flags, Item, Kind};
use crate::change::{ChangeSet, DeletedRange};
use crate::store::Store;

/// Decides whether a deleted item may be collected.
pub(crate) type Filter<'f> = dyn Fn(&Store, ItemIdx) -> bool + 'f;

/// Collects the deleted items in `ranges` that nobody keeps and the filter lets go. Returns whether there are new collected
/// ranges.
pub(crate) fn gc(store: &mut Store, ranges: &[DeletedRange], filter: Option<&Filter<'_>>) -> bool {
    let mut collected = false;
    for range in ranges {
        collected |= collect_range(store, range.client, range.clock, range.clock + range.len, filter);
    }
    collected
}

fn collect_range(
    store: &mut Store,
    client: ClientIdx,
    clock: u32,
    end: u32,
    filter: Option<&Filter<'_>>,
) -> bool {
    let mut collected = false;
    let mut at = store.client(client).blocks.position(clock);
    while let Some(pos) = at {
        let Some((start, slot)) = store.client(client).blocks.at(pos) else { break };
        if start >= end {
            break;
        }
        let item = &store.items[slot];
        if item.is_deleted() && item.is_item() && item.kind() != Kind::Deleted && !item.flags.has(Flags::KEEP)
        {
            if filter.is_none_or(|filter| filter(store, slot)) {
                collected |= collect(store, slot);
            } else {
                // Nobody asks again.
                store.items[slot].flags.set(Flags::RELEASED);
            }
        }
        at = store.client(client).blocks.next(pos);
    }
    collected
}

/// Lets the content of one deleted item go; the item stays and keeps its origins. Returns whether it held a type, whose
/// children are collected ranges now.
fn collect(store: &mut Store, slot: ItemIdx) -> bool {
    let mut open = Vec::new();
    drop_content(store, slot, &mut open);
    let held_type = !open.is_empty();
    while let Some(branch) = open.pop() {
        collect_children(store, branch, &mut open);
        store.branches.free(branch);
    }
    held_type
}

/// As `Store::drop_content`; a type is put on `open` for its children to be collected.
fn drop_content(store: &mut Store, slot: ItemIdx, open: &mut Vec<BranchIdx>) {
    let item = store.items[slot];
    if item.kind() == Kind::Type
        && let Content::Type(branch) = *store.boxed(&item)
    {
        open.push(branch);
    }
    store.drop_content(slot);
}

fn collect_children(store: &mut Store, branch: BranchIdx, open: &mut Vec<BranchIdx>) {
    let mut at = store.branches[branch].start;
    while let Some(slot) = at.some() {
        at = store.items[slot].right;
        collect_child(store, slot, open);
    }
    let mut place = 0;
    while let Some((_, newest)) = store.branches[branch].map.at(place) {
        let mut at = newest;
        while let Some(slot) = at.some() {
            at = store.items[slot].left;
            collect_child(store, slot, open);
        }
        place += 1;
    }
}

fn collect_child(store: &mut Store, slot: ItemIdx, open: &mut Vec<BranchIdx>) {
    let item = store.items[slot];
    assert!(item.is_deleted(), "I7: {item:?} lives in a type that is collected");
    drop_content(store, slot, open);
    store.redone.remove(&item.id);
    if item.flags.has(Flags::LINKED) {
        store.links.take(slot);
    }
    store.items[slot] = Item::bare(Kind::Gc, item.id, item.len);
}

/// Makes the commit look whether blocks of these ranges can be joined now.
pub(crate) fn join_later(store: &Store, changes: &mut ChangeSet, ranges: &[DeletedRange]) {
    for range in ranges {
        let blocks = &store.client(range.client).blocks;
        let mut at = blocks.position(range.clock);
        while let Some((start, slot)) = at.and_then(|pos| blocks.at(pos))
            && start < range.clock + range.len
        {
            changes.candidates.push(slot);
            at = at.and_then(|pos| blocks.next(pos));
        }
    }
}
