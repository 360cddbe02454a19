//! The two formats of updates: the traits [`Encoder`] and [`Decoder`] and their implementations.
//!
//! Version 1 writes one stream. Version 2 writes nine columns and a rest. Code that writes or reads blocks is
//! generic over the traits and never asks which version it serves.

mod decoder_v1;
mod decoder_v2;
mod encoder_v1;
mod encoder_v2;
mod through;

pub use decoder_v1::DecoderV1;
pub use decoder_v2::DecoderV2;
pub use encoder_v1::EncoderV1;
pub use encoder_v2::EncoderV2;
pub use through::Through;

use crate::any::Any;
use crate::error::Error;
use crate::id::{ClientID, ID};
use crate::limits;
use crate::read::{Cursor, Read};
use crate::utf16;
use crate::value::Value;
use crate::write::Write;
use std::borrow::Cow;
use std::sync::Arc;

/// A thing that can be written in either format.
pub trait Encode {
    /// Writes the thing.
    fn encode<E: Encoder>(&self, encoder: &mut E);

    /// Writes the thing in the first format.
    fn encode_v1(&self) -> Vec<u8> {
        let mut encoder = EncoderV1::new();
        self.encode(&mut encoder);
        encoder.to_vec()
    }

    /// Writes the thing in the second format.
    fn encode_v2(&self) -> Vec<u8> {
        let mut encoder = EncoderV2::new();
        self.encode(&mut encoder);
        encoder.to_vec()
    }
}

/// A thing that can be read from either format.
pub trait Decode: Sized {
    /// Reads the thing.
    ///
    /// # Errors
    /// When the bytes do not hold one.
    fn decode<D: Decoder>(decoder: &mut D) -> Result<Self, Error>;

    /// Reads the thing from the first format.
    ///
    /// # Errors
    /// When the bytes do not hold one.
    fn decode_v1(data: &[u8]) -> Result<Self, Error> {
        Self::decode(&mut DecoderV1::from(data))
    }

    /// Reads the thing from the second format.
    ///
    /// # Errors
    /// When the bytes do not hold one.
    fn decode_v2(data: &[u8]) -> Result<Self, Error> {
        Self::decode(&mut DecoderV2::new(Cursor::new(data))?)
    }
}

/// Writes the parts of an update in one of the formats.
///
/// The methods of [`Write`] go to the undivided stream, except `write_string`, which goes to the string
/// column of the second format.
pub trait Encoder: Write {
    /// Returns all that was written.
    fn to_vec(self) -> Vec<u8>;

    /// Begins the delete set of a client.
    fn reset_ds_cur_val(&mut self);

    /// Writes the clock at which a deleted range begins; ranges must be written in ascending order.
    fn write_ds_clock(&mut self, clock: u32);

    /// Writes the length of a deleted range in clock units, which is never 0.
    fn write_ds_len(&mut self, len: u32);

    /// Writes an origin, or the id of a parent.
    fn write_left_id(&mut self, id: &ID);

    /// Writes a right origin.
    fn write_right_id(&mut self, id: &ID);

    /// Writes the client of a section.
    fn write_client(&mut self, client: ClientID);

    /// Writes the info byte of a block.
    fn write_info(&mut self, info: u8);

    /// Writes whether the parent is named by a root name (`true`) or an id.
    fn write_parent_info(&mut self, is_y_key: bool);

    /// Writes the number of a shared type.
    fn write_type_ref(&mut self, info: u8);

    /// Writes the length of a block in clock units, or a number of elements.
    fn write_len(&mut self, len: u32);

    /// Writes a value in binary.
    fn write_any(&mut self, any: &Any);

    /// Writes a value as JSON text (version 1, integers beyond 2^53 as JavaScript reads them) or in binary (version 2).
    fn write_json(&mut self, any: &Any);

    /// Writes a key: of a format, or the name of an XML node.
    fn write_key(&mut self, string: &str);

    /// Writes a value in binary, BigInts included.
    fn write_value(&mut self, value: &Value) {
        match value {
            Value::Plain(any) => self.write_any(any),
            Value::Exact(exact) => self.write_all(exact.bytes()),
        }
    }

    /// Writes a value as JSON text (version 1: a BigInt becomes a number, with the digits of that number) or in binary (version 2).
    fn write_json_value(&mut self, value: &Value) {
        self.write_json(value.any());
    }

