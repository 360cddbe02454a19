//! The sync and awareness protocols against real Yjs: golden vectors, the shared cases of the kinds "awareness" and
//! "sync protocol", and malformed messages.
//!
//! One difference runs through all: an `Awareness` of Yjs gives itself the state `{}` with clock 0, which no peer takes
//! in; ours, as that of yrs, begins without a state. The player below tells golden answers so.

#[path = "common/hex.rs"]
mod hex;

use hex::{hex, unhex};

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use yatta::sync::awareness::{self, AwarenessUpdateSummary, CHECK_INTERVAL, OUTDATED_TIMEOUT};
use yatta::sync::{
    Awareness, AwarenessUpdate, DefaultProtocol, Error, Message, MessageReader, Protocol, SyncMessage,
};
use yatta::updates::decoder::{Decode, DecoderV1, DecoderV2};
use yatta::updates::encoder::{Encode, Encoder, EncoderV1};
use yatta::{Any, ClientID, Doc, GetString, JsonPath, JsonPathEval, ReadTxn, StateVector, Text, Transact};

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn load(path: &str) -> Value {
    serde_json::from_str(&read(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The shared cases of our kinds. Some of the others are nested too deep for serde_json.
fn cases() -> Vec<Any> {
    let cases = Any::from_json(&read("cases/cases.json")).expect("JSON");
    let path = JsonPath::parse("$[*]").expect("a path");
    let kinds = [Any::from("awareness"), Any::from("sync protocol")];
    let is_ours = |case: &&Any| matches!(case, Any::Map(case) if case.get("kind").is_some_and(|kind| kinds.contains(kind)));
    cases.json_path(&path).filter(is_ours).cloned().collect()
}

/// The state that each step sets, with its keys in the order of the file, which serde_json forgets.
fn states(case: &Any) -> Vec<Option<String>> {
    let steps = JsonPath::parse("$.steps[*]").expect("a path");
    let state = JsonPath::parse("$.state").expect("a path");
    let text = |step: &Any| {
        step.json_path(&state).next().map(|state| {
            let mut text = String::new();
            state.to_json(&mut text);
            text
        })
    };
    case.json_path(&steps).map(text).collect()
}

fn str_of<'a>(json: &'a Value, key: &str) -> &'a str {
    json[key].as_str().unwrap_or_else(|| panic!("{key} is a string in {json}"))
}

fn client(id: u64) -> ClientID {
    ClientID::new(id)
}

fn ids(clients: &[ClientID]) -> Vec<u64> {
    clients.iter().map(ClientID::get).collect()
}

/// What an event says, in the notation of the cases.
fn summary(summary: &AwarenessUpdateSummary) -> Value {
    json!({"added": ids(&summary.added), "updated": ids(&summary.updated), "removed": ids(&summary.removed)})
}

#[test]
fn vectors_of_messages() {
    let file = load("vectors/yjs-vectors.json");
    let (mut seen, mut made) = (0, BTreeMap::new());
    for vector in file["vectors"].as_array().expect("vectors") {
        let name = str_of(vector, "name");
        let decoded = match str_of(vector, "kind") {
            "sync" => {
                SyncMessage::decode_v1(&unhex(str_of(vector, "hex"))).map(|message| message.encode_v1())
            }
            "ws" => Message::decode_v1(&unhex(str_of(vector, "hex"))).map(|message| message.encode_v1()),
            "awareness" => {
                AwarenessUpdate::decode_v1(&unhex(str_of(vector, "hex"))).map(|update| update.encode_v1())
            }
            _ => continue,
        };
        let bytes = decoded.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(hex(&bytes), str_of(vector, "hex"), "{name}");
        made.insert(name, str_of(vector, "hex"));
        seen += 1;
    }
    assert_eq!(seen, 9, "vectors of messages");

    let doc = Doc::with_client_id(1);
    let empty = doc.transact().state_vector();
    assert_eq!(hex(&Message::Sync(SyncMessage::SyncStep1(empty)).encode_v1()), made["ws_outer_sync_step1"]);
    doc.get_or_insert_text("t").push(&mut doc.transact_mut(), "a");
    let txn = doc.transact();
    let update = txn.encode_state_as_update_v1(&StateVector::default());
    assert_eq!(hex(&SyncMessage::SyncStep1(txn.state_vector()).encode_v1()), made["sync_step1"]);
    assert_eq!(hex(&SyncMessage::SyncStep2(update.clone()).encode_v1()), made["sync_step2"]);
    assert_eq!(hex(&SyncMessage::Update(update).encode_v1()), made["sync_update"]);
    assert_eq!(hex(&Message::Auth(Some("no".to_owned())).encode_v1()), made["ws_outer_auth"]);
    assert_eq!(hex(&Message::AwarenessQuery.encode_v1()), made["ws_outer_query_awareness"]);

    let mut awareness = Awareness::new(Doc::with_client_id(7));
    awareness.set_local_state(json!({"user": "n"})).expect("JSON");
    assert_eq!(hex(&awareness.update().expect("states").encode_v1()), made["awareness_update"]);
    let mut awareness = Awareness::new(Doc::with_client_id(7));
    awareness.set_local_state(json!(null)).expect("JSON");
    let gone = awareness.update_with_clients([client(7)]).expect("known");
    assert_eq!(hex(&gone.encode_v1()), made["awareness_removed"]);
    let mut awareness = Awareness::new(Doc::with_client_id(7));
    awareness.set_local_state_raw(r#"{"user":"n","cursor":null}"#);
    let message = Message::Awareness(awareness.update().expect("states"));
    assert_eq!(hex(&message.encode_v1()), made["ws_outer_awareness"]);
}

/// An awareness and what its observers saw.
struct Watched {
    awareness: Awareness,
    change: Arc<Mutex<Vec<Value>>>,
    update: Arc<Mutex<Vec<Value>>>,
}

impl Watched {
    fn new(id: u64) -> Self {
        let mut awareness = Awareness::new(Doc::with_client_id(id));
        let (change, update) = (Arc::default(), Arc::default());
        let log = Arc::clone(&change);
        awareness.on_change("log", move |_, event, _| record(&log, event));
        let log = Arc::clone(&update);
        awareness.on_update("log", move |_, event, _| record(&log, event));
        Self { awareness, change, update }
    }

    fn own(&self) -> u64 {
        self.awareness.client_id().get()
    }

    /// Sets the local state. In Yjs the first one replaces `{}`, so it is an update, not an addition.
    fn set(&mut self, state: &str) {
        let first = self.awareness.meta(self.awareness.client_id()).is_none();
        self.awareness.set_local_state_raw(state);
        if first && state != "null" {
            for log in [&self.change, &self.update] {
                let last = log.lock().expect("no panic").pop();
                assert_eq!(last, Some(json!({"added": [self.own()], "updated": [], "removed": []})));
                log.lock()
                    .expect("no panic")
                    .push(json!({"added": [], "updated": [self.own()], "removed": []}));
            }
        }
    }

    fn read(&self) -> Value {
        let (mut states, mut clocks) = (serde_json::Map::new(), serde_json::Map::new());
        if self.awareness.meta(self.awareness.client_id()).is_none() {
            states.insert(self.own().to_string(), json!({}));
            clocks.insert(self.own().to_string(), json!(0));
        }
        for (client, state) in self.awareness.iter() {
            if let Some(data) = state.data {
                states.insert(client.to_string(), serde_json::from_str(&data).expect("JSON"));
            }
            clocks.insert(client.to_string(), json!(state.clock));
        }
        let log = |log: &Mutex<Vec<Value>>| log.lock().expect("no panic").clone();
        json!({"states": states, "clocks": clocks, "change": log(&self.change), "update": log(&self.update)})
    }
}

fn record(log: &Mutex<Vec<Value>>, event: &awareness::Event) {
    log.lock().expect("no panic").push(summary(event.summary()));
}

/// Plays the steps of a case.
#[derive(Default)]
struct Player {
    awareness: BTreeMap<String, Watched>,
    docs: BTreeMap<String, Doc>,
    events: BTreeMap<String, Arc<Mutex<Vec<Vec<u8>>>>>,
    blobs: BTreeMap<String, Vec<u8>>,
    golden: serde_json::Map<String, Value>,
    /// What the present step sets.
    state: Option<String>,
}

type Outcome = Result<(), Box<dyn std::error::Error>>;

impl Player {
    /// `{"hex": …}`, the name of a blob, or `A#n`, the n-th update of a document.
    fn bytes(&self, what: &Value) -> Vec<u8> {
        match what.as_str() {
            None => unhex(str_of(what, "hex")),
            Some(name) => match name.split_once('#') {
                Some((doc, n)) => {
                    self.events[doc].lock().expect("no panic")[n.parse::<usize>().expect("a number")].clone()
                }
                None => self.blobs[name].clone(),
            },
        }
    }

    fn watched(&mut self, step: &Value) -> &mut Watched {
        self.awareness.get_mut(str_of(step, "aw")).expect("an awareness")
    }

    fn put(&mut self, step: &Value, value: Value) {
        self.golden.insert(str_of(step, "as").to_owned(), value);
    }

    fn play(&mut self, step: &Value) -> Outcome {
        match str_of(step, "do") {
            "try" => {
                let answer = if self.play(&step["op"]).is_ok() { "ok" } else { "throws" };
                self.put(step, answer.into());
            }
            "hex" => {
                self.blobs.insert(str_of(step, "as").to_owned(), unhex(str_of(step, "hex")));
            }
            "blob" => {
                let name = str_of(step, "name");
                let bytes = hex(&self.blobs[name]);
                self.golden.insert(name.to_owned(), bytes.into());
            }
            op if op.starts_with("aw.") => return self.play_awareness(op, step),
            op => return self.play_sync(op, step),
        }
        Ok(())
    }

    fn play_awareness(&mut self, op: &str, step: &Value) -> Outcome {
        match op {
            "aw.new" => {
                let new = Watched::new(step["client"].as_u64().expect("a client"));
                self.awareness.insert(str_of(step, "as").to_owned(), new);
            }
            "aw.set" => {
                let state = self.state.take().expect("a state");
                self.watched(step).set(&state);
            }
            "aw.setField" => {
                let watched = self.watched(step);
                if let Some(mut state) = watched.awareness.local_state::<Value>() {
                    state[str_of(step, "key")] = step["value"].clone();
                    watched.set(&state.to_string());
                }
            }
            "aw.encode" => {
                let clients = step["clients"].as_array().expect("clients").iter();
                let clients: Vec<_> = clients.map(|id| client(id.as_u64().expect("a client"))).collect();
                let update = self.watched(step).awareness.update_with_clients(clients)?;
                self.blobs.insert(str_of(step, "as").to_owned(), update.encode_v1());
            }
            "aw.apply" => {
                let update = AwarenessUpdate::decode_v1(&self.bytes(&step["update"]))?;
                self.watched(step).awareness.apply_update(update)?;
            }
            "aw.read" => {
                let read = self.watched(step).read();
                self.put(step, read);
            }
            other => panic!("unknown step {other}"),
        }
        Ok(())
    }

    fn play_sync(&mut self, op: &str, step: &Value) -> Outcome {
        let doc = |player: &Self| player.docs[str_of(step, "doc")].clone();
        match op {
            "doc" => {
                let name = str_of(step, "doc").to_owned();
                let doc = Doc::with_client_id(step["client"].as_u64().expect("a client"));
                let log: Arc<Mutex<Vec<Vec<u8>>>> = Arc::default();
                self.events.insert(name.clone(), Arc::clone(&log));
                doc.observe_update_v1("log", move |_, event| {
                    log.lock().expect("no panic").push(event.update.clone());
                })?;
                self.docs.insert(name, doc);
            }
            "text.insert" => {
                let doc = doc(self);
                let text = doc.get_or_insert_text(str_of(step, "on").trim_start_matches("text:"));
                let index = step["index"].as_u64().expect("an index") as u32;
                text.insert(&mut doc.transact_mut(), index, str_of(step, "str"));
            }
            "sp.step1" => {
                let state = doc(self).transact().state_vector();
                self.blobs.insert(str_of(step, "as").to_owned(), SyncMessage::SyncStep1(state).encode_v1());
            }
            "sp.update" => {
                let update = self.bytes(&step["update"]);
                self.blobs.insert(str_of(step, "as").to_owned(), SyncMessage::Update(update).encode_v1());
            }
            "sp.handle" => {
                let bytes = self.bytes(&step["msg"]);
                let message = SyncMessage::decode_v1(&bytes)?;
                let reply =
                    DefaultProtocol.handle_message(&mut Awareness::new(doc(self)), Message::Sync(message))?;
                let reply = match reply {
                    Some(Message::Sync(message)) => message.encode_v1(),
                    None => Vec::new(),
                    Some(other) => panic!("answered with {other:?}"),
                };
                self.put(step, json!({"type": bytes[0], "reply": hex(&reply)}));
                self.blobs.insert(str_of(step, "as").to_owned(), reply);
            }
            other => panic!("unknown step {other}"),
        }
        Ok(())
    }

    /// The state of all documents at the end.
    fn finals(&self, expected: &Value) -> Value {
        let mut finals = serde_json::Map::new();
        for (name, doc) in &self.docs {
            let text = doc.get_or_insert_text("t");
            let txn = doc.transact();
            let state: serde_json::Map<_, _> =
                txn.state_vector().iter().map(|(client, clock)| (client.to_string(), json!(clock))).collect();
            let string = text.get_string(&txn);
            let delta = if string.is_empty() { json!([]) } else { json!([{"insert": string}]) };
            let all = StateVector::default();
            finals.insert(
                name.clone(),
                json!({
                    "roots": {"text:t": {"string": string, "delta": delta}},
                    "sv": state,
                    "updateV1": hex(&txn.encode_state_as_update_v1(&all)),
                    "updateV2": hex(&txn.encode_state_as_update_v2(&all)),
                }),
            );
        }
        if expected.is_null() { Value::Null } else { finals.into() }
    }
}

#[test]
fn shared_cases() {
    let mut played = Vec::new();
    for case in cases() {
        let states = states(&case);
        let case: Value = serde_json::to_value(&case).expect("JSON");
        let steps = case["steps"].as_array().expect("steps");
        if steps.iter().any(Value::is_string) {
            continue;
        }
        let id = str_of(&case, "id");
        let mut player = Player::default();
        for (step, state) in steps.iter().zip(states) {
            player.state = state;
            player.play(step).unwrap_or_else(|error| panic!("{id}: {step}: {error}"));
        }
        let mut expected = case["golden"].clone();
        if id == "aw-010" {
            // of an update with a malformed state we take in nothing, Yjs what comes before it
            for what in ["states", "clocks"] {
                expected["a"][what]
                    .as_object_mut()
                    .expect("an object")
                    .remove("5")
                    .expect("client 5 in golden");
            }
        }
        let finals = player.finals(&expected["final"]);
        let mut answers = Value::Object(player.golden);
        if !finals.is_null() {
            answers["final"] = finals;
        }
        assert_eq!(answers, expected, "{id}");
        played.push(id.to_owned());
    }
    assert_eq!(
        played,
        [
            "aw-001", "aw-004", "aw-005", "aw-006", "aw-008", "aw-009", "aw-010", "sync-001", "sync-002",
            "sync-004"
        ]
    );
}

#[test]
fn malformed_messages() {
    let mut seen = 0;
    for input in load("malformed/index.json").as_array().expect("inputs") {
        let file = str_of(input, "file");
        let text = || read(&format!("malformed/{file}"));
        let accepted = match str_of(input, "format") {
            "awareness" => {
                let mut awareness = Awareness::new(Doc::with_client_id(1));
                AwarenessUpdate::decode_v1(&unhex(&text()))
                    .is_ok_and(|update| awareness.apply_update(update).is_ok())
            }
            "sync" => {
                let doc = Doc::with_client_id(1);
                let mut awareness = Awareness::new(doc.clone());
                let frame = [&[0], unhex(&text()).as_slice()].concat();
                let accepted = DefaultProtocol.handle(&mut awareness, &frame).is_ok();
                assert_eq!(doc.transact().state_vector(), StateVector::default(), "{file}");
                accepted
            }
            _ => continue,
        };
        // Yjs logs the error of a malformed update and goes on; we say it
        let expected = input["yjs"]["result"] == "ok" && file != "76-sync-update-bad.hex";
        assert_eq!(accepted, expected, "{file}");
        seen += 1;
    }
    assert_eq!(seen, 5, "malformed messages");
}

/// Every cut of every message of the vectors is an error, never a panic, and never the quiet end of the frame.
#[test]
fn cut_messages() {
    for whole in [
        "0003010101",
        "00010b0101010004010174016100",
        "011e0107011a7b2275736572223a226e222c22637572736f72223a6e756c6c7d",
        "0200026e6f",
        "09026161",
    ] {
        let whole = unhex(whole);
        for cut in 1..whole.len() {
            let mut decoder = DecoderV1::from(&whole[..cut]);
            let messages: Vec<_> = MessageReader::new(&mut decoder).collect();
            assert!(matches!(messages.as_slice(), [Err(_)]), "{} gave {messages:?}", hex(&whole[..cut]));
        }
    }
}

#[test]
fn a_reader_ends_with_the_input_or_the_first_error() {
    let messages = [
        Message::AwarenessQuery,
        Message::Auth(None),
        Message::Custom(200, vec![1, 2]),
        Message::Sync(SyncMessage::Update(vec![])),
    ];
    let mut encoder = EncoderV1::new();
    messages.iter().for_each(|message| message.encode(&mut encoder));
    let mut bytes = encoder.to_vec();
    let read: Result<Vec<_>, _> = MessageReader::new(&mut DecoderV1::from(bytes.as_slice())).collect();
    assert_eq!(read.expect("well-formed"), messages);
    bytes.extend([0, 9, 3, 3]);
    let mut decoder = DecoderV1::from(bytes.as_slice());
    let mut reader = MessageReader::new(&mut decoder);
    assert!(reader.by_ref().take(4).all(|message| message.is_ok()));
    assert!(matches!(reader.next(), Some(Err(_))), "sync message 9");
    assert!(reader.next().is_none(), "fused");
}

/// Both codecs carry all messages. Nobody sends V2, but the traits offer it.
#[test]
fn messages_in_v2() {
    for message in
        [Message::Auth(Some("no".into())), Message::AwarenessQuery, Message::Custom(4, b"abc".to_vec())]
    {
        let bytes = message.encode_v2();
        let mut decoder = DecoderV2::new(yatta::encoding::read::Cursor::new(&bytes)).expect("columns");
        assert_eq!(Message::decode(&mut decoder).expect("a message"), message);
    }
}

#[test]
fn an_unknown_client_with_clock_0_is_ignored() {
    let mut awareness = Awareness::new(Doc::with_client_id(1));
    let update = AwarenessUpdate::decode_v1(&unhex("010500027b7d")).expect("an update");
    assert_eq!(awareness.apply_update_summary(update).expect("JSON"), None);
    assert_eq!(awareness.meta(client(5)), None);
}

#[test]
fn text_and_order_are_relayed_as_they_came() {
    let bytes = {
        let mut bytes = vec![3];
        for (client, json) in [(9, "{ \"b\" : 1.0,\"a\":1e1 }"), (3, "\"\\u00e9\""), (7, "[ ]")] {
            bytes.extend([client, 2, json.len() as u8]);
            bytes.extend(json.as_bytes());
        }
        bytes
    };
    let mut awareness = Awareness::new(Doc::with_client_id(1));
    awareness.apply_update(AwarenessUpdate::decode_v1(&bytes).expect("an update")).expect("JSON");
    assert_eq!(hex(&awareness.update().expect("states").encode_v1()), hex(&bytes));
    // a client that comes back goes to the end, as in a JavaScript Map
    awareness.remove_state(client(9));
    let again = AwarenessUpdate::decode_v1(&unhex("010903027b7d")).expect("an update");
    let summary = awareness.apply_update_summary(again).expect("JSON").expect("a change");
    assert_eq!(ids(&summary.updated), [9]);
    let order: Vec<_> = awareness.update().expect("states").clients.keys().map(ClientID::get).collect();
    assert_eq!(order, [3, 7, 9]);
}

#[test]
fn of_two_states_of_a_client_the_higher_clock_stays() {
    for (bytes, clock, json) in [
        ("020502013105010132", 2, "1"),
        ("020501013105020132", 2, "2"),
        ("020502013105020132", 2, "1"),
        ("0205020131050204 6e756c6c", 2, "null"),
    ] {
        let update = AwarenessUpdate::decode_v1(&unhex(&bytes.replace(' ', ""))).expect("an update");
        let entry = &update.clients[&client(5)];
        assert_eq!((entry.clock, entry.json.as_ref()), (clock, json), "{bytes}");
        assert_eq!(update.clients.len(), 1);
    }
}

#[test]
fn key_order_and_space_are_no_change() {
    let mut watched = Watched::new(1);
    for json in [r#"{"a":1,"b":[2]}"#, r#"{ "b": [2.0], "a": 1 }"#, r#"{"a":1,"b":[3]}"#] {
        watched.awareness.set_local_state_raw(json);
    }
    assert_eq!(watched.change.lock().expect("no panic").len(), 2);
    assert_eq!(watched.update.lock().expect("no panic").len(), 3);
    assert_eq!(watched.awareness.local_state_raw().as_deref(), Some(r#"{"a":1,"b":[3]}"#));
}

/// What this client says next must not be taken for old, so removing it here does not count for it.
#[test]
fn removing_another_client_keeps_its_clock() {
    let mut alice = Awareness::new(Doc::with_client_id(1));
    let mut server = Awareness::new(Doc::with_client_id(2));
    alice.set_local_state(json!(1)).expect("JSON");
    server.apply_update(alice.update().expect("states")).expect("JSON");
    server.remove_state(client(1));
    assert_eq!(server.meta(client(1)).map(|meta| meta.0), Some(1));
    assert_eq!(server.state::<Value>(client(1)), None);
    alice.set_local_state(json!(2)).expect("JSON");
    server.apply_update(alice.update().expect("states")).expect("JSON");
    assert_eq!(server.state::<Value>(client(1)), Some(json!(2)));
}

#[test]
fn silent_clients_time_out() {
    let time = Arc::new(std::sync::atomic::AtomicU64::new(1000));
    let clock = Arc::clone(&time);
    let now = move || clock.load(std::sync::atomic::Ordering::Relaxed);
    let mut awareness = Awareness::with_clock(Doc::with_client_id(1), now);
    let origins = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&origins);
    awareness.on_update("log", move |_, event, origin| {
        log.lock().expect("no panic").push((event.all_changes(), origin.cloned()));
    });
    awareness.set_local_state(json!("me")).expect("JSON");
    let other = AwarenessUpdate::decode_v1(&unhex("020501013106030132")).expect("an update");
    awareness.apply_update_with(other, "network").expect("JSON");
    assert_eq!(awareness.check_timeouts(1000 + OUTDATED_TIMEOUT / 2 - 1), None);

    let renewed = awareness.check_timeouts(1000 + OUTDATED_TIMEOUT / 2).expect("a renewal");
    assert_eq!(summary(&renewed), json!({"added": [], "updated": [1], "removed": []}));
    assert_eq!(awareness.meta(client(1)), Some((2, 16_000)));

    time.store(20_000, std::sync::atomic::Ordering::Relaxed);
    awareness
        .apply_update(AwarenessUpdate::decode_v1(&unhex("0106040132")).expect("an update"))
        .expect("JSON");
    let gone = awareness.check_timeouts(1000 + OUTDATED_TIMEOUT).expect("a removal");
    assert_eq!(summary(&gone), json!({"added": [], "updated": [1], "removed": [5]}));
    assert_eq!(awareness.meta(client(5)).map(|meta| meta.0), Some(1), "the clock outlives the state");
    assert_eq!(awareness.state::<Value>(client(6)), Some(json!(2)));
    let origins = origins.lock().expect("no panic").clone();
    assert_eq!(origins[1].1, Some("network".into()));
    assert_eq!(origins.last(), Some(&(vec![client(5)], Some("timeout".into()))));
    assert_eq!(CHECK_INTERVAL, 3000);
}

#[test]
fn clocks_do_not_overflow() {
    let mut awareness = Awareness::new(Doc::with_client_id(1));
    awareness.set_local_state(json!(1)).expect("JSON");
    let last = AwarenessUpdate::decode_v1(&unhex("0101ffffffff0f046e756c6c")).expect("an update");
    awareness.apply_update(last).expect("JSON");
    awareness.set_local_state(json!(2)).expect("JSON");
    assert_eq!(awareness.meta(client(1)).map(|meta| meta.0), Some(u32::MAX));
    assert!(AwarenessUpdate::decode_v1(&unhex("0101ffffffff1f046e756c6c")).is_err(), "a clock of 33 bits");
}

#[test]
fn observers_may_end_themselves_and_come_back_replaced() {
    let mut awareness = Awareness::default();
    let calls = Arc::new(Mutex::new(Vec::new()));
    for (key, name) in [("x", "old"), ("y", "second"), ("x", "new")] {
        let log = Arc::clone(&calls);
        awareness.on_update(key, move |awareness, event, _| {
            assert_eq!(awareness.local_state::<i32>(), Some(7));
            log.lock().expect("no panic").push((name, event.added().len()));
        });
    }
    awareness.set_local_state(7).expect("JSON");
    assert_eq!(*calls.lock().expect("no panic"), [("new", 1), ("second", 1)]);
    assert!(awareness.unobserve_update("x") && !awareness.unobserve_update("x"));
    assert!(!awareness.unobserve_change("y"));
}

/// Case sync-007: layout and meaning of auth messages.
#[test]
fn auth_messages() {
    let mut awareness = Awareness::default();
    let denied = unhex("02000664656e696564");
    assert_eq!(Message::decode_v1(&denied).expect("a message"), Message::Auth(Some("denied".into())));
    match DefaultProtocol.handle(&mut awareness, &denied) {
        Err(Error::PermissionDenied { reason }) => assert_eq!(reason, "denied"),
        other => panic!("{other:?}"),
    }
    assert!(
        DefaultProtocol.handle(&mut awareness, &Message::Auth(None).encode_v1()).expect("granted").is_empty()
    );
}

/// Case sync-008: a query is answered with all states, unknown messages are refused, an empty frame says nothing.
#[test]
fn queries_and_unknown_messages() {
    let mut awareness = Awareness::new(Doc::with_client_id(4));
    awareness.set_local_state(json!("x")).expect("JSON");
    let answers = DefaultProtocol.handle(&mut awareness, &[3]).expect("a query");
    assert_eq!(answers.as_slice(), [Message::Awareness(awareness.update().expect("states"))]);
    assert!(matches!(DefaultProtocol.handle(&mut awareness, &[9, 1, 7]), Err(Error::Unsupported(9))));
    assert!(DefaultProtocol.handle(&mut awareness, &[]).expect("nothing").is_empty());
    assert_eq!(awareness.local_state::<Value>(), Some(json!("x")));
}

#[test]
fn a_connection_starts_with_state_and_states() {
    let mut awareness = Awareness::new(Doc::with_client_id(1));
    awareness.doc().get_or_insert_text("t").push(&mut awareness.doc().transact_mut(), "abc");
    awareness.set_local_state(json!({"n": 1})).expect("JSON");
    let mut encoder = EncoderV1::new();
    DefaultProtocol.start(&awareness, &mut encoder).expect("starts");
    let frame = encoder.to_vec();

    let mut server = Awareness::new(Doc::with_client_id(2));
    let answers = DefaultProtocol.handle(&mut server, &frame).expect("handled");
    assert_eq!(answers.as_slice(), [Message::Sync(SyncMessage::SyncStep2(vec![0, 0]))]);
    assert_eq!(server.state::<Value>(client(1)), Some(json!({"n": 1})));
    let state = server.doc().transact().state_vector();
    let back = DefaultProtocol.handle_sync_step1(&mut awareness, state).expect("handled").expect("an answer");
    DefaultProtocol.handle(&mut server, &back.encode_v1()).expect("handled");
    let text = server.doc().get_or_insert_text("t");
    assert_eq!(text.get_string(&server.doc().transact()), "abc");
}
