//! Tests of the undo manager's own behaviour: observers, metadata, several documents, waiting, dropping. That its results
//! are those of Yjs is the business of tests/history.rs.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use super::{EventKind, Options, StackItem, UndoManager};
use crate::types::{In, ToJson};
use crate::{Any, Array, Doc, GetString, Map, MapPrelim, Out, Text, Transact};

/// A manager of one text whose every change is a step of its own.
fn text_and_manager<M: super::Meta + 'static>() -> (Doc, crate::TextRef, UndoManager<M>) {
    let doc = Doc::with_client_id(1);
    let text = doc.get_or_insert_text("t");
    let mut undo = UndoManager::with_options(Options { capture_timeout_millis: 0, ..Options::default() });
    undo.expand_scope(&doc, &text);
    (doc, text, undo)
}

fn push(doc: &Doc, text: &crate::TextRef, what: &str) {
    text.push(&mut doc.transact_mut(), what);
    doc.check();
}

#[test]
fn metadata_goes_from_added_through_updated_to_popped() {
    let clock = Arc::new(AtomicU64::new(1));
    let now = Arc::clone(&clock);
    let doc = Doc::with_client_id(1);
    let text = doc.get_or_insert_text("t");
    let mut undo: UndoManager<HashMap<&str, u32>> = UndoManager::with_options(Options {
        timestamp: Arc::new(move || now.load(Ordering::Relaxed)),
        ..Options::default()
    });
    undo.expand_scope(&doc, &text);
    undo.observe_item_added("k", |_, event| {
        event.meta_mut().insert("added", 1);
    });
    let target = text.clone();
    undo.observe_item_updated("k", move |txn, event| {
        assert!(event.has_changed(&target) && event.kind() == EventKind::Undo && txn.has_changes());
        *event.meta_mut().entry("updated").or_default() += 1;
    });
    let popped = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&popped);
    undo.observe_item_popped("k", move |_, event| {
        let mut meta: Vec<_> = event.meta().clone().into_iter().collect();
        meta.sort_unstable();
        log.lock().unwrap().push((event.kind(), meta, event.origin().cloned()));
    });
    push(&doc, &text, "a");
    push(&doc, &text, "b");
    push(&doc, &text, "c");
    assert_eq!(undo.undo_stack()[0].meta(), &HashMap::from([("added", 1), ("updated", 2)]));
    assert!(undo.undo_blocking());
    assert_eq!(text.get_string(&doc.transact()), "");
    let origin = Some(undo.as_origin());
    let wanted = [(EventKind::Undo, vec![("added", 1), ("updated", 2)], origin)];
    assert_eq!(*popped.lock().unwrap(), wanted);
    assert!(undo.unobserve_item_popped("k") && !undo.unobserve_item_popped("k"));
}

#[test]
fn steps_are_told_apart_by_time_and_reset() {
    let clock = Arc::new(AtomicU64::new(1000));
    let now = Arc::clone(&clock);
    let doc = Doc::with_client_id(1);
    let text = doc.get_or_insert_text("t");
    let mut undo: UndoManager<()> = UndoManager::with_options(Options {
        capture_timeout_millis: 500,
        timestamp: Arc::new(move || now.load(Ordering::Relaxed)),
        ..Options::default()
    });
    undo.expand_scope(&doc, &text);
    let mut lengths = Vec::new();
    for (pause, reset) in [(0, false), (499, false), (500, false), (1, true), (1, false)] {
        clock.fetch_add(pause, Ordering::Relaxed);
        if reset {
            undo.reset();
        }
        push(&doc, &text, "x");
        lengths.push(undo.undo_stack().len());
    }
    assert_eq!(lengths, [1, 1, 2, 3, 3]);
}

#[test]
fn a_view_of_a_stack_stays_as_it_was() {
    let (doc, text, undo) = text_and_manager::<()>();
    push(&doc, &text, "a");
    let one = undo.undo_stack();
    push(&doc, &text, "b");
    let two = undo.undo_stack();
    assert_eq!((one.len(), two.len()), (1, 2));
    assert_eq!(one[0], two[0]);
    assert!(std::ptr::eq(two, undo.undo_stack()), "nothing changed: the same view");
    assert!(undo.redo_stack().is_empty());
}

