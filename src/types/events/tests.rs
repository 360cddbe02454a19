//! Events against a plain model and against the walk over the whole sequence; the manners of callbacks.
//!
//! The leaves of position trees are small under test, so that short sequences reach the jumps.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use yatta_encoding::{Any, ClientID, Decode};

use super::array::list_changes;
use super::changes::Way;
use super::text::text_delta;
use super::{Change, DeepObservable, EntryChange, Event, Observable};
use crate::block::index::BranchIdx;
use crate::engine::format::attributes_at;
use crate::store::Store;
use crate::transaction::Branch;
use crate::types::array::Array;
use crate::types::{Attrs, Delta, Map, Out, Path, PathSegment, ReadTxn, Text};
use crate::{Doc, GetString, MapPrelim, OffsetKind, Options, StateVector, Transact, TransactionMut, Update};

fn doc(client: u64, offset_kind: OffsetKind) -> Doc {
    Doc::with_options(Options { offset_kind, ..Options::with_client_id(ClientID::new(client)) })
}

/// Brings all that `from` has to `to`.
fn sync(from: &Doc, to: &Doc) {
    let state = to.transact().state_vector();
    let update = from.transact().encode_state_as_update_v1(&state);
    to.transact_mut().apply_update(Update::decode_v1(&update).unwrap()).unwrap();
}

/// The node of a type.
fn branch_of(shared: &impl AsRef<Branch>, txn: &TransactionMut<'_>) -> BranchIdx {
    shared.as_ref().resolve(txn.store_ref()).unwrap()
}

/// A unit of a formatted text: a character or an embedded value, with its attributes.
type Unit = (Out, BTreeMap<Arc<str>, Any>);

/// The visible units of a text.
fn units(store: &Store, branch: BranchIdx) -> Vec<Unit> {
    let mut units = Vec::new();
    let mut at = store.branches[branch].start;
    while let Some(slot) = at.some() {
        let item = &store.items[slot];
        if item.is_visible() {
            let attributes = attributes_at(store, branch, slot);
            let attributes: BTreeMap<_, _> = attributes
                .iter()
                .map(|(key, value)| (Arc::clone(store.key(*key)), value.any().clone()))
                .collect();
            match Out::element(store, item, 0) {
                Some(Out::Any(Any::String(text))) => {
                    let chars = text.chars().map(|char| Out::from(char.to_string()));
                    units.extend(chars.map(|char| (char, attributes.clone())));
                }
                Some(value) => units.push((value, attributes)),
                None => panic!("{item:?} is visible and has no value"),
            }
        }
        at = item.right;
    }
    units
}

/// Applies a delta to plain units.
fn apply_text(before: &[Unit], delta: &[Delta], offset_kind: OffsetKind) -> Vec<Unit> {
    let mut rest = before.iter();
    let mut take = |len: u32| -> Vec<Unit> {
        let mut left = len;
        let mut taken = Vec::new();
        while left > 0 {
            let unit = rest.next().expect("the delta is not longer than the text");
            let width = match &unit.0 {
                Out::Any(Any::String(text)) if offset_kind == OffsetKind::Bytes => text.len(),
                Out::Any(Any::String(text)) => text.encode_utf16().count(),
                _ => 1,
            };
            left = left.checked_sub(width as u32).expect("the delta does not cut characters");
            taken.push(unit.clone());
        }
        taken
    };
    let mut after = Vec::new();
    let plain = |attributes: &Option<Box<Attrs>>| -> BTreeMap<Arc<str>, Any> {
        attributes
            .iter()
            .flat_map(|all| all.iter())
            .map(|(key, any)| (Arc::clone(key), any.clone()))
            .collect()
    };
    for step in delta {
        match step {
            Delta::Inserted(Out::Any(Any::String(text)), attributes) => {
                let chars = text.chars().map(|char| (Out::from(char.to_string()), plain(attributes)));
                after.extend(chars);
            }
            Delta::Inserted(value, attributes) => after.push((value.clone(), plain(attributes))),
            Delta::Deleted(len) => drop(take(*len)),
            Delta::Retain(len, attributes) => {
                for (value, mut set) in take(*len) {
                    set.extend(plain(attributes));
                    set.retain(|_, any| *any != Any::Null);
                    after.push((value, set));
                }
            }
        }
    }
    after.extend(rest.cloned());
    after
}

