//! Names of clients and of blocks: [`ClientID`] and [`ID`].
//!
//! Both are small `Copy` values. A client id is what JavaScript can hold exactly, 53 bits; what comes from
//! the wire is checked by the decoders before it gets here.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// Names a client (a replica of a document) by a number of at most 53 bits.
///
/// No two active clients may share an id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct ClientID(u64);

impl ClientID {
    /// The largest id, 2^53-1: the largest integer that JavaScript holds exactly.
    pub const MAX: Self = Self(Self::MASK);
    const MASK: u64 = (1 << 53) - 1;

    /// Makes an id of `value`, of which only the low 53 bits count.
    #[inline]
    pub const fn new(value: u64) -> Self {
        Self(value & Self::MASK)
    }

    /// Returns the number.
    #[inline]
    pub const fn get(&self) -> u64 {
        self.0
    }

    /// Draws a random id of 32 bits, as Yjs 13 does: it takes at most five bytes on the wire.
    pub fn random() -> Self {
        Self(u64::from(fastrand::u32(..)))
    }
}

impl fmt::Debug for ClientID {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ClientID({})", self.0)
    }
}

impl fmt::Display for ClientID {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl Serialize for ClientID {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(self.0)
    }
}

impl<'de> Deserialize<'de> for ClientID {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = u64::deserialize(deserializer)?;
        if value > Self::MASK {
            return Err(serde::de::Error::custom("a client id has at most 53 bits"));
        }
        Ok(Self(value))
    }
}

/// Names one clock unit of one client: a character, an element, or the first unit of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ID {
    /// Who made it.
    pub client: ClientID,
    /// The how-manieth unit of that client it is, counted from 0.
    pub clock: u32,
}

impl ID {
    /// Makes an id of its two parts.
    #[inline]
    pub const fn new(client: ClientID, clock: u32) -> Self {
        Self { client, clock }
    }
}

impl fmt::Display for ID {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{}#{}>", self.client, self.clock)
    }
}
