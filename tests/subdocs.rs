//! Sub-documents: what a parent tells of them, and what becomes of them. Bytes and events of Yjs stand in the golden
//! vectors and in the cases of kind "subdocs"; here is what those cannot say.

mod common;

use common::json::{Json, hex, unhex};
use std::sync::{Arc, Mutex};
use yatta::types::ToJson;
use yatta::updates::decoder::Decode;
use yatta::updates::encoder::Encode;
use yatta::{
    Any, Array, Doc, Map, MapPrelim, Options, Out, ReadTxn, StateVector, Text, Transact, TransactionMut,
    Update, WriteTxn,
};

type Log = Arc<Mutex<Vec<[Vec<String>; 3]>>>;

/// Notes the guids that were added, removed and loaded.
fn listen(doc: &Doc) -> Log {
    let log = Log::default();
    let noted = Arc::clone(&log);
    doc.observe_subdocs("test", move |_, event| {
        let guids = [event.added(), event.removed(), event.loaded()];
        let guids = guids.map(|docs| docs.map(|doc| doc.guid().to_string()).collect());
        noted.lock().expect("no callback panics").push(guids);
    })
    .expect("subscribing needs no transaction");
    log
}

fn take(log: &Log) -> Vec<[Vec<String>; 3]> {
    std::mem::take(&mut log.lock().expect("no callback panics"))
}

fn event(added: &[&str], removed: &[&str], loaded: &[&str]) -> [Vec<String>; 3] {
    [added, removed, loaded].map(|guids| guids.iter().map(|guid| (*guid).to_owned()).collect())
}

fn with_guid(guid: &str) -> Doc {
    Doc::with_options(Options { guid: guid.into(), ..Options::default() })
}

fn held(doc: &Doc, key: &str) -> Doc {
    let txn = doc.transact();
    let value = txn.get_map("m").and_then(|map| map.get(&txn, key));
    value.unwrap_or_default().cast().expect("a sub-document")
}

fn insert(parent: &Doc, key: &str, child: Doc) -> Doc {
    let map = parent.get_or_insert_map("m");
    map.insert(&mut parent.transact_mut(), key, child)
}

fn copy(from: &Doc, to: &Doc) {
    let update = from.transact().encode_state_as_update_v1(&to.transact().state_vector());
    to.transact_mut().apply_update(Update::decode_v1(&update).expect("our own update")).expect("it applies");
    from.check();
    to.check();
}

#[test]
fn what_was_inserted_is_what_is_held() {
    let parent = Doc::with_client_id(1);
    let child = with_guid("child");
    child.get_or_insert_text("t").push(&mut child.transact_mut(), "hi");
    assert_eq!((child.parent_doc(), child.branch_id()), (None, None));
    let returned = insert(&parent, "d", child.clone());
    assert!(Doc::ptr_eq(&returned, &child) && Doc::ptr_eq(&held(&parent, "d"), &child));
    assert!(child.parent_doc().is_some_and(|found| Doc::ptr_eq(&found, &parent)));
    assert!(child.transact().parent_doc().is_some_and(|found| Doc::ptr_eq(&found, &parent)));
    assert_eq!(child.transact().branch_id(), child.branch_id());
    assert_eq!(child.branch_id().map(|id| id.to_string()), Some("<1#0>".to_owned()));
    assert!(child.transact().store().is_subdoc() && !parent.transact().store().is_subdoc());
    // it writes as its parent does from now on
    assert_eq!(child.client_id(), parent.client_id());
    child.get_or_insert_text("t").push(&mut child.transact_mut(), "!");
    assert_eq!(child.transact().state_vector().get(&parent.client_id()), 1);
    child.check();
    parent.check();
}

