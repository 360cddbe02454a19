//! [`Through`]: blocks read with any [`Decoder`], also one that lends its strings only until the next call.

use super::{Decoder, UpdateDecoder, utf16_len};
use crate::any::Any;
use crate::error::Error;
use crate::id::{ClientID, ID};
use crate::read::Read;
use crate::value::Value;
use std::borrow::Cow;
use std::sync::Arc;

/// Lets any decoder read blocks, at the cost of a copy of each string.
pub struct Through<'d, D> {
    decoder: &'d mut D,
    /// Length of the whole input and of what was left of the stream at first.
    input_len: usize,
    left: usize,
}

impl<'d, D: Decoder> Through<'d, D> {
    /// Reads with `decoder`, which afterwards stands behind what was read.
    ///
    /// # Errors
    /// When the decoder cannot say what it has left.
    pub fn new(decoder: &'d mut D) -> Result<Self, Error> {
        let left = decoder.read_to_end()?.len();
        Ok(Self { input_len: decoder.whole_len(), left, decoder })
    }
}

impl<D: Decoder> Read for Through<'_, D> {
    fn position(&self) -> usize {
        self.decoder.position()
    }

    fn read_exact(&mut self, len: usize) -> Result<&[u8], Error> {
        self.decoder.read_exact(len)
    }

    fn read_u8(&mut self) -> Result<u8, Error> {
        self.decoder.read_u8()
    }

    fn read_string(&mut self) -> Result<&str, Error> {
        self.decoder.read_string()
    }
}

impl<D: Decoder> Decoder for Through<'_, D> {
    fn reset_ds_cur_val(&mut self) {
        self.decoder.reset_ds_cur_val();
    }

    fn read_ds_clock(&mut self) -> Result<u32, Error> {
        self.decoder.read_ds_clock()
    }

    fn read_ds_len(&mut self) -> Result<u32, Error> {
        self.decoder.read_ds_len()
    }

    fn read_left_id(&mut self) -> Result<ID, Error> {
        self.decoder.read_left_id()
    }

    fn read_right_id(&mut self) -> Result<ID, Error> {
        self.decoder.read_right_id()
    }

    fn read_client(&mut self) -> Result<ClientID, Error> {
        self.decoder.read_client()
    }

    fn read_info(&mut self) -> Result<u8, Error> {
        self.decoder.read_info()
    }

    fn read_parent_info(&mut self) -> Result<bool, Error> {
        self.decoder.read_parent_info()
    }

    fn read_type_ref(&mut self) -> Result<u8, Error> {
        self.decoder.read_type_ref()
    }

    fn read_len(&mut self) -> Result<u32, Error> {
        self.decoder.read_len()
    }

    fn read_any(&mut self) -> Result<Any, Error> {
        self.decoder.read_any()
    }

    fn read_json(&mut self) -> Result<Any, Error> {
        self.decoder.read_json()
    }

    fn read_key(&mut self) -> Result<Arc<str>, Error> {
        self.decoder.read_key()
    }

    fn read_to_end(&mut self) -> Result<&[u8], Error> {
        self.decoder.read_to_end()
    }

    fn whole_len(&mut self) -> usize {
        self.input_len
    }

    fn read_value(&mut self) -> Result<Value, Error> {
        self.decoder.read_value()
    }

    fn read_values(&mut self, len: u32, values: &mut Vec<Value>) -> Result<(), Error> {
        self.decoder.read_values(len, values)
    }

    fn read_json_value(&mut self) -> Result<Value, Error> {
        self.decoder.read_json_value()
    }
}

impl<D: Decoder> UpdateDecoder<'static> for Through<'_, D> {
    /// The laxer bound on the number of blocks.
    const VERSION: u8 = 2;

    fn take_string_len(&mut self) -> Result<(Cow<'static, str>, u32), Error> {
        let text = self.decoder.read_string()?;
        let len = utf16_len(text)?;
        Ok((Cow::Owned(text.to_owned()), len))
    }

    fn take_key(&mut self) -> Result<Cow<'static, str>, Error> {
        Ok(Cow::Owned(self.decoder.read_key()?.as_ref().to_owned()))
    }

    fn take_buf(&mut self) -> Result<Cow<'static, [u8]>, Error> {
        Ok(Cow::Owned(self.decoder.read_buf()?.to_vec()))
    }

    /// An upper bound: what was left at first.
    fn remaining(&self) -> usize {
        self.left
    }

    fn input_len(&self) -> usize {
        self.input_len
    }
}
