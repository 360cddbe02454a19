//! Weak links: a link is a type (kind 7, which only yrs knows) that names a range of a sequence, or one map entry, by the
//! ids of its ends. What it quotes is marked with `Flags::LINKED`, which keeps it from being joined to its neighbours, and
//! is noted in `store::links`, so that a change of it touches the link.
//!
//! - A link that gets its place cuts the ends of its range free and marks what is between (`link_placed`).
//! - An item that comes between two neighbours of which one is quoted is marked too, and quoted by whatever quotes both,
//!   or reaches just up to it (`join`); the newest entry of a key inherits the links of the one before (`inherit`).
//! - A quoted item that is deleted touches its links and leaves the table, marked for ever; a link that is deleted frees
//!   what it alone quoted.
//!
//! All of this is yrs's, with one exception. Differs from yrs: a range that begins behind an element which ends a block
//! is found (yrs looks for the element right of itself and links nothing; so it does on every peer but the first).
//!
//! Cost: a link costs what it quotes; a document without links one test of two flags an item. Without the feature `weak`
//! nothing is marked, and links are carried along like any other type.

use yatta_encoding::block::{TYPE_REFS_WEAK, WEAK_END_AFTER, WEAK_START_AFTER, WeakScope, WeakTag};

use super::split::split;
use crate::block::content::Content;
use crate::block::index::{BranchIdx, ItemIdx, KeyIdx};
use crate::block::item::{Flags, Id, Item, Kind};
use crate::change::ChangeSet;
use crate::store::Store;

/// The pieces of a sequence between two ends, from left to right: an item, and the units of it that are within.
pub(crate) struct Pieces {
    at: ItemIdx,
    skip: u32,
    /// The unit at which the range ends, if it does before the sequence, and whether it is within.
    end: Option<(Id, bool)>,
}

impl Pieces {
    /// An empty range.
    #[cfg(feature = "weak")]
    pub(crate) fn nothing() -> Self {
        Self { at: ItemIdx::NONE, skip: 0, end: None }
    }

    /// The range that a link names, as far as it is here.
    pub(crate) fn of(store: &Store, link: &WeakTag<'_>) -> Self {
        let (at, skip) = first_piece(store, &link.start, link.flags & WEAK_START_AFTER != 0);
        let end = match &link.end {
            WeakScope::Relative(id) => store.known_id(*id).map(|id| (id, link.flags & WEAK_END_AFTER != 0)),
            WeakScope::Nested(_) | WeakScope::Root(_) => None,
        };
        Self { at, skip, end }
    }

    /// The first item, if the range is not empty. It is the entry of a map if one is linked.
    pub(crate) fn first(&self) -> ItemIdx {
        self.at
    }

    /// The next piece: the item and its units from and to which it reaches.
    pub(crate) fn next(&mut self, store: &Store) -> Option<(ItemIdx, u32, u32)> {
        let slot = self.at.some()?;
        let item = &store.items[slot];
        let from = std::mem::take(&mut self.skip);
        let Some((end, within)) = self.end.filter(|(end, _)| holds(item, *end)) else {
            self.at = item.right;
            return Some((slot, from, item.len));
        };
        self.at = ItemIdx::NONE;
        let to = end.clock - item.id.clock + u32::from(within);
        (from < to).then_some((slot, from, to))
    }
}

fn holds(item: &Item, id: Id) -> bool {
    item.id.client == id.client && (item.id.clock..item.end()).contains(&id.clock)
}

/// The item with which a range begins, and how many of its units are before it.
fn first_piece(store: &Store, scope: &WeakScope<'_>, after: bool) -> (ItemIdx, u32) {
    const NOTHING: (ItemIdx, u32) = (ItemIdx::NONE, 0);
    let branch = match scope {
        WeakScope::Relative(id) => {
            let Some(slot) = store.find_item(*id) else { return NOTHING };
            let item = &store.items[slot];
            if !item.is_item() {
                return NOTHING;
            }
            let skip = id.clock - item.id.clock + u32::from(after);
            return if skip < item.len { (slot, skip) } else { (item.right, 0) };
        }
        WeakScope::Nested(id) => match store.find_item(*id).map(|slot| held_type(store, slot)) {
            Some(Some(branch)) => branch,
            _ => return NOTHING,
        },
        WeakScope::Root(name) => match store.roots.get(name.as_ref()) {
            Some(branch) => *branch,
            None => return NOTHING,
        },
    };
    // A range that begins after all that a type holds is empty.
    if after { NOTHING } else { (store.branches[branch].start, 0) }
}

