//! The operations of version 2 of the protocol: events of types, undo, relative positions, snapshots. See
//! `more_none.rs` for an engine without them.
//!
//! They run outside the transaction that other operations get: undo opens its own, and observers are told at the end
//! of one. Events of types come with the reply that caused them, as `{"t": "event", "as", "event"}`.

use super::engine::{
    Assoc, BranchID, Change, DeepObservable, Delta, EncoderV1, EntryChange, Event, EventKind, ID, IndexScope,
    IndexedSequence, Observable, Out, Path, PathSegment, ReadTxn, SharedRef, Snapshot, StickyIndex, ToJson, Transact,
    TransactionMut, UndoManager, UndoOptions,
};
use super::engine::{ClientID, Decode, Encode, Encoder, GetString};
use super::extra::Extra;
use super::json::{Json, hex, unhex};
use super::service::node::Node;
use super::service::session::{Events, Session, lock};
use super::service::{Failure, value};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// Undo managers and observers of one document.
#[derive(Default)]
pub(crate) struct More {
    managers: HashMap<String, Manager>,
    observers: HashMap<String, (Node, bool)>,
}

struct Manager {
    manager: UndoManager<()>,
    log: Arc<Mutex<Vec<String>>>,
}

/// Runs one of these operations; `None` if the request is another one.
pub(crate) fn run(session: &mut Session, request: &Json) -> Option<Result<Json, Failure>> {
    let op = request.get("op").as_str()?;
    Some(match op {
        "observe" | "unobserve" => observe(session, request),
        "undo_new" => new_manager(session, request),
        "undo" | "redo" | "undo_stop" | "undo_clear" | "undo_read" => manage(session, op, request),
        "relpos_new" | "relpos_abs" | "relpos_hex" => position(session, op, request),
        "snapshot" | "snapshot_v2" | "snapshot_restore" => snapshot(session, op, request),
        _ => return None,
    })
}

/// Applies an expression to the typed handle of a node.
macro_rules! with_handle {
    ($node:expr, $handle:ident => $body:expr) => {
        match $node {
            Node::Text($handle) => $body,
            Node::Array($handle) => $body,
            Node::Map($handle) => $body,
            Node::Extra(Extra::Text($handle)) => $body,
            Node::Extra(Extra::Element($handle)) => $body,
            Node::Extra(Extra::Fragment($handle)) => $body,
        }
    };
}

fn observe(session: &mut Session, request: &Json) -> Result<Json, Failure> {
    let name = request.get("as").as_str().unwrap_or_default().to_owned();
    if request.get("op").as_str() == Some("unobserve") {
        if let Some((node, deep)) = session.more.observers.remove(&name) {
            with_handle!(&node, handle => if deep {
                handle.unobserve_deep(name.as_str());
            } else {
                handle.unobserve(name.as_str());
            });
        }
        return Ok(Json::Null);
    }
    let node = {
        let doc = session.doc.clone();
        let txn = doc.transact();
        session.find(&txn, request.get("h"))?
    };
    let deep = request.get("deep").as_bool() == Some(true);
    let events = session.events();
    if deep {
        let key = name.clone();
        with_handle!(&node, handle => handle.observe_deep(key.as_str(), {
            let key = key.clone();
            move |txn, all| {
                let json: Vec<Json> = all.iter().map(|event| event_json(txn, event)).collect();
                note(&events, &key, json.into());
            }
        }));
    } else {
        observe_shallow(&node, name.clone(), events);
    }
    session.more.observers.insert(name, (node, deep));
    Ok(Json::Null)
}

