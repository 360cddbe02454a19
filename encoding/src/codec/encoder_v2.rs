//! [`EncoderV2`]: nine columns and a rest.

use super::{Encoder, UpdateEncoder};
use crate::any::Any;
use crate::column::{IntDiffOptRleWriter, RleWriter, StringWriter, UintOptRleWriter};
use crate::id::{ClientID, ID};
use crate::utf16;
use crate::write::Write;

/// Writes updates in the second format.
#[derive(Debug, Default, Clone)]
pub struct EncoderV2 {
    key_clock: IntDiffOptRleWriter,
    client: UintOptRleWriter,
    left_clock: IntDiffOptRleWriter,
    right_clock: IntDiffOptRleWriter,
    info: RleWriter,
    string: StringWriter,
    parent_info: RleWriter,
    type_ref: UintOptRleWriter,
    len: UintOptRleWriter,
    rest: Vec<u8>,
    /// How many keys were written. Yjs writes each key anew, so this is also the next key's number.
    keys: u32,
    /// Where the last deleted range of the client ended.
    ds_clock: u32,
}

impl EncoderV2 {
    /// Starts with empty columns.
    pub fn new() -> Self {
        Self::default()
    }

    /// Starts with the memory of `buf` for the rest; its content is dropped.
    pub fn with_buffer(mut buf: Vec<u8>) -> Self {
        buf.clear();
        Self { rest: buf, ..Self::default() }
    }

    /// Forgets what was written, keeping the memory of all columns.
    pub fn clear(&mut self) {
        self.key_clock.clear();
        self.client.clear();
        self.left_clock.clear();
        self.right_clock.clear();
        self.info.clear();
        self.string.clear();
        self.parent_info.clear();
        self.type_ref.clear();
        self.len.clear();
        self.rest.clear();
        (self.keys, self.ds_clock) = (0, 0);
    }

    /// Appends what was written to `out` and starts anew, keeping the memory of all columns.
    pub fn finish_into(&mut self, out: &mut Vec<u8>) {
        out.reserve(self.size());
        out.write_u8(0); // the feature flag, of which no bit has a meaning yet
        out.write_buf(self.key_clock.finish());
        out.write_buf(self.client.finish());
        out.write_buf(self.left_clock.finish());
        out.write_buf(self.right_clock.finish());
        out.write_buf(self.info.finish());
        self.string.finish_into(out);
        out.write_buf(self.parent_info.finish());
        out.write_buf(self.type_ref.finish());
        out.write_buf(self.len.finish());
        out.write_all(&self.rest);
        self.clear();
    }

    /// At least the bytes of the whole.
    fn size(&mut self) -> usize {
        const LENGTHS: usize = 10 * 12;
        let clocks = [&mut self.key_clock, &mut self.left_clock, &mut self.right_clock];
        let clocks: usize = clocks.into_iter().map(|column| column.finish().len()).sum();
        let numbers = [&mut self.client, &mut self.type_ref, &mut self.len];
        let numbers: usize = numbers.into_iter().map(|column| column.finish().len()).sum();
        let bytes = self.info.finish().len() + self.parent_info.finish().len();
        clocks + numbers + bytes + self.string.size() + self.rest.len() + LENGTHS
    }
}

impl Write for EncoderV2 {
    #[inline]
    fn write_all(&mut self, buf: &[u8]) {
        self.rest.extend_from_slice(buf);
    }

    #[inline]
    fn write_u8(&mut self, value: u8) {
        self.rest.push(value);
    }

    #[inline]
    fn write_few<const N: usize>(&mut self, bytes: &[u8; N], len: usize) {
        self.rest.write_few(bytes, len);
    }

    /// Writes to the string column.
    #[inline]
    fn write_string(&mut self, str: &str) {
        // Longer than a clock can count cannot be read back anyway.
        let len = u32::try_from(utf16::len(str)).unwrap_or(u32::MAX);
        self.string.write(str, len);
    }
}

impl Encoder for EncoderV2 {
    fn to_vec(mut self) -> Vec<u8> {
        let mut out = Vec::new();
        self.finish_into(&mut out);
        out
    }

    #[inline]
    fn reset_ds_cur_val(&mut self) {
        self.ds_clock = 0;
    }

    #[inline]
    fn write_ds_clock(&mut self, clock: u32) {
        debug_assert!(clock >= self.ds_clock, "deleted ranges in order: {clock} after {}", self.ds_clock);
        self.rest.write_var(clock.wrapping_sub(self.ds_clock));
        self.ds_clock = clock;
    }

    #[inline]
    fn write_ds_len(&mut self, len: u32) {
        debug_assert!(len > 0, "a deleted range of nothing");
        self.rest.write_var(len.saturating_sub(1));
        self.ds_clock = self.ds_clock.wrapping_add(len);
    }

    #[inline]
    fn write_left_id(&mut self, id: &ID) {
        self.client.write(id.client.get());
        self.left_clock.write(id.clock);
    }

    #[inline]
    fn write_right_id(&mut self, id: &ID) {
        self.client.write(id.client.get());
        self.right_clock.write(id.clock);
    }

    #[inline]
    fn write_client(&mut self, client: ClientID) {
        self.client.write(client.get());
    }

    #[inline]
    fn write_info(&mut self, info: u8) {
        self.info.write(info);
    }

    #[inline]
    fn write_parent_info(&mut self, is_y_key: bool) {
        self.parent_info.write(u8::from(is_y_key));
    }

    #[inline]
    fn write_type_ref(&mut self, info: u8) {
        self.type_ref.write(u64::from(info));
    }

    #[inline]
    fn write_len(&mut self, len: u32) {
        self.len.write(u64::from(len));
    }

    #[inline]
    fn write_any(&mut self, any: &Any) {
        any.encode(&mut self.rest);
    }

    #[inline]
    fn write_json(&mut self, any: &Any) {
        self.write_any(any);
    }

    #[inline]
    fn write_json_value(&mut self, value: &crate::Value) {
        self.write_value(value);
    }

    /// Writes the key anew each time: Yjs never fills its table of keys, and the bytes must be the same.
    fn write_key(&mut self, key: &str) {
        self.key_clock.write(self.keys);
        self.keys = self.keys.wrapping_add(1);
        self.write_string(key);
    }

    #[inline]
    fn write_str_utf16(&mut self, s: &str, utf16_len: u32) {
        self.string.write(s, utf16_len);
    }
}

impl UpdateEncoder for EncoderV2 {
    fn rest_mut(&mut self) -> &mut Vec<u8> {
        &mut self.rest
    }
}
