//! [`Any`] in lib0's binary form: a tag byte and a payload.
//!
//! Reader and writer keep their own stack, so that the depth of a value never becomes the depth of the
//! machine's stack. Counts on the wire reserve nothing beyond a handful of elements.
//!
//! The *marked* form of a value keeps BigInts apart from integers, for
//! [`Value`](crate::Value): a BigInt is a buffer of 9 bytes that begins with 1, a real buffer begins with 0.

use super::entries::Entries;
use super::order::JsOrder;
use super::{Any, AnyMap, Number};
use crate::error::Error;
use crate::limits::MAX_DEPTH;
use crate::read::{Cursor, Read};
use crate::utf8;
use crate::varint::Signed;
use crate::write::Write;
use std::slice;

const UNDEFINED: u8 = 127;
const NULL: u8 = 126;
const INTEGER: u8 = 125;
const FLOAT32: u8 = 124;
const FLOAT64: u8 = 123;
const BIGINT: u8 = 122;
const FALSE: u8 = 121;
const TRUE: u8 = 120;
const STRING: u8 = 119;
pub(crate) const OBJECT: u8 = 118;
pub(crate) const ARRAY: u8 = 117;
const BYTES: u8 = 116;

/// Most elements to reserve room for before they are seen.
const MAX_RESERVE: usize = 16;
/// lib0 writes integers up to this magnitude as such.
const MAX_INTEGER: i64 = (1 << 31) - 1;
/// The largest integer that JavaScript holds exactly.
const SAFE: u64 = Number::I64_MAX_SAFE_INTEGER.unsigned_abs();
/// The bytes of an integer that is read the short way, at most: 48 bits, which JavaScript holds exactly.
const SHORT: usize = 7;
const MARK_BYTES: u8 = 0;
const MARK_BIGINT: u8 = 1;

/// How BigInts stand in an [`Any`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// As integers.
    Plain,
    /// As marked buffers, while all other buffers carry another mark.
    Marked,
}

/// A container whose elements are being read.
enum Open {
    Array { left: usize, values: Vec<Any> },
    Object { left: usize, key: String, entries: Entries },
}

/// Reads a value, and tells whether it holds a BigInt that would be written as something else.
pub(crate) fn read<R: Read>(r: &mut R, form: Form) -> Result<(Any, bool), Error> {
    let mut has_big_int = false;
    let mut open: Vec<Open> = Vec::new();
    loop {
        let mut value = match r.read_u8()? {
            BIGINT => {
                let int = r.read_i64()?;
                has_big_int |= as_js_number(int).is_some();
                big_int(int, form)
            }
            BYTES => bytes(r.read_buf()?, form),
            tag @ (OBJECT | ARRAY) => {
                let left: usize = r.read_var()?;
                if left > 0 {
                    if open.len() >= MAX_DEPTH {
                        return Err(r.invalid("a value is nested too deep"));
                    }
                    open.push(Open::new(r, tag, left)?);
                    continue;
                }
                if tag == ARRAY { Any::Array([].into()) } else { Any::Map(AnyMap::new()) }
            }
            tag => scalar(r, tag)?,
        };
        // Put the value in the innermost container; a full container is a value in turn.
        loop {
            match open.last_mut() {
                None => return Ok((value, has_big_int)),
                Some(container) => {
                    if container.put(r, value)? {
                        break;
                    }
                }
            }
            value = match open.pop() {
                Some(Open::Array { values, .. }) => Any::Array(values.into()),
                Some(Open::Object { entries, .. }) => Any::Map(entries.into()),
                None => return Err(Error::UnexpectedValue),
            };
        }
    }
}

/// Reads the value if it holds no others, is no buffer and no BigInt; else reads nothing.
#[inline]
pub(crate) fn read_scalar(cursor: &mut Cursor<'_>) -> Result<Option<Any>, Error> {
    let Some(&tag) = cursor.buf.get(cursor.next) else { return Ok(None) };
    if !matches!(tag, STRING | FALSE | TRUE | FLOAT64 | FLOAT32 | INTEGER | NULL | UNDEFINED) {
        return Ok(None);
    }
    cursor.next += 1;
    scalar(cursor, tag).map(Some)
}

/// Reads an integer of few bytes that is not -0; reads nothing if any other value follows.
#[inline]
pub(crate) fn read_short_int(cursor: &mut Cursor<'_>) -> Option<i64> {
    let [INTEGER, bytes @ ..] = cursor.buf.get(cursor.next..)? else { return None };
    let first = *bytes.first()?;
    let mut value = i64::from(first & 0x3f);
    let (mut byte, mut at) = (first, 1);
    while byte & 0x80 != 0 {
        if at == SHORT {
            return None;
        }
        byte = *bytes.get(at)?;
        value |= i64::from(byte & 0x7f) << (7 * at - 1);
        at += 1;
    }
    let is_negative = first & 0x40 != 0;
    match value {
        0 if is_negative => None,
        _ => {
            cursor.next += 1 + at;
            Some(if is_negative { -value } else { value })
        }
    }
}

impl Open {
    fn new<R: Read>(r: &mut R, tag: u8, left: usize) -> Result<Self, Error> {
        let room = left.min(MAX_RESERVE);
        Ok(if tag == ARRAY {
            Self::Array { left, values: Vec::with_capacity(room) }
        } else {
            Self::Object { left, key: string(r)?.to_owned(), entries: Entries::with_capacity(room) }
        })
    }

