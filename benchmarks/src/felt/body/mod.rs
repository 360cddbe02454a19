//! What is done to a document, written against the API that both engines share.
//!
//! `krate` and `NAME` are those of the module that includes this file.

pub(in crate::felt) mod array;
pub(in crate::felt) mod clients;
pub(in crate::felt) mod large;
pub(in crate::felt) mod map;
pub(in crate::felt) mod presence;
pub(in crate::felt) mod sticky;
pub(in crate::felt) mod text;
pub(in crate::felt) mod undo;
pub(in crate::felt) mod updates;
pub(in crate::felt) mod xml;

use super::{NAME, krate};
use crate::canonical::canonical;
use crate::clock::Clock;
use crate::engine::{EngineError, Format};
use crate::felt::{Places, Task};
use krate::updates::decoder::Decode;
use krate::updates::encoder::Encode;
use krate::{ClientID, Doc, OffsetKind, Options, ReadTxn, StateVector, Transact, Update};

/// The client that edits; none of the clients of a start state has this id.
const EDITOR: u64 = 1_000_003;

fn failed(action: &'static str, cause: impl std::fmt::Display) -> EngineError {
    EngineError { engine: NAME, action, cause: cause.to_string() }
}

/// Performs an edit at each place; the first few before the clock starts.
fn at_each(places: &Places, clock: &mut dyn Clock, mut edit: impl FnMut(u32)) {
    places.warm_up.iter().for_each(|at| edit(*at));
    clock.time(&mut || places.timed.iter().for_each(|at| edit(*at)));
}

fn missing(what: &'static str) -> EngineError {
    failed("find what the workload needs", what)
}

fn empty(client: u64) -> Doc {
    Doc::with_options(Options {
        client_id: ClientID::new(client),
        offset_kind: OffsetKind::Utf16,
        ..Options::default()
    })
}

/// A document that holds the start state of the task, and one of its roots. The root is named before the state comes: yrs
/// tells no observer of a root whose type it learns from nobody.
fn open<R>(task: &Task, root: impl FnOnce(&Doc) -> R) -> Result<(Doc, R), EngineError> {
    let doc = empty(EDITOR);
    let root = root(&doc);
    if !task.start.is_empty() {
        apply(&doc, &task.start)?;
    }
    Ok((doc, root))
}

fn apply(doc: &Doc, update: &[u8]) -> Result<(), EngineError> {
    let update = Update::decode_v1(update).map_err(|e| failed("decode an update", e))?;
    doc.transact_mut().apply_update(update).map_err(|e| failed("apply an update", e))
}

/// The whole document in V1, its delete set in the order of Yjs.
fn state(doc: &Doc) -> Result<Vec<u8>, EngineError> {
    let txn = doc.transact();
    let state = txn.encode_state_as_update_v1(&StateVector::default());
    canonical(&state, Format::V1, &txn.snapshot().delete_set.encode_v1())
        .ok_or_else(|| failed("encode its state", "it does not end in the delete set"))
}
