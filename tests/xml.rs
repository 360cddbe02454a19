//! XML against real Yjs: random scripts of edits (testdata/xml/scripts.json, made by interop/xml-scripts.mjs) give the
//! bytes and the text of Yjs step by step; the golden vectors and cases of XML; and what only the Rust API has.

#![expect(clippy::unwrap_used, reason = "a test stops where it fails")]

#[path = "common/hex.rs"]
mod hex;

use hex::{hex, unhex};

use std::sync::{Arc, Mutex};

use serde_json::Value as Json;
use yatta::types::text::TextRef;
use yatta::types::xml::{XmlDeltaPrelim, XmlHookRef, XmlIn};
use yatta::types::{AsPrelim, Attrs, DefaultPrelim, Delta, TypeRef};
use yatta::updates::decoder::Decode;
use yatta::{
    Any, Array, ArrayPrelim, ArrayRef, Doc, GetString, In, Map, MapRef, OffsetKind, Options, Out, ReadTxn,
    RootRef, SharedRef, StateVector, Text, ToJson, Transact, TransactionMut, Update, WriteTxn, Xml,
    XmlElementPrelim, XmlElementRef, XmlFragment, XmlFragmentPrelim, XmlFragmentRef, XmlOut, XmlTextPrelim,
    XmlTextRef,
};
use yatta::{Assoc, IndexedSequence};

// ---- scripts against Yjs ------------------------------------------------------------------------------------------

/// A document that keeps what it emits.
struct Session {
    doc: Doc,
    v1: Arc<Mutex<Vec<String>>>,
    v2: Arc<Mutex<Vec<String>>>,
}

fn doc(client: u64) -> Doc {
    let mut options = Options::with_client_id(yatta::ClientID::new(client));
    options.offset_kind = OffsetKind::Utf16;
    Doc::with_options(options)
}

impl Session {
    fn new(client: u64) -> Self {
        let (v1, v2) = (Arc::<Mutex<Vec<String>>>::default(), Arc::<Mutex<Vec<String>>>::default());
        let doc = doc(client);
        let (one, two) = (Arc::clone(&v1), Arc::clone(&v2));
        doc.observe_update_v1("test", move |_, event| one.lock().unwrap().push(hex(&event.update))).unwrap();
        doc.observe_update_v2("test", move |_, event| two.lock().unwrap().push(hex(&event.update))).unwrap();
        doc.get_or_insert_xml_fragment("x");
        XmlElementRef::root("e").get_or_create(&mut doc.transact_mut());
        Self { doc, v1, v2 }
    }

    fn texts(&self) -> (String, String) {
        let txn = self.doc.transact();
        let element = XmlElementRef::root("e").get(&txn).expect("made at the start");
        (txn.get_xml_fragment("x").expect("made at the start").get_string(&txn), element.get_string(&txn))
    }
}

/// A value that stands in the file as JSON text.
fn any(json: &Json) -> Any {
    Any::from_json(json.as_str().expect("JSON text")).expect("JSON")
}

/// The entries of an object, in its order.
fn entries(json: &Json) -> impl Iterator<Item = (&str, &Json)> {
    json.as_array().into_iter().flatten().map(|entry| (entry[0].as_str().expect("a key"), &entry[1]))
}

fn str_of<'j>(json: &'j Json, key: &str) -> &'j str {
    json[key].as_str().unwrap_or_else(|| panic!("{key} of {json}"))
}

fn int(json: &Json, key: &str) -> u32 {
    json[key].as_u64().unwrap_or_else(|| panic!("{key} of {json}")) as u32
}

fn attrs(json: &Json) -> Attrs {
    entries(json).map(|(key, value)| (key.into(), any(value))).collect()
}

fn strings(json: &Json) -> indexmap::IndexMap<Arc<str>, String> {
    entries(json).map(|(key, value)| (key.into(), value.as_str().expect("a string").to_owned())).collect()
}

fn build(spec: &Json) -> XmlIn {
    let nodes = |key: &str| spec[key].as_array().into_iter().flatten().map(build).collect::<Vec<_>>();
    if let Some(text) = spec["text"].as_str() {
        return XmlTextPrelim::new(text).into();
    }
    if let Some(delta) = spec["delta"].as_array() {
        let step = |step: &Json| {
            Delta::Inserted(
                In::from(str_of(step, "insert")),
                step.get("attributes").map(|set| Box::new(attrs(set))),
            )
        };
        return XmlDeltaPrelim {
            attributes: strings(&spec["attrs"]),
            delta: delta.iter().map(step).collect(),
        }
        .into();
    }
    if spec.get("frag").is_some() {
        return nodes("frag").into_iter().collect::<XmlFragmentPrelim>().into();
    }
    let mut element = XmlElementPrelim::new(str_of(spec, "el"), nodes("children"));
    element.attributes = strings(&spec["attrs"]);
    element.into()
}

