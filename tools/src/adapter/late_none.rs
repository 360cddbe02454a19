//! In place of `late.rs` for an engine that has no sub-documents, events and positions in XML yet.

use super::engine::{Assoc, Event, In, Out, StickyIndex, Transaction, TransactionMut};
use super::extra::Extra;
use super::json::Json;
use super::service::Failure;
use super::service::session::Events;

/// A sub-document: not here.
pub(crate) fn subdoc_prelim(_content: &Json) -> Option<In> {
    None
}

/// A sub-document: not here.
pub(crate) fn subdoc(_out: &Out) -> Option<Json> {
    None
}

/// There can be no subscription to end.
pub(crate) fn unobserve(_extra: &Extra, _key: &str, _deep: bool) {}

/// Events in and below XML: not here.
pub(crate) fn observe_deep(_extra: &Extra, _key: &str, _events: Events) -> Result<(), Failure> {
    Err(Failure::unsupported("observing XML"))
}

/// Events of XML: not here.
pub(crate) fn observe(_extra: &Extra, _key: String, _events: Events) -> Result<(), Failure> {
    Err(Failure::unsupported("observing XML"))
}

/// An event of XML: not here.
pub(crate) fn event_json(_txn: &TransactionMut<'_>, _event: &Event) -> Json {
    Json::Null
}

/// A position in XML: not here.
pub(crate) fn position(
    _extra: &Extra,
    _txn: &Transaction<'_>,
    _index: u32,
    _assoc: Assoc,
) -> Result<Option<StickyIndex>, Failure> {
    Err(Failure::unsupported("a position in XML"))
}