fn random_attributes(rng: &mut StdRng) -> Attrs {
    let mut attributes = Attrs::default();
    for key in ["b", "i"] {
        if rng.random_range(0..2) == 0 {
            let value = [Any::Null, Any::from(true), Any::from("x")][rng.random_range(0..3)].clone();
            attributes.insert(key.into(), value);
        }
    }
    attributes
}

/// An index in `from..=to` that does not cut a character.
fn boundary(rng: &mut StdRng, units: &[Unit], kind: OffsetKind) -> (u32, u32) {
    let mut places = vec![0];
    for unit in units {
        let width = match &unit.0 {
            Out::Any(Any::String(text)) if kind == OffsetKind::Bytes => text.len(),
            Out::Any(Any::String(text)) => text.encode_utf16().count(),
            _ => 1,
        };
        places.push(places[places.len() - 1] + width as u32);
    }
    let from = rng.random_range(0..places.len());
    let to = rng.random_range(from..places.len().min(from + 6));
    (places[from], places[to] - places[from])
}

fn edit_text(rng: &mut StdRng, doc: &Doc, txn: &mut TransactionMut<'_>, formats: bool) {
    let text = txn.get_text("t").unwrap();
    let branch = branch_of(&text, txn);
    let (index, len) = boundary(rng, &units(txn.store_ref(), branch), doc.offset_kind());
    let word = ["a", "bc", "é", "漢字", "👾", "word "][rng.random_range(0..6)];
    match rng.random_range(0..if formats { 9 } else { 5 }) {
        0..3 => text.insert(txn, index, word),
        3..5 => text.remove_range(txn, index, len),
        5 => text.insert_with_attributes(txn, index, word, random_attributes(rng)),
        6 => drop(text.insert_embed_with_attributes(txn, index, Any::from(7), random_attributes(rng))),
        _ => text.format(txn, index, len, random_attributes(rng)),
    }
}

/// Random edits of two peers; what the observer of the first is told leads from the old content to the new one.
fn text_script(seed: u64, formats: bool, offset_kind: OffsetKind) -> usize {
    let mut rng = StdRng::seed_from_u64(seed);
    let (ours, theirs) = (doc(2, offset_kind), doc(1 + 2 * (seed % 2), offset_kind));
    for doc in [&ours, &theirs] {
        doc.get_or_insert_text("t");
        for _ in 0..rng.random_range(0..40) {
            edit_text(&mut rng, doc, &mut doc.transact_mut(), formats);
        }
    }
    sync(&theirs, &ours);
    let text = ours.get_or_insert_text("t");
    let current =
        |txn: &TransactionMut<'_>, text: &crate::TextRef| units(txn.store_ref(), branch_of(text, txn));
    let model = Arc::new(Mutex::new(current(&ours.transact_mut(), &text)));
    let calls = Arc::new(AtomicUsize::new(0));
    let (seen, counted) = (Arc::clone(&model), Arc::clone(&calls));
    text.observe("model", move |txn, event| {
        let delta = event.delta(txn);
        let branch = branch_of(event.target(), txn);
        for way in [Way::All, Way::Gaps] {
            assert_eq!(delta, text_delta(txn, branch, way), "seed {seed}, {way:?}");
        }
        let mut model = seen.lock().unwrap();
        let after = apply_text(&model, delta, offset_kind);
        assert_eq!(after, current(txn, event.target()), "seed {seed}: {model:?} and {delta:?}");
        *model = after;
        counted.fetch_add(1, Ordering::Relaxed);
    });
    for _ in 0..12 {
        if rng.random_range(0..3) == 0 {
            sync(&ours, &theirs);
            for _ in 0..rng.random_range(1..5) {
                edit_text(&mut rng, &theirs, &mut theirs.transact_mut(), formats);
            }
            sync(&theirs, &ours);
        } else {
            let mut txn = ours.transact_mut();
            for _ in 0..rng.random_range(1..6) {
                edit_text(&mut rng, &ours, &mut txn, formats);
            }
        }
        ours.check();
        assert_eq!(
            *model.lock().unwrap(),
            current(&ours.transact_mut(), &text),
            "seed {seed}: a change went unseen"
        );
    }
    calls.load(Ordering::Relaxed)
}

#[test]
fn text_deltas_lead_from_the_old_content_to_the_new() {
    let mut calls = 0;
    for seed in 0..150 {
        for kind in [OffsetKind::Utf16, OffsetKind::Bytes] {
            calls += text_script(seed, seed % 3 != 0, kind);
        }
    }
    assert!(calls > 2000, "only {calls} events");
}

