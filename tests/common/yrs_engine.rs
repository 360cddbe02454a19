//! yrs under the names that the adapter's service uses.

pub(crate) use yrs::sync::awareness::AwarenessUpdate;
pub(crate) use yrs::sync::time::{Clock, SystemClock};
pub(crate) use yrs::sync::{Awareness, SyncMessage};
pub(crate) use yrs::types::text::{ChangeKind, DeltaPrelim, Diff, TextPrelim};
pub(crate) use yrs::types::xml::{XmlDeltaPrelim, XmlIn, XmlOut};
pub(crate) use yrs::types::{Attrs, Delta, ToJson};
pub(crate) use yrs::types::{Change, DeepObservable, EntryChange, Event, Observable, Path, PathSegment};
pub(crate) use yrs::undo::{EventKind, Options as UndoOptions, UndoManager};
pub(crate) use yrs::updates::decoder::Decode;
pub(crate) use yrs::updates::encoder::{Encode, Encoder, EncoderV1};
pub(crate) use yrs::{
    Any, Array, ArrayPrelim, ArrayRef, BranchID, Doc, GetString, In, Map, MapPrelim, MapRef, Number,
    OffsetKind, Options, Out, ReadTxn, SharedRef, StateVector, Text, TextRef, Transact, Transaction,
    TransactionMut, Update, WriteTxn, Xml, XmlElementPrelim, XmlElementRef, XmlFragment, XmlFragmentPrelim,
    XmlFragmentRef, XmlTextPrelim, XmlTextRef,
};
pub(crate) use yrs::{Assoc, ClientID, ID, IndexScope, IndexedSequence, Snapshot, StickyIndex};

/// What `hello` answers.
pub(crate) const NAME: &str = "yrs";

/// Whether an index beyond the end of a text is answered as in Yjs: yrs panics.
pub(crate) const LENIENT: bool = false;

/// Builds an object; yrs forgets the order of its keys (departure 12).
pub(crate) fn object(entries: Vec<(String, Any)>) -> Any {
    Any::from(entries.into_iter().collect::<std::collections::HashMap<_, _>>())
}

/// Merges updates without a document.
pub(crate) fn merge(updates: &[Vec<u8>], v2: bool) -> Result<Vec<u8>, String> {
    let merged = if v2 { yrs::merge_updates_v2(updates) } else { yrs::merge_updates_v1(updates) };
    merged.map_err(|error| error.to_string())
}

/// Cuts from an update what a state vector already covers.
pub(crate) fn diff(update: &[u8], sv: &[u8], v2: bool) -> Result<Vec<u8>, String> {
    let cut = if v2 { yrs::diff_updates_v2(update, sv) } else { yrs::diff_updates_v1(update, sv) };
    cut.map_err(|error| error.to_string())
}

/// Reads the state vector that a receiver of this update alone would have.
pub(crate) fn state_vector_of(update: &[u8], v2: bool) -> Result<Vec<u8>, String> {
    let sv = if v2 {
        yrs::encode_state_vector_from_update_v2(update)
    } else {
        yrs::encode_state_vector_from_update_v1(update)
    };
    sv.map_err(|error| error.to_string())
}

/// yrs cannot rewrite an update in the other format without a document.
pub(crate) fn convert(_update: &[u8], _to_v2: bool) -> Result<Vec<u8>, String> {
    Err("yrs has no conversion".to_owned())
}

/// Where a position stands now; yrs always follows undone deletions.
pub(crate) fn offset(
    position: &StickyIndex,
    txn: &Transaction<'_>,
    follow: bool,
) -> Option<Option<(u32, Assoc)>> {
    follow.then(|| position.get_offset(txn).map(|offset| (offset.index, offset.assoc)))
}

/// Whether a snapshot contains an update: yrs cannot tell.
pub(crate) fn snapshot_contains(_snapshot: &Snapshot, _update: &Update) -> Option<bool> {
    None
}

/// Restores a snapshot into an update.
pub(crate) fn restore(txn: &Transaction<'_>, snapshot: &Snapshot) -> Result<Vec<u8>, String> {
    let mut encoder = EncoderV1::new();
    txn.encode_state_from_snapshot(snapshot, &mut encoder).map_err(|error| error.to_string())?;
    Ok(encoder.to_vec())
}

/// Lets undo overwrite what others did to a map; `false` where the engine cannot.
pub(crate) fn ignore_remote_map_changes(_manager: &mut UndoManager<()>) -> bool {
    false
}

/// Gives a new awareness the state that it has in Yjs.
pub(crate) fn initial_state(awareness: &mut Awareness) {
    awareness.set_local_state_raw("{}");
}
