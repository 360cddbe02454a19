//! Bringing deleted content back, for undo managers: a redone item is a copy under a new id, placed where the old one
//! stands. What an undo may still need is kept from collection.
//!
//! `Store::redone` leads from the first id of an item to the first id of its copy; items in it carry `Flags::REDONE`, are
//! never joined to neighbours, and a split gives both parts their copy. Everything follows Yjs item by item, so that the
//! new ids and origins are the same. Cost of a redo: O(log n) and the deleted neighbours that are walked over.

use std::cell::RefCell;

use rustc_hash::{FxHashMap, FxHashSet};
use yatta_encoding::{ClientID, ID};

use super::integrate::{IncomingParent, integrate};
use super::place::{NewContent, store_content};
use super::split::{clean_start, split};
use crate::block::content::Content;
use crate::block::index::{BranchIdx, ClientIdx, ItemIdx, KeyIdx};
use crate::block::item::{Flags, Id, Item, Kind};
use crate::change::ChangeSet;
use crate::ids::IdSet;
use crate::store::Store;

/// The types that an undo manager looks after in one document, for the length of one transaction.
#[derive(Debug)]
pub(crate) enum Scope {
    /// All of them.
    Document,
    /// These and what is within them.
    Types(ScopeTypes),
}

/// Types in scope. What is found out of others is remembered: deep nesting would be walked for each item.
#[derive(Debug)]
pub(crate) struct ScopeTypes {
    types: Vec<BranchIdx>,
    known: RefCell<FxHashMap<BranchIdx, bool>>,
}

impl Scope {
    pub(crate) fn of_types(types: Vec<BranchIdx>) -> Self {
        Self::Types(ScopeTypes { types, known: RefCell::default() })
    }

    /// Whether nothing can be in scope.
    pub(crate) fn is_empty(&self) -> bool {
        matches!(self, Self::Types(scope) if scope.types.is_empty())
    }

    /// Whether an item is in one of the types, at any depth. Yjs: `isParentOf`. Cost O(depth), once for each type.
    pub(crate) fn holds(&self, store: &Store, slot: ItemIdx) -> bool {
        self.holds_type(store, store.items[slot].parent)
    }

    /// Whether a type is one of these or within one.
    pub(crate) fn holds_type(&self, store: &Store, branch: BranchIdx) -> bool {
        let Self::Types(scope) = self else { return true };
        let mut known = scope.known.borrow_mut();
        let mut path = Vec::new();
        let mut at = branch;
        let held = loop {
            if scope.types.contains(&at) {
                break true;
            }
            if let Some(known) = known.get(&at) {
                break *known;
            }
            path.push(at);
            let Some(item) = store.branches[at].item.some() else { break false };
            at = store.items[item].parent;
        };
        known.extend(path.into_iter().map(|branch| (branch, held)));
        held
    }
}

/// Ids, with the order in which their clients are walked. An `IdSet` alone has them in ascending order; Yjs walks them
/// in the order in which they first came, and that decides the ids of copies.
#[derive(Clone, Copy)]
pub(crate) struct OrderedIds<'a> {
    pub(crate) ids: &'a IdSet,
    pub(crate) order: &'a [ClientID],
}

impl OrderedIds<'_> {
    fn clients(&self) -> impl Iterator<Item = ClientID> + '_ {
        let first = self.order.iter().copied();
        first.chain(self.ids.client_ids().filter(|client| !self.order.contains(client)))
    }
}

/// What an undo or redo step is made of.
pub(crate) struct Step<'a> {
    pub(crate) scope: &'a Scope,
    pub(crate) insertions: OrderedIds<'a>,
    pub(crate) deletions: OrderedIds<'a>,
    /// Whether a step of the document that is still on a stack deleted this id. Asked for overwritten map entries only, as it
    /// may cost O(steps).
    pub(crate) on_stack: &'a dyn Fn(&ID) -> bool,
    /// Map entries come back even where another peer has set the key since.
    pub(crate) ignore_remote_map_changes: bool,
}

