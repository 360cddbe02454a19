//! What came late to the engine: sub-documents, events and positions in XML. See `late_none.rs`.

use super::engine::{
    Assoc, Doc, Event, In, IndexedSequence, Observable, Options, Out, StickyIndex, Transaction, TransactionMut,
};
use super::extra::Extra;
use super::json::Json;
use super::more::{changes, deltas, forget, keys, note, observe_deep as deep, told};
use super::service::Failure;
use super::service::session::Events;

/// A sub-document as TJSON describes it.
pub(crate) fn subdoc_prelim(content: &Json) -> Option<In> {
    let mut options = Options::default();
    if let Some(guid) = content.get("guid").as_str() {
        options.guid = guid.into();
    }
    options.auto_load = content.get("autoLoad").as_bool() == Some(true);
    options.skip_gc = content.get("gc").as_bool() == Some(false);
    Some(In::Doc(Doc::with_options(options)))
}

/// The sub-document in a value, as TJSON.
pub(crate) fn subdoc(out: &Out) -> Option<Json> {
    match out {
        Out::YDoc(doc) => Some(Json::tagged("doc", [("guid", doc.guid().to_string().into())])),
        _ => None,
    }
}

/// Ends a subscription.
pub(crate) fn unobserve(extra: &Extra, key: &str, deep: bool) {
    match extra {
        Extra::Text(handle) => forget(handle, key, deep),
        Extra::Element(handle) => forget(handle, key, deep),
        Extra::Fragment(handle) => forget(handle, key, deep),
    }
}

/// Notes all events in and below a type.
pub(crate) fn observe_deep(extra: &Extra, key: &str, events: Events) -> Result<(), Failure> {
    match extra {
        Extra::Text(handle) => deep(handle, key, events),
        Extra::Element(handle) => deep(handle, key, events),
        Extra::Fragment(handle) => deep(handle, key, events),
    }
    Ok(())
}

/// Notes the events of one type.
pub(crate) fn observe(extra: &Extra, key: String, events: Events) -> Result<(), Failure> {
    let name = key.clone();
    match extra {
        Extra::Text(handle) => handle.observe(name.as_str(), move |txn, e| {
            note(&events, &key, told(&e.path(), deltas(txn, e.delta(txn)), keys(txn, e.keys(txn).iter())));
        }),
        Extra::Element(handle) => handle.observe(name.as_str(), move |txn, e| {
            note(&events, &key, told(&e.path(), changes(txn, e.delta(txn)), keys(txn, e.keys(txn).iter())));
        }),
        Extra::Fragment(handle) => handle.observe(name.as_str(), move |txn, e| {
            note(&events, &key, told(&e.path(), changes(txn, e.delta(txn)), keys(txn, e.keys(txn).iter())));
        }),
    }
    Ok(())
}

/// An event of XML.
pub(crate) fn event_json(txn: &TransactionMut<'_>, event: &Event) -> Json {
    match event {
        Event::XmlText(e) => told(&e.path(), deltas(txn, e.delta(txn)), keys(txn, e.keys(txn).iter())),
        Event::XmlFragment(e) => told(&e.path(), changes(txn, e.delta(txn)), keys(txn, e.keys(txn).iter())),
        _ => Json::Null,
    }
}

/// A position in XML.
pub(crate) fn position(
    extra: &Extra,
    txn: &Transaction<'_>,
    index: u32,
    assoc: Assoc,
) -> Result<Option<StickyIndex>, Failure> {
    Ok(match extra {
        Extra::Text(handle) => handle.sticky_index(txn, index, assoc),
        Extra::Element(handle) => handle.sticky_index(txn, index, assoc),
        Extra::Fragment(handle) => handle.sticky_index(txn, index, assoc),
    })
}
