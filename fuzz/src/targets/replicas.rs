//! Typed edits on three replicas: each edit does on its own replica what it does to plain data, and in the end all hold the
//! same, whatever came when and how often.

use std::sync::{Arc, Mutex};

use yatta::types::text::YChange;
use yatta::types::{Attrs, ToJson};
use yatta::updates::decoder::Decode;
use yatta::updates::encoder::Encode;
use yatta::{
    Any, Array, ArrayPrelim, Doc, GetString, Map, MapPrelim, Out, ReadTxn, StateVector, Text, TextPrelim,
    Transact, TransactionMut, UndoManager, Update, Xml, XmlElementPrelim, XmlFragment, XmlOut, XmlTextPrelim,
    merge_updates_v1, merge_updates_v2,
};

use super::fixture::{self, Roots};
use super::input::Input;

const REPLICAS: usize = 3;
/// Longer inputs only make a script of the same steps longer.
const STEPS: usize = 200;
const CLIENTS: [u64; REPLICAS] = [300, 7, 4_000_000_000];
const KEYS: [&str; 4] = ["k", "n", "", "中"];

struct Replica {
    doc: Doc,
    roots: Roots,
    undo: UndoManager,
    /// What this replica has emitted, in both formats.
    sent: Arc<Mutex<Vec<[Vec<u8>; 2]>>>,
    /// Of each other replica, how much of what it sent was delivered once at least.
    received: [usize; REPLICAS],
    /// Sessions begun: each has a client id of its own.
    sessions: u64,
}

impl Replica {
    fn new(place: usize, session: u64) -> Self {
        let (doc, roots) = fixture::empty(CLIENTS[place] + 10 * session, true);
        fixture::observe(&doc, &roots);
        let sent = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&sent);
        doc.observe_update_v1("log", move |_, event| {
            log.lock().expect("no panic while noting").push([event.update.clone(), Vec::new()]);
        })
        .expect("nothing is open");
        let log = Arc::clone(&sent);
        doc.observe_update_v2("log", move |_, event| {
            let mut log = log.lock().expect("no panic while noting");
            log.last_mut().expect("V1 comes before V2")[1].clone_from(&event.update);
        })
        .expect("nothing is open");
        let undo = fixture::undo_manager(&doc, &roots);
        Self { doc, roots, undo, sent, received: [0; REPLICAS], sessions: session }
    }

    fn apply(&self, bytes: &[u8], v2: bool) {
        let update = if v2 { Update::decode_v2(bytes) } else { Update::decode_v1(bytes) };
        let update = update.expect("an honest update reads");
        self.doc.transact_mut_with("remote").apply_update(update).expect("an honest update applies");
        self.doc.check();
    }

    fn content(&self) -> String {
        fixture::read(&self.doc.transact(), &self.roots)
    }
}

/// Runs a script.
pub fn replicas(data: &[u8]) {
    let mut input = Input::new(data);
    let mut all: Vec<Replica> = (0..REPLICAS).map(|place| Replica::new(place, 0)).collect();
    // everything ever sent, by replica, over all its sessions
    let mut sent: Vec<Vec<[Vec<u8>; 2]>> = vec![Vec::new(); REPLICAS];
    for _ in 0..STEPS {
        if input.is_empty() {
            break;
        }
        let step = input.byte();
        let at = usize::from(step) % REPLICAS;
        match step / 3 % 12 {
            0..=4 => edit(&all[at], &mut input),
            5 => undo(&mut all[at], &mut input),
            6 | 7 => deliver(&mut all[at], at, &sent, &mut input),
            8 => merged(&mut all[at], at, &sent, &mut input),
            9 => {
                let from = (at + 1 + input.below(REPLICAS - 1)) % REPLICAS;
                synchronise(&all[from], &all[at], input.byte() & 1 == 1);
            }
            10 => {
                // saved and loaded again, as another client
                let v2 = input.byte() & 1 == 1;
                let state = fixture::state(&all[at].doc);
                let mut next = Replica::new(at, all[at].sessions + 1);
                next.received = all[at].received;
                next.apply(&state[usize::from(v2)], v2);
                next.sent.lock().expect("no panic while noting").clear();
                // What waits is taken in as far as it can be, which may be further than it was: Yjs parks a client's blocks
                // with those that they were looked at for.
                if !all[at].doc.transact().has_missing_updates() {
                    assert_eq!(next.content(), all[at].content(), "a document reads as it was saved");
                }
                all[at] = next;
            }
            _ => transaction(&all[at], &mut input),
        }
        let news = std::mem::take(&mut *all[at].sent.lock().expect("no panic while noting"));
        sent[at].extend(news);
        all[at].doc.check();
    }
    settle(&all);
}

