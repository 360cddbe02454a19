//! Changes of map entries and attributes.

use std::collections::HashMap;
use std::sync::Arc;

use super::changes::{Observed, adds, deletes};
use super::{Observable, Source};
use crate::block::index::{BranchIdx, ItemIdx, KeyIdx};
use crate::transaction::TransactionMut;
use crate::types::{DeepObservable, MapRef, Out, Path};

/// The changes of the entries of one type.
pub(super) type Keys = HashMap<Arc<str>, EntryChange>;

/// The change of one entry.
#[derive(Clone, PartialEq)]
pub enum EntryChange {
    /// The key is new, with this value.
    Inserted(Out),
    /// The value was replaced: the old and the new one.
    Updated(Out, Out),
    /// The key was removed; it had this value.
    Removed(Out),
}

impl std::fmt::Debug for EntryChange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Inserted(value) => write!(f, "Inserted({value:?})"),
            Self::Updated(old, value) => write!(f, "Updated({old:?}, {value:?})"),
            Self::Removed(old) => write!(f, "Removed({old:?})"),
        }
    }
}

/// The change of a map.
pub struct MapEvent {
    source: Source,
    target: MapRef,
}

impl MapEvent {
    pub(super) fn new(source: Source) -> Self {
        Self { target: MapRef::from(source.target.clone()), source }
    }

    /// Returns the map that changed.
    pub fn target(&self) -> &MapRef {
        &self.target
    }

    /// Returns the way from the observed type down to this map.
    pub fn path(&self) -> Path {
        self.source.path.clone()
    }

    /// Returns the entries that are others than before the transaction. Cost O(changes), once.
    pub fn keys(&self, txn: &TransactionMut<'_>) -> &HashMap<Arc<str>, EntryChange> {
        self.source.keys(txn)
    }
}

impl Observable for MapRef {
    type Event = MapEvent;
}

impl DeepObservable for MapRef {}

impl Source {
    /// What changed of the entries.
    pub(super) fn keys(&self, txn: &TransactionMut<'_>) -> &Keys {
        self.shared.keys.get_or_init(|| match self.target.resolve(txn.store_ref()) {
            Some(branch) => key_changes(txn, branch),
            None => Keys::new(),
        })
    }
}

/// Yjs: `YEvent.keys`.
fn key_changes(txn: &TransactionMut<'_>, branch: BranchIdx) -> Keys {
    let store = txn.store_ref();
    let changed = Observed::changed(txn, branch).map_or(&[][..], |changed| &changed.keys);
    let change = |key: &KeyIdx| Some((Arc::clone(store.key(*key)), entry_change(txn, branch, *key)?));
    changed.iter().filter_map(change).collect()
}

fn entry_change(txn: &TransactionMut<'_>, branch: BranchIdx, key: KeyIdx) -> Option<EntryChange> {
    let store = txn.store_ref();
    let id = |slot: ItemIdx| store.items[slot].id;
    let value = |slot: ItemIdx| Out::last_of(store, slot).unwrap_or_default();
    let slot = store.branches[branch].map.get(key).some()?;
    if !adds(txn, id(slot)) {
        return deletes(txn, id(slot)).then(|| EntryChange::Removed(value(slot)));
    }
    let mut before = store.items[slot].left.some();
    while let Some(left) = before
        && adds(txn, id(left))
    {
        before = store.items[left].left.some();
    }
    // The value before the transaction, if there was one.
    let old = before.filter(|left| deletes(txn, id(*left))).map(value);
    match (deletes(txn, id(slot)), old) {
        (true, Some(old)) => Some(EntryChange::Removed(old)),
        (true, None) => None,
        (false, Some(old)) => Some(EntryChange::Updated(old, value(slot))),
        (false, None) => Some(EntryChange::Inserted(value(slot))),
    }
}
