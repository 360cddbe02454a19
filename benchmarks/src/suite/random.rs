//! Numbers and words from a fixed seed.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg32;

/// A generator that depends on nothing but the id of the benchmark.
pub(crate) struct Random(Pcg32);

impl Random {
    pub(crate) fn for_benchmark(id: &str) -> Self {
        // FNV-1a: any fixed mixing of the id will do, std's hasher promises no fixed one.
        let seed = id.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Self(Pcg32::seed_from_u64(seed))
    }

    /// A number from `low` to `high`, both included.
    pub(crate) fn between(&mut self, low: u32, high: u32) -> u32 {
        self.0.random_range(low..=high)
    }

    /// A whole number that fits 31 bits.
    pub(crate) fn number(&mut self) -> i64 {
        i64::from(self.between(0, 0x7fff_ffff))
    }

    pub(crate) fn coin(&mut self) -> bool {
        self.0.random()
    }

    /// A word of `shortest` to `longest` lower-case letters.
    pub(crate) fn word(&mut self, shortest: u32, longest: u32) -> String {
        let len = self.between(shortest, longest);
        (0..len).map(|_| char::from(self.0.random_range(b'a'..=b'z'))).collect()
    }
}
