//! What a transaction offers: `ReadTxn` and `WriteTxn`.

use std::sync::Arc;

use yatta_encoding::update::{convert_trusted_v2_to_v1, diff_trusted_v2, merge_trusted_v2, merge_updates_v1};
use yatta_encoding::{Encode, Encoder, EncoderV1, EncoderV2};

use super::array::ArrayRef;
use super::roots::{Root, root_out};
use super::xml::XmlFragmentRef;
use super::{MapRef, Out, TextRef};
use crate::block::index::BranchIdx;
use crate::block::update::Update;
use crate::change::Subdocs;
use crate::doc::Doc;
use crate::doc::subdoc::{SubdocGuids, SubdocsIter};
use crate::engine::encode::deleted_ranges;
use crate::error::Error;
use crate::ids::{IdSet, Snapshot, StateVector};
use crate::store::Store;
use crate::transaction::{BranchID, Transaction, TransactionMut, state_vector};

/// Reading within a transaction.
pub trait ReadTxn: Sized {
    /// Returns the content of the document.
    fn store(&self) -> &Store;

    /// Returns the next clock of each client. Cost O(clients).
    fn state_vector(&self) -> StateVector {
        state_vector(self.store())
    }

    /// Returns the state vector and what is deleted. Cost O(clients + deleted ranges).
    fn snapshot(&self) -> Snapshot {
        let store = self.store();
        let mut ranges = Vec::new();
        for client in store.clients_descending() {
            deleted_ranges(store, client, &mut ranges);
        }
        let deleted = ranges.into_iter().map(|range| (store.client(range.client).id, range.clock, range.len));
        Snapshot::new(self.state_vector(), IdSet::from_ranges(deleted.collect()))
    }

    /// Writes the document as it was at a snapshot. Cost O(blocks).
    ///
    /// # Errors
    /// When the document collects deleted content, which may have been there then (see [`Options::skip_gc`]), or the
    /// snapshot knows of blocks that are not here.
    ///
    /// [`Options::skip_gc`]: crate::Options::skip_gc
    fn encode_state_from_snapshot<E: Encoder>(
        &self,
        snapshot: &Snapshot,
        encoder: &mut E,
    ) -> Result<(), Error> {
        self.store().encode_state_from_snapshot(snapshot, encoder)
    }

    /// Writes what a peer of this state lacks, with the complete delete set, without what is pending. Cost O(what is written + clients).
    fn encode_diff<E: Encoder>(&self, state_vector: &StateVector, encoder: &mut E) {
        self.store().encode_diff(state_vector, encoder);
    }

    /// Returns what a peer of this state lacks, in V1, without what is pending. Cost O(what is written + clients).
    fn encode_diff_v1(&self, state_vector: &StateVector) -> Vec<u8> {
        let mut encoder = EncoderV1::new();
        self.encode_diff(state_vector, &mut encoder);
        encoder.to_vec()
    }

    /// Returns what a peer of this state lacks, in V2, without what is pending. Cost O(what is written + clients).
    fn encode_diff_v2(&self, state_vector: &StateVector) -> Vec<u8> {
        let mut encoder = EncoderV2::new();
        self.encode_diff(state_vector, &mut encoder);
        encoder.to_vec()
    }

    /// Writes what a peer of this state lacks, with what is pending. Cost O(what is written + clients).
    fn encode_state_as_update<E: Encoder>(&self, sv: &StateVector, encoder: &mut E) {
        let pending = pending_updates(self.store(), sv);
        if pending.is_empty() {
            return self.encode_diff(sv, encoder);
        }
        let parts = std::iter::once(self.encode_diff_v2(sv)).chain(pending);
        let parts = parts
            .map(|update| Update::read_trusted_v2(&update).expect("all parts were written or decoded here"));
        Update::merge_updates(parts).encode(encoder);
    }

    /// Returns what a peer of this state lacks, in V1, with what is pending. Cost O(what is written + clients).
    fn encode_state_as_update_v1(&self, sv: &StateVector) -> Vec<u8> {
        let state = self.encode_diff_v1(sv);
        let pending = pending_updates(self.store(), sv);
        if pending.is_empty() {
            return state;
        }
        let mut updates = vec![state];
        updates.extend(
            pending
                .iter()
                .map(|update| convert_trusted_v2_to_v1(update).expect("what is pending was decoded before")),
        );
        merge_updates_v1(&updates).expect("all parts were written or decoded here")
    }

    /// Returns what a peer of this state lacks, in V2, with what is pending. Cost O(what is written + clients).
    fn encode_state_as_update_v2(&self, sv: &StateVector) -> Vec<u8> {
        let state = self.encode_diff_v2(sv);
        let mut updates = pending_updates(self.store(), sv);
        if updates.is_empty() {
            return state;
        }
        updates.insert(0, state);
        merge_trusted_v2(&updates).expect("all parts were written or decoded here")
    }