#[test]
fn metadata_that_cannot_be_cloned_still_shows_how_many_steps_there_are() {
    let (doc, text, mut undo) = text_and_manager::<AtomicPtr<u8>>();
    push(&doc, &text, "a");
    push(&doc, &text, "b");
    assert!(undo.undo_blocking());
    assert_eq!((undo.undo_stack().len(), undo.redo_stack().len()), (1, 1));
}

#[test]
fn a_future_that_is_dropped_while_it_waits_loses_nothing() {
    let (doc, text, mut undo) = text_and_manager::<()>();
    push(&doc, &text, "a");
    let mut context = Context::from_waker(Waker::noop());
    {
        let open = doc.transact_mut();
        let mut waiting = pin!(undo.undo());
        assert!(matches!(waiting.as_mut().poll(&mut context), Poll::Pending));
        drop(open);
    }
    assert!(undo.can_undo() && !undo.can_redo());
    assert_eq!(pin!(undo.undo()).poll(&mut context), Poll::Ready(true));
    assert_eq!(text.get_string(&doc.transact()), "");
    assert_eq!(pin!(undo.redo()).poll(&mut context), Poll::Ready(true));
    assert_eq!(text.get_string(&doc.transact()), "a");
    doc.check();
}

#[test]
fn an_open_transaction_is_an_error_for_try_and_nothing_for_drop_and_clear() {
    let (doc, text, mut undo) = text_and_manager::<()>();
    push(&doc, &text, "a");
    let mut txn = doc.transact_mut();
    assert!(undo.try_undo().is_err() && undo.try_redo().is_ok_and(|changed| !changed));
    assert!(undo.can_undo());
    undo.clear_all();
    assert!(!undo.can_undo());
    text.push(&mut txn, "b");
    drop(undo);
    drop(txn);
    assert_eq!(text.get_string(&doc.transact()), "ab");
    doc.check();
}

#[test]
fn a_dropped_manager_captures_nothing_and_keeps_no_document() {
    let (doc, text, undo) = text_and_manager::<()>();
    assert!(!doc.inner().events.after_transaction.is_empty());
    drop(undo);
    assert!(doc.inner().events.after_transaction.is_empty());
    push(&doc, &text, "a");
}

#[test]
fn several_documents_share_the_stacks() {
    let (one, two) = (Doc::with_client_id(1), Doc::with_client_id(2));
    let (a, b) = (one.get_or_insert_text("t"), two.get_or_insert_text("t"));
    let mut undo: UndoManager<()> =
        UndoManager::with_options(Options { capture_timeout_millis: 1_000_000, ..Options::default() });
    undo.expand_scope(&one, &a);
    undo.expand_scope(&two, &b);
    assert_eq!(undo.docs().count(), 2);
    push(&one, &a, "1");
    push(&two, &b, "2");
    push(&two, &b, "3");
    push(&one, &a, "4");
    let read = || (a.get_string(&one.transact()), b.get_string(&two.transact()));
    let mut states = Vec::new();
    while undo.undo_blocking() {
        states.push(read());
    }
    let state = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    assert_eq!(states, [state("1", "23"), state("1", ""), state("", "")]);
    assert!(undo.redo_blocking() && undo.redo_blocking());
    assert_eq!(read(), state("1", "23"));
    // A fresh change of one document leaves the redo steps of the other.
    push(&two, &b, "5");
    assert!(undo.can_redo());
    assert!(undo.redo_blocking());
    assert_eq!(read(), state("14", "235"));
}

#[test]
fn a_filter_protects_what_an_undo_would_delete() {
    let doc = Doc::with_client_id(1);
    let list = doc.get_or_insert_array("a");
    let mut undo: UndoManager<()> = UndoManager::new();
    undo.expand_scope(&doc, &list);
    undo.set_delete_filter(|_, item| !matches!(Out::try_from(item.clone()), Ok(Out::YMap(_))));
    {
        let mut txn = doc.transact_mut();
        list.push_back(&mut txn, 1);
        list.push_back(&mut txn, In::from(MapPrelim::default()));
    }
    assert!(undo.undo_blocking());
    assert_eq!(list.to_json(&doc.transact()).to_string(), Any::from_json("[{}]").unwrap().to_string());
    doc.check();
}

