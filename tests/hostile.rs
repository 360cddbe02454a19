//! A user who reads no documentation: every call with extreme indices, handles of other documents and of types that are
//! gone, from anywhere. The only panics are those that are documented, where there is nothing to return; nothing is
//! broken after them.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg32;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use yatta::error::EditError;
use yatta::types::text::YChange;
use yatta::types::{AsPrelim, Attrs, Delta, ToJson};
use yatta::undo::UndoManager;
use yatta::updates::decoder::Decode;
use yatta::{
    Any, Array, ArrayPrelim, ArrayRef, Assoc, ClientID, DeepObservable, Doc, GetString, ID, IdSet, In,
    IndexedSequence, Map, MapPrelim, MapRef, Observable, OffsetKind, Options, Out, ReadTxn, Snapshot,
    StateVector, StickyIndex, Text, TextPrelim, TextRef, Transact, TransactionMut, Update, WriteTxn, Xml,
    XmlElementPrelim, XmlElementRef, XmlFragment, XmlFragmentRef, XmlOut, XmlTextPrelim, XmlTextRef, any,
};

/// The end of what a documented panic says.
const DOCUMENTED: [&str; 4] = [
    "belongs to another document than the transaction",
    "the shared type was deleted and collected",
    "is out of the bounds of a sequence of length",
    "element in a sequence of length",
];

/// Everything that was ever seen, whatever became of it.
#[derive(Default)]
struct Hands {
    texts: Vec<TextRef>,
    arrays: Vec<ArrayRef>,
    maps: Vec<MapRef>,
    fragments: Vec<XmlFragmentRef>,
    elements: Vec<XmlElementRef>,
    xml_texts: Vec<XmlTextRef>,
    places: Vec<StickyIndex>,
    snapshots: Vec<Snapshot>,
    docs: Vec<Doc>,
}

impl Hands {
    fn take(&mut self, value: Out) {
        match value {
            Out::YText(it) => self.texts.push(it),
            Out::YArray(it) => self.arrays.push(it),
            Out::YMap(it) => self.maps.push(it),
            Out::YXmlFragment(it) => self.fragments.push(it),
            Out::YXmlElement(it) => self.elements.push(it),
            Out::YXmlText(it) => self.xml_texts.push(it),
            Out::YDoc(it) => self.docs.push(it),
            _ => {}
        }
    }
}

fn pick<'a, T>(random: &mut Pcg32, from: &'a [T]) -> &'a T {
    &from[random.random_range(0..from.len())]
}

fn index(random: &mut Pcg32) -> u32 {
    match random.random_range(0..10) {
        0 => u32::MAX,
        1 => u32::MAX - 1,
        2 => 1 << 31,
        3 => random.random(),
        _ => random.random_range(0..6),
    }
}

fn string(random: &mut Pcg32) -> &'static str {
    const STRINGS: [&str; 9] =
        ["", "a", "\0", "\u{1F600}", "é中", "long text \u{fffd}\u{1F600}", "\r\n", "__proto__", "\u{202e}x"];
    STRINGS[random.random_range(0..STRINGS.len())]
}

fn attrs(random: &mut Pcg32) -> Attrs {
    (0..random.random_range(0..3)).map(|_| (string(random).into(), plain(random))).collect()
}

fn plain(random: &mut Pcg32) -> Any {
    match random.random_range(0..9) {
        0 => Any::Null,
        1 => Any::Undefined,
        2 => any!(f64::NAN),
        3 => any!(i64::MIN),
        4 => any!({ "__proto__": [null, { "": -0.0 }] }),
        5 => Any::from(vec![0_u8; 3]),
        6 => any!([]),
        7 => Any::from(string(random)),
        _ => any!(1),
    }
}

fn value(random: &mut Pcg32, hands: &Hands, txn: &TransactionMut<'_>) -> In {
    match random.random_range(0..11) {
        0 => In::from(TextPrelim::new(string(random))),
        1 => In::from(ArrayPrelim::from([1, 2])),
        2 => In::from(MapPrelim::from([(string(random), 1)])),
        3 => In::from(XmlElementPrelim::empty(string(random))),
        4 => In::from(XmlTextPrelim::new(string(random))),
        5 => In::Doc(if hands.docs.is_empty() || random.random() {
            Doc::new()
        } else {
            pick(random, &hands.docs).clone()
        }),
        6 => pick(random, &hands.maps).as_prelim(txn).into(),
        7 => pick(random, &hands.arrays).as_prelim(txn).into(),
        _ => In::Any(plain(random)),
    }
}

