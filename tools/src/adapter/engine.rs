//! The crate that the adapter drives, and what it needs beyond the API that yatta shares with yrs.

pub(crate) use yatta::types::text::DeltaPrelim;
pub(crate) use yatta::types::{Attrs, Delta, ToJson};
pub(crate) use yatta::updates::decoder::Decode;
pub(crate) use yatta::updates::encoder::Encode;
pub(crate) use yatta::{
    Any, Array, ArrayPrelim, ArrayRef, BranchID, Doc, GetString, In, Map, MapPrelim, MapRef, Number, OffsetKind,
    Options, Out, ReadTxn, SharedRef, StateVector, Text, TextPrelim, TextRef, Transact, TransactionMut, Update,
    WriteTxn,
};

/// What `hello` answers.
pub(crate) const NAME: &str = "yatta";

/// Whether an index beyond the end of a text is answered as in Yjs.
pub(crate) const LENIENT: bool = true;

/// Builds an object whose keys keep the given order.
pub(crate) fn object(entries: Vec<(String, Any)>) -> Any {
    Any::Map(entries.into_iter().collect())
}

/// What waits in a document: the clock that is missing of each client, and whether deletions wait. `None` where the
/// engine only tells whether something waits.
pub(crate) fn pending(_txn: &TransactionMut<'_>) -> Option<(Vec<(u64, u32)>, bool)> {
    None
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
pub(crate) fn check(doc: &Doc) {
    doc.check();
}
