//! Runs of equal unsigned numbers; a run of one costs no length.
//!
//! A single value is a signed number, a longer run the negated value (so `-0` for zeros) and its length less
//! two. `[1,2,3,3,3]` is `01024301`, `[0,0,0,5]` is `400105`.

use super::runs::{RunKey, RunWriter, read_left};
use crate::error::Error;
use crate::read::{Cursor, Read};
use crate::varint::Signed;
use crate::write::Write;

/// Writes a column of unsigned numbers.
#[derive(Debug, Default, Clone)]
pub struct UintOptRleWriter {
    runs: RunWriter<Unsigned>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq)]
struct Unsigned(u64);

impl RunKey for Unsigned {
    #[inline]
    fn write(self, with_length: bool, buf: &mut Vec<u8>) {
        let value = self.0.cast_signed();
        if with_length {
            buf.write_var_signed(&Signed::new(-value, true));
        } else {
            buf.write_var(value);
        }
    }
}

impl UintOptRleWriter {
    /// Makes an empty column.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a value, which must be below 2^63.
    #[inline]
    pub fn write(&mut self, value: u64) {
        self.runs.push(Unsigned(value));
    }

    /// Writes the last run and returns the bytes of the column.
    pub fn finish(&mut self) -> &[u8] {
        self.runs.finish()
    }

    /// Empties the column, keeping its memory.
    pub fn clear(&mut self) {
        self.runs.clear();
    }
}

/// Reads a column of unsigned numbers.
#[derive(Debug, Clone)]
pub struct UintOptRleReader<'a> {
    cursor: Cursor<'a>,
    last: u64,
    count: u64,
}

impl<'a> UintOptRleReader<'a> {
    /// Reads `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { cursor: Cursor::new(bytes), last: 0, count: 0 }
    }

    /// Reads the next value.
    ///
    /// # Errors
    /// [`Error::EndOfBuffer`] at the end of the column, [`Error::InvalidVarInt`] for a broken number.
    #[inline]
    pub fn read(&mut self) -> Result<u64, Error> {
        if self.count == 0 {
            let value: Signed<i64> = self.cursor.read_var_signed()?;
            self.last = value.value().unsigned_abs();
            if value.is_negative() {
                self.count = read_left(&mut self.cursor)?;
            }
        } else {
            self.count -= 1;
        }
        Ok(self.last)
    }
}