fn edit_text(random: &mut Pcg32, hands: &mut Hands, txn: &mut TransactionMut<'_>) {
    let text = pick(random, &hands.texts).clone();
    let xml = pick(random, &hands.xml_texts).clone();
    let (at, len) = (index(random), index(random));
    match random.random_range(0..17) {
        0 => text.insert(txn, at, string(random)),
        1 => text.insert_with_attributes(txn, at, string(random), attrs(random)),
        2 => drop(text.try_insert(txn, at, string(random))),
        3 => text.remove_range(txn, at, len),
        4 => drop(text.try_remove_range(txn, at, len)),
        5 => text.format(txn, at, len, attrs(random)),
        6 => drop(text.try_format(txn, at, len, attrs(random))),
        7 => text.format_padded(txn, at, len.min(40), attrs(random)),
        8 => {
            let delta = [
                Delta::Retain(at, Some(Box::new(attrs(random)))),
                Delta::Deleted(len),
                Delta::Inserted(value(random, hands, txn), Some(Box::new(attrs(random)))),
                Delta::Retain(0, None),
            ];
            text.apply_delta(txn, delta);
        }
        9 => {
            let embedded = text.insert_embed(txn, at, MapPrelim::default());
            hands.maps.push(embedded);
        }
        10 => _ = text.insert_embed_with_attributes(txn, at, plain(random), attrs(random)),
        11 => drop(text.diff(txn, YChange::identity)),
        12 => {
            let (hi, lo) = (pick(random, &hands.snapshots).clone(), pick(random, &hands.snapshots).clone());
            drop(text.diff_range(txn, Some(&hi), Some(&lo), YChange::identity));
        }
        13 => hands.places.extend(text.sticky_index(
            txn,
            at,
            if random.random() { Assoc::After } else { Assoc::Before },
        )),
        14 => xml.insert(txn, at, string(random)),
        15 => xml.format(txn, at, len, attrs(random)),
        _ => xml.remove_range(txn, at, len),
    }
    drop((text.get_string(txn), text.len(txn), xml.get_string(txn), Out::YText(text).to_json(txn)));
}

fn edit_array(random: &mut Pcg32, hands: &mut Hands, txn: &mut TransactionMut<'_>) {
    let array = pick(random, &hands.arrays).clone();
    let (at, len) = (index(random), index(random));
    match random.random_range(0..13) {
        0 => {
            let value = value(random, hands, txn);
            let inserted = array.insert(txn, at, value);
            hands.take(inserted);
        }
        1 => array.insert_range(txn, at, [plain(random), plain(random)]),
        2 => array.insert_range(txn, at, Vec::<Any>::new()),
        3 => {
            let value = value(random, hands, txn);
            if let Ok(inserted) = array.try_insert(txn, at, value) {
                hands.take(inserted);
            }
        }
        4 => drop(array.push_back(txn, plain(random))),
        5 => drop(array.push_front(txn, plain(random))),
        6 => array.remove(txn, at),
        7 => array.remove_range(txn, at, len),
        8 => drop(array.try_remove_range(txn, at, len)),
        9 => drop((array.get(txn, at), array.get_exact(txn, at), array.get_as::<_, u32>(txn, at).is_ok())),
        10 => hands.places.extend(array.sticky_index(txn, at, Assoc::After)),
        11 => drop(pick(random, &hands.snapshots).list_values(txn, &array)),
        _ => array.iter(txn).collect::<Vec<_>>().into_iter().for_each(|it| hands.take(it)),
    }
    drop((array.len(txn), array.to_json(txn)));
}

fn edit_map(random: &mut Pcg32, hands: &mut Hands, txn: &mut TransactionMut<'_>) {
    let map = pick(random, &hands.maps).clone();
    let key = string(random);
    match random.random_range(0..9) {
        0 | 1 => {
            let value = value(random, hands, txn);
            let inserted = map.insert(txn, key, value);
            hands.take(inserted);
        }
        2 => drop(map.try_insert(txn, key, plain(random))),
        3 => _ = map.try_update(txn, key, plain(random)),
        4 => drop(map.remove(txn, key)),
        5 => map.clear(txn),
        6 => {
            let array: ArrayRef = map.get_or_init(txn, key);
            hands.arrays.push(array);
        }
        7 => drop(pick(random, &hands.snapshots).map_entries(txn, &map)),
        _ => drop((map.get(txn, key), map.get_exact(txn, key), map.get_as::<_, String>(txn, key).is_ok())),
    }
    drop((
        map.len(txn),
        map.keys(txn).count(),
        map.values(txn).count(),
        map.iter(txn).count(),
        map.to_json(txn),
    ));
}

