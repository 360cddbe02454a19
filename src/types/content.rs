//! What stands for an item in the API before it is inserted: its content.

use std::sync::Arc;

use yatta_encoding::block::{
    BLOCK_ITEM_ANY_REF_NUMBER, BLOCK_ITEM_BINARY_REF_NUMBER, BLOCK_ITEM_DELETED_REF_NUMBER,
    BLOCK_ITEM_DOC_REF_NUMBER, BLOCK_ITEM_EMBED_REF_NUMBER, BLOCK_ITEM_FORMAT_REF_NUMBER,
    BLOCK_ITEM_JSON_REF_NUMBER, BLOCK_ITEM_STRING_REF_NUMBER, BLOCK_ITEM_TYPE_REF_NUMBER,
};
use yatta_encoding::{Any, Decode, Decoder, Encode, Encoder, Error};

use super::{Out, TypeRef};
use crate::block::text_buffer::utf16_len;
use crate::doc::{Doc, Options};

/// A string that is about to be inserted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SplittableString(String);

impl SplittableString {
    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the length in UTF-8 bytes.
    pub fn len_utf8(&self) -> usize {
        self.0.len()
    }

    /// Returns the length in UTF-16 units. Cost O(length).
    pub fn len_utf16(&self) -> usize {
        utf16_len(&self.0) as usize
    }

    /// Appends text.
    pub fn push_str(&mut self, str: &str) {
        self.0.push_str(str);
    }
}

impl From<&str> for SplittableString {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl From<SplittableString> for Box<str> {
    fn from(text: SplittableString) -> Self {
        text.0.into_boxed_str()
    }
}

impl std::ops::Deref for SplittableString {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for SplittableString {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Content of an item that is about to be inserted.
#[derive(Clone, Debug, PartialEq)]
pub enum ItemContent {
    /// Plain values.
    Any(Vec<Any>),
    /// Bytes.
    Binary(Vec<u8>),
    /// So many deleted elements.
    Deleted(u32),
    /// A sub-document, with the document that it becomes part of.
    Doc(Option<Doc>, Doc),
    /// JSON texts (legacy).
    JSON(Vec<String>),
    /// An embedded value of a text.
    Embed(Any),
    /// A format mark.
    Format(Arc<str>, Box<Any>),
    /// Text.
    String(SplittableString),
    /// A shared type of this kind.
    Type(TypeRef),
}

impl ItemContent {
    /// Returns the number of the kind on the wire: one of the `BLOCK_ITEM_*` constants.
    pub fn get_ref_number(&self) -> u8 {
        match self {
            Self::Any(_) => BLOCK_ITEM_ANY_REF_NUMBER,
            Self::Binary(_) => BLOCK_ITEM_BINARY_REF_NUMBER,
            Self::Deleted(_) => BLOCK_ITEM_DELETED_REF_NUMBER,
            Self::Doc(..) => BLOCK_ITEM_DOC_REF_NUMBER,
            Self::JSON(_) => BLOCK_ITEM_JSON_REF_NUMBER,
            Self::Embed(_) => BLOCK_ITEM_EMBED_REF_NUMBER,
            Self::Format(..) => BLOCK_ITEM_FORMAT_REF_NUMBER,
            Self::String(_) => BLOCK_ITEM_STRING_REF_NUMBER,
            Self::Type(_) => BLOCK_ITEM_TYPE_REF_NUMBER,
        }
    }

    /// Returns whether it counts for the length of its type.
    pub fn is_countable(&self) -> bool {
        !matches!(self, Self::Deleted(_) | Self::Format(..))
    }

    /// Returns the number of elements; of bytes for text.
    pub fn len_utf8(&self) -> u32 {
        match self {
            Self::String(text) => text.len_utf8() as u32,
            other => other.len_utf16(),
        }
    }

    /// Returns the number of elements; of UTF-16 units for text.
    pub fn len_utf16(&self) -> u32 {
        match self {
            Self::Deleted(len) => *len,
            Self::String(text) => text.len_utf16() as u32,
            Self::Any(values) => values.len() as u32,
            Self::JSON(values) => values.len() as u32,
            _ => 1,
        }
    }

    /// Reads elements from `offset` on into `buf`, a character each for text. Returns how many there were.
    pub fn read(&self, offset: usize, buf: &mut [Out]) -> usize {
        fn fill(buf: &mut [Out], values: impl Iterator<Item = Out>) -> usize {
            buf.iter_mut().zip(values).map(|(place, value)| *place = value).count()
        }
        match self {
            Self::Any(values) => fill(buf, values.iter().skip(offset).cloned().map(Out::Any)),
            Self::JSON(values) => fill(buf, values.iter().skip(offset).map(|text| Out::from(text.as_str()))),
            Self::String(text) => {
                fill(buf, text.chars().skip(offset).map(|char| Out::from(char.to_string())))
            }
            other => fill(buf, other.get_first().into_iter()),
        }
    }

    /// Returns all elements, a character each for text; none if not each unit is a value of its own.
    pub fn get_content(&self) -> Vec<Out> {
        let len = self.len_utf16() as usize;
        if matches!(self, Self::Deleted(_) | Self::Format(..)) {
            return Vec::new();
        }
        let mut values = vec![Out::default(); len];
        if self.read(0, &mut values) == len { values } else { Vec::new() }
    }

    /// Returns the first element; a text as a whole. A type that is not inserted yet is no value.
    pub fn get_first(&self) -> Option<Out> {
        match self {
            Self::Any(values) => values.first().cloned().map(Out::Any),
            Self::JSON(values) => values.first().map(|text| Out::from(text.as_str())),
            other => other.get_last(),
        }
    }

