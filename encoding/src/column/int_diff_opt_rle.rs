//! Runs of equal differences; a run of one costs no length.
//!
//! Each run is a signed number, twice the difference plus one if a length (less two) follows. `[0,1,2,3]` is
//! `000301`, `[10,7,4,1,1,1,100]` is `14450101008603`.

use crate::error::Error;
use crate::read::{Cursor, Read};
use crate::write::Write;

/// Writes a column of clocks.
#[derive(Debug, Default, Clone)]
pub struct IntDiffOptRleWriter {
    buf: Vec<u8>,
    last: u32,
    diff: i64,
    count: u64,
}

impl IntDiffOptRleWriter {
    /// Makes an empty column.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a value.
    #[inline]
    pub fn write(&mut self, value: u32) {
        let diff = i64::from(value) - i64::from(self.last);
        self.last = value;
        if self.diff == diff {
            self.count += 1;
        } else {
            self.flush();
            self.diff = diff;
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
        (self.last, self.diff, self.count) = (0, 0, 0);
    }

    #[inline]
    fn flush(&mut self) {
        match self.count {
            0 => {}
            1 => self.buf.write_var(self.diff * 2),
            n => {
                self.buf.write_var(self.diff * 2 + 1);
                self.buf.write_var(n - 2);
            }
        }
    }
}

/// Reads a column of clocks.
#[derive(Debug, Clone)]
pub struct IntDiffOptRleReader<'a> {
    cursor: Cursor<'a>,
    last: u32,
    diff: i64,
    count: u64,
}

impl<'a> IntDiffOptRleReader<'a> {
    /// Reads `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { cursor: Cursor::new(bytes), last: 0, diff: 0, count: 0 }
    }

    /// Reads the next value.
    ///
    /// # Errors
    /// [`Error::EndOfBuffer`] at the end of the column, [`Error::InvalidVarInt`] for a broken number or a
    /// value outside of 32 bits.
    #[inline]
    pub fn read(&mut self) -> Result<u32, Error> {
        if self.count == 0 {
            let diff: i64 = self.cursor.read_var()?;
            self.diff = diff >> 1;
            if diff & 1 == 1 {
                let more: u64 = self.cursor.read_var()?;
                let Some(left) = more.checked_add(1) else { return Err(Error::InvalidVarInt) };
                self.count = left;
            }
        } else {
            self.count -= 1;
        }
        let value = i64::from(self.last).checked_add(self.diff).and_then(|value| value.try_into().ok());
        let Some(value) = value else { return Err(Error::InvalidVarInt) };
        self.last = value;
        Ok(value)
    }
}