/// Until nothing is left to say, in both formats: a clean-up of formats is news again.
fn settle(all: &[Replica]) {
    for round in 0..8 {
        for from in all {
            for to in all.iter().filter(|to| !Doc::ptr_eq(&from.doc, &to.doc)) {
                synchronise(from, to, round % 2 == 1);
            }
        }
        let news = |replica: &Replica| {
            std::mem::take(&mut *replica.sent.lock().expect("no panic while noting")).len()
        };
        if all.iter().map(news).sum::<usize>() == 0 && round > 0 {
            break;
        }
    }
    for replica in &all[1..] {
        assert!(!replica.doc.transact().has_missing_updates(), "all has come, so nothing waits");
        assert_eq!(
            replica.doc.transact().state_vector(),
            all[0].doc.transact().state_vector(),
            "state vectors"
        );
        assert_eq!(replica.content(), all[0].content(), "content");
        let deleted = replica.doc.transact().snapshot().delete_set;
        assert_eq!(deleted, all[0].doc.transact().snapshot().delete_set, "deletions");
    }
}

fn synchronise(from: &Replica, to: &Replica, v2: bool) {
    let state = to.doc.transact().state_vector().encode_v1();
    let state = StateVector::decode_v1(&state).expect("a state vector reads");
    let txn = from.doc.transact();
    let bytes =
        if v2 { txn.encode_state_as_update_v2(&state) } else { txn.encode_state_as_update_v1(&state) };
    drop(txn);
    to.apply(&bytes, v2);
}

/// One update of another replica, perhaps again, perhaps before its time.
fn deliver(to: &mut Replica, at: usize, sent: &[Vec<[Vec<u8>; 2]>], input: &mut Input<'_>) {
    let from = (at + 1 + input.below(REPLICAS - 1)) % REPLICAS;
    let v2 = usize::from(input.byte() & 1);
    if sent[from].is_empty() {
        return;
    }
    let next = to.received[from].min(sent[from].len() - 1);
    let which = if input.byte() & 3 == 0 { input.below(sent[from].len()) } else { next };
    to.apply(&sent[from][which][v2], v2 == 1);
    to.received[from] = to.received[from].max(which + 1);
}

/// Several updates of another replica as one.
fn merged(to: &mut Replica, at: usize, sent: &[Vec<[Vec<u8>; 2]>], input: &mut Input<'_>) {
    let from = (at + 1 + input.below(REPLICAS - 1)) % REPLICAS;
    let v2 = usize::from(input.byte() & 1);
    if sent[from].is_empty() {
        return;
    }
    let picked: Vec<&Vec<u8>> =
        (0..2 + input.below(4)).map(|_| &sent[from][input.below(sent[from].len())][v2]).collect();
    let merged = if v2 == 1 { merge_updates_v2(picked) } else { merge_updates_v1(picked) };
    to.apply(&merged.expect("honest updates merge"), v2 == 1);
}

fn undo(replica: &mut Replica, input: &mut Input<'_>) {
    let before = replica.content();
    let emitted = replica.sent.lock().expect("no panic while noting").len();
    match input.byte() % 4 {
        0 => drop(replica.undo.redo_blocking()),
        1 if replica.undo.undo_blocking() => {
            assert!(
                replica.sent.lock().expect("no panic while noting").len() > emitted,
                "an undo that did something is told"
            );
            replica.doc.check();
            // with nothing in between, a redo takes the undo back
            if replica.undo.redo_blocking() {
                assert_eq!(
                    text_and_lists(&before),
                    text_and_lists(&replica.content()),
                    "redo takes undo back"
                );
            }
        }
        1 => {}
        2 => replica.undo.reset(),
        _ => drop(replica.undo.undo_blocking()),
    }
}

/// The values of all roots, without attributes.
fn text_and_lists(content: &str) -> Vec<&str> {
    content.lines().take(4).collect()
}

/// One edit in a transaction of its own, mirrored on plain data.
fn edit(replica: &Replica, input: &mut Input<'_>) {
    let Replica { doc, roots, .. } = replica;
    match input.byte() % 8 {
        0 | 1 => text_insert(doc, roots, input),
        2 => text_delete(doc, roots, input),
        3 => array_edit(doc, roots, input),
        4 => map_edit(doc, roots, input),
        5 => text_format(doc, roots, input),
        6 => xml_edit(doc, roots, input),
        _ => nested_edit(doc, roots, input),
    }
}

