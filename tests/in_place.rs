//! Updates of one keystroke are taken in without a new item (engine/in_place.rs). What they leave must be what the same
//! blocks leave when they come in one update, which goes the long way: the same bytes, the same text, all invariants.

#![expect(clippy::unwrap_used, reason = "a test stops where it fails")]

use std::sync::{Arc, Mutex};

use rand::{Rng, SeedableRng};
use yatta::types::text::TextEvent;
use yatta::types::{Attrs, Delta};
use yatta::undo::UndoManager;
use yatta::updates::decoder::Decode;
use yatta::{
    Any, Array, ArrayRef, ClientID, Doc, GetString, Observable, OffsetKind, Options, Out, ReadTxn,
    StateVector, Text, TextRef, Transact, Update, merge_updates_v1,
};

fn doc_of(client: u64, offset_kind: OffsetKind) -> Doc {
    Doc::with_options(Options { client_id: ClientID::new(client), offset_kind, ..Options::default() })
}

fn state(doc: &Doc) -> Vec<u8> {
    doc.transact().encode_state_as_update_v1(&StateVector::default())
}

fn apply(doc: &Doc, update: &[u8]) {
    doc.transact_mut().apply_update(Update::decode_v1(update).unwrap()).unwrap();
    doc.check();
}

/// A document that keeps its updates, one a transaction.
struct Author {
    doc: Doc,
    text: TextRef,
    array: ArrayRef,
    log: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl Author {
    fn new(client: u64) -> Self {
        let doc = doc_of(client, OffsetKind::Utf16);
        let (text, array) = (doc.get_or_insert_text("t"), doc.get_or_insert_array("a"));
        let log = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&log);
        doc.observe_update_v1("log", move |_, event| kept.lock().unwrap().push(event.update.clone()))
            .unwrap();
        Self { doc, text, array, log }
    }

    fn insert(&self, index: u32, chunk: &str) {
        self.text.insert(&mut self.doc.transact_mut(), index, chunk);
    }

    fn remove(&self, index: u32, len: u32) {
        self.text.remove_range(&mut self.doc.transact_mut(), index, len);
    }

    /// Types char by char from `index` on.
    fn type_at(&self, index: u32, chars: &str) {
        let mut index = index;
        for char in chars.chars() {
            self.insert(index, char.encode_utf8(&mut [0; 4]));
            index += char.len_utf16() as u32;
        }
    }

    fn log(&self) -> Vec<Vec<u8>> {
        self.log.lock().unwrap().clone()
    }
}

/// Applies updates one by one, and the same in one, for both ways to count; returns the text.
fn agree(updates: &[Vec<u8>]) -> String {
    let mut texts = Vec::new();
    for offset_kind in [OffsetKind::Utf16, OffsetKind::Bytes] {
        let [single, whole] = [50, 51].map(|client| doc_of(client, offset_kind));
        for update in updates {
            apply(&single, update);
        }
        apply(&whole, &merge_updates_v1(updates).unwrap());
        assert_eq!(state(&single), state(&whole), "{offset_kind:?}");
        for doc in [single, whole] {
            let text = doc.get_or_insert_text("t");
            texts.push(text.get_string(&doc.transact()));
            let len = match offset_kind {
                OffsetKind::Bytes => texts[0].len(),
                OffsetKind::Utf16 => texts[0].encode_utf16().count(),
            };
            assert_eq!(text.len(&doc.transact()) as usize, len);
        }
    }
    assert!(texts.iter().all(|text| *text == texts[0]), "{texts:?}");
    texts.swap_remove(0)
}

#[test]
fn typing_and_deleting_at_a_cursor() {
    let author = Author::new(1);
    author.type_at(0, "naïve 😀 text");
    author.remove(11, 1); // "t" at the end: makes a deleted run
    for index in [10, 9, 8] {
        author.remove(index, 1); // backspace: widens it
    }
    author.type_at(8, "end");
    author.remove(0, 1);
    author.remove(0, 1); // forward: the head goes to the run at its left
    author.type_at(3, "xyz");
    author.remove(3, 1);
    author.remove(3, 1);
    author.remove(3, 1);
    assert_eq!(agree(&author.log()), author.text.get_string(&author.doc.transact()));
}

/// Neighbours that must not be written into: formatted text, another client's item at the same place, a collected one.
#[test]
fn neighbours_of_other_kinds() {
    let (ada, bob) = (Author::new(1), Author::new(2));
    ada.type_at(0, "abc");
    apply(&bob.doc, &state(&ada.doc));
    // Both write at the end of "abc": the item of Ada is not followed by its right origin any more for one of them.
    bob.type_at(3, "BBB");
    ada.type_at(3, "def");
    apply(&ada.doc, &state(&bob.doc));
    ada.type_at(9, "!");
    ada.type_at(6, "ghi");
    let bold = Attrs::from([(Arc::from("bold"), Any::Bool(true))]);
    ada.text.format(&mut ada.doc.transact_mut(), 0, 4, bold);
    ada.type_at(4, "jkl");
    ada.remove(6, 1);
    ada.remove(5, 1);
    for number in 0..5 {
        ada.array.push_back(&mut ada.doc.transact_mut(), number);
    }
    ada.array.remove(&mut ada.doc.transact_mut(), 4);
    ada.array.push_back(&mut ada.doc.transact_mut(), "after the deleted one");
    let mut log = ada.log();
    log.splice(6..6, bob.log());
    assert_eq!(agree(&log), ada.text.get_string(&ada.doc.transact()));
}

