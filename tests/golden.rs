//! The golden vectors made by real Yjs: each update in V1 and V2 on a fresh document gives the expected values, state
//! vector and state bytes.
//!
//! The other vectors are made again by our own API and must come out byte for byte: state vectors, snapshots, relative
//! positions, messages, awareness. Those of lib0's primitives are covered by the crate `yatta-encoding`.

mod common;

use common::Host;
use common::json::{Json, hex, unhex};
use common::on_yatta::service::Service;
use common::wire;
use std::path::Path;
use yatta::sync::{Awareness, AwarenessUpdate, Message, SyncMessage};
use yatta::updates::decoder::Decode;
use yatta::updates::encoder::Encode;
use yatta::{
    Assoc, ClientID, Doc, IndexedSequence, Map, OffsetKind, Options, ReadTxn, Snapshot, StateVector,
    StickyIndex, Text, TextPrelim, Transact, Update,
};

fn vectors() -> Vec<Json> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/vectors/yjs-vectors.json");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let file = Json::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    file.get("vectors").items().to_vec()
}

fn of_kind(kind: &str) -> Vec<Json> {
    vectors().into_iter().filter(|vector| vector.get("kind").as_str() == Some(kind)).collect()
}

fn text<'a>(json: &'a Json, key: &str) -> &'a str {
    json.get(key).as_str().unwrap_or_else(|| panic!("{key} is a string in {json}"))
}

/// One document with gc, asked through the adapter's protocol.
struct Receiver {
    service: Service,
}

impl Receiver {
    fn new(vector: &Json) -> Self {
        let mut new = Self { service: Service::default() };
        // an id that no vector uses, so that the document never has to change its own
        new.ask("new", [("clientID", Json::Number(4_242_424_242.0)), ("guid", "receiver".into())]);
        for (name, kind) in vector.get("roots").entries() {
            let kind = text_kind(kind.as_str().unwrap_or_default());
            new.ask("root", [("name", name.as_str().into()), ("kind", kind.into())]);
        }
        new
    }

    fn ask<const N: usize>(&mut self, op: &str, fields: [(&str, Json); N]) -> Json {
        let mut request = Json::object(fields);
        request.set("op", op.into());
        request.set("doc", "d".into());
        let reply = self.service.call(&request);
        assert_eq!(reply.get("ok").as_bool(), Some(true), "{request} gave {reply}");
        self.service.check("d");
        reply.get("r").clone()
    }

    fn apply(&mut self, update: &str, enc: u32) {
        self.ask("apply", [("update", update.into()), ("enc", enc.into())]);
    }

    /// The value of a root in the notation of the vectors.
    fn value(&mut self, name: &str, kind: &str) -> Json {
        let h = Json::from(format!("@{name}"));
        let mut value = Json::object([("type", kind.into())]);
        let json = self.ask("toJSON", [("h", h.clone())]);
        match kind {
            "text" => {
                value.set("json", json);
                value.set("length", self.ask("len", [("h", h.clone())]));
                value.set("delta", self.ask("toDelta", [("h", h)]));
            }
            "array" => {
                value.set("json", json);
                value.set("length", self.ask("len", [("h", h)]));
            }
            "map" => value.set("json", json),
            _ => {
                value.set("json", json.clone());
                value.set("string", json);
                value.set("length", self.ask("len", [("h", h)]));
            }
        }
        value
    }
}

fn text_kind(kind: &str) -> &str {
    match kind {
        "xml" | "xmlFragment" => "xmlfragment",
        other => other,
    }
}

