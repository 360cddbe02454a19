//! A document that already holds something of every kind, and a reader of everything in a document.

use std::sync::Arc;

use yatta::types::text::YChange;
use yatta::types::{Attrs, Event, ToJson};
use yatta::undo::Options as UndoOptions;
use yatta::updates::decoder::Decode;
use yatta::{
    Any, Array, ArrayPrelim, ArrayRef, ClientID, DeepObservable, Doc, GetString, Map, MapPrelim, MapRef,
    Observable, OffsetKind, Options, Out, ReadTxn, StateVector, Text, TextPrelim, TextRef, Transact,
    TransactionMut, UndoManager, Update, WriteTxn, Xml, XmlElementPrelim, XmlFragment, XmlFragmentRef,
    XmlOut, XmlTextPrelim, any,
};

use super::bytes::read_v2;

/// The client of the documents here; inputs made by the seeds use small numbers too.
pub(super) const CLIENT: u64 = 3;

/// The roots that documents here define.
#[derive(Clone)]
pub(super) struct Roots {
    pub(super) text: TextRef,
    pub(super) array: ArrayRef,
    pub(super) map: MapRef,
    pub(super) xml: XmlFragmentRef,
}

/// A document with the roots of the seeds defined.
pub(super) fn empty(client: u64, gc: bool) -> (Doc, Roots) {
    let mut options = Options::with_client_id(ClientID::new(client));
    options.offset_kind = OffsetKind::Utf16;
    options.skip_gc = !gc;
    let doc = Doc::with_options(options);
    let mut txn = doc.transact_mut();
    let roots = Roots {
        text: txn.get_or_insert_text("t"),
        array: txn.get_or_insert_array("a"),
        map: txn.get_or_insert_map("m"),
        xml: txn.get_or_insert_xml_fragment("x"),
    };
    drop(txn);
    (doc, roots)
}

/// A document that holds something of every kind, made by two clients, with deletions.
pub(super) fn filled(gc: bool) -> (Doc, Roots) {
    let (doc, roots) = empty(CLIENT, gc);
    let (other, theirs) = empty(1, true);
    edit(&mut other.transact_mut(), &theirs);
    let state = other.transact().encode_state_as_update_v1(&StateVector::default());
    let update = Update::decode_v1(&state).expect("the state of a document reads");
    doc.transact_mut().apply_update(update).expect("the state of a document applies");
    edit(&mut doc.transact_mut(), &roots);
    let mut txn = doc.transact_mut();
    roots.text.remove_range(&mut txn, 2, 4);
    roots.array.remove_range(&mut txn, 1, 2);
    roots.map.insert(&mut txn, "k", 2);
    drop(txn);
    (doc, roots)
}

fn edit(txn: &mut TransactionMut<'_>, roots: &Roots) {
    roots.text.insert(txn, 0, "held 中😀 text");
    roots.text.format(txn, 1, 5, Attrs::from([("b".into(), true.into())]));
    roots.text.insert_embed(txn, 3, any!({ "e": 1 }));
    roots.array.insert_range(txn, 0, [1, 2, 3, 4]);
    roots.array.insert(txn, 1, TextPrelim::new("in an array"));
    roots.array.push_back(txn, ArrayPrelim::from([5, 6]));
    roots.map.insert(txn, "k", "v");
    roots.map.insert(txn, "n", MapPrelim::from([("x", 1)]));
    let element = roots.xml.insert(txn, 0, XmlElementPrelim::empty("p"));
    element.insert_attribute(txn, "id", "1");
    element.push_back(txn, XmlTextPrelim::new("xml"));
}

/// Both formats of a whole document: equal means unchanged.
pub(super) fn state(doc: &Doc) -> [Vec<u8>; 2] {
    let txn = doc.transact();
    let all = StateVector::default();
    [txn.encode_state_as_update_v1(&all), txn.encode_state_as_update_v2(&all)]
}

