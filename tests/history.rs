//! Undo, redo, relative positions and snapshots against real Yjs: random scripts (interop/history-scripts.mjs) with the
//! updates, stacks, positions and restored documents that Yjs made of them, byte for byte.
//!
//! Other seeds: `node interop/history-scripts.mjs 1000 500 > /tmp/more.json`, then
//! `YATTA_HISTORY_SCRIPTS=/tmp/more.json cargo test --test history`.

#![expect(clippy::unwrap_used, reason = "a test stops where it fails")]

#[path = "common/hex.rs"]
mod hex;

use hex::{hex, unhex};

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value as Json, json};
use yatta::types::text::{DeltaPrelim, YChange};
use yatta::types::{Attrs, ToJson};
use yatta::undo::{EventKind, Options as UndoOptions, UndoManager};
use yatta::updates::decoder::Decode;
use yatta::updates::encoder::Encode;
use yatta::{
    Any, Array, ArrayPrelim, ArrayRef, Assoc, ClientID, Doc, In, IndexedSequence, Map, MapPrelim, MapRef,
    OffsetKind, Options, Out, ReadTxn, Snapshot, StateVector, StickyIndex, Text, TextPrelim, TextRef,
    Transact, TransactionMut, Update,
};

fn number(json: &Json) -> u32 {
    json.as_u64().unwrap_or_else(|| panic!("{json} is a number")) as u32
}

fn text(json: &Json) -> &str {
    json.as_str().unwrap_or_else(|| panic!("{json} is a string"))
}

fn any(json: &Json) -> Any {
    Any::from_json(&json.to_string()).expect("JSON")
}

fn input(json: &Json) -> In {
    if let Some(map) = json.get("$map") {
        let entries = map.as_object().expect("an object").iter();
        return In::from(entries.map(|(key, value)| (key.as_str(), input(value))).collect::<MapPrelim>());
    }
    if let Some(array) = json.get("$array") {
        return In::from(array.as_array().expect("a list").iter().map(input).collect::<ArrayPrelim>());
    }
    if let Some(string) = json.get("$text") {
        return In::Text(DeltaPrelim::from(TextPrelim::new(text(string))));
    }
    In::Any(any(json))
}

fn attrs(json: &Json) -> Attrs {
    json.as_object()
        .expect("an object")
        .iter()
        .map(|(key, value)| (key.as_str().into(), any(value)))
        .collect()
}

fn plain(value: &Any) -> Json {
    serde_json::to_value(value).expect("JSON")
}

