//! The operations of version 2 of the protocol: events of types, undo, relative positions, snapshots.
//!
//! They run outside the transaction that other operations get: undo opens its own, and observers are told at the end
//! of one. Events of types come with the reply that caused them, as `{"t": "event", "as", "event"}`.

use super::beyond;
use super::engine::{
    Assoc, BranchID, Change, ChangeKind, ClientID, Clock, Decode, DeepObservable, Delta, Diff, Encode,
    EntryChange, Event, EventKind, GetString, ID, IndexScope, IndexedSequence, Observable, Out, Path,
    PathSegment, ReadTxn, SharedRef, Snapshot, StickyIndex, SystemClock, Text, ToJson, Transact,
    TransactionMut, UndoManager, UndoOptions, Update, ignore_remote_map_changes, offset, restore,
    snapshot_contains,
};
use super::extra::Extra;
use super::json::{Json, hex, unhex};
use super::late;
use super::service::node::{Node, Nodes};
use super::service::ops::look;
use super::service::session::{Events, Session, lock};
use super::service::{Failure, finish, value};
use super::xml_events;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// Undo managers and observers of one document.
#[derive(Default)]
pub(crate) struct More {
    /// What undo managers of this document take for the time.
    pub(crate) clock: FakeClock,
    managers: HashMap<String, Manager>,
    observers: HashMap<String, (Node, bool)>,
}

/// A time that the driver sets, in milliseconds; until it does, that of the system.
#[derive(Clone, Default)]
pub(crate) struct FakeClock(Arc<Mutex<Option<u64>>>);

impl FakeClock {
    /// Sets the time, or lets the system have it again.
    pub(crate) fn set(&self, time: Option<u64>) {
        *self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = time;
    }

    fn now(&self) -> u64 {
        let set = *self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        set.unwrap_or_else(|| SystemClock.now())
    }
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
        "log" => beyond::log(&session.doc.transact()),
        "snapshot" | "snapshot_encode" | "snapshot_v2" | "snapshot_from_v2" | "snapshot_contains"
        | "snapshot_restore" | "snapshot_delta" => snapshot(session, op, request),
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
            match &node {
                Node::Text(handle) => forget(handle, &name, deep),
                Node::Array(handle) => forget(handle, &name, deep),
                Node::Map(handle) => forget(handle, &name, deep),
                Node::Extra(extra) => xml_events::unobserve(extra, &name, deep),
            }
        }
        return Ok(Json::Null);
    }
    let node = {
        let doc = session.doc.clone();
        let txn = doc.transact();
        session.nodes.find(&txn, request.get("h"))?
    };
    let deep = request.get("deep").as_bool() == Some(true);
    let listener = Listener {
        name: name.clone(),
        events: session.events(),
        then: request.get("then").items().to_vec(),
        throws: request.get("throws").as_bool() == Some(true),
        nodes: session.nodes.clone(),
    };
    if deep {
        match &node {
            Node::Text(handle) => observe_deep(handle, listener),
            Node::Array(handle) => observe_deep(handle, listener),
            Node::Map(handle) => observe_deep(handle, listener),
            Node::Extra(extra) => xml_events::observe_deep(extra, listener),
        }
    } else {
        observe_shallow(&node, listener);
    }
    session.more.observers.insert(name, (node, deep));
    Ok(Json::Null)
}

/// What an observer panics with that was asked to.
pub(crate) const THROWN: &str = "thrown by an observer";

/// What is done with an event: it is noted for the observer of this name, then come the requests that are to be run
/// within the callback, as `{"t": "inside", "as", "replies"}`; in the end the observer panics if it was asked to.
pub(crate) struct Listener {
    name: String,
    events: Events,
    then: Vec<Json>,
    throws: bool,
    nodes: Nodes,
}

impl Listener {
    /// The name as the key of a subscription.
    pub(crate) fn key(&self) -> String {
        self.name.clone()
    }

    /// Takes in an event.
    pub(crate) fn note(&self, txn: &TransactionMut<'_>, event: Json) {
        let name = || Json::from(self.name.as_str());
        lock(&self.events).push(Json::object([("t", "event".into()), ("as", name()), ("event", event)]));
        if !self.then.is_empty() {
            let mut nodes = self.nodes.clone();
            let replies: Vec<Json> = self
                .then
                .iter()
                .map(|request| finish(inside(&mut nodes, txn, request), Vec::new()))
                .collect();
            lock(&self.events).push(Json::object([
                ("t", "inside".into()),
                ("as", name()),
                ("replies", replies.into()),
            ]));
        }
        assert!(!self.throws, "{THROWN}");
    }
}

/// Runs a request within a callback: what looks is answered, what writes is refused by the engine.
fn inside(nodes: &mut Nodes, txn: &TransactionMut<'_>, request: &Json) -> Result<Json, Failure> {
    if let Some(found) = look(nodes, txn, request) {
        return found;
    }
    match txn.doc().try_transact_mut() {
        Ok(_) => Err(Failure::error("a second transaction within the first")),
        Err(error) => Err(Failure::error(error.to_string())),
    }
}

