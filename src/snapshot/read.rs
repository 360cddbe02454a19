//! Maps and lists at a snapshot.

use std::sync::Arc;

use crate::block::index::ItemIdx;
use crate::ids::Snapshot;
use crate::store::Store;
use crate::transaction::Branch;
use crate::types::{Out, ReadTxn};

impl Snapshot {
    /// Returns the value that a key of a map had. Cost O(later values of the key).
    #[doc(alias = "typeMapGetSnapshot")]
    pub fn map_get<T: ReadTxn, B: AsRef<Branch>>(&self, txn: &T, map: &B, key: &str) -> Option<Out> {
        let store = txn.store();
        let node = map.as_ref().node(store)?;
        self.entry_at(store, node.map.get(store.known_key(key)?))
    }

    /// Returns all keys of a map and the values that they had, in the order in which the keys were first set.
    /// Cost O(values ever set).
    #[doc(alias = "typeMapGetAllSnapshot")]
    pub fn map_entries<T: ReadTxn, B: AsRef<Branch>>(&self, txn: &T, map: &B) -> Vec<(Arc<str>, Out)> {
        let store = txn.store();
        let Some(node) = map.as_ref().node(store) else { return Vec::new() };
        let entries = node.map.iter();
        entries
            .filter_map(|(key, newest)| Some((Arc::clone(store.key(key)), self.entry_at(store, newest)?)))
            .collect()
    }

    /// Returns the elements that a list or XML fragment had. Cost O(elements ever inserted).
    ///
    /// Differs from Yjs, which takes or leaves whole runs of elements by their first one: here each counts for itself.
    #[doc(alias = "typeListToArraySnapshot")]
    pub fn list_values<T: ReadTxn, B: AsRef<Branch>>(&self, txn: &T, list: &B) -> Vec<Out> {
        let store = txn.store();
        let Some(node) = list.as_ref().node(store) else { return Vec::new() };
        let mut values = Vec::new();
        let mut at = node.start;
        while let Some(slot) = at.some() {
            let item = &store.items[slot];
            at = item.right;
            if !item.kind().is_countable() {
                continue;
            }
            let mut id = store.public_id(item.id);
            for offset in 0..item.len {
                if self.is_visible(&id) {
                    values.extend(Out::element(store, item, offset));
                }
                id.clock += 1;
            }
        }
        values
    }

    /// The value that a key had, from its newest item on to the left.
    fn entry_at(&self, store: &Store, newest: ItemIdx) -> Option<Out> {
        let mut at = newest;
        while let Some(slot) = at.some() {
            let item = &store.items[slot];
            let id = store.public_id(item.id);
            if id.clock < self.state_map.get(&id.client) {
                return if self.is_visible(&id) { Out::last_of(store, slot) } else { None };
            }
            at = item.left;
        }
        None
    }
}
