//! The deleted clocks of one client, beside its blocks: so that a diff costs what it writes, not a look at each block.
//!
//! Nothing is kept until somebody asks: the first diff or snapshot looks at all blocks, and from then on deletions are noted.
//! Two lists of ranges: `runs` in rising order, and `recent` in the order of the deletions, which is taken into `runs` once
//! it is as long. What is deleted stays deleted, and every clock is noted once, so ranges only touch and never overlap.
//! A deletion costs O(1), or amortised O(log n) if it is at a random place. Refused: to note from the start (who only edits
//! or loads would pay for it); one sorted list, where a deletion at a random place moves all that follows; a mark at each
//! chunk of blocks, which a handful of deletions makes useless.
//!
//! Kept here, and held by [`DeletedRuns::check`]: ranges are not empty; those of `runs` rise and do not touch.

use std::borrow::Cow;
use std::sync::OnceLock;

/// Deleted clocks `start..end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) start: u32,
    pub(crate) end: u32,
}

/// So many ranges may wait in `recent`, however few there are in `runs`.
const RECENT_MIN: usize = 32;

/// The deleted clocks of one client, once somebody has asked for them.
#[derive(Debug, Default)]
pub(crate) struct DeletedRuns(OnceLock<Box<Lists>>);

#[derive(Debug)]
struct Lists {
    runs: Vec<Run>,
    recent: Vec<Run>,
}

impl DeletedRuns {
    /// Notes that `len` clocks from `start` on, none of which was deleted before, are deleted.
    #[inline]
    pub(crate) fn note(&mut self, start: u32, len: u32) {
        if let Some(lists) = self.0.get_mut() {
            lists.note(Run { start, end: start + len });
        }
    }

    /// All deleted clocks: ranges in rising order that do not touch. The first call asks `blocks` for the deleted blocks in
    /// rising order. Cost O(1), or O(n log n) for n recent ranges.
    pub(crate) fn ranges<I: Iterator<Item = Run>>(&self, blocks: impl FnOnce() -> I) -> Cow<'_, [Run]> {
        let lists = self.0.get_or_init(|| Box::new(Lists { runs: joined(blocks()), recent: Vec::new() }));
        if lists.recent.is_empty() { Cow::Borrowed(&lists.runs) } else { Cow::Owned(lists.all()) }
    }

    /// Panics with the values if an invariant does not hold, or these are not the deleted `blocks`. O(n).
    pub(crate) fn check(&self, blocks: impl Iterator<Item = Run>) {
        let Some(lists) = self.0.get() else { return };
        let mut all = lists.runs.iter().chain(&lists.recent);
        assert!(all.all(|run| run.start < run.end), "I14: an empty range in {lists:?}");
        assert!(
            lists.runs.is_sorted_by(|a, b| a.end < b.start),
            "I14: runs that touch or fall: {:?}",
            lists.runs
        );
        assert_eq!(lists.all(), joined(blocks), "I14: {lists:?}");
    }
}

impl Lists {
    fn note(&mut self, run: Run) {
        // Whoever types deletes beside what was deleted last.
        if let Some(last) = self.recent.last_mut() {
            if last.end == run.start {
                last.end = run.end;
                return;
            }
            if last.start == run.end {
                last.start = run.start;
                return;
            }
        }
        self.recent.push(run);
        if self.recent.len() > RECENT_MIN.max(self.runs.len()) {
            self.runs = self.all();
            self.recent = Vec::new();
        }
    }

    /// Both lists as one.
    fn all(&self) -> Vec<Run> {
        let mut recent = self.recent.clone();
        recent.sort_unstable_by_key(|run| run.start);
        let (mut runs, mut recent) = (self.runs.iter().peekable(), recent.iter().peekable());
        joined(std::iter::from_fn(|| match (runs.peek(), recent.peek()) {
            (Some(run), Some(other)) if other.start < run.start => recent.next().copied(),
            (Some(_), _) => runs.next().copied(),
            _ => recent.next().copied(),
        }))
    }
}

/// Ranges in rising order, those joined that touch.
fn joined(ranges: impl Iterator<Item = Run>) -> Vec<Run> {
    let mut all: Vec<Run> = Vec::new();
    for run in ranges {
        match all.last_mut() {
            Some(last) if last.end == run.start => last.end = run.end,
            _ => all.push(run),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::{DeletedRuns, RECENT_MIN, Run, joined};

    /// The deleted clocks of a model of one flag each, a range each.
    fn blocks(model: &[bool]) -> impl Iterator<Item = Run> {
        let deleted = model.iter().enumerate().filter(|entry| *entry.1);
        deleted.map(|(clock, _)| Run { start: clock as u32, end: clock as u32 + 1 })
    }

    #[test]
    fn random_deletions_agree_with_a_model() {
        for seed in 0..60 {
            println!("seed {seed}");
            let mut random = fastrand::Rng::with_seed(seed);
            let (mut runs, mut model) = (DeletedRuns::default(), vec![false; random.usize(1..1200)]);
            let first_asked = random.usize(..100);
            for step in 0..random.usize(1..600) {
                let start = random.usize(..model.len());
                let end = (start + random.usize(1..4)).min(model.len());
                if !model[start..end].contains(&true) {
                    runs.note(start as u32, (end - start) as u32);
                    model[start..end].fill(true);
                }
                if step >= first_asked {
                    assert_eq!(runs.ranges(|| blocks(&model)), joined(blocks(&model)));
                    runs.check(blocks(&model));
                }
            }
        }
    }

    #[test]
    fn nothing_is_kept_until_somebody_asks() {
        let mut runs = DeletedRuns::default();
        runs.note(5, 1);
        assert!(runs.0.get().is_none());
        assert_eq!(
            runs.ranges(|| [Run { start: 5, end: 6 }].into_iter()),
            [Run { start: 5, end: 6 }].as_slice()
        );
        runs.note(6, 1);
        let expected = [Run { start: 5, end: 7 }];
        assert_eq!(runs.ranges(std::iter::empty), expected.as_slice(), "the blocks are not looked at again");
    }

    #[test]
    fn one_key_held_down_is_one_range_and_recent_ones_are_few() {
        let mut runs = DeletedRuns::default();
        assert!(runs.ranges(std::iter::empty).is_empty());
        for clock in (0..5000).rev() {
            runs.note(clock, 1);
        }
        assert_eq!(runs.ranges(std::iter::empty), [Run { start: 0, end: 5000 }].as_slice());
        for clock in 3000..5000 {
            runs.note(clock * 2, 1);
        }
        let lists = runs.0.get().unwrap();
        assert!(lists.recent.len() <= RECENT_MIN.max(lists.runs.len()), "{lists:?}");
    }

    #[test]
    #[should_panic(expected = "I14")]
    fn a_deletion_that_was_not_noted_is_found() {
        let runs = DeletedRuns::default();
        runs.ranges(std::iter::empty);
        runs.check([Run { start: 1, end: 2 }].into_iter());
    }
}
