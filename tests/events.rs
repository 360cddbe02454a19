//! Events of shared types: the deltas, keys and paths of real Yjs (`testdata/events`, written by
//! `interop/events-golden.mjs`), and deltas that lead from the old content to the new one.
//!
//! `YATTA_EVENTS=FILE` reads other scripts than those of the repository.

#![expect(clippy::unwrap_used, reason = "a test stops where it fails")]

#[path = "common/hex.rs"]
mod hex;

use hex::unhex;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Map as JsonMap, Value as Json, json};
use yatta::any::Any;
use yatta::types::{Attrs, Change, Delta, EntryChange, Event, Events, PathSegment};
use yatta::updates::decoder::Decode;
use yatta::{
    Array, ArrayPrelim, ArrayRef, ClientID, DeepObservable, Doc, GetString, Map, MapPrelim, MapRef,
    Observable, OffsetKind, Options, Out, ReadTxn, StateVector, Text, TextPrelim, TextRef, Transact,
    TransactionMut, Update, Xml, XmlElementPrelim, XmlFragment, XmlFragmentRef, XmlOut, XmlTextPrelim,
};

type Calls = Arc<Mutex<Vec<Json>>>;

struct Replica {
    doc: Doc,
    text: TextRef,
    array: ArrayRef,
    map: MapRef,
    xml: XmlFragmentRef,
    calls: Calls,
}

fn doc(client: u64) -> Doc {
    let mut options = Options::with_client_id(ClientID::new(client));
    options.offset_kind = OffsetKind::Utf16;
    Doc::with_options(options)
}

impl Replica {
    fn new(start: &Json) -> Self {
        let doc = doc(3);
        let (text, array, map) =
            (doc.get_or_insert_text("t"), doc.get_or_insert_array("a"), doc.get_or_insert_map("m"));
        let xml = doc.get_or_insert_xml_fragment("x");
        let calls = Calls::default();
        let replica = Self { doc, text, array, map, xml, calls };
        replica.apply(start);
        watch(&replica.text, "t", &replica.calls);
        watch(&replica.array, "a", &replica.calls);
        watch(&replica.map, "m", &replica.calls);
        watch(&replica.xml, "x", &replica.calls);
        replica
    }

    fn apply(&self, update: &Json) {
        self.doc
            .transact_mut()
            .apply_update(Update::decode_v1(&unhex(update.as_str().unwrap())).unwrap())
            .unwrap();
    }

    /// What stands at the path of an operation.
    fn find(&self, txn: &TransactionMut<'_>, path: &Json) -> Out {
        let path = path.as_array().unwrap();
        let mut at = match path[0].as_str().unwrap() {
            "t" => Out::YText(self.text.clone()),
            "a" => Out::YArray(self.array.clone()),
            "m" => Out::YMap(self.map.clone()),
            "x" => Out::YXmlFragment(self.xml.clone()),
            other => panic!("no root {other}"),
        };
        for step in &path[1..] {
            at = match at {
                Out::YArray(array) => array.get(txn, number(step)).unwrap(),
                Out::YMap(map) => map.get(txn, step.as_str().unwrap()).unwrap(),
                Out::YXmlFragment(node) => Out::from(node.get(txn, number(step)).unwrap()),
                Out::YXmlElement(node) => Out::from(node.get(txn, number(step)).unwrap()),
                other => panic!("{step} of {other:?}"),
            };
        }
        at
    }

    fn step(&self, operations: &Json) {
        let mut txn = self.doc.transact_mut();
        for operation in operations.as_array().unwrap() {
            let target = self.find(&txn, &operation["path"]);
            match target {
                Out::YText(text) => edit_text(&text, &mut txn, operation),
                Out::YArray(array) => edit_array(&array, &mut txn, operation),
                Out::YMap(map) => edit_map(&map, &mut txn, operation),
                Out::YXmlFragment(node) => edit_children(&node, &mut txn, operation),
                Out::YXmlElement(node) if operation.get("key").is_some() => {
                    edit_attribute(&node, &mut txn, operation)
                }
                Out::YXmlElement(node) => edit_children(&node, &mut txn, operation),
                Out::YXmlText(node) if operation.get("key").is_some() => {
                    edit_attribute(&node, &mut txn, operation)
                }
                Out::YXmlText(node) => edit_text(&node, &mut txn, operation),
                other => panic!("{operation} on {other:?}"),
            }
        }
    }
}