/// Ends a subscription.
pub(crate) fn forget<T: Observable + DeepObservable>(handle: &T, key: &str, deep: bool) {
    if deep {
        handle.unobserve_deep(key);
    } else {
        handle.unobserve(key);
    }
}

/// Notes all events in and below a type.
pub(crate) fn observe_deep<T: DeepObservable>(handle: &T, listener: Listener) {
    handle.observe_deep(listener.key().as_str(), move |txn, all| {
        let json: Vec<Json> = all.iter().map(|event| event_json(txn, event)).collect();
        listener.note(txn, json.into());
    });
}

fn observe_shallow(node: &Node, listener: Listener) {
    let key = listener.key();
    match node {
        Node::Text(handle) => handle.observe(key.as_str(), move |txn, e| {
            listener.note(txn, told(&e.path(), deltas(txn, e.delta(txn)), Vec::new()));
        }),
        Node::Array(handle) => handle.observe(key.as_str(), move |txn, e| {
            listener.note(txn, told(&e.path(), changes(txn, e.delta(txn)), Vec::new()));
        }),
        Node::Map(handle) => handle.observe(key.as_str(), move |txn, e| {
            listener.note(txn, told(&e.path(), Vec::new(), keys(txn, e.keys(txn).iter())));
        }),
        Node::Extra(extra) => xml_events::observe(extra, listener),
    }
}

fn event_json(txn: &TransactionMut<'_>, event: &Event) -> Json {
    match event {
        Event::Text(e) => told(&e.path(), deltas(txn, e.delta(txn)), Vec::new()),
        Event::Array(e) => told(&e.path(), changes(txn, e.delta(txn)), Vec::new()),
        Event::Map(e) => told(&e.path(), Vec::new(), keys(txn, e.keys(txn).iter())),
        other => xml_events::event_json(txn, other),
    }
}

/// Path, delta, and the keys if there are any.
pub(crate) fn told(path: &Path, delta: Vec<Json>, keys: Vec<(String, Json)>) -> Json {
    let segment = |segment: &PathSegment| match segment {
        PathSegment::Key(key) => Json::String(key.to_string()),
        PathSegment::Index(index) => Json::from(*index),
    };
    let path: Vec<Json> = path.iter().map(segment).collect();
    let mut event = Json::object([("path", path.into()), ("delta", delta.into())]);
    if !keys.is_empty() {
        event.set("keys", Json::Object(keys));
    }
    event
}

/// Changes of keys.
pub(crate) fn keys<'a>(
    txn: &TransactionMut<'_>,
    keys: impl Iterator<Item = (&'a Arc<str>, &'a EntryChange)>,
) -> Vec<(String, Json)> {
    let entry = |(key, change): (&Arc<str>, &EntryChange)| {
        let (action, old) = match change {
            EntryChange::Inserted(_) => ("add", Json::tagged("undefined", [])),
            EntryChange::Updated(old, _) => ("update", content(txn, old)),
            EntryChange::Removed(old) => ("delete", content(txn, old)),
        };
        (key.to_string(), Json::object([("action", action.into()), ("oldValue", old)]))
    };
    keys.map(entry).collect()
}

/// The steps of a text event.
pub(crate) fn deltas(txn: &TransactionMut<'_>, delta: &[Delta]) -> Vec<Json> {
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

/// The steps of a list event.
pub(crate) fn changes(txn: &TransactionMut<'_>, delta: &[Change]) -> Vec<Json> {
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
        Out::YMap(node) => {
            let class = if beyond::kind_of_map(node) == "map" { "YMap" } else { "YXmlHook" };
            typed(class, "json", value::json(&node.to_json(txn)))
        }
        _ => match Extra::of(out) {
            Some(node) => typed(node.class(), "string", node.string(txn).into()),
            None => late::subdoc(out).unwrap_or_else(|| Json::tagged("undefined", [])),
        },
    }
}