/// The notation of the vectors for what the protocol writes with tags: types in deltas have no handle there.
fn plain(json: &Json, service: &mut Receiver) -> Json {
    match json {
        Json::Array(items) => items.iter().map(|item| plain(item, service)).collect::<Vec<_>>().into(),
        Json::Object(entries) if json.get("$").as_str() == Some("type") => {
            let kind = json.get("kind").as_str().unwrap_or_default();
            let class = match kind {
                "text" => "YText",
                "array" => "YArray",
                "map" => "YMap",
                "xmltext" => "YXmlText",
                "xmlelement" => "YXmlElement",
                "xmlfragment" => "YXmlFragment",
                "xmlhook" => "YXmlHook",
                _ => panic!("{entries:?} is a known type"),
            };
            let value = service.ask("toJSON", [("h", json.get("h").clone())]);
            Json::tagged("type", [("type", class.into()), ("json", plain(&value, service))])
        }
        Json::Object(entries) => {
            Json::Object(entries.iter().map(|(key, value)| (key.clone(), plain(value, service))).collect())
        }
        other => other.clone(),
    }
}

/// Compares a receiver with what the vector expects; `what` names the receiver in a message.
fn compare(vector: &Json, receiver: &mut Receiver, expected: &Json, from_v2: bool, what: &str) {
    for (name, kind) in vector.get("roots").entries() {
        let kind = kind.as_str().unwrap_or_default();
        let value = receiver.value(name, kind);
        let value = plain(&value, receiver);
        for (field, wanted) in expected.get(name).entries() {
            if let Some(found) = value.find(field) {
                assert_eq!(found, wanted, "{what}: {field} of {name:?}");
            }
        }
    }
    if let Some(sv) = vector.get("reencode").get("sv").as_str() {
        assert_eq!(receiver.ask("sv", []).as_str(), Some(sv), "{what}: state vector");
    }
    for (key, enc) in [("v1", 1_u32), ("v2", 2)] {
        let wanted = match vector.get("reencode").get(key).as_str() {
            // what JSON text cannot hold survives in V2
            _ if enc == 2 && from_v2 && vector.find("expected_from_v2").is_some() => text(vector, "v2"),
            Some("=") => text(vector, key),
            Some(other) => other,
            None => continue,
        };
        let found = receiver.ask("encode", [("enc", enc.into())]);
        let described = || unhex(found.as_str().unwrap_or_default()).map(|bytes| wire::describe(&bytes));
        assert_eq!(found.as_str(), Some(wanted), "{what}: state in V{enc}: {:?}", described());
    }
    let waits = match receiver.ask("pending", []) {
        Json::Bool(waits) => waits,
        other => !other.is_null(),
    };
    let reencode = vector.get("reencode");
    let wanted = reencode.get("pendingStructs").as_bool() == Some(true)
        || reencode.get("pendingDs").as_bool() == Some(true);
    assert_eq!(waits, wanted, "{what}: something waits");
}

#[test]
fn updates_give_the_values_and_bytes_of_yjs() {
    let mut passed = 0;
    for vector in of_kind("update") {
        let name = text(&vector, "name");
        for (key, enc) in [("v1", 1), ("v2", 2)] {
            let mut receiver = Receiver::new(&vector);
            if let Some(base) = vector.get("base_v1").as_str() {
                receiver.apply(base, 1);
            }
            receiver.apply(text(&vector, key), enc);
            let expected = match vector.find("expected_from_v2") {
                Some(other) if enc == 2 => other,
                _ => vector.get("expected"),
            };
            compare(&vector, &mut receiver, expected, enc == 2, &format!("{name} from {key}"));
        }
        passed += 1;
    }
    assert_eq!(passed, 55, "all update vectors are here");
}

/// The reader that judges yrs must itself agree with Yjs: a delete set of Yjs is in order already.
#[test]
fn the_judge_leaves_the_bytes_of_yjs_alone() {
    for vector in of_kind("update") {
        for (key, v2) in [("v1", false), ("v2", true)] {
            let bytes = unhex(text(&vector, key)).expect("hex");
            assert_eq!(wire::normalise(&bytes, v2).map(|bytes| hex(&bytes)), Ok(hex(&bytes)), "{vector}");
        }
    }
    // a delete set of yrs: clients ascending, ranges that touch
    let v1 = unhex("000201010001020200020201").expect("hex");
    assert_eq!(
        wire::normalise(&v1, false).map(|bytes| hex(&bytes)),
        Ok("0002020100030101 0001".replace(' ', ""))
    );
}