#[test]
fn random_sessions() {
    const CHARS: [&str; 6] = ["a", "b", "é", "語", "😀", " "];
    for seed in 0..150 {
        println!("seed {seed}");
        let mut random = rand_pcg::Pcg32::seed_from_u64(seed);
        let authors = [Author::new(1), Author::new(2)];
        let mut all = Vec::new();
        let mut cursor = 0;
        for step in 0..80 {
            let author = &authors[usize::from(step / 20 % 2 == 1 && seed % 3 > 0)];
            let len = author.text.len(&author.doc.transact());
            cursor = if random.random_bool(0.15) { random.random_range(0..=len) } else { cursor.min(len) };
            let done = author.log().len();
            match random.random_range(0..12) {
                0..6 => {
                    let char = CHARS[random.random_range(0..CHARS.len())];
                    author.insert(cursor, char);
                    cursor += char.encode_utf16().count() as u32;
                }
                6..8 if cursor > 0 => {
                    cursor -= 1;
                    author.remove(cursor, 1);
                }
                8 => author.remove(cursor, random.random_range(1..3)),
                9 if seed % 4 == 0 => {
                    let value = if random.random() { Any::Null } else { Any::Bool(true) };
                    let bold = Attrs::from([(Arc::from("bold"), value)]);
                    author.text.format(&mut author.doc.transact_mut(), cursor, 2, bold);
                }
                10 => {
                    author.array.push_back(&mut author.doc.transact_mut(), step);
                }
                11 if random.random_bool(0.3) => {
                    let other = &authors[usize::from(std::ptr::eq(author, &raw const authors[0]))];
                    apply(&other.doc, &state(&author.doc));
                    let known = other.doc.transact().state_vector();
                    apply(&author.doc, &state(&other.doc));
                    assert_eq!(author.doc.transact().state_vector(), known);
                    continue;
                }
                _ => {}
            }
            all.extend(author.log().drain(done..));
        }
        agree(&all);
    }
}

/// The item that took the keystroke in is old up to there: the event tells of the new part alone.
#[test]
fn events_tell_of_the_new_part() {
    let author = Author::new(1);
    let reader = doc_of(9, OffsetKind::Utf16);
    let text = reader.get_or_insert_text("t");
    let deltas = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&deltas);
    text.observe("delta", move |txn, event: &TextEvent| seen.lock().unwrap().push(event.delta(txn).to_vec()));
    author.type_at(0, "ab");
    author.remove(1, 1);
    author.remove(0, 1);
    author.type_at(0, "x");
    author.insert(1, "yz");
    for update in author.log() {
        apply(&reader, &update);
    }
    let new = |text: &str| Delta::Inserted(Out::Any(Any::from(text)), None);
    let expected = [
        vec![new("a")],
        vec![Delta::Retain(1, None), new("b")],
        vec![Delta::Retain(1, None), Delta::Deleted(1)],
        vec![Delta::Deleted(1)],
        vec![new("x")],
        vec![Delta::Retain(1, None), new("yz")],
    ];
    assert_eq!(*deltas.lock().unwrap(), expected);
}

/// The reader edits right of where the keystrokes of the other arrive: its search marker must not keep an old index.
#[test]
fn the_search_marker_of_the_reader() {
    let author = Author::new(1);
    author.type_at(0, "left ");
    let reader = doc_of(9, OffsetKind::Utf16);
    let text = reader.get_or_insert_text("t");
    apply(&reader, &state(&author.doc));
    let mut known = author.log().len();
    text.insert(&mut reader.transact_mut(), 5, "right");
    apply(&author.doc, &state(&reader));
    for step in 0..6 {
        match step {
            0..3 => author.insert(5 + step, "."),
            _ => author.remove(10 - step, 1),
        }
        for update in &author.log()[known..] {
            apply(&reader, update);
        }
        known = author.log().len();
        let len = text.len(&reader.transact());
        text.insert(&mut reader.transact_mut(), len, "!");
        reader.check();
        apply(&author.doc, &state(&reader));
        known = known.max(author.log().len());
        assert_eq!(text.get_string(&reader.transact()), author.text.get_string(&author.doc.transact()));
    }
}

/// A run that an undo manager keeps takes nothing in: what it does not bring back must be collected.
#[test]
fn a_kept_run_takes_nothing_in() {
    let author = Author::new(1);
    author.type_at(0, "abcdef");
    let reader = doc_of(9, OffsetKind::Utf16);
    let text = reader.get_or_insert_text("t");
    let mut undo = UndoManager::<()>::new();
    undo.expand_scope(&reader, &text);
    undo.include_origin("reader");
    apply(&reader, &state(&author.doc));
    text.remove_range(&mut reader.transact_mut_with("reader"), 3, 1);
    reader.check();
    let known = author.log().len();
    author.remove(2, 1);
    author.remove(3, 1);
    for update in &author.log()[known..] {
        apply(&reader, update);
    }
    assert_eq!(text.get_string(&reader.transact()), "abf");
    assert!(undo.undo_blocking());
    reader.check();
    assert_eq!(text.get_string(&reader.transact()), "abdf");
}

/// Nothing of an update that cannot be decoded is taken in.
#[test]
fn an_update_that_is_cut_short_changes_nothing() {
    let author = Author::new(1);
    author.type_at(0, "abc");
    let log = author.log();
    let reader = doc_of(9, OffsetKind::Utf16);
    apply(&reader, &log[0]);
    apply(&reader, &log[1]);
    let before = state(&reader);
    for len in 0..log[2].len() {
        assert!(Update::decode_v1(&log[2][..len]).is_err(), "{len} bytes");
    }
    assert_eq!(state(&reader), before);
}