/// The node at a path, as a root or a child.
fn at(txn: &TransactionMut<'_>, path: &Json) -> XmlOut {
    let mut node: Option<XmlOut> = None;
    for step in path.as_array().expect("a path") {
        node = match (node, step.as_str(), step.as_u64()) {
            (None, Some("x"), _) => txn.get_xml_fragment("x").map(XmlOut::Fragment),
            (None, Some("e"), _) => XmlElementRef::root("e").get(txn).map(XmlOut::Element),
            (Some(XmlOut::Fragment(node)), _, Some(index)) => node.get(txn, index as u32),
            (Some(XmlOut::Element(node)), _, Some(index)) => node.get(txn, index as u32),
            other => panic!("{other:?} in {path}"),
        };
        assert!(node.is_some(), "nothing at {step} of {path}");
    }
    node.expect("a path is not empty")
}

fn fragment(node: &XmlOut) -> &XmlFragmentRef {
    match node {
        XmlOut::Fragment(node) => node,
        XmlOut::Element(node) => node.as_ref(),
        XmlOut::Text(_) => panic!("{node:?} is no list"),
    }
}

fn run(txn: &mut TransactionMut<'_>, step: &Json) {
    let node = at(txn, &step["path"]);
    let text = || node.clone().into_xml_text().unwrap_or_else(|| panic!("{step} is of a text"));
    match str_of(step, "op") {
        "insert" => {
            let specs = step["nodes"].as_array().expect("nodes").iter().map(build);
            for (index, spec) in (int(step, "index")..).zip(specs) {
                fragment(&node).insert(txn, index, spec);
            }
        }
        "delete" => fragment(&node).remove_range(txn, int(step, "index"), int(step, "len")),
        "after" => {
            let list = fragment(&node);
            let reference =
                step["reference"].as_u64().map(|index| list.get(txn, index as u32).expect("a child"));
            list.insert_after(txn, reference.as_ref(), build(&step["node"]))
                .expect("the reference is a child");
        }
        "set" | "setNode" => {
            let key = str_of(step, "key");
            let value = match step.get("node") {
                None => In::Any(any(&step["value"])),
                Some(node) => match build(node) {
                    XmlIn::Element(node) => node.into(),
                    XmlIn::Fragment(node) => node.into(),
                    XmlIn::Text(node) => node.into(),
                },
            };
            match &node {
                XmlOut::Element(node) => node.insert_attribute(txn, key, value),
                XmlOut::Text(node) => node.insert_attribute(txn, key, value),
                XmlOut::Fragment(_) => panic!("{step}: no attributes"),
            };
        }
        "unset" => match &node {
            XmlOut::Element(node) => node.remove_attribute(txn, &str_of(step, "key")),
            XmlOut::Text(node) => node.remove_attribute(txn, &str_of(step, "key")),
            XmlOut::Fragment(_) => panic!("{step}: no attributes"),
        },
        "write" => match step.get("attributes") {
            None => text().insert(txn, int(step, "index"), str_of(step, "text")),
            Some(set) => {
                text().insert_with_attributes(txn, int(step, "index"), str_of(step, "text"), attrs(set))
            }
        },
        "embed" => {
            text().insert_embed(txn, int(step, "index"), any(&step["value"]));
        }
        "embedNode" => {
            let XmlIn::Element(element) = build(&step["node"]) else { panic!("{step}: an element") };
            text().insert_embed(txn, int(step, "index"), element);
        }
        "cut" => text().remove_range(txn, int(step, "index"), int(step, "len")),
        "format" => text().format(txn, int(step, "index"), int(step, "len"), attrs(&step["attributes"])),
        other => panic!("no step {other}"),
    }
}

fn label(node: &XmlOut) -> &str {
    match node {
        XmlOut::Element(node) => node.tag(),
        XmlOut::Fragment(_) => "#fragment",
        XmlOut::Text(_) => "#text",
    }
}