fn edit_xml(random: &mut Pcg32, hands: &mut Hands, txn: &mut TransactionMut<'_>) {
    let (fragment, element) = (pick(random, &hands.fragments).clone(), pick(random, &hands.elements).clone());
    let (at, len, name) = (index(random), index(random), string(random));
    match random.random_range(0..15) {
        0 => hands.elements.push(fragment.insert(txn, at, XmlElementPrelim::empty(name))),
        1 => hands.xml_texts.push(element.insert(txn, at, XmlTextPrelim::new(name))),
        2 => hands.elements.push(element.push_back(txn, XmlElementPrelim::empty(name))),
        3 => hands.elements.push(fragment.push_front(txn, XmlElementPrelim::empty(name))),
        4 => fragment.remove(txn, at),
        5 => element.remove_range(txn, at, len),
        6 => drop(element.try_remove_range(txn, at, len)),
        7 => drop(fragment.try_insert(txn, at, XmlTextPrelim::new(name))),
        8 => {
            let after = fragment.get(txn, at % 3).or_else(|| element.get(txn, at));
            let after = after.unwrap_or(XmlOut::Element(element.clone()));
            hands.elements.extend(fragment.insert_after(txn, Some(&after), XmlElementPrelim::empty(name)));
        }
        9 => _ = element.insert_attribute(txn, name, plain(random)),
        10 => drop(element.try_insert_attribute(txn, name, plain(random))),
        11 => element.remove_attribute(txn, &name),
        12 => drop((
            element.get_attribute(txn, name),
            element.attributes(txn).count(),
            element.siblings(txn).count(),
        )),
        13 => {
            drop((element.parent(), element.first_child(), fragment.parent(), element.children(txn).count()))
        }
        _ => drop((
            fragment.successors(txn).count(),
            fragment.query_selector_all(txn, name),
            element.tag().len(),
        )),
    }
    drop((fragment.get_string(txn), element.get_string(txn), fragment.len(txn), element.as_prelim(txn)));
}

/// What concerns a document as a whole.
fn ask(random: &mut Pcg32, hands: &mut Hands, txn: &mut TransactionMut<'_>) {
    match random.random_range(0..12) {
        0 => hands.snapshots.push(txn.snapshot()),
        1 => {
            let place = pick(random, &hands.places);
            drop((place.get_offset(txn), place.get_offset_without_undo(txn)));
        }
        2 => drop(pick(random, &hands.snapshots).create_doc(txn)),
        3 => {
            let clients = [1, 2, u64::from(index(random))];
            let ranges = clients.map(|client| {
                let start = index(random);
                (
                    ClientID::new(client),
                    std::iter::once(start..start.saturating_add(random.random_range(0..4))),
                )
            });
            txn.gc(Some(&IdSet::from_iter(ranges)));
        }
        4 => txn.gc(None),
        5 => drop(txn.doc().guid()),
        6 => drop(txn.prune_pending()),
        7 => {
            let state = StateVector::from_iter([
                (ClientID::new(1), index(random)),
                (ClientID::new(2), index(random)),
            ]);
            Update::decode_v1(&txn.encode_state_as_update_v1(&state)).expect("a difference reads");
        }
        8 => drop((
            txn.encode_update_v1(),
            txn.encode_update_v2(),
            txn.before_state().len(),
            txn.after_state().len(),
        )),
        9 => {
            // A second root of the same name as another kind, the empty name, a name that is no word.
            let name = *pick(random, &["", "t", "a", "m", "x", "\0"]);
            hands.texts.push(txn.get_or_insert_text(name));
            hands.maps.push(txn.get_or_insert_map(name));
            hands.arrays.push(txn.get_or_insert_array(name));
            hands.fragments.push(txn.get_or_insert_xml_fragment(name));
        }
        10 => {
            let names: Vec<String> = txn.root_refs().map(|(name, _)| name.to_owned()).collect();
            names.iter().for_each(|name| hands.take(txn.get(name).expect("a root")));
        }
        _ => {
            let docs: Vec<Doc> = txn.subdocs().cloned().collect();
            docs.into_iter().for_each(|doc| {
                doc.load(txn);
                if random.random() {
                    doc.destroy(Some(txn));
                }
            });
        }
    }
}

