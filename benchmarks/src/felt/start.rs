//! The documents that workloads begin with. yatta writes them (V1); both engines load the same bytes.

use std::sync::Arc;

use yatta::types::Attrs;
use yatta::updates::decoder::Decode;
use yatta::{
    Any, Array, ClientID, Doc, Map, OffsetKind, Options, ReadTxn, StateVector, Text, Transact, Update,
    XmlElementPrelim, XmlFragment, XmlTextPrelim,
};

use super::key;
use crate::suite::Random;

/// Characters between two marks.
const STRETCH: u32 = 10;

fn empty(client: u64) -> Doc {
    Doc::with_options(Options {
        client_id: ClientID::new(client),
        offset_kind: OffsetKind::Utf16,
        ..Options::default()
    })
}

fn state(doc: &Doc) -> Vec<u8> {
    doc.transact().encode_state_as_update_v1(&StateVector::default())
}

/// Nothing.
pub fn nothing(_: u32) -> Vec<u8> {
    Vec::new()
}

/// A text with `marks` format marks: every other stretch of ten characters is bold.
pub fn marked_text(marks: u32) -> Vec<u8> {
    let doc = empty(1);
    let text = doc.get_or_insert_text("text");
    let bold: Attrs = std::iter::once((Arc::from("bold"), Any::from(true))).collect();
    let mut txn = doc.transact_mut();
    text.insert(&mut txn, 0, &"abcdefghij".repeat(marks as usize));
    for pair in 0..marks / 2 {
        text.format(&mut txn, pair * 2 * STRETCH, STRETCH, bold.clone());
    }
    drop(txn);
    state(&doc)
}

/// A text of `items` characters, each inserted at a random place.
pub fn typed_text(items: u32) -> Vec<u8> {
    let doc = empty(1);
    let text = doc.get_or_insert_text("text");
    let random = &mut Random::for_benchmark("typed text");
    let mut txn = doc.transact_mut();
    for len in 0..items {
        text.insert(&mut txn, random.between(0, len), &random.word(1, 1));
    }
    drop(txn);
    state(&doc)
}

/// An array of `elements` numbers, each inserted at a random place.
pub fn array(elements: u32) -> Vec<u8> {
    let doc = empty(1);
    let array = doc.get_or_insert_array("array");
    let random = &mut Random::for_benchmark("array");
    let mut txn = doc.transact_mut();
    for len in 0..elements {
        array.insert(&mut txn, random.between(0, len), random.number());
    }
    drop(txn);
    state(&doc)
}

/// A map of `keys` keys.
pub fn map(keys: u32) -> Vec<u8> {
    let doc = empty(1);
    let map = doc.get_or_insert_map("map");
    let mut txn = doc.transact_mut();
    for number in 0..keys {
        map.insert(&mut txn, key(number), i64::from(number));
    }
    drop(txn);
    state(&doc)
}

/// A fragment with `children` elements, each with a text in it.
pub fn wide_tree(children: u32) -> Vec<u8> {
    let doc = empty(1);
    let fragment = doc.get_or_insert_xml_fragment("xml");
    let mut txn = doc.transact_mut();
    for _ in 0..children {
        let child = fragment.push_back(&mut txn, XmlElementPrelim::empty("p"));
        child.push_back(&mut txn, XmlTextPrelim::new("some words"));
    }
    drop(txn);
    state(&doc)
}

/// `depth` elements, each inside the one before, and a text at the bottom.
pub fn deep_tree(depth: u32) -> Vec<u8> {
    let doc = empty(1);
    let fragment = doc.get_or_insert_xml_fragment("xml");
    let mut txn = doc.transact_mut();
    let mut inner = fragment.push_back(&mut txn, XmlElementPrelim::empty("div"));
    for _ in 1..depth {
        inner = inner.push_back(&mut txn, XmlElementPrelim::empty("div"));
    }
    inner.push_back(&mut txn, XmlTextPrelim::new(""));
    drop(txn);
    state(&doc)
}

/// A text to which `clients` clients gave a word each, one after the other, at random places.
///
/// # Panics
/// If yatta cannot read what it wrote.
pub fn clients(clients: u32) -> Vec<u8> {
    let all = empty(1_000_001);
    let text = all.get_or_insert_text("text");
    text.insert(&mut all.transact_mut(), 0, "The text that all of them share.");
    let random = &mut Random::for_benchmark("clients");
    for client in 1..=clients {
        let one = empty(u64::from(client));
        let own = one.get_or_insert_text("text");
        let load = |doc: &Doc, bytes: &[u8]| {
            let update = Update::decode_v1(bytes).expect("yatta reads what it wrote");
            doc.transact_mut().apply_update(update).expect("yatta applies what it wrote");
        };
        load(&one, &state(&all));
        let before = one.transact().state_vector();
        let at = random.between(0, own.len(&one.transact()));
        own.insert(&mut one.transact_mut(), at, &random.word(3, 8));
        let update = one.transact().encode_state_as_update_v1(&before);
        load(&all, &update);
    }
    state(&all)
}

/// A text of `bytes` bytes in chunks of a hundred, each inserted at a random place, and a map beside it.
pub fn large(bytes: u32) -> Vec<u8> {
    let doc = empty(1);
    let (text, map) = (doc.get_or_insert_text("text"), doc.get_or_insert_map("map"));
    let random = &mut Random::for_benchmark("large");
    let mut txn = doc.transact_mut();
    map.insert(&mut txn, "title", "A large document");
    for chunk in 0..bytes / 100 {
        text.insert(&mut txn, random.between(0, chunk * 100), &random.word(100, 100));
    }
    drop(txn);
    state(&doc)
}