/// What can be read of a node without a transaction must be what a walk with one finds.
fn check_relatives(txn: &impl ReadTxn, list: &XmlFragmentRef, parent: &XmlOut) {
    let children: Vec<XmlOut> = list.children(txn).collect();
    assert_eq!(list.first_child().map(|node| node.id()), children.first().map(XmlOut::id));
    assert_eq!(list.len(txn) as usize, children.len());
    for (index, child) in children.iter().enumerate() {
        assert_eq!(list.get(txn, index as u32).map(|node| node.id()), Some(child.id()));
        let found = match child {
            XmlOut::Element(node) => Xml::parent(node),
            XmlOut::Fragment(node) => node.parent(),
            XmlOut::Text(node) => Xml::parent(node),
        };
        assert_eq!(found.map(|node| node.id()), Some(parent.id()));
        if !matches!(child, XmlOut::Text(_)) {
            check_relatives(txn, fragment(child), child);
        }
    }
}

#[test]
fn random_scripts_give_the_bytes_and_text_of_yjs() {
    let file =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/xml/scripts.json")).unwrap();
    let scripts: Vec<Json> = serde_json::from_str(&file).unwrap();
    assert_eq!(scripts.len(), 120);
    for (number, script) in scripts.iter().enumerate() {
        let sessions = [Session::new(1), Session::new(2)];
        for (place, step) in script["steps"].as_array().unwrap().iter().enumerate() {
            let what = format!("script {number}, step {place}: {step}");
            let session = &sessions[int(step, "doc") as usize];
            session.v1.lock().unwrap().clear();
            session.v2.lock().unwrap().clear();
            if step["op"] == "sync" {
                let other = &sessions[1 - int(step, "doc") as usize].doc;
                let state = session.doc.transact().state_vector();
                let update = other.transact().encode_state_as_update_v1(&state);
                session.doc.transact_mut().apply_update(Update::decode_v1(&update).unwrap()).unwrap();
            } else {
                run(&mut session.doc.transact_mut(), step);
            }
            session.doc.check();
            assert_eq!(Json::from(session.v1.lock().unwrap().clone()), step["v1"], "{what}: V1");
            assert_eq!(Json::from(session.v2.lock().unwrap().clone()), step["v2"], "{what}: V2");
            let (x, e) = session.texts();
            assert_eq!((x.as_str(), e.as_str()), (str_of(step, "x"), str_of(step, "e")), "{what}: text");
        }
        for (session, end) in sessions.iter().zip(script["end"].as_array().unwrap()) {
            check_end(session, end, &format!("script {number}"));
        }
    }
}

fn check_end(session: &Session, end: &Json, what: &str) {
    let txn = session.doc.transact();
    assert_eq!(
        hex(&txn.encode_state_as_update_v1(&StateVector::default())),
        str_of(end, "v1"),
        "{what}: state in V1"
    );
    assert_eq!(
        hex(&txn.encode_state_as_update_v2(&StateVector::default())),
        str_of(end, "v2"),
        "{what}: state in V2"
    );
    let list = txn.get_xml_fragment("x").unwrap();
    let tree: Vec<String> = list.successors(&txn).map(|node| label(&node).to_owned()).collect();
    assert_eq!(Json::from(tree), end["tree"], "{what}: tree");
    assert_eq!(list.query_selector_all(&txn, "div").len(), int(end, "query") as usize, "{what}: query");
    assert_eq!(list.query_selector(&txn, "DIV").is_some(), int(end, "query") > 0, "{what}: query of one");
    check_relatives(&txn, &list, &XmlOut::Fragment(list.clone()));
    let mut siblings = Vec::new();
    let mut node = list.first_child();
    while let Some(here) = node {
        siblings.push(label(&here).to_owned());
        node = match here {
            XmlOut::Element(node) => node.siblings(&txn).next(),
            XmlOut::Text(node) => node.siblings(&txn).next(),
            XmlOut::Fragment(_) => None,
        };
    }
    assert_eq!(Json::from(siblings), end["siblings"], "{what}: siblings");
    drop(txn);

    // the state loaded anew, in either format, and the tree copied by hand
    for (enc, key) in [(1, "v1"), (2, "v2")] {
        let copy = doc(3);
        let bytes = unhex(str_of(end, key));
        let update = if enc == 1 { Update::decode_v1(&bytes) } else { Update::decode_v2(&bytes) }.unwrap();
        copy.transact_mut().apply_update(update).unwrap();
        copy.check();
        let txn = copy.transact();
        let list = txn.get_xml_fragment("x");
        let text = list.as_ref().map_or_else(String::new, |list| list.get_string(&txn));
        assert_eq!(text, session.texts().0, "{what}: loaded from {key}");
        if let Some(list) = list {
            check_relatives(&txn, &list, &XmlOut::Fragment(list.clone()));
        }
    }
}