    /// Returns the names and values of the root types, in the order in which they came.
    fn root_refs(&self) -> RootRefs<'_> {
        RootRefs { store: self.store(), next: 0 }
    }

    /// Returns the sub-documents that stand in the document, in no order that peers share.
    fn subdocs(&self) -> SubdocsIter<'_> {
        self.store().subdocs()
    }

    /// Returns the guids of the sub-documents that stand in the document; one that is held twice comes twice.
    fn subdoc_guids(&self) -> SubdocGuids<'_> {
        self.store().subdoc_guids()
    }

    /// Returns the document that holds this one as a sub-document, if one does and still lives.
    fn parent_doc(&self) -> Option<Doc> {
        self.store().doc()?.parent_doc()
    }

    /// Returns the id of the item that holds this document, if it is a sub-document.
    fn branch_id(&self) -> Option<BranchID> {
        self.store().doc()?.branch_id()
    }

    /// Returns the root text of this name, if there is such a root.
    fn get_text<N: Into<Arc<str>>>(&self, name: N) -> Option<TextRef> {
        Root::new(name).get(self)
    }

    /// Returns the root list of this name, if there is such a root.
    fn get_array<N: Into<Arc<str>>>(&self, name: N) -> Option<ArrayRef> {
        Root::new(name).get(self)
    }

    /// Returns the root map of this name, if there is such a root.
    fn get_map<N: Into<Arc<str>>>(&self, name: N) -> Option<MapRef> {
        Root::new(name).get(self)
    }

    /// Returns the root list of XML nodes of this name, if there is such a root.
    fn get_xml_fragment<N: Into<Arc<str>>>(&self, name: N) -> Option<XmlFragmentRef> {
        let fragment: XmlFragmentRef = Root::new(name).get(self)?;
        fragment.take_root();
        Some(fragment)
    }

    /// Returns the root of this name, if there is such a root, by the kind it was defined with.
    fn get<S: AsRef<str>>(&self, name: S) -> Option<Out> {
        root_out(self, name.as_ref())
    }

    /// Returns whether blocks or deletions wait for others that have not come yet.
    fn has_missing_updates(&self) -> bool {
        let pending = &self.store().pending;
        pending.structs.is_some() || !pending.deletes.is_empty()
    }
}

/// What waits, as V2 updates that a peer of this state lacks.
fn pending_updates(store: &Store, sv: &StateVector) -> Vec<Vec<u8>> {
    let mut updates = Vec::new();
    if !store.pending.deletes.is_empty() {
        let update = Update { deletes: store.pending.deletes.clone(), ..Update::default() };
        updates.push(update.encode_v2());
    }
    if let Some(pending) = &store.pending.structs {
        updates.push(
            diff_trusted_v2(&pending.update, &sv.encode_v1()).expect("what is pending was decoded before"),
        );
    }
    updates
}

impl ReadTxn for Transaction<'_> {
    #[inline]
    fn store(&self) -> &Store {
        self.store_ref()
    }
}

impl ReadTxn for TransactionMut<'_> {
    #[inline]
    fn store(&self) -> &Store {
        self.store_ref()
    }
}

/// Writing within a transaction.
pub trait WriteTxn: Sized {
    /// Returns the content of the document.
    fn store_mut(&mut self) -> &mut Store;

    /// Returns what happened to sub-documents in this transaction.
    fn subdocs_mut(&mut self) -> &mut Subdocs;

    /// Returns the root text of this name, which is made if it is missing.
    fn get_or_insert_text<N: Into<Arc<str>>>(&mut self, name: N) -> TextRef {
        Root::new(name).get_or_create(self)
    }

    /// Returns the root map of this name, which is made if it is missing.
    fn get_or_insert_map<N: Into<Arc<str>>>(&mut self, name: N) -> MapRef {
        Root::new(name).get_or_create(self)
    }

    /// Returns the root list of this name, which is made if it is missing.
    fn get_or_insert_array<N: Into<Arc<str>>>(&mut self, name: N) -> ArrayRef {
        Root::new(name).get_or_create(self)
    }

    /// Returns the root list of XML nodes of this name, which is made if it is missing.
    fn get_or_insert_xml_fragment<N: Into<Arc<str>>>(&mut self, name: N) -> XmlFragmentRef {
        Root::new(name).get_or_create(self)
    }

    /// Takes what waits for other updates out of the document.
    fn prune_pending(&mut self) -> Option<Update> {
        let pending = std::mem::take(&mut self.store_mut().pending);
        let mut update = match pending.structs {
            Some(structs) => Update::read_trusted_v2(&structs.update)
                .expect("parked blocks were decoded before they were parked"),
            None if pending.deletes.is_empty() => return None,
            None => Update::default(),
        };
        update.deletes = pending.deletes;
        Some(update)
    }
}

impl WriteTxn for TransactionMut<'_> {
    fn store_mut(&mut self) -> &mut Store {
        self.parts().0
    }

    fn subdocs_mut(&mut self) -> &mut Subdocs {
        self.parts().1.subdocs_mut()
    }
}

/// The roots of a document.
pub struct RootRefs<'doc> {
    store: &'doc Store,
    next: usize,
}

impl<'doc> Iterator for RootRefs<'doc> {
    type Item = (&'doc str, Out);

    fn next(&mut self) -> Option<Self::Item> {
        let (name, branch): (&Arc<str>, &BranchIdx) = self.store.roots.get_index(self.next)?;
        self.next += 1;
        Some((name, Out::of_branch(self.store, *branch)))
    }
}

macro_rules! doc_roots {
    ($($(#[$doc:meta])* $name:ident -> $kind:ty;)*) => {
        impl Doc {
            $(
                $(#[$doc])*
                ///
                /// # Panics
                /// When this thread has a transaction of this document open: use that one.
                pub fn $name<N: Into<Arc<str>>>(&self, name: N) -> $kind {
                    use crate::doc::Transact;
                    Root::new(name).get_or_create(&mut self.transact_mut())
                }
            )*
        }
    };
}

doc_roots! {
    /// Returns the root text of this name, which is made if it is missing.
    get_or_insert_text -> TextRef;
    /// Returns the root map of this name, which is made if it is missing.
    get_or_insert_map -> MapRef;
    /// Returns the root list of this name, which is made if it is missing.
    get_or_insert_array -> ArrayRef;
    /// Returns the root list of XML nodes of this name, which is made if it is missing.
    get_or_insert_xml_fragment -> XmlFragmentRef;
}
