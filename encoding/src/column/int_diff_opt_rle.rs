//! Runs of equal differences; a run of one costs no length.
//!
//! Each run is a signed number, twice the difference plus one if a length (less two) follows. `[0,1,2,3]` is
//! `000301`, `[10,7,4,1,1,1,100]` is `14450101008603`.

use super::runs::{RunKey, RunWriter, read_left};
use crate::error::Error;
use crate::read::{Cursor, Read};
use crate::write::Write;

/// Writes a column of clocks.
#[derive(Debug, Default, Clone)]
pub struct IntDiffOptRleWriter {
    runs: RunWriter<Difference>,
    last: u32,
}

#[derive(Debug, Default, Clone, Copy, PartialEq)]
struct Difference(i64);

impl RunKey for Difference {
    #[inline]
    fn write(self, with_length: bool, buf: &mut Vec<u8>) {
        buf.write_var(self.0 * 2 + i64::from(with_length));
    }
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
        self.runs.push(Difference(diff));
    }

    /// Writes the last run and returns the bytes of the column.
    pub fn finish(&mut self) -> &[u8] {
        self.runs.finish()
    }

    /// Empties the column, keeping its memory.
    pub fn clear(&mut self) {
        self.runs.clear();
        self.last = 0;
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
                self.count = read_left(&mut self.cursor)?;
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
