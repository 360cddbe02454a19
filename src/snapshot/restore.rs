//! A document of its own from a snapshot, and whether a snapshot holds an update.

use yatta_encoding::{Decode, Encoder, EncoderV1};

use crate::block::update::Update;
use crate::doc::{Doc, Transact};
use crate::error::Error;
use crate::ids::Snapshot;
use crate::transaction::TransactionMut;
use crate::types::ReadTxn;

impl Snapshot {
    /// Makes a document with the content that the document of `txn` had at this snapshot. Cost O(blocks).
    ///
    /// # Errors
    /// When the document of `txn` collects deleted content (see [`Options::skip_gc`](crate::Options::skip_gc)).
    #[doc(alias = "createDocFromSnapshot")]
    pub fn create_doc<T: ReadTxn>(&self, txn: &T) -> Result<Doc, Error> {
        let doc = Doc::new();
        self.restore_into(txn, &mut doc.transact_mut_with("snapshot"))?;
        Ok(doc)
    }

    /// As [`Self::create_doc`], into a document that was made before: `into` is a transaction of it.
    ///
    /// # Errors
    /// When the document of `txn` collects deleted content (see [`Options::skip_gc`](crate::Options::skip_gc)).
    pub fn restore_into<T: ReadTxn>(&self, txn: &T, into: &mut TransactionMut<'_>) -> Result<(), Error> {
        let mut encoder = EncoderV1::new();
        txn.encode_state_from_snapshot(self, &mut encoder)?;
        into.apply_update(Update::decode_v1(&encoder.to_vec())?)?;
        Ok(())
    }

    /// Returns whether everything in an update was there, and all that it deletes was deleted. Cost O(blocks of the update).
    #[doc(alias = "snapshotContainsUpdate")]
    pub fn contains_update(&self, update: &Update) -> bool {
        let blocks = update.sections.iter().all(|section| {
            let known = self.state_map.get(&update.clients[section.client as usize]);
            update
                .blocks_of(section)
                .iter()
                .all(|block| u64::from(block.clock) + u64::from(block.len) <= u64::from(known))
        });
        blocks && self.delete_set.merge(update.delete_set()) == self.delete_set
    }
}