/// Numbers compare by value: 1 and 1.0 are one number in JavaScript.
fn same(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Number(a), Json::Number(b)) => a.as_f64() == b.as_f64(),
        (Json::Array(a), Json::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Json::Object(a), Json::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

/// One peer.
struct Peer {
    doc: Doc,
    undo: UndoManager<()>,
    text: TextRef,
    array: ArrayRef,
    map: MapRef,
}

type Log = Arc<Mutex<Vec<(String, String)>>>;

impl Peer {
    fn new(name: &'static str, script: &Json, clock: &Arc<AtomicU64>, updates: &Log, events: &Log) -> Self {
        let options = Options {
            skip_gc: script["gc"] == false,
            offset_kind: OffsetKind::Utf16,
            ..Options::with_client_id(ClientID::new(if name == "A" { 1 } else { 2 }))
        };
        let doc = Doc::with_options(options);
        let (text, array, map) =
            (doc.get_or_insert_text("t"), doc.get_or_insert_array("a"), doc.get_or_insert_map("m"));
        let log = Arc::clone(updates);
        doc.observe_update_v1("log", move |_, event| {
            log.lock().unwrap().push((name.to_owned(), hex(&event.update)));
        })
        .unwrap();
        let manager = &script["managers"][name];
        let clock = Arc::clone(clock);
        let mut undo = UndoManager::with_options(UndoOptions {
            capture_timeout_millis: 50,
            timestamp: Arc::new(move || clock.load(Ordering::Relaxed)),
            tracked_origins: manager["tracked"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|o| self::text(o).into())
                .collect(),
            ..UndoOptions::default()
        });
        if manager["scope"] == "doc" {
            undo.expand_scope_to_doc(&doc);
        }
        for root in manager["scope"].as_array().into_iter().flatten() {
            match self::text(root) {
                "t" => undo.expand_scope(&doc, &text),
                "a" => undo.expand_scope(&doc, &array),
                _ => undo.expand_scope(&doc, &map),
            }
        }
        undo.set_ignore_remote_map_changes(manager["ignoreRemote"] == true);
        fn kind(kind: EventKind) -> &'static str {
            if kind == EventKind::Undo { "undo" } else { "redo" }
        }
        let log = Arc::clone(events);
        undo.observe_item_added("log", move |_, event| {
            log.lock().unwrap().push((name.to_owned(), format!("added:{}", kind(event.kind()))));
        });
        let log = Arc::clone(events);
        undo.observe_item_updated("log", move |_, event| {
            log.lock().unwrap().push((name.to_owned(), format!("updated:{}", kind(event.kind()))));
        });
        let log = Arc::clone(events);
        undo.observe_item_popped("log", move |_, event| {
            log.lock().unwrap().push((name.to_owned(), format!("popped:{}", kind(event.kind()))));
        });
        let log = Arc::clone(events);
        undo.observe_stack_cleared("log", move |_| {
            log.lock().unwrap().push((name.to_owned(), "cleared".to_owned()));
        });
        Self { doc, undo, text, array, map }
    }

    fn at<T: ReadTxn>(&self, txn: &T, path: &Json) -> Out {
        let path = path.as_array().expect("a path");
        let mut at = match text(&path[0]) {
            "t" => Out::YText(self.text.clone()),
            "a" => Out::YArray(self.array.clone()),
            _ => Out::YMap(self.map.clone()),
        };
        for step in &path[1..] {
            at = match &at {
                Out::YArray(array) => array.get(txn, number(step)),
                Out::YMap(map) => map.get(txn, text(step)),
                other => panic!("no {step} in {other:?}"),
            }
            .unwrap_or_else(|| panic!("nothing at {path:?}"));
        }
        at
    }

    fn edit(&self, txn: &mut TransactionMut<'_>, op: &Json) {
        let index = op.get("index").map_or(0, number);
        match self.at(txn, &op["path"]) {
            Out::YText(target) => match text(&op["do"]) {
                "text.insert" => match op.get("attrs") {
                    None => target.insert(txn, index, text(&op["str"])),
                    Some(set) => target.insert_with_attributes(txn, index, text(&op["str"]), attrs(set)),
                },
                "text.delete" => target.remove_range(txn, index, number(&op["len"])),
                "text.format" => target.format(txn, index, number(&op["len"]), attrs(&op["attrs"])),
                _ => {
                    target.insert_embed(txn, index, any(&op["value"]));
                }
            },
            Out::YArray(target) => match text(&op["do"]) {
                "array.insert" => {
                    for (place, value) in op["values"].as_array().expect("a list").iter().enumerate() {
                        target.insert(txn, index + place as u32, input(value));
                    }
                }
                _ => target.remove_range(txn, index, number(&op["len"])),
            },
            Out::YMap(target) => match text(&op["do"]) {
                "map.set" => {
                    target.insert(txn, text(&op["key"]), input(&op["value"]));
                }
                _ => {
                    target.remove(txn, text(&op["key"]));
                }
            },
            other => panic!("{op} on {other:?}"),
        }
    }

    fn json(&self) -> Json {
        read_json(&self.doc)
    }

    fn state(&self) -> String {
        hex(&self.doc.transact().encode_state_as_update_v1(&StateVector::default()))
    }
}