#[test]
fn array_deltas_lead_from_the_old_content_to_the_new() {
    let mut calls = 0;
    for seed in 0..150 {
        calls += array_script(seed);
    }
    assert!(calls > 1000, "only {calls} events");
}

fn edit_array(rng: &mut StdRng, txn: &mut TransactionMut<'_>) {
    let array = txn.get_array("a").unwrap();
    let len = array.len(txn);
    let index = rng.random_range(0..=len);
    match rng.random_range(0..5) {
        0..2 => drop(array.insert(txn, index, rng.random_range(0..1000))),
        2 => array.insert_range(txn, index, (0..rng.random_range(1..4)).map(|n| n * 1000)),
        _ => array.remove_range(txn, index, rng.random_range(0..=(len - index).min(4))),
    }
}

fn array_script(seed: u64) -> usize {
    let mut rng = StdRng::seed_from_u64(seed);
    let (ours, theirs) = (doc(2, OffsetKind::Bytes), doc(1 + 2 * (seed % 2), OffsetKind::Bytes));
    for doc in [&ours, &theirs] {
        doc.get_or_insert_array("a");
        for _ in 0..rng.random_range(0..50) {
            edit_array(&mut rng, &mut doc.transact_mut());
        }
    }
    sync(&theirs, &ours);
    let array = ours.get_or_insert_array("a");
    let model: Arc<Mutex<Vec<Out>>> = Arc::new(Mutex::new(array.iter(&ours.transact()).collect()));
    let calls = Arc::new(AtomicUsize::new(0));
    let (seen, counted) = (Arc::clone(&model), Arc::clone(&calls));
    array.observe("model", move |txn, event| {
        let delta = event.delta(txn);
        let branch = branch_of(event.target(), txn);
        for way in [Way::All, Way::Gaps] {
            let other = list_changes(txn, branch, way);
            assert_eq!(delta, other.delta, "seed {seed}, {way:?}");
            assert_eq!(
                (event.inserts(txn), event.removes(txn)),
                (&other.added, &other.removed),
                "seed {seed}"
            );
        }
        let mut model = seen.lock().unwrap();
        let mut rest = std::mem::take(&mut *model).into_iter();
        for step in delta {
            match step {
                Change::Added(values) => model.extend(values.iter().cloned()),
                Change::Removed(len) => drop(rest.by_ref().take(*len as usize).collect::<Vec<_>>()),
                Change::Retain(len) => model.extend(rest.by_ref().take(*len as usize)),
            }
        }
        model.extend(rest);
        counted.fetch_add(1, Ordering::Relaxed);
    });
    for _ in 0..12 {
        if rng.random_range(0..3) == 0 {
            sync(&ours, &theirs);
            for _ in 0..rng.random_range(1..5) {
                edit_array(&mut rng, &mut theirs.transact_mut());
            }
            sync(&theirs, &ours);
        } else {
            let mut txn = ours.transact_mut();
            for _ in 0..rng.random_range(1..6) {
                edit_array(&mut rng, &mut txn);
            }
        }
        let now: Vec<Out> = array.iter(&ours.transact()).collect();
        assert_eq!(*model.lock().unwrap(), now, "seed {seed}");
    }
    calls.load(Ordering::Relaxed)
}

#[test]
fn keys_tell_the_net_change_with_old_values() {
    let doc = doc(1, OffsetKind::Bytes);
    let map = doc.get_or_insert_map("m");
    for key in ["same", "gone", "new value"] {
        map.insert(&mut doc.transact_mut(), key, 1);
    }
    let seen: Arc<Mutex<Vec<BTreeMap<String, EntryChange>>>> = Arc::default();
    let calls = Arc::clone(&seen);
    map.observe("keys", move |txn, event| {
        let keys = event.keys(txn).iter().map(|(key, change)| (key.to_string(), change.clone()));
        calls.lock().unwrap().push(keys.collect());
    });
    let mut txn = doc.transact_mut();
    map.insert(&mut txn, "new value", 2);
    map.insert(&mut txn, "new value", 3);
    map.remove(&mut txn, "gone");
    map.insert(&mut txn, "new", 4);
    map.insert(&mut txn, "came and went", 5);
    map.remove(&mut txn, "came and went");
    drop(txn);
    let expected: BTreeMap<String, EntryChange> = [
        ("new value", EntryChange::Updated(Out::from(1), Out::from(3))),
        ("gone", EntryChange::Removed(Out::from(1))),
        ("new", EntryChange::Inserted(Out::from(4))),
    ]
    .map(|(key, change)| (key.to_owned(), change))
    .into();
    assert_eq!(*seen.lock().unwrap(), [expected]);
}

