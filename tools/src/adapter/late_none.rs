//! In place of `late.rs` for an engine that has no sub-documents yet.

use super::engine::{In, Out};
use super::json::Json;

/// A sub-document: not here.
pub(crate) fn subdoc_prelim(_content: &Json) -> Option<In> {
    None
}

/// A sub-document: not here.
pub(crate) fn subdoc(_out: &Out) -> Option<Json> {
    None
}