fn read_json(doc: &Doc) -> Json {
    let (text, array, map) =
        (doc.get_or_insert_text("t"), doc.get_or_insert_array("a"), doc.get_or_insert_map("m"));
    let mut txn = doc.transact_mut();
    let runs = text.diff_range(&mut txn, None, None, YChange::identity);
    let delta = delta(&txn, runs);
    json!({ "t": delta, "a": plain(&array.to_json(&txn)), "m": plain(&map.to_json(&txn)) })
}

fn delta<T: ReadTxn>(txn: &T, runs: Vec<yatta::types::text::Diff<YChange>>) -> Json {
    let part = |run: yatta::types::text::Diff<YChange>| {
        let mut attributes = serde_json::Map::new();
        for (key, value) in run.attributes.into_iter().flat_map(|attributes| *attributes) {
            attributes.insert(key.to_string(), plain(&value));
        }
        if let Some(change) = run.ychange {
            let kind = if change.kind == yatta::types::text::ChangeKind::Added { "added" } else { "removed" };
            attributes.insert(
                "ychange".to_owned(),
                json!({ "type": kind, "client": change.id.client.get(), "clock": change.id.clock }),
            );
        }
        let mut part = json!({ "insert": plain(&run.insert.to_json(txn)) });
        if !attributes.is_empty() {
            part["attributes"] = Json::Object(attributes);
        }
        part
    };
    Json::Array(runs.into_iter().map(part).collect())
}

fn offsets(rel: &StickyIndex, peers: &[Peer; 2]) -> Json {
    let at = |peer: &Peer| {
        let txn = peer.doc.transact();
        let index = |offset: Option<yatta::Offset>| offset.map_or(Json::Null, |offset| json!(offset.index));
        json!([index(rel.get_offset(&txn)), index(rel.get_offset_without_undo(&txn))])
    };
    json!([at(&peers[0]), at(&peers[1])])
}

fn snapshot(json: &Json) -> Option<Snapshot> {
    json.as_str().map(|bytes| Snapshot::decode_v1(&unhex(bytes)).expect("a snapshot"))
}

/// The sticky index that a step asks for.
fn stick(peer: &Peer, step: &Json) -> StickyIndex {
    let txn = peer.doc.transact();
    let assoc = if step["assoc"] == 0 { Assoc::After } else { Assoc::Before };
    let index = number(&step["index"]);
    let rel = match peer.at(&txn, &step["path"]) {
        Out::YText(text) => text.sticky_index(&txn, index, assoc),
        Out::YArray(array) => array.sticky_index(&txn, index, assoc),
        other => panic!("a place in {other:?}"),
    };
    rel.expect("within")
}

/// The transaction of a step.
fn begin<'a>(peer: &'a Peer, step: &Json) -> TransactionMut<'a> {
    match step["origin"].as_str() {
        Some(origin) => peer.doc.transact_mut_with(origin),
        None => peer.doc.transact_mut(),
    }
}

