//! What users of yrs suffer from and what we promise instead (the list is in docs/DESIGN.md and the shared reference): a
//! test for each promise that no other file holds.
//!
//! Elsewhere: observers that panic, subscribe and unsubscribe while they are called (`src/types/events/tests.rs`,
//! `tests/subdocs.rs`), delivery in any order (`tests/model.rs`), bad bytes (`tests/malformed.rs`), numbers
//! (`tests/yrs_bytes.rs`, `encoding/tests/any.rs`).

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use yatta::branch::Branch;
use yatta::types::Attrs;
use yatta::undo::UndoManager;
use yatta::updates::decoder::Decode;
use yatta::{
    Any, Array, ClientID, Doc, EditError, GetString, Map, MapPrelim, Observable, ReadTxn, StateVector, Text,
    ToJson, Transact, TransactionAcqError, Update, UpdateEvent, WriteTxn,
};

/// The words of a panic.
fn words(call: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(call)).expect_err("it cannot go on");
    match panic.downcast::<String>() {
        Ok(words) => *words,
        Err(other) => (*other.downcast::<&str>().expect("a panic has words")).to_owned(),
    }
}

/// #537, #329: a transaction within a transaction of the same thread.
#[test]
fn a_thread_does_not_wait_for_itself() {
    let doc = Doc::new();
    let mut txn = doc.transact_mut();
    assert!(matches!(doc.try_transact_mut(), Err(TransactionAcqError::ExclusiveAcqFailed)));
    assert!(matches!(doc.try_transact_mut_with("origin"), Err(TransactionAcqError::ExclusiveAcqFailed)));
    assert!(matches!(doc.try_transact(), Err(TransactionAcqError::SharedAcqFailed)));
    for said in [
        words(|| drop(doc.transact_mut())),
        words(|| drop(doc.transact())),
        words(|| drop(doc.get_or_insert_text("text"))),
    ] {
        assert!(said.contains("this thread has one of the same document open"), "{said}");
    }
    // What is meant: roots come from the transaction that is open, and that is as good as before.
    let text = txn.get_or_insert_text("text");
    text.insert(&mut txn, 0, "fine");
    drop(txn);
    assert_eq!(text.get_string(&doc.transact()), "fine");
    let (first, second) = (doc.transact(), doc.transact());
    assert_eq!(text.len(&first), text.len(&second), "readers do not exclude each other");
}

/// Observers are called in the order of their keys' first subscription; a key that comes again keeps its place.
#[test]
fn observers_have_an_order() {
    let doc = Doc::new();
    let text = doc.get_or_insert_text("text");
    let calls: Arc<Mutex<Vec<String>>> = Arc::default();
    let observe = |key: &'static str, word: &'static str| {
        let noted = Arc::clone(&calls);
        text.observe(key, move |_, _| noted.lock().unwrap().push(format!("type {word}")));
        let noted = Arc::clone(&calls);
        doc.observe_update_v1(key, move |_, _| noted.lock().unwrap().push(format!("doc {word}"))).unwrap();
    };
    for (key, word) in [("c", "1"), ("a", "2"), ("b", "3"), ("a", "two")] {
        observe(key, word);
    }
    text.insert(&mut doc.transact_mut(), 0, "x");
    let expected = ["type 1", "type two", "type 3", "doc 1", "doc two", "doc 3"];
    assert_eq!(*calls.lock().unwrap(), expected);
    assert!(text.unobserve("c") && !text.unobserve("c"));
    assert!(doc.unobserve_update_v1("b").unwrap() && !doc.unobserve_update_v1("b").unwrap());
    calls.lock().unwrap().clear();
    text.insert(&mut doc.transact_mut(), 0, "x");
    assert_eq!(*calls.lock().unwrap(), ["type two", "type 3", "doc 1", "doc two"]);
}

