//! The document of a room: the engine, and nothing a peer sent reaches store or peers before it went through it.
//!
//! Cost: an update its size; a full state O(document) once until the next change, then a counter; a diff O(document).

use std::panic::{AssertUnwindSafe, catch_unwind};

use bytes::Bytes;
use yatta::updates::decoder::Decode;
use yatta::updates::encoder::Encode;
use yatta::{Doc, ReadTxn, StateVector, Transact, Update};

/// Why an update or state vector was not taken.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// It cannot be read.
    #[error("{0}")]
    Malformed(String),
    /// The document would be larger than it may.
    #[error("the document would be larger than its limit")]
    TooLarge,
    /// The engine broke down: the document in memory cannot be trusted any more.
    #[error("the engine failed")]
    Broken,
}

/// What an update did.
#[derive(Debug, Default)]
pub struct Applied {
    /// What changed, for the peers; `None` if nothing did.
    pub effect: Option<Bytes>,
    /// What has to be stored; `None` if there is nothing new.
    pub record: Option<Bytes>,
    /// Whether what this update refers to is missing. Not for one that goes through while something else waits: or one update
    /// that never can would make the server ask after each of all others.
    pub missing: bool,
    /// Whether the effect goes beyond what the update holds itself: something that waited went through, or was deleted. Its sender
    /// lacks that.
    pub freed: bool,
}

/// A document and what of it is kept encoded.
pub struct Document {
    doc: Doc,
    missing: bool,
    full: Option<Bytes>,
    state_vector: Option<Bytes>,
}

impl Document {
    /// Builds a document of stored updates.
    ///
    /// # Errors
    /// When one of them cannot be read: then the document must not be served (S5).
    pub fn load(updates: &[Bytes]) -> Result<Self, Refused> {
        let doc = Doc::new();
        guarded(|| {
            let mut txn = doc.transact_mut();
            for update in updates {
                apply(&mut txn, update)?;
            }
            Ok(())
        })?;
        let missing = doc.transact().has_missing_updates();
        Ok(Self { doc, missing, full: None, state_vector: None })
    }

    /// Takes an update of a peer in.
    ///
    /// # Errors
    /// When it cannot be read; the document is as it was. After [`Refused::Broken`] it must be thrown away.
    pub fn apply(&mut self, update: &[u8]) -> Result<Applied, Refused> {
        let was_missing = self.missing;
        let (effect, missing, freed) = guarded(|| {
            let update = Update::decode_v1(update).map_err(|error| Refused::Malformed(error.to_string()))?;
            let own = was_missing.then(|| (update.insertions(true), update.delete_set().clone()));
            let mut txn = self.doc.transact_mut();
            txn.apply_update(update).map_err(|error| Refused::Malformed(error.to_string()))?;
            let effect = txn.encode_update_v1();
            let freed = own.is_some_and(|(inserted, deleted)| {
                Update::decode_v1(&effect).is_ok_and(|effect| {
                    !effect.insertions(true).diff(&inserted).is_empty()
                        || !effect.delete_set().diff(&deleted).is_empty()
                })
            });
            Ok((effect, txn.has_missing_updates(), freed))
        })?;
        self.missing = missing;
        let effect = (effect != Update::EMPTY_V1).then(|| Bytes::from(effect));
        if effect.is_some() || missing || was_missing {
            self.full = None;
            self.state_vector = None;
        }
        // What waits is in no effect, so the peer's own bytes are kept as long as something does.
        let record = if missing { Some(Bytes::copy_from_slice(update)) } else { effect.clone() };
        let missing = missing && (!was_missing || effect.is_none());
        Ok(Applied { effect, record, missing, freed })
    }

