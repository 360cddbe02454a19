//! `StackItem`: one step of an undo or redo stack.

use std::hash::{Hash, Hasher};

use serde::{Deserialize, Serialize};
use yatta_encoding::ClientID;

use crate::doc::Uuid;
use crate::engine::redo::OrderedIds;
use crate::ids::IdSet;

/// What was inserted and deleted in one step.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StackItem<T> {
    doc: Uuid,
    deletions: IdSet,
    insertions: IdSet,
    /// What the application put here.
    pub meta: T,
    /// The clients of the deletions in the order in which they came, if there are several: it decides the ids of copies.
    /// An item that was read back from elsewhere has forgotten it and takes them in ascending order.
    #[serde(skip)]
    deleted_order: Vec<ClientID>,
    #[serde(skip)]
    inserted_order: Vec<ClientID>,
    /// Tells the items of one manager apart; 0 until one has it.
    #[serde(skip)]
    pub(super) key: u64,
}

impl<M> StackItem<M> {
    /// Makes a step of the document with this guid.
    pub fn with_meta(doc: Uuid, deletions: IdSet, insertions: IdSet, meta: M) -> Self {
        Self {
            doc,
            deletions,
            insertions,
            meta,
            deleted_order: Vec::new(),
            inserted_order: Vec::new(),
            key: 0,
        }
    }

    /// Returns what was deleted.
    pub fn deletions(&self) -> &IdSet {
        &self.deletions
    }

    /// Returns what was inserted.
    pub fn insertions(&self) -> &IdSet {
        &self.insertions
    }

    /// Returns what the application put here.
    pub fn meta(&self) -> &M {
        &self.meta
    }

    /// Joins another step to this one; `merge_meta` decides what becomes of its metadata.
    pub fn merge<F>(&mut self, other: Self, merge_meta: F)
    where
        F: FnOnce(&mut M, M),
    {
        let orders = (other.deleted_order, other.inserted_order);
        self.join(other.deletions, orders.0, other.insertions, orders.1);
        merge_meta(&mut self.meta, other.meta);
    }

    /// The guid of the document.
    pub(super) fn doc(&self) -> &Uuid {
        &self.doc
    }

    /// Adds changes that came later, with the order of their clients (empty for at most one client).
    pub(super) fn join(
        &mut self,
        deletions: IdSet,
        deleted_order: Vec<ClientID>,
        insertions: IdSet,
        inserted_order: Vec<ClientID>,
    ) {
        join_order(&mut self.deleted_order, &self.deletions, deleted_order, &deletions);
        join_order(&mut self.inserted_order, &self.insertions, inserted_order, &insertions);
        self.deletions.merge_with(deletions);
        self.insertions.merge_with(insertions);
    }

    pub(super) fn ordered_deletions(&self) -> OrderedIds<'_> {
        OrderedIds { ids: &self.deletions, order: &self.deleted_order }
    }

    pub(super) fn ordered_insertions(&self) -> OrderedIds<'_> {
        OrderedIds { ids: &self.insertions, order: &self.inserted_order }
    }
}

/// Appends the clients of a later set that are new to an earlier one.
fn join_order(order: &mut Vec<ClientID>, ids: &IdSet, later_order: Vec<ClientID>, later: &IdSet) {
    if order.is_empty() {
        order.extend(ids.client_ids());
    }
    let later: Vec<ClientID> =
        if later_order.is_empty() { later.client_ids().collect() } else { later_order };
    for client in later {
        if !order.contains(&client) {
            order.push(client);
        }
    }
}

impl<M: Default> StackItem<M> {
    /// Makes a step of the document with this guid, with default metadata.
    pub fn new(doc_id: Uuid, deletions: IdSet, insertions: IdSet) -> Self {
        Self::with_meta(doc_id, deletions, insertions, M::default())
    }
}

impl<M: PartialEq> PartialEq for StackItem<M> {
    fn eq(&self, other: &Self) -> bool {
        self.doc == other.doc
            && self.deletions == other.deletions
            && self.insertions == other.insertions
            && self.meta == other.meta
    }
}

impl<M: Eq> Eq for StackItem<M> {}

impl<M: Hash> Hash for StackItem<M> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.doc.hash(state);
        self.deletions.hash(state);
        self.insertions.hash(state);
        self.meta.hash(state);
    }
}

impl<M> std::fmt::Display for StackItem<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("StackItem(")?;
        if !self.deletions.is_empty() {
            write!(f, "-{}", self.deletions)?;
        }
        if !self.insertions.is_empty() {
            write!(f, "+{}", self.insertions)?;
        }
        f.write_str(")")
    }
}