/// Writes down what the shallow and the deep observers of a root are told.
fn watch<T>(root: &T, name: &'static str, calls: &Calls)
where
    T: Observable + DeepObservable,
    T::Event: 'static,
    Event: AsRef<T::Event>,
{
    let shallow = Arc::clone(calls);
    root.as_ref().observe("shallow".into(), move |txn, event| {
        shallow.lock().unwrap().push(json!({ "on": name, "deep": false, "events": [report(txn, event)] }));
    });
    let deep = Arc::clone(calls);
    root.observe_deep("deep", move |txn: &TransactionMut<'_>, events: &Events<'_>| {
        let events: Vec<Json> = events.iter().map(|event| report(txn, event)).collect();
        deep.lock().unwrap().push(json!({ "on": name, "deep": true, "events": events }));
    });
}

fn number(json: &Json) -> u32 {
    json.as_u64().unwrap() as u32
}

fn any(json: &Json) -> Any {
    Any::from_json(&json.to_string()).unwrap()
}

fn attributes(json: &Json) -> Option<Attrs> {
    let json = json.as_object()?;
    Some(json.iter().map(|(key, value)| (Arc::from(key.as_str()), any(value))).collect())
}

fn edit_text(text: &impl Text, txn: &mut TransactionMut<'_>, operation: &Json) {
    let at = |name: &str| number(&operation[name]);
    match operation["op"].as_str().unwrap() {
        "insert" => {
            let chunk = operation["text"].as_str().unwrap();
            match attributes(&operation["attrs"]) {
                Some(attributes) => text.insert_with_attributes(txn, at("index"), chunk, attributes),
                None => text.insert(txn, at("index"), chunk),
            }
        }
        "embed" => {
            let attributes = attributes(&operation["attrs"]).unwrap_or_default();
            text.insert_embed_with_attributes(txn, at("index"), any(&operation["value"]), attributes);
        }
        "delete" => text.remove_range(txn, at("index"), at("len")),
        "format" => text.format(txn, at("index"), at("len"), attributes(&operation["attrs"]).unwrap()),
        other => panic!("{other} on a text"),
    }
}

fn edit_array(array: &ArrayRef, txn: &mut TransactionMut<'_>, operation: &Json) {
    let index = number(&operation["index"]);
    match (operation["op"].as_str().unwrap(), operation["type"].as_str()) {
        ("erase", _) => array.remove_range(txn, index, number(&operation["len"])),
        ("add", None) => {
            array.insert_range(txn, index, operation["values"].as_array().unwrap().iter().map(any))
        }
        ("add", Some("text")) => drop(array.insert(txn, index, TextPrelim::new(""))),
        ("add", Some("array")) => drop(array.insert(txn, index, ArrayPrelim::default())),
        ("add", Some("map")) => drop(array.insert(txn, index, MapPrelim::default())),
        other => panic!("{other:?} on a list"),
    }
}

fn edit_map(map: &MapRef, txn: &mut TransactionMut<'_>, operation: &Json) {
    let key = operation["key"].as_str().unwrap();
    match (operation["op"].as_str().unwrap(), operation["type"].as_str()) {
        ("remove", _) => drop(map.remove(txn, key)),
        ("set", None) => drop(map.insert(txn, key, any(&operation["value"]))),
        ("set", Some("text")) => drop(map.insert(txn, key, TextPrelim::new(""))),
        ("set", Some("array")) => drop(map.insert(txn, key, ArrayPrelim::default())),
        ("set", Some("map")) => drop(map.insert(txn, key, MapPrelim::default())),
        other => panic!("{other:?} on a map"),
    }
}

fn edit_children(node: &impl XmlFragment, txn: &mut TransactionMut<'_>, operation: &Json) {
    let index = number(&operation["index"]);
    match (operation["op"].as_str().unwrap(), operation["type"].as_str()) {
        ("erase", _) => node.remove_range(txn, index, number(&operation["len"])),
        ("add", Some("xmltext")) => drop(node.insert(txn, index, XmlTextPrelim::new(""))),
        ("add", Some("xmlelement")) => drop(node.insert(txn, index, XmlElementPrelim::empty("p"))),
        other => panic!("{other:?} on an XML node"),
    }
}

fn edit_attribute(node: &impl Xml, txn: &mut TransactionMut<'_>, operation: &Json) {
    let key = operation["key"].as_str().unwrap();
    match operation["op"].as_str().unwrap() {
        "attr" => drop(node.insert_attribute(txn, key, operation["value"].as_str().unwrap())),
        "unattr" => node.remove_attribute(txn, &key),
        other => panic!("{other} of an attribute"),
    }
}

fn kind(value: &Out) -> &'static str {
    match value {
        Out::YText(_) => "text",
        Out::YArray(_) => "array",
        Out::YMap(_) => "map",
        Out::YXmlFragment(_) => "xmlfragment",
        Out::YXmlElement(_) => "xmlelement",
        Out::YXmlText(_) => "xmltext",
        other => panic!("kind of {other:?}"),
    }
}