/// Several edits in one transaction, without the mirror.
fn transaction(replica: &Replica, input: &mut Input<'_>) {
    let Replica { doc, roots, .. } = replica;
    let mut txn = doc.transact_mut();
    for _ in 0..1 + input.below(5) {
        let len = roots.text.len(&txn);
        match input.byte() % 6 {
            0 => roots.text.insert(&mut txn, (len / 2).min(3), "tr"),
            1 if len > 2 => roots.text.remove_range(&mut txn, len - 2, 2),
            2 => drop(roots.map.insert(&mut txn, KEYS[input.below(KEYS.len())], i32::from(input.byte()))),
            3 => drop(roots.map.remove(&mut txn, KEYS[input.below(KEYS.len())])),
            4 => drop(roots.array.push_back(&mut txn, ArrayPrelim::from([1, 2]))),
            _ if roots.array.len(&txn) > 0 => roots.array.remove(&mut txn, 0),
            _ => {}
        }
    }
}

/// The text as characters, of which each embed is one.
fn cells<T: ReadTxn>(txn: &T, roots: &Roots) -> Vec<u16> {
    let mut cells = Vec::new();
    for run in roots.text.diff(txn, YChange::identity) {
        match run.insert {
            Out::Any(Any::String(text)) => cells.extend(text.encode_utf16()),
            _ => cells.push(0),
        }
    }
    cells
}

/// A place that cuts no surrogate pair.
fn boundary(cells: &[u16], input: &mut Input<'_>) -> usize {
    let at = input.below(cells.len() + 1);
    if at < cells.len() && (0xDC00..0xE000).contains(&cells[at]) { at - 1 } else { at }
}

fn text_insert(doc: &Doc, roots: &Roots, input: &mut Input<'_>) {
    let mut txn = doc.transact_mut();
    let mut expected = cells(&txn, roots);
    let at = boundary(&expected, input);
    let text = ["a", "bc", "é中", "😀", "typing"][input.below(5)];
    match input.byte() % 4 {
        0 => roots.text.insert_with_attributes(&mut txn, at as u32, text, attributes(input)),
        1 => {
            roots.text.insert_embed(&mut txn, at as u32, Any::Bool(true));
            expected.insert(at, 0);
            assert_eq!(cells(&txn, roots), expected, "embed at {at}");
            return;
        }
        _ => roots.text.insert(&mut txn, at as u32, text),
    }
    expected.splice(at..at, text.encode_utf16());
    assert_eq!(cells(&txn, roots), expected, "insert {text} at {at}");
}

fn text_delete(doc: &Doc, roots: &Roots, input: &mut Input<'_>) {
    let mut txn = doc.transact_mut();
    let mut expected = cells(&txn, roots);
    let (a, b) = (boundary(&expected, input), boundary(&expected, input));
    let (from, to) = (a.min(b), a.max(b).min(a.min(b) + 20));
    let to = if to < expected.len() && (0xDC00..0xE000).contains(&expected[to]) { to + 1 } else { to };
    roots.text.remove_range(&mut txn, from as u32, (to - from) as u32);
    expected.drain(from..to);
    assert_eq!(cells(&txn, roots), expected, "delete {from}..{to}");
}

fn attributes(input: &mut Input<'_>) -> Attrs {
    let mut attrs = Attrs::default();
    for _ in 0..input.below(3) {
        let value = if input.byte() & 1 == 0 { Any::Bool(true) } else { Any::from("red") };
        attrs.insert(["b", "i", "c"][input.below(3)].into(), value);
    }
    attrs
}

fn text_format(doc: &Doc, roots: &Roots, input: &mut Input<'_>) {
    let mut txn = doc.transact_mut();
    let expected = cells(&txn, roots);
    let (a, b) = (boundary(&expected, input), boundary(&expected, input));
    let (from, to) = (a.min(b), a.max(b));
    let key: Arc<str> = ["b", "i", "c"][input.below(3)].into();
    let value = [Any::Null, Any::Bool(true), Any::from("red")][input.below(3)].clone();
    roots.text.format(
        &mut txn,
        from as u32,
        (to - from) as u32,
        Attrs::from([(Arc::clone(&key), value.clone())]),
    );
    assert_eq!(cells(&txn, roots), expected, "formatting moves nothing");
    let mut at = 0;
    for run in roots.text.diff(&txn, YChange::identity) {
        let len = match &run.insert {
            Out::Any(Any::String(text)) => text.encode_utf16().count(),
            _ => 1,
        };
        if at >= from && at < to {
            let has = run.attributes.as_ref().and_then(|attrs| attrs.get(&key)).cloned().unwrap_or(Any::Null);
            assert_eq!(has, value, "{key} of the run at {at} after formatting {from}..{to}");
        }
        at += len;
    }
}