/// Calls back for each block of these ids that is here, cut at the ends of each range. Yjs: `iterateDeletedStructs`.
pub(crate) fn each_block(
    store: &mut Store,
    changes: &mut ChangeSet,
    ids: OrderedIds<'_>,
    mut call: impl FnMut(&mut Store, &mut ChangeSet, ItemIdx),
) {
    for client_id in ids.clients() {
        let Some(client) = store.known_client(client_id) else { continue };
        let state = store.state(client);
        for (range, ()) in ids.ids.ranges(client_id) {
            let end = range.end.min(state);
            let mut clock = range.start;
            while clock < end {
                let slot = block_within(store, changes, client, clock, end);
                call(store, changes, slot);
                clock = store.items[slot].end();
            }
        }
    }
}

/// The block that starts at `clock` and ends at `end` or before, split off if need be. A collected range is not split.
fn block_within(
    store: &mut Store,
    changes: &mut ChangeSet,
    client: ClientIdx,
    clock: u32,
    end: u32,
) -> ItemIdx {
    let slot = clean_start(store, changes, Id::new(client, clock));
    let item = &store.items[slot];
    if item.is_item() && item.end() > end {
        let offset = end - item.id.clock;
        split(store, changes, slot, offset);
    }
    slot
}

/// Follows the copies of the unit `id` to the last one: its item and the offset in it.
pub(crate) fn follow_redone(store: &Store, id: Id) -> (ItemIdx, u32) {
    let mut id = id;
    loop {
        let slot = store.item_at(id);
        let item = &store.items[slot];
        let offset = id.clock - item.id.clock;
        let Some(copy) = copy_of(store, item) else { return (slot, offset) };
        id = Id::new(copy.client, copy.clock + offset);
    }
}

/// The first id of the copy of an item.
fn copy_of(store: &Store, item: &Item) -> Option<Id> {
    if !item.flags.has(Flags::REDONE) {
        return None;
    }
    store.redone.get(&item.id).copied()
}

/// Keeps an item and all that it is in from collection, or lets them go. Yjs: `keepItem`. Cost O(depth).
pub(crate) fn keep(store: &mut Store, slot: ItemIdx, keep: bool) {
    let mut at = slot;
    while let Some(slot) = at.some() {
        let flags = &mut store.items[slot].flags;
        if flags.has(Flags::KEEP) == keep {
            return;
        }
        if keep {
            flags.set(Flags::KEEP);
        } else {
            flags.clear(Flags::KEEP);
            // Nobody comes back to collect it: its transaction is over.
            flags.set(Flags::RELEASED);
        }
        at = store.branches[store.items[slot].parent].item;
    }
}

/// Keeps all items of a set that are in scope, or lets them go.
pub(crate) fn keep_all(
    store: &mut Store,
    changes: &mut ChangeSet,
    ids: OrderedIds<'_>,
    scope: &Scope,
    keep_them: bool,
) {
    each_block(store, changes, ids, |store, _, slot| {
        if store.items[slot].is_item() && scope.holds(store, slot) {
            keep(store, slot, keep_them);
        }
    });
}

/// The items that a step deletes (in the order of insertion): what it inserted, or the last copies of that.
pub(crate) fn items_to_delete(store: &mut Store, changes: &mut ChangeSet, step: &Step<'_>) -> Vec<ItemIdx> {
    let mut items = Vec::new();
    each_block(store, changes, step.insertions, |store, changes, slot| {
        let mut slot = slot;
        let item = store.items[slot];
        if !item.is_item() {
            return;
        }
        if item.flags.has(Flags::REDONE) {
            let (copy, offset) = follow_redone(store, item.id);
            slot = copy;
            if offset > 0 {
                let copy = store.items[copy].id;
                slot = clean_start(store, changes, Id::new(copy.client, copy.clock + offset));
            }
        }
        if !store.items[slot].is_deleted() && step.scope.holds(store, slot) {
            items.push(slot);
        }
    });
    items
}