fn new_manager(session: &mut Session, request: &Json) -> Result<Json, Failure> {
    let clock = session.more.clock.clone();
    let mut options = UndoOptions {
        capture_timeout_millis: request.get("captureTimeout").as_u64().unwrap_or(500),
        timestamp: Arc::new(move || clock.now()),
        ..UndoOptions::default()
    };
    for origin in request.get("trackedOrigins").items() {
        options.tracked_origins.insert(origin.as_str().unwrap_or_default().into());
    }
    let mut manager = UndoManager::with_options(options);
    if request.get("ignoreRemoteMapChanges").as_bool() == Some(true)
        && !ignore_remote_map_changes(&mut manager)
    {
        return Err(Failure::unsupported("ignoreRemoteMapChanges"));
    }
    let protected: Vec<String> = request
        .get("deleteFilter")
        .items()
        .iter()
        .filter_map(|kind| kind.as_str().map(str::to_owned))
        .collect();
    if !protected.is_empty() {
        beyond::protect(&mut manager, protected)?;
    }
    let doc = session.doc.clone();
    for h in request.get("scope").items() {
        if h.is_null() {
            beyond::whole_document(&mut manager, &doc)?;
            continue;
        }
        let node = session.nodes.find(&doc.transact(), h)?;
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
            let node = session.nodes.find(&txn, request.get("h"))?;
            let index = request.get("index").as_u64().unwrap_or_default() as u32;
            let assoc = assoc(request.get("assoc"));
            let position = match &node {
                Node::Text(handle) => handle.sticky_index(&txn, index, assoc),
                Node::Array(handle) => handle.sticky_index(&txn, index, assoc),
                // of XML only texts have positions here
                Node::Extra(_) => node.text()?.sticky_index(&txn, index, assoc),
                Node::Map(_) => return Err(node.lacks("positions")),
            };
            let position = position.ok_or_else(|| Failure::error("no position there"))?;
            Ok(Json::object([
                ("hex", hex(&position.encode_v1()).into()),
                ("json", position_json(&node, &position)),
            ]))
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
            let bytes = unhex(request.get("bytes").as_str().unwrap_or_default()).map_err(Failure::error)?;
            let position =
                StickyIndex::decode_v1(&bytes).map_err(|error| Failure::decode(error.to_string()))?;
            let follow = request.get("follow").as_bool() != Some(false);
            let offset = offset(&position, &txn, follow);
            let offset = offset
                .ok_or_else(|| Failure::unsupported("a position that does not follow undone deletions"))?;
            Ok(offset.map_or(Json::Null, |(index, assoc)| {
                let assoc = if assoc == Assoc::Before { -1.0 } else { 0.0 };
                Json::object([("index", index.into()), ("assoc", Json::Number(assoc))])
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

/// A text as it was at a snapshot, with what changed since an earlier one.
fn snapshot_delta(session: &mut Session, request: &Json) -> Result<Json, Failure> {
    let doc = session.doc.clone();
    let mut txn = doc.transact_mut();
    let text = session.nodes.find(&txn, request.get("h"))?.text()?;
    let read = |key: &str| match request.get(key).as_str() {
        None => Ok(None),
        Some(bytes) => {
            let bytes = unhex(bytes).map_err(Failure::error)?;
            Snapshot::decode_v1(&bytes).map(Some).map_err(|error| Failure::decode(error.to_string()))
        }
    };
    let (now, before) = (read("snapshot")?, read("prev")?);
    let diff = text.diff_range(&mut txn, now.as_ref(), before.as_ref(), |change| change.kind);
    let piece = |piece: Diff<ChangeKind>| {
        let mut json = Json::object([("insert", session.nodes.reply(&piece.insert))]);
        let mut attributes =
            piece.attributes.map_or(Json::Object(Vec::new()), |attrs| value::attrs_json(&attrs));
        if let Some(kind) = piece.ychange {
            let kind = if kind == ChangeKind::Added { "added" } else { "removed" };
            attributes.set("ychange", Json::object([("type", kind.into())]));
        }
        if !attributes.entries().is_empty() {
            json.set("attributes", attributes);
        }
        json
    };
    Ok(diff.into_iter().map(piece).collect::<Vec<_>>().into())
}

fn snapshot(session: &mut Session, op: &str, request: &Json) -> Result<Json, Failure> {
    if op == "snapshot_delta" {
        return snapshot_delta(session, request);
    }
    let txn = session.doc.transact();
    if op == "snapshot" {
        return Ok(hex(&txn.snapshot().encode_v1()).into());
    }
    if op == "snapshot_encode" {
        let now = match request.get("snapshot").as_str() {
            None => txn.snapshot(),
            Some(bytes) => {
                let bytes = unhex(bytes).map_err(Failure::error)?;
                Snapshot::decode_v1(&bytes).map_err(|error| Failure::decode(error.to_string()))?
            }
        };
        let v2 = request.get("enc").as_u64() == Some(2);
        return Ok(hex(&if v2 { now.encode_v2() } else { now.encode_v1() }).into());
    }
    let bytes = unhex(request.get("snapshot").as_str().unwrap_or_default()).map_err(Failure::error)?;
    if op == "snapshot_from_v2" {
        let snapshot = Snapshot::decode_v2(&bytes).map_err(|error| Failure::decode(error.to_string()))?;
        return Ok(hex(&snapshot.encode_v1()).into());
    }
    let snapshot = Snapshot::decode_v1(&bytes).map_err(|error| Failure::decode(error.to_string()))?;
    if op == "snapshot_v2" {
        return Ok(hex(&snapshot.encode_v2()).into());
    }
    if op == "snapshot_contains" {
        let update = unhex(request.get("update").as_str().unwrap_or_default()).map_err(Failure::error)?;
        let update = Update::decode_v1(&update).map_err(|error| Failure::decode(error.to_string()))?;
        let contains = snapshot_contains(&snapshot, &update);
        return contains
            .map(Json::from)
            .ok_or_else(|| Failure::unsupported("whether a snapshot contains an update"));
    }
    restore(&txn, &snapshot).map(|bytes| hex(&bytes).into()).map_err(Failure::error)
}