#[test]
fn a_remote_one_is_made_once_and_filled_by_its_own_updates() {
    let (a, b) = (Doc::with_client_id(1), Doc::with_client_id(2));
    let child = insert(&a, "d", with_guid("child"));
    child.get_or_insert_map("x").insert(&mut child.transact_mut(), "k", 7);
    let log = listen(&b);
    copy(&a, &b);
    assert_eq!(take(&log), [event(&["child"], &[], &[])]);
    let found = held(&b, "d");
    assert!(Doc::ptr_eq(&found, &held(&b, "d")) && !Doc::ptr_eq(&found, &child));
    assert!(!found.should_load() && child.should_load());
    copy(&child, &found);
    let txn = found.transact();
    assert_eq!(txn.get_map("x").and_then(|map| map.get(&txn, "k")), Some(Out::Any(Any::from(7))));
    assert_eq!(found.to_json(&b.transact()), found.to_json(&txn));
    let shown = b.transact().get_map("m").map(|map| map.to_json(&b.transact()).to_string());
    assert_eq!(shown.as_deref(), Some("{d: {guid: child}}"));
}

#[test]
fn loading_is_told_once() {
    let (a, b) = (Doc::with_client_id(1), Doc::with_client_id(2));
    insert(&a, "d", with_guid("child"));
    copy(&a, &b);
    let log = listen(&b);
    let found = held(&b, "d");
    for _ in 0..2 {
        found.load(&mut b.transact_mut());
    }
    assert!(found.should_load());
    assert_eq!(take(&log), [event(&[], &[], &["child"])]);
    let alone = Doc::new();
    alone.load(&mut b.transact_mut());
    assert_eq!(take(&log), Vec::<[Vec<String>; 3]>::new());
}

#[test]
fn destroying_puts_a_fresh_one_in_the_place() {
    let parent = Doc::with_client_id(1);
    let options = Options { guid: "child".into(), auto_load: true, skip_gc: true, ..Options::default() };
    let child = insert(&parent, "d", Doc::with_options(options));
    let before = parent.transact().encode_state_as_update_v1(&StateVector::default());
    let log = listen(&parent);
    let ends = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&ends);
    child
        .observe_destroy("test", move |_, doc| noted.lock().expect("no panics").push(doc.guid()))
        .expect("subscribing needs no transaction");
    let grandchild = insert(&child, "e", with_guid("grandchild"));
    child.destroy(Some(&mut parent.transact_mut()));
    assert_eq!(take(&log), [event(&["child"], &["child"], &[])]);
    assert_eq!(*ends.lock().expect("no panics"), ["child".into()]);
    let fresh = held(&parent, "d");
    assert!(!Doc::ptr_eq(&fresh, &child));
    assert!(fresh.auto_load() && fresh.skip_gc() && !fresh.should_load());
    assert!(child.parent_doc().is_none() && grandchild.parent_doc().is_none());
    assert!(fresh.parent_doc().is_some_and(|found| Doc::ptr_eq(&found, &parent)));
    assert_eq!(parent.transact().encode_state_as_update_v1(&StateVector::default()), before);
    // what was destroyed is destroyed
    child.destroy(Some(&mut parent.transact_mut()));
    assert_eq!((take(&log).len(), ends.lock().expect("no panics").len()), (0, 1));
    parent.check();
}

#[test]
fn one_that_comes_and_goes_in_a_transaction_is_loaded_at_most() {
    let parent = Doc::with_client_id(1);
    let map = parent.get_or_insert_map("m");
    let log = listen(&parent);
    let child = {
        let mut txn = parent.transact_mut();
        let child = map.insert(&mut txn, "d", with_guid("child"));
        map.remove(&mut txn, "d");
        assert_eq!(txn.subdocs().count(), 0);
        child
    };
    assert_eq!(take(&log), [event(&[], &[], &["child"])]);
    assert!(child.guid().as_ref() == "child");
    parent.check();
}

/// Whoever gets the document of a deleted item first, observers or the event, gets the same.
#[test]
fn a_deleted_one_is_the_same_for_all() {
    let (a, b) = (Doc::with_client_id(1), Doc::with_client_id(2));
    let array = a.get_or_insert_array("l");
    array.insert(&mut a.transact_mut(), 0, with_guid("child"));
    copy(&a, &b);
    let log = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&log);
    b.observe_subdocs("test", move |_, event| {
        noted.lock().expect("no panics").extend(event.removed().cloned())
    })
    .expect("subscribing needs no transaction");
    let copied = b.get_or_insert_array("l");
    let found = copied.get(&b.transact(), 0).and_then(|out| out.cast::<Doc>().ok()).expect("it came along");
    copied.remove(&mut b.transact_mut(), 0);
    // one event of the deletion, one of the destruction that follows, as in Yjs
    let removed = log.lock().expect("no panics");
    assert!(removed.len() == 2 && removed.iter().all(|doc| Doc::ptr_eq(doc, &found)), "{removed:?}");
    assert!(found.parent_doc().is_none());
    b.check();
}