/// Brings back what a step deleted, unless the same step inserted it. Returns whether anything came back.
pub(crate) fn redo_deletions(store: &mut Store, changes: &mut ChangeSet, step: &Step<'_>) -> bool {
    let mut items = Vec::new();
    each_block(store, changes, step.deletions, |store, _, slot| {
        let item = &store.items[slot];
        if item.is_item()
            && step.scope.holds(store, slot)
            && !step.insertions.ids.contains(&store.public_id(item.id))
        {
            items.push(slot);
        }
    });
    let wanted: FxHashSet<ItemIdx> = items.iter().copied().collect();
    let mut changed = false;
    for slot in items {
        changed |= redo(store, changes, slot, &wanted, step).is_some();
    }
    changed
}

/// Brings an item back, and before it the deleted types that it is in, if they are wanted too. Returns the copy.
///
/// Yjs: `redoItem`, with a list in place of the recursion over the parents.
fn redo(
    store: &mut Store,
    changes: &mut ChangeSet,
    slot: ItemIdx,
    wanted: &FxHashSet<ItemIdx>,
    step: &Step<'_>,
) -> Option<ItemIdx> {
    let mut chain = vec![slot];
    let mut at = slot;
    while !store.items[at].flags.has(Flags::REDONE) {
        let Some(parent) = store.branches[store.items[at].parent].item.some() else { break };
        let item = &store.items[parent];
        if !item.is_deleted() || item.flags.has(Flags::REDONE) {
            break;
        }
        if !wanted.contains(&parent) {
            return None;
        }
        chain.push(parent);
        at = parent;
    }
    let mut copy = None;
    while let Some(slot) = chain.pop() {
        copy = Some(redo_one(store, changes, slot, step)?);
    }
    copy
}

/// Brings one item back whose parent lives or was brought back.
fn redo_one(store: &mut Store, changes: &mut ChangeSet, slot: ItemIdx, step: &Step<'_>) -> Option<ItemIdx> {
    let item = store.items[slot];
    if let Some(copy) = copy_of(store, &item) {
        return Some(clean_start(store, changes, copy));
    }
    let mut parent = store.branches[item.parent].item;
    if parent.is_some() && store.items[parent].is_deleted() {
        while let Some(copy) = copy_of(store, &store.items[parent]) {
            parent = clean_start(store, changes, copy);
        }
    }
    let branch = match parent.some() {
        None => item.parent,
        Some(parent) => store.held_type(&store.items[parent])?,
    };
    let key = item.key();
    let (left, right) = if key.is_none() {
        list_neighbours(store, changes, slot, parent)
    } else {
        (map_neighbour(store, changes, slot, (parent, branch), step)?, ItemIdx::NONE)
    };
    Some(place_copy(store, changes, slot, (branch, key), left, right))
}

/// The item that holds the type an item is in.
fn parent_item(store: &Store, slot: ItemIdx) -> ItemIdx {
    store.branches[store.items[slot].parent].item
}

/// The item or one of its copies that stands in the type which `parent` holds.
fn trace(store: &mut Store, changes: &mut ChangeSet, slot: ItemIdx, parent: ItemIdx) -> Option<ItemIdx> {
    let mut at = slot;
    loop {
        if !store.items[at].is_item() {
            return None;
        }
        if parent_item(store, at) == parent {
            return Some(at);
        }
        let copy = copy_of(store, &store.items[at])?;
        at = clean_start(store, changes, copy);
    }
}

/// The neighbours of the copy of a list item: its old left neighbour and itself, or the next ones outwards that have a
/// copy in the type.
fn list_neighbours(
    store: &mut Store,
    changes: &mut ChangeSet,
    slot: ItemIdx,
    parent: ItemIdx,
) -> (ItemIdx, ItemIdx) {
    let mut left = store.items[slot].left;
    while let Some(at) = left.some() {
        if let Some(found) = trace(store, changes, at, parent) {
            left = found;
            break;
        }
        left = store.items[at].left;
    }
    let mut right = slot;
    while let Some(at) = right.some() {
        if let Some(found) = trace(store, changes, at, parent) {
            right = found;
            break;
        }
        right = store.items[at].right;
    }
    (left, right)
}