/// #412, #345, #371, #380: an undo manager within a transaction, and one whose future is given up.
#[test]
fn an_undo_manager_can_be_given_up_at_any_time() {
    let doc = Doc::new();
    let text = doc.get_or_insert_text("text");
    let mut manager: UndoManager<()> = UndoManager::new();
    manager.expand_scope(&doc, &text);
    text.insert(&mut doc.transact_mut(), 0, "step");
    assert!(manager.can_undo());
    let txn = doc.transact_mut();
    assert!(manager.try_undo().is_err(), "a transaction is open");
    let said = words(|| assert!(manager.undo_blocking()));
    assert!(said.contains("transaction"), "{said}");
    {
        let mut undo = pin!(manager.undo());
        let mut context = Context::from_waker(Waker::noop());
        assert!(matches!(undo.as_mut().poll(&mut context), Poll::Pending));
    }
    assert!(manager.can_undo(), "the step is still there");
    drop(txn);
    assert!(manager.try_undo().unwrap());
    assert_eq!(text.get_string(&doc.transact()), "");
    assert!(manager.try_redo().unwrap());
    // Dropped while a transaction lives, and while the document is gone.
    let txn = doc.transact_mut();
    drop(manager);
    drop(txn);
    let mut manager: UndoManager<()> = UndoManager::new();
    manager.expand_scope(&doc, &text);
    text.insert(&mut doc.transact_mut(), 0, "step");
    doc.destroy(None);
    assert!(!manager.can_undo(), "a destroyed document is forgotten");
    assert!(!manager.try_undo().unwrap());
    drop((doc, text));
    assert!(!manager.undo_blocking());
}

/// Calls that can return an error do, with the index and the length, and change nothing.
#[test]
fn wrong_indices_are_errors() {
    let doc = Doc::new();
    let (text, array) = (doc.get_or_insert_text("text"), doc.get_or_insert_array("array"));
    let mut txn = doc.transact_mut();
    text.insert(&mut txn, 0, "abc");
    array.insert_range(&mut txn, 0, [1, 2]);
    drop(txn);
    let before = doc.transact().encode_state_as_update_v1(&StateVector::default());
    let mut txn = doc.transact_mut();
    let bold: Attrs = [("b".into(), Any::from(true))].into_iter().collect();
    let errors = [
        (text.try_insert(&mut txn, 4, "x"), (4, 4, 3)),
        (text.try_remove_range(&mut txn, 2, 2), (2, 4, 3)),
        (text.try_format(&mut txn, 1, u32::MAX, bold), (1, 1 + u64::from(u32::MAX), 3)),
        (array.try_insert(&mut txn, 3, 0).map(drop), (3, 3, 2)),
        (array.try_remove_range(&mut txn, 0, 3), (0, 3, 2)),
    ];
    for (result, (at, until, of)) in errors {
        match result {
            Err(EditError::OutOfBounds { index, end, len }) => assert_eq!((index, end, len), (at, until, of)),
            other => panic!("{other:?} at {at}"),
        }
    }
    assert!(!txn.has_changes());
    drop(txn);
    assert_eq!(doc.transact().encode_state_as_update_v1(&StateVector::default()), before);
    doc.check();
}

/// #361: two peers of one client id. The one that notices chooses another, as Yjs does.
#[test]
fn a_clash_of_client_ids_ends() {
    let (one, two) = (Doc::with_client_id(7), Doc::with_client_id(7));
    one.get_or_insert_text("text").insert(&mut one.transact_mut(), 0, "a");
    let update = one.transact().encode_state_as_update_v1(&StateVector::default());
    two.transact_mut().apply_update(Update::decode_v1(&update).unwrap()).unwrap();
    assert_ne!(two.client_id(), ClientID::new(7), "it had none of its own yet, but the id is in use");
    let text = two.get_or_insert_text("text");
    text.insert(&mut two.transact_mut(), 1, "b");
    let update = two.transact().encode_diff_v1(&one.transact().state_vector());
    one.transact_mut().apply_update(Update::decode_v1(&update).unwrap()).unwrap();
    assert_eq!(one.client_id(), ClientID::new(7));
    assert_eq!(one.get_or_insert_text("text").get_string(&one.transact()), "ab");
}

/// #373, #536 and a RustSec report: types used after their removal, their collection, or the end of their document.
#[test]
fn handles_outlive_what_they_stand_for() {
    let doc = Doc::new();
    let map = doc.get_or_insert_map("map");
    let inner = map.insert(&mut doc.transact_mut(), "key", MapPrelim::from([("a", 1)]));
    map.remove(&mut doc.transact_mut(), "key");
    // Another type takes the place.
    let other = map.insert(&mut doc.transact_mut(), "key", MapPrelim::from([("b", 2)]));
    let mut txn = doc.transact_mut();
    assert_eq!(inner.get(&txn, "a"), None);
    assert_eq!(inner.len(&txn), 0);
    assert!(matches!(inner.try_insert(&mut txn, "a", 3), Err(EditError::Collected)));
    assert_eq!(other.len(&txn), 1, "what took its place is another type");
    drop(txn);
    let branch: &Branch = inner.as_ref();
    assert!(branch.is_deleted());
    let elsewhere = Doc::new();
    assert_eq!(map.len(&elsewhere.transact()), 0, "a handle says nothing of another document");
    drop(doc);
    inner.observe("key", |_, _| {});
    assert!(inner.unobserve("key"));
}