    #[doc(hidden)]
    #[inline]
    fn write_info_and_ids(&mut self, info: u8, origin: Option<&ID>, right_origin: Option<&ID>) {
        self.write_info(info);
        if let Some(id) = origin {
            self.write_left_id(id);
        }
        if let Some(id) = right_origin {
            self.write_right_id(id);
        }
    }

    /// Writes a string whose length in UTF-16 units is known; like `write_string`, but need not count.
    #[inline]
    fn write_str_utf16(&mut self, s: &str, utf16_len: u32) {
        let _ = utf16_len;
        self.write_string(s);
    }
}

/// Reads the parts of an update from one of the formats.
///
/// The methods of [`Read`] read the undivided stream, except `read_string`, which reads the string column of
/// the second format. All methods fail when the bytes run out or a number does not fit.
pub trait Decoder: Read {
    /// Begins the delete set of a client.
    fn reset_ds_cur_val(&mut self);

    /// Reads the clock at which a deleted range begins.
    ///
    /// # Errors
    /// When the bytes run out or the clock does not fit.
    fn read_ds_clock(&mut self) -> Result<u32, Error>;

    /// Reads the length of a deleted range.
    ///
    /// # Errors
    /// When the bytes run out or the length does not fit.
    fn read_ds_len(&mut self) -> Result<u32, Error>;

    /// Reads an origin, or the id of a parent.
    ///
    /// # Errors
    /// When the bytes run out or a number does not fit.
    fn read_left_id(&mut self) -> Result<ID, Error>;

    /// Reads a right origin.
    ///
    /// # Errors
    /// When the bytes run out or a number does not fit.
    fn read_right_id(&mut self) -> Result<ID, Error>;

    /// Reads the client of a section.
    ///
    /// # Errors
    /// When the bytes run out or the number is above 2^53-1.
    fn read_client(&mut self) -> Result<ClientID, Error>;

    /// Reads the info byte of a block.
    ///
    /// # Errors
    /// When the bytes run out.
    fn read_info(&mut self) -> Result<u8, Error>;

    /// Reads whether the parent is named by a root name.
    ///
    /// # Errors
    /// When the bytes run out.
    fn read_parent_info(&mut self) -> Result<bool, Error>;

    /// Reads the number of a shared type.
    ///
    /// # Errors
    /// When the bytes run out or the number is above 255.
    fn read_type_ref(&mut self) -> Result<u8, Error>;

    /// Reads a length.
    ///
    /// # Errors
    /// When the bytes run out or the length is above 2^32-1.
    fn read_len(&mut self) -> Result<u32, Error>;

    /// Reads a value in binary.
    ///
    /// # Errors
    /// Those of [`Any::decode`].
    fn read_any(&mut self) -> Result<Any, Error>;

    /// Appends the next `len` elements: values in binary, BigInts included.
    ///
    /// # Errors
    /// Those of [`Any::decode`].
    fn read_values(&mut self, len: u32, values: &mut Vec<Value>) -> Result<(), Error> {
        for _ in 0..len {
            values.push(self.read_value()?);
        }
        Ok(())
    }

    /// Reads a value as JSON text (version 1) or in binary (version 2).
    ///
    /// # Errors
    /// Those of [`Any::json_parse`] and [`Any::decode`].
    fn read_json(&mut self) -> Result<Any, Error>;

    /// Reads a key.
    ///
    /// # Errors
    /// When the bytes run out or are not UTF-8.
    fn read_key(&mut self) -> Result<Arc<str>, Error>;

    /// Returns what is left of the undivided stream, unread.
    ///
    /// # Errors
    /// Never, with the decoders of this crate.
    fn read_to_end(&mut self) -> Result<&[u8], Error>;

    /// Counts the bytes of the whole input, or, where that is not known, of what is left of the undivided stream.
    #[doc(hidden)]
    fn whole_len(&mut self) -> usize {
        self.read_to_end().map_or(0, <[u8]>::len)
    }

    /// Reads a value in binary, BigInts included.
    ///
    /// # Errors
    /// Those of [`Any::decode`].
    fn read_value(&mut self) -> Result<Value, Error> {
        self.read_any().map(Value::Plain)
    }

    /// Reads a value as JSON text (version 1) or in binary, BigInts included (version 2).
    ///
    /// # Errors
    /// Those of [`Any::json_parse`] and [`Any::decode`].
    fn read_json_value(&mut self) -> Result<Value, Error> {
        self.read_json().map(Value::Plain)
    }
}