    /// Puts a value in, and tells whether another is to come.
    fn put<R: Read>(&mut self, r: &mut R, value: Any) -> Result<bool, Error> {
        let left = match self {
            Self::Array { left, values } => {
                values.push(value);
                *left -= 1;
                *left
            }
            Self::Object { left, key, entries } => {
                // Of equal keys the last value wins, at the place of the first.
                entries.insert(std::mem::take(key), value);
                *left -= 1;
                if *left > 0 {
                    string(r)?.clone_into(key);
                }
                *left
            }
        };
        Ok(left > 0)
    }
}

fn string<R: Read>(r: &mut R) -> Result<&str, Error> {
    // Not `read_string`, which reads a column in the second format.
    utf8::check(r.read_buf()?)
}

fn scalar<R: Read>(r: &mut R, tag: u8) -> Result<Any, Error> {
    Ok(match tag {
        UNDEFINED => Any::Undefined,
        NULL => Any::Null,
        INTEGER => {
            let int: Signed<i64> = r.read_var_signed()?;
            Any::Number(match int.value() {
                0 if int.is_negative() => Number::Float(-0.0),
                value if value.unsigned_abs() <= SAFE => Number::Int(value),
                // JavaScript adds the bits up in a float.
                value => Number::Float(value as f64),
            })
        }
        FLOAT32 => Any::Number(Number::Float(f64::from(r.read_f32()?))),
        FLOAT64 => Any::Number(Number::Float(r.read_f64()?)),
        FALSE => Any::Bool(false),
        TRUE => Any::Bool(true),
        STRING => Any::String(string(r)?.into()),
        _ => return Err(r.invalid("the tag of a value is unknown")),
    })
}

fn big_int(int: i64, form: Form) -> Any {
    match form {
        Form::Plain => Any::Number(Number::Int(int)),
        Form::Marked => {
            let mut marked = vec![MARK_BIGINT];
            marked.write_i64(int);
            Any::Buffer(marked.into())
        }
    }
}

fn bytes(bytes: &[u8], form: Form) -> Any {
    match form {
        Form::Plain => Any::Buffer(bytes.into()),
        Form::Marked => Any::Buffer([&[MARK_BYTES], bytes].concat().into()),
    }
}

/// Returns the JavaScript number that an integer is exactly, if there is one.
fn as_js_number(int: i64) -> Option<f64> {
    Number::Int(int).as_f64()
}

/// Whether an integer that stands in an [`Any`] goes over the wire as a BigInt.
pub(crate) fn is_written_as_big_int(int: i64) -> bool {
    as_js_number(int).is_none()
}

/// A container whose elements are being written.
enum Frame<'a> {
    Array(slice::Iter<'a, Any>),
    Object(JsOrder<'a>),
}

/// Writes a value as JavaScript does.
pub(crate) fn write<W: Write>(any: &Any, w: &mut W, form: Form) {
    let mut frames: Vec<Frame<'_>> = Vec::new();
    let mut next = Some(any);
    while let Some(any) = next {
        match any {
            Any::Undefined => w.write_u8(UNDEFINED),
            Any::Null => w.write_u8(NULL),
            Any::Bool(value) => w.write_u8(if *value { TRUE } else { FALSE }),
            Any::Number(number) => write_number(*number, w),
            Any::String(text) => {
                w.write_u8(STRING);
                w.write_buf(text.as_bytes());
            }
            Any::Buffer(bytes) => write_bytes(bytes, w, form),
            Any::Array(values) => {
                w.write_u8(ARRAY);
                w.write_var(values.len());
                frames.push(Frame::Array(values.iter()));
            }
            Any::Map(map) => {
                w.write_u8(OBJECT);
                w.write_var(map.len());
                frames.push(Frame::Object(JsOrder::new(map)));
            }
        }
        next = None;
        while let (None, Some(frame)) = (next, frames.last_mut()) {
            next = match frame {
                Frame::Array(values) => values.next(),
                Frame::Object(entries) => entries.next().map(|(key, value)| {
                    w.write_buf(key.as_bytes());
                    value
                }),
            };
            if next.is_none() {
                frames.pop();
            }
        }
    }
}

fn write_bytes<W: Write>(bytes: &[u8], w: &mut W, form: Form) {
    match (form, bytes.split_first()) {
        (Form::Marked, Some((&MARK_BIGINT, int))) => {
            w.write_u8(BIGINT);
            w.write_all(int);
        }
        (Form::Marked, Some((_, bytes))) => {
            w.write_u8(BYTES);
            w.write_buf(bytes);
        }
        _ => {
            w.write_u8(BYTES);
            w.write_buf(bytes);
        }
    }
}

fn write_number<W: Write>(number: Number, w: &mut W) {
    match number {
        Number::Int(int) if int.unsigned_abs() <= MAX_INTEGER.unsigned_abs() => {
            w.write_u8(INTEGER);
            w.write_var(int);
        }
        Number::Int(int) => match as_js_number(int) {
            Some(float) => write_float(float, w),
            None => {
                w.write_u8(BIGINT);
                w.write_i64(int);
            }
        },
        Number::Float(float) if float.trunc() == float && float.abs() <= MAX_INTEGER as f64 => {
            w.write_u8(INTEGER);
            // The sign by itself, for -0.
            w.write_var_signed(&Signed::new(float as i64, float.is_sign_negative()));
        }
        Number::Float(float) => write_float(float, w),
    }
}

fn write_float<W: Write>(float: f64, w: &mut W) {
    let narrow = float as f32;
    if f64::from(narrow) == float {
        w.write_u8(FLOAT32);
        w.write_f32(narrow);
    } else {
        w.write_u8(FLOAT64);
        // All NaNs are one in JavaScript.
        w.write_f64(if float.is_nan() { f64::NAN } else { float });
    }
}