fn any_value(any: &Any) -> Json {
    let mut json = String::new();
    any.to_json(&mut json);
    serde_json::from_str(&json).unwrap()
}

fn out_value(out: &Out) -> Json {
    match out {
        Out::Any(Any::Undefined) => json!({ "$": "undefined" }),
        Out::Any(any) => any_value(any),
        other => json!({ "$": kind(other) }),
    }
}

fn with_attributes(mut step: JsonMap<String, Json>, attributes: Option<&Attrs>) -> Json {
    if let Some(attributes) = attributes {
        let all: JsonMap<_, _> =
            attributes.iter().map(|(key, any)| (key.to_string(), any_value(any))).collect();
        step.insert("attributes".to_owned(), Json::Object(all));
    }
    Json::Object(step)
}

fn text_delta(delta: &[Delta]) -> Json {
    let pair = |key: &str, value: Json| JsonMap::from_iter([(key.to_owned(), value)]);
    let step = |step: &Delta| match step {
        Delta::Inserted(value, attributes) => {
            with_attributes(pair("insert", out_value(value)), attributes.as_deref())
        }
        Delta::Deleted(len) => Json::Object(pair("delete", json!(len))),
        Delta::Retain(len, attributes) => with_attributes(pair("retain", json!(len)), attributes.as_deref()),
    };
    delta.iter().map(step).collect()
}

fn list_delta(delta: &[Change]) -> Json {
    let step = |step: &Change| match step {
        Change::Added(values) => json!({ "insert": values.iter().map(out_value).collect::<Vec<_>>() }),
        Change::Removed(len) => json!({ "delete": len }),
        Change::Retain(len) => json!({ "retain": len }),
    };
    delta.iter().map(step).collect()
}

fn keys<'k>(keys: impl IntoIterator<Item = (&'k Arc<str>, &'k EntryChange)>) -> Json {
    let undefined = json!({ "$": "undefined" });
    let change = |change: &EntryChange| match change {
        EntryChange::Inserted(_) => json!({ "action": "add", "oldValue": undefined }),
        EntryChange::Updated(old, _) => json!({ "action": "update", "oldValue": out_value(old) }),
        EntryChange::Removed(old) => json!({ "action": "delete", "oldValue": out_value(old) }),
    };
    Json::Object(keys.into_iter().map(|(key, entry)| (key.to_string(), change(entry))).collect())
}

