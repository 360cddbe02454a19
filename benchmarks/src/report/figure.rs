//! One measured figure, or the reason why there is none.

use std::time::Duration;

use yatta_benchmarks::measure::Timing;
use yatta_benchmarks::units::{digits, nanos};

/// A figure of one engine. What was not measured has no number that could be taken for one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Figure {
    /// Nanoseconds a unit: median, and the bounds that the table says.
    Measured {
        /// The median.
        median: f64,
        /// Lower quartile.
        low: f64,
        /// Upper quartile, or the 95th percentile.
        high: f64,
    },
    /// It was left out, and why.
    NotRun(&'static str),
    /// The engine refused, panicked, or gave another result.
    Failed(String),
}

/// Half the distance of the quartiles, in per cent of the median, above which a cell tells its spread.
const WORTH_TELLING: f64 = 5.0;

impl Figure {
    /// A time for so many units of work.
    pub(crate) fn of(timing: &Timing, units: f64) -> Self {
        let each = |time: Duration| time.as_secs_f64() * 1e9 / units;
        Self::Measured { median: each(timing.median), low: each(timing.low), high: each(timing.high) }
    }

    /// The median in nanoseconds.
    pub(crate) fn value(&self) -> Option<f64> {
        match self {
            Self::Measured { median, .. } => Some(*median),
            Self::NotRun(_) | Self::Failed(_) => None,
        }
    }

    /// As a cell says it.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Measured { median, low, high } => {
                let spread = (high - low) / 2.0 / median * 100.0;
                let told = if spread > WORTH_TELLING { format!(" ±{spread:.0}%") } else { String::new() };
                format!("{}{told}", nanos(*median))
            }
            Self::NotRun(why) => format!("not run ({why})"),
            Self::Failed(why) => format!("failed: {}", why.replace('|', "/").replace('\n', " ")),
        }
    }
}

/// How often the first figure goes into the second; `None` unless both were measured.
pub(crate) fn ratio(ours: &Figure, theirs: &Figure) -> Option<f64> {
    Some(theirs.value()? / ours.value()?)
}

/// Two engines in one cell: `ours / theirs (ratio)`.
pub(crate) fn versus(ours: &Figure, theirs: &Figure) -> String {
    let told = ratio(ours, theirs).map_or_else(String::new, |ratio| format!(" ({}x)", digits(ratio)));
    format!("{} / {}{told}", ours.text(), theirs.text())
}

#[cfg(test)]
mod tests {
    use super::{Figure, ratio, versus};

    #[test]
    fn what_was_not_measured_is_no_number() {
        let ours = Figure::Measured { median: 2.0, low: 1.9, high: 2.05 };
        let theirs = Figure::Measured { median: 8.0, low: 6.0, high: 12.0 };
        assert_eq!(versus(&ours, &theirs), "2.00 ns / 8.00 ns ±38% (4.00x)");
        let missing = Figure::NotRun("minutes");
        assert_eq!(
            (versus(&ours, &missing), ratio(&ours, &missing)),
            ("2.00 ns / not run (minutes)".into(), None)
        );
        let failed = Figure::Failed("a|b".into());
        assert_eq!(
            (versus(&failed, &theirs), ratio(&failed, &theirs)),
            ("failed: a/b / 8.00 ns ±38%".into(), None)
        );
    }
}
