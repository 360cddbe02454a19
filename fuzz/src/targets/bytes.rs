//! Targets without a document: what is read must be written so that it reads the same again.

use yatta::updates::decoder::{Decode, DecoderV1, DecoderV2};
use yatta::updates::encoder::Encode;
use yatta::{Any, StateVector, Update};
use yatta_encoding::block::UpdateReader;
use yatta_encoding::column::{
    IntDiffOptRleReader, IntDiffOptRleWriter, RleReader, RleWriter, StringReader, StringWriter,
    UintOptRleReader, UintOptRleWriter,
};
use yatta_encoding::update as tools;
use yatta_encoding::{Cursor, Read, Value, Write, limits};

use super::input::Input;

/// Runs of a column claim any length, so a reader is asked for this many values only.
const VALUES: usize = 2_000;

/// Numbers, strings, values in lib0's form and in JSON, and columns.
pub fn primitives(data: &[u8]) {
    let Some((kind, data)) = data.split_first() else { return };
    match kind % 12 {
        0 => numbers(data),
        1 => value(data),
        2 => any(data),
        3 => json(data),
        4 => {
            let mut reader = UintOptRleReader::new(data);
            let values: Vec<u64> = std::iter::from_fn(|| reader.read().ok()).take(VALUES).collect();
            let mut writer = UintOptRleWriter::new();
            values.iter().for_each(|value| writer.write(*value));
            let bytes = writer.finish().to_vec();
            let mut reader = UintOptRleReader::new(&bytes);
            values.iter().for_each(|value| assert_eq!(reader.read().ok(), Some(*value)));
        }
        5 => {
            let mut reader = IntDiffOptRleReader::new(data);
            let values: Vec<u32> = std::iter::from_fn(|| reader.read().ok()).take(VALUES).collect();
            let mut writer = IntDiffOptRleWriter::new();
            values.iter().for_each(|value| writer.write(*value));
            let bytes = writer.finish().to_vec();
            let mut reader = IntDiffOptRleReader::new(&bytes);
            values.iter().for_each(|value| assert_eq!(reader.read().ok(), Some(*value)));
        }
        6 => {
            let mut reader = RleReader::new(data);
            let values: Vec<u8> = std::iter::from_fn(|| reader.read().ok()).take(VALUES).collect();
            let mut writer = RleWriter::new();
            values.iter().for_each(|value| writer.write(*value));
            let bytes = writer.finish().to_vec();
            let mut reader = RleReader::new(&bytes);
            values.iter().for_each(|value| assert_eq!(reader.read().ok(), Some(*value)));
        }
        7 => strings(data),
        8 => drop(Cursor::new(data).read_string().map(str::len)),
        9 => drop(Cursor::new(data).read_buf().map(<[u8]>::len)),
        10 => drop(StateVector::decode_v1(data).map(|state| {
            assert_eq!(StateVector::decode_v1(&state.encode_v1()).ok(), Some(state));
        })),
        _ => serde(data),
    }
}

fn numbers(data: &[u8]) {
    let mut cursor = Cursor::new(data);
    while cursor.has_content() {
        let at = cursor.next;
        let unsigned = Cursor::new(&data[at..]).read_var::<u64>();
        let signed = Cursor::new(&data[at..]).read_var::<i64>();
        let with_zero = Cursor::new(&data[at..]).read_var_signed::<i64>();
        drop(Cursor::new(&data[at..]).read_var::<u8>());
        drop(Cursor::new(&data[at..]).read_var::<u16>());
        drop(Cursor::new(&data[at..]).read_var::<usize>());
        drop(Cursor::new(&data[at..]).read_var::<i32>());
        if let Ok(number) = unsigned {
            let mut bytes = Vec::new();
            bytes.write_var(number);
            assert_eq!(Cursor::new(&bytes).read_var::<u64>().ok(), Some(number));
        }
        if let Ok(number) = signed {
            let mut bytes = Vec::new();
            bytes.write_var(number);
            assert_eq!(Cursor::new(&bytes).read_var::<i64>().ok(), Some(number));
        }
        if let Ok(number) = with_zero {
            let mut bytes = Vec::new();
            bytes.write_var_signed(&number);
            let again = Cursor::new(&bytes).read_var_signed::<i64>().expect("what was written reads");
            assert_eq!((number.value(), number.is_negative()), (again.value(), again.is_negative()));
        }
        if cursor.read_var::<u32>().is_err() {
            cursor.next = at + 1;
        }
    }
}