#[test]
fn deep_events_come_nearest_first_with_paths_from_the_observed_type() {
    let doc = doc(1, OffsetKind::Bytes);
    let array = doc.get_or_insert_array("a");
    let mut txn = doc.transact_mut();
    array.insert(&mut txn, 0, "x");
    let map = array.insert(&mut txn, 1, MapPrelim::default());
    let inner = map.insert(&mut txn, "k", MapPrelim::default());
    drop(txn);
    let paths = Arc::new(Mutex::new(Vec::<(&str, Vec<Path>)>::new()));
    for (name, key) in [("array", 0), ("map", 1)] {
        let paths = Arc::clone(&paths);
        let call = move |_: &TransactionMut<'_>, events: &super::Events<'_>| {
            assert_eq!(events.iter().len(), events.iter().count());
            paths.lock().unwrap().push((name, events.iter().map(Event::path).collect()));
        };
        if key == 0 { array.observe_deep("deep", call) } else { map.observe_deep("deep", call) }
    }
    let mut txn = doc.transact_mut();
    inner.insert(&mut txn, "v", 1);
    array.insert(&mut txn, 0, "y");
    map.insert(&mut txn, "w", 1);
    drop(txn);
    let key = |key: &str| PathSegment::Key(key.into());
    let expected = [
        ("map", vec![Path::from([]), Path::from([key("k")])]),
        (
            "array",
            vec![
                Path::from([]),
                Path::from([PathSegment::Index(2)]),
                Path::from([PathSegment::Index(2), key("k")]),
            ],
        ),
    ];
    let mut paths = std::mem::take(&mut *paths.lock().unwrap());
    paths.sort_by_key(|entry| std::cmp::Reverse(entry.0));
    assert_eq!(paths, expected);
}

#[test]
fn callbacks_may_subscribe_and_unsubscribe() {
    let doc = doc(1, OffsetKind::Bytes);
    let text = doc.get_or_insert_text("t");
    let log: Arc<Mutex<Vec<&str>>> = Arc::default();
    let (target, calls) = (text.clone(), Arc::clone(&log));
    text.observe("first", move |_, _| {
        calls.lock().unwrap().push("first");
        assert!(target.unobserve("second"));
        let calls = Arc::clone(&calls);
        target.observe("third", move |_, _| calls.lock().unwrap().push("third"));
        assert!(target.unobserve("first"));
        assert!(!target.unobserve("first"), "it is gone already");
    });
    let calls = Arc::clone(&log);
    text.observe("second", move |_, _| calls.lock().unwrap().push("second"));
    assert!(doc.inner().events.listening().types());
    text.push(&mut doc.transact_mut(), "a");
    assert_eq!(*log.lock().unwrap(), ["first"], "removed callbacks and new ones are not called");
    text.push(&mut doc.transact_mut(), "b");
    assert_eq!(*log.lock().unwrap(), ["first", "third"]);
    assert!(text.unobserve("third"));
    assert!(!doc.inner().events.listening().types(), "nobody is left, so that nothing is kept for observers");
    assert!(!doc.inner().events.listening().hold_content());
}

#[test]
fn one_subscription_a_key() {
    let doc = doc(1, OffsetKind::Bytes);
    let text = doc.get_or_insert_text("t");
    let calls = Arc::new(AtomicUsize::new(0));
    for add in [1, 10] {
        let calls = Arc::clone(&calls);
        text.observe("key", move |_, _| {
            calls.fetch_add(add, Ordering::Relaxed);
        });
    }
    text.push(&mut doc.transact_mut(), "a");
    assert_eq!(calls.load(Ordering::Relaxed), 10, "the second replaced the first");
    assert!(text.unobserve("key"));
    assert!(!doc.inner().events.listening().types());
}

