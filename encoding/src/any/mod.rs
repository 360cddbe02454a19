//! [`Any`]: a value as lib0 knows it, JSON and a little more (`undefined`, bytes, integers apart from floats).
//!
//! Parts: [`number`](self) and [`AnyMap`] are the building stones; `convert` and `iter` go to and from Rust
//! types; `binary` reads and writes lib0 bytes, `json` JSON text as JavaScript writes it, `serde_de` and
//! `serde_ser` speak to serde, `literal` is the macro [`any!`](crate::any!).
//!
//! A clone shares strings, bytes, arrays and maps, so it costs one atomic increment.

mod binary;
mod convert;
mod display;
mod entries;
mod equal;
mod iter;
mod json;
mod literal;
mod map;
mod number;
mod order;
mod serde_de;
mod serde_ser;

pub(crate) use binary::{
    ARRAY, Form, OBJECT, is_written_as_big_int, read, read_scalar, read_short_int, write,
};
pub use entries::{IntoIter as AnyMapIntoIter, Iter as AnyMapIter};
pub use iter::{AnyArrayIter, AnyIntoIter, AnyIter};
pub use map::AnyMap;
pub use number::{F64_MAX_SAFE_INTEGER, F64_MIN_SAFE_INTEGER, Number};
pub use serde_de::{AnyDeserializer, from_any};
pub use serde_ser::{AnySerializeError, to_any};

use crate::error::Error;
use crate::read::Read;
use crate::write::Write;
use std::sync::Arc;

/// A value: JSON, `undefined`, or bytes.
#[derive(Debug, Clone)]
pub enum Any {
    /// `null`.
    Null,
    /// `undefined`.
    Undefined,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string.
    String(Arc<str>),
    /// Bytes, a `Uint8Array` in JavaScript.
    Buffer(Arc<[u8]>),
    /// An array.
    Array(Arc<[Self]>),
    /// An object, whose entries keep their order.
    Map(AnyMap),
}

impl Any {
    /// Turns the value into a `T`, or gives it back.
    ///
    /// # Errors
    /// The value itself, if it is not a `T`.
    #[inline]
    pub fn cast<T>(self) -> Result<T, Self>
    where
        T: TryFrom<Self, Error = Self>,
    {
        T::try_from(self)
    }

    /// Reads a value in lib0's binary form.
    ///
    /// A BigInt becomes an integer: use [`Value`](crate::Value) to keep it apart. Costs O(bytes).
    ///
    /// # Errors
    /// When the bytes are cut, hold an unknown tag, or are nested deeper than
    /// [`limits::MAX_DEPTH`](crate::limits::MAX_DEPTH).
    pub fn decode<R: Read>(decoder: &mut R) -> Result<Self, Error> {
        read(decoder, Form::Plain).map(|(any, _)| any)
    }

    /// Writes the value in lib0's binary form, byte for byte as JavaScript does.
    pub fn encode<W: Write>(&self, encoder: &mut W) {
        write(self, encoder, Form::Plain);
    }

    /// Reads JSON text. Integers of 64 bits stay integers, also those beyond 2^53, which JavaScript would round; see
    /// [`Self::json_parse`].
    ///
    /// # Errors
    /// [`Error::InvalidJSON`], or [`Error::Custom`] for what is nested too deep.
    pub fn from_json(src: &str) -> Result<Self, Error> {
        json::parse(src, json::Integers::All)
    }

    /// Reads JSON text as `JSON.parse` does: integers beyond 2^53 become floats. So is read what peers wrote.
    ///
    /// # Errors
    /// [`Error::InvalidJSON`], or [`Error::Custom`] for what is nested too deep.
    pub fn json_parse(src: &str) -> Result<Self, Error> {
        json::parse(src, json::Integers::Safe)
    }

    /// Appends JSON text exactly as `JSON.stringify` writes it (`null` for a bare `undefined`).
    pub fn to_json(&self, buf: &mut String) {
        json::write(self, json::Integers::All, buf);
    }

    /// As [`Self::to_json`], but integers beyond 2^53 have the digits that `JSON.parse` and `JSON.stringify` make of
    /// theirs. So is written what peers read: whoever reads the text and writes it again writes the same.
    pub(crate) fn json_stringify(&self, buf: &mut String) {
        json::write(self, json::Integers::Safe, buf);
    }

    /// Walks an array or a map; `None` for any other value.
    pub fn try_iter(&self) -> Option<AnyIter<'_>> {
        match self {
            Self::Array(values) => Some(AnyIter::Array(values.iter())),
            Self::Map(entries) => Some(AnyIter::Map(entries.iter())),
            _ => None,
        }
    }

    /// Walks an array or a map, owning what is yielded; `None` for any other value.
    pub fn try_into_iter(self) -> Option<AnyIntoIter> {
        match self {
            Self::Array(values) => Some(values.into()),
            Self::Map(entries) => Some(entries.into()),
            _ => None,
        }
    }
}
