//! `PermanentUserData` beside that of real Yjs: `testdata/user-data.json` is written by `interop/user-data-golden.mjs`.

#[path = "common/hex.rs"]
mod hex;

use hex::{hex, unhex};
use serde_json::Value as Json;
use yatta::updates::decoder::Decode;
use yatta::{
    Any, ArrayPrelim, ClientID, Doc, ID, In, Map, MapPrelim, OffsetKind, Options, PermanentUserData, ReadTxn,
    StateVector, Text, Transact, Update,
};

fn golden() -> Json {
    serde_json::from_str(include_str!("../testdata/user-data.json")).expect("the file is JSON")
}

fn doc(client: u64) -> Doc {
    let mut options = Options::with_client_id(ClientID::new(client));
    options.offset_kind = OffsetKind::Utf16;
    Doc::with_options(options)
}

fn state(doc: &Doc) -> Vec<u8> {
    doc.transact().encode_state_as_update_v1(&StateVector::default())
}

fn load(doc: &Doc, update: &[u8]) {
    doc.transact_mut()
        .apply_update(Update::decode_v1(update).expect("it is an update"))
        .expect("never refused");
}

/// Maps the document's client to a user and records what it deletes.
fn join(doc: &Doc, user: &str) -> PermanentUserData {
    let mut data = PermanentUserData::new(doc.get_or_insert_map("users"));
    data.set_user_mapping(&mut doc.transact_mut(), doc.client_id(), user);
    data.record(doc, "recorder", user, |_| true).expect("never refused");
    data
}

/// One transaction of its own for each thing that Yjs's timers do.
fn flush(doc: &Doc, data: &mut PermanentUserData) {
    while data.has_recorded() {
        data.flush(&mut doc.transact_mut());
    }
}

#[test]
fn the_same_bytes_as_yjs() {
    let golden = golden();
    let first = doc(3_000_000_001);
    let mut data = join(&first, "ann");
    let text = first.get_or_insert_text("text");
    text.insert(&mut first.transact_mut(), 0, "hello world");
    for (index, len) in [(0, 3), (2, 4)] {
        text.remove_range(&mut first.transact_mut(), index, len);
        flush(&first, &mut data);
    }
    assert_eq!(hex(&state(&first)), golden["first"]);

    let second = doc(7);
    load(&second, &state(&first));
    let mut data = join(&second, "bob");
    second.get_or_insert_text("text").remove_range(&mut second.transact_mut(), 0, 1);
    flush(&second, &mut data);
    assert_eq!(hex(&state(&second)), golden["state"]);
}

#[test]
fn the_same_answers_as_yjs() {
    let golden = golden();
    let doc = doc(1);
    load(&doc, &unhex(golden["state"].as_str().unwrap()));
    let mut data = PermanentUserData::new(doc.get_or_insert_map("users"));
    let txn = doc.transact();
    let clients = golden["clients"].as_object().unwrap();
    assert_eq!(clients.len(), 3);
    for (client, user) in clients {
        let client = ClientID::new(client.parse().unwrap());
        assert_eq!(data.user_by_client_id(&txn, client), user.as_str(), "{client}");
    }
    let deleted = golden["deleted"].as_array().unwrap();
    assert_eq!(deleted.len(), 11);
    for entry in deleted {
        let number = |name: &str| entry[name].as_u64().unwrap();
        let id = ID::new(ClientID::new(number("client")), number("clock") as u32);
        assert_eq!(data.user_by_deleted_id(&txn, &id), entry["user"].as_str(), "{id}");
    }
}

#[test]
fn only_what_is_local_and_allowed_is_recorded() {
    let doc = doc(1);
    let text = doc.get_or_insert_text("text");
    text.insert(&mut doc.transact_mut(), 0, "abcdef");
    let peer = self::doc(2);
    load(&peer, &state(&doc));
    peer.get_or_insert_text("text").remove_range(&mut peer.transact_mut(), 0, 1);

    let mut data = PermanentUserData::new(doc.get_or_insert_map("users"));
    data.set_user_mapping(&mut doc.transact_mut(), doc.client_id(), "ann");
    data.record(&doc, "recorder", "ann", |txn| txn.origin().is_none()).unwrap();
    load(&doc, &state(&peer));
    assert!(!data.has_recorded(), "another peer deleted it");
    text.remove_range(&mut doc.transact_mut_with("import"), 0, 1);
    assert!(!data.has_recorded(), "the filter said no");
    text.remove_range(&mut doc.transact_mut(), 0, 1);
    assert!(data.has_recorded());
    flush(&doc, &mut data);
    doc.unobserve_transaction_cleanup("recorder").unwrap();
    text.remove_range(&mut doc.transact_mut(), 0, 1);
    assert!(!data.has_recorded(), "the subscription ended");
    let txn = doc.transact();
    let by = |data: &mut PermanentUserData, clock| {
        data.user_by_deleted_id(&txn, &ID::new(ClientID::new(1), clock)).map(str::to_owned)
    };
    assert_eq!(
        (0..4).map(|clock| by(&mut data, clock)).collect::<Vec<_>>(),
        [None, None, Some("ann".into()), None]
    );
}