/// The left neighbour of the copy of a map entry (`NONE` for the first of its key); `None` if the key was set by
/// somebody else since.
fn map_neighbour(
    store: &mut Store,
    changes: &mut ChangeSet,
    slot: ItemIdx,
    (parent, branch): (ItemIdx, BranchIdx),
    step: &Step<'_>,
) -> Option<ItemIdx> {
    let item = store.items[slot];
    let newest = |store: &Store| store.branches[branch].map.get(item.key());
    if item.right.is_none() || step.ignore_remote_map_changes {
        return Some(newest(store));
    }
    let mut left = slot;
    while let Some(right) = store.items[left].right.some() {
        let next = &store.items[right];
        let id = store.public_id(next.id);
        if !next.flags.has(Flags::REDONE) && !goes_away(step, &id) {
            return None;
        }
        left = right;
        while let Some(copy) = copy_of(store, &store.items[left]) {
            left = clean_start(store, changes, copy);
        }
        if !store.items[left].is_item() {
            return Some(newest(store));
        }
    }
    // The entry of another type would mislead peers as an origin.
    if parent_item(store, left) == parent { Some(left) } else { Some(newest(store)) }
}

/// Whether a map entry is deleted by this step, or was by one that is on a stack.
fn goes_away(step: &Step<'_>, id: &ID) -> bool {
    step.insertions.ids.contains(id) || (step.on_stack)(id)
}

/// Integrates a copy of an item under a new id of our own client.
fn place_copy(
    store: &mut Store,
    changes: &mut ChangeSet,
    slot: ItemIdx,
    (branch, key): (BranchIdx, KeyIdx),
    left: ItemIdx,
    right: ItemIdx,
) -> ItemIdx {
    let old = store.items[slot];
    let me = store.me;
    let (flags, content) = copy_content(store, &old);
    let copy = Item {
        id: Id::new(me, store.state(me)),
        len: old.len,
        origin: left.some().map_or(Id::NONE, |left| store.items[left].last_id()),
        right_origin: right.some().map_or(Id::NONE, |right| store.items[right].id),
        content,
        flags,
        ..Item::EMPTY
    };
    store.items[slot].flags.set(Flags::REDONE);
    store.redone.insert(old.id, copy.id);
    let placed = integrate(store, changes, copy, IncomingParent::Branch(branch), key, left);
    debug_assert!(placed.is_some(), "the neighbours of a copy are items");
    keep(store, placed, true);
    placed
}

/// Stores a copy of the content of an item; a type comes back empty.
fn copy_content(store: &mut Store, item: &Item) -> (Flags, u32) {
    let me = store.me;
    match item.kind() {
        Kind::String => {
            let text = store.text(item).to_owned();
            return store_content(store, me, NewContent::String(&text, item.len));
        }
        Kind::Gc | Kind::Skip | Kind::Deleted => {
            return store_content(store, me, NewContent::Deleted(item.len));
        }
        _ => {}
    }
    let content = match store.boxed(item) {
        Content::Any(values) => NewContent::Any(values.clone()),
        Content::Json(values) => NewContent::Json(values.clone()),
        Content::Binary(bytes) => NewContent::Binary(bytes.clone()),
        Content::Embed(value) => NewContent::Embed(value.clone()),
        Content::Format(key, value) => NewContent::Format(*key, value.clone()),
        Content::Type(branch) => NewContent::Type(store.branches[*branch].tag.clone()),
        Content::Doc(doc) => NewContent::Doc(doc.fresh(false)),
        Content::Free => unreachable!("I10: {item:?} has no content"),
    };
    store_content(store, me, content)
}
