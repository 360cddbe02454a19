//! Medians and quartiles of alternating runs.

use std::time::{Duration, Instant};

use crate::canonical::read_var;
use crate::engine::EngineError;

/// Time one engine may take for one figure, set-up included. A slow engine is then run once.
const BUDGET: Duration = Duration::from_millis(1500);
/// Runs after which a median no longer moves.
const MAX_RUNS: usize = 31;

/// What the runs of one engine took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// The median.
    pub median: Duration,
    /// Lower quartile.
    pub low: Duration,
    /// Upper quartile.
    pub high: Duration,
}

/// The times of either engine; `None` where it was not run.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    /// Of the first engine.
    pub yatta: Timing,
    /// Of the second engine, if it ran.
    pub yrs: Option<Timing>,
}

impl Pair {
    /// Returns how often faster yatta is.
    pub fn ratio(&self) -> Option<f64> {
        Some(self.yrs?.median.as_secs_f64() / self.yatta.median.as_secs_f64().max(1e-9))
    }
}

struct Series {
    times: Vec<Duration>,
    spent: Duration,
}

impl Series {
    fn new() -> Self {
        Self { times: Vec::new(), spent: Duration::ZERO }
    }

    fn wants_more(&self, budget: Duration) -> bool {
        self.times.is_empty() || (self.spent < budget && self.times.len() < MAX_RUNS)
    }

    fn run(&mut self, once: &mut impl FnMut() -> Result<Duration, EngineError>) -> Result<(), EngineError> {
        let start = Instant::now();
        self.times.push(once()?);
        self.spent += start.elapsed();
        Ok(())
    }

    fn timing(mut self) -> Timing {
        // The first run warms caches; it counts only where there are hardly any others.
        if self.times.len() > 3 {
            self.times.remove(0);
        }
        self.times.sort_unstable();
        let at = |quarters| self.times[(self.times.len() - 1) * quarters / 4];
        Timing { median: self.times[self.times.len() / 2], low: at(1), high: at(3) }
    }
}

/// Runs both engines in turn, each as often as its budget allows. The closures return the time of the part
/// that counts.
///
/// # Errors
/// The first one of a closure.
pub fn interleaved(
    ours: impl FnMut() -> Result<Duration, EngineError>,
    theirs: Option<impl FnMut() -> Result<Duration, EngineError>>,
) -> Result<Pair, EngineError> {
    interleaved_within(BUDGET, ours, theirs)
}

/// As [`interleaved`], with the time that either engine may take in all.
///
/// # Errors
/// The first one of a closure.
pub fn interleaved_within(
    budget: Duration,
    mut ours: impl FnMut() -> Result<Duration, EngineError>,
    mut theirs: Option<impl FnMut() -> Result<Duration, EngineError>>,
) -> Result<Pair, EngineError> {
    let (mut our_series, mut their_series) = (Series::new(), Series::new());
    loop {
        let mut ran = false;
        if our_series.wants_more(budget) {
            our_series.run(&mut ours)?;
            ran = true;
        }
        if let Some(theirs) = theirs.as_mut().filter(|_| their_series.wants_more(budget)) {
            their_series.run(theirs)?;
            ran = true;
        }
        if !ran {
            let yrs = theirs.is_some().then(|| their_series.timing());
            return Ok(Pair { yatta: our_series.timing(), yrs });
        }
    }
}

/// Runs one engine as often as its budget allows and returns the median.
///
/// # Errors
/// The first one of the closure.
pub fn alone(mut once: impl FnMut() -> Result<Duration, EngineError>) -> Result<Duration, EngineError> {
    let mut series = Series::new();
    while series.wants_more(BUDGET) {
        series.run(&mut once)?;
    }
    Ok(series.timing().median)
}

/// Runs `work` and returns the time; what it made is dropped by the caller, outside the clock.
pub fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let made = work();
    (start.elapsed(), made)
}

/// Reads the number of structs from a V1 state of one client.
pub fn items_of_one_client(state: &[u8]) -> Option<u64> {
    let mut bytes = state;
    let clients = read_var(&mut bytes)?;
    (clients == 1).then(|| read_var(&mut bytes))?
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::time::Duration;

    use super::{MAX_RUNS, interleaved};

    #[test]
    fn alternates_and_takes_the_median() {
        let order = RefCell::new(String::new());
        let mut micros = 0;
        let ours = || {
            order.borrow_mut().push('a');
            micros += 1;
            Ok(Duration::from_micros(micros))
        };
        let theirs = || {
            order.borrow_mut().push('b');
            Ok(Duration::from_micros(160))
        };
        let pair = interleaved(ours, Some(theirs)).expect("nothing fails");
        assert_eq!(order.into_inner(), "ab".repeat(MAX_RUNS));
        let (ours, theirs) = (pair.yatta, pair.yrs.expect("it ran"));
        let micros =
            |timing: super::Timing| [timing.low, timing.median, timing.high].map(|time| time.as_micros());
        assert_eq!((micros(ours), micros(theirs)), ([9, 17, 23], [160; 3]));
        assert_eq!(pair.ratio().map(f64::round), Some(9.0));
    }
}