#[test]
fn updates_convert_as_in_yjs() {
    for vector in of_kind("update") {
        let name = text(&vector, "name");
        for (flag, from, to, version) in
            [("conv_v1_to_v2_equal", "v1", "v2", 2_u32), ("conv_v2_to_v1_equal", "v2", "v1", 1)]
        {
            if vector.get(flag).as_bool() == Some(true) {
                let request = Json::object([
                    ("op", "convert".into()),
                    ("update", vector.get(from).clone()),
                    ("to", version.into()),
                ]);
                let reply = Service::default().call(&request);
                assert_eq!(reply.get("r"), vector.get(to), "{name} {flag}: {reply}");
            }
        }
    }
}

/// Applying a state twice, or the same state from the other format, changes nothing and emits nothing.
#[test]
fn applying_a_state_again_is_silent() {
    for vector in &of_kind("update") {
        let mut receiver = Receiver::new(vector);
        if let Some(base) = vector.get("base_v1").as_str() {
            receiver.apply(base, 1);
        }
        receiver.apply(text(vector, "v1"), 1);
        let before = receiver.ask("encode", [("enc", 1.into())]);
        let update = Json::object([
            ("op", "apply".into()),
            ("doc", "d".into()),
            ("update", vector.get("v2").clone()),
            ("enc", 2.into()),
        ]);
        let reply = receiver.service.call(&update);
        assert_eq!(reply.get("ev").items().len(), 0, "{} again: {reply}", text(vector, "name"));
        assert_eq!(receiver.ask("encode", [("enc", 1.into())]), before, "{}", text(vector, "name"));
    }
}

fn vector(kind: &str, name: &str) -> Json {
    let all = of_kind(kind);
    let found = all.into_iter().find(|vector| text(vector, "name") == name);
    found.unwrap_or_else(|| panic!("no vector {kind} {name}"))
}

fn utf16(client: u64, gc: bool) -> Doc {
    let mut options = Options::with_client_id(ClientID::new(client));
    options.offset_kind = OffsetKind::Utf16;
    options.skip_gc = !gc;
    Doc::with_options(options)
}

fn write(client: u64, content: &str) -> Doc {
    let doc = utf16(client, true);
    doc.get_or_insert_text("t").push(&mut doc.transact_mut(), content);
    doc
}

#[test]
fn state_vectors_are_those_of_yjs() {
    let vectors = of_kind("stateVector");
    assert_eq!(vectors.len(), 1);
    let wanted = text(&vectors[0], "hex");
    let doc = write(1, "aaa");
    for other in [write(300, "b"), write(20, "cc")] {
        let update = other.transact().encode_state_as_update_v1(&StateVector::default());
        doc.transact_mut().apply_update(Update::decode_v1(&update).expect("our own")).expect("our own");
    }
    let sv = doc.transact().state_vector();
    assert_eq!([hex(&sv.encode_v1()), hex(&sv.encode_v2())], [wanted, wanted], "the same bytes in V1 and V2");
    for (client, clock) in vectors[0].get("decoded").entries() {
        let client = ClientID::new(client.parse().expect("a number"));
        assert_eq!(Json::from(sv.get(&client)), *clock);
    }
    let bytes = unhex(wanted).expect("hex");
    assert_eq!(StateVector::decode_v1(&bytes).expect("of Yjs"), sv);
    assert_eq!(StateVector::decode_v2(&bytes).expect("of Yjs"), sv);
}

#[test]
fn snapshots_are_those_of_yjs() {
    assert_eq!(of_kind("snapshot").len(), 2);
    let doc = utf16(1, false);
    let t = doc.get_or_insert_text("t");
    t.insert(&mut doc.transact_mut(), 0, "0123456789");
    t.remove_range(&mut doc.transact_mut(), 7, 2);
    t.remove_range(&mut doc.transact_mut(), 2, 3);
    for (name, snapshot) in
        [("snapshot", doc.transact().snapshot()), ("snapshot_empty", Doc::new().transact().snapshot())]
    {
        let wanted = vector("snapshot", name);
        let (v1, v2) = (text(&wanted, "v1"), text(&wanted, "v2"));
        assert_eq!([hex(&snapshot.encode_v1()), hex(&snapshot.encode_v2())], [v1, v2], "{name}");
        assert_eq!(Snapshot::decode_v1(&unhex(v1).expect("hex")).expect("of Yjs"), snapshot, "{name}");
        assert_eq!(Snapshot::decode_v2(&unhex(v2).expect("hex")).expect("of Yjs"), snapshot, "{name}");
    }
}

