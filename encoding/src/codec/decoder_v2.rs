//! [`DecoderV2`]: nine columns and a rest.

use super::{Decoder, UpdateDecoder, client_id};
use crate::any::Any;
use crate::column::{IntDiffOptRleReader, RleReader, StringReader, UintOptRleReader};
use crate::error::Error;
use crate::id::{ClientID, ID};
use crate::limits;
use crate::read::{Cursor, Read};
use crate::value::Value;
use std::borrow::Cow;
use std::sync::Arc;

/// Reads updates of the second format.
///
/// It borrows all columns from the input; only the table of keys is allocated, a key at a time.
#[derive(Debug, Clone)]
pub struct DecoderV2<'a> {
    rest: Cursor<'a>,
    key_clock: IntDiffOptRleReader<'a>,
    client: UintOptRleReader<'a>,
    left_clock: IntDiffOptRleReader<'a>,
    right_clock: IntDiffOptRleReader<'a>,
    info: RleReader<'a>,
    string: StringReader<'a>,
    parent_info: RleReader<'a>,
    type_ref: UintOptRleReader<'a>,
    len: UintOptRleReader<'a>,
    keys: Vec<Cow<'a, str>>,
    /// Where the last deleted range of the client ended.
    ds_clock: u32,
    /// The string that `read_string` lent last, if it is not a part of the input.
    lent: String,
    /// The bytes are our own: their claims are believed.
    trusted: bool,
}

impl<'a> DecoderV2<'a> {
    /// Finds the columns in what `cursor` has left. Costs O(bytes of strings).
    ///
    /// # Errors
    /// When a column is cut or the strings are not UTF-8.
    pub fn new(mut cursor: Cursor<'a>) -> Result<Self, Error> {
        // The feature flag: Yjs reads it and asks nothing of it.
        let _: u64 = cursor.read_var()?;
        Ok(Self {
            key_clock: IntDiffOptRleReader::new(cursor.take_buf()?),
            client: UintOptRleReader::new(cursor.take_buf()?),
            left_clock: IntDiffOptRleReader::new(cursor.take_buf()?),
            right_clock: IntDiffOptRleReader::new(cursor.take_buf()?),
            info: RleReader::new(cursor.take_buf()?),
            string: StringReader::new(cursor.take_buf()?)?,
            parent_info: RleReader::new(cursor.take_buf()?),
            type_ref: UintOptRleReader::new(cursor.take_buf()?),
            len: UintOptRleReader::new(cursor.take_buf()?),
            rest: cursor,
            keys: Vec::new(),
            ds_clock: 0,
            lent: String::new(),
            trusted: false,
        })
    }

    /// As [`Self::new`], for bytes of our own making: they may hold more blocks than a peer's of the same size.
    ///
    /// # Errors
    /// When a column is cut or the strings are not UTF-8.
    pub fn trusted(cursor: Cursor<'a>) -> Result<Self, Error> {
        Ok(Self { trusted: true, ..Self::new(cursor)? })
    }
}

impl Read for DecoderV2<'_> {
    #[inline]
    fn position(&self) -> usize {
        self.rest.next
    }

    #[inline]
    fn read_exact(&mut self, len: usize) -> Result<&[u8], Error> {
        self.rest.take(len)
    }

    #[inline]
    fn read_u8(&mut self) -> Result<u8, Error> {
        self.rest.read_u8()
    }

    #[inline]
    fn read_var_u64(&mut self) -> Result<u64, Error> {
        self.rest.read_var_u64()
    }

    /// Reads from the string column.
    fn read_string(&mut self) -> Result<&str, Error> {
        match self.string.read()?.0 {
            Cow::Borrowed(s) => Ok(s),
            Cow::Owned(s) => {
                self.lent = s;
                Ok(&self.lent)
            }
        }
    }
}

