//! Reading lib0 primitives: the [`Read`] trait and [`Cursor`], its implementation for a byte slice.
//!
//! Nothing here panics or allocates, whatever the bytes are. All lengths are checked against what is left.

pub use crate::error::{Error, MalformedKind};
use crate::utf8;
use crate::varint::{Signed, SignedVarInt, VarInt, decode_word, read_bytewise};

/// Reads lib0 primitives from a source of bytes.
///
/// All methods fail with [`Error::EndOfBuffer`] when the bytes run out.
pub trait Read: Sized {
    /// Returns the offset of the next byte, for error messages; 0 if it is not known.
    #[inline]
    fn position(&self) -> usize {
        0
    }

    /// Makes the error that says what is wrong at this place.
    #[cold]
    fn invalid(&self, what: &'static str) -> Error {
        Error::invalid(self.position(), what)
    }

    /// Takes the next `len` bytes.
    ///
    /// # Errors
    /// [`Error::EndOfBuffer`] if fewer are left; then nothing is taken.
    fn read_exact(&mut self, len: usize) -> Result<&[u8], Error>;

    /// Takes the next `N` bytes as an array.
    ///
    /// # Errors
    /// [`Error::EndOfBuffer`] if fewer are left.
    #[inline]
    fn read_array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        self.read_exact(N)?.try_into().map_err(|_| Error::EndOfBuffer(N))
    }

    /// Reads one byte.
    ///
    /// # Errors
    /// [`Error::EndOfBuffer`] at the end.
    #[inline]
    fn read_u8(&mut self) -> Result<u8, Error> {
        Ok(u8::from_le_bytes(self.read_array()?))
    }

    /// Reads a length, then that many bytes.
    ///
    /// # Errors
    /// When the length is not a number or larger than what is left.
    #[inline]
    fn read_buf(&mut self) -> Result<&[u8], Error> {
        let len: usize = self.read_var()?;
        self.read_exact(len)
    }

    /// Reads two bytes, the least significant first.
    ///
    /// # Errors
    /// [`Error::EndOfBuffer`] at the end.
    fn read_u16(&mut self) -> Result<u16, Error> {
        Ok(u16::from_le_bytes(self.read_array()?))
    }

    /// Reads four bytes, the least significant first.
    ///
    /// # Errors
    /// [`Error::EndOfBuffer`] at the end.
    fn read_u32(&mut self) -> Result<u32, Error> {
        Ok(u32::from_le_bytes(self.read_array()?))
    }

    /// Reads four bytes, the most significant first.
    ///
    /// # Errors
    /// [`Error::EndOfBuffer`] at the end.
    fn read_u32_be(&mut self) -> Result<u32, Error> {
        Ok(u32::from_be_bytes(self.read_array()?))
    }

    /// Reads a number of variable length.
    ///
    /// # Errors
    /// [`Error::InvalidVarInt`] if it does not fit `T`.
    #[inline]
    fn read_var<T: VarInt>(&mut self) -> Result<T, Error> {
        T::read(self)
    }

    /// Reads an unsigned number of variable length: what [`Self::read_var`] is made of.
    ///
    /// # Errors
    /// [`Error::InvalidVarInt`] if it does not fit.
    #[inline]
    fn read_var_u64(&mut self) -> Result<u64, Error> {
        read_bytewise(self)
    }

    /// Reads a signed number of variable length that can be `-0`.
    ///
    /// # Errors
    /// [`Error::InvalidVarInt`] if it does not fit `T`.
    #[inline]
    fn read_var_signed<T: SignedVarInt>(&mut self) -> Result<Signed<T>, Error> {
        T::read_signed(self)
    }

    /// Reads a length in bytes, then a string in UTF-8.
    ///
    /// # Errors
    /// [`MalformedKind::Utf8`] if it is not UTF-8.
    #[inline]
    fn read_string(&mut self) -> Result<&str, Error> {
        utf8::check(self.read_buf()?)
    }

    /// Reads a 32-bit float, the most significant byte first.
    ///
    /// # Errors
    /// [`Error::EndOfBuffer`] at the end.
    fn read_f32(&mut self) -> Result<f32, Error> {
        Ok(f32::from_be_bytes(self.read_array()?))
    }

    /// Reads a 64-bit float, the most significant byte first.
    ///
    /// # Errors
    /// [`Error::EndOfBuffer`] at the end.
    fn read_f64(&mut self) -> Result<f64, Error> {
        Ok(f64::from_be_bytes(self.read_array()?))
    }

    /// Reads a 64-bit signed integer, the most significant byte first.
    ///
    /// # Errors
    /// [`Error::EndOfBuffer`] at the end.
    fn read_i64(&mut self) -> Result<i64, Error> {
        Ok(i64::from_be_bytes(self.read_array()?))
    }

    /// Reads a 64-bit unsigned integer, the most significant byte first.
    ///
    /// # Errors
    /// [`Error::EndOfBuffer`] at the end.
    fn read_u64(&mut self) -> Result<u64, Error> {
        Ok(u64::from_be_bytes(self.read_array()?))
    }
}

