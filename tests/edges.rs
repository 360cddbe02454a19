//! Corners that no random script reaches, beside real Yjs: `testdata/edges.json` is written by `interop/edges-golden.mjs`.

#[path = "common/hex.rs"]
mod hex;

use hex::{hex, unhex};
use serde_json::{Value as Json, json};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use yatta::error::EditError;
use yatta::types::text::YChange;
use yatta::types::{Attrs, Delta, ToJson};
use yatta::undo::UndoManager;
use yatta::updates::decoder::Decode;
use yatta::{
    Any, Array, ArrayPrelim, ClientID, Doc, GetString, Map, MapPrelim, Observable, OffsetKind, Options, Out,
    ReadTxn, StateVector, Text, TextPrelim, Transact, Update, undo,
};

fn golden(part: &str) -> Vec<Json> {
    let all: Json = serde_json::from_str(include_str!("../testdata/edges.json")).expect("the file is JSON");
    let part = all[part].as_array().expect("a list").clone();
    assert!(part.len() > 3, "there is something to do");
    part
}

fn doc(client: u64, skip_gc: bool) -> Doc {
    let client_id = ClientID::new(client);
    Doc::with_options(Options { client_id, skip_gc, offset_kind: OffsetKind::Utf16, ..Options::default() })
}

fn state(doc: &Doc) -> Json {
    doc.check();
    let (txn, none) = (doc.transact(), StateVector::default());
    json!({ "v1": hex(&txn.encode_state_as_update_v1(&none)), "v2": hex(&txn.encode_state_as_update_v2(&none)) })
}

fn copy(from: &Doc, to: &Doc) {
    let update = from.transact().encode_state_as_update_v1(&StateVector::default());
    to.transact_mut().apply_update(Update::decode_v1(&update).expect("our own update")).expect("it applies");
}

fn plain(value: &Any) -> Json {
    serde_json::to_value(value).expect("plain data")
}

/// Whether two values are equal; numbers by value.
fn same(a: &Json, b: &Json) -> bool {
    let any = |json: &Json| Any::from_json(&json.to_string()).expect("JSON");
    any(a) == any(b)
}

/// A subdocs event names what was loaded in the order in which that was decided.
#[test]
fn loaded_sub_documents_have_an_order() {
    for case in golden("loaded") {
        let source = doc(1, false);
        let with_guid = |guid: &str| Doc::with_options(Options { guid: guid.into(), ..Options::default() });
        for guid in ["b", "d"] {
            source.get_or_insert_map("m").insert(&mut source.transact_mut(), guid, with_guid(guid));
        }
        let parent = doc(2, false);
        copy(&source, &parent);
        let map = parent.get_or_insert_map("m");
        let events = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&events);
        let listening = parent.observe_subdocs("log", move |_, event| {
            let guids = [event.added(), event.removed(), event.loaded()];
            let guids = guids.map(|docs| docs.map(|doc| doc.guid().to_string()).collect::<Vec<_>>());
            log.lock().expect("no callback panics").push(json!(guids));
        });
        listening.expect("no transaction is open");
        let mut txn = parent.transact_mut();
        for step in case["steps"].as_array().expect("steps") {
            let (what, guid) = step.as_str().and_then(|step| step.split_once(' ')).expect("what and guid");
            match what {
                "load" => {
                    let child: Doc = map.get(&txn, guid).expect("it is there").cast().expect("a document");
                    child.load(&mut txn);
                }
                "insert" => drop(map.insert(&mut txn, guid, with_guid(guid))),
                _ => drop(map.remove(&mut txn, guid)),
            }
        }
        drop(txn);
        parent.check();
        let events = Json::from(std::mem::take(&mut *events.lock().expect("no callback panics")));
        assert_eq!(events, case["events"], "{case}");
    }
}

/// What is a step of its own depends on the time that passed, also where that is none, or less.
#[test]
fn a_clock_that_jumps_makes_the_steps_of_yjs() {
    for case in golden("undo") {
        let time = Arc::new(AtomicU64::new(0));
        let clock = Arc::clone(&time);
        let doc = doc(1, false);
        let text = doc.get_or_insert_text("t");
        let options = undo::Options {
            capture_timeout_millis: case["timeout"].as_u64().expect("milliseconds"),
            timestamp: Arc::new(move || clock.load(Ordering::Relaxed)),
            ..undo::Options::default()
        };
        let mut manager: UndoManager<()> = UndoManager::with_options(options);
        manager.expand_scope(&doc, &text);
        let mut steps = Vec::new();
        for now in case["times"].as_array().expect("times") {
            time.store(now.as_u64().expect("a time"), Ordering::Relaxed);
            text.push(&mut doc.transact_mut(), "x");
            steps.push(manager.undo_stack().len());
        }
        assert_eq!(json!(steps), case["steps"], "{case}");
        assert!(manager.undo_blocking(), "{case}");
        doc.check();
    }
}

fn runs(doc: &Doc, text: &yatta::TextRef) -> Json {
    let txn = doc.transact();
    let runs = text.diff(&txn, YChange::identity).into_iter().map(|run| {
        let mut json = json!({ "insert": plain(&run.insert.to_json(&txn)) });
        if let Some(attributes) = run.attributes {
            let entries = attributes.iter().map(|(key, value)| (key.to_string(), plain(value)));
            json["attributes"] = Json::Object(entries.collect());
        }
        json
    });
    runs.collect()
}

