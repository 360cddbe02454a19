//! What a transaction changed of each type, and the walk over a sequence that stops there only.
//!
//! Changes come as clock ranges: an item that was extended in place is partly new, a deleted run may be partly deleted
//! now. So an item is looked at in [`Piece`]s. The index of all types is made once a transaction in O(changes); the walk
//! of one type costs O(its changes · log n), or O(n) where as much as that changed.

use std::cell::{OnceCell, RefCell};
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::Shared;
use crate::block::index::{BranchIdx, ItemIdx, KeyIdx};
use crate::block::item::{Flags, Id, Item, Kind};
use crate::store::{OffsetKind, Store, TreeRead};
use crate::transaction::TransactionMut;

/// Where more than one of so many items of a sequence changed, walking over all is faster than jumping.
const WALK_MIN: usize = 8;

/// What one transaction changed of one type.
#[derive(Default)]
pub(super) struct Changed {
    /// Items of the sequence of which something was inserted or deleted, in no order, each once.
    pub(super) items: Vec<ItemIdx>,
    /// Keys that were set or deleted, in the order of the first change.
    pub(super) keys: Vec<KeyIdx>,
    /// Whether the sequence was touched.
    pub(super) children: bool,
}

/// What all observers of a transaction share.
#[derive(Default)]
pub(super) struct Observed {
    /// Made when it is first asked for.
    types: OnceCell<FxHashMap<BranchIdx, Changed>>,
    shared: RefCell<FxHashMap<BranchIdx, Arc<Shared>>>,
}

impl Observed {
    pub(super) fn of<'t>(txn: &'t TransactionMut<'_>) -> &'t Self {
        txn.observed(Self::default)
    }

    /// What the events of a type share.
    pub(super) fn shared(&self, branch: BranchIdx) -> Arc<Shared> {
        Arc::clone(self.shared.borrow_mut().entry(branch).or_default())
    }

    /// What changed of a type.
    pub(super) fn changed<'t>(txn: &'t TransactionMut<'_>, branch: BranchIdx) -> Option<&'t Changed> {
        Self::of(txn).types.get_or_init(|| index(txn)).get(&branch)
    }
}

fn index(txn: &TransactionMut<'_>) -> FxHashMap<BranchIdx, Changed> {
    let store = txn.store_ref();
    let mut types: FxHashMap<BranchIdx, Changed> = FxHashMap::default();
    let mut seen: FxHashSet<(BranchIdx, KeyIdx)> = FxHashSet::default();
    for (branch, key) in &txn.changes().touched {
        let changed = types.entry(*branch).or_default();
        if key.is_none() {
            changed.children = true;
        } else if seen.insert((*branch, *key)) {
            changed.keys.push(*key);
        }
    }
    let mut add = |slot: ItemIdx, item: &Item| {
        if item.is_item() && item.parent.is_some() && item.key().is_none() {
            types.entry(item.parent).or_default().items.push(slot);
        }
    };
    for (client, before) in txn.changes().inserted() {
        for (clock, slot) in store.client(*client).blocks.iter_from(*before) {
            let item = &store.items[slot];
            // What came and went in one transaction is no change.
            if !(item.is_deleted() && clock >= *before) {
                add(slot, item);
            }
        }
    }
    for range in txn.deleted_ranges() {
        let end = range.clock + range.len;
        let before = txn.changes().state_before(range.client, store.state(range.client));
        let blocks = store.client(range.client).blocks.iter_from(range.clock);
        for (_, slot) in blocks.take_while(|(clock, _)| *clock < end) {
            let item = &store.items[slot];
            // A block that reaches beyond the state before was found above.
            if item.end() <= before {
                add(slot, item);
            }
        }
    }
    for changed in types.values_mut() {
        // Two deleted ranges may lie in one block.
        changed.items.sort_unstable();
        changed.items.dedup();
    }
    types
}

/// Whether a unit is new in this transaction.
pub(super) fn adds(txn: &TransactionMut<'_>, id: Id) -> bool {
    id.clock >= txn.changes().state_before(id.client, txn.store_ref().state(id.client))
}

/// Whether a unit was deleted in this transaction.
pub(super) fn deletes(txn: &TransactionMut<'_>, id: Id) -> bool {
    deleted_in(txn, id, id.clock + 1).next().is_some()
}