#[test]
fn relative_positions_are_those_of_yjs() {
    let vectors = of_kind("relativePosition");
    assert_eq!(vectors.len(), 6);
    let doc = write(5, "abc");
    let t = doc.get_or_insert_text("t");
    let map = doc.get_or_insert_map("m");
    let nested = map.insert(&mut doc.transact_mut(), "x", TextPrelim::new(""));
    let txn = doc.transact();
    for vector in &vectors {
        let name = text(vector, "name");
        let (of, index, assoc) = match name {
            "relpos_mid" => (&t, 1, Assoc::After),
            "relpos_mid_left" => (&t, 1, Assoc::Before),
            "relpos_end" => (&t, 3, Assoc::After),
            "relpos_end_left" => (&t, 3, Assoc::Before),
            "relpos_start_left" => (&t, 0, Assoc::Before),
            "relpos_nested_end" => (&nested, 0, Assoc::After),
            other => panic!("{other} is a new vector"),
        };
        let position = of.sticky_index(&txn, index, assoc).expect("within the text");
        assert_eq!(hex(&position.encode_v1()), text(vector, "hex"), "{name}");
        let read = StickyIndex::decode_v1(&unhex(text(vector, "hex")).expect("hex")).expect("of Yjs");
        assert_eq!(read, position, "{name}");
        let offset = read.get_offset(&txn).expect("it is there");
        assert_eq!((offset.index, offset.assoc), (index, assoc), "{name}");
    }
}

