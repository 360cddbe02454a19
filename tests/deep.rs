//! Types nested far deeper than a stack, made here and by a peer: nothing that walks them recurses without a limit.
//!
//! Everything runs on a thread of 2 MiB, which is what Rust gives a thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use yatta::types::{AsPrelim, ToJson};
use yatta::undo::UndoManager;
use yatta::updates::decoder::Decode;
use yatta::updates::tools::{ObfuscateOptions, decode_update_v1, obfuscate_update_v1};
use yatta::{
    Any, Array, ArrayPrelim, ArrayRef, DeepObservable, Doc, GetString, In, JsonPath, JsonPathEval, Map,
    MapPrelim, MapRef, OffsetKind, Options, Out, ReadTxn, StateVector, Text, TextPrelim, TextRef, Transact,
    TransactionMut, Update, WriteTxn, XmlElementPrelim, XmlElementRef, XmlFragment, XmlFragmentRef,
    XmlTextPrelim, XmlTextRef, merge_updates_v1,
};

const DEPTH: u32 = 100_000;

/// Nests types of one kind in a root, and returns the innermost one.
type Nest = fn(&mut TransactionMut<'_>, u32) -> Out;

fn arrays(txn: &mut TransactionMut<'_>, depth: u32) -> Out {
    let mut at: ArrayRef = txn.get_or_insert_array("a");
    for _ in 0..depth {
        at = at.push_back(txn, ArrayPrelim::default());
    }
    Out::YArray(at)
}

fn maps(txn: &mut TransactionMut<'_>, depth: u32) -> Out {
    let mut at: MapRef = txn.get_or_insert_map("m");
    for _ in 0..depth {
        at = at.insert(txn, "k", MapPrelim::default());
    }
    Out::YMap(at)
}

fn texts(txn: &mut TransactionMut<'_>, depth: u32) -> Out {
    let mut at: TextRef = txn.get_or_insert_text("t");
    for _ in 0..depth {
        at = at.insert_embed(txn, 0, TextPrelim::new("x"));
    }
    Out::YText(at)
}

fn elements(txn: &mut TransactionMut<'_>, depth: u32) -> Out {
    let root: XmlFragmentRef = txn.get_or_insert_xml_fragment("x");
    let mut at: XmlElementRef = root.push_back(txn, XmlElementPrelim::empty("p"));
    for _ in 1..depth {
        at = at.push_back(txn, XmlElementPrelim::empty("p"));
    }
    Out::YXmlElement(at)
}

fn xml_texts(txn: &mut TransactionMut<'_>, depth: u32) -> Out {
    let root: XmlFragmentRef = txn.get_or_insert_xml_fragment("x");
    let mut at: XmlTextRef = root.push_back(txn, XmlTextPrelim::new("x"));
    for _ in 1..depth {
        at = at.insert_embed(txn, 0, XmlTextPrelim::new("x"));
    }
    Out::YXmlText(at)
}

fn mixed(txn: &mut TransactionMut<'_>, depth: u32) -> Out {
    let mut at = Out::YMap(txn.get_or_insert_map("m"));
    for level in 0..depth {
        let next = match level % 4 {
            0 => In::Array(ArrayPrelim::default()),
            1 => In::from(TextPrelim::new("t")),
            2 => In::XmlElement(XmlElementPrelim::empty("p")),
            _ => In::Map(MapPrelim::default()),
        };
        at = match at {
            Out::YMap(map) => map.insert(txn, "k", next),
            Out::YArray(list) => list.push_back(txn, next),
            Out::YText(text) => Out::YXmlElement(text.insert_embed(txn, 0, XmlElementPrelim::empty("p"))),
            Out::YXmlElement(node) => {
                let list: &ArrayRef = node.as_ref();
                list.push_back(txn, next)
            }
            other => panic!("{other:?} was not made here"),
        };
    }
    at
}

fn doc(skip_gc: bool) -> Doc {
    Doc::with_options(Options { skip_gc, offset_kind: OffsetKind::Utf16, ..Options::default() })
}

fn load(update: &[u8], skip_gc: bool) -> Doc {
    let doc = doc(skip_gc);
    doc.transact_mut().apply_update(Update::decode_v1(update).expect("an update")).expect("it applies");
    doc
}

fn state(doc: &Doc) -> Vec<u8> {
    doc.transact().encode_state_as_update_v1(&StateVector::default())
}

/// The roots of a document as values of their kinds.
fn roots(txn: &mut TransactionMut<'_>) -> Vec<Out> {
    let names: Vec<String> = txn.root_refs().map(|(name, _)| name.to_owned()).collect();
    let root = |name: &String| match name.as_str() {
        "a" => Out::YArray(txn.get_or_insert_array("a")),
        "m" => Out::YMap(txn.get_or_insert_map("m")),
        "t" => Out::YText(txn.get_or_insert_text("t")),
        _ => Out::YXmlFragment(txn.get_or_insert_xml_fragment("x")),
    };
    names.iter().map(root).collect()
}

/// Reads all there is to read.
fn read(doc: &Doc) {
    let roots = roots(&mut doc.transact_mut());
    assert_eq!(roots.len(), 1);
    let txn = doc.transact();
    for root in &roots {
        let json = root.to_json(&txn);
        assert_eq!(json.clone(), json);
        drop((json.to_string(), root.to_string(), format!("{root:?}"), root.clone()));
        let mut text = String::new();
        json.to_json(&mut text);
        drop(yatta::encoding::serde::from_any::<Any>(&json));
        let copy = root.as_prelim(&txn);
        assert_eq!(copy.clone(), copy);
        drop(format!("{copy:?}"));
        let other = Doc::new();
        let list = other.get_or_insert_array("copies");
        list.push_back(&mut other.transact_mut(), copy);
        other.check();
        assert!(list.len(&other.transact()) == 1);
        match root {
            Out::YXmlFragment(fragment) => {
                assert!(!fragment.get_string(&txn).is_empty());
                assert!(fragment.successors(&txn).count() > 0);
            }
            Out::YText(text) => {
                assert!(!text.diff(&txn, |_| ()).is_empty());
            }
            _ => {}
        }
    }
    for path in ["$..nothing", "$..*", "$..k", "$..[0]"] {
        _ = txn.json_path(&JsonPath::parse(path).expect("a path")).count();
    }
    drop(txn.snapshot());
    drop((format!("{doc:?}"), doc.to_json(&txn)));
}

/// Writes at the bottom, undoes that, removes everything at the top and undoes that.
fn write(doc: &Doc, innermost: &Out) {
    let roots = roots(&mut doc.transact_mut());
    let root = &roots[0];
    let heard = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&heard);
    let hear = move |depth: usize| count.store(depth, Ordering::Relaxed);
    match root {
        Out::YArray(root) => {
            root.observe_deep("deep", move |_, events| events.iter().for_each(|e| hear(e.path().len())))
        }
        Out::YMap(root) => {
            root.observe_deep("deep", move |_, events| events.iter().for_each(|e| hear(e.path().len())))
        }
        Out::YText(root) => {
            root.observe_deep("deep", move |_, events| events.iter().for_each(|e| hear(e.path().len())))
        }
        Out::YXmlFragment(root) => {
            root.observe_deep("deep", move |_, events| events.iter().for_each(|e| hear(e.path().len())))
        }
        other => panic!("{other:?} is no root"),
    }
    let mut manager: UndoManager<()> = UndoManager::new();
    manager.expand_scope_to_doc(doc);
    match innermost {
        Out::YArray(it) => drop(it.push_back(&mut doc.transact_mut(), 1)),
        Out::YMap(it) => _ = it.insert(&mut doc.transact_mut(), "k", 1),
        Out::YText(it) => it.push(&mut doc.transact_mut(), "end"),
        Out::YXmlElement(it) => drop(it.push_back(&mut doc.transact_mut(), XmlTextPrelim::new("end"))),
        Out::YXmlText(it) => it.push(&mut doc.transact_mut(), "end"),
        other => panic!("{other:?} is not innermost"),
    }
    assert_eq!(heard.load(Ordering::Relaxed), DEPTH as usize, "the path is as long as the nesting is deep");
    manager.reset();
    let before = state(doc);
    match root {
        Out::YArray(root) => root.remove_range(&mut doc.transact_mut(), 0, 1),
        Out::YMap(root) => root.clear(&mut doc.transact_mut()),
        Out::YText(root) => root.remove_range(&mut doc.transact_mut(), 0, u32::MAX),
        Out::YXmlFragment(root) => root.remove_range(&mut doc.transact_mut(), 0, 1),
        other => panic!("{other:?} is no root"),
    }
    doc.check();
    assert!(manager.undo_blocking());
    doc.check();
    assert!(state(doc).len() > before.len());
    assert!(manager.redo_blocking());
    manager.clear_all();
    drop(manager);
    doc.check();
}