fn observe_shallow(node: &Node, key: String, events: Events) {
    let name = key.clone();
    match node {
        Node::Text(handle) => handle.observe(name.as_str(), move |txn, e| {
            note(&events, &key, told(txn, &e.path(), deltas(txn, e.delta(txn)), &HashMap::new()));
        }),
        Node::Array(handle) => handle.observe(name.as_str(), move |txn, e| {
            note(&events, &key, told(txn, &e.path(), changes(txn, e.delta(txn)), &HashMap::new()));
        }),
        Node::Map(handle) => handle.observe(name.as_str(), move |txn, e| {
            note(&events, &key, told(txn, &e.path(), Vec::new(), e.keys(txn)));
        }),
        Node::Extra(Extra::Text(handle)) => handle.observe(name.as_str(), move |txn, e| {
            note(&events, &key, told(txn, &e.path(), deltas(txn, e.delta(txn)), e.keys(txn)));
        }),
        Node::Extra(Extra::Element(handle)) => handle.observe(name.as_str(), move |txn, e| {
            note(&events, &key, told(txn, &e.path(), changes(txn, e.delta(txn)), e.keys(txn)));
        }),
        Node::Extra(Extra::Fragment(handle)) => handle.observe(name.as_str(), move |txn, e| {
            note(&events, &key, told(txn, &e.path(), changes(txn, e.delta(txn)), e.keys(txn)));
        }),
    }
}

fn note(events: &Events, key: &str, event: Json) {
    lock(events).push(Json::object([("t", "event".into()), ("as", key.into()), ("event", event)]));
}

fn event_json(txn: &TransactionMut<'_>, event: &Event) -> Json {
    match event {
        Event::Text(e) => told(txn, &e.path(), deltas(txn, e.delta(txn)), &HashMap::new()),
        Event::Array(e) => told(txn, &e.path(), changes(txn, e.delta(txn)), &HashMap::new()),
        Event::Map(e) => told(txn, &e.path(), Vec::new(), e.keys(txn)),
        Event::XmlText(e) => told(txn, &e.path(), deltas(txn, e.delta(txn)), e.keys(txn)),
        Event::XmlFragment(e) => told(txn, &e.path(), changes(txn, e.delta(txn)), e.keys(txn)),
        Event::Weak(_) => Json::Null,
    }
}

/// Path, delta, and the keys if there are any.
fn told(txn: &TransactionMut<'_>, path: &Path, delta: Vec<Json>, keys: &HashMap<Arc<str>, EntryChange>) -> Json {
    let segment = |segment: &PathSegment| match segment {
        PathSegment::Key(key) => Json::String(key.to_string()),
        PathSegment::Index(index) => Json::from(*index),
    };
    let path: Vec<Json> = path.iter().map(segment).collect();
    let mut event = Json::object([("path", path.into()), ("delta", delta.into())]);
    if !keys.is_empty() {
        let mut entries = Json::Object(Vec::new());
        for (key, change) in keys {
            let (action, old) = match change {
                EntryChange::Inserted(_) => ("add", Json::tagged("undefined", [])),
                EntryChange::Updated(old, _) => ("update", content(txn, old)),
                EntryChange::Removed(old) => ("delete", content(txn, old)),
            };
            entries.set(key, Json::object([("action", action.into()), ("oldValue", old)]));
        }
        event.set("keys", entries);
    }
    event
}

fn deltas(txn: &TransactionMut<'_>, delta: &[Delta]) -> Vec<Json> {
    let step = |step: &Delta| {
        let (mut json, attrs) = match step {
            Delta::Inserted(out, attrs) => (Json::object([("insert", content(txn, out))]), attrs),
            Delta::Deleted(len) => (Json::object([("delete", (*len).into())]), &None),
            Delta::Retain(len, attrs) => (Json::object([("retain", (*len).into())]), attrs),
        };
        if let Some(attrs) = attrs.as_ref().filter(|attrs| !attrs.is_empty()) {
            json.set("attributes", value::attrs_json(attrs));
        }
        json
    };
    delta.iter().map(step).collect()
}

fn changes(txn: &TransactionMut<'_>, delta: &[Change]) -> Vec<Json> {
    let step = |step: &Change| match step {
        Change::Added(all) => {
            let all: Vec<Json> = all.iter().map(|out| content(txn, out)).collect();
            Json::object([("insert", all.into())])
        }
        Change::Removed(len) => Json::object([("delete", (*len).into())]),
        Change::Retain(len) => Json::object([("retain", (*len).into())]),
    };
    delta.iter().map(step).collect()
}