    /// Returns the last element; a text as a whole. A type that is not inserted yet is no value.
    pub fn get_last(&self) -> Option<Out> {
        match self {
            Self::Any(values) => values.last().cloned().map(Out::Any),
            Self::JSON(values) => values.last().map(|text| Out::from(text.as_str())),
            Self::Binary(bytes) => Some(Out::Any(Any::from(bytes.as_slice()))),
            Self::Doc(_, doc) => Some(Out::YDoc(doc.clone())),
            Self::Embed(any) => Some(Out::Any(any.clone())),
            Self::String(text) => Some(Out::from(text.as_str())),
            Self::Deleted(_) | Self::Format(..) | Self::Type(_) => None,
        }
    }

    /// Writes the content as it stands in an item.
    pub fn encode<E: Encoder>(&self, encoder: &mut E) {
        self.encode_slice(encoder, 0, self.len_utf16().saturating_sub(1));
    }

    /// Writes the elements from `start` to `end`, both included, as they would stand in an item of their own. A cut within
    /// a surrogate pair leaves U+FFFD.
    ///
    /// # Panics
    /// When there are no such elements.
    pub fn encode_slice<E: Encoder>(&self, encoder: &mut E, start: u32, end: u32) {
        let len = end + 1 - start;
        match self {
            Self::Deleted(_) => encoder.write_len(len),
            Self::Binary(bytes) => encoder.write_buf(bytes),
            Self::String(text) => {
                let units = text.encode_utf16().skip(start as usize).take(len as usize);
                let part: String = char::decode_utf16(units)
                    .map(|char| char.unwrap_or(char::REPLACEMENT_CHARACTER))
                    .collect();
                encoder.write_str_utf16(&part, len);
            }
            Self::Embed(any) => encoder.write_json(any),
            Self::JSON(values) => {
                encoder.write_len(len);
                values[start as usize..=end as usize].iter().for_each(|text| encoder.write_string(text));
            }
            Self::Format(key, value) => {
                encoder.write_key(key);
                encoder.write_json(value);
            }
            Self::Type(kind) => kind.encode(encoder),
            Self::Any(values) => {
                encoder.write_len(len);
                values[start as usize..=end as usize].iter().for_each(|value| encoder.write_any(value));
            }
            Self::Doc(_, doc) => doc.inner().options.encode(encoder),
        }
    }

    /// Reads content as it stands in an item, of the kind that the lower bits of `ref_num` say.
    ///
    /// # Errors
    /// When the bytes are cut, or the kind is unknown.
    pub fn decode<D: Decoder>(decoder: &mut D, ref_num: u8) -> Result<Self, Error> {
        // No room is made for what a count on the wire says: each value is read first.
        Ok(match ref_num & 0b1111 {
            BLOCK_ITEM_DELETED_REF_NUMBER => Self::Deleted(decoder.read_len()?),
            BLOCK_ITEM_JSON_REF_NUMBER => {
                let mut values = Vec::new();
                for _ in 0..decoder.read_len()? {
                    values.push(decoder.read_string()?.to_owned());
                }
                Self::JSON(values)
            }
            BLOCK_ITEM_BINARY_REF_NUMBER => Self::Binary(decoder.read_buf()?.to_vec()),
            BLOCK_ITEM_STRING_REF_NUMBER => Self::String(decoder.read_string()?.into()),
            BLOCK_ITEM_EMBED_REF_NUMBER => Self::Embed(decoder.read_json()?),
            BLOCK_ITEM_FORMAT_REF_NUMBER => Self::Format(decoder.read_key()?, Box::new(decoder.read_json()?)),
            BLOCK_ITEM_TYPE_REF_NUMBER => Self::Type(TypeRef::decode(decoder)?),
            BLOCK_ITEM_ANY_REF_NUMBER => {
                let mut values = Vec::new();
                for _ in 0..decoder.read_len()? {
                    values.push(decoder.read_any()?);
                }
                Self::Any(values)
            }
            BLOCK_ITEM_DOC_REF_NUMBER => {
                let mut options = Options::decode(decoder)?;
                options.should_load |= options.auto_load;
                Self::Doc(None, Doc::with_options(options))
            }
            _ => return Err(Error::UnexpectedValue),
        })
    }

    /// Appends content of the same kind, where several elements can stand in one item. Returns whether it did.
    pub fn try_squash(&mut self, other: &Self) -> bool {
        match (self, other) {
            (Self::Any(left), Self::Any(right)) => left.extend_from_slice(right),
            (Self::JSON(left), Self::JSON(right)) => left.extend_from_slice(right),
            (Self::Deleted(left), Self::Deleted(right)) => *left = left.saturating_add(*right),
            (Self::String(left), Self::String(right)) => left.push_str(right),
            _ => return false,
        }
        true
    }
}

impl std::fmt::Display for ItemContent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        fn list<T: std::fmt::Display>(values: &[T]) -> String {
            values.iter().map(T::to_string).collect::<Vec<_>>().join(", ")
        }
        match self {
            Self::String(text) => write!(f, "'{text}'"),
            Self::Any(values) => write!(f, "[{}]", list(values)),
            Self::JSON(values) => write!(f, "{{{}}}", list(values)),
            Self::Format(key, value) => write!(f, "<{key}={value}>"),
            Self::Deleted(len) => write!(f, "deleted({len})"),
            Self::Binary(bytes) => write!(f, "{bytes:?}"),
            Self::Embed(value) => write!(f, "{value}"),
            Self::Type(kind) => write!(f, "<{kind}>"),
            Self::Doc(_, doc) => write!(f, "{doc}"),
        }
    }
}