/// Inserted where it may not stand, a document is inserted as another one of its guid.
#[test]
fn a_document_stands_in_one_place_and_never_within_itself() {
    let parent = Doc::with_client_id(1);
    let child = insert(&parent, "d", with_guid("child"));
    let again = insert(&parent, "e", child.clone());
    let inside = insert(&child, "f", parent.clone());
    let own = insert(&child, "g", child.clone());
    for (other, of) in [(&again, &child), (&inside, &parent), (&own, &child)] {
        assert!(!Doc::ptr_eq(other, of) && other.guid() == of.guid(), "{other:?} and {of:?}");
    }
    assert!(parent.parent_doc().is_none());
    assert!(child.parent_doc().is_some_and(|found| Doc::ptr_eq(&found, &parent)));
    parent.check();
    child.check();
}

#[test]
fn a_panic_of_a_callback_goes_on_after_all_is_done() {
    let parent = Doc::with_client_id(1);
    let child = insert(&parent, "d", with_guid("child"));
    child.observe_destroy("test", |_, _| panic!("on purpose")).expect("subscribing needs no transaction");
    let log = listen(&parent);
    let map = parent.get_or_insert_map("m");
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        drop(map.remove(&mut parent.transact_mut(), "d"));
    }));
    assert!(outcome.is_err());
    assert_eq!(take(&log), [event(&[], &["child"], &[]), event(&[], &["child"], &[])]);
    assert!(child.parent_doc().is_none());
    parent.check();
}

/// While somebody writes to a sub-document on this very thread, the parent still does what it must.
#[test]
fn a_parent_does_not_wait_for_its_sub_documents() {
    let parent = Doc::with_client_id(1);
    let child = with_guid("child");
    let text = child.get_or_insert_text("t");
    let mut txn: TransactionMut<'_> = child.transact_mut();
    insert(&parent, "d", child.clone());
    text.push(&mut txn, "as whom it began");
    let map = parent.get_or_insert_map("m");
    map.remove(&mut parent.transact_mut(), "d");
    drop(txn);
    text.push(&mut child.transact_mut(), ", then as its parent");
    let state = child.transact().state_vector();
    assert_eq!((state.len(), state.get(&parent.client_id())), (2, 20));
    child.check();
    parent.check();
}

#[test]
fn all_that_are_held_are_listed() {
    let (a, b) = (Doc::with_client_id(1), Doc::with_client_id(2));
    let array = a.get_or_insert_array("l");
    let nested = array.insert(&mut a.transact_mut(), 0, MapPrelim::default());
    for key in ["x", "y"] {
        nested.insert(&mut a.transact_mut(), key, with_guid(key));
    }
    array.insert(&mut a.transact_mut(), 1, with_guid("z"));
    copy(&a, &b);
    for doc in [&a, &b] {
        let txn = doc.transact();
        let mut guids: Vec<String> = txn.subdoc_guids().map(|guid| guid.to_string()).collect();
        guids.sort();
        assert_eq!(guids, ["x", "y", "z"]);
        assert!(txn.subdocs().all(|sub| sub.parent_doc().is_some_and(|parent| Doc::ptr_eq(&parent, doc))));
    }
    array.remove(&mut a.transact_mut(), 0);
    copy(&a, &b);
    for doc in [&a, &b] {
        assert_eq!(doc.transact().subdoc_guids().map(|guid| guid.to_string()).collect::<Vec<_>>(), ["z"]);
    }
}

#[test]
fn a_collection_is_that_of_the_parent_unless_there_is_one() {
    let named = |name: &str| Options { collection_id: Some(name.into()), ..Options::default() };
    let parent = Doc::with_options(named("papers"));
    assert_eq!(insert(&parent, "d", Doc::new()).collection_id().as_deref(), Some("papers"));
    assert_eq!(
        insert(&parent, "e", Doc::with_options(named("notes"))).collection_id().as_deref(),
        Some("notes")
    );
}

