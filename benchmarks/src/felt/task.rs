//! What a workload is given, and what it gives back.

use std::hash::{DefaultHasher, Hasher};
use std::sync::Arc;

use crate::edit::Edit;
use crate::log::Log;
use crate::suite::Random;

/// Edits before the clock starts: an engine may build its index at the first one.
const WARM_UP: usize = 4;

/// A real history, for the workloads that replay one.
#[derive(Clone, Debug, Default)]
pub struct Material {
    /// Its edits.
    pub edits: Arc<Vec<Edit>>,
    /// Its updates (V1), one a transaction.
    pub updates: Arc<Log>,
}

/// One workload at one size.
#[derive(Clone, Debug)]
pub struct Task {
    /// Identifier of the workload; all random choices follow from it.
    pub id: &'static str,
    /// Size of the document, in units of the workload.
    pub size: u32,
    /// Operations that are measured, where that does not follow from the size.
    pub ops: u32,
    /// State that the document holds at first (V1); empty for none.
    pub start: Arc<Vec<u8>>,
    /// A real history.
    pub material: Material,
}

/// Random places; those of fewer operations are the first of those of more.
#[derive(Clone, Debug)]
pub struct Places {
    /// For edits before the clock starts.
    pub warm_up: Vec<u32>,
    /// For those that count.
    pub timed: Vec<u32>,
}

impl Task {
    /// Draws a place from 0 to `highest` (included) for each operation.
    pub fn places(&self, highest: u32) -> Places {
        let mut warm_up = self.draw(WARM_UP + self.ops as usize, |_| highest);
        let timed = warm_up.split_off(WARM_UP);
        Places { warm_up, timed }
    }

    /// Draws places in a document that begins empty and grows by one with each operation, one for each unit of size.
    pub fn growing_places(&self) -> Vec<u32> {
        self.draw(self.size as usize, |done| done)
    }

    /// Draws `count` places from 0 to `highest` (included).
    pub fn spread(&self, count: u32, highest: u32) -> Vec<u32> {
        self.draw(count as usize, |_| highest)
    }

    fn draw(&self, count: usize, highest: impl Fn(u32) -> u32) -> Vec<u32> {
        let random = &mut Random::for_benchmark(self.id);
        (0..).take(count).map(|done| random.between(0, highest(done))).collect()
    }
}

/// What came out of a workload, as a hash. Equal digests mean equal results.
#[derive(Clone, Debug)]
pub struct Digest(DefaultHasher);

impl Default for Digest {
    fn default() -> Self {
        // The keys of `DefaultHasher::new` are fixed.
        Self(DefaultHasher::new())
    }
}

impl Digest {
    /// Begins with some bytes.
    pub fn of(bytes: &[u8]) -> Self {
        let mut digest = Self::default();
        digest.bytes(bytes);
        digest
    }

    /// Adds bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.0.write_usize(bytes.len());
        self.0.write(bytes);
    }

    /// Adds a number.
    pub fn number(&mut self, number: u64) {
        self.0.write_u64(number);
    }

    /// Returns the hash.
    pub fn value(&self) -> u64 {
        self.0.finish()
    }
}

/// What one run of a workload leaves.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// How many units of work the clock saw.
    pub units: u32,
    /// What came out.
    pub digest: Digest,
}

impl Outcome {
    /// Says how many units of work the clock saw, and what came out.
    pub fn new(units: u32, digest: Digest) -> Self {
        Self { units, digest }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Digest, Material, Task};

    #[test]
    fn fewer_operations_are_the_first_of_more() {
        let task = |ops| Task { id: "x", size: 9, ops, start: Arc::default(), material: Material::default() };
        let (few, more) = (task(3).places(1000), task(50).places(1000));
        assert_eq!((&few.warm_up, &few.timed[..]), (&more.warm_up, &more.timed[..3]));
        assert_eq!(more.timed.len(), 50);
    }

    #[test]
    fn a_digest_tells_where_one_part_ends() {
        let digest = |parts: &[&[u8]]| {
            let mut digest = Digest::default();
            parts.iter().for_each(|part| digest.bytes(part));
            digest.value()
        };
        assert_eq!(digest(&[b"ab", b"c"]), digest(&[b"ab", b"c"]));
        assert_ne!(digest(&[b"ab", b"c"]), digest(&[b"a", b"bc"]));
    }
}
