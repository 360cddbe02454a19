//! Runs of equal bytes: a value, then on each change the length of the run before it, less one.
//!
//! The length of the last run is never written: the reader repeats its value for ever. `[1,1,1,7,7]` is
//! `010207`.

use crate::error::Error;
use crate::read::{Cursor, Read};
use crate::write::Write;

/// Writes a column of bytes.
#[derive(Debug, Default, Clone)]
pub struct RleWriter {
    buf: Vec<u8>,
    last: u8,
    count: u64,
}

impl RleWriter {
    /// Makes an empty column.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a value.
    #[inline]
    pub fn write(&mut self, value: u8) {
        if self.count > 0 {
            if self.last == value {
                self.count += 1;
                return;
            }
            self.buf.write_var(self.count - 1);
        }
        self.buf.push(value);
        self.last = value;
        self.count = 1;
    }

    /// Returns the bytes of the column.
    pub fn finish(&mut self) -> &[u8] {
        &self.buf
    }

    /// Empties the column, keeping its memory.
    pub fn clear(&mut self) {
        self.buf.clear();
        (self.last, self.count) = (0, 0);
    }
}

/// Reads a column of bytes.
#[derive(Debug, Clone)]
pub struct RleReader<'a> {
    cursor: Cursor<'a>,
    last: u8,
    /// How often `last` is still to come; `None` is for ever.
    count: Option<u64>,
}

impl<'a> RleReader<'a> {
    /// Reads `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { cursor: Cursor::new(bytes), last: 0, count: Some(0) }
    }

    /// Reads the next value.
    ///
    /// # Errors
    /// [`Error::EndOfBuffer`] if the column is empty, [`Error::InvalidVarInt`] for a broken run length.
    #[inline]
    pub fn read(&mut self) -> Result<u8, Error> {
        match &mut self.count {
            None => {}
            Some(0) => {
                self.last = self.cursor.read_u8()?;
                // The value just read is the first of a run of one more than the number.
                self.count = if self.cursor.has_content() { Some(self.cursor.read_var()?) } else { None };
            }
            Some(left) => *left -= 1,
        }
        Ok(self.last)
    }
}
