//! What waits for other updates: kept, encoded with the state, applied when the rest comes.

#[path = "common/hex.rs"]
mod hex;

use hex::unhex;
use yatta::updates::decoder::Decode;
use yatta::{Doc, GetString, ReadTxn, StateVector, Text, Transact, Update, WriteTxn};

/// A V1 update of one client with so many deleted items of one unit each, from clock 1 on: clock 0 is missing.
fn gap(items: u32) -> Vec<u8> {
    let mut update = vec![1];
    let var = |update: &mut Vec<u8>, mut value: u32| {
        while value >= 0x80 {
            update.push(value as u8 | 0x80);
            value >>= 7;
        }
        update.push(value as u8);
    };
    var(&mut update, items);
    update.extend([9, 1]);
    for clock in 0..items {
        update.extend([0x81, 9]);
        var(&mut update, clock);
        update.push(1);
    }
    update.push(0);
    update
}

/// Half a million blocks are a few dozen bytes in V2; a peer may not claim that, what we wrote ourselves must be read.
#[test]
fn many_parked_blocks_that_pack_well_are_written_and_read_again() {
    let doc = Doc::with_client_id(1);
    doc.transact_mut().apply_update(Update::decode_v1(&gap(500_000)).unwrap()).unwrap();
    assert!(doc.transact().has_missing_updates());
    let v1 = doc.transact().encode_state_as_update_v1(&StateVector::default());
    assert!(v1.len() > 1_000_000, "the blocks are part of the state");
    assert!(doc.transact().encode_state_as_update_v2(&StateVector::default()).len() > 13);
    let copy = Doc::with_client_id(2);
    copy.transact_mut().apply_update(Update::decode_v1(&v1).unwrap()).unwrap();
    let missing = [1, 1, 9, 0, 4, 1, 1, b't', 1, b'x', 0];
    copy.transact_mut().apply_update(Update::decode_v1(&missing).unwrap()).unwrap();
    assert!(!copy.transact().has_missing_updates());
    assert_eq!(copy.transact().state_vector().get(&yatta::ClientID::new(9)), 500_001);
    copy.check();
    assert!(doc.transact_mut().prune_pending().is_some());
    assert!(!doc.transact().has_missing_updates());
}

#[test]
fn updates_in_reverse_order_give_the_text() {
    let author = Doc::with_client_id(1);
    let text = author.get_or_insert_text("t");
    let mut updates = Vec::new();
    for (place, word) in ["one ", "two ", "three ", "four "].iter().enumerate() {
        let known = author.transact().state_vector();
        let len = text.len(&author.transact());
        text.insert(&mut author.transact_mut(), if place % 2 == 0 { len } else { 0 }, word);
        updates.push(author.transact().encode_diff_v1(&known));
    }
    let reader = Doc::with_client_id(2);
    let copy = reader.get_or_insert_text("t");
    for update in updates.iter().rev() {
        reader.transact_mut().apply_update(Update::decode_v1(update).unwrap()).unwrap();
        reader.check();
    }
    assert!(!reader.transact().has_missing_updates());
    assert_eq!(copy.get_string(&reader.transact()), text.get_string(&author.transact()));
    let states =
        [&author, &reader].map(|doc| doc.transact().encode_state_as_update_v1(&StateVector::default()));
    assert_eq!(states[0], states[1]);
}

/// Two forged updates with other blocks for the same ids. The one that is known already still waits for the parent that it
/// names, and what follows it waits with it. The states are those of Yjs 13.6.33 (found by fuzzing).
#[test]
fn a_known_block_waits_for_what_it_names() {
    let content = "82010102".to_owned() + "0e7b2278223a5b312c6e756c6c5d7d0566616c7365" + "0101010101";
    let first = "01030001020101610103227322810100".to_owned() + "01" + &content;
    let second = "010300002701016d013201270002010000000100";
    let start = "010400002701016d0132010201016101032273";
    let expected = [
        first.clone(),
        first.clone(),
        format!("{start}2281010001{content}"),
        format!("{start}220001{content}"),
    ];
    let doc = Doc::with_client_id(99);
    for (update, expected) in [&first, &first, second, second].into_iter().zip(expected) {
        doc.transact_mut().apply_update(Update::decode_v1(&unhex(update)).unwrap()).unwrap();
        doc.check();
        assert_eq!(doc.transact().encode_state_as_update_v1(&StateVector::default()), unhex(&expected));
    }
}
