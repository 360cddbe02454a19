//! Events in XML.

use super::engine::{Event, Observable, TransactionMut};
use super::extra::Extra;
use super::json::Json;
use super::more::{Listener, changes, deltas, forget, keys, observe_deep as deep, told};

/// Ends a subscription.
pub(crate) fn unobserve(extra: &Extra, key: &str, deep: bool) {
    match extra {
        Extra::Text(handle) => forget(handle, key, deep),
        Extra::Element(handle) => forget(handle, key, deep),
        Extra::Fragment(handle) => forget(handle, key, deep),
    }
}

/// Notes all events in and below a type.
pub(crate) fn observe_deep(extra: &Extra, listener: Listener) {
    match extra {
        Extra::Text(handle) => deep(handle, listener),
        Extra::Element(handle) => deep(handle, listener),
        Extra::Fragment(handle) => deep(handle, listener),
    }
}

/// Notes the events of one type.
pub(crate) fn observe(extra: &Extra, listener: Listener) {
    let key = listener.key();
    match extra {
        Extra::Text(handle) => handle.observe(key.as_str(), move |txn, e| {
            listener.note(txn, told(&e.path(), deltas(txn, e.delta(txn)), keys(txn, e.keys(txn).iter())));
        }),
        Extra::Element(handle) => handle.observe(key.as_str(), move |txn, e| {
            listener.note(txn, told(&e.path(), changes(txn, e.delta(txn)), keys(txn, e.keys(txn).iter())));
        }),
        Extra::Fragment(handle) => handle.observe(key.as_str(), move |txn, e| {
            listener.note(txn, told(&e.path(), changes(txn, e.delta(txn)), keys(txn, e.keys(txn).iter())));
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