fn value(data: &[u8]) {
    let Ok(value) = Value::decode(&mut Cursor::new(data)) else { return };
    let mut bytes = Vec::new();
    value.encode(&mut bytes);
    let again = Value::decode(&mut Cursor::new(&bytes)).expect("what was written reads");
    let mut twice = Vec::new();
    again.encode(&mut twice);
    assert_eq!(bytes, twice, "{value:?}");
    any_laws(value.any());
}

fn any(data: &[u8]) {
    let Ok(value) = Any::decode(&mut Cursor::new(data)) else { return };
    let mut bytes = Vec::new();
    value.encode(&mut bytes);
    let again = Any::decode(&mut Cursor::new(&bytes)).expect("what was written reads");
    let mut twice = Vec::new();
    again.encode(&mut twice);
    assert_eq!(bytes, twice, "{value:?}");
    any_laws(&value);
}

fn json(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(value) = Any::from_json(text) {
        any_laws(&value);
    }
}

/// The JSON of a value reads, and is stable from then on (a BigInt becomes a number); a value can be shown and compared.
fn any_laws(value: &Any) {
    let json = |value: &Any| {
        let mut text = String::new();
        value.to_json(&mut text);
        text
    };
    let read = Any::from_json(&json(value)).expect("the JSON of a value reads");
    let again = Any::from_json(&json(&read)).expect("the JSON of a value reads");
    assert_eq!(again, read, "JSON has no NaN, so what is read twice is equal");
    assert_eq!(json(&again), json(&read));
    assert!(!value.to_string().is_empty() || *value == Any::from(""));
}

fn strings(data: &[u8]) {
    let Ok(mut reader) = StringReader::new(data) else { return };
    let mut all = Vec::new();
    while let (Ok((text, units)), true) = (reader.read(), all.len() < VALUES) {
        assert_eq!(text.encode_utf16().count(), units as usize, "{text:?}");
        all.push((text.into_owned(), units));
    }
    let mut writer = StringWriter::new();
    all.iter().for_each(|(text, units)| writer.write(text, *units));
    let mut bytes = Vec::new();
    writer.finish_into(&mut bytes);
    let mut column = Cursor::new(&bytes);
    let column = column.take_buf().expect("a column has its length before it");
    let mut reader = StringReader::new(column).expect("what was written reads");
    for (text, units) in &all {
        let (again, len) = reader.read().expect("what was written reads");
        assert_eq!((again.as_ref(), len), (text.as_str(), *units));
    }
}

fn serde(data: &[u8]) {
    let Ok(value) = Any::decode(&mut Cursor::new(data)) else { return };
    if let Ok(copy) = yatta::encoding::serde::to_any(&value) {
        drop(copy.to_string());
    }
    drop(yatta::encoding::serde::from_any::<Any>(&value).map(|copy| copy.to_string()));
    drop(yatta::encoding::serde::from_any::<Vec<u32>>(&value));
    drop(yatta::encoding::serde::from_any::<std::collections::BTreeMap<String, f64>>(&value));
}

/// Reads an update in V1.
pub fn decode_v1(data: &[u8]) {
    let generic = Update::decode(&mut DecoderV1::from(data));
    match Update::decode_v1(data) {
        Ok(update) => {
            assert_eq!(generic.expect("both readers take it").encode_v1(), update.encode_v1());
            update_laws(&update);
        }
        Err(error) => assert!(generic.is_err(), "only one reader takes it: {error}"),
    }
}