/// Reads a byte slice from front to back.
#[derive(Debug, Default, Clone)]
pub struct Cursor<'a> {
    /// All the bytes.
    pub buf: &'a [u8],
    /// Index of the next byte to read.
    pub next: usize,
}

impl<'a> Cursor<'a> {
    /// Starts at the front of `buf`.
    #[inline]
    pub fn new(buf: &'a [u8]) -> Self {
        Cursor { buf, next: 0 }
    }

    /// Tells whether something is left.
    #[inline]
    pub fn has_content(&self) -> bool {
        self.next < self.buf.len()
    }

    /// Counts the bytes that are left.
    #[inline]
    pub fn remaining(&self) -> usize {
        self.buf.len().saturating_sub(self.next)
    }

    /// Returns what is left without taking it.
    #[inline]
    pub fn rest(&self) -> &'a [u8] {
        self.buf.get(self.next..).unwrap_or_default()
    }

    /// Takes the next `len` bytes, which live as long as the input (unlike those of [`Read::read_exact`]).
    ///
    /// # Errors
    /// [`Error::EndOfBuffer`] if fewer are left; then nothing is taken.
    #[inline]
    pub fn take(&mut self, len: usize) -> Result<&'a [u8], Error> {
        let rest = self.buf.get(self.next..).unwrap_or_default();
        let Some((slice, _)) = rest.split_at_checked(len) else { return Err(Error::EndOfBuffer(len)) };
        self.next += len;
        Ok(slice)
    }

    /// Takes a length and that many bytes, which live as long as the input.
    ///
    /// # Errors
    /// When the length is not a number or larger than what is left.
    #[inline]
    pub fn take_buf(&mut self) -> Result<&'a [u8], Error> {
        let len: usize = self.read_var()?;
        self.take(len)
    }

    /// Takes a length and a string of that many bytes, which lives as long as the input.
    ///
    /// # Errors
    /// [`MalformedKind::Utf8`] if it is not UTF-8.
    #[inline]
    pub fn take_str(&mut self) -> Result<&'a str, Error> {
        utf8::check(self.take_buf()?)
    }
}

impl<'a, R: AsRef<[u8]>> From<&'a R> for Cursor<'a> {
    fn from(buf: &'a R) -> Self {
        Self::new(buf.as_ref())
    }
}

impl Read for Cursor<'_> {
    #[inline]
    fn position(&self) -> usize {
        self.next
    }

    #[inline]
    fn read_exact(&mut self, len: usize) -> Result<&[u8], Error> {
        self.take(len)
    }

    #[inline]
    fn read_u8(&mut self) -> Result<u8, Error> {
        let Some(&byte) = self.buf.get(self.next) else { return Err(Error::EndOfBuffer(1)) };
        self.next += 1;
        Ok(byte)
    }

    #[inline]
    fn read_var_u64(&mut self) -> Result<u64, Error> {
        let rest = self.rest();
        if let Some(&byte @ ..0x80) = rest.first() {
            self.next += 1;
            return Ok(u64::from(byte));
        }
        let Some((num, len)) = decode_word(rest) else { return read_bytewise(self) };
        self.next += len;
        Ok(num)
    }
}
