//! The golden vectors made by real Yjs: each update in V1 and V2 on a fresh document gives the expected values, state
//! vector and state bytes.
//!
//! A vector whose types the engine does not have yet stands by name in `NOT_YET`, with a count, so that it cannot be
//! forgotten. The vectors of lib0 and of the protocols are covered by the crate `yatta-encoding` and by the tests of
//! the sync module; here every vector of kind update, state vector and snapshot that a document is needed for.

mod common;

use common::Host;
use common::json::{Json, hex, unhex};
use common::on_yatta::service::Service;
use common::wire;
use std::path::Path;

/// Vectors that wait for a feature: name and what is missing.
const NOT_YET: &[(&str, &str)] = &[("xml_hook_and_fragment", "XML hooks")];

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

/// An expected value as `Any` can say it: like yrs, it has no BigInt, so one that fits reads as an integer, and a
/// sub-document shows as its guid. On the wire both stay what they are, which the comparison of bytes shows.
fn readable(json: &Json) -> Json {
    match json {
        Json::Array(items) => items.iter().map(readable).collect::<Vec<_>>().into(),
        Json::Object(_) if json.get("$").as_str() == Some("bigint") => {
            let value: i64 = text(json, "v").parse().expect("a BigInt of 64 bits");
            if value.unsigned_abs() <= 1 << 53 { Json::Number(value as f64) } else { json.clone() }
        }
        Json::Object(_) if json.get("$").as_str() == Some("doc") => {
            Json::object([("guid", json.get("guid").clone())])
        }
        Json::Object(entries) => {
            Json::Object(entries.iter().map(|(key, value)| (key.clone(), readable(value))).collect())
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
                assert_eq!(*found, readable(wanted), "{what}: {field} of {name:?}");
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
        if NOT_YET.iter().any(|(waiting, _)| *waiting == name) {
            continue;
        }
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
    assert_eq!(passed + NOT_YET.len(), 55, "all update vectors are here or listed: {NOT_YET:?}");
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
    for vector in
        of_kind("update").iter().filter(|v| !NOT_YET.iter().any(|(name, _)| *name == text(v, "name")))
    {
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