fn array_edit(doc: &Doc, roots: &Roots, input: &mut Input<'_>) {
    let mut txn = doc.transact_mut();
    let values = |txn: &TransactionMut<'_>| -> Vec<String> {
        roots.array.iter(txn).map(|value| fixture::sorted(&value.to_json(txn))).collect()
    };
    let mut expected = values(&txn);
    let at = input.below(expected.len() + 1);
    match input.byte() % 5 {
        0 if at < expected.len() => {
            let len = (1 + input.below(4)).min(expected.len() - at);
            roots.array.remove_range(&mut txn, at as u32, len as u32);
            expected.drain(at..at + len);
        }
        1 => {
            roots.array.push_back(&mut txn, 9);
            expected.push(fixture::sorted(&Any::from(9)));
        }
        2 => {
            roots.array.insert(&mut txn, at as u32, TextPrelim::new("nested"));
            expected.insert(at, fixture::sorted(&Any::from("nested")));
        }
        3 => {
            let bytes = Any::Buffer(vec![1, 2].into());
            roots.array.insert(&mut txn, at as u32, bytes.clone());
            expected.insert(at, fixture::sorted(&bytes));
        }
        _ => {
            let new = [Any::from(1), Any::Null, Any::from("x")];
            expected.splice(at..at, new.iter().map(fixture::sorted));
            roots.array.insert_range(&mut txn, at as u32, new);
        }
    }
    assert_eq!(values(&txn), expected, "array");
}

fn map_edit(doc: &Doc, roots: &Roots, input: &mut Input<'_>) {
    let mut txn = doc.transact_mut();
    let entries = |txn: &TransactionMut<'_>| -> std::collections::BTreeMap<String, String> {
        roots
            .map
            .iter(txn)
            .map(|(key, value)| (key.to_string(), fixture::sorted(&value.to_json(txn))))
            .collect()
    };
    let mut expected = entries(&txn);
    let key = KEYS[input.below(KEYS.len())];
    match input.byte() % 5 {
        0 => {
            roots.map.remove(&mut txn, key);
            expected.remove(key);
        }
        1 => {
            roots.map.clear(&mut txn);
            expected.clear();
        }
        2 => {
            roots.map.insert(&mut txn, key, MapPrelim::from([("x", 1)]));
            let value = roots.map.get(&txn, key).expect("it was inserted");
            expected.insert(key.to_owned(), fixture::sorted(&value.to_json(&txn)));
        }
        _ => {
            let value = Any::from(i32::from(input.byte()));
            roots.map.insert(&mut txn, key, value.clone());
            expected.insert(key.to_owned(), fixture::sorted(&value));
        }
    }
    assert_eq!(entries(&txn), expected, "map");
}

fn xml_edit(doc: &Doc, roots: &Roots, input: &mut Input<'_>) {
    let mut txn = doc.transact_mut();
    let len = roots.xml.len(&txn);
    let at = input.below(len as usize + 1) as u32;
    match (input.byte() % 4, roots.xml.get(&txn, at)) {
        (0, Some(_)) => {
            roots.xml.remove(&mut txn, at);
            assert_eq!(roots.xml.len(&txn), len - 1, "a child less");
        }
        (1, Some(XmlOut::Element(element))) => {
            element.insert_attribute(&mut txn, "id", "v");
            assert!(element.get_attribute(&txn, "id").is_some(), "the attribute is there");
            element.push_back(&mut txn, XmlTextPrelim::new("t"));
        }
        (2, _) => {
            roots.xml.insert(&mut txn, at, XmlTextPrelim::new("text"));
            assert_eq!(roots.xml.len(&txn), len + 1, "a child more");
        }
        _ => {
            let element = roots.xml.insert(&mut txn, at, XmlElementPrelim::empty("p"));
            assert_eq!(element.get_string(&txn), "<p></p>");
            assert_eq!(roots.xml.len(&txn), len + 1, "a child more");
        }
    }
}

/// An edit in a type within a type.
fn nested_edit(doc: &Doc, roots: &Roots, input: &mut Input<'_>) {
    let mut txn = doc.transact_mut();
    let at = input.below(roots.array.len(&txn) as usize + 1) as u32;
    match roots.array.get(&txn, at).or_else(|| roots.map.get(&txn, KEYS[input.below(KEYS.len())])) {
        Some(Out::YText(text)) => {
            let before = text.get_string(&txn);
            text.push(&mut txn, "more");
            assert_eq!(text.get_string(&txn), before + "more");
        }
        Some(Out::YArray(array)) => {
            let len = array.len(&txn);
            array.insert(&mut txn, len / 2, ArrayPrelim::from([0]));
            assert_eq!(array.len(&txn), len + 1);
        }
        Some(Out::YMap(map)) => {
            map.insert(&mut txn, "y", 5);
            assert_eq!(map.get(&txn, "y").map(|value| value.to_json(&txn)), Some(Any::from(5)));
        }
        _ => drop(roots.array.push_back(&mut txn, TextPrelim::new("new"))),
    }
}
