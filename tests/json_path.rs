//! JSON paths, against yrs as the oracle: random paths over random data, as plain values and as documents.
//!
//! Results are compared as sorted lists: yrs walks maps in an order of chance. Where yrs panics there is nothing to
//! compare with, and we must not panic; how often that may be is bounded.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg32;
use std::panic::catch_unwind;
use yatta::types::ToJson;
use yatta::types::xml::{XmlDeltaPrelim, XmlIn};
use yatta::updates::decoder::Decode as _;
use yatta::{
    Any, ArrayPrelim, Doc, In, JsonPath, JsonPathEval, Map, MapPrelim, Out, ReadTxn, StateVector, Transact,
    WriteTxn, XmlElementPrelim, XmlTextPrelim,
};
use yrs::types::ToJson as _;
use yrs::updates::decoder::Decode as _;
use yrs::{JsonPathEval as _, Transact as _, WriteTxn as _};

const KEYS: [&str; 4] = ["a", "b", "c d", "e"];

fn value(rng: &mut Pcg32, depth: u32) -> serde_json::Value {
    use serde_json::Value;
    match rng.random_range(0..if depth == 0 { 2 } else { 9 }) {
        0 => Value::from(rng.random_range(0..100)),
        1 => Value::from(KEYS[rng.random_range(0..KEYS.len())]),
        2..5 => (0..rng.random_range(0..5)).map(|_| value(rng, depth - 1)).collect(),
        _ => object(rng, depth),
    }
}