/// A value within an event: a type stands as its class and what it holds.
fn content(txn: &TransactionMut<'_>, out: &Out) -> Json {
    let typed = |class: &str, key: &str, value: Json| Json::object([("$type", class.into()), (key, value)]);
    match out {
        Out::Any(any) => value::json(any),
        Out::YText(node) => typed("YText", "json", node.get_string(txn).into()),
        Out::YArray(node) => typed("YArray", "json", value::json(&node.to_json(txn))),
        Out::YMap(node) => typed("YMap", "json", value::json(&node.to_json(txn))),
        Out::YXmlText(node) => typed("YXmlText", "string", node.get_string(txn).into()),
        Out::YXmlElement(node) => typed("YXmlElement", "string", node.get_string(txn).into()),
        Out::YXmlFragment(node) => typed("YXmlFragment", "string", node.get_string(txn).into()),
        Out::YDoc(doc) => Json::tagged("doc", [("guid", doc.guid().to_string().into())]),
        _ => Json::tagged("undefined", []),
    }
}

fn new_manager(session: &mut Session, request: &Json) -> Result<Json, Failure> {
    let mut options = UndoOptions {
        capture_timeout_millis: request.get("captureTimeout").as_u64().unwrap_or(500),
        ..UndoOptions::default()
    };
    for origin in request.get("trackedOrigins").items() {
        options.tracked_origins.insert(origin.as_str().unwrap_or_default().into());
    }
    if request.find("ignoreRemoteMapChanges").is_some() {
        return Err(Failure::unsupported("ignoreRemoteMapChanges"));
    }
    let mut manager = UndoManager::with_options(options);
    let doc = session.doc.clone();
    for h in request.get("scope").items() {
        let node = session.find(&doc.transact(), h)?;
        with_handle!(&node, handle => manager.expand_scope(&doc, handle));
    }
    let log = Arc::new(Mutex::new(Vec::new()));
    let told = |what: &'static str| {
        let log = Arc::clone(&log);
        move |kind: EventKind| {
            let kind = if kind == EventKind::Undo { "undo" } else { "redo" };
            log.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(format!("{what}:{kind}"));
        }
    };
    let added = told("added");
    manager.observe_item_added("adapter", move |_, event| added(event.kind()));
    let popped = told("popped");
    manager.observe_item_popped("adapter", move |_, event| popped(event.kind()));
    let name = request.get("um").as_str().unwrap_or_default().to_owned();
    session.more.managers.insert(name, Manager { manager, log });
    Ok(Json::Null)
}

fn manage(session: &mut Session, op: &str, request: &Json) -> Result<Json, Failure> {
    let name = request.get("um").as_str().unwrap_or_default();
    let Some(Manager { manager, log }) = session.more.managers.get_mut(name) else {
        return Err(Failure::error(format!("no undo manager {name}")));
    };
    Ok(match op {
        "undo" => manager.undo_blocking().into(),
        "redo" => manager.redo_blocking().into(),
        "undo_stop" => {
            manager.reset();
            Json::Null
        }
        "undo_clear" => {
            manager.clear_all();
            Json::Null
        }
        _ => {
            let log = log.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            Json::object([
                ("undo", Json::from(manager.undo_stack().len() as u32)),
                ("redo", Json::from(manager.redo_stack().len() as u32)),
                ("canUndo", manager.can_undo().into()),
                ("canRedo", manager.can_redo().into()),
                ("events", log.iter().map(|event| Json::String(event.clone())).collect::<Vec<_>>().into()),
            ])
        }
    })
}

fn assoc(json: &Json) -> Assoc {
    // below zero: bound to what stands to the left
    if json.as_f64().unwrap_or_default() < 0.0 { Assoc::Before } else { Assoc::After }
}