/// The parts of the clocks from `id` up to `end` that were deleted in this transaction.
fn deleted_in<'t>(txn: &'t TransactionMut<'_>, id: Id, end: u32) -> impl Iterator<Item = (u32, u32)> + 't {
    let store = txn.store_ref();
    let ranges = txn.deleted_ranges();
    let client = store.client(id.client).id;
    // The order of the wire: by descending client, then by clock.
    let first = ranges.partition_point(|range| {
        let other = store.client(range.client).id;
        other > client || (other == client && range.clock + range.len <= id.clock)
    });
    ranges[first..]
        .iter()
        .take_while(move |range| range.client == id.client && range.clock < end)
        .map(move |range| (range.clock.max(id.clock), (range.clock + range.len).min(end)))
}

/// What happened to a part of an item.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fate {
    /// It is new and lives.
    Added,
    /// It lived before and is deleted.
    Removed,
    /// It lived before and lives.
    Kept,
}

/// Units `from..to` of an item, which share a fate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) fate: Fate,
}

/// Calls back with the pieces of an item, but for those that were deleted before, or came and went.
pub(super) fn pieces(txn: &TransactionMut<'_>, item: &Item, mut call: impl FnMut(Piece)) {
    let start = item.id.clock;
    let state = txn.store_ref().state(item.id.client);
    let before = txn.changes().state_before(item.id.client, state).clamp(start, item.end());
    if item.is_deleted() {
        if before == start {
            return;
        }
        for (from, to) in deleted_in(txn, item.id, before) {
            call(Piece { from: from - start, to: to - start, fate: Fate::Removed });
        }
        return;
    }
    if before > start {
        call(Piece { from: 0, to: before - start, fate: Fate::Kept });
    }
    if before < item.end() {
        call(Piece { from: before - start, to: item.len, fate: Fate::Added });
    }
}

/// The text of a piece of a string item.
pub(super) fn piece_text<'s>(store: &'s Store, item: &Item, piece: Piece) -> &'s str {
    let text = &store.client(item.id.client).text;
    let byte = |units: u32| match units {
        0 => item.content,
        units if units == item.len => store.text_end(item),
        units if item.flags.has(Flags::ASCII) => item.content + units,
        units => text.byte_at(item.content, units).0,
    };
    text.slice(byte(piece.from), byte(piece.to))
}

/// The length of a piece in the document's offset kind.
pub(super) fn piece_width(store: &Store, item: &Item, piece: Piece) -> u32 {
    if item.kind() == Kind::String && store.offset_kind == OffsetKind::Bytes {
        return piece_text(store, item, piece).len() as u32;
    }
    piece.to - piece.from
}

/// Walks over a sequence.
pub(super) trait Visit {
    /// An item, changed or not.
    fn item(&mut self, slot: ItemIdx);

    /// The items from `from` up to (without) `to`, `NONE` for the end: none of them changed. There is a tree.
    fn gap(&mut self, from: ItemIdx, to: ItemIdx);
}

/// How a sequence is walked over. The result is the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Way {
    /// As is faster.
    Best,
    /// Item by item: the oracle of tests.
    #[cfg(test)]
    All,
    /// In gaps, however much changed, where there is a tree.
    #[cfg(test)]
    Gaps,
}

/// Walks over the sequence of `branch` in its order: item by item where something changed, over the rest in gaps.
pub(super) fn walk(txn: &TransactionMut<'_>, branch: BranchIdx, way: Way, visit: &mut impl Visit) {
    let store = txn.store_ref();
    let node = &store.branches[branch];
    let Some(tree) = &node.tree else { return walk_all(store, branch, visit) };
    let changed = Observed::changed(txn, branch).map_or(&[][..], |changed| &changed.items);
    let all = match way {
        Way::Best => changed.len() * WALK_MIN > node.items as usize,
        #[cfg(test)]
        Way::All => true,
        #[cfg(test)]
        Way::Gaps => false,
    };
    if all {
        return walk_all(store, branch, visit);
    }
    let mut changed = changed.to_vec();
    changed.sort_unstable_by(|a, b| tree.compare(&TreeRead(store), *a, *b));
    let mut next = node.start;
    for slot in changed {
        if next != slot {
            visit.gap(next, slot);
        }
        visit.item(slot);
        next = store.items[slot].right;
    }
    if next.is_some() {
        visit.gap(next, ItemIdx::NONE);
    }
}

fn walk_all(store: &Store, branch: BranchIdx, visit: &mut impl Visit) {
    let mut at = store.branches[branch].start;
    while let Some(slot) = at.some() {
        visit.item(slot);
        at = store.items[slot].right;
    }
}

/// The index at which an item starts, that of the end for `NONE`.
pub(super) fn index_at(store: &Store, branch: BranchIdx, slot: ItemIdx) -> u32 {
    slot.some().map_or(store.branches[branch].len, |slot| store.index_of(slot))
}
