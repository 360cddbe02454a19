//! What a workload hands the part of its work to that counts.

use std::time::{Duration, Instant};

/// Runs the part of a workload that is measured, in whatever way it measures.
pub trait Clock {
    /// Runs `work` and adds what it costs. May be called more than once.
    fn time(&mut self, work: &mut dyn FnMut());
}

/// Measures wall time.
#[derive(Debug, Default)]
pub struct Stopwatch {
    /// Time of all work so far.
    pub elapsed: Duration,
}

impl Clock for Stopwatch {
    fn time(&mut self, work: &mut dyn FnMut()) {
        let start = Instant::now();
        work();
        self.elapsed += start.elapsed();
    }
}
