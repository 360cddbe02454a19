//! Snapshots that cut items, and those that cannot be read. Random ones are compared with Yjs in tests/history.rs.

use yatta_encoding::{ClientID, Decode, Encoder, EncoderV1, EncoderV2};

use crate::error::Error;
use crate::ids::Snapshot;
use crate::types::text::{ChangeKind, Diff, YChange};
use crate::{
    Array, Doc, GetString, Map, OffsetKind, Options, Out, ReadTxn, StateVector, Text, Transact, Update,
};

fn keeping(client: u64) -> Doc {
    let options = Options {
        skip_gc: true,
        offset_kind: OffsetKind::Utf16,
        ..Options::with_client_id(ClientID::new(client))
    };
    Doc::with_options(options)
}

fn text_of(update: Update) -> String {
    let doc = Doc::new();
    let text = doc.get_or_insert_text("t");
    doc.transact_mut().apply_update(update).unwrap();
    doc.check();
    text.get_string(&doc.transact())
}

#[test]
fn a_cut_item_is_right_in_both_formats() {
    let doc = keeping(1);
    let text = doc.get_or_insert_text("t");
    text.insert(&mut doc.transact_mut(), 0, "X");
    let mut snapshots = vec![doc.transact().snapshot()];
    for chunk in ["h", "é", "😀", "l"] {
        text.push(&mut doc.transact_mut(), chunk);
        snapshots.push(doc.transact().snapshot());
    }
    text.remove_range(&mut doc.transact_mut(), 0, 3);
    let txn = doc.transact();
    for (snapshot, wanted) in snapshots.iter().zip(["X", "Xh", "Xhé", "Xhé😀", "Xhé😀l"]) {
        let (mut v1, mut v2) = (EncoderV1::new(), EncoderV2::new());
        txn.encode_state_from_snapshot(snapshot, &mut v1).unwrap();
        txn.encode_state_from_snapshot(snapshot, &mut v2).unwrap();
        assert_eq!(text_of(Update::decode_v1(&v1.to_vec()).unwrap()), wanted);
        assert_eq!(text_of(Update::decode_v2(&v2.to_vec()).unwrap()), wanted);
        let copy = snapshot.create_doc(&txn).unwrap();
        assert_eq!(copy.transact().state_vector(), snapshot.state_map);
        copy.check();
    }
}

#[test]
fn a_cut_within_a_surrogate_pair_leaves_a_replacement() {
    let doc = keeping(1);
    let text = doc.get_or_insert_text("t");
    text.insert(&mut doc.transact_mut(), 0, "a😀");
    let mut snapshot = doc.transact().snapshot();
    snapshot.state_map = StateVector::from_iter([(ClientID::new(1), 2)]);
    let mut encoder = EncoderV1::new();
    doc.transact().encode_state_from_snapshot(&snapshot, &mut encoder).unwrap();
    assert_eq!(text_of(Update::decode_v1(&encoder.to_vec()).unwrap()), "a\u{FFFD}");
}

#[test]
fn what_cannot_be_read_is_an_error() {
    let doc = Doc::with_client_id(1);
    doc.get_or_insert_text("t").insert(&mut doc.transact_mut(), 0, "x");
    let snapshot = doc.transact().snapshot();
    let encode = |doc: &Doc| doc.transact().encode_state_from_snapshot(&snapshot, &mut EncoderV1::new());
    assert!(matches!(encode(&doc), Err(Error::Gc)));
    assert!(matches!(encode(&keeping(2)), Err(Error::SnapshotAhead)));
    assert!(matches!(snapshot.create_doc(&keeping(2).transact()), Err(Error::SnapshotAhead)));
}

#[test]
fn a_text_between_two_snapshots_says_what_came_and_went() {
    let doc = keeping(1);
    let text = doc.get_or_insert_text("t");
    text.insert(&mut doc.transact_mut(), 0, "abcd");
    let lo = doc.transact().snapshot();
    {
        let mut txn = doc.transact_mut();
        text.remove_range(&mut txn, 1, 2);
        text.insert(&mut txn, 1, "XY");
    }
    let hi = doc.transact().snapshot();
    text.remove_range(&mut doc.transact_mut(), 0, 4);
    let before = doc.transact().encode_state_as_update_v1(&StateVector::default());
    let runs = text.diff_range(&mut doc.transact_mut(), Some(&hi), Some(&lo), YChange::identity);
    let change = |kind, clock| Some(YChange::new(kind, crate::ID::new(ClientID::new(1), clock)));
    let wanted = [
        Diff::new("a".into(), None),
        Diff::with_change("bc".into(), None, change(ChangeKind::Removed, 1)),
        Diff::with_change("XY".into(), None, change(ChangeKind::Added, 4)),
        Diff::new("d".into(), None),
    ];
    let mut runs: Vec<_> = runs.into_iter().collect();
    runs.sort_by_key(|run| wanted.iter().position(|wanted| wanted == run));
    assert_eq!(runs, wanted, "in the order of the text but for what was typed at a place where was deleted");
    let after = doc.transact().encode_state_as_update_v1(&StateVector::default());
    assert_eq!(before, after, "the commit joins what was cut");
    doc.check();
}

#[test]
fn maps_and_lists_read_as_they_were() {
    let doc = keeping(1);
    let (map, list) = (doc.get_or_insert_map("m"), doc.get_or_insert_array("a"));
    map.insert(&mut doc.transact_mut(), "k", 1);
    list.push_back(&mut doc.transact_mut(), 1);
    let first = doc.transact().snapshot();
    map.insert(&mut doc.transact_mut(), "k", 2);
    map.insert(&mut doc.transact_mut(), "l", 3);
    list.push_back(&mut doc.transact_mut(), 2);
    list.remove(&mut doc.transact_mut(), 0);
    let second = doc.transact().snapshot();
    map.remove(&mut doc.transact_mut(), "k");
    let txn = doc.transact();
    let get = |snapshot: &Snapshot, key| snapshot.map_get(&txn, &map, key);
    assert_eq!((get(&first, "k"), get(&first, "l")), (Some(Out::from(1)), None));
    assert_eq!((get(&second, "k"), get(&second, "l")), (Some(Out::from(2)), Some(Out::from(3))));
    assert_eq!(get(&txn.snapshot(), "k"), None);
    assert_eq!(second.map_entries(&txn, &map).len(), 2);
    assert_eq!(first.list_values(&txn, &list), [Out::from(1)]);
    assert_eq!(second.list_values(&txn, &list), [Out::from(2)]);
}

#[test]
fn a_snapshot_knows_what_it_contains() {
    let doc = Doc::with_client_id(1);
    let text = doc.get_or_insert_text("t");
    text.insert(&mut doc.transact_mut(), 0, "klmn");
    let state = |doc: &Doc| {
        Update::decode_v1(&doc.transact().encode_state_as_update_v1(&StateVector::default())).unwrap()
    };
    let (early, snapshot) = (state(&doc), doc.transact().snapshot());
    assert!(snapshot.contains_update(&early) && snapshot.contains_update(&Update::default()));
    text.remove_range(&mut doc.transact_mut(), 1, 1);
    assert!(!snapshot.contains_update(&state(&doc)), "it deletes more");
    let later = doc.transact().snapshot();
    text.insert(&mut doc.transact_mut(), 0, "x");
    assert!(!later.contains_update(&state(&doc)), "it inserts more");
    assert!(later.contains_update(&early));
}
