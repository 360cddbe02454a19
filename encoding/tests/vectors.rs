//! Bytes that real Yjs and lib0 made, read and written again.

mod common;

use common::{golden, hex, rewrite_v1, rewrite_v2, text, unhex};
use yatta_encoding::column::{
    IntDiffOptRleReader, IntDiffOptRleWriter, RleReader, RleWriter, StringReader, StringWriter,
    UintOptRleReader, UintOptRleWriter,
};
use yatta_encoding::update::{
    convert_v1_to_v2, convert_v2_to_v1, encode_state_vector_from_update_v1,
    encode_state_vector_from_update_v2,
};
use yatta_encoding::{Any, Cursor, Number, Read, Signed, Value, Write, any};

const FILE: &str = "vectors/yjs-vectors.json";

#[test]
fn updates_are_written_as_they_were_read() {
    let file = golden(FILE);
    let updates = file["vectors"].as_array().unwrap().iter().filter(|v| v["kind"] == "update");
    let mut count = 0;
    for vector in updates {
        let name = text(vector, "name");
        let v1 = text(vector, "v1");
        assert_eq!(hex(&rewrite_v1(&unhex(v1)).expect(name)), v1, "{name} in V1");
        let v2 = text(vector, "v2");
        assert_eq!(hex(&rewrite_v2(&unhex(v2)).expect(name)), v2, "{name} in V2");
        if vector["conv_v1_to_v2_equal"] == true {
            assert_eq!(hex(&convert_v1_to_v2(&unhex(v1)).expect(name)), v2, "{name} to V2");
        }
        if vector["conv_v2_to_v1_equal"] == true {
            assert_eq!(hex(&convert_v2_to_v1(&unhex(v2)).expect(name)), v1, "{name} to V1");
        }
        // The state vector of a whole state, in which nothing is pending, is that of its update.
        let whole = vector["base_v1"].is_null() && vector["reencode"]["pendingStructs"] == false;
        if let (true, Some(state)) = (whole, vector["state_vector"].as_str()) {
            assert_eq!(hex(&encode_state_vector_from_update_v1(&unhex(v1)).expect(name)), state, "{name}");
            assert_eq!(hex(&encode_state_vector_from_update_v2(&unhex(v2)).expect(name)), state, "{name}");
        }
        count += 1;
    }
    assert_eq!(count, 55);
}

/// The values of the `any_` vectors, in JavaScript's words, as ours.
fn value_of(js: &str) -> Value {
    let plain = match js {
        "undefined" | "(() => 1)" => Any::Undefined,
        "null" => Any::Null,
        "true" => true.into(),
        "false" => false.into(),
        "-0" => Any::from(-0.0),
        "NaN" => Any::from(f64::NAN),
        "Infinity" => Any::from(f64::INFINITY),
        "1n" => return Value::big_int(1),
        "2n ** 64n + 5n" => return Value::big_int(5),
        "\"abc\"" => "abc".into(),
        "({a:1,b:\"x\"})" => any!({ "a": 1, "b": "x" }),
        "[1,[2],null]" => any!([1, [2], null]),
        "new Uint8Array([7])" => Any::from(vec![7_u8]),
        "new Date(0)" => any!({}),
        number => Any::from(number.parse::<f64>().expect("a number")),
    };
    Value::Plain(plain)
}

#[test]
fn lib0_values() {
    let file = golden(FILE);
    let mut count = 0;
    for vector in file["vectors"].as_array().unwrap().iter().filter(|v| v["kind"] == "lib0") {
        let (name, js, expected) = (text(vector, "name"), text(vector, "value"), text(vector, "hex"));
        let bytes = unhex(expected);
        let mut out = Vec::new();
        let mut cursor = Cursor::new(&bytes);
        if name.starts_with("any_") {
            let value = value_of(js);
            value.encode(&mut out);
            let read = Value::decode(&mut cursor).expect(name);
            let mut again = Vec::new();
            read.encode(&mut again);
            assert_eq!(hex(&again), expected, "{name} read and written");
            if !js.contains("NaN") {
                assert_eq!(read, value, "{name}");
            }
        } else if name.starts_with("varuint_") {
            let number: u64 = js.parse().unwrap();
            out.write_var(number);
            assert_eq!(cursor.read_var::<u64>().expect(name), number);
        } else if name.starts_with("varint_") {
            let number: i64 = js.parse().unwrap();
            let signed = Signed::new(number, js.starts_with('-'));
            out.write_var_signed(&signed);
            assert_eq!(cursor.read_var_signed::<i64>().expect(name), signed);
        } else if name == "varstring" {
            out.write_string("h\u{e9}llo \u{1F600}");
            assert_eq!(cursor.read_string().expect(name), "h\u{e9}llo \u{1F600}");
        } else if name == "varuint8array" {
            out.write_buf([1, 2, 3]);
            assert_eq!(cursor.read_buf().expect(name), [1, 2, 3]);
        } else {
            continue; // columns: below
        }
        assert_eq!(hex(&out), expected, "{name}");
        assert!(!cursor.has_content(), "{name} is read to its end");
        count += 1;
    }
    assert_eq!(count, 44);
}