fn object(rng: &mut Pcg32, depth: u32) -> serde_json::Value {
    (0..rng.random_range(0..6))
        .map(|_| (KEYS[rng.random_range(0..KEYS.len())].to_owned(), value(rng, depth - 1)))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

fn path(rng: &mut Pcg32) -> String {
    let mut path = String::from("$");
    for _ in 0..rng.random_range(0..4) {
        path += &match rng.random_range(0..14) {
            0 => ".a".to_owned(),
            1 => ".b".to_owned(),
            2 => "['c d']".to_owned(),
            3 => "..".to_owned() + ["a", "b", "e", "*", "", "[0]"][rng.random_range(0..6)],
            4 => ".*".to_owned(),
            5 => "[*]".to_owned(),
            6 => format!("[{}]", rng.random_range(-4..4)),
            7 => format!("[{}:{}]", rng.random_range(0..3), rng.random_range(0..5)),
            8 => format!("[::{}]", rng.random_range(0..4)),
            9 => "['a', 'c d','x']".to_owned(),
            11 | 12 => ".x".to_owned(),
            10 => format!("[{}, {}]", rng.random_range(-3..3), rng.random_range(-3..3)),
            _ => ["$", "@", ".e"][rng.random_range(0..3)].to_owned(),
        };
    }
    path
}

/// Whether a slice of this path ends before it begins: yrs counts below zero there, which is a panic in a debug build and any
/// result in a release build.
fn overflows(path: &str) -> bool {
    let mut slices = path.split('[').filter_map(|part| part.split_once(']')?.0.split_once(':'));
    slices.any(|(from, to)| {
        let number = |text: &str| text.parse::<u32>();
        matches!((number(from), number(to)), (Ok(from), Ok(to)) if from > to)
    })
}

fn sorted(mut results: Vec<String>) -> Vec<String> {
    // in yrs also the keys within a result stand in an order of chance
    for result in &mut results {
        let parsed: serde_json::Value = serde_json::from_str(result).expect("JSON of a result");
        *result = parsed.to_string();
    }
    results.sort();
    results
}

fn json(any: &Any) -> String {
    let mut text = String::new();
    any.to_json(&mut text);
    text
}

fn yrs_json(any: &yrs::Any) -> String {
    let mut text = String::new();
    any.to_json(&mut text);
    text
}

#[test]
fn plain_data_as_in_yrs() {
    let (mut compared, mut panicked, mut found) = (0, 0, 0);
    for seed in 0..4000 {
        let mut rng = Pcg32::seed_from_u64(seed);
        let data = object(&mut rng, 4).to_string();
        let text = path(&mut rng);
        let ours = Any::from_json(&data).expect("JSON");
        let parsed = JsonPath::parse(&text).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let ours = sorted(ours.json_path(&parsed).map(json).collect());
        let theirs = catch_unwind(|| {
            let data = yrs::Any::from_json(&data).expect("JSON");
            let parsed = yrs::JsonPath::parse(&text).expect("a path");
            data.json_path(&parsed).map(yrs_json).collect::<Vec<_>>()
        });
        match theirs {
            Ok(theirs) if !overflows(&text) => {
                assert_eq!(ours, sorted(theirs), "seed {seed}: {text} of {data}");
                compared += 1;
                found += ours.len();
            }
            _ => panicked += 1,
        }
    }
    assert!(
        panicked < compared / 4 && found > compared / 2,
        "{compared} compared, {panicked} panics, {found} results"
    );
}

fn prelim(value: &serde_json::Value) -> In {
    match value {
        serde_json::Value::Array(values) => In::Array(values.iter().map(prelim).collect::<ArrayPrelim>()),
        serde_json::Value::Object(entries) => {
            In::Map(entries.iter().map(|(key, value)| (key.as_str(), prelim(value))).collect::<MapPrelim>())
        }
        plain => In::Any(Any::from_json(&plain.to_string()).expect("JSON")),
    }
}

/// XML nodes with an attribute at most each: yrs writes several in an order of chance.
fn nodes(rng: &mut Pcg32, depth: u32) -> Vec<XmlIn> {
    let node = |rng: &mut Pcg32| {
        let attribute = KEYS[rng.random_range(0..KEYS.len())];
        let attribute =
            rng.random_bool(0.7).then(|| (attribute.into(), rng.random_range(0..100).to_string()));
        if depth == 0 || rng.random_bool(0.3) {
            let mut text = XmlDeltaPrelim::from(XmlTextPrelim::new("text"));
            text.attributes.extend(attribute);
            return XmlIn::Text(text);
        }
        let mut element = XmlElementPrelim::new("el", nodes(rng, depth - 1));
        element.attributes.extend(attribute);
        XmlIn::Element(element)
    };
    (0..rng.random_range(0..4)).map(|_| node(rng)).collect()
}

/// The document is a map `a`, a list `b` and an XML fragment `x`; the map holds an XML element too.
#[test]
fn documents_as_in_yrs() {
    let (mut compared, mut panicked, mut found) = (0, 0, 0);
    for seed in 0..2000 {
        let mut rng = Pcg32::seed_from_u64(seed);
        let text = path(&mut rng);
        // Several members of an XML node at once are none in yrs.
        let with_xml = !text.contains("['a'");
        let doc = Doc::with_client_id(1);
        let update = {
            let mut txn = doc.transact_mut();
            let map = txn.get_or_insert_map("a");
            for (key, value) in object(&mut rng, 3).as_object().expect("an object") {
                map.insert(&mut txn, key.as_str(), prelim(value));
            }
            let list = txn.get_or_insert_array("b");
            for _ in 0..rng.random_range(0..4) {
                let value = prelim(&value(&mut rng, 3));
                yatta::Array::push_back(&list, &mut txn, value);
            }
            let fragment = txn.get_or_insert_xml_fragment("x");
            if with_xml {
                map.insert(&mut txn, "x", XmlElementPrelim::new("p", nodes(&mut rng, 2)));
                for node in nodes(&mut rng, 3) {
                    yatta::XmlFragment::push_back(&fragment, &mut txn, node);
                }
            }
            txn.encode_state_as_update_v1(&StateVector::default())
        };
        let parsed = JsonPath::parse(&text).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let txn = doc.transact();
        let ours = sorted(txn.json_path(&parsed).map(|out: Out| json(&out.to_json(&txn))).collect());
        let theirs = catch_unwind(|| {
            let doc = yrs::Doc::with_client_id(2);
            let mut txn = doc.transact_mut();
            txn.get_or_insert_map("a");
            txn.get_or_insert_array("b");
            txn.get_or_insert_xml_fragment("x");
            txn.apply_update(yrs::Update::decode_v1(&update).expect("an update")).expect("applies");
            let parsed = yrs::JsonPath::parse(&text).expect("a path");
            let results: Vec<yrs::Out> = txn.json_path(&parsed).collect();
            results.iter().map(|out| yrs_json(&out.to_json(&txn))).collect::<Vec<_>>()
        });
        match theirs {
            Ok(theirs) if !overflows(&text) => {
                assert_eq!(ours, sorted(theirs), "seed {seed}: {text}");
                compared += 1;
                found += ours.len();
            }
            _ => panicked += 1,
        }
    }
    assert!(
        panicked < compared / 4 && found > compared / 4,
        "{compared} compared, {panicked} panics, {found} results"
    );
}

/// What yrs does not do: several attributes at once. What it does: each kind of step, one by one.
#[test]
fn into_xml() {
    let doc = Doc::with_client_id(1);
    let mut txn = doc.transact_mut();
    let fragment = txn.get_or_insert_xml_fragment("x");
    let mut p = XmlElementPrelim::new("p", [XmlIn::Text(XmlTextPrelim::new("one").into())]);
    p.attributes.extend([("id".into(), "1".to_owned()), ("class".into(), "c".to_owned())]);
    let div =
        XmlElementPrelim::new("div", [XmlIn::Element(p), XmlIn::Text(XmlTextPrelim::new("two").into())]);
    yatta::XmlFragment::push_back(&fragment, &mut txn, div);
    for (text, expected) in [
        ("$.x[0][0].id", &["\"1\""][..]),
        ("$.x[0][-1]", &["\"two\""]),
        ("$.x[0][0]['id','class']", &["\"1\"", "\"c\""]),
        ("$.x.*[1]", &["\"two\""]),
        ("$.x[0][0:1].class", &["\"c\""]),
        ("$.x[0][1,0][0]", &["\"one\""]),
        ("$..class", &["\"c\""]),
        ("$.x.id", &[]),
    ] {
        let path = JsonPath::parse(text).expect(text);
        let found: Vec<String> = txn.json_path(&path).map(|out| json(&out.to_json(&txn))).collect();
        assert_eq!(found, expected, "{text}");
    }
}

/// Roots that nobody has asked for by kind, as after an update on a fresh document.
#[test]
fn roots_without_a_kind() {
    let doc = Doc::with_client_id(1);
    let update = {
        let mut txn = doc.transact_mut();
        let list = txn.get_or_insert_array("list");
        yatta::Array::insert_range(&list, &mut txn, 0, [10, 20, 30]);
        let map = txn.get_or_insert_map("map");
        map.insert(&mut txn, "key", "value");
        txn.encode_state_as_update_v1(&StateVector::default())
    };
    let fresh = Doc::with_client_id(2);
    fresh
        .transact_mut()
        .apply_update(yatta::Update::decode_v1(&update).expect("an update"))
        .expect("applies");
    let txn = fresh.transact();
    for (text, expected) in [
        ("$.list[*]", &["10", "20", "30"][..]),
        ("$.list[-1]", &["30"]),
        ("$.list[0,2]", &["10", "30"]),
        ("$.list[1:]", &["20", "30"]),
        ("$.map.key", &["\"value\""]),
        ("$.map['key','none']", &["\"value\""]),
        ("$.map.*", &["\"value\""]),
        ("$..key", &["\"value\""]),
    ] {
        let path = JsonPath::parse(text).expect(text);
        let found: Vec<String> = txn.json_path(&path).map(|out| json(&out.to_json(&txn))).collect();
        assert_eq!(found, expected, "{text}");
    }
}

/// yrs recurses once for each child on which a path fails.
#[test]
fn a_million_misses_fit_the_stack() {
    let data = Any::from(vec![Any::from(1i32); 1_000_000]);
    let path = JsonPath::parse("$[*].name").expect("a path");
    assert_eq!(data.json_path(&path).count(), 0);
    let mut deep = "[".repeat(3000);
    deep += &"]".repeat(3000);
    let deep = Any::from_json(&deep).expect("JSON");
    let path = JsonPath::parse("$..name").expect("a path");
    assert_eq!(deep.json_path(&path).count(), 0);
}
