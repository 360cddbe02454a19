//! Runs of equal keys: what the two columns with optional lengths are made of. A key is what repeats, a value or a
//! difference; a run of one costs no length.

use crate::error::Error;
use crate::read::{Cursor, Read};
use crate::write::Write;

/// What repeats in a column.
pub(super) trait RunKey: Copy + PartialEq + Default {
    /// Writes the key so that it says whether a length follows.
    fn write(self, with_length: bool, buf: &mut Vec<u8>);
}

/// Writes runs.
#[derive(Debug, Default, Clone)]
pub(super) struct RunWriter<K> {
    buf: Vec<u8>,
    key: K,
    count: u64,
}

impl<K: RunKey> RunWriter<K> {
    #[inline]
    pub(super) fn push(&mut self, key: K) {
        if self.key == key {
            self.count += 1;
        } else {
            self.flush();
            self.key = key;
            self.count = 1;
        }
    }

    /// Writes the last run and returns the bytes.
    pub(super) fn finish(&mut self) -> &[u8] {
        self.flush();
        self.count = 0;
        &self.buf
    }

    /// Empties the buffer, keeping its memory.
    pub(super) fn clear(&mut self) {
        self.buf.clear();
        (self.key, self.count) = (K::default(), 0);
    }

    #[inline]
    fn flush(&mut self) {
        match self.count {
            0 => {}
            1 => self.key.write(false, &mut self.buf),
            n => {
                self.key.write(true, &mut self.buf);
                self.buf.write_var(n - 2);
            }
        }
    }
}

/// Reads the length of a run: how many values are left when its first is taken.
///
/// # Errors
/// [`Error::InvalidVarInt`] for a broken number.
#[inline]
pub(super) fn read_left(cursor: &mut Cursor<'_>) -> Result<u64, Error> {
    let more: u64 = cursor.read_var()?;
    more.checked_add(1).ok_or(Error::InvalidVarInt)
}
