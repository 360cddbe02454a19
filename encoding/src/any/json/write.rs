//! Writing JSON text as `JSON.stringify` does.

use super::{Integers, number};
use crate::any::Any;
use crate::any::order::JsOrder;
use std::fmt::Write as _;
use std::slice;

/// A container whose elements are being written.
enum Frame<'a> {
    Array(slice::Iter<'a, Any>),
    Object(JsOrder<'a>),
}

/// Appends the text of `any`, with the digits of which integers.
pub(in crate::any) fn write(any: &Any, integers: Integers, out: &mut String) {
    let mut frames: Vec<Frame<'_>> = Vec::new();
    let mut next = Some(any);
    while let Some(any) = next {
        match any {
            Any::Null | Any::Undefined => out.push_str("null"),
            Any::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Any::Number(value) => number::write(*value, integers, out),
            Any::String(text) => write_string(text, out),
            Any::Buffer(bytes) => write_bytes(bytes, out),
            Any::Array(values) => {
                out.push('[');
                frames.push(Frame::Array(values.iter()));
            }
            Any::Map(map) => {
                out.push('{');
                frames.push(Frame::Object(JsOrder::new(map)));
            }
        }
        next = None;
        while let (None, Some(frame)) = (next, frames.last_mut()) {
            next = advance(frame, out);
            if next.is_none() {
                out.push(if matches!(frame, Frame::Array(_)) { ']' } else { '}' });
                frames.pop();
            }
        }
    }
}

/// Writes what stands before the next element, and returns that.
fn advance<'a>(frame: &mut Frame<'a>, out: &mut String) -> Option<&'a Any> {
    // A comma follows any element, and nothing else ends in `[` or `{` here.
    let is_first = out.ends_with(['[', '{']);
    match frame {
        Frame::Array(values) => {
            let value = values.next()?;
            if !is_first {
                out.push(',');
            }
            Some(value)
        }
        Frame::Object(entries) => {
            let (key, value) = entries.find(|(_, value)| !matches!(value, Any::Undefined))?;
            if !is_first {
                out.push(',');
            }
            write_string(key, out);
            out.push(':');
            Some(value)
        }
    }
}

/// A `Uint8Array` is an object with its indices as keys.
fn write_bytes(bytes: &[u8], out: &mut String) {
    out.push('{');
    for (i, byte) in bytes.iter().enumerate() {
        let comma = if i == 0 { "" } else { "," };
        write!(out, "{comma}\"{i}\":{byte}").expect("a String takes everything");
    }
    out.push('}');
}

fn write_string(text: &str, out: &mut String) {
    out.push('"');
    let mut done = 0;
    for (at, byte) in text.bytes().enumerate() {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            0x08 => "\\b",
            0x0c => "\\f",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0..0x20 => "",
            _ => continue,
        };
        out.push_str(&text[done..at]);
        if escape.is_empty() {
            write!(out, "\\u{byte:04x}").expect("a String takes everything");
        } else {
            out.push_str(escape);
        }
        done = at + 1;
    }
    out.push_str(&text[done..]);
    out.push('"');
}