fn position(session: &mut Session, op: &str, request: &Json) -> Result<Json, Failure> {
    let doc = session.doc.clone();
    let txn = doc.transact();
    match op {
        "relpos_new" => {
            let node = session.find(&txn, request.get("h"))?;
            let index = request.get("index").as_u64().unwrap_or_default() as u32;
            let assoc = assoc(request.get("assoc"));
            let position = match &node {
                Node::Text(handle) => handle.sticky_index(&txn, index, assoc),
                Node::Array(handle) => handle.sticky_index(&txn, index, assoc),
                Node::Extra(Extra::Text(handle)) => handle.sticky_index(&txn, index, assoc),
                Node::Extra(Extra::Element(handle)) => handle.sticky_index(&txn, index, assoc),
                Node::Extra(Extra::Fragment(handle)) => handle.sticky_index(&txn, index, assoc),
                Node::Map(_) => return Err(node.lacks("positions")),
            };
            let position = position.ok_or_else(|| Failure::error("no position there"))?;
            Ok(Json::object([("hex", hex(&position.encode_v1()).into()), ("json", position_json(&node, &position))]))
        }
        "relpos_hex" => {
            let json = request.get("json");
            let id = |json: &Json| {
                let number = |key| json.get(key).as_u64().unwrap_or_default();
                ID { client: ClientID::new(number("client")), clock: number("clock") as u32 }
            };
            let scope = match (json.find("item"), json.find("type")) {
                (Some(item), _) => IndexScope::Relative(id(item)),
                (None, Some(parent)) => IndexScope::Nested(id(parent)),
                (None, None) => IndexScope::Root(json.get("tname").as_str().unwrap_or_default().into()),
            };
            Ok(hex(&StickyIndex::new(scope, assoc(json.get("assoc"))).encode_v1()).into())
        }
        _ => {
            if request.get("follow").as_bool() == Some(false) {
                return Err(Failure::unsupported("a position that does not follow undone deletions"));
            }
            let bytes = unhex(request.get("bytes").as_str().unwrap_or_default()).map_err(Failure::error)?;
            let position = StickyIndex::decode_v1(&bytes).map_err(|error| Failure::decode(error.to_string()))?;
            let offset = position.get_offset(&txn);
            Ok(offset.map_or(Json::Null, |offset| {
                let assoc = if offset.assoc == Assoc::Before { -1.0 } else { 0.0 };
                Json::object([("index", offset.index.into()), ("assoc", Json::Number(assoc))])
            }))
        }
    }
}

/// The JSON form of Yjs, which also names the type.
fn position_json(node: &Node, position: &StickyIndex) -> Json {
    let id = |id: &ID| {
        Json::object([("client", Json::Number(id.client.get() as f64)), ("clock", Json::from(id.clock))])
    };
    let mut json = Json::Object(Vec::new());
    match with_handle!(node, handle => handle.hook().id().clone()) {
        BranchID::Root(name) if name.is_empty() => {}
        BranchID::Root(name) => json.set("tname", name.to_string().into()),
        BranchID::Nested(parent) => json.set("type", id(&parent)),
    }
    if let IndexScope::Relative(item) = position.scope() {
        json.set("item", id(item));
    }
    json.set("assoc", Json::Number(if position.assoc == Assoc::Before { -1.0 } else { 0.0 }));
    json
}

fn snapshot(session: &mut Session, op: &str, request: &Json) -> Result<Json, Failure> {
    let txn = session.doc.transact();
    if op == "snapshot" {
        return Ok(hex(&txn.snapshot().encode_v1()).into());
    }
    let bytes = unhex(request.get("snapshot").as_str().unwrap_or_default()).map_err(Failure::error)?;
    let snapshot = Snapshot::decode_v1(&bytes).map_err(|error| Failure::decode(error.to_string()))?;
    if op == "snapshot_v2" {
        return Ok(hex(&snapshot.encode_v2()).into());
    }
    let mut encoder = EncoderV1::new();
    txn.encode_state_from_snapshot(&snapshot, &mut encoder).map_err(|error| Failure::error(error.to_string()))?;
    Ok(hex(&encoder.to_vec()).into())
}
