//! One document of the adapter: its handles, and the update events it has emitted since the last reply.

use super::super::beyond;
use super::super::engine::{Doc, OffsetKind, Options, Transact, TransactionMut};
use super::super::json::{Json, hex};
use super::super::late;
use super::super::more::{self, More};
use super::super::presence;
use super::node::Nodes;
use super::{Failure, ops};
use std::sync::{Arc, Mutex};

/// What was emitted since the last reply, in order, ready to be sent.
pub(crate) type Events = Arc<Mutex<Vec<Json>>>;

/// A document with what the protocol needs to remember of it.
pub(crate) struct Session {
    pub(crate) doc: Doc,
    /// Every handle given out so far.
    pub(crate) nodes: Nodes,
    /// What the operations of version 2 need.
    pub(crate) more: More,
    events: Events,
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
        let events: Events = Arc::default();
        let log = Arc::clone(&events);
        let refused = |error| Failure::error(format!("{error}"));
        doc.observe_update_v1("adapter", move |txn, event| {
            // an undo manager's origin is its address, which no request has given
            let given =
                |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok().filter(|text| !text.contains('\0'));
            let origin = txn.origin().and_then(|origin| given(origin.as_ref())).map(Json::from);
            lock(&log).push(Json::object([
                ("t", "update".into()),
                ("v1", hex(&event.update).into()),
                ("origin", origin.unwrap_or_default()),
                ("v2", Json::Null),
            ]));
        })
        .map_err(refused)?;
        let log = Arc::clone(&events);
        doc.observe_update_v2("adapter", move |_, event| {
            // V2 comes right after V1
            let mut log = lock(&log);
            let open =
                log.iter_mut().find(|e| e.get("t").as_str() == Some("update") && e.get("v2").is_null());
            if let Some(last) = open {
                last.set("v2", hex(&event.update).into());
            }
        })
        .map_err(refused)?;
        late::listen(&doc, Arc::clone(&events))?;
        Ok(Self { doc, nodes: Nodes::default(), more: More::default(), events })
    }

    /// Runs one request in a transaction of its own.
    pub(super) fn run(&mut self, request: &Json) -> Result<Json, Failure> {
        if let Some(result) = more::run(self, request)
            .or_else(|| presence::sync(self, request))
            .or_else(|| late::run(self, request))
        {
            return result;
        }
        if request.get("op").as_str() == Some("client") {
            let client =
                request.get("clientID").as_u64().ok_or_else(|| Failure::error("clientID is missing"))?;
            return beyond::set_client(&self.doc, client).map(|()| Json::Null);
        }
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
        std::mem::take(&mut lock(&self.events))
    }

    /// Where events are noted.
    #[allow(dead_code, reason = "an engine without observers of types notes none there")]
    pub(crate) fn events(&self) -> Events {
        Arc::clone(&self.events)
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
pub(crate) fn lock(events: &Mutex<Vec<Json>>) -> std::sync::MutexGuard<'_, Vec<Json>> {
    events.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
