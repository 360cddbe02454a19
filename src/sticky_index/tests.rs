//! Bytes and JSON of positions, and indices in both offset kinds. Random positions are compared with Yjs in
//! tests/history.rs.

use yatta_encoding::{ClientID, Decode, Encode, ID};

use super::{Assoc, IndexScope, IndexedSequence, StickyIndex};
use crate::types::In;
use crate::{Array, ArrayPrelim, ArrayRef, Doc, OffsetKind, Options, Out, Text, Transact};

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn bytes_and_json_are_those_of_yjs() {
    let doc = Doc::with_client_id(1);
    let text = doc.get_or_insert_text("t");
    let array = doc.get_or_insert_array("a");
    let mut txn = doc.transact_mut();
    text.insert(&mut txn, 0, "ab");
    let nested: ArrayRef = match array.push_back(&mut txn, In::from(ArrayPrelim::from([1]))) {
        Out::YArray(nested) => nested,
        other => panic!("{other:?}"),
    };
    let at = |index, assoc| text.sticky_index(&txn, index, assoc).unwrap();
    let cases = [
        (at(1, Assoc::After), "00010100", r#"{"item":{"client":1,"clock":1},"assoc":0}"#),
        (at(2, Assoc::After), "01017400", r#"{"tname":"t","assoc":0}"#),
        (
            nested.sticky_index(&txn, 1, Assoc::After).unwrap(),
            "02010200",
            r#"{"type":{"client":1,"clock":2},"assoc":0}"#,
        ),
        (at(1, Assoc::Before), "00010041", r#"{"item":{"client":1,"clock":0},"assoc":-1}"#),
        (at(0, Assoc::Before), "01017441", r#"{"tname":"t","assoc":-1}"#),
    ];
    for (place, bytes, json) in cases {
        assert_eq!(hex(&place.encode_v1()), bytes);
        assert_eq!(StickyIndex::decode_v1(&place.encode_v1()).unwrap(), place);
        assert_eq!(StickyIndex::decode_v2(&place.encode_v2()).unwrap(), place);
        assert_eq!(serde_json::to_string(&place).unwrap(), json);
        assert_eq!(serde_json::from_str::<StickyIndex>(json).unwrap(), place);
    }
    assert_eq!(text.sticky_index(&txn, 3, Assoc::After), None);
}

#[test]
fn what_others_write_is_read() {
    let item = StickyIndex::from_id(ID::new(ClientID::new(1), 1), Assoc::After);
    assert_eq!(StickyIndex::decode_v1(&[0, 1, 1]).unwrap(), item, "old peers write no association");
    let both = r#"{"tname":"t","type":null,"item":{"client":1,"clock":1},"assoc":0}"#;
    assert_eq!(serde_json::from_str::<StickyIndex>(both).unwrap(), item, "Yjs writes the root too");
    let empty = StickyIndex::new(IndexScope::Root("".into()), Assoc::After);
    assert_eq!(serde_json::from_str::<StickyIndex>(r#"{"tname":""}"#).unwrap(), empty);
    for bytes in [&[][..], &[3, 1, 1], &[0, 1], &[1, 5, b't'], &[2]] {
        assert!(StickyIndex::decode_v1(bytes).is_err(), "{bytes:?}");
    }
    assert!(serde_json::from_str::<StickyIndex>(r#"{"assoc":0}"#).is_err());
    assert!(serde_json::from_str::<StickyIndex>(r#"{"tname":"t","other":1}"#).is_err());
}

#[test]
fn indices_count_in_the_offset_kind() {
    const TEXT: &str = "aé😀b";
    for kind in [OffsetKind::Bytes, OffsetKind::Utf16] {
        let doc =
            Doc::with_options(Options { offset_kind: kind, ..Options::with_client_id(ClientID::new(1)) });
        let text = doc.get_or_insert_text("t");
        text.insert(&mut doc.transact_mut(), 0, TEXT);
        let txn = doc.transact();
        let mut index = 0;
        for c in TEXT.chars() {
            let width = if kind == OffsetKind::Bytes { c.len_utf8() } else { c.len_utf16() } as u32;
            let after = text.sticky_index(&txn, index, Assoc::After).unwrap();
            assert_eq!(after.get_offset(&txn).unwrap().index, index, "after, before {c:?} in {kind:?}");
            index += width;
            let before = text.sticky_index(&txn, index, Assoc::Before).unwrap();
            assert_eq!(before.get_offset(&txn).unwrap().index, index, "before, after {c:?} in {kind:?}");
        }
        let units = |place: StickyIndex| place.id().map(|id| id.clock);
        let end_of_emoji = index - 1;
        assert_eq!(units(text.sticky_index(&txn, end_of_emoji, Assoc::Before).unwrap()), Some(3), "{kind:?}");
    }
}

#[test]
fn unknown_ids_and_collected_types_have_no_place() {
    let doc = Doc::with_client_id(1);
    let array = doc.get_or_insert_array("a");
    let nested = match array.push_back(&mut doc.transact_mut(), In::from(ArrayPrelim::from([1]))) {
        Out::YArray(nested) => nested,
        other => panic!("{other:?}"),
    };
    let (inside, end) = {
        let txn = doc.transact();
        (
            nested.sticky_index(&txn, 0, Assoc::After).unwrap(),
            nested.sticky_index(&txn, 1, Assoc::After).unwrap(),
        )
    };
    array.remove(&mut doc.transact_mut(), 0);
    let txn = doc.transact();
    assert_eq!((inside.get_offset(&txn), end.get_offset(&txn)), (None, None));
    assert_eq!(nested.sticky_index(&txn, 0, Assoc::After), None);
    let unknown = StickyIndex::from_id(ID::new(ClientID::new(9), 0), Assoc::After);
    assert_eq!(unknown.get_offset(&txn), None);
    let unknown = StickyIndex::new(IndexScope::Root("none".into()), Assoc::After);
    assert_eq!(unknown.get_offset(&txn), None);
}