// ---- golden vectors and cases -------------------------------------------------------------------------------------

#[test]
fn the_golden_vectors_read_as_in_yjs() {
    let file = include_str!("../testdata/vectors/yjs-vectors.json");
    let file: Json = serde_json::from_str(file).unwrap();
    let mut seen = 0;
    for vector in file["vectors"].as_array().unwrap() {
        let roots = vector["roots"].as_object().into_iter().flatten();
        let roots: Vec<&String> = roots.filter(|(_, kind)| **kind == "xml").map(|(name, _)| name).collect();
        let Some(name) = roots.first() else { continue };
        for v2 in [false, true] {
            let doc = doc(77);
            let bytes = unhex(str_of(vector, if v2 { "v2" } else { "v1" }));
            let update = if v2 { Update::decode_v2(&bytes) } else { Update::decode_v1(&bytes) }.unwrap();
            doc.transact_mut().apply_update(update).unwrap();
            let list = doc.get_or_insert_xml_fragment(name.as_str());
            doc.check();
            let txn = doc.transact();
            assert_eq!(Json::from(list.get_string(&txn)), vector["expected"][*name]["json"], "{vector}");
            let state = txn.encode_state_as_update_v1(&StateVector::default());
            assert_eq!(hex(&state), str_of(vector, "v1"));
            let state = txn.encode_state_as_update_v2(&StateVector::default());
            assert_eq!(hex(&state), str_of(vector, "v2"));
        }
        seen += 1;
    }
    assert_eq!(seen, 2, "xml_tree and v2_key_column");
}

