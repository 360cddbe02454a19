//! Writing lib0 primitives: the [`Write`] trait and its implementation for `Vec<u8>`.
//!
//! Writing cannot fail. Everything but [`Write::write_all`] is provided.

use crate::varint::{Signed, SignedVarInt, VarInt};

/// Writes lib0 primitives to a growing buffer.
pub trait Write: Sized {
    /// Appends `buf` as it is.
    fn write_all(&mut self, buf: &[u8]);

    /// Appends one byte.
    #[inline]
    fn write_u8(&mut self, value: u8) {
        self.write_all(&[value]);
    }

    /// Writes the first `len` of a few bytes. Where it can, it copies all and takes the rest back: a copy of fixed size is
    /// a few instructions, one of any size a call.
    ///
    /// # Panics
    /// If `len` is above `N`.
    #[inline]
    fn write_few<const N: usize>(&mut self, bytes: &[u8; N], len: usize) {
        self.write_all(&bytes[..len]);
    }

    /// Appends two bytes, the least significant first.
    fn write_u16(&mut self, num: u16) {
        self.write_all(&num.to_le_bytes());
    }

    /// Appends four bytes, the least significant first.
    fn write_u32(&mut self, num: u32) {
        self.write_all(&num.to_le_bytes());
    }

    /// Appends four bytes, the most significant first.
    fn write_u32_be(&mut self, num: u32) {
        self.write_all(&num.to_be_bytes());
    }

    /// Appends a number of variable length: 7 bits a byte.
    #[inline]
    fn write_var<T: VarInt>(&mut self, num: T) {
        num.write(self);
    }

    /// Appends a signed number of variable length that can be `-0`.
    #[inline]
    fn write_var_signed<T: SignedVarInt>(&mut self, num: &Signed<T>) {
        T::write_signed(num, self);
    }

    /// Appends the length of `buf`, then `buf`.
    #[inline]
    fn write_buf<B: AsRef<[u8]>>(&mut self, buf: B) {
        let buf = buf.as_ref();
        self.write_var(buf.len());
        self.write_all(buf);
    }

    /// Appends the length of `str` in bytes, then `str` in UTF-8.
    #[inline]
    fn write_string(&mut self, str: &str) {
        self.write_buf(str);
    }

    /// Appends a 32-bit float, the most significant byte first.
    fn write_f32(&mut self, num: f32) {
        self.write_all(&num.to_be_bytes());
    }

    /// Appends a 64-bit float, the most significant byte first.
    fn write_f64(&mut self, num: f64) {
        self.write_all(&num.to_be_bytes());
    }

    /// Appends a 64-bit signed integer, the most significant byte first.
    fn write_i64(&mut self, num: i64) {
        self.write_all(&num.to_be_bytes());
    }

    /// Appends a 64-bit unsigned integer, the most significant byte first.
    fn write_u64(&mut self, num: u64) {
        self.write_all(&num.to_be_bytes());
    }
}

impl Write for Vec<u8> {
    #[inline]
    fn write_all(&mut self, buf: &[u8]) {
        self.extend_from_slice(buf);
    }

    #[inline]
    fn write_u8(&mut self, value: u8) {
        self.push(value);
    }

    #[inline]
    fn write_few<const N: usize>(&mut self, bytes: &[u8; N], len: usize) {
        assert!(len <= N, "{len} of {N} bytes");
        let end = self.len() + len;
        self.extend_from_slice(bytes);
        self.truncate(end);
    }
}