/// An update of one client: an array in the root `a`, in that an array, and so on.
fn nested_arrays(depth: u32) -> Vec<u8> {
    let mut update = Vec::new();
    let var = |update: &mut Vec<u8>, mut value: u32| {
        while value >= 0x80 {
            update.push(value as u8 | 0x80);
            value >>= 7;
        }
        update.push(value as u8);
    };
    update.push(1);
    var(&mut update, depth);
    update.extend([1, 0]);
    update.extend([7, 1, 1, b'a', 0]);
    for parent in 0..depth - 1 {
        update.extend([7, 0, 1]);
        var(&mut update, parent);
        update.push(0);
    }
    update.push(0);
    update
}

#[test]
fn types_nested_deeper_than_the_stack_are_read_as_far_as_a_value_may_be_deep() {
    let depth_of = |mut json: Any| {
        let mut depth = 0;
        while let Any::Array(inner) = &json {
            depth += 1;
            let Some(first) = inner.first().cloned() else { break };
            json = first;
        }
        depth
    };
    for (depth, expected) in [(3, 4), (1000, 1001), (200_000, 3584)] {
        let update = Update::decode_v1(&nested_arrays(depth)).expect("an update");
        let doc = Doc::new();
        let array = doc.get_or_insert_array("a");
        doc.transact_mut().apply_update(update).expect("nothing is missing");
        assert_eq!(depth_of(array.to_json(&doc.transact())), expected, "{depth} arrays in the root");
    }
}

/// What a callback owns may end other subscriptions when it is let go, also if that happens while it is called.
#[test]
fn a_callback_that_ends_itself_may_own_other_subscriptions() {
    struct Other(Doc);
    impl Drop for Other {
        fn drop(&mut self) {
            self.0.unobserve_update_v1("other").expect("never refused");
        }
    }
    let doc = Doc::new();
    let calls = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&calls);
    doc.observe_update_v1("other", move |_, _: &UpdateEvent| {
        counter.fetch_add(1, Ordering::Relaxed);
    })
    .expect("never refused");
    let (own, owned) = (doc.clone(), Other(doc.clone()));
    doc.observe_update_v1("once", move |_, _: &UpdateEvent| {
        let _owned = &owned;
        own.unobserve_update_v1("once").expect("never refused");
    })
    .expect("never refused");
    let text = doc.get_or_insert_text("text");
    for _ in 0..3 {
        text.push(&mut doc.transact_mut(), "a");
    }
    assert_eq!(calls.load(Ordering::Relaxed), 1, "both subscriptions ended with the first update");
}

/// yrs forgets what is written after an explicit commit: no peer hears of it.
#[test]
fn what_is_written_after_a_commit_is_a_transaction_of_its_own() {
    let doc = Doc::with_client_id(1);
    let text = doc.get_or_insert_text("t");
    let updates = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&updates);
    doc.observe_update_v1("log", move |_, event| log.lock().unwrap().push(event.update.clone())).unwrap();
    let told = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&told);
    text.observe("count", move |_, _| {
        count.fetch_add(1, Ordering::Relaxed);
    });
    let begun = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&begun);
    doc.observe_before_transaction("count", move |_| {
        count.fetch_add(1, Ordering::Relaxed);
    })
    .unwrap();

    let mut txn = doc.transact_mut_with("me");
    text.insert(&mut txn, 0, "one two");
    txn.commit();
    let first = txn.encode_update_v1();
    txn.commit();
    assert!(txn.has_changes(), "what was done can be asked for until something else is written");
    text.remove_range(&mut txn, 0, 4);
    assert_eq!(txn.origin(), Some(&"me".into()));
    drop(txn);
    doc.check();

    let mut txn = doc.transact_mut();
    text.push(&mut txn, "!");
    txn.commit();
    drop(txn);

    let updates = updates.lock().unwrap();
    assert_eq!(updates[0], first);
    assert_eq!((updates.len(), told.load(Ordering::Relaxed), begun.load(Ordering::Relaxed)), (3, 3, 3));
    let peer = Doc::with_client_id(2);
    let copy = peer.get_or_insert_text("t");
    for update in updates.iter() {
        peer.transact_mut().apply_update(Update::decode_v1(update).unwrap()).unwrap();
    }
    assert_eq!(copy.get_string(&peer.transact()), "two!");
}