/// Reads an update in V2.
pub fn decode_v2(data: &[u8]) {
    let generic = DecoderV2::new(Cursor::new(data)).and_then(|mut decoder| Update::decode(&mut decoder));
    match Update::decode_v2(data) {
        Ok(update) => {
            assert_eq!(generic.expect("both readers take it").encode_v2(), update.encode_v2());
            update_laws(&update);
        }
        Err(error) => assert!(generic.is_err(), "only one reader takes it: {error}"),
    }
}

/// What was read is written so that it reads the same, in both formats; the questions about it have answers.
fn update_laws(update: &Update) {
    let v2 = update.encode_v2();
    let Some(from_v2) = read_v2(&v2) else { return };
    assert_eq!(from_v2.encode_v2(), v2, "V2 is stable");
    let v1 = update.encode_v1();
    assert_eq!(from_v2.encode_v1(), v1, "V1 out of V2");
    let from_v1 = Update::decode_v1(&v1).expect("what was written in V1 reads");
    assert_eq!(from_v1.encode_v1(), v1, "V1 is stable");
    assert_eq!(from_v1.state_vector(), update.state_vector());
    assert_eq!(from_v1.insertions(true), update.insertions(true));
    assert_eq!(from_v1.delete_set(), update.delete_set());
    drop((update.state_vector_lower(), update.extends(&update.state_vector()), update.to_string()));
    assert_eq!(update.is_empty(), v1 == Update::EMPTY_V1);
}

/// Reads an update in V2 that was written here: it reads, but for one reason.
pub(super) fn read_v2(update: &[u8]) -> Option<Update> {
    match Update::decode_v2(update) {
        Ok(update) => Some(update),
        Err(error) => {
            assert!(is_beyond_the_budget(update), "what was written reads: {error}");
            None
        }
    }
}

/// Whether an update in V2 has become so short, though it holds so many blocks that cost no byte, that readers refuse it: the
/// one thing that can be written and not read (see `limits::FREE_BLOCKS`).
fn is_beyond_the_budget(update: &[u8]) -> bool {
    let decoder = DecoderV2::trusted(Cursor::new(update)).expect("what was written reads");
    let mut reader = UpdateReader::new(decoder).expect("what was written reads");
    let mut blocks = 0;
    while reader.next_block().expect("what was written reads").is_some() {
        blocks += 1;
    }
    blocks > limits::FREE_BLOCKS + limits::BLOCKS_PER_BYTE * update.len() as u64
}

/// Merges updates; the first byte says how many, and in which format.
pub fn merge(data: &[u8]) {
    let mut input = Input::new(data);
    let kind = input.byte();
    let v2 = kind & 1 == 1;
    let merge = if v2 { tools::merge_updates_v2 } else { tools::merge_updates_v1 };
    let decode = if v2 { Update::decode_v2 } else { Update::decode_v1 };
    let mut updates = Vec::new();
    for _ in 0..2 + (kind >> 1) % 6 {
        updates.push(input.part());
    }
    updates.push(input.rest());
    let all_read = updates.iter().all(|update| decode(update).is_ok());
    let Ok(merged) = merge(&updates) else {
        assert!(!all_read, "updates that can be read can be merged");
        return;
    };
    if v2 && read_v2(&merged).is_none() {
        return;
    }
    let read = decode(&merged).expect("what was merged reads");
    let again = merge(&[&merged, &merged]).expect("what was merged can be merged");
    let twice = merge(&[&again, &again]).expect("what was merged can be merged");
    assert_eq!(again, twice, "a merge with itself is stable");
    let decoded = updates.iter().map(|update| decode(update).expect("the merge has read it"));
    let inserted: Vec<_> =
        decoded.map(|update| (update.insertions(true), update.delete_set().clone())).collect();
    for (inserted, deleted) in &inserted {
        let mut left = inserted.clone();
        left.diff_with(&read.insertions(true));
        assert!(left.is_empty(), "the merge loses {left:?}");
        let mut left = deleted.clone();
        left.diff_with(read.delete_set());
        assert!(left.is_empty(), "the merge loses the deletions {left:?}");
    }
}

