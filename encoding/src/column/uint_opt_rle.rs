//! Runs of equal unsigned numbers; a run of one costs no length.
//!
//! A single value is a signed number, a longer run the negated value (so `-0` for zeros) and its length less
//! two. `[1,2,3,3,3]` is `01024301`, `[0,0,0,5]` is `400105`.

use crate::error::Error;
use crate::read::{Cursor, Read};
use crate::varint::Signed;
use crate::write::Write;

/// Writes a column of unsigned numbers.
#[derive(Debug, Default, Clone)]
pub struct UintOptRleWriter {
    buf: Vec<u8>,
    last: u64,
    count: u64,
}

impl UintOptRleWriter {
    /// Makes an empty column.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a value, which must be below 2^63.
    #[inline]
    pub fn write(&mut self, value: u64) {
        if self.last == value {
            self.count += 1;
        } else {
            self.flush();
            self.last = value;
            self.count = 1;
        }
    }

    /// Writes the last run and returns the bytes of the column.
    pub fn finish(&mut self) -> &[u8] {
        self.flush();
        self.count = 0;
        &self.buf
    }

    /// Empties the column, keeping its memory.
    pub fn clear(&mut self) {
        self.buf.clear();
        (self.last, self.count) = (0, 0);
    }

    #[inline]
    fn flush(&mut self) {
        let value = self.last.cast_signed();
        match self.count {
            0 => {}
            1 => self.buf.write_var(value),
            n => {
                self.buf.write_var_signed(&Signed::new(-value, true));
                self.buf.write_var(n - 2);
            }
        }
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
                let more: u64 = self.cursor.read_var()?;
                // This value is taken at once, so one less than the length of the run is left.
                let Some(left) = more.checked_add(1) else { return Err(Error::InvalidVarInt) };
                self.count = left;
            }
        } else {
            self.count -= 1;
        }
        Ok(self.last)
    }
}