/// Plays a script and compares all along; says what is wrong first.
fn play(script: &Json) -> Result<(), String> {
    let clock = Arc::new(AtomicU64::new(1000));
    let (updates, events): (Log, Log) = (Log::default(), Log::default());
    let mut peers = ["A", "B"].map(|name| Peer::new(name, script, &clock, &updates, &events));
    let mut rels: Vec<StickyIndex> = Vec::new();
    for (place, step) in script["steps"].as_array().expect("steps").iter().enumerate() {
        clock.store(u64::from(number(&step["now"])), Ordering::Relaxed);
        updates.lock().unwrap().clear();
        events.lock().unwrap().clear();
        let mine = usize::from(step["doc"] == "B");
        let compare = |what: &str, found: &Json, wanted: &Json| {
            if same(found, wanted) {
                return Ok(());
            }
            Err(format!(
                "step {place} {}: {what}\n  found  {found}\n  wanted {wanted}\n  in {step}",
                step["do"]
            ))
        };
        match text(&step["do"]) {
            "edit" => {
                let peer = &peers[mine];
                let mut txn = begin(peer, step);
                for op in step["ops"].as_array().expect("ops") {
                    peer.edit(&mut txn, op);
                }
            }
            "sync" => {
                let sv = peers[mine].doc.transact().state_vector();
                let update = peers[1 - mine].doc.transact().encode_state_as_update_v1(&sv);
                let peer = &peers[mine];
                let mut txn = begin(peer, step);
                txn.apply_update(Update::decode_v1(&update).expect("an update")).expect("applies");
            }
            "undo" => {
                let done = peers[mine].undo.undo_blocking();
                compare("result", &json!(done), &step["result"])?;
            }
            "redo" => {
                let done = peers[mine].undo.redo_blocking();
                compare("result", &json!(done), &step["result"])?;
            }
            "stop" => peers[mine].undo.reset(),
            "clear" => peers[mine].undo.clear_all(),
            "clearUndo" => peers[mine].undo.clear_undo(),
            "clearRedo" => peers[mine].undo.clear_redo(),
            "rel" => {
                let rel = stick(&peers[mine], step);
                compare("bytes", &json!(hex(&rel.encode_v1())), &step["hex"])?;
                if StickyIndex::decode_v1(&rel.encode_v1()).ok().as_ref() != Some(&rel) {
                    return Err(format!("step {place}: {rel:?} does not survive the wire"));
                }
                rels.push(rel);
                let resolved: Vec<Json> = rels.iter().map(|rel| offsets(rel, &peers)).collect();
                compare("positions", &Json::Array(resolved), &step["resolved"])?;
            }
            "snap" => check_snapshots(&peers[mine], step, &compare)?,
            other => panic!("no step {other}"),
        }
        peers[0].doc.check();
        peers[1].doc.check();
        let found: Vec<Json> =
            updates.lock().unwrap().iter().map(|(name, update)| json!([name, update])).collect();
        compare("updates", &Json::Array(found), &step["updates"])?;
        let found: Vec<Json> =
            events.lock().unwrap().iter().map(|(name, event)| json!(format!("{name} {event}"))).collect();
        compare("events", &Json::Array(found), &step["events"])?;
        let stacks =
            peers.each_ref().map(|peer| json!([peer.undo.undo_stack().len(), peer.undo.redo_stack().len()]));
        compare("stacks", &json!(stacks), &step["stacks"])?;
    }
    for (peer, name) in peers.iter().zip(["A", "B"]) {
        let wanted = &script["final"][name];
        if peer.state() != text(&wanted["update"]) {
            return Err(format!("final {name}: {} instead of {}", peer.state(), wanted["update"]));
        }
        if !same(&peer.json(), &wanted["json"]) {
            return Err(format!("final {name}: {} instead of {}", peer.json(), wanted["json"]));
        }
    }
    Ok(())
}

fn check_snapshots(
    peer: &Peer,
    step: &Json,
    compare: &dyn Fn(&str, &Json, &Json) -> Result<(), String>,
) -> Result<(), String> {
    let taken = peer.doc.transact().snapshot();
    compare("snapshot", &json!(hex(&taken.encode_v1())), &step["hex"])?;
    let (hi, lo) = (snapshot(&step["hi"]), snapshot(&step["lo"]));
    let found = {
        let mut txn = peer.doc.transact_mut();
        let runs = peer.text.diff_range(&mut txn, hi.as_ref(), lo.as_ref(), YChange::identity);
        delta(&txn, runs)
    };
    compare("delta", &found, &step["delta"])?;
    peer.doc.check();
    let old = snapshot(&step["old"]).expect("one is always there");
    let restored = Doc::with_options(Options { offset_kind: OffsetKind::Utf16, ..Options::default() });
    let txn = peer.doc.transact();
    old.restore_into(&txn, &mut restored.transact_mut()).expect("nothing was collected");
    restored.check();
    compare("restored", &read_json(&restored), &step["restored"]["json"])?;
    let update = restored.transact().encode_state_as_update_v1(&StateVector::default());
    compare("restored bytes", &json!(hex(&update)), &step["restored"]["update"])?;
    let entries = old.map_entries(&txn, &peer.map).into_iter().map(|(key, value)| {
        let value = match value {
            Out::Any(any) => plain(&any),
            _ => json!("$type"),
        };
        (key.to_string(), value)
    });
    compare("map", &Json::Object(entries.collect()), &step["map"])?;
    let plain_values = |values: Vec<Out>| -> Vec<Option<Any>> {
        let plain = values.into_iter().map(|value| if let Out::Any(any) = value { Some(any) } else { None });
        plain.collect()
    };
    let wanted = {
        let array = restored.get_or_insert_array("a");
        let txn = restored.transact();
        plain_values(array.iter(&txn).collect())
    };
    let found = plain_values(old.list_values(&txn, &peer.array));
    if found != wanted {
        return Err(format!("list at a snapshot: {found:?} instead of {wanted:?} in {step}"));
    }
    let update = Update::decode_v1(&unhex(text(&step["update"]))).expect("an update");
    compare("contains", &json!(old.contains_update(&update)), &step["contains"])
}

