//! A run of consecutive clocks of one client.

use std::fmt;
use std::ops::Range;
use yatta_encoding::{ClientID, ID};

/// Describes `len` consecutive clocks of one client, beginning at `clock`.
///
/// Ends beyond `u32::MAX` are cut there; such clocks exist in no document.
#[derive(Copy, Clone, PartialEq, Eq, Hash)]
pub struct BlockRange {
    /// The client that made the elements.
    pub client: ClientID,
    /// The first clock.
    pub clock: u32,
    /// The number of clocks.
    pub len: u32,
}

impl BlockRange {
    /// Makes a range of `len` clocks that begins at `id`.
    #[inline]
    pub fn new(id: ID, len: u32) -> Self {
        Self { client: id.client, clock: id.clock, len }
    }

    /// Returns the first id of this range.
    #[inline]
    pub fn id(&self) -> ID {
        ID::new(self.client, self.clock)
    }

    /// Returns the id right behind this range (its clock is [`clock_end`](Self::clock_end)).
    ///
    /// The name is that of yrs, which means the exclusive end too.
    #[inline]
    pub fn last_id(&self) -> ID {
        ID::new(self.client, self.clock_end())
    }

    /// Returns the clock right behind this range.
    #[inline]
    pub fn clock_end(&self) -> u32 {
        self.clock.saturating_add(self.len)
    }

    /// Returns the clocks of this range.
    #[inline]
    pub fn clock_range(&self) -> Range<u32> {
        self.clock..self.clock_end()
    }

    /// Returns what is left of this range behind its first `offset` clocks; nothing is left
    /// (`len` is 0) if `offset >= len`.
    ///
    /// ```
    /// use yatta::block::{BlockRange, ClientID};
    /// use yatta::ID;
    ///
    /// let a = BlockRange::new(ID::new(ClientID::new(1), 2), 8); // clocks 2..10
    /// let b = a.slice(3);
    /// assert_eq!(b.clock_range(), 5..10);
    /// ```
    #[must_use]
    pub fn slice(&self, offset: u32) -> Self {
        let offset = offset.min(self.len);
        Self { client: self.client, clock: self.clock.saturating_add(offset), len: self.len - offset }
    }

    /// Tells if `id` lies within this range.
    #[inline]
    pub fn contains(&self, id: &ID) -> bool {
        self.client == id.client && self.clock_range().contains(&id.clock)
    }
}

impl fmt::Debug for BlockRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for BlockRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}:{}..{})", self.client, self.clock, self.clock_end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slice_and_contains() {
        let range = BlockRange::new(ID::new(ClientID::new(7), 2), 8);
        assert_eq!(range.last_id(), ID::new(ClientID::new(7), 10));
        assert_eq!(range.slice(3), BlockRange::new(ID::new(ClientID::new(7), 5), 5));
        assert_eq!(range.slice(99), BlockRange::new(ID::new(ClientID::new(7), 10), 0));
        assert!(range.contains(&ID::new(ClientID::new(7), 9)));
        assert!(!range.contains(&ID::new(ClientID::new(7), 10)));
        assert!(!range.contains(&ID::new(ClientID::new(8), 5)));
        assert_eq!(range.to_string(), "(7:2..10)");
    }

    #[test]
    fn an_end_beyond_the_last_clock_is_cut() {
        let range = BlockRange::new(ID::new(ClientID::new(1), u32::MAX - 1), 5);
        assert_eq!(range.clock_end(), u32::MAX);
        assert_eq!(range.slice(9).len, 0);
    }
}