#[test]
fn a_panic_stops_neither_the_others_nor_the_commit() {
    let doc = doc(1, OffsetKind::Bytes);
    let text = doc.get_or_insert_text("t");
    let updates = Arc::new(AtomicUsize::new(0));
    let (others, sent) = (Arc::new(AtomicUsize::new(0)), Arc::clone(&updates));
    text.observe("a", |_, _| panic!("from the callback"));
    let called = Arc::clone(&others);
    text.observe("b", move |_, _| {
        called.fetch_add(1, Ordering::Relaxed);
    });
    let called = Arc::clone(&others);
    text.observe_deep("c", move |_, _| {
        called.fetch_add(1, Ordering::Relaxed);
    });
    doc.observe_update_v1("u", move |_, _| {
        sent.fetch_add(1, Ordering::Relaxed);
    })
    .unwrap();
    let panic = catch_unwind(AssertUnwindSafe(|| text.push(&mut doc.transact_mut(), "hello"))).unwrap_err();
    assert_eq!(panic.downcast_ref(), Some(&"from the callback"));
    assert_eq!((others.load(Ordering::Relaxed), updates.load(Ordering::Relaxed)), (2, 1));
    assert_eq!(text.get_string(&doc.transact()), "hello", "the document is free and whole");
    doc.check();

    // Two panics at a time would end the process.
    let panic = catch_unwind(AssertUnwindSafe(|| {
        let mut txn = doc.transact_mut();
        text.push(&mut txn, "!");
        panic!("from the user");
    }));
    assert_eq!(panic.unwrap_err().downcast_ref(), Some(&"from the user"));
    assert_eq!((others.load(Ordering::Relaxed), updates.load(Ordering::Relaxed)), (4, 2));
    doc.check();
}

#[test]
fn a_transaction_within_a_callback_is_refused() {
    let doc = doc(1, OffsetKind::Bytes);
    let text = doc.get_or_insert_text("t");
    let (inner, calls) = (doc.clone(), Arc::new(AtomicUsize::new(0)));
    let called = Arc::clone(&calls);
    text.observe("key", move |_, _| {
        assert!(inner.try_transact_mut().is_err());
        assert!(inner.try_transact().is_err());
        called.fetch_add(1, Ordering::Relaxed);
        drop(inner.transact_mut());
    });
    let panic = catch_unwind(AssertUnwindSafe(|| text.push(&mut doc.transact_mut(), "a"))).unwrap_err();
    let message = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let message = message.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap();
    assert!(message.contains("would wait for itself"), "{message}");
    assert_eq!(calls.load(Ordering::Relaxed), 1);
}

#[test]
fn an_observer_that_comes_within_a_transaction_sees_all_of_it() {
    let doc = doc(1, OffsetKind::Bytes);
    let text = doc.get_or_insert_text("t");
    text.push(&mut doc.transact_mut(), "hello world");
    text.remove_range(&mut doc.transact_mut(), 10, 1);
    let seen: Arc<Mutex<Vec<Vec<Delta>>>> = Arc::default();
    let mut txn = doc.transact_mut();
    // Nobody observes yet, so that the text may be let go at once.
    text.remove_range(&mut txn, 8, 2);
    let calls = Arc::clone(&seen);
    text.observe("key", move |txn, event| calls.lock().unwrap().push(event.delta(txn).to_vec()));
    text.insert(&mut txn, 0, "> ");
    drop(txn);
    let expected = vec![Delta::Inserted(Out::from("> "), None), Delta::Retain(8, None), Delta::Deleted(2)];
    assert_eq!(*seen.lock().unwrap(), [expected]);
}

#[test]
fn typing_into_one_run_tells_only_what_is_new() {
    let doc = doc(1, OffsetKind::Utf16);
    let text = doc.get_or_insert_text("t");
    text.push(&mut doc.transact_mut(), "né");
    let seen: Arc<Mutex<Vec<Vec<Delta>>>> = Arc::default();
    let calls = Arc::clone(&seen);
    text.observe("key", move |txn, event| calls.lock().unwrap().push(event.delta(txn).to_vec()));
    text.push(&mut doc.transact_mut(), "👾é");
    text.remove_range(&mut doc.transact_mut(), 1, 3);
    assert_eq!(text.get_string(&doc.transact()), "né");
    let expected = [
        vec![Delta::Retain(2, None), Delta::Inserted(Out::from("👾é"), None)],
        vec![Delta::Retain(1, None), Delta::Deleted(3)],
    ];
    assert_eq!(*seen.lock().unwrap(), expected);
}

