//! Awareness and sync messages, for the shared cases: `aw_*` on an awareness of its own, `sync_*` on a document.

use super::engine::{
    Any, Awareness, AwarenessUpdate, ClientID, Decode, Doc, Encode, ReadTxn, StateVector, SyncMessage,
    Transact, Update, object,
};
use super::json::{Json, hex, unhex};
use super::service::session::{Session, lock};
use super::service::{Failure, value};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// All awareness instances, by name.
#[derive(Default)]
pub(crate) struct Presence {
    all: HashMap<String, Entry>,
}

struct Entry {
    awareness: Awareness,
    changes: Arc<Mutex<Vec<Json>>>,
    updates: Arc<Mutex<Vec<Json>>>,
}

/// Runs an operation on an awareness; `None` if the request is another one.
pub(crate) fn run(presence: &mut Presence, request: &Json) -> Option<Result<Json, Failure>> {
    let op = request.get("op").as_str()?;
    let name = request.get("aw").as_str().unwrap_or_default();
    if op == "aw_new" {
        let client = request.get("clientID").as_u64().unwrap_or_default();
        presence.all.insert(name.to_owned(), Entry::new(client));
        return Some(Ok(Json::Null));
    }
    let operation = op.strip_prefix("aw_")?;
    let Some(entry) = presence.all.get_mut(name) else {
        return Some(Err(Failure::error(format!("no awareness {name}"))));
    };
    Some(entry.run(operation, request))
}

impl Entry {
    fn new(client: u64) -> Self {
        let mut awareness = Awareness::new(Doc::with_client_id(client));
        // as in Yjs, a new awareness has an empty state at clock 0, before anyone listens
        super::engine::initial_state(&mut awareness);
        let (changes, updates) = (Arc::default(), Arc::default());
        let log = Arc::clone(&changes);
        awareness.on_change("adapter", move |_, event, _| {
            lock(&log).push(told(event.added(), event.updated(), event.removed()));
        });
        let log = Arc::clone(&updates);
        awareness.on_update("adapter", move |_, event, _| {
            lock(&log).push(told(event.added(), event.updated(), event.removed()));
        });
        Self { awareness, changes, updates }
    }

    fn run(&mut self, operation: &str, request: &Json) -> Result<Json, Failure> {
        match operation {
            "set" => {
                if request.get("state").is_null() {
                    self.awareness.clean_local_state();
                } else {
                    self.awareness.set_local_state_raw(text(request.get("state"))?);
                }
                Ok(Json::Null)
            }
            "setField" => {
                // like setLocalStateField: without a state nothing happens
                if let Some(state) = self.awareness.local_state_raw() {
                    let mut state = Json::parse(&state).map_err(Failure::error)?;
                    state.set(request.get("key").as_str().unwrap_or_default(), request.get("value").clone());
                    self.awareness.set_local_state_raw(text(&state)?);
                }
                Ok(Json::Null)
            }
            "encode" => {
                let clients =
                    request.get("clients").items().iter().filter_map(Json::as_u64).map(ClientID::new);
                let update = self.awareness.update_with_clients(clients);
                Ok(hex(&update.map_err(|error| Failure::error(error.to_string()))?.encode_v1()).into())
            }
            "apply" => {
                let bytes =
                    unhex(request.get("update").as_str().unwrap_or_default()).map_err(Failure::error)?;
                let update = AwarenessUpdate::decode_v1(&bytes);
                let update = update.map_err(|error| Failure::decode(error.to_string()))?;
                self.awareness
                    .apply_update_with(update, "remote")
                    .map_err(|e| Failure::decode(e.to_string()))?;
                Ok(Json::Null)
            }
            "read" => self.read(),
            other => Err(Failure::unsupported(other)),
        }
    }

    fn read(&self) -> Result<Json, Failure> {
        let mut states = Json::Object(Vec::new());
        let mut clocks = Json::Object(Vec::new());
        for (client, state) in self.awareness.iter() {
            let client = client.get().to_string();
            clocks.set(&client, state.clock.into());
            if let Some(data) = &state.data {
                states.set(&client, Json::parse(data).map_err(Failure::error)?);
            }
        }
        Ok(Json::object([
            ("states", states),
            ("clocks", clocks),
            ("change", lock(&self.changes).clone().into()),
            ("update", lock(&self.updates).clone().into()),
        ]))
    }
}

fn told(added: &[ClientID], updated: &[ClientID], removed: &[ClientID]) -> Json {
    let list = |clients: &[ClientID]| -> Json {
        clients.iter().map(|client| Json::Number(client.get() as f64)).collect::<Vec<_>>().into()
    };
    Json::object([("added", list(added)), ("updated", list(updated)), ("removed", list(removed))])
}

/// JSON text as JavaScript writes it: by the engine, whose numbers and key order are JavaScript's.
fn text(json: &Json) -> Result<String, Failure> {
    let any = match value::any(json)? {
        Any::Undefined => object(Vec::new()),
        any => any,
    };
    let mut text = String::new();
    any.to_json(&mut text);
    Ok(text)
}

/// Runs a sync operation on a document; `None` if the request is another one.
pub(crate) fn sync(session: &mut Session, request: &Json) -> Option<Result<Json, Failure>> {
    let bytes = || unhex(request.get("bytes").as_str().unwrap_or_default()).map_err(Failure::error);
    let reply = |message: SyncMessage| hex(&message.encode_v1()).into();
    Some(match request.get("op").as_str()? {
        "sync_step1" => Ok(reply(SyncMessage::SyncStep1(session.doc.transact().state_vector()))),
        "sync_update" => bytes().map(|bytes| reply(SyncMessage::Update(bytes))),
        "sync_handle" => bytes().and_then(|bytes| handle(session, &bytes)),
        _ => return None,
    })
}

/// Handles a message without its outer type; type and reply (hex, perhaps empty).
fn handle(session: &Session, bytes: &[u8]) -> Result<Json, Failure> {
    let message = SyncMessage::decode_v1(bytes).map_err(|error| Failure::decode(error.to_string()))?;
    let (kind, reply) = match message {
        SyncMessage::SyncStep1(sv) => (0, step2(session, &sv)),
        SyncMessage::SyncStep2(update) => (1, apply(session, &update)?),
        SyncMessage::Update(update) => (2, apply(session, &update)?),
    };
    Ok(Json::object([("type", Json::from(kind)), ("reply", reply.into())]))
}

fn step2(session: &Session, sv: &StateVector) -> String {
    hex(&SyncMessage::SyncStep2(session.doc.transact().encode_state_as_update_v1(sv)).encode_v1())
}

fn apply(session: &Session, update: &[u8]) -> Result<String, Failure> {
    let update = Update::decode_v1(update).map_err(|error| Failure::decode(error.to_string()))?;
    let mut txn = session.doc.transact_mut_with("remote");
    txn.apply_update(update).map_err(|error| Failure::decode(error.to_string()))?;
    Ok(String::new())
}
