//! The updates that a document emitted, kept in one buffer.
//!
//! One buffer rather than a vector of vectors: what is timed should be the engine, not the allocator.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Updates in the order in which they were emitted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Log {
    /// Appends one update.
    pub fn push(&mut self, update: &[u8]) {
        self.bytes.extend_from_slice(update);
        self.ends.push(self.bytes.len());
    }

    /// Returns the number of updates.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Tells whether nothing was kept.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the sum of the lengths of all updates, in bytes.
    pub fn byte_len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns the update number `index`.
    pub fn get(&self, index: usize) -> Option<&[u8]> {
        let end = *self.ends.get(index)?;
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        Some(&self.bytes[start..end])
    }

    /// Walks the updates in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.bytes[start..*end])
    }

    /// Forgets all updates from number `len` on.
    pub fn truncate(&mut self, len: usize) {
        if len < self.ends.len() {
            self.ends.truncate(len);
            self.bytes.truncate(self.ends.last().copied().unwrap_or(0));
        }
    }
}

/// A log that several documents write to.
#[derive(Clone, Debug, Default)]
pub struct SharedLog(Arc<Mutex<Log>>);

impl SharedLog {
    /// Gives access to the log. Must not be held while an engine may emit an update.
    pub fn lock(&self) -> MutexGuard<'_, Log> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes all updates out.
    pub fn take(&self) -> Log {
        std::mem::take(&mut *self.lock())
    }
}

#[cfg(test)]
mod tests {
    use super::Log;

    #[test]
    fn gives_back_what_was_pushed() {
        let mut log = Log::default();
        for update in [&b"ab"[..], b"", b"cde"] {
            log.push(update);
        }
        assert_eq!(log.iter().collect::<Vec<_>>(), [&b"ab"[..], b"", b"cde"]);
        assert_eq!((log.get(0), log.get(2), log.get(3)), (Some(&b"ab"[..]), Some(&b"cde"[..]), None));
        log.truncate(1);
        log.push(b"x");
        assert_eq!((log.len(), log.byte_len(), log.get(1)), (2, 3, Some(&b"x"[..])));
    }
}
