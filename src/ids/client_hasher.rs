//! The hasher for maps keyed by client id.
//!
//! Client ids are drawn at random, so one multiplication spreads them well enough; a keyed hash
//! would cost more than the look-up. Do not key a long-lived map with it by ids that a peer
//! chooses: such ids can be made to collide. The maps of this crate that grow with wire input are
//! ordered instead (see [`crate::ids::client_map`]).

use std::hash::Hasher;

/// Hashes a client id by one multiplication.
///
/// It appears in the signature of [`StateVector::new`](crate::ids::StateVector::new); a caller
/// never has to name it.
#[derive(Debug, Default, Clone, Copy)]
pub struct ClientHasher {
    state: u64,
}

/// An odd constant with well mixed bits (2^64 divided by the golden ratio).
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

impl ClientHasher {
    #[inline]
    fn add(&mut self, word: u64) {
        self.state = (self.state ^ word).wrapping_mul(MULTIPLIER);
    }
}

impl Hasher for ClientHasher {
    #[inline]
    fn finish(&self) -> u64 {
        // A product is mixed best in its high bits, while hash tables index by the low ones.
        self.state ^ (self.state >> 32)
    }

    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.add(u64::from_le_bytes(word));
        }
    }

    #[inline]
    fn write_u32(&mut self, value: u32) {
        self.add(u64::from(value));
    }

    #[inline]
    fn write_u64(&mut self, value: u64) {
        self.add(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn consecutive_ids_differ_in_the_bits_a_table_uses() {
        let mut low = HashSet::new();
        let mut high = HashSet::new();
        for id in 0..128u64 {
            let mut hasher = ClientHasher::default();
            hasher.write_u64(id);
            low.insert(hasher.finish() & 0xff);
            high.insert(hasher.finish() >> 57);
        }
        assert!(low.len() > 64, "{} of 256 buckets", low.len());
        assert!(high.len() > 32, "{} of 128 tags", high.len());
    }
}