/// Runs a call; it may panic in the documented ways only.
fn call(what: &str, seed: u64, call: impl FnOnce()) {
    let Err(panic) = catch_unwind(AssertUnwindSafe(call)) else { return };
    let words = panic.downcast_ref::<String>().cloned();
    let words =
        words.or_else(|| panic.downcast_ref::<&str>().map(|words| (*words).to_owned())).unwrap_or_default();
    assert!(DOCUMENTED.iter().any(|end| words.contains(end)), "seed {seed}, {what}: {words}");
}

#[expect(clippy::too_many_lines, reason = "one arm a kind of round")]
fn play(seed: u64) {
    let random = &mut Pcg32::seed_from_u64(seed);
    let mut hands = Hands::default();
    let mut docs = Vec::new();
    for client in [1, 2] {
        let doc = Doc::with_options(Options {
            client_id: ClientID::new(client),
            skip_gc: random.random_bool(0.3),
            offset_kind: if random.random() { OffsetKind::Bytes } else { OffsetKind::Utf16 },
            ..Options::default()
        });
        let mut txn = doc.transact_mut();
        hands.texts.push(txn.get_or_insert_text("t"));
        hands.arrays.push(txn.get_or_insert_array("a"));
        hands.maps.push(txn.get_or_insert_map("m"));
        let root = txn.get_or_insert_xml_fragment("x");
        let element = root.push_back(&mut txn, XmlElementPrelim::empty("p"));
        hands.xml_texts.push(element.push_back(&mut txn, XmlTextPrelim::new("text")));
        hands.elements.push(element);
        hands.fragments.push(root);
        hands.snapshots.push(txn.snapshot());
        drop(txn);
        docs.push(doc);
    }
    hands.snapshots.push(Snapshot::new(StateVector::from_iter([(ClientID::new(9), u32::MAX)]), IdSet::new()));
    hands.places.push(StickyIndex::from_id(ID::new(ClientID::new(1), u32::MAX), Assoc::After));
    let mut managers: Vec<UndoManager<()>> = docs
        .iter()
        .map(|doc| {
            let mut manager = UndoManager::new();
            manager.expand_scope(doc, pick(random, &hands.texts));
            manager.expand_scope(doc, pick(random, &hands.maps));
            manager
        })
        .collect();
    let heard = Arc::new(Mutex::new(0));
    for round in 0..30 {
        let doc = pick(random, &docs).clone();
        let op = random.random_range(0..12);
        match op {
            0 => {
                let manager = &mut managers[random.random_range(0..2)];
                call("undo", seed, || {
                    _ = if round % 2 == 0 { manager.undo_blocking() } else { manager.redo_blocking() }
                });
            }
            1 => {
                let other = pick(random, &docs);
                let update = other.transact().encode_state_as_update_v1(&StateVector::default());
                doc.transact_mut()
                    .apply_update(Update::decode_v1(&update).expect("an update"))
                    .expect("it applies");
            }
            2 => {
                // From within a callback: reading, and what must be refused there.
                let (log, me) = (Arc::clone(&heard), doc.clone());
                let text = pick(random, &hands.texts).clone();
                pick(random, &hands.maps).observe_deep("deep", move |txn, events| {
                    drop((text.get_string(txn), text.len(txn), me.try_transact_mut().is_err()));
                    *log.lock().expect("no callback panics") +=
                        events.iter().map(|event| event.path().len()).sum::<usize>();
                });
                let texts = hands.texts.clone();
                pick(random, &hands.texts).observe("text", move |txn, event| {
                    _ = event.delta(txn).len();
                    texts.iter().for_each(|text| _ = text.unobserve("other"));
                });
            }
            _ => {
                let mut txn = doc.transact_mut();
                for _ in 0..random.random_range(1..5) {
                    let kind = random.random_range(0..5);
                    call(["text", "array", "map", "xml", "document"][kind], seed, || {
                        let edit = [edit_text, edit_array, edit_map, edit_xml, ask][kind];
                        edit(random, &mut hands, &mut txn);
                    });
                }
            }
        }
        docs.iter().for_each(Doc::check);
    }
    for doc in &docs {
        let txn = doc.transact();
        let update = txn.encode_state_as_update_v1(&StateVector::default());
        let copy = Doc::new();
        copy.transact_mut().apply_update(Update::decode_v1(&update).expect("an update")).expect("it applies");
        copy.check();
    }
}