#[test]
fn messages_are_those_of_yjs() {
    let counts = ["sync", "ws", "awareness"].map(|kind| of_kind(kind).len());
    assert_eq!(counts, [3, 4, 2]);
    let doc = write(1, "a");
    let update = doc.transact().encode_state_as_update_v1(&StateVector::default());
    let sync = [
        ("sync_step1", SyncMessage::SyncStep1(doc.transact().state_vector())),
        ("sync_step2", SyncMessage::SyncStep2(update.clone())),
        ("sync_update", SyncMessage::Update(update)),
    ];
    for (name, message) in sync {
        let wanted = vector("sync", name);
        assert_eq!(hex(&message.encode_v1()), text(&wanted, "hex"), "{name}");
        let read = SyncMessage::decode_v1(&unhex(text(&wanted, "hex")).expect("hex"));
        assert_eq!(read.expect("of Yjs"), message, "{name}");
    }
    let mut awareness = Awareness::new(Doc::with_client_id(7));
    awareness.begin_with_empty_state();
    awareness.set_local_state_raw(r#"{"user":"n"}"#);
    let update = awareness.update().expect("one state");
    assert_eq!(hex(&update.encode_v1()), text(&vector("awareness", "awareness_update"), "hex"));
    let mut gone = Awareness::new(Doc::with_client_id(7));
    gone.begin_with_empty_state();
    gone.clean_local_state();
    let update = gone.update_with_clients([ClientID::new(7)]).expect("it is known");
    assert_eq!(hex(&update.encode_v1()), text(&vector("awareness", "awareness_removed"), "hex"));
    let mut peer = Awareness::new(Doc::with_client_id(8));
    for (name, state) in [("awareness_update", Some(r#"{"user":"n"}"#)), ("awareness_removed", None)] {
        let wanted = vector("awareness", name);
        let read = AwarenessUpdate::decode_v1(&unhex(text(&wanted, "hex")).expect("hex")).expect("of Yjs");
        peer.apply_update(read).expect("JSON");
        let known = peer.iter().find(|(client, _)| client.get() == 7).expect("the client is known").1;
        assert_eq!(known.data.as_deref(), state, "{name}");
        assert_eq!(Json::from(known.clock), *wanted.get("clock"), "{name}");
    }
    let mut cursor = Awareness::new(Doc::with_client_id(7));
    cursor.set_local_state_raw(r#"{"user":"n","cursor":null}"#);
    let outer = [
        ("ws_outer_sync_step1", Message::Sync(SyncMessage::SyncStep1(StateVector::default()))),
        ("ws_outer_awareness", Message::Awareness(cursor.update().expect("one state"))),
        ("ws_outer_auth", Message::Auth(Some("no".to_owned()))),
        ("ws_outer_query_awareness", Message::AwarenessQuery),
    ];
    for (name, message) in outer {
        let wanted = vector("ws", name);
        assert_eq!(hex(&message.encode_v1()), text(&wanted, "hex"), "{name}");
        let read = Message::decode_v1(&unhex(text(&wanted, "hex")).expect("hex"));
        assert_eq!(read.expect("of Yjs"), message, "{name}");
    }
}

/// docs/FORMAT.md: each row of its tables names a test, and each test and vector that it names exists.
#[test]
fn the_format_page_names_what_exists() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| {
        let path = folder.join(path);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let page = read("docs/FORMAT.md");
    let all = vectors();
    let names: Vec<&str> = all.iter().map(|vector| text(vector, "name")).collect();
    let (mut tests, mut rows, mut in_differences) = (0, 0, false);
    for line in page.lines() {
        in_differences |= line.starts_with("## Where we differ");
        let quoted = || line.split('`').skip(1).step_by(2);
        for (file, test) in quoted().filter_map(|text| text.split_once(".rs: ")) {
            let source = read(&format!("{file}.rs"));
            assert!(source.contains(&format!("fn {test}()")), "{file}.rs has a test {test}: {line}");
            tests += 1;
        }
        if !line.starts_with("| ") || line.contains("| Test |") {
            continue;
        }
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").collect();
        let last = cells[cells.len() - 1];
        assert!(last.contains(".rs: "), "the row names its test: {line}");
        rows += 1;
        if in_differences {
            continue;
        }
        for vector in cells[cells.len() - 2].split('`').skip(1).step_by(2) {
            let (start, any) = vector.strip_suffix('*').map_or((vector, false), |start| (start, true));
            let found = names.iter().any(|name| *name == vector || any && name.starts_with(start));
            assert!(found, "a vector {vector}: {line}");
        }
    }
    assert!(tests >= 60 && rows >= 55, "the page is read: {tests} tests in {rows} rows");
}

/// Text that is inserted before a deleted item goes behind it, also where it would continue the item at its left.
#[test]
fn typing_before_a_deleted_item_steps_over_it() {
    let doc = utf16(1, true);
    let t = doc.get_or_insert_text("t");
    t.insert(&mut doc.transact_mut(), 0, "x");
    t.insert(&mut doc.transact_mut(), 0, "a");
    t.remove_range(&mut doc.transact_mut(), 1, 1);
    t.insert(&mut doc.transact_mut(), 1, "b");
    let state = doc.transact().encode_state_as_update_v1(&StateVector::default());
    assert_eq!(hex(&state), "010301000101017401440100016184010001620101010001");
}

/// States that loading changes, here as in Yjs (testdata/loads.json).
#[test]
fn states_that_loading_changes() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/loads.json");
    let file = Json::parse(&std::fs::read_to_string(path).expect("the file is there")).expect("JSON");
    let cases = file.get("cases").items();
    assert_eq!(cases.len(), 2);
    for case in cases {
        let doc = Doc::with_client_id(99);
        doc.get_or_insert_text("t");
        let state = Update::decode_v1(&unhex(text(case, "state")).expect("hex")).expect("a state");
        doc.transact_mut().apply_update(state).expect("it applies");
        doc.check();
        let loaded = doc.transact().encode_state_as_update_v1(&StateVector::default());
        assert_eq!(hex(&loaded), text(case, "loaded"), "{}", text(case, "name"));
    }
}