#[test]
fn lib0_columns() {
    let file = golden(FILE);
    let mut count = 0;
    for vector in file["vectors"].as_array().unwrap().iter().filter(|v| v["kind"] == "lib0") {
        let (name, expected) = (text(vector, "name"), text(vector, "hex"));
        let bytes = unhex(expected);
        let numbers: Vec<u32> = serde_json::from_str(text(vector, "value")).unwrap_or_default();
        let written = if name.starts_with("rle_u8") {
            let mut writer = RleWriter::new();
            let mut reader = RleReader::new(&bytes);
            for number in numbers {
                writer.write(number as u8);
                assert_eq!(u32::from(reader.read().expect(name)), number, "{name}");
            }
            hex(writer.finish())
        } else if name.starts_with("uint_opt_rle") {
            let mut writer = UintOptRleWriter::new();
            let mut reader = UintOptRleReader::new(&bytes);
            for number in numbers {
                writer.write(u64::from(number));
                assert_eq!(reader.read().expect(name), u64::from(number), "{name}");
            }
            assert!(reader.read().is_err(), "{name} ends");
            hex(writer.finish())
        } else if name.starts_with("int_diff_opt_rle") {
            let mut writer = IntDiffOptRleWriter::new();
            let mut reader = IntDiffOptRleReader::new(&bytes);
            for number in numbers {
                writer.write(number);
                assert_eq!(reader.read().expect(name), number, "{name}");
            }
            assert!(reader.read().is_err(), "{name} ends");
            hex(writer.finish())
        } else if name == "string_encoder" {
            let mut writer = StringWriter::new();
            let mut reader = StringReader::new(&bytes).unwrap();
            for (s, len) in [("ab", 2), ("cd", 2), ("e", 1), ("", 0), ("\u{1F600}", 2)] {
                writer.write(s, len);
                assert_eq!(reader.read().unwrap(), (s.into(), len));
            }
            assert!(reader.read().is_err(), "{name} ends");
            let mut out = Vec::new();
            writer.finish_into(&mut out);
            hex(&out[1..]) // without the length of the column
        } else {
            continue; // codecs that updates do not use
        };
        assert_eq!(written, expected, "{name}");
        count += 1;
    }
    assert_eq!(count, 9);
}

#[test]
fn key_order_of_an_object_is_that_of_javascript() {
    let any = any!({ "b": 1, "10": 2, "2": 3, "a": 4, "-1": 5, "01": 6 });
    let mut bytes = Vec::new();
    any.encode(&mut bytes);
    assert_eq!(hex(&bytes), "760601327d030231307d0201627d0101617d04022d317d050230317d06");
    let Any::Map(map) = any else { panic!("a map") };
    assert_eq!(map.keys().collect::<Vec<_>>(), ["b", "10", "2", "a", "-1", "01"]);
}

#[test]
fn an_integer_too_large_for_a_float_is_a_big_int() {
    for (number, expected) in [
        (Number::Int(9007199254740993), "7a0020000000000001"),
        (Number::Int(i64::MAX), "7a7fffffffffffffff"),
        (Number::Int(i64::MIN), "7cdf000000"),
        (Number::Int(1 << 60), "7c5d800000"),
        (Number::Int(4294967295), "7b41efffffffe00000"),
        (Number::Float(1.0), "7d01"),
        (Number::Float(2147483647.0), "7dbfffffff0f"),
        (Number::Float(-2147483648.0), "7ccf000000"),
        (Number::Float(1e30), "7b46293e5939a08cea"),
        (Number::Float(-f64::NAN), "7b7ff8000000000000"),
    ] {
        let mut bytes = Vec::new();
        Any::Number(number).encode(&mut bytes);
        assert_eq!(hex(&bytes), expected, "{number:?}");
    }
}

#[test]
fn weak_links_as_yrs_writes_them() {
    // Made by yrs 0.28.1: links to a key, to ranges of an array and a text, and without bounds.
    let v1 = "010d010008010161017d01880100017d02880101017d03880102017d0404010174016884010402656c840106026c6f2801016d0178\
              017d072701016d046c696e6b070401092701016d01710705010101022701016d0274710701010501072701016d03616c6c073d017401\
              742701016d047461696c07350102016100";
    let v2 = "0000024104050003000500000b0800880204008401280027301f617468656c6c6f6d786d6c696e6b6d716d74716d616c6c74746d74\
              61696c61410142004101044101020103410104010101024703024103010d007d017d027d037d047d0704010905010101020101050107\
              3d35010200";
    assert_eq!(hex(&rewrite_v1(&unhex(v1)).unwrap()), v1);
    assert_eq!(hex(&rewrite_v2(&unhex(v2)).unwrap()), v2);
    assert_eq!(hex(&convert_v1_to_v2(&unhex(v1)).unwrap()), v2);
    assert_eq!(hex(&convert_v2_to_v1(&unhex(v2)).unwrap()), v1);
}
