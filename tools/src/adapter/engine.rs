//! The crate that the adapter drives, and what it needs beyond the API that yatta shares with yrs.

pub(crate) use yatta::sync::awareness::AwarenessUpdate;
pub(crate) use yatta::sync::time::{Clock, SystemClock};
pub(crate) use yatta::sync::{Awareness, SyncMessage};
pub(crate) use yatta::types::text::{ChangeKind, DeltaPrelim, Diff};
pub(crate) use yatta::types::xml::{XmlDeltaPrelim, XmlIn};
pub(crate) use yatta::types::{Attrs, Change, Delta, EntryChange, Event, Path, PathSegment, ToJson};
pub(crate) use yatta::undo::{EventKind, Options as UndoOptions, UndoManager};
pub(crate) use yatta::updates::decoder::Decode;
pub(crate) use yatta::updates::encoder::Encode;
pub(crate) use yatta::{
    Any, Array, ArrayPrelim, ArrayRef, Assoc, BranchID, ClientID, DeepObservable, Doc, GetString, ID, In,
    IndexScope, IndexedSequence, Map, MapPrelim, MapRef, Number, Observable, OffsetKind, Options, Out,
    ReadTxn, SharedRef, Snapshot, StateVector, StickyIndex, Text, TextPrelim, TextRef, Transact, Transaction,
    TransactionMut, Update, WriteTxn, Xml, XmlElementPrelim, XmlElementRef, XmlFragment, XmlFragmentPrelim,
    XmlFragmentRef, XmlOut, XmlTextPrelim, XmlTextRef,
};

/// What `hello` answers.
pub(crate) const NAME: &str = "yatta";

/// Whether an index beyond the end of a text is answered as in Yjs.
pub(crate) const LENIENT: bool = true;

/// Builds an object whose keys keep the given order.
pub(crate) fn object(entries: Vec<(String, Any)>) -> Any {
    Any::Map(entries.into_iter().collect())
}

/// Merges updates without a document.
pub(crate) fn merge(updates: &[Vec<u8>], v2: bool) -> Result<Vec<u8>, String> {
    let merged = if v2 { yatta::merge_updates_v2(updates) } else { yatta::merge_updates_v1(updates) };
    merged.map_err(|error| error.to_string())
}

/// Cuts from an update what a state vector already covers.
pub(crate) fn diff(update: &[u8], sv: &[u8], v2: bool) -> Result<Vec<u8>, String> {
    let cut = if v2 { yatta::diff_updates_v2(update, sv) } else { yatta::diff_updates_v1(update, sv) };
    cut.map_err(|error| error.to_string())
}

/// Reads the state vector that a receiver of this update alone would have.
pub(crate) fn state_vector_of(update: &[u8], v2: bool) -> Result<Vec<u8>, String> {
    let sv = if v2 {
        yatta::encode_state_vector_from_update_v2(update)
    } else {
        yatta::encode_state_vector_from_update_v1(update)
    };
    sv.map_err(|error| error.to_string())
}

/// Rewrites an update in the other format: V1 from V2, or V2 from V1.
pub(crate) fn convert(update: &[u8], to_v2: bool) -> Result<Vec<u8>, String> {
    use yatta_encoding::update::{convert_v1_to_v2, convert_v2_to_v1};
    let converted = if to_v2 { convert_v1_to_v2(update) } else { convert_v2_to_v1(update) };
    converted.map_err(|error| error.to_string())
}

/// Runs the engine's own invariant check.
#[allow(dead_code, reason = "for the tests that mount this file")]
pub(crate) fn check(doc: &Doc) {
    doc.check();
}

/// Where a position stands now, following undone deletions or not.
pub(crate) fn offset(
    position: &StickyIndex,
    txn: &Transaction<'_>,
    follow: bool,
) -> Option<Option<(u32, Assoc)>> {
    let offset = if follow { position.get_offset(txn) } else { position.get_offset_without_undo(txn) };
    Some(offset.map(|offset| (offset.index, offset.assoc)))
}

/// Whether a snapshot contains an update.
pub(crate) fn snapshot_contains(snapshot: &Snapshot, update: &Update) -> Option<bool> {
    Some(snapshot.contains_update(update))
}

/// Restores a snapshot into an update.
pub(crate) fn restore(txn: &Transaction<'_>, snapshot: &Snapshot) -> Result<Vec<u8>, String> {
    let doc = snapshot.create_doc(txn).map_err(|error| error.to_string())?;
    let state = doc.transact().encode_state_as_update_v1(&StateVector::default());
    Ok(state)
}

/// Lets undo overwrite what others did to a map.
pub(crate) fn ignore_remote_map_changes(manager: &mut UndoManager<()>) -> bool {
    manager.set_ignore_remote_map_changes(true);
    true
}

/// Gives a new awareness the state that it has in Yjs.
pub(crate) fn initial_state(awareness: &mut Awareness) {
    awareness.begin_with_empty_state();
}