fn updates(update: &[u8]) {
    let decoded = decode_update_v1(update).expect("an update");
    drop(decoded.to_string());
    drop(obfuscate_update_v1(update, ObfuscateOptions::default()).expect("an update"));
    let half = Update::decode_v1(update).expect("an update");
    drop((half.to_string(), format!("{half:?}"), half.clone()));
    assert_eq!(merge_updates_v1([update, update]).expect("updates"), update);
}

fn whole_life(nest: Nest, kinds_of_doc: &'static [bool]) {
    let work = move || {
        for &skip_gc in kinds_of_doc {
            let doc = doc(skip_gc);
            let innermost = nest(&mut doc.transact_mut(), DEPTH);
            doc.check();
            let update = state(&doc);
            updates(&update);
            read(&doc);
            // What a peer sends is what was made here.
            let remote = load(&update, skip_gc);
            remote.check();
            assert_eq!(state(&remote), update);
            read(&remote);
            write(&doc, &innermost);
            drop(innermost);
            let update = state(&doc);
            remote
                .transact_mut()
                .apply_update(Update::decode_v1(&update).expect("an update"))
                .expect("it applies");
            remote.check();
            if skip_gc {
                let txn = remote.transact();
                txn.snapshot().create_doc(&txn).expect("all is kept").check();
            }
        }
    };
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(work).expect("a thread");
    thread.join().expect("nothing panics");
}

#[test]
fn arrays_in_arrays() {
    whole_life(arrays, &[false]);
}

#[test]
fn maps_in_maps() {
    whole_life(maps, &[true]);
}

#[test]
fn texts_in_texts() {
    whole_life(texts, &[false]);
}

#[test]
fn elements_in_elements() {
    whole_life(elements, &[false]);
}

#[test]
fn xml_texts_in_xml_texts() {
    whole_life(xml_texts, &[false]);
}

#[test]
fn all_kinds_in_each_other() {
    whole_life(mixed, &[false, true]);
}
