//! One document of the adapter: its handles, and the update events it has emitted since the last reply.

use super::super::engine::{Doc, OffsetKind, Options, Transact, TransactionMut};
use super::super::json::{Json, hex};
use super::node::Node;
use super::{Failure, ops};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// An update in both formats; V2 arrives right after V1.
struct Event {
    origin: Option<String>,
    v1: Vec<u8>,
    v2: Option<Vec<u8>>,
}

/// A document with what the protocol needs to remember of it.
pub(super) struct Session {
    pub(super) doc: Doc,
    /// Every handle given out so far.
    pub(super) nodes: HashMap<String, Node>,
    events: Arc<Mutex<Vec<Event>>>,
}

impl Session {
    /// Makes a document as `new` asks: client id, gc and guid.
    pub(super) fn new(request: &Json) -> Result<Self, Failure> {
        let client = request.get("clientID").as_u64().ok_or_else(|| Failure::error("clientID is missing"))?;
        let mut options = Options { offset_kind: OffsetKind::Utf16, ..Options::default() };
        options.client_id = Doc::with_client_id(client).client_id();
        options.skip_gc = request.get("gc").as_bool() == Some(false);
        if let Some(guid) = request.get("guid").as_str() {
            options.guid = guid.into();
        }
        let doc = Doc::with_options(options);
        let events = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&events);
        let refused = |error| Failure::error(format!("{error}"));
        doc.observe_update_v1("adapter", move |txn, event| {
            let origin = txn.origin().map(|origin| String::from_utf8_lossy(origin.as_ref()).into_owned());
            lock(&log).push(Event { origin, v1: event.update.clone(), v2: None });
        })
        .map_err(refused)?;
        let log = Arc::clone(&events);
        doc.observe_update_v2("adapter", move |_, event| {
            if let Some(last) = lock(&log).iter_mut().find(|last| last.v2.is_none()) {
                last.v2 = Some(event.update.clone());
            }
        })
        .map_err(refused)?;
        Ok(Self { doc, nodes: HashMap::new(), events })
    }

    /// Runs one request in a transaction of its own.
    pub(super) fn run(&mut self, request: &Json) -> Result<Json, Failure> {
        let doc = self.doc.clone();
        let mut txn = open(&doc, request);
        self.exec(&mut txn, request)
    }

    /// Runs one request in an open transaction.
    pub(super) fn exec(&mut self, txn: &mut TransactionMut<'_>, request: &Json) -> Result<Json, Failure> {
        if request.get("op").as_str() == Some("transact") {
            let results: Result<Vec<_>, _> =
                request.get("ops").items().iter().map(|request| self.exec(txn, request)).collect();
            return results.map(Json::Array);
        }
        ops::run(self, txn, request)
    }

    /// Takes the events emitted since the last call.
    pub(super) fn take_events(&self) -> Vec<Json> {
        lock(&self.events)
            .drain(..)
            .map(|event| {
                Json::object([
                    ("t", "update".into()),
                    ("v1", hex(&event.v1).into()),
                    ("origin", event.origin.map_or(Json::Null, Json::String)),
                    ("v2", event.v2.map_or(Json::Null, |v2| hex(&v2).into())),
                ])
            })
            .collect()
    }
}

/// Opens a transaction with the origin of the request.
pub(super) fn open<'doc>(doc: &'doc Doc, request: &Json) -> TransactionMut<'doc> {
    match request.get("origin").as_str() {
        Some(origin) => doc.transact_mut_with(origin),
        None => doc.transact_mut(),
    }
}

/// A panic while an event was being noted must not hide the later ones.
fn lock(events: &Mutex<Vec<Event>>) -> std::sync::MutexGuard<'_, Vec<Event>> {
    events.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
