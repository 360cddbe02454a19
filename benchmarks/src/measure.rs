//! Medians of alternating runs.

use std::time::{Duration, Instant};

use crate::canonical::read_var;
use crate::engine::EngineError;

/// Time one engine may take for one figure, set-up included. A slow engine is then run once.
const BUDGET: Duration = Duration::from_millis(1500);
/// Runs after which a median no longer moves.
const MAX_RUNS: usize = 31;

/// The median of either engine; `None` where it was not run.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    /// Of the first engine.
    pub yatta: Duration,
    /// Of the second engine, if it ran.
    pub yrs: Option<Duration>,
}

impl Pair {
    /// Returns how often faster yatta is.
    pub fn ratio(&self) -> Option<f64> {
        Some(self.yrs?.as_secs_f64() / self.yatta.as_secs_f64().max(1e-9))
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

    fn wants_more(&self) -> bool {
        self.times.is_empty() || (self.spent < BUDGET && self.times.len() < MAX_RUNS)
    }

    fn run(&mut self, once: &mut impl FnMut() -> Result<Duration, EngineError>) -> Result<(), EngineError> {
        let start = Instant::now();
        self.times.push(once()?);
        self.spent += start.elapsed();
        Ok(())
    }

    fn median(mut self) -> Duration {
        // The first run warms caches; it counts only where there are hardly any others.
        if self.times.len() > 3 {
            self.times.remove(0);
        }
        self.times.sort_unstable();
        self.times[self.times.len() / 2]
    }
}

/// Runs both engines in turn, each as often as its budget allows. The closures return the time of the part
/// that counts.
///
/// # Errors
/// The first one of a closure.
pub fn interleaved(
    mut ours: impl FnMut() -> Result<Duration, EngineError>,
    mut theirs: Option<impl FnMut() -> Result<Duration, EngineError>>,
) -> Result<Pair, EngineError> {
    let (mut our_series, mut their_series) = (Series::new(), Series::new());
    loop {
        let mut ran = false;
        if our_series.wants_more() {
            our_series.run(&mut ours)?;
            ran = true;
        }
        if let Some(theirs) = theirs.as_mut().filter(|_| their_series.wants_more()) {
            their_series.run(theirs)?;
            ran = true;
        }
        if !ran {
            let yrs = theirs.is_some().then(|| their_series.median());
            return Ok(Pair { yatta: our_series.median(), yrs });
        }
    }
}

/// Runs one engine as often as its budget allows and returns the median.
///
/// # Errors
/// The first one of the closure.
pub fn alone(mut once: impl FnMut() -> Result<Duration, EngineError>) -> Result<Duration, EngineError> {
    let mut series = Series::new();
    while series.wants_more() {
        series.run(&mut once)?;
    }
    Ok(series.median())
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
        assert_eq!((pair.yatta, pair.yrs), (Duration::from_micros(17), Some(Duration::from_micros(160))));
        assert_eq!(pair.ratio().map(f64::round), Some(9.0));
    }
}