fn report(txn: &TransactionMut<'_>, event: &Event) -> Json {
    let path = event.path();
    let path: Vec<Json> = path
        .iter()
        .map(|segment| match segment {
            PathSegment::Key(key) => json!(key.as_ref()),
            PathSegment::Index(index) => json!(index),
        })
        .collect();
    let mut out = json!({ "kind": kind(&event.target()), "path": path });
    match event {
        Event::Text(event) => out["delta"] = text_delta(event.delta(txn)),
        Event::Array(event) => out["delta"] = list_delta(event.delta(txn)),
        Event::Map(event) => out["keys"] = keys(event.keys(txn)),
        Event::XmlFragment(event) => {
            out["delta"] = list_delta(event.delta(txn));
            if matches!(event.target(), XmlOut::Element(_)) {
                out["keys"] = keys(event.keys(txn));
            }
            assert!(event.children_changed() || event.delta(txn).is_empty(), "children changed unseen");
        }
        Event::XmlText(event) => {
            out["delta"] = text_delta(event.delta(txn));
            out["keys"] = keys(event.keys(txn));
        }
        Event::Weak(_) => unreachable!("Yjs 13 has no weak links"),
    }
    out
}

/// The scripts that this engine can run.
fn scripts() -> Vec<Json> {
    let file = std::env::var("YATTA_EVENTS").unwrap_or_else(|_| "testdata/events/scripts.jsonl".to_owned());
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{file}: {error}"));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Runs a script. Returns the number of calls compared, or what differs first.
fn run(script: &Json) -> Result<usize, String> {
    let mut compared = 0;
    let replica = Replica::new(&script["start"]);
    for (number, step) in script["steps"].as_array().unwrap().iter().enumerate() {
        match step.get("update") {
            Some(update) => replica.apply(update),
            None => replica.step(&step["ops"]),
        }
        replica.doc.check();
        let calls = Json::from(std::mem::take(&mut *replica.calls.lock().unwrap()));
        if calls != step["calls"] {
            return Err(format!("step {number}: {step:#}\nours: {calls:#}"));
        }
        compared += calls.as_array().unwrap().len();
    }
    let state = replica.doc.transact().encode_state_as_update_v1(&StateVector::default());
    if state != unhex(script["end"].as_str().unwrap()) {
        return Err("the events are the same, the document is another one".to_owned());
    }
    Ok(compared)
}

#[test]
fn events_are_those_of_yjs() {
    let mut compared = 0;
    let mut failed = Vec::new();
    for script in scripts() {
        let seed = script["seed"].as_u64().unwrap();
        match run(&script) {
            Ok(calls) => compared += calls,
            Err(why) => {
                println!("seed {seed}, {why}");
                failed.push(seed);
            }
        }
    }
    assert!(failed.is_empty(), "seeds {failed:?}");
    assert!(compared > 1000, "only {compared} calls");
}

/// What a transaction changed must not show in the next one, also when an observer of the first panicked.
#[test]
fn a_panic_of_an_observer_leaves_no_changes_behind() {
    let doc = Doc::with_client_id(1);
    let text = doc.get_or_insert_text("t");
    let calls = Arc::new(AtomicU32::new(0));
    let seen = Arc::clone(&calls);
    text.observe("once", move |_, _| {
        assert!(seen.fetch_add(1, Ordering::Relaxed) > 0, "the first event");
    });
    let first = catch_unwind(AssertUnwindSafe(|| text.insert(&mut doc.transact_mut(), 0, "a")));
    assert!(first.is_err(), "the panic goes on");
    drop(doc.transact_mut());
    assert_eq!(calls.load(Ordering::Relaxed), 1, "an empty transaction has no event");
    text.insert(&mut doc.transact_mut(), 1, "b");
    assert_eq!((calls.load(Ordering::Relaxed), text.get_string(&doc.transact())), (2, "ab".to_owned()));
    doc.check();
}
