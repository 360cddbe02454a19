//! What yrs offers on `Store` itself; the same as on a transaction.

use yatta_encoding::{Encode, Encoder};

use crate::block::content::Content;
use crate::block::item::Kind;
use crate::engine::encode::{encode_diff, encode_snapshot};
use crate::error::Error;
use crate::ids::{IdSet, Snapshot, StateVector};
use crate::store::Store;
use crate::store::pending::{PendingStructs, PendingUpdate};
use crate::transaction::BranchPtr;
use crate::types::{Path, PathSegment};

impl Store {
    /// Returns the blocks that wait for others, if there are some. Cost O(their bytes), once.
    pub fn pending_update(&self) -> Option<&PendingUpdate> {
        self.pending.structs.as_ref().map(PendingStructs::view)
    }

    /// Returns the deletions that wait for their blocks, if there are some.
    pub fn pending_ds(&self) -> Option<&IdSet> {
        (!self.pending.deletes.is_empty()).then_some(&self.pending.deletes)
    }

    /// As [`Self::pending_ds`], to change it.
    pub fn pending_ds_mut(&mut self) -> Option<&mut IdSet> {
        (!self.pending.deletes.is_empty()).then_some(&mut self.pending.deletes)
    }

    /// Returns the shared type at the end of a path whose first step is the name of a root. Cost O(steps · log n).
    pub fn get_type_from_path(&self, path: &Path) -> Option<BranchPtr> {
        let mut steps = path.iter();
        let Some(PathSegment::Key(name)) = steps.next() else { return None };
        let mut at = *self.roots.get(name)?;
        for step in steps {
            let slot = match step {
                PathSegment::Key(key) => self.branches[at].map.get(self.known_key(key)?).some()?,
                PathSegment::Index(index) => self.find(at, *index)?.0,
            };
            let item = &self.items[slot];
            if item.kind() != Kind::Type || item.is_deleted() {
                return None;
            }
            let Content::Type(branch) = self.boxed(item) else { return None };
            at = *branch;
        }
        Some(BranchPtr::of(self, at))
    }

    /// Returns the next clock of this document's own client.
    pub fn get_local_state(&self) -> u32 {
        self.state(self.me)
    }

    /// Returns the clocks that blocks wait for, none if no block waits: of each client that is missed, the last one. Cost
    /// O(clients missed).
    pub fn missing_clocks(&self) -> StateVector {
        self.pending.structs.as_ref().map_or_else(StateVector::default, |pending| pending.missing.clone())
    }

    /// Returns whether deletions wait for blocks.
    pub fn has_pending_deletions(&self) -> bool {
        !self.pending.deletes.is_empty()
    }

    /// Writes what a peer of this state lacks, with the complete delete set, without what is pending. Cost O(what is written + clients).
    pub fn encode_diff<E: Encoder>(&self, sv: &StateVector, encoder: &mut E) {
        encode_diff(self, sv, encoder);
    }

    /// Writes the document as it was at a snapshot. Cost O(blocks).
    ///
    /// # Errors
    /// When the document collects deleted content, which may have been there then (see [`Options::skip_gc`]), or the
    /// snapshot knows of blocks that are not here.
    ///
    /// [`Options::skip_gc`]: crate::Options::skip_gc
    pub fn encode_state_from_snapshot<E: Encoder>(
        &self,
        snapshot: &Snapshot,
        encoder: &mut E,
    ) -> Result<(), Error> {
        if !self.skip_gc {
            return Err(Error::Gc);
        }
        if snapshot.state_map.iter().any(|(client, clock)| self.state_of(*client) < *clock) {
            return Err(Error::SnapshotAhead);
        }
        encode_snapshot(self, snapshot, encoder);
        Ok(())
    }
}

impl Encode for Store {
    /// The whole state, without what is pending.
    fn encode<E: Encoder>(&self, encoder: &mut E) {
        self.encode_diff(&StateVector::default(), encoder);
    }
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("client", &self.client(self.me).id).finish_non_exhaustive()
    }
}

impl std::fmt::Display for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Debug::fmt(self, f)
    }
}