/// A byte index within a character means the start of that character, in plain and in formatted text, and what comes after
/// at an index of its own goes where it says.
#[test]
fn a_byte_within_a_character() {
    let bold = || Attrs::from([("b".into(), true.into())]);
    for formatted in [false, true] {
        for at in 0..=8_u32 {
            let doc = Doc::with_client_id(1);
            let text = doc.get_or_insert_text("t");
            let whole = "中é😀";
            // An item a character, or one item for all.
            for split in [false, true] {
                let txn = &mut doc.transact_mut();
                text.remove_range(txn, 0, u32::MAX);
                text.insert(txn, 0, whole);
                if formatted {
                    text.format(txn, if split { 3 } else { 0 }, if split { 2 } else { 9 }, bold());
                } else if split {
                    text.insert(txn, 3, "-");
                    text.remove_range(txn, 3, 1);
                }
                let floor = (0..=at as usize).rev().find(|at| whole.is_char_boundary(*at)).expect("0 is one");
                text.insert(txn, at, "x");
                let mut expected = whole.to_owned();
                expected.insert(floor, 'x');
                assert_eq!(text.get_string(txn), expected, "{at} {formatted} {split}");
                text.insert(txn, floor as u32 + 1, "y");
                expected.insert(floor + 1, 'y');
                assert_eq!(text.get_string(txn), expected, "{at} {formatted} {split}");
                // Less than a character is nothing.
                text.remove_range(txn, at + 2, u32::from(at as usize != floor));
                text.insert_embed(txn, at + 2, 1);
                text.format(txn, at + 2, 1, bold());
                assert_eq!(text.get_string(txn), expected, "{at} {formatted} {split}");
            }
            doc.check();
        }
    }
}

/// Calls that can return an error do, for a transaction of another document and for a type that is gone.
#[test]
fn the_wrong_document_is_an_error() {
    let (doc, other) = (Doc::new(), Doc::new());
    let (text, array) = (doc.get_or_insert_text("t"), doc.get_or_insert_array("a"));
    let (map, xml) = (doc.get_or_insert_map("m"), doc.get_or_insert_xml_fragment("x"));
    let element = xml.push_back(&mut doc.transact_mut(), XmlElementPrelim::empty("p"));
    let txn = &mut other.transact_mut();
    let errors = [
        text.try_insert(txn, 0, "x").err(),
        text.try_remove_range(txn, 0, 0).err(),
        text.try_format(txn, 0, 0, Attrs::default()).err(),
        array.try_insert(txn, 0, 1).err(),
        array.try_remove_range(txn, 0, 0).err(),
        map.try_insert(txn, "k", 1).err(),
        xml.try_insert(txn, 0, XmlTextPrelim::new("x")).err(),
        xml.try_remove_range(txn, 0, 0).err(),
        xml.insert_after(txn, None, XmlTextPrelim::new("x")).err(),
        element.try_insert_attribute(txn, "k", "v").err(),
    ];
    assert!(errors.iter().all(|error| *error == Some(EditError::OtherDocument)), "{errors:?}");
    assert!(!txn.has_changes());
}

/// A format far beyond the end, as a peer's delta can ask for, is padded with no more than what an editor needs.
#[test]
fn padding_is_bounded() {
    let doc = Doc::new();
    let text = doc.get_or_insert_text("t");
    let bold = Box::new(Attrs::from([("b".into(), true.into())]));
    let txn = &mut doc.transact_mut();
    text.insert(txn, 0, "x");
    text.apply_delta(txn, [Delta::<In>::Retain(u32::MAX, Some(bold))]);
    assert_eq!(text.len(txn), 1 + (1 << 16));
}

#[test]
fn nothing_breaks() {
    let seeds = std::env::var("YATTA_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(150);
    std::panic::set_hook(Box::new(|_| {}));
    let first: u64 = std::env::var("YATTA_FIRST_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0);
    let mut failures = Vec::new();
    for seed in first..first + seeds {
        if let Err(panic) = catch_unwind(|| play(seed)) {
            let words = panic.downcast_ref::<String>().map(|words| format!("seed {seed}: {words}"));
            failures.push(
                words.unwrap_or_else(|| {
                    format!("seed {seed}: {}", panic.downcast_ref::<&str>().unwrap_or(&""))
                }),
            );
        }
    }
    drop(std::panic::take_hook());
    assert!(failures.is_empty(), "{} of {seeds}:\n{}", failures.len(), failures.join("\n"));
}
