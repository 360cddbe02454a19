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
        self.timed(work);
    }
}

impl Stopwatch {
    /// Times work that gives something back.
    pub fn timed<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let made = work();
        self.elapsed += start.elapsed();
        made
    }
}
