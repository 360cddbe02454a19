//! [`EncoderV1`]: everything goes to one stream.

use super::{Encoder, UpdateEncoder};
use crate::any::Any;
use crate::id::{ClientID, ID};
use crate::varint::{WORD_MAX, encode_word};
use crate::write::Write;

/// Writes updates in the first format.
#[derive(Debug, Default, Clone)]
pub struct EncoderV1 {
    buf: Vec<u8>,
    /// The client that was written last, and how: nearly all ids name the same few clients, one after the other.
    client: ClientWord,
}

/// The bytes of a client id: the low `len` of `word`. A `len` of 0 means that they do not fit there.
#[derive(Debug, Clone, Copy)]
struct ClientWord {
    client: ClientID,
    word: u64,
    len: usize,
}

impl ClientWord {
    #[inline]
    fn new(client: ClientID) -> Self {
        let (word, len) = if client.get() < WORD_MAX { encode_word(client.get()) } else { (0, 0) };
        Self { client, word, len }
    }
}

impl Default for ClientWord {
    fn default() -> Self {
        Self { client: ClientID::new(0), word: 0, len: 1 }
    }
}

impl EncoderV1 {
    /// Starts with an empty buffer.
    pub fn new() -> Self {
        Self::default()
    }

    /// Starts with the memory of `buf`, whose content is dropped.
    pub fn with_buffer(mut buf: Vec<u8>) -> Self {
        buf.clear();
        Self { buf, client: ClientWord::default() }
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

    /// As [`put_var`] of the two numbers of an id.
    #[inline]
    fn put_id(&mut self, bytes: &mut [u8; 40], at: usize, id: &ID) -> usize {
        if id.client != self.client.client {
            self.client = ClientWord::new(id.client);
        }
        let ClientWord { word, len, .. } = self.client;
        let at = match bytes.get_mut(at..).and_then(<[u8]>::first_chunk_mut) {
            Some(place) if len > 0 => {
                *place = word.to_le_bytes();
                at + len
            }
            _ => put_var(bytes, at, id.client.get()),
        };
        put_var(bytes, at, u64::from(id.clock))
    }

    /// Appends the first `len` of a few bytes: a copy of fixed size, cut afterwards, costs no call.
    #[inline]
    fn append<const N: usize>(&mut self, bytes: &[u8; N], len: usize) {
        self.buf.extend_from_slice(bytes);
        self.buf.truncate(self.buf.len() - (N - len));
    }
}

/// Puts a number of variable length into `bytes` from `at` on, and returns where it ends.
#[inline]
fn put_var<const N: usize>(bytes: &mut [u8; N], mut at: usize, mut value: u64) -> usize {
    while value >= 0x80 {
        bytes[at] = value as u8 | 0x80;
        value >>= 7;
        at += 1;
    }
    bytes[at] = value as u8;
    at + 1
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

    #[inline]
    fn write_few<const N: usize>(&mut self, bytes: &[u8; N], len: usize) {
        self.buf.write_few(bytes, len);
    }

    #[inline]
    fn write_string(&mut self, str: &str) {
        // What is typed is mostly one letter.
        match str.as_bytes() {
            [letter] => self.buf.extend_from_slice(&[1, *letter]),
            bytes => self.buf.write_buf(bytes),
        }
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
    fn write_info_and_ids(&mut self, info: u8, origin: Option<&ID>, right_origin: Option<&ID>) {
        // An info byte and two ids of at most 10 + 5 bytes, and room to write a word where a few bytes are meant.
        let mut bytes = [0; 40];
        bytes[0] = info;
        let mut len = 1;
        if let Some(id) = origin {
            len = self.put_id(&mut bytes, len, id);
        }
        if let Some(id) = right_origin {
            len = self.put_id(&mut bytes, len, id);
        }
        self.append(&bytes, len);
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
        any.json_stringify(&mut text);
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