/// A decoder whose strings and bytes live as long as the input: what blocks are read with.
pub trait UpdateDecoder<'a>: Decoder {
    /// Which format this is: 1 or 2.
    const VERSION: u8;

    /// How many blocks the input may claim to hold.
    fn block_budget(&self) -> u64 {
        let bytes = self.input_len() as u64;
        match Self::VERSION {
            // A block of the first format takes two bytes.
            1 => bytes / 2,
            _ => bytes.saturating_mul(limits::BLOCKS_PER_BYTE).saturating_add(limits::FREE_BLOCKS),
        }
    }

    /// Takes a string and its length in UTF-16 units.
    ///
    /// # Errors
    /// When the bytes run out or are not UTF-8.
    fn take_string_len(&mut self) -> Result<(Cow<'a, str>, u32), Error>;

    /// Reads a left id that takes no more than a look at a few bytes. `None` means only that [`Decoder::read_left_id`] has
    /// to find out: nothing was taken then.
    #[inline]
    fn quick_left_id(&mut self) -> Option<ID> {
        None
    }

    /// As [`Self::quick_left_id`], for a right id.
    #[inline]
    fn quick_right_id(&mut self) -> Option<ID> {
        None
    }

    /// Appends a string, which is checked to be UTF-8, to `text` and returns its length in UTF-16 units.
    ///
    /// # Errors
    /// When the bytes run out or are not UTF-8.
    #[inline]
    fn take_text(&mut self, text: &mut Vec<u8>) -> Result<u32, Error> {
        let (s, units) = self.take_string_len()?;
        text.extend_from_slice(s.as_bytes());
        Ok(units)
    }

    /// Takes a string.
    ///
    /// # Errors
    /// When the bytes run out or are not UTF-8.
    #[inline]
    fn take_str(&mut self) -> Result<Cow<'a, str>, Error> {
        self.take_string_len().map(|(s, _)| s)
    }

    /// Takes a key.
    ///
    /// # Errors
    /// When the bytes run out or are not UTF-8.
    fn take_key(&mut self) -> Result<Cow<'a, str>, Error>;

    /// Takes bytes with their length.
    ///
    /// # Errors
    /// When fewer are left.
    fn take_buf(&mut self) -> Result<Cow<'a, [u8]>, Error>;

    /// Counts the bytes left in the undivided stream.
    fn remaining(&self) -> usize;

    /// Returns the place in the undivided stream, as an offset in bytes into the whole input.
    #[inline]
    fn offset(&self) -> usize {
        self.position()
    }

    /// Returns the length of the whole input.
    fn input_len(&self) -> usize;
}

/// An encoder that can set the undivided stream aside: what lets a section be counted after it was written.
pub trait UpdateEncoder: Encoder {
    /// Returns the undivided stream.
    fn rest_mut(&mut self) -> &mut Vec<u8>;
}

/// Counts the UTF-16 units of a string from the wire; a length that does not fit a clock is an error.
fn utf16_len(s: &str) -> Result<u32, Error> {
    u32::try_from(utf16::len(s)).map_err(|_| Error::InvalidVarInt)
}

/// Appends the first `len` of `bytes` to `text` if they are few and ASCII, and returns their number of UTF-16 units.
///
/// Most strings of an update are a word or less: a copy of fixed size and a look at all of its bytes at once spare
/// them the calls, and the branches, of a string of any length.
#[inline(always)]
fn push_short(text: &mut Vec<u8>, bytes: &[u8], len: usize) -> Option<u32> {
    const SHORT: usize = 16;
    let chunk: &[u8; SHORT] = bytes.first_chunk().filter(|_| len <= SHORT)?;
    let taken = u128::MAX.unbounded_shr(u128::BITS - 8 * len as u32);
    if u128::from_le_bytes(*chunk) & taken & u128::from_le_bytes([0x80; SHORT]) != 0 {
        return None;
    }
    let end = text.len() + len;
    text.extend_from_slice(chunk);
    text.truncate(end);
    Some(len as u32)
}

/// Reads a client id.
#[inline]
pub(crate) fn client_id(value: u64) -> Result<ClientID, Error> {
    if value > ClientID::MAX.get() {
        return Err(Error::InvalidVarInt);
    }
    Ok(ClientID::new(value))
}