#[test]
fn scripts_give_the_bytes_of_yjs() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/history/scripts.json");
    let path = std::env::var_os("YATTA_HISTORY_SCRIPTS").map_or(own, PathBuf::from);
    let file = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let scripts: Vec<Json> = serde_json::from_str(&file).expect("JSON");
    assert!(!scripts.is_empty(), "{} holds no scripts", path.display());
    let mut failed = Vec::new();
    for script in &scripts {
        match std::panic::catch_unwind(|| play(script)) {
            Ok(Ok(())) => {}
            Ok(Err(why)) => failed.push(format!("seed {}: {why}", script["seed"])),
            Err(_) => failed.push(format!("seed {}: a panic, see above", script["seed"])),
        }
    }
    let shown = failed.iter().take(5).cloned().collect::<Vec<_>>().join("\n");
    assert!(failed.is_empty(), "{} of {} scripts\n{shown}", failed.len(), scripts.len());
}

/// An item that joins one that is kept is kept as a whole: on-demand collection leaves what an undo needs.
#[test]
fn what_is_kept_stays_kept_when_it_joins() {
    let doc = Doc::with_options(Options { skip_gc: true, ..Options::with_client_id(ClientID::new(1)) });
    let text = doc.get_or_insert_text("t");
    text.insert(&mut doc.transact_mut(), 0, "abcd");
    let mut undo = UndoManager::<()>::new();
    undo.expand_scope(&doc, &text);
    text.remove_range(&mut doc.transact_mut_with("untracked"), 0, 2);
    text.remove_range(&mut doc.transact_mut(), 0, 2);
    doc.transact_mut().gc(None);
    assert!(undo.undo_blocking());
    assert_eq!(yatta::GetString::get_string(&text, &doc.transact()), "cd");
    doc.check();
}

/// What is typed behind a kept item is no part of it: deleted in the same transaction, it is collected. Yjs: only what
/// the manager brought back is kept.
#[test]
fn what_is_typed_behind_a_kept_item_is_collected() {
    let doc = Doc::with_client_id(1);
    let text = doc.get_or_insert_text("t");
    let mut undo = UndoManager::<()>::new();
    undo.expand_scope(&doc, &text);
    text.insert(&mut doc.transact_mut(), 0, "ab");
    undo.reset();
    text.remove_range(&mut doc.transact_mut(), 0, 2);
    assert!(undo.undo_blocking());
    let mut txn = doc.transact_mut_with("untracked");
    text.insert(&mut txn, 2, "zz");
    text.remove_range(&mut txn, 2, 2);
    drop(txn);
    let state = doc.transact().encode_state_as_update_v1(&StateVector::default());
    assert!(!state.windows(2).any(|pair| pair == b"zz"), "{state:?}");
    assert_eq!(yatta::GetString::get_string(&text, &doc.transact()), "ab");
    doc.check();
}
