//! How long to wait before the next try: doubling, with jitter, so that many clients do not come back at once.

use std::time::Duration;

const FIRST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(10);

/// Counts tries that failed.
#[derive(Default)]
pub(crate) struct Backoff(u32);

impl Backoff {
    /// Returns the next wait: between half of and the whole doubled time.
    pub(crate) fn next(&mut self) -> Duration {
        let whole = FIRST.saturating_mul(1 << self.0.min(16)).min(LONGEST);
        self.0 = self.0.saturating_add(1);
        whole.mul_f64(0.5 + fastrand::f64() / 2.0)
    }

    /// Begins anew: it worked.
    pub(crate) fn reset(&mut self) {
        self.0 = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_up_to_its_end() {
        let mut backoff = Backoff::default();
        let waits: Vec<Duration> = (0..20).map(|_| backoff.next()).collect();
        assert!(waits[0] >= FIRST / 2 && waits[0] <= FIRST);
        assert!(waits[3] >= FIRST * 4 && waits[3] <= FIRST * 8);
        assert!(waits[10..].iter().all(|wait| *wait >= LONGEST / 2 && *wait <= LONGEST));
        backoff.reset();
        assert!(backoff.next() <= FIRST);
    }
}