/// Embeds may be any value. Only a string is none in Yjs, which inserts it as text: here, as in yrs, it is an embed like any
/// other, and Yjs reads that.
#[test]
fn embeds_that_are_no_objects() {
    let mut seen = 0;
    for case in golden("embeds") {
        if case["value"].is_string() {
            continue;
        }
        seen += 1;
        let value = Any::from_json(&case["value"].to_string()).expect("JSON");
        let doc = doc(1, false);
        let text = doc.get_or_insert_text("t");
        let heard = Arc::new(Mutex::new(0));
        let count = Arc::clone(&heard);
        text.observe("count", move |txn, event| {
            // Yjs leaves embeds without a length out of the event.
            let embeds = |delta: &&Delta| matches!(delta, Delta::Inserted(Out::Any(any), _) if !matches!(any, Any::String(_)));
            *count.lock().expect("no callback panics") += event.delta(txn).iter().filter(embeds).count();
        });
        let mut txn = doc.transact_mut();
        text.insert_with_attributes(&mut txn, 0, "xy", Attrs::from([("bold".into(), true.into())]));
        text.insert_embed(&mut txn, 1, value.clone());
        let link = Attrs::from([("link".into(), value.clone())]);
        text.insert_embed_with_attributes(&mut txn, 0, value, link);
        text.insert(&mut txn, 2, "z");
        drop(txn);
        let bytes = state(&doc);
        assert_eq!((&bytes["v1"], &bytes["v2"]), (&case["v1"], &case["v2"]), "{case}");
        assert!(same(&runs(&doc, &text), &case["delta"]), "{case}");
        assert_eq!(json!(text.get_string(&doc.transact())), case["string"], "{case}");
        assert_eq!(json!(text.len(&doc.transact())), case["length"], "{case}");
        assert_eq!(*heard.lock().expect("no callback panics"), 2, "{case}");
    }
    assert!(seen > 5);

    let all: Json = serde_json::from_str(include_str!("../testdata/edges.json")).expect("the file is JSON");
    let as_yjs_reads = &all["string"];
    let doc = doc(1, false);
    let text = doc.get_or_insert_text("t");
    let mut txn = doc.transact_mut();
    text.insert_embed(&mut txn, 0, "ab");
    text.insert(&mut txn, 1, "x");
    drop(txn);
    let bytes = state(&doc);
    assert_eq!((&bytes["v1"], &bytes["v2"]), (&as_yjs_reads["v1"], &as_yjs_reads["v2"]));
    assert_eq!(runs(&doc, &text), as_yjs_reads["delta"]);
    assert_eq!(json!(text.get_string(&doc.transact())), as_yjs_reads["string"]);
    assert_eq!(json!(text.len(&doc.transact())), as_yjs_reads["length"]);
}

/// A type that was deleted can be written to until it is collected, and the bytes are those of Yjs. After that Yjs counts
/// clocks for content that nobody will see; here nothing is written, and calls that must return something refuse.
#[test]
fn writing_to_a_type_that_is_gone() {
    for case in golden("gone") {
        let (when, kind) = (case["when"].as_str().expect("a word"), case["kind"].as_str().expect("a word"));
        let doc = doc(1, when == "kept");
        let root = doc.get_or_insert_map("m");
        let write: Box<dyn Fn(&mut yatta::TransactionMut<'_>)> = match kind {
            "map" => {
                let map = root.insert(&mut doc.transact_mut(), "k", MapPrelim::default());
                Box::new(move |txn| _ = map.insert(txn, "a", 1))
            }
            "array" => {
                let list = root.insert(&mut doc.transact_mut(), "k", ArrayPrelim::default());
                Box::new(move |txn| list.insert_range(txn, 0, [1, 2]))
            }
            _ => {
                let text = root.insert(&mut doc.transact_mut(), "k", TextPrelim::default());
                Box::new(move |txn| text.insert(txn, 0, "abc"))
            }
        };
        write(&mut doc.transact_mut());
        let mut txn = doc.transact_mut();
        root.remove(&mut txn, "k");
        let updates = Arc::new(Mutex::new(Vec::new()));
        if when == "same transaction" {
            write(&mut txn);
            drop(txn);
        } else {
            drop(txn);
            let before = state(&doc);
            let log = Arc::clone(&updates);
            let listening = doc.observe_update_v1("log", move |_, event| {
                log.lock().expect("no callback panics").push(hex(&event.update));
            });
            listening.expect("no transaction is open");
            let refused = catch_unwind(AssertUnwindSafe(|| write(&mut doc.transact_mut()))).is_err();
            if when == "collected" {
                assert_eq!(refused, kind == "map", "an insertion into a map returns what was inserted");
                assert_eq!(state(&doc), before);
                assert_ne!(before["v1"], case["v1"], "Yjs has counted on");
                assert!(updates.lock().expect("no callback panics").is_empty());
                let peer = self::doc(2, false);
                let update = unhex(case["v1"].as_str().expect("an update"));
                peer.transact_mut()
                    .apply_update(Update::decode_v1(&update).expect("an update"))
                    .expect("it applies");
                assert_eq!(state(&peer), case["peer"], "what Yjs made of it is read as there");
                continue;
            }
        }
        let bytes = state(&doc);
        assert_eq!((&bytes["v1"], &bytes["v2"]), (&case["v1"], &case["v2"]), "{case}");
        assert_eq!(json!(*updates.lock().expect("no callback panics")), case["updates"], "{case}");
        let peer = self::doc(2, false);
        copy(&doc, &peer);
        assert_eq!(state(&peer), case["peer"], "{case}");
    }
    // With an error where the signature has one.
    let doc = doc(1, false);
    let root = doc.get_or_insert_map("m");
    let map = root.insert(&mut doc.transact_mut(), "k", MapPrelim::default());
    root.remove(&mut doc.transact_mut(), "k");
    assert_eq!(map.try_insert(&mut doc.transact_mut(), "a", 1).err(), Some(EditError::Collected));
}