/// The vector xml_tree, made by hand.
#[test]
fn a_tree_has_the_bytes_of_yjs() {
    let doc = doc(1);
    let x = doc.get_or_insert_xml_fragment("xml");
    let mut txn = doc.transact_mut();
    let mut p = XmlElementPrelim::new("p", [XmlIn::from(XmlTextPrelim::new("hi"))]);
    p.attributes.insert("class".into(), "c1".into());
    let p = x.insert(&mut txn, 0, p);
    x.insert(&mut txn, 1, XmlElementPrelim::empty("div"));
    x.push_back(&mut txn, XmlTextPrelim::new("tail"));
    let text = p.first_child().and_then(XmlOut::into_xml_text).unwrap();
    let bold = Attrs::from_iter([("b".into(), Any::from_json(r#"{"x":"1"}"#).unwrap())]);
    text.format(&mut txn, 0, 2, bold);
    assert_eq!(x.get_string(&txn), r#"<p class="c1"><b x="1">hi</b></p><div></div>tail"#);
    drop(txn);
    doc.check();
    let state = doc.transact().encode_state_as_update_v1(&StateVector::default());
    let wanted = "01090100070103786d6c0301700700010006040001010268692800010005636c617373017702633187010003036469768701\
                  050604000106047461696c4601020162097b2278223a2231227d8601030162046e756c6c00";
    assert_eq!(hex(&state), wanted);
}

/// The case xml-004: a copy is nested as its source. The vector's copy puts children before attributes.
#[test]
fn a_copy_has_the_bytes_of_yjs() {
    let doc = doc(1);
    let x = doc.get_or_insert_xml_fragment("x");
    let mut b = XmlElementPrelim::new("b", [XmlIn::from(XmlTextPrelim::new("bold"))]);
    b.attributes.insert("x".into(), "1".into());
    let mut p = XmlElementPrelim::new("p", [XmlTextPrelim::new("hi").into(), b.into()]);
    p.attributes.insert("k".into(), "v".into());
    let p = x.push_back(&mut doc.transact_mut(), p);
    let copy = p.as_prelim(&doc.transact());
    x.push_back(&mut doc.transact_mut(), copy);
    doc.check();
    let txn = doc.transact();
    assert_eq!(x.get_string(&txn), r#"<p k="v">hi<b x="1">bold</b></p><p k="v">hi<b x="1">bold</b></p>"#);
    let state = txn.encode_state_as_update_v1(&StateVector::default());
    let wanted = "011001000701017803017007000100060400010102686987010103016207000104060400010504626f6c64280001040178017701\
                  3128000100016b01770176870100030170070001\
                  0c060400010d02686987010d03016207000110060400011104626f6c64280001100178017701312800010c016b0177017600";
    assert_eq!(hex(&state), wanted);
}

/// The case xml-008: a root element has no name on the wire.
#[test]
fn a_root_element_is_called_undefined() {
    let doc = doc(1);
    let root = XmlElementRef::root("r").get_or_create(&mut doc.transact_mut());
    root.insert_attribute(&mut doc.transact_mut(), "k", "v");
    root.push_front(&mut doc.transact_mut(), XmlTextPrelim::new("t"));
    doc.check();
    let txn = doc.transact();
    assert_eq!(root.get_string(&txn), r#"<undefined k="v">t</undefined>"#);
    assert_eq!((root.tag().as_ref(), root.try_tag().map(AsRef::as_ref)), ("UNDEFINED", Some("UNDEFINED")));
    let state = txn.encode_state_as_update_v1(&StateVector::default());
    assert_eq!(hex(&state), "0103010028010172016b01770176070101720604000101017400");
    assert_eq!(txn.get("r"), Some(Out::YXmlElement(root)));
}

/// The case xml-009: hook, text, element, fragment, from both formats.
#[test]
fn a_hook_is_read_as_a_map() {
    let bytes = unhex("010301002701036d617004686f6f6b0502686b280001000161017d012701036d617004667261670400");
    let doc = doc(9);
    doc.transact_mut().apply_update(Update::decode_v1(&bytes).unwrap()).unwrap();
    let map = doc.get_or_insert_map("map");
    let txn = doc.transact();
    assert_eq!(map.to_json(&txn), Any::from_json(r#"{"hook":{"a":1},"frag":""}"#).unwrap());
    let hook: MapRef = map.get(&txn, "hook").unwrap().cast().unwrap();
    let hook = XmlHookRef::from(hook.hook().id().get_branch(&txn).unwrap());
    assert_eq!(hook.hook_name().map(AsRef::as_ref), Some("hk"));
    assert_eq!(hook.get(&txn, "a"), Some(Out::Any(1.into())));
    assert_eq!(AsRef::<MapRef>::as_ref(&hook).len(&txn), 1);
    assert_eq!(hook.to_json(&txn), Any::from_json(r#"{"a":1}"#).unwrap());
}

// ---- the Rust API -------------------------------------------------------------------------------------------------

#[test]
fn relatives_are_known_while_a_write_transaction_is_open() {
    let doc = doc(1);
    let x = doc.get_or_insert_xml_fragment("x");
    let mut txn = doc.transact_mut();
    assert!(x.first_child().is_none());
    let b = x.push_back(&mut txn, XmlElementPrelim::empty("b"));
    assert_eq!(x.first_child().unwrap().id(), SharedRef::hook(&b).id().clone());
    let a = x.push_front(&mut txn, XmlElementPrelim::new("a", [XmlTextPrelim::new("t").into()]));
    assert_eq!(x.first_child().and_then(XmlOut::into_xml_element), Some(a.clone()));
    let t = a.first_child().and_then(XmlOut::into_xml_text).unwrap();
    assert_eq!(Xml::parent(&t).and_then(XmlOut::into_xml_element), Some(a.clone()));
    assert_eq!(Xml::parent(&a).and_then(XmlOut::into_xml_fragment), Some(x.clone()));
    assert!(x.parent().is_none());
    x.remove(&mut txn, 0);
    assert_eq!(x.first_child().and_then(XmlOut::into_xml_element), Some(b.clone()));
    // deleted, not yet collected: the handle still stands, and has no children any more
    assert_eq!(a.tag().as_ref(), "a");
    drop(txn);
    doc.check();
    assert!(a.first_child().is_none());
    assert_eq!(a.tag().as_ref(), "a");
    // an edit as a plain list is seen once it is committed
    let list: &ArrayRef = x.as_ref();
    list.remove(&mut doc.transact_mut(), 0);
    assert!(x.first_child().is_none());
    doc.check();
}

#[test]
fn relatives_of_remote_nodes_are_known_at_once() {
    let source = doc(1);
    let x = source.get_or_insert_xml_fragment("x");
    x.push_back(
        &mut source.transact_mut(),
        XmlElementPrelim::new("a", [XmlElementPrelim::empty("b").into()]),
    );
    let state = source.transact().encode_state_as_update_v1(&StateVector::default());

    let target = doc(2);
    let mut txn = target.transact_mut();
    let y = txn.get_or_insert_xml_fragment("x");
    txn.apply_update(Update::decode_v1(&state).unwrap()).unwrap();
    let a = y.first_child().and_then(XmlOut::into_xml_element).unwrap();
    let b = a.first_child().and_then(XmlOut::into_xml_element).unwrap();
    assert_eq!((a.tag().as_ref(), b.tag().as_ref()), ("a", "b"));
    drop(txn);
    target.check();

    // a root that nobody defined, seen first by its innermost node
    let target = doc(3);
    target.transact_mut().apply_update(Update::decode_v1(&state).unwrap()).unwrap();
    let txn = target.transact();
    let inner = txn
        .get_xml_fragment("x")
        .unwrap()
        .successors(&txn)
        .last()
        .and_then(XmlOut::into_xml_element)
        .unwrap();
    assert_eq!(inner.tag().as_ref(), "b");
    let outer = Xml::parent(&inner).and_then(XmlOut::into_xml_element).unwrap();
    assert_eq!(outer.tag().as_ref(), "a");
    assert!(Xml::parent(&outer).and_then(XmlOut::into_xml_fragment).is_some());
    drop(txn);
    target.check();
}

/// A peer may nest nodes as deep as it likes: nothing here may use the stack for it.
#[test]
fn deep_trees_do_not_overflow_the_stack() {
    const DEPTH: usize = 20_000;
    let source = doc(1);
    let x = source.get_or_insert_xml_fragment("x");
    let mut txn = source.transact_mut();
    let mut at = x.push_back(&mut txn, XmlElementPrelim::empty("p"));
    for _ in 1..DEPTH {
        at = at.push_back(&mut txn, XmlElementPrelim::empty("p"));
    }
    drop(txn);
    let state = source.transact().encode_state_as_update_v1(&StateVector::default());

    let target = doc(2);
    target.transact_mut().apply_update(Update::decode_v1(&state).unwrap()).unwrap();
    let y = target.get_or_insert_xml_fragment("x");
    let txn = target.transact();
    assert_eq!(y.get_string(&txn), "<p>".repeat(DEPTH) + &"</p>".repeat(DEPTH));
    assert_eq!(y.successors(&txn).count(), DEPTH);
    let handles: Vec<XmlOut> = y.successors(&txn).collect();
    let mut depth = 0;
    let mut node = y.first_child();
    while let Some(XmlOut::Element(element)) = node {
        depth += 1;
        node = element.first_child();
    }
    assert_eq!(depth, DEPTH);
    drop(txn);
    target.check();
    y.remove(&mut target.transact_mut(), 0);
    target.check();
    assert!(y.first_child().is_none());
    drop(target);
    drop(handles);
}

#[test]
fn handles_of_many_threads_agree() {
    let source = doc(1);
    let x = source.get_or_insert_xml_fragment("x");
    for _ in 0..50 {
        let child = XmlElementPrelim::new("a", [XmlElementPrelim::empty("b").into()]);
        x.push_back(&mut source.transact_mut(), child);
    }
    let state = source.transact().encode_state_as_update_v1(&StateVector::default());
    let target = doc(2);
    target.transact_mut().apply_update(Update::decode_v1(&state).unwrap()).unwrap();
    let walk = || {
        let txn = target.transact();
        let list = txn.get_xml_fragment("x").unwrap();
        for node in list.children(&txn) {
            let node = node.into_xml_element().unwrap();
            let inner = node.first_child().and_then(XmlOut::into_xml_element).unwrap();
            assert_eq!(Xml::parent(&inner).and_then(XmlOut::into_xml_element), Some(node));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(walk);
        }
    });
    target.check();
}

#[test]
fn mistakes_are_errors() {
    let doc = doc(1);
    let x = doc.get_or_insert_xml_fragment("x");
    let mut txn = doc.transact_mut();
    let beyond = x.try_insert(&mut txn, 1, XmlTextPrelim::new("t")).unwrap_err();
    assert_eq!(beyond.to_string(), "1..1 is out of the bounds of a sequence of length 0");
    let beyond = x.try_remove_range(&mut txn, 0, 1).unwrap_err();
    assert_eq!(beyond.to_string(), "0..1 is out of the bounds of a sequence of length 0");
    assert!(!txn.has_changes());
    let a = x.push_back(&mut txn, XmlElementPrelim::empty("a"));
    let inner = a.push_back(&mut txn, XmlElementPrelim::empty("i"));
    let stranger = XmlOut::Element(inner.clone());
    assert!(x.insert_after(&mut txn, Some(&stranger), XmlTextPrelim::new("t")).is_err());
    x.remove(&mut txn, 0);
    drop(txn);
    let mut txn = doc.transact_mut();
    // collected: reads as empty, and cannot be written
    assert_eq!((inner.get_string(&txn).as_str(), inner.len(&txn)), ("", 0));
    assert!(inner.try_insert(&mut txn, 0, XmlTextPrelim::new("t")).is_err());
    assert!(inner.try_insert_attribute(&mut txn, "k", "v").is_err());
    inner.remove_attribute(&mut txn, &"k");
    inner.remove_range(&mut txn, 0, 1);
    assert_eq!(
        inner.siblings(&txn).count() + inner.successors(&txn).count() + inner.children(&txn).count(),
        0
    );
    assert!(!txn.has_changes());
    assert_eq!(Xml::parent(&inner).and_then(XmlOut::into_xml_element), Some(a.clone()));
    drop(a);
    assert!(Xml::parent(&inner).is_none());
}

#[test]
fn conversions_go_both_ways() {
    let doc = doc(1);
    let map = doc.get_or_insert_map("m");
    let mut txn = doc.transact_mut();
    let element: XmlElementRef = map.insert(&mut txn, "e", XmlElementPrelim::empty("E"));
    let list: XmlFragmentRef = map.insert(&mut txn, "f", XmlFragmentPrelim::default());
    let text: XmlTextRef = map.insert(&mut txn, "t", XmlTextPrelim::new("text"));
    assert_eq!(map.get_or_init::<_, XmlTextRef>(&mut txn, "t"), text);
    assert_eq!(map.get_or_init::<_, XmlFragmentRef>(&mut txn, "f"), list);
    assert_eq!(XmlTextRef::default_prelim(), XmlTextPrelim::default());

    for (key, kind) in [("e", "element"), ("f", "fragment"), ("t", "text")] {
        let out = map.get(&txn, key).unwrap();
        let node = XmlOut::try_from(out.clone()).unwrap();
        assert_eq!(Out::from(node.clone()), out);
        assert_eq!(XmlOut::try_from(node.as_ptr()).unwrap().id(), node.id());
        assert_eq!(XmlElementRef::try_from(node.clone()).is_ok(), kind == "element");
        assert_eq!(out.clone().cast::<XmlFragmentRef>().is_ok(), kind == "fragment");
        assert_eq!(node.into_xml_text().is_some(), kind == "text");
    }
    assert!(XmlOut::try_from(Out::from(1)).is_err());
    assert!(XmlOut::try_from(Out::YMap(map.clone())).is_err());

    // one type under several handles
    let plain: &TextRef = text.as_ref();
    plain.push(&mut txn, "!");
    let back: &XmlTextRef = plain.as_ref();
    assert_eq!(*back, text);
    back.insert_attribute(&mut txn, "lang", "en");
    assert_eq!(text.get_attribute(&txn, "lang"), Some(Out::from("en")));
    let bold = Attrs::from_iter([("b".into(), true.into())]);
    text.format(&mut txn, 0, 2, bold);
    assert_eq!((plain.get_string(&txn).as_str(), text.get_string(&txn).as_str()), ("text!", "<b>te</b>xt!"));
    let as_list: &XmlFragmentRef = element.as_ref();
    as_list.push_back(&mut txn, XmlTextPrelim::new("in"));
    let as_array: &ArrayRef = element.as_ref();
    assert_eq!(as_array.len(&txn), 1);
    assert_eq!(element.get_string(&txn), "<e>in</e>");

    // copies, also through `Out` and `In`
    let mut wanted = XmlDeltaPrelim {
        delta: vec![
            Delta::insert_with("te", Attrs::from_iter([("b".into(), true.into())])),
            Delta::insert("xt!"),
        ],
        ..XmlDeltaPrelim::default()
    };
    wanted.attributes.insert("lang".into(), "en".into());
    assert_eq!(text.as_prelim(&txn), wanted);
    let copies = doc_list(&mut txn);
    for key in ["e", "f", "t"] {
        let copy = map.get(&txn, key).unwrap().as_prelim(&txn);
        let out = copies.push_back(&mut txn, copy);
        assert_eq!(out.to_json(&txn), map.get(&txn, key).unwrap().to_json(&txn));
        assert_eq!(out.clone().to_string(&txn), map.get(&txn, key).unwrap().to_string(&txn));
    }
    assert_eq!(copies.to_json(&txn), Any::from_json(r#"["<e>in</e>","","<b>te</b>xt!"]"#).unwrap());
    let kinds = [
        XmlElementRef::type_ref(),
        XmlFragmentRef::type_ref(),
        XmlTextRef::type_ref(),
        XmlHookRef::type_ref(),
    ];
    let wanted =
        [TypeRef::XmlElement("UNDEFINED".into()), TypeRef::XmlFragment, TypeRef::XmlText, TypeRef::XmlHook];
    assert_eq!(kinds, wanted);
    drop(txn);
    doc.check();
}

fn doc_list(txn: &mut TransactionMut<'_>) -> ArrayRef {
    txn.get_or_insert_array("copies")
}

#[test]
fn siblings_and_attributes_are_walked_in_order() {
    let doc = doc(1);
    let x = doc.get_or_insert_xml_fragment("x");
    let mut txn = doc.transact_mut();
    let nodes: Vec<XmlElementRef> =
        ["a", "b", "c", "d", "e"].map(|tag| x.push_back(&mut txn, XmlElementPrelim::empty(tag))).into();
    x.remove(&mut txn, 3);
    let right: Vec<String> = nodes[1].siblings(&txn).map(|node| label(&node).to_owned()).collect();
    let left: Vec<String> = nodes[4].siblings(&txn).rev().map(|node| label(&node).to_owned()).collect();
    assert_eq!(
        (right, left),
        (vec!["c".to_owned(), "e".into()], vec!["c".to_owned(), "b".into(), "a".into()])
    );
    let mut both = nodes[2].siblings(&txn);
    let seen = [both.next(), both.next_back(), both.next_back()]
        .map(|node| node.map(|node| label(&node).to_owned()));
    assert_eq!(seen, [Some("e".to_owned()), Some("c".into()), Some("b".into())]);

    let node = &nodes[0];
    node.insert_attribute(&mut txn, "z", 1);
    node.insert_attribute(&mut txn, "y", true);
    let array = node.insert_attribute(&mut txn, "a", ArrayPrelim::from([1, 2]));
    node.insert_attribute(&mut txn, "z", "new");
    node.remove_attribute(&mut txn, &"y");
    let seen: Vec<(&str, Out)> = node.attributes(&txn).collect();
    assert_eq!(seen, [("z", Out::from("new")), ("a", Out::YArray(array))]);
    assert_eq!(node.get_attribute(&txn, "y"), None);
    assert_eq!(node.get_string(&txn), r#"<a a="[object Object]" z="new"></a>"#);
    drop(txn);
    doc.check();
}

/// What is no XML node, in a list of nodes and elsewhere: as JavaScript turns it into text.
#[test]
fn strange_content_reads_as_in_yjs() {
    let doc = doc(1);
    let x = doc.get_or_insert_xml_fragment("x");
    let list: &ArrayRef = x.as_ref();
    let mut txn = doc.transact_mut();
    list.push_back(&mut txn, "s");
    list.push_back(&mut txn, Any::from_json(r#"[1,null,[2,{}],"q"]"#).unwrap());
    list.push_back(&mut txn, 1.5);
    list.push_back(&mut txn, f64::NEG_INFINITY);
    list.push_back(&mut txn, vec![1_u8, 255]);
    list.push_back(&mut txn, ArrayPrelim::default());
    list.push_back(&mut txn, yatta::TextPrelim::new("plain"));
    x.push_back(&mut txn, XmlElementPrelim::empty("p"));
    // Yjs 13.6.33: ['s', [1, null, [2, {}], 'q'], 1.5, -Infinity, Uint8Array, YArray, YText, YXmlElement]
    assert_eq!(x.get_string(&txn), "s1,,2,[object Object],q1.5-Infinity1,255[object Object]plain<p></p>");
    assert_eq!(x.children(&txn).count(), 1);
    assert_eq!(x.successors(&txn).count(), 1);
    drop(txn);
    assert!(x.first_child().is_none(), "the first element is no node");
    doc.check();
}

#[test]
fn places_in_nodes_stick() {
    let doc = doc(1);
    let x = doc.get_or_insert_xml_fragment("x");
    let mut txn = doc.transact_mut();
    let a = x.push_back(&mut txn, XmlElementPrelim::new("a", [XmlTextPrelim::new("text").into()]));
    let text = a.first_child().and_then(XmlOut::into_xml_text).unwrap();
    let in_text = text.sticky_index(&txn, 2, Assoc::After).unwrap();
    let in_list = x.sticky_index(&txn, 0, Assoc::After).unwrap();
    assert!(a.sticky_index(&txn, 2, Assoc::After).is_none());
    x.push_front(&mut txn, XmlElementPrelim::empty("b"));
    text.insert(&mut txn, 0, ">>");
    assert_eq!(in_list.get_offset(&txn).unwrap().index, 1);
    let found = in_text.get_offset(&txn).unwrap();
    assert_eq!(found.index, 4);
    assert_eq!(XmlOut::try_from(found.branch).unwrap().into_xml_text(), Some(text));
}
