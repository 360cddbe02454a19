//! [`EncoderV1`]: everything goes to one stream.

use super::{Encoder, UpdateEncoder};
use crate::any::Any;
use crate::id::{ClientID, ID};
use crate::write::Write;

/// Writes updates in the first format.
#[derive(Debug, Default, Clone)]
pub struct EncoderV1 {
    buf: Vec<u8>,
}

impl EncoderV1 {
    /// Starts with an empty buffer.
    pub fn new() -> Self {
        Self::default()
    }

    /// Starts with the memory of `buf`, whose content is dropped.
    pub fn with_buffer(mut buf: Vec<u8>) -> Self {
        buf.clear();
        Self { buf }
    }

    /// Forgets what was written, keeping the memory.
    pub fn clear(&mut self) {
        self.buf.clear();
    }

    /// Returns what was written.
    pub fn as_slice(&self) -> &[u8] {
        &self.buf
    }

    /// Appends what was written to `out` and starts anew, keeping the memory.
    pub fn finish_into(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.buf);
        self.buf.clear();
    }

    #[inline]
    fn write_id(&mut self, id: &ID) {
        self.buf.write_var(id.client.get());
        self.buf.write_var(id.clock);
    }
}

impl Write for EncoderV1 {
    #[inline]
    fn write_all(&mut self, buf: &[u8]) {
        self.buf.extend_from_slice(buf);
    }

    #[inline]
    fn write_u8(&mut self, value: u8) {
        self.buf.push(value);
    }
}

impl Encoder for EncoderV1 {
    #[inline]
    fn to_vec(self) -> Vec<u8> {
        self.buf
    }

    #[inline]
    fn reset_ds_cur_val(&mut self) {}

    #[inline]
    fn write_ds_clock(&mut self, clock: u32) {
        self.buf.write_var(clock);
    }

    #[inline]
    fn write_ds_len(&mut self, len: u32) {
        self.buf.write_var(len);
    }

    #[inline]
    fn write_left_id(&mut self, id: &ID) {
        self.write_id(id);
    }

    #[inline]
    fn write_right_id(&mut self, id: &ID) {
        self.write_id(id);
    }

    #[inline]
    fn write_client(&mut self, client: ClientID) {
        self.buf.write_var(client.get());
    }

    #[inline]
    fn write_info(&mut self, info: u8) {
        self.buf.push(info);
    }

    #[inline]
    fn write_parent_info(&mut self, is_y_key: bool) {
        self.buf.push(u8::from(is_y_key));
    }

    #[inline]
    fn write_type_ref(&mut self, info: u8) {
        self.buf.write_var(info);
    }

    #[inline]
    fn write_len(&mut self, len: u32) {
        self.buf.write_var(len);
    }

    #[inline]
    fn write_any(&mut self, any: &Any) {
        any.encode(&mut self.buf);
    }

    fn write_json(&mut self, any: &Any) {
        let mut text = String::new();
        any.to_json(&mut text);
        self.buf.write_string(&text);
    }

    #[inline]
    fn write_key(&mut self, key: &str) {
        self.buf.write_string(key);
    }
}

impl UpdateEncoder for EncoderV1 {
    fn rest_mut(&mut self) -> &mut Vec<u8> {
        &mut self.buf
    }
}
