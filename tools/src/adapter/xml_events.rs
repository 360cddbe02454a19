//! Events in XML.

use super::engine::{Event, Observable, TransactionMut};
use super::extra::Extra;
use super::json::Json;
use super::more::{changes, deltas, forget, keys, note, observe_deep as deep, told};
use super::service::session::Events;

/// Ends a subscription.
pub(crate) fn unobserve(extra: &Extra, key: &str, deep: bool) {
    match extra {
        Extra::Text(handle) => forget(handle, key, deep),
        Extra::Element(handle) => forget(handle, key, deep),
        Extra::Fragment(handle) => forget(handle, key, deep),
    }
}

/// Notes all events in and below a type.
pub(crate) fn observe_deep(extra: &Extra, key: &str, events: Events) {
    match extra {
        Extra::Text(handle) => deep(handle, key, events),
        Extra::Element(handle) => deep(handle, key, events),
        Extra::Fragment(handle) => deep(handle, key, events),
    }
}

/// Notes the events of one type.
pub(crate) fn observe(extra: &Extra, key: String, events: Events) {
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
}

/// An event of XML.
pub(crate) fn event_json(txn: &TransactionMut<'_>, event: &Event) -> Json {
    match event {
        Event::XmlText(e) => told(&e.path(), deltas(txn, e.delta(txn)), keys(txn, e.keys(txn).iter())),
        Event::XmlFragment(e) => told(&e.path(), changes(txn, e.delta(txn)), keys(txn, e.keys(txn).iter())),
        _ => Json::Null,
    }
}