#[test]
fn events_of_a_transaction_come_in_the_order_of_yjs() {
    let doc = doc(1, OffsetKind::Bytes);
    let text = doc.get_or_insert_text("t");
    let log: Arc<Mutex<Vec<&str>>> = Arc::default();
    let note = |name: &'static str| {
        let log = Arc::clone(&log);
        move || log.lock().unwrap().push(name)
    };
    let call = note("after all");
    doc.observe_after_all_transactions(1, move |_| call()).unwrap();
    let call = note("update");
    doc.observe_update_v1(1, move |_, _| call()).unwrap();
    let call = note("cleanup");
    doc.observe_transaction_cleanup(1, move |_, _| call()).unwrap();
    let call = note("after");
    doc.observe_after_transaction(1, move |_| call()).unwrap();
    let call = note("deep");
    text.observe_deep(1, move |_, _| call());
    let call = note("type");
    text.observe(1, move |_, _| call());
    let call = note("before observers");
    doc.observe_before_observer_calls(1, move |_| call()).unwrap();
    let call = note("before");
    doc.observe_before_transaction(1, move |_| call()).unwrap();
    let call = note("before all");
    doc.observe_before_all_transactions(1, move |_| call()).unwrap();
    text.push(&mut doc.transact_mut(), "a");
    let around = ["before all", "before", "before observers", "after", "cleanup", "after all"];
    let all = [
        "before all",
        "before",
        "before observers",
        "type",
        "deep",
        "after",
        "cleanup",
        "update",
        "after all",
    ];
    assert_eq!(std::mem::take(&mut *log.lock().unwrap()), all);
    drop(doc.transact_mut());
    assert_eq!(*log.lock().unwrap(), around, "nothing changed");
}

#[test]
fn a_collected_type_takes_its_subscriptions_with_it() {
    let doc = doc(1, OffsetKind::Bytes);
    let map = doc.get_or_insert_map("m");
    let inner = map.insert(&mut doc.transact_mut(), "k", MapPrelim::default());
    inner.observe("a", |_, _| {});
    inner.observe_deep("b", |_, _| {});
    map.remove(&mut doc.transact_mut(), "k");
    assert!(doc.inner().events.listening().types(), "the handle is still held");
    drop(inner);
    assert!(!doc.inner().events.listening().types());
}

#[test]
fn a_root_of_unknown_kind_is_what_its_observer_takes_it_for() {
    let (ours, theirs) = (doc(1, OffsetKind::Bytes), doc(2, OffsetKind::Bytes));
    let text = theirs.get_or_insert_text("t");
    text.push(&mut theirs.transact_mut(), "a");
    sync(&theirs, &ours);
    let copy = ours.transact().get_text("t").unwrap();
    let list = ours.transact().get_array("t").unwrap();
    let lens: Arc<Mutex<Vec<usize>>> = Arc::default();
    let calls = Arc::clone(&lens);
    copy.observe("text", move |txn, event| calls.lock().unwrap().push(event.delta(txn).len()));
    let calls = Arc::clone(&lens);
    list.observe("list", move |txn, event| calls.lock().unwrap().push(10 + event.delta(txn).len()));
    text.push(&mut theirs.transact_mut(), "b");
    sync(&theirs, &ours);
    assert_eq!(*lens.lock().unwrap(), [2, 12]);
    assert_eq!(ours.transact().state_vector(), StateVector::from_iter([(ClientID::new(2), 2)]));
}

/// Lengths are those of the document's offset kind, also for who subscribes when the text is deleted already.
#[test]
fn an_observer_that_comes_during_a_transaction_hears_of_it() {
    for before in [false, true] {
        let doc = doc(1, OffsetKind::Bytes);
        let text = doc.get_or_insert_text("t");
        text.push(&mut doc.transact_mut(), "éé!");
        let heard = Arc::new(Mutex::new(Vec::new()));
        let (target, log) = (text.clone(), Arc::clone(&heard));
        let subscribe = move || {
            let log = Arc::clone(&log);
            target.observe("late", move |txn, event| log.lock().unwrap().extend_from_slice(event.delta(txn)));
        };
        if before {
            let subscribe = subscribe.clone();
            doc.observe_before_transaction("first", move |_| subscribe()).unwrap();
        }
        let mut txn = doc.transact_mut();
        text.remove_range(&mut txn, 0, 4);
        if !before {
            subscribe();
        }
        drop(txn);
        doc.check();
        assert_eq!(*heard.lock().unwrap(), [Delta::Deleted(4)], "before: {before}");
    }
}