#[test]
fn data_goes_over_to_an_object_that_replaced_ours() {
    let doc = doc(1);
    let text = doc.get_or_insert_text("text");
    text.insert(&mut doc.transact_mut(), 0, "abc");
    let mut data = join(&doc, "ann");
    text.remove_range(&mut doc.transact_mut(), 0, 1);
    flush(&doc, &mut data);
    let lists = ["ids", "ds"].map(|name| (name, In::from(ArrayPrelim::default())));
    let users = doc.get_or_insert_map("users");
    users.insert(&mut doc.transact_mut(), "ann", MapPrelim::from_iter(lists));
    data.flush(&mut doc.transact_mut());

    let mut reader = PermanentUserData::new(users);
    let txn = doc.transact();
    assert_eq!(reader.user_by_client_id(&txn, ClientID::new(1)), Some("ann"));
    assert_eq!(reader.user_by_deleted_id(&txn, &ID::new(ClientID::new(1), 0)), Some("ann"));
}

#[test]
fn a_new_mapping_does_not_keep_old_data_from_going_over() {
    let doc = doc(1);
    let text = doc.get_or_insert_text("text");
    text.insert(&mut doc.transact_mut(), 0, "abc");
    let mut data = join(&doc, "ann");
    text.remove_range(&mut doc.transact_mut(), 0, 1);
    flush(&doc, &mut data);
    let users = doc.get_or_insert_map("users");
    users.remove(&mut doc.transact_mut(), "ann");
    text.remove_range(&mut doc.transact_mut(), 0, 1);
    data.flush(&mut doc.transact_mut());
    assert!(data.has_recorded(), "there is no object to write it to");
    data.set_user_mapping(&mut doc.transact_mut(), ClientID::new(2), "ann");
    flush(&doc, &mut data);

    let mut reader = PermanentUserData::new(users);
    let txn = doc.transact();
    for client in [1, 2] {
        assert_eq!(reader.user_by_client_id(&txn, ClientID::new(client)), Some("ann"));
    }
    for clock in [0, 1] {
        let id = ID::new(ClientID::new(1), clock);
        assert_eq!(reader.user_by_deleted_id(&txn, &id), Some("ann"));
    }
}

#[test]
fn a_client_id_is_of_whom_it_was_given_to_last() {
    let doc = doc(1);
    let mut data = PermanentUserData::new(doc.get_or_insert_map("users"));
    for user in ["ann", "zoe", "bob"] {
        data.set_user_mapping(&mut doc.transact_mut(), ClientID::new(5), user);
    }
    assert_eq!(data.user_by_client_id(&doc.transact(), ClientID::new(5)), Some("bob"));
    data.set_user_mapping(&mut doc.transact_mut(), ClientID::new(6), "ann");
    assert_eq!(data.user_by_client_id(&doc.transact(), ClientID::new(5)), Some("bob"), "ann was read again");
}

#[test]
fn nothing_is_recorded_for_nobody() {
    let doc = doc(1);
    let text = doc.get_or_insert_text("text");
    text.insert(&mut doc.transact_mut(), 0, "abc");
    let asked = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let data = PermanentUserData::new(doc.get_or_insert_map("users"));
    let counter = std::sync::Arc::clone(&asked);
    let count = move |_: &yatta::TransactionMut<'_>| {
        counter.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        true
    };
    data.record(&doc, "recorder", "ann", count).expect("never refused");
    text.remove_range(&mut doc.transact_mut(), 0, 1);
    drop(data);
    text.remove_range(&mut doc.transact_mut(), 0, 1);
    assert_eq!(asked.load(std::sync::atomic::Ordering::Relaxed), 1);
}

#[test]
fn entries_that_make_no_sense_are_left_out() {
    let doc = doc(1);
    let users = doc.get_or_insert_map("users");
    {
        let mut txn = doc.transact_mut();
        users.insert(&mut txn, "text", "not an object");
        users.insert(&mut txn, "empty", MapPrelim::default());
        let ids = ArrayPrelim::from([
            Any::from(-1.0),
            Any::from(1.5),
            Any::from("x"),
            Any::from(2f64.powi(53)),
            Any::from(9),
        ]);
        let deletions = ArrayPrelim::from([Any::from(vec![255, 255]), Any::from("x")]);
        let lists = [("ids", In::from(ids)), ("ds", In::from(deletions))];
        users.insert(&mut txn, "ann", MapPrelim::from_iter(lists));
    }
    let mut data = PermanentUserData::new(users);
    let txn = doc.transact();
    assert_eq!(data.user_by_client_id(&txn, ClientID::new(9)), Some("ann"));
    for client in [0, 1] {
        assert_eq!(data.user_by_client_id(&txn, ClientID::new(client)), None);
    }
    assert_eq!(data.user_by_deleted_id(&txn, &ID::new(ClientID::new(9), 0)), None);
}