fn held_type(store: &Store, slot: ItemIdx) -> Option<BranchIdx> {
    let item = &store.items[slot];
    match item.kind() {
        Kind::Type => match store.boxed(item) {
            Content::Type(branch) => Some(*branch),
            other => unreachable!("{item:?} holds {other:?}"),
        },
        _ => None,
    }
}

/// The newest item of the key that an entry is of.
pub(crate) fn newest(store: &Store, entry: ItemIdx) -> ItemIdx {
    let item = &store.items[entry];
    store.branches[item.parent].map.get(item.key())
}

/// Marks what a new link quotes.
pub(crate) fn link_placed(store: &mut Store, changes: &mut ChangeSet, link: BranchIdx) {
    let tag = &store.branches[link].tag;
    if !cfg!(feature = "weak") || tag.kind != TYPE_REFS_WEAK {
        return;
    }
    let Some(range) = tag.link.clone() else { return };
    let mut pieces = Pieces::of(store, &range);
    let Some(first) = pieces.first().some() else { return };
    if store.items[first].flags.has(Flags::MAP) {
        let newest = newest(store, first);
        if newest.is_some() {
            mark(store, newest, link);
        }
        return;
    }
    while let Some((slot, from, to)) = pieces.next(store) {
        let slot = if from > 0 { split(store, changes, slot, from) } else { slot };
        if to - from < store.items[slot].len {
            split(store, changes, slot, to - from);
        }
        mark(store, slot, link);
    }
}

fn mark(store: &mut Store, slot: ItemIdx, link: BranchIdx) {
    store.items[slot].flags.set(Flags::LINKED);
    store.links.add(slot, link);
}

/// Whether an item that is linked between its neighbours comes to stand beside a quoted one.
#[inline]
pub(crate) fn beside_quoted(store: &Store, item: &Item) -> bool {
    let quoted = |slot: ItemIdx| store.items[slot].flags.has(Flags::LINKED);
    item.left.is_some() && item.right.is_some() && (quoted(item.left) || quoted(item.right))
}

/// Marks an item that came to stand beside a quoted one.
#[cold]
pub(crate) fn join(store: &mut Store, slot: ItemIdx) {
    store.items[slot].flags.set(Flags::LINKED);
    let item = store.items[slot];
    let (left, right) = (item.left, item.right);
    let mut links = Vec::new();
    for link in store.links.of(left) {
        // The item is within, or it comes after what was the last element of a range that ends before its right neighbour.
        if store.links.of(right).contains(link) || !flag(store, *link, WEAK_END_AFTER) {
            links.push(*link);
        }
    }
    let left_end = store.public_id(store.items[left].last_id());
    for link in store.links.of(right) {
        // It comes directly after the element behind which a range begins.
        if !store.links.of(left).contains(link)
            && flag(store, *link, WEAK_START_AFTER)
            && store.branches[*link]
                .tag
                .link
                .as_ref()
                .is_some_and(|tag| tag.start == WeakScope::Relative(left_end))
        {
            links.push(*link);
        }
    }
    for link in links {
        store.links.add(slot, link);
    }
}

fn flag(store: &Store, link: BranchIdx, bit: u8) -> bool {
    store.branches[link].tag.link.as_ref().is_some_and(|tag| tag.flags & bit != 0)
}

/// Hands the links of a map entry on to the one that replaces it.
#[cold]
pub(crate) fn inherit(store: &mut Store, old: ItemIdx, new: ItemIdx) {
    store.items[old].flags.clear(Flags::LINKED);
    store.items[new].flags.set(Flags::LINKED);
    for link in store.links.take(old) {
        store.links.add(new, link);
    }
}

/// Tells the links of an item that it came.
#[cold]
pub(crate) fn touch_links(store: &Store, changes: &mut ChangeSet, slot: ItemIdx, key: KeyIdx) {
    for link in store.links.of(slot) {
        changes.touch(*link, key);
    }
}

/// Tells the links of an item that it was deleted, and forgets them.
#[cold]
pub(crate) fn quoted_deleted(store: &mut Store, changes: &mut ChangeSet, slot: ItemIdx, key: KeyIdx) {
    for link in store.links.take(slot) {
        changes.touch(link, key);
    }
}

/// Frees what a link quotes that is deleted.
pub(crate) fn link_deleted(store: &mut Store, changes: &mut ChangeSet, link: BranchIdx) {
    if store.branches[link].tag.kind != TYPE_REFS_WEAK {
        return;
    }
    for slot in store.links.unlink(link) {
        let item = &mut store.items[slot];
        item.flags.clear(Flags::LINKED);
        if item.kind().is_countable() {
            changes.candidates.push(slot);
            if item.right.is_some() {
                changes.candidates.push(item.right);
            }
        }
    }
}
