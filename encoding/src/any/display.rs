//! Values in words for people, without recursion. JSON is written by [`Any::to_json`].

use super::{Any, AnyMapIter};
use std::fmt;
use std::slice;

/// A container whose elements are being written.
enum Frame<'a> {
    Array(slice::Iter<'a, Any>),
    Map(AnyMapIter<'a>),
}

impl fmt::Display for Any {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut frames: Vec<Frame<'_>> = Vec::new();
        let mut next = Some(self);
        let mut is_first = true;
        while let Some(any) = next {
            match any {
                Self::Null => f.write_str("null")?,
                Self::Undefined => f.write_str("undefined")?,
                Self::Bool(value) => write!(f, "{value}")?,
                Self::Number(value) => write!(f, "{value}")?,
                Self::String(value) => f.write_str(value)?,
                Self::Buffer(bytes) => {
                    f.write_str("0x")?;
                    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
                }
                Self::Array(values) => {
                    f.write_str("[")?;
                    frames.push(Frame::Array(values.iter()));
                    is_first = true;
                }
                Self::Map(map) => {
                    f.write_str("{")?;
                    frames.push(Frame::Map(map.iter()));
                    is_first = true;
                }
            }
            next = None;
            while let (None, Some(frame)) = (next, frames.last_mut()) {
                let element = match frame {
                    Frame::Array(values) => values.next().map(|value| (None, value)),
                    Frame::Map(entries) => entries.next().map(|(key, value)| (Some(key), value)),
                };
                let Some((key, value)) = element else {
                    f.write_str(if matches!(frame, Frame::Array(_)) { "]" } else { "}" })?;
                    frames.pop();
                    is_first = false;
                    continue;
                };
                f.write_str(if is_first { "" } else { ", " })?;
                if let Some(key) = key {
                    write!(f, "{key}: ")?;
                }
                is_first = false;
                next = Some(value);
            }
        }
        Ok(())
    }
}