/// Observes everything and computes all that observers can ask for.
pub(super) fn observe(doc: &Doc, roots: &Roots) {
    roots.text.observe("fuzz", |txn, event| drop((event.delta(txn).len(), event.path())));
    roots.array.observe("fuzz", |txn, event| drop((event.delta(txn).len(), event.path())));
    roots.map.observe("fuzz", |txn, event| drop((event.keys(txn).len(), event.path())));
    roots.xml.observe("fuzz", |txn, event| drop((event.delta(txn).len(), event.path())));
    roots.text.observe_deep("fuzz deep", |txn, events| events.iter().for_each(|event| ask(txn, event)));
    roots.array.observe_deep("fuzz deep", |txn, events| events.iter().for_each(|event| ask(txn, event)));
    roots.map.observe_deep("fuzz deep", |txn, events| events.iter().for_each(|event| ask(txn, event)));
    roots.xml.observe_deep("fuzz deep", |txn, events| events.iter().for_each(|event| ask(txn, event)));
    doc.observe_update_v1("fuzz", |_, event| {
        Update::decode_v1(&event.update).expect("an emitted update reads");
    })
    .expect("nothing is open");
    doc.observe_update_v2("fuzz", |_, event| {
        drop(read_v2(&event.update));
    })
    .expect("nothing is open");
    doc.observe_subdocs("fuzz", |_, event| {
        assert!(
            event.added().count() + event.loaded().count() + event.removed().count() > 0,
            "an event tells something"
        );
    })
    .expect("nothing is open");
}

fn ask(txn: &TransactionMut<'_>, event: &Event) {
    drop(event.path());
    match event {
        Event::Text(event) => drop(event.delta(txn).len()),
        Event::Array(event) => drop(event.delta(txn).len()),
        Event::Map(event) => drop(event.keys(txn).len()),
        Event::XmlFragment(event) => drop((event.delta(txn).len(), event.keys(txn).len())),
        Event::XmlText(event) => drop((event.delta(txn).len(), event.keys(txn).len())),
        // weak links are a feature
        #[allow(unreachable_patterns, reason = "without the feature these are all")]
        _ => {}
    }
}

/// An undo manager over all roots; every transaction is a step of its own.
pub(super) fn undo_manager(doc: &Doc, roots: &Roots) -> UndoManager {
    let mut manager =
        UndoManager::with_options(UndoOptions { capture_timeout_millis: 0, ..UndoOptions::default() });
    manager.expand_scope(doc, &roots.text);
    manager.expand_scope(doc, &roots.array);
    manager.expand_scope(doc, &roots.map);
    manager.expand_scope(doc, &roots.xml);
    manager
}

/// Reads everything that can be read; returns it in words.
pub(super) fn read<T: ReadTxn>(txn: &T, roots: &Roots) -> String {
    let mut out = String::new();
    for (name, value) in txn.root_refs() {
        out += &format!("{name}: {}\n", sorted(&value.to_json(txn)));
    }
    let runs = roots.text.diff(txn, YChange::identity);
    let runs: Vec<String> =
        runs.iter().map(|run| format!("{} {:?}", shown(txn, &run.insert), run.attributes)).collect();
    out += &format!("{} {}\n{runs:?}\n", roots.text.get_string(txn), roots.text.len(txn));
    let elements: Vec<Out> = roots.array.iter(txn).collect();
    assert_eq!(elements.len(), roots.array.len(txn) as usize, "elements of the array");
    for (index, element) in elements.iter().enumerate() {
        let one = roots.array.get(txn, index as u32);
        assert_eq!(one.map(|one| shown(txn, &one)), Some(shown(txn, element)), "element {index}");
    }
    let mut entries: Vec<(Arc<str>, String)> =
        roots.map.iter(txn).map(|(key, value)| (key.into(), shown(txn, &value))).collect();
    assert_eq!(entries.len(), roots.map.len(txn) as usize, "entries of the map");
    entries.sort();
    out += &format!("{entries:?}\n{}\n", roots.xml.get_string(txn));
    for node in roots.xml.successors(txn) {
        match node {
            XmlOut::Element(node) => {
                let attributes: Vec<_> = node.attributes(txn).map(|(key, _)| key.to_string()).collect();
                out += &format!("{:?} {attributes:?} {}\n", node.try_tag(), node.siblings(txn).count());
            }
            XmlOut::Fragment(node) => out += &node.get_string(txn),
            XmlOut::Text(node) => {
                out += &format!("{} {}\n", node.get_string(txn), node.siblings(txn).count())
            }
        }
    }
    out
}

fn shown<T: ReadTxn>(txn: &T, out: &Out) -> String {
    match out {
        Out::Any(Any::String(text)) => format!("{text:?}"),
        other => sorted(&other.to_json(txn)),
    }
}

/// A value in words, with its keys sorted: replicas agree on entries, not on their order.
pub(super) fn sorted(value: &Any) -> String {
    match value {
        Any::Array(values) => format!("{:?}", values.iter().map(sorted).collect::<Vec<_>>()),
        Any::Map(map) => {
            let mut entries: Vec<_> =
                map.iter().map(|(key, value)| (key.to_string(), sorted(value))).collect();
            entries.sort();
            format!("{entries:?}")
        }
        other => other.to_string(),
    }
}