/// Cuts from an update what a state vector has.
pub fn diff(data: &[u8]) {
    let mut input = Input::new(data);
    let v2 = input.byte() & 1 == 1;
    let state = input.part();
    let update = input.rest();
    let diff = if v2 { tools::diff_updates_v2 } else { tools::diff_updates_v1 };
    let decode = if v2 { Update::decode_v2 } else { Update::decode_v1 };
    let (whole, have) = (decode(update), StateVector::decode_v1(state));
    let Ok(cut) = diff(update, state) else {
        assert!(whole.is_err() || have.is_err(), "an update that can be read can be cut");
        return;
    };
    if v2 && read_v2(&cut).is_none() {
        return;
    }
    let cut_again = diff(&cut, state).expect("what was cut can be cut");
    // Yjs leaves a bit at a map entry that it cuts, which means nothing beside an origin, and which a merge forgets: that
    // makes the two equal, to the byte, there too.
    let merge = if v2 { tools::merge_updates_v2::<Vec<u8>> } else { tools::merge_updates_v1 };
    let merged =
        |update: &[u8]| merge(&[update.to_vec(), update.to_vec()]).expect("what was cut can be merged");
    assert!(cut == cut_again || merged(&cut) == merged(&cut_again), "cutting twice is cutting once");
    let read = decode(&cut).expect("what was cut reads");
    let (Ok(whole), Ok(have)) = (whole, have) else { return };
    assert_eq!(read.delete_set(), whole.delete_set(), "deletions stay whole");
    for (client, ranges) in whole.insertions(true).iter() {
        let from = have.get(client);
        for range in ranges.iter().filter(|range| range.end > from) {
            let last = yatta::ID::new(*client, range.end - 1);
            let first = yatta::ID::new(*client, range.start.max(from));
            assert!(read.insertions(true).contains(&last), "{last:?} is missing");
            assert!(read.insertions(true).contains(&first), "{first:?} is missing");
        }
    }
}

/// Rewrites an update in the other format, and asks for its state vector.
pub fn convert(data: &[u8]) {
    let Some((kind, data)) = data.split_first() else { return };
    if kind & 1 == 0 {
        let v2 = tools::convert_v1_to_v2(data);
        assert_eq!(v2.is_ok(), Update::decode_v1(data).is_ok(), "converting reads what decoding reads");
        let Ok(v2) = v2 else { return };
        let v1 = tools::convert_v2_to_v1(&v2).expect("what was written reads");
        assert_eq!(
            tools::convert_v2_to_v1(&tools::convert_v1_to_v2(&v1).expect("it reads")).ok(),
            Some(v1.clone())
        );
        let state = tools::encode_state_vector_from_update_v1(data).expect("it was read before");
        assert_eq!(Some(&state), tools::encode_state_vector_from_update_v2(&v2).ok().as_ref());
        StateVector::decode_v1(&state).expect("what was written reads");
    } else {
        let v1 = tools::convert_v2_to_v1(data);
        assert_eq!(v1.is_ok(), Update::decode_v2(data).is_ok(), "converting reads what decoding reads");
        let Ok(v1) = v1 else { return };
        let v2 = tools::convert_v1_to_v2(&v1).expect("what was written reads");
        if read_v2(&v2).is_none() {
            return;
        }
        assert_eq!(tools::convert_v2_to_v1(&v2).ok(), Some(v1));
        let state = tools::encode_state_vector_from_update_v2(data).expect("it was read before");
        assert_eq!(Some(&state), tools::encode_state_vector_from_update_v2(&v2).ok().as_ref());
    }
}