impl Decoder for DecoderV2<'_> {
    #[inline]
    fn reset_ds_cur_val(&mut self) {
        self.ds_clock = 0;
    }

    #[inline]
    fn read_ds_clock(&mut self) -> Result<u32, Error> {
        let diff: u32 = self.rest.read_var()?;
        let Some(clock) = self.ds_clock.checked_add(diff) else { return Err(Error::InvalidVarInt) };
        self.ds_clock = clock;
        Ok(clock)
    }

    #[inline]
    fn read_ds_len(&mut self) -> Result<u32, Error> {
        let less_one: u32 = self.rest.read_var()?;
        let end = self.ds_clock.checked_add(less_one).and_then(|last| last.checked_add(1));
        let Some(end) = end else { return Err(Error::InvalidVarInt) };
        self.ds_clock = end;
        Ok(less_one + 1)
    }

    #[inline]
    fn read_left_id(&mut self) -> Result<ID, Error> {
        let client = self.read_client()?;
        Ok(ID::new(client, self.left_clock.read()?))
    }

    #[inline]
    fn read_right_id(&mut self) -> Result<ID, Error> {
        let client = self.read_client()?;
        Ok(ID::new(client, self.right_clock.read()?))
    }

    #[inline]
    fn read_client(&mut self) -> Result<ClientID, Error> {
        client_id(self.client.read()?)
    }

    #[inline]
    fn read_info(&mut self) -> Result<u8, Error> {
        self.info.read()
    }

    #[inline]
    fn read_parent_info(&mut self) -> Result<bool, Error> {
        Ok(self.parent_info.read()? == 1)
    }

    #[inline]
    fn read_type_ref(&mut self) -> Result<u8, Error> {
        self.type_ref.read()?.try_into().map_err(|_| Error::InvalidVarInt)
    }

    #[inline]
    fn read_len(&mut self) -> Result<u32, Error> {
        self.len.read()?.try_into().map_err(|_| Error::InvalidVarInt)
    }

    #[inline]
    fn read_any(&mut self) -> Result<Any, Error> {
        Any::decode(&mut self.rest)
    }

    #[inline]
    fn read_json(&mut self) -> Result<Any, Error> {
        self.read_any()
    }

    fn read_key(&mut self) -> Result<Arc<str>, Error> {
        self.take_key().map(Arc::from)
    }

    fn read_to_end(&mut self) -> Result<&[u8], Error> {
        Ok(self.rest.rest())
    }

    #[inline]
    fn whole_len(&mut self) -> usize {
        self.rest.buf.len()
    }

    #[inline]
    fn read_value(&mut self) -> Result<Value, Error> {
        Value::decode(&mut self.rest)
    }

    fn read_values(&mut self, len: u32, values: &mut Vec<Value>) -> Result<(), Error> {
        Value::decode_many(&mut self.rest, len, values)
    }

    #[inline]
    fn read_json_value(&mut self) -> Result<Value, Error> {
        self.read_value()
    }
}

impl<'a> UpdateDecoder<'a> for DecoderV2<'a> {
    const VERSION: u8 = 2;

    fn block_budget(&self) -> u64 {
        if self.trusted {
            return u64::MAX;
        }
        let bytes = self.input_len() as u64;
        bytes.saturating_mul(limits::BLOCKS_PER_BYTE).saturating_add(limits::FREE_BLOCKS)
    }

    #[inline]
    fn take_string_len(&mut self) -> Result<(Cow<'a, str>, u32), Error> {
        self.string.read()
    }

    fn take_key(&mut self) -> Result<Cow<'a, str>, Error> {
        let number = self.key_clock.read()? as usize;
        if let Some(key) = self.keys.get(number) {
            return Ok(key.clone());
        }
        let key = self.take_str()?;
        self.keys.push(key.clone());
        Ok(key)
    }

    #[inline]
    fn take_buf(&mut self) -> Result<Cow<'a, [u8]>, Error> {
        self.rest.take_buf().map(Cow::Borrowed)
    }

    #[inline]
    fn remaining(&self) -> usize {
        self.rest.remaining()
    }

    #[inline]
    fn input_len(&self) -> usize {
        self.rest.buf.len()
    }
}