/// Case sub-001, whose documents have `meta`: it is no option of ours, but goes over the wire as it came.
#[test]
fn options_of_others_survive_relaying() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/cases/cases.json");
    let cases = Json::parse(&std::fs::read_to_string(path).expect("the cases")).expect("JSON");
    let case =
        cases.items().iter().find(|case| case.get("id").as_str() == Some("sub-001")).expect("it is there");
    let bytes = |name: &str| unhex(case.get("golden").get(name).as_str().unwrap_or_default()).expect("hex");
    let doc = Doc::with_client_id(9);
    doc.get_or_insert_map("m");
    let log = listen(&doc);
    doc.transact_mut().apply_update(Update::decode_v2(&bytes("u2")).expect("of Yjs")).expect("it applies");
    assert_eq!(take(&log), [event(&["g-1", "g-2"], &[], &["g-1"])]);
    for (key, name) in [("d", "d"), ("e", "e")] {
        let (found, wanted) = (held(&doc, key), case.get("golden").get(name));
        assert_eq!(Some(found.guid().as_ref()), wanted.get("guid").as_str());
        assert_eq!(Some(found.should_load()), wanted.get("shouldLoad").as_bool());
        assert_eq!(Some(found.auto_load()), wanted.get("autoLoad").as_bool());
        assert_eq!(Some(!found.skip_gc()), wanted.get("gc").as_bool());
    }
    let txn = doc.transact();
    let state = StateVector::default();
    assert_eq!(hex(&txn.encode_state_as_update_v1(&state)), hex(&bytes("u")));
    assert_eq!(hex(&txn.encode_state_as_update_v2(&state)), hex(&bytes("u2")));
}

#[test]
fn options_go_over_the_wire() {
    let options = Options { guid: "g".into(), auto_load: true, skip_gc: true, ..Options::default() };
    for decoded in [Options::decode_v1(&options.encode_v1()), Options::decode_v2(&options.encode_v2())] {
        let decoded = decoded.expect("our own bytes");
        assert_eq!((decoded.guid.as_ref(), decoded.auto_load, decoded.skip_gc), ("g", true, true));
        assert!(!decoded.should_load, "whoever reads them has not asked for the document");
    }
}

/// Case sub-006.
#[test]
fn a_parent_frees_its_sub_documents() {
    let parent = Doc::with_client_id(1);
    let alive = Arc::new(());
    for n in 0..1000 {
        let child = with_guid("same");
        let token = Arc::clone(&alive);
        child
            .observe_after_all_transactions("test", move |_| drop(Arc::clone(&token)))
            .expect("no transaction");
        insert(&parent, "d", child);
        // each is let go when the next takes its place
        assert_eq!(Arc::strong_count(&alive), 2, "after {n}");
    }
    parent.check();
    drop(parent);
    assert_eq!(Arc::strong_count(&alive), 1);
}

/// Case api-011: what holds itself prints short.
#[test]
fn printing_does_not_recurse() {
    let parent = with_guid("p");
    let child = insert(&parent, "d", parent.clone());
    for text in
        [format!("{child:?}"), format!("{child}"), format!("{:?}", held(&parent, "d")), parent.to_string()]
    {
        assert!(text.contains("guid") && text.len() < 80, "{text}");
    }
    let txn = parent.transact();
    let map = txn.get_map("m").expect("it was made");
    assert!(map.to_json(&txn).to_string().len() < 80);
}

/// `subdocs_mut` belongs to `WriteTxn`, so that `load` takes whatever writes.
#[test]
fn any_writer_can_ask_to_load() {
    fn load(doc: &Doc, txn: &mut impl WriteTxn) {
        doc.load(txn);
    }
    let (a, b) = (Doc::with_client_id(1), Doc::with_client_id(2));
    insert(&a, "d", with_guid("child"));
    copy(&a, &b);
    let log = listen(&b);
    load(&held(&b, "d"), &mut b.transact_mut());
    assert_eq!(take(&log), [event(&[], &[], &["child"])]);
}