#[test]
fn transactions_are_captured_by_origin_and_by_choice() {
    let doc = Doc::with_client_id(1);
    let text = doc.get_or_insert_text("t");
    let mut undo: UndoManager<()> = UndoManager::with_options(Options {
        capture_timeout_millis: 0,
        capture_transaction: Some(Arc::new(|txn| txn.origin().is_none_or(|origin| *origin != "no".into()))),
        ..Options::default()
    });
    undo.expand_scope(&doc, &text);
    undo.include_origin("me");
    undo.include_origin("no");
    for origin in [None, Some("me"), Some("no"), Some("you")] {
        let mut txn = match origin {
            Some(origin) => doc.transact_mut_with(origin),
            None => doc.transact_mut(),
        };
        text.push(&mut txn, origin.unwrap_or("-"));
    }
    assert_eq!(undo.undo_stack().len(), 1);
    undo.exclude_origin("me");
    undo.exclude_origin("no");
    push(&doc, &text, "+");
    assert_eq!(undo.undo_stack().len(), 2);
    while undo.undo_blocking() {}
    assert_eq!(text.get_string(&doc.transact()), "-noyou");
}

#[test]
fn stack_items_survive_serialization_and_work_as_initial_stacks() {
    let (doc, text, undo) = text_and_manager::<()>();
    push(&doc, &text, "a");
    let saved = serde_json::to_string(undo.undo_stack()).unwrap();
    drop(undo);
    let stack: Vec<StackItem<()>> = serde_json::from_str(&saved).unwrap();
    let mut undo: UndoManager<()> =
        UndoManager::with_options(Options { init_undo_stack: stack, ..Options::default() });
    undo.expand_scope(&doc, &text);
    assert!(undo.undo_blocking());
    assert_eq!(text.get_string(&doc.transact()), "");
    assert!(undo.redo_blocking());
    assert_eq!(text.get_string(&doc.transact()), "a");
}

#[test]
fn deep_nesting_is_redone_without_recursion() {
    const DEPTH: usize = 20_000;
    let doc = Doc::with_client_id(1);
    let root = doc.get_or_insert_map("m");
    {
        let mut txn = doc.transact_mut();
        let mut map = root.clone();
        for _ in 0..DEPTH {
            map = map.insert(&mut txn, "k", MapPrelim::default());
        }
    }
    let mut undo: UndoManager<()> = UndoManager::new();
    undo.expand_scope(&doc, &root);
    root.remove(&mut doc.transact_mut(), "k");
    assert!(undo.undo_blocking());
    let txn = doc.transact();
    let mut depth = 0;
    let mut map = root.clone();
    while let Some(Out::YMap(inner)) = map.get(&txn, "k") {
        map = inner;
        depth += 1;
    }
    assert_eq!(depth, DEPTH);
}

#[test]
fn an_observer_that_panics_leaves_the_stacks_whole() {
    let (doc, text, mut undo) = text_and_manager::<Vec<u8>>();
    undo.observe_item_added("k", |_, event| {
        event.meta_mut().push(7);
        panic!("on purpose");
    });
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| push(&doc, &text, "a")));
    assert!(result.is_err());
    undo.unobserve_item_added("k");
    assert_eq!(undo.undo_stack()[0].meta, [7]);
    assert!(undo.undo_blocking());
    assert_eq!(text.get_string(&doc.transact()), "");
    doc.check();
}

/// Yjs: the manager hears of the end of the transaction that was open when it was made.
#[test]
fn a_manager_that_comes_during_a_transaction_captures_it() {
    let doc = Doc::with_client_id(1);
    let text = doc.get_or_insert_text("t");
    text.push(&mut doc.transact_mut(), "abc");
    let mut undo = UndoManager::<()>::with_options(Options::default());
    let mut txn = doc.transact_mut();
    text.remove_range(&mut txn, 0, 3);
    text.push(&mut txn, "came and went");
    text.remove_range(&mut txn, 0, 13);
    undo.expand_scope(&doc, &text);
    drop(txn);
    doc.check();
    assert!(undo.try_undo().expect("nothing is open"));
    assert_eq!(text.get_string(&doc.transact()), "abc");
}
