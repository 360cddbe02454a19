//! Sample averages: five warm-ups, 25 samples, each the mean of some runs.

use std::time::Duration;

use crate::clock::Stopwatch;
use crate::engine::EngineError;

const WARM_UPS: usize = 5;
const SAMPLES: usize = 25;

/// The figures of one scenario on one engine.
#[derive(Clone, Copy, Debug)]
pub struct Sampled {
    /// Median of the sample averages.
    pub median: Duration,
    /// The 95th percentile of them.
    pub p95: Duration,
    /// Bytes that went from one peer to another, or were written, if any.
    pub bytes: Option<usize>,
}

/// A named scenario with what came out: its figures, or why there are none.
#[derive(Debug)]
pub struct Scenario {
    /// What is done.
    pub name: String,
    /// The figures.
    pub result: Result<Sampled, EngineError>,
}

/// Samples `once`, which lets the watch run while it does what counts, and returns the bytes that it made.
pub(super) fn sample(
    name: impl Into<String>,
    runs: u32,
    mut once: impl FnMut(&mut Stopwatch) -> Result<Option<usize>, EngineError>,
) -> Scenario {
    let mut all = || {
        let mut averages = Vec::new();
        let mut bytes = None;
        for _ in 0..WARM_UPS + SAMPLES {
            let mut watch = Stopwatch::default();
            for _ in 0..runs {
                bytes = once(&mut watch)?;
            }
            averages.push(watch.elapsed / runs);
        }
        averages.drain(..WARM_UPS);
        averages.sort_unstable();
        Ok(Sampled { median: averages[SAMPLES / 2], p95: averages[SAMPLES * 95 / 100], bytes })
    };
    let result = all();
    Scenario { name: name.into(), result }
}
