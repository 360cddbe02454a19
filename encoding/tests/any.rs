//! Values: JSON text, depth, BigInts, maps, the macro, serde.

mod common;

use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::Arc;
use yatta_encoding::limits::MAX_DEPTH;
use yatta_encoding::serde_any::{AnySerializeError, from_any, to_any};
use yatta_encoding::{Any, AnyMap, Cursor, Decoder, DecoderV1, Error, Number, Value, any};

fn json(any: &Any) -> String {
    let mut text = String::new();
    any.to_json(&mut text);
    text
}

fn bytes(any: &Any) -> Vec<u8> {
    let mut bytes = Vec::new();
    any.encode(&mut bytes);
    bytes
}

#[test]
fn json_as_javascript_writes_it() {
    for (any, expected) in [
        (any!({ "b": 1, "1": [null, 2.5], "a": {} }), r#"{"1":[null,2.5],"b":1,"a":{}}"#),
        (any!({ "x": Any::Undefined, "y": [Any::Undefined] }), r#"{"y":[null]}"#),
        (any!({ "x": Any::Undefined }), "{}"),
        (any!([Any::from(vec![1_u8, 255]), vec![0_u8; 0]]), r#"[{"0":1,"1":255},{}]"#),
        (
            any!("\u{2028}\n\t\"\\/\u{7f}\u{1}\u{8}\u{c}\r\u{1F600}"),
            "\"\u{2028}\\n\\t\\\"\\\\/\u{7f}\\u0001\\b\\f\\r\u{1F600}\"",
        ),
        (any!([1e21, 1e-7, -0.0, 1.0, 123456789012345680000.0]), "[1e+21,1e-7,0,1,123456789012345680000]"),
        (any!([[[]], [{}], "["]), r#"[[[]],[{}],"["]"#),
        (any!(null), "null"),
    ] {
        assert_eq!(json(&any), expected);
    }
}

#[test]
fn json_as_javascript_reads_it() {
    for (text, expected) in [
        (" { \"a\" : [ 1 , -2.50 , 1E2 ] , \"b\" : { } }\n", any!({ "a": [1, -2.5, 100.0], "b": {} })),
        (r#""\u0041\ud83d\ude00\n\/é""#, any!("A\u{1F600}\n/é")),
        (r#""\ud83d\u0041\udc00""#, any!("\u{fffd}A\u{fffd}")),
        ("9007199254740991", any!(9007199254740991_i64)),
        ("12345678901234567890", any!(12345678901234567890.0)),
        ("1e400", any!(f64::INFINITY)),
        (r#"{"k":1,"z":2,"k":3}"#, any!({ "k": 3, "z": 2 })),
        ("[true,false,null]", any!([true, false, null])),
    ] {
        assert_eq!(Any::from_json(text).expect(text), expected, "{text}");
    }
    assert_eq!(bytes(&Any::from_json("-0").unwrap()), [0x7d, 0x40]);
    // Beyond 2^53 a number of a peer is what JavaScript makes of it, not a BigInt; here it stays what it says, as in yrs.
    assert_eq!(json(&Any::json_parse("9007199254740993").unwrap()), "9007199254740992");
    assert_eq!(Any::from_json("[9007199254740993]").unwrap(), any!([9007199254740993_i64]));
    assert_eq!(json(&Any::from_json("-9007199254740993").unwrap()), "-9007199254740993");
    for text in [
        "",
        " ",
        "undefined",
        "{",
        "[1,]",
        "{\"a\"}",
        "{\"a\":}",
        "{a:1}",
        "01",
        "1.",
        ".5",
        "+1",
        "1e",
        "-",
        "nul",
        "\"\n\"",
        "\"\\x\"",
        "\"\\u12g4\"",
        "\"",
        "[1 2]",
        "1 2",
        "{\"a\":1,}",
        "]",
        "NaN",
        "'a'",
        "\u{feff}1",
    ] {
        assert!(matches!(Any::from_json(text), Err(Error::InvalidJSON(_))), "{text:?}");
    }
}

#[test]
fn json_numbers_read_back_the_same() {
    let mut rng = fastrand::Rng::with_seed(7);
    for _ in 0..20_000 {
        let number = f64::from_bits(rng.u64(..));
        if number.is_finite() {
            let text = json(&any!(number));
            assert_eq!(text.parse::<f64>().unwrap(), number, "{text}");
            assert_eq!(Any::json_parse(&text).unwrap(), any!(number), "{text}");
        }
    }
}

/// Runs on a stack of 2 MiB, the size of a thread's by default.
fn on_a_small_stack(run: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new()
        .stack_size(2 << 20)
        .spawn(run)
        .expect("a thread")
        .join()
        .expect("no overflow");
}

/// `depth` containers, one in the other, as lib0 bytes.
fn nested(open: &[u8], depth: usize) -> Vec<u8> {
    let mut bytes = open.repeat(depth);
    bytes.push(126);
    bytes
}

#[test]
fn depth_does_not_cost_stack() {
    const { assert!(MAX_DEPTH >= 3500) };
    on_a_small_stack(|| {
        for open in [&[117_u8, 1][..], &[118, 1, 1, b'k'], &[117, 1, 118, 1, 1, b'k']] {
            let depth = if open.len() == 6 { MAX_DEPTH / 2 } else { MAX_DEPTH };
            let source = nested(open, depth);
            let any = Any::decode(&mut Cursor::new(&source)).expect("deep enough");
            assert_eq!(bytes(&any), source);
            let text = json(&any);
            let again = Any::from_json(&text).expect("deep enough");
            assert_eq!(again, any);
            assert_eq!(json(&again), text);
            assert!(any.to_string().len() > depth);
            drop(any.clone());
            drop((any, again));
        }
    });
}

#[test]
fn deeper_is_an_error() {
    on_a_small_stack(|| {
        for depth in [MAX_DEPTH + 1, 12_000, 1_000_000] {
            for open in [&[117_u8, 1][..], &[118, 1, 1, b'k']] {
                let error = Any::decode(&mut Cursor::new(&nested(open, depth))).unwrap_err();
                assert!(error.to_string().contains("nested too deep"), "{error}");
            }
            for (open, close) in [("[", "]"), ("{\"k\":", "}")] {
                let text = open.repeat(depth) + "1" + &close.repeat(depth);
                let error = Any::from_json(&text).unwrap_err();
                assert!(error.to_string().contains("nested too deep"), "{error}");
            }
        }
    });
}

#[test]
fn a_big_int_survives() {
    let roundtrip = |source: &[u8]| {
        let value = Value::decode(&mut Cursor::new(source)).unwrap();
        let mut out = Vec::new();
        value.encode(&mut out);
        (value, out)
    };
    // { z: [5n, bytes 01 00], 3: 2^60 (n), a: 1 } with its keys in another order than JavaScript's.
    let five = [122, 0, 0, 0, 0, 0, 0, 0, 5];
    let wide = [122, 16, 0, 0, 0, 0, 0, 0, 0];
    let source =
        [&[118, 3, 1, b'z', 117, 2][..], &five, &[116, 2, 1, 0], &[1, b'3'], &wide, &[1, b'a', 125, 1]]
            .concat();
    let (value, out) = roundtrip(&source);
    assert!(matches!(value, Value::Exact(_)));
    assert_eq!(*value.any(), any!({ "z": [5, vec![1_u8, 0]], "3": (1_i64 << 60), "a": 1 }));
    let canonical =
        [&[118, 3, 1, b'3'][..], &wide, &[1, b'z', 117, 2], &five, &[116, 2, 1, 0], &[1, b'a', 125, 1]]
            .concat();
    assert_eq!(out, canonical);
    assert_eq!(roundtrip(&canonical).0, value);

    let (value, out) = roundtrip(&five);
    assert_eq!((&value, &out[..]), (&Value::big_int(5), &five[..]));
    assert_ne!(value, Value::from(Any::from(5)), "5n is not 5");
    assert_eq!(value.into_any(), Any::from(5));
    // No number is 2^53+1, so an integer says it as well as a BigInt.
    assert!(matches!(Value::big_int((1 << 53) + 1), Value::Plain(_)));
    assert!(matches!(roundtrip(&[125, 5]).0, Value::Plain(_)));
}

#[test]
fn a_map_is_ordered_shared_and_like_a_hash_map() {
    let mut map: AnyMap = [("b", Any::from(1)), ("a", Any::from(2))].into();
    let shared = map.clone();
    assert_eq!(map.insert("c".to_owned(), Any::Null), None);
    assert_eq!(map.insert("b".to_owned(), Any::from(9)), Some(Any::from(1)));
    assert_eq!(map.keys().collect::<Vec<_>>(), ["b", "a", "c"]);
    assert_eq!(shared.values().collect::<Vec<_>>(), [&Any::from(1), &Any::from(2)]);
    let view: &HashMap<String, Any> = map.as_ref();
    assert_eq!(view.get("a"), Some(&Any::from(2)));
    assert_eq!(view.len(), 3);
    map.insert("d".to_owned(), Any::Null);
    assert_eq!(AsRef::<HashMap<String, Any>>::as_ref(&map).len(), 4, "a view is not kept across a change");
    assert_eq!(map.remove("a"), Some(Any::from(2)));
    assert_eq!(map.into_iter().map(|(k, _)| k).collect::<Vec<_>>(), ["b", "c", "d"]);
    let other: AnyMap = HashMap::from([("a".to_owned(), 2), ("b".to_owned(), 1)]).into();
    assert_eq!(shared, other, "order does not matter");
    assert_ne!(shared, AnyMap::new());
    let arc: AnyMap = Arc::new(HashMap::from([("a".to_owned(), Any::from(2))])).into();
    assert_eq!(arc.get("a"), Some(&Any::from(2)));
}

#[test]
fn the_macro_takes_what_json_does() {
    let (key, value) = ("computed", 3);
    let any = any!({
        "null": null, "list": [null, [], {}, [1,], { "a": 1, }, value + 1, -1],
        (key): value, "text": "a".to_owned() + "b", key: true,
    });
    assert_eq!(
        json(&any),
        r#"{"null":null,"list":[null,[],{},[1],{"a":1},4,-1],"computed":true,"text":"ab"}"#
    );
    assert_eq!(any!([]), Any::from(Vec::<Any>::new()));
    assert_eq!(any!(Some(2)), any!(2));
    assert_eq!(any!(None::<i32>), Any::Null);
}

#[test]
fn conversions_out_give_the_value_back() {
    assert_eq!(any!(5).cast::<u32>(), Ok(5));
    assert_eq!(any!(5.0).cast::<i64>(), Ok(5));
    assert_eq!(any!(-1).cast::<u64>(), Err(any!(-1)));
    assert_eq!(any!(70_000).cast::<u16>(), Err(any!(70_000)));
    assert_eq!(any!(1.5).cast::<i32>(), Err(any!(1.5)));
    assert_eq!(any!("x").cast::<String>(), Ok("x".to_owned()));
    assert_eq!(any!(true).cast::<bool>(), Ok(true));
    assert_eq!(any!(vec![1_u8]).cast::<Vec<u8>>(), Ok(vec![1]));
    assert_eq!(Any::try_from(u64::MAX), Err(u64::MAX));
    assert_eq!(Number::Float(9223372036854775808.0).as_i64(), None);
    assert_eq!(Number::Int(i64::MAX).as_f64(), None);
    assert_ne!(Number::Int(i64::MAX), Number::Float(9223372036854775808.0));
    assert_eq!(Number::Int(3), Number::Float(3.0));
}

#[test]
fn iterators_keep_the_order() {
    let map = any!({ "b": 1, "a": 2 });
    let keys: Vec<_> = map.try_iter().unwrap().map(|(key, value)| (key, value.clone())).collect();
    assert_eq!(keys, [(Some("b"), any!(1)), (Some("a"), any!(2))]);
    let owned: Vec<_> = map.try_into_iter().unwrap().collect();
    assert_eq!(owned, [(Some("b".to_owned()), any!(1)), (Some("a".to_owned()), any!(2))]);
    let array: Vec<_> = any!([1, "x"]).try_into_iter().unwrap().collect();
    assert_eq!(array, [(None, any!(1)), (None, any!("x"))]);
    assert!(any!(1).try_iter().is_none());
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Shape<'a> {
    name: &'a str,
    sides: Vec<Option<u8>>,
    area: f64,
    largest: i64,
    kind: Kind,
    tuple: (i16, char),
    missing: Option<bool>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum Kind {
    Unit,
    Newtype(String),
    Tuple(u8, u8),
    Struct { deep: bool },
}

#[test]
fn serde_there_and_back() {
    let kinds = [Kind::Unit, Kind::Newtype("n".into()), Kind::Tuple(1, 2), Kind::Struct { deep: true }];
    for kind in kinds {
        let sides = vec![Some(1), None];
        let shape =
            Shape { name: "s", sides, area: 2.0, largest: i64::MAX, kind, tuple: (-5, 'ü'), missing: None };
        let any = to_any(&shape).unwrap();
        assert_eq!(from_any::<Shape<'_>>(&any).unwrap(), shape);
        let text = serde_json::to_string(&any).unwrap();
        assert_eq!(serde_json::from_str::<Any>(&text).unwrap(), any, "{text}");
    }
    assert_eq!(from_any::<Any>(&any!({ "a": [1, 2.5, null] })).unwrap(), any!({ "a": [1, 2.5, null] }));
    assert!(matches!(from_any::<i8>(&any!(1000)), Err(Error::UnexpectedValue)));
    assert!(matches!(from_any::<i8>(&any!(1.5)), Err(Error::TypeMismatch("i8"))));
    assert!(matches!(to_any(&u64::MAX), Err(AnySerializeError::UnrepresentableInt)));
    assert!(matches!(to_any(&HashMap::from([(1, 2)])), Err(AnySerializeError::MapKeyNotString)));
    assert_eq!(serde_json::to_string(&Any::from(vec![1_u8, 2])).unwrap(), "[1,2]");
    assert_eq!(serde_json::to_string(&any!([1.0, Any::Undefined])).unwrap(), "[1,null]");
    assert!(serde_json::from_str::<Any>(&u64::MAX.to_string()).is_err());
}

#[test]
fn words_for_people() {
    let any = any!({ "a": [1, 2.5, "x"], "b": null });
    assert_eq!(any.to_string(), "{a: [1, 2.5, x], b: null}");
    assert_eq!(Any::from(vec![1_u8, 255]).to_string(), "0x01ff");
    assert_eq!(Any::Undefined.to_string(), "undefined");
}

/// Lists have a short way for small integers: it must read what the long way reads, and stop where that stops.
#[test]
fn lists_of_values_read_as_single_ones() {
    let mut wire = Vec::new();
    let mut expected = Vec::new();
    let edges = (0..53).flat_map(|bit| [-1i64, 0, 1].map(|near| (1i64 << bit) + near));
    let ints = edges.flat_map(|int| [int, -int]).map(|int| Any::Number(Number::Int(int)));
    let others =
        [Any::Number(Number::Float(-0.0)), Any::Number(Number::Float(0.5)), Any::Null, Any::from("a")];
    for any in ints.chain(others) {
        let single = bytes(&any);
        expected.push(Any::decode(&mut Cursor::new(&single)).unwrap());
        wire.extend(single);
    }
    let count = expected.len() as u32;
    let mut values = Vec::new();
    DecoderV1::new(Cursor::new(&wire)).read_values(count, &mut values).unwrap();
    let read: Vec<Any> = values.into_iter().map(Value::into_any).collect();
    assert_eq!(format!("{read:?}"), format!("{expected:?}"));
    for cut in 0..wire.len() {
        let mut decoder = DecoderV1::new(Cursor::new(&wire[..cut]));
        assert!(decoder.read_values(count, &mut Vec::new()).is_err(), "cut at {cut}");
    }
    // -0 and a number with needless bytes.
    let mut values = Vec::new();
    DecoderV1::new(Cursor::new(&[125, 0x40, 125, 0x81, 0])).read_values(2, &mut values).unwrap();
    assert_eq!(format!("{:?}", values[0].any()), format!("{:?}", Any::Number(Number::Float(-0.0))));
    assert_eq!(values[1].any(), &Any::Number(Number::Int(1)));
}

/// Yjs writes such an embed in V2 and fails in V1 (`Do not know how to serialize a BigInt`). What we write there is what
/// `JSON.stringify(JSON.parse(digits))` gives, so that it stays the same with everyone who reads and writes it again.
#[test]
fn a_big_int_in_json_is_the_number_that_javascript_reads() {
    use yatta_encoding::update::{convert_v1_to_v2, convert_v2_to_v1};
    // insertEmbed(0, { n: 9007199254740993n, m: [5n, -9223372036854775808n, 9007199254740992n] }) in Yjs 13.6.33
    let embed = common::unhex(concat!(
        "000001010000010503017401010100000101007602016e7a0020000000000001016d75037a",
        "00000000000000057a80000000000000007a002000000000000000",
    ));
    let text = r#"{"n":9007199254740992,"m":[5,-9223372036854776000,9007199254740992]}"#;
    let v1 = convert_v2_to_v1(&embed).unwrap();
    assert!(v1.windows(text.len()).any(|part| part == text.as_bytes()), "{}", String::from_utf8_lossy(&v1));
    assert_eq!(convert_v2_to_v1(&convert_v1_to_v2(&v1).unwrap()).unwrap(), v1);
    // In V2 nothing changes.
    assert_eq!(common::rewrite_v2(&embed).unwrap(), embed);
}
