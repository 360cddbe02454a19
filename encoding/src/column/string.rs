//! All strings joined into one, then their lengths in UTF-16 units.
//!
//! Halves of a surrogate pair that meet in the joined string pair up there. Rust strings cannot hold a half:
//! it is read as U+FFFD, which is one unit too. An ASCII column is cut without looking at its characters.

use super::{UintOptRleReader, UintOptRleWriter};
use crate::error::Error;
use crate::read::Cursor;
use crate::utf8;
use crate::utf16;
use crate::write::Write;
use std::borrow::Cow;

/// Writes a column of strings.
#[derive(Debug, Default, Clone)]
pub struct StringWriter {
    joined: String,
    lengths: UintOptRleWriter,
}

impl StringWriter {
    /// Makes an empty column.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a string of `utf16_len` UTF-16 units.
    #[inline]
    pub fn write(&mut self, s: &str, utf16_len: u32) {
        debug_assert_eq!(utf16::len(s), utf16_len as usize, "the length of {s:?}");
        self.joined.push_str(s);
        self.lengths.write(u64::from(utf16_len));
    }

    /// Counts the bytes of the column.
    pub(crate) fn size(&mut self) -> usize {
        self.joined.len() + self.lengths.finish().len()
    }

    /// Writes the whole column, preceded by its length in bytes, to `out`.
    pub fn finish_into(&mut self, out: &mut Vec<u8>) {
        let lengths = self.lengths.finish();
        let mut prefix = Vec::with_capacity(10);
        prefix.write_var(self.joined.len());
        out.write_var(prefix.len() + self.joined.len() + lengths.len());
        out.write_all(&prefix);
        out.write_all(self.joined.as_bytes());
        out.write_all(lengths);
    }

    /// Empties the column, keeping its memory.
    pub fn clear(&mut self) {
        self.joined.clear();
        self.lengths.clear();
    }
}

/// Reads a column of strings, which are slices of the column.
#[derive(Debug, Clone)]
pub struct StringReader<'a> {
    /// What has not been read of the joined string.
    rest: &'a str,
    /// `rest` begins with the second half of the character before it.
    inside_pair: bool,
    is_ascii: bool,
    lengths: UintOptRleReader<'a>,
}

impl<'a> StringReader<'a> {
    /// Reads `bytes` (without the length of the column). Costs O(bytes).
    ///
    /// # Errors
    /// When the joined string is missing, cut or not UTF-8: a column without strings is `00`, as in Yjs.
    pub fn new(bytes: &'a [u8]) -> Result<Self, Error> {
        let mut cursor = Cursor::new(bytes);
        let joined = cursor.take_buf()?;
        let rest = utf8::check(joined)?;
        let lengths = UintOptRleReader::new(cursor.rest());
        Ok(Self { rest, inside_pair: false, is_ascii: rest.is_ascii(), lengths })
    }

    /// Reads the next string and its length in UTF-16 units.
    ///
    /// # Errors
    /// When the column runs out, or the length is larger than what is left.
    #[inline]
    pub fn read(&mut self) -> Result<(Cow<'a, str>, u32), Error> {
        let len = self.lengths.read()?;
        let units = u32::try_from(len).map_err(|_| Error::InvalidVarInt)?;
        if !self.is_ascii {
            return self.read_wide(units).map(|s| (s, units));
        }
        let Some((head, tail)) = self.rest.split_at_checked(units as usize) else {
            return Err(Error::EndOfBuffer(units as usize));
        };
        self.rest = tail;
        Ok((Cow::Borrowed(head), units))
    }

    /// Reads `units` UTF-16 units of a column that is not ASCII.
    fn read_wide(&mut self, units: u32) -> Result<Cow<'a, str>, Error> {
        let mut left = units as usize;
        if left == 0 {
            return Ok(Cow::Borrowed(""));
        }
        let mut text = String::new();
        if self.inside_pair {
            text.push(char::REPLACEMENT_CHARACTER);
            self.inside_pair = false;
            left -= 1;
        }
        let (bytes, missing) = utf16::offset(self.rest, left);
        if missing > 0 && bytes == self.rest.len() {
            return Err(Error::EndOfBuffer(missing));
        }
        let (head, tail) = self.rest.split_at(bytes);
        self.rest = tail;
        if missing == 0 && text.is_empty() {
            return Ok(Cow::Borrowed(head));
        }
        text.push_str(head);
        if missing > 0 {
            // The cut is inside of a character of two units: each side gets a replacement.
            text.push(char::REPLACEMENT_CHARACTER);
            let char_len = self.rest.chars().next().map_or(0, char::len_utf8);
            self.rest = &self.rest[char_len..];
            self.inside_pair = true;
        }
        Ok(Cow::Owned(text))
    }
}
