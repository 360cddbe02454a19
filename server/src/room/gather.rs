//! What a busy room collects before it sends (layer 2): a `send` a delivery is most of what a delivery costs, so updates that
//! come within one window go out as one.
//!
//! A room is busy when its deliveries a second, by a counter that decays within a second, are above a bound; a room that is
//! not sends at once. Acknowledgements wait for the disk, not for this. Cost O(1) an update, and one merge a window.

use std::time::Instant;

use bytes::Bytes;
use indexmap::IndexSet;

use super::presence::PeerId;
use crate::limits::GatherLimits;

/// How fast the counter forgets: seconds.
const MEMORY: f64 = 1.0;
/// More bytes than this are not collected: they are sent as they come.
const BYTES: usize = 64 << 10;

/// What waits to be sent.
#[derive(Default)]
pub struct Gather {
    rate: f64,
    since: Option<Instant>,
    bytes: usize,
    updates: Vec<(Option<PeerId>, Bytes)>,
    present: IndexSet<u64>,
    scheduled: bool,
}

/// What was collected.
pub struct Gathered {
    /// The updates with their senders, in order.
    pub updates: Vec<(Option<PeerId>, Bytes)>,
    /// The clients whose presence changed.
    pub present: IndexSet<u64>,
}

impl Gather {
    /// Counts so many deliveries, and says whether the room is busy.
    pub fn is_busy(&mut self, deliveries: usize, limits: &GatherLimits, now: Instant) -> bool {
        if limits.window.is_zero() {
            return false;
        }
        let passed = self.since.map_or(0.0, |since| now.duration_since(since).as_secs_f64());
        self.since = Some(now);
        self.rate = self.rate * (-passed / MEMORY).exp() + deliveries as f64 / MEMORY;
        self.rate > f64::from(limits.above)
    }

    /// Keeps an update for later; `false` if it has to go now.
    pub fn update(&mut self, from: Option<PeerId>, update: &Bytes) -> bool {
        if self.bytes + update.len() > BYTES {
            return false;
        }
        self.push(from, update);
        true
    }

    /// Adds an update, to be taken at once.
    pub fn push(&mut self, from: Option<PeerId>, update: &Bytes) {
        self.bytes += update.len();
        self.updates.push((from, update.clone()));
    }

    /// Returns whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.updates.is_empty() && self.present.is_empty()
    }

    /// Keeps for later that the presence of these clients changed.
    pub fn present(&mut self, clients: impl Iterator<Item = u64>) {
        self.present.extend(clients);
    }

    /// Returns whether somebody has to come for it; they are expected to from now on.
    pub fn schedule(&mut self) -> bool {
        !std::mem::replace(&mut self.scheduled, true)
    }

    /// Takes what waits; whoever was to come for it finds nothing, or what came since.
    pub fn take(&mut self) -> Option<Gathered> {
        if self.is_empty() {
            return None;
        }
        self.bytes = 0;
        Some(Gathered {
            updates: std::mem::take(&mut self.updates),
            present: std::mem::take(&mut self.present),
        })
    }

    /// The one who was to come is here.
    pub fn came(&mut self) {
        self.scheduled = false;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const LIMITS: GatherLimits = GatherLimits { window: Duration::from_millis(10), above: 1000 };

    #[test]
    fn busy_is_who_delivers_much_now() {
        let mut gather = Gather::default();
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        for i in 0..10 {
            assert!(!gather.is_busy(50, &LIMITS, at(i * 100)), "500 a second");
        }
        let mut busy = 0;
        for i in 0..20 {
            busy += usize::from(gather.is_busy(150, &LIMITS, at(1000 + i * 50)));
        }
        assert!((10..20).contains(&busy), "{busy}: 3,000 a second, after a while");
        assert!(!gather.is_busy(1, &LIMITS, at(5000)), "it forgets");
        let never = GatherLimits { window: Duration::ZERO, ..LIMITS };
        assert!(!gather.is_busy(1_000_000, &never, at(5001)));
    }

    #[test]
    fn what_was_kept_comes_in_order() {
        let mut gather = Gather::default();
        assert!(gather.take().is_none());
        assert!(
            gather.update(Some(1), &Bytes::from_static(b"a"))
                && gather.update(None, &Bytes::from_static(b"b"))
        );
        gather.present([7, 8, 7].into_iter());
        assert!(gather.schedule() && !gather.schedule());
        assert!(!gather.update(None, &Bytes::from(vec![0; BYTES])), "too much to keep");
        let gathered = gather.take().unwrap();
        assert_eq!(gathered.updates, [(Some(1), Bytes::from_static(b"a")), (None, Bytes::from_static(b"b"))]);
        assert_eq!(gathered.present.into_iter().collect::<Vec<_>>(), [7, 8]);
        assert!(gather.take().is_none() && !gather.schedule());
        gather.came();
        assert!(gather.schedule());
    }
}