    /// Returns whether an update would change nothing.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn contains(&self, update: &[u8]) -> Result<bool, Refused> {
        guarded(|| {
            let update = Update::decode_v1(update).map_err(|error| Refused::Malformed(error.to_string()))?;
            let known = self.doc.transact().snapshot();
            let inserted = update.insertions(true);
            let news = inserted
                .iter()
                .any(|(client, ranges)| ranges.iter().any(|range| range.end > known.state_map.get(client)));
            Ok(!news && update.delete_set().diff(&known.delete_set).is_empty())
        })
    }

    /// Returns what a peer of this state lacks, with what waits.
    ///
    /// # Errors
    /// When the state vector cannot be read.
    pub fn diff(&mut self, state_vector: &[u8]) -> Result<Bytes, Refused> {
        let known =
            StateVector::decode_v1(state_vector).map_err(|error| Refused::Malformed(error.to_string()))?;
        self.diff_from(&known)
    }

    /// As [`Self::diff`], from a state vector that was read.
    ///
    /// # Errors
    /// Only [`Refused::Broken`].
    pub fn diff_from(&mut self, known: &StateVector) -> Result<Bytes, Refused> {
        if !known.is_empty() {
            let diff = guarded(|| Ok(self.doc.transact().encode_state_as_update_v1(known)))?;
            return Ok(diff.into());
        }
        if let Some(full) = &self.full {
            return Ok(full.clone());
        }
        let full = guarded(|| Ok(self.doc.transact().encode_state_as_update_v1(known)))?;
        Ok(self.full.insert(full.into()).clone())
    }

    /// Returns whether nothing was ever written to it.
    pub fn is_empty(&self) -> bool {
        let txn = self.doc.transact();
        !txn.has_missing_updates() && txn.state_vector().is_empty()
    }

    /// Returns whether these are the bytes of the full state.
    pub fn is_full(&self, diff: &Bytes) -> bool {
        self.full.as_ref().is_some_and(|full| full.as_ptr() == diff.as_ptr())
    }

    /// Returns the state vector, encoded.
    pub fn state_vector(&mut self) -> Bytes {
        let doc = &self.doc;
        self.state_vector.get_or_insert_with(|| doc.transact().state_vector().encode_v1().into()).clone()
    }

    /// Returns the state vector.
    pub fn known(&self) -> StateVector {
        self.doc.transact().state_vector()
    }

    /// Returns the engine's document, to read from.
    pub fn doc(&self) -> &Doc {
        &self.doc
    }
}

/// Lowers a state vector to what a peer has that missed an update.
pub(crate) fn lower(known: &mut StateVector, missed: &[u8]) {
    let Ok(update) = Update::decode_v1(missed) else { return };
    for (client, clock) in update.state_vector_lower().iter() {
        known.set_min(*client, *clock);
    }
}

/// Makes one update of several that the engine took; `None` if they have to go one by one. Cost O(their bytes).
pub(crate) fn join<'a>(updates: impl Iterator<Item = &'a Bytes>) -> Option<Bytes> {
    let merged = || yatta::merge_updates_v1(updates).map_err(|error| Refused::Malformed(error.to_string()));
    guarded(merged).ok().map(Bytes::from)
}

/// Makes one update of many, with what waits in it: the merge of a compaction.
///
/// # Errors
/// When one cannot be read.
pub fn merge(updates: &[Bytes]) -> Result<Vec<u8>, String> {
    let document = Document::load(updates).map_err(|error| error.to_string())?;
    guarded(|| Ok(document.doc.transact().encode_state_as_update_v1(&StateVector::default())))
        .map_err(|error| error.to_string())
}

fn apply(txn: &mut yatta::TransactionMut<'_>, update: &[u8]) -> Result<(), Refused> {
    let update = Update::decode_v1(update).map_err(|error| Refused::Malformed(error.to_string()))?;
    txn.apply_update(update).map_err(|error| Refused::Malformed(error.to_string()))
}

/// The engine promises not to panic. Should it break that promise, one room is lost from memory, not the server.
fn guarded<T>(f: impl FnOnce() -> Result<T, Refused>) -> Result<T, Refused> {
    catch_unwind(AssertUnwindSafe(f)).unwrap_or_else(|_| {
        tracing::error!("the engine panicked; the room is closed and loaded anew");
        Err(Refused::Broken)
    })
}
