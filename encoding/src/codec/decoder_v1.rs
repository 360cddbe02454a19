//! [`DecoderV1`]: everything stands in one stream.

use super::{Decoder, UpdateDecoder, client_id, push_short, utf16_len};
use crate::any::Any;
use crate::error::Error;
use crate::id::{ClientID, ID};
use crate::read::{Cursor, Read};
use crate::utf8;
use crate::value::Value;
use crate::varint::decode_word;
use std::borrow::Cow;
use std::sync::Arc;

/// Reads updates of the first format.
#[derive(Debug, Clone)]
pub struct DecoderV1<'a> {
    cursor: Cursor<'a>,
    section: ClientBytes,
}

/// A client id as it stands in the input: that of the current section, which most ids of its blocks name too.
/// Comparing its bytes is cheaper than decoding them.
#[derive(Debug, Clone, Copy)]
struct ClientBytes {
    word: u64,
    mask: u64,
    len: usize,
    id: ClientID,
}

impl ClientBytes {
    /// Matches nothing.
    const NONE: Self = Self { word: 1, mask: 0, len: 0, id: ClientID::new(0) };

    /// Takes the bytes that were read as `id`; none if they are more than a word.
    fn new(bytes: &[u8], id: ClientID) -> Self {
        let mut word = [0; 8];
        let Some(head) = word.get_mut(..bytes.len()) else { return Self::NONE };
        head.copy_from_slice(bytes);
        let mask = u64::MAX.unbounded_shr(u64::BITS - 8 * bytes.len() as u32);
        Self { word: u64::from_le_bytes(word), mask, len: bytes.len(), id }
    }
}

impl<'a> DecoderV1<'a> {
    /// Reads what `cursor` has left.
    #[inline]
    pub fn new(cursor: Cursor<'a>) -> Self {
        Self { cursor, section: ClientBytes::NONE }
    }

    /// Reads the client of the section and a number of at most 8 bytes, away from the end of the input: nearly always.
    #[inline(always)]
    fn quick_id(&mut self) -> Option<ID> {
        let rest = self.cursor.rest();
        if u64::from_le_bytes(*rest.first_chunk()?) & self.section.mask != self.section.word {
            return None;
        }
        let (clock, len) = decode_word(rest.get(self.section.len..)?)?;
        let clock = u32::try_from(clock).ok()?;
        self.cursor.next += self.section.len + len;
        Some(ID::new(self.section.id, clock))
    }

    fn read_id(&mut self) -> Result<ID, Error> {
        let client = client_id(self.cursor.read_var()?)?;
        let clock = self.cursor.read_var()?;
        Ok(ID::new(client, clock))
    }
}

impl<'a> From<Cursor<'a>> for DecoderV1<'a> {
    fn from(cursor: Cursor<'a>) -> Self {
        Self::new(cursor)
    }
}

impl<'a> From<&'a [u8]> for DecoderV1<'a> {
    fn from(buf: &'a [u8]) -> Self {
        Self::new(Cursor::new(buf))
    }
}

impl Read for DecoderV1<'_> {
    #[inline]
    fn position(&self) -> usize {
        self.cursor.next
    }

    #[inline]
    fn read_exact(&mut self, len: usize) -> Result<&[u8], Error> {
        self.cursor.take(len)
    }

    #[inline]
    fn read_u8(&mut self) -> Result<u8, Error> {
        self.cursor.read_u8()
    }

    #[inline]
    fn read_var_u64(&mut self) -> Result<u64, Error> {
        self.cursor.read_var_u64()
    }
}

impl Decoder for DecoderV1<'_> {
    #[inline]
    fn reset_ds_cur_val(&mut self) {}

    #[inline]
    fn read_ds_clock(&mut self) -> Result<u32, Error> {
        self.cursor.read_var()
    }

    #[inline]
    fn read_ds_len(&mut self) -> Result<u32, Error> {
        self.cursor.read_var()
    }

    #[inline]
    fn read_left_id(&mut self) -> Result<ID, Error> {
        self.read_id()
    }

    #[inline]
    fn read_right_id(&mut self) -> Result<ID, Error> {
        self.read_id()
    }

    #[inline]
    fn read_client(&mut self) -> Result<ClientID, Error> {
        let start = self.cursor.next;
        let client = client_id(self.cursor.read_var()?)?;
        self.section = ClientBytes::new(&self.cursor.buf[start..self.cursor.next], client);
        Ok(client)
    }

    #[inline]
    fn read_info(&mut self) -> Result<u8, Error> {
        self.cursor.read_u8()
    }

    #[inline]
    fn read_parent_info(&mut self) -> Result<bool, Error> {
        Ok(self.cursor.read_var::<u64>()? == 1)
    }

    #[inline]
    fn read_type_ref(&mut self) -> Result<u8, Error> {
        self.cursor.read_var()
    }

    #[inline]
    fn read_len(&mut self) -> Result<u32, Error> {
        self.cursor.read_var()
    }

    #[inline]
    fn read_any(&mut self) -> Result<Any, Error> {
        Any::decode(&mut self.cursor)
    }

    fn read_json(&mut self) -> Result<Any, Error> {
        Any::json_parse(self.cursor.take_str()?)
    }

    fn read_key(&mut self) -> Result<Arc<str>, Error> {
        self.cursor.take_str().map(Arc::from)
    }

    fn read_to_end(&mut self) -> Result<&[u8], Error> {
        Ok(self.cursor.rest())
    }

    #[inline]
    fn whole_len(&mut self) -> usize {
        self.cursor.buf.len()
    }

    #[inline]
    fn read_value(&mut self) -> Result<Value, Error> {
        Value::decode(&mut self.cursor)
    }

    fn read_values(&mut self, len: u32, values: &mut Vec<Value>) -> Result<(), Error> {
        Value::decode_many(&mut self.cursor, len, values)
    }
}

impl<'a> UpdateDecoder<'a> for DecoderV1<'a> {
    const VERSION: u8 = 1;

    #[inline]
    fn take_string_len(&mut self) -> Result<(Cow<'a, str>, u32), Error> {
        let s = self.cursor.take_str()?;
        Ok((Cow::Borrowed(s), utf16_len(s)?))
    }

    #[inline(always)]
    fn quick_left_id(&mut self) -> Option<ID> {
        self.quick_id()
    }

    #[inline(always)]
    fn quick_right_id(&mut self) -> Option<ID> {
        self.quick_id()
    }

    #[inline(always)]
    fn take_text(&mut self, text: &mut Vec<u8>) -> Result<u32, Error> {
        let len: usize = self.cursor.read_var()?;
        if let Some(units) = push_short(text, self.cursor.rest(), len) {
            self.cursor.next += len;
            return Ok(units);
        }
        let bytes = self.cursor.take(len)?;
        let s = utf8::check(bytes)?;
        text.extend_from_slice(bytes);
        utf16_len(s)
    }

    #[inline]
    fn take_str(&mut self) -> Result<Cow<'a, str>, Error> {
        self.cursor.take_str().map(Cow::Borrowed)
    }

    #[inline]
    fn take_key(&mut self) -> Result<Cow<'a, str>, Error> {
        self.take_str()
    }

    #[inline]
    fn take_buf(&mut self) -> Result<Cow<'a, [u8]>, Error> {
        self.cursor.take_buf().map(Cow::Borrowed)
    }

    #[inline]
    fn remaining(&self) -> usize {
        self.cursor.remaining()
    }

    #[inline]
    fn input_len(&self) -> usize {
        self.cursor.buf.len()
    }
}
