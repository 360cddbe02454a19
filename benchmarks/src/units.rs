//! Figures as a reader wants them.

use std::time::Duration;

/// Writes a time in the unit that fits it.
pub fn duration(time: Duration) -> String {
    nanos(time.as_secs_f64() * 1e9)
}

/// Writes a time in nanoseconds in the unit that fits it.
pub fn nanos(nanos: f64) -> String {
    match nanos {
        n if n < 1e3 => format!("{} ns", digits(n)),
        n if n < 1e6 => format!("{} us", digits(n / 1e3)),
        n if n < 1e9 => format!("{} ms", digits(n / 1e6)),
        n => format!("{} s", digits(n / 1e9)),
    }
}

/// Writes a number of bytes.
pub fn bytes(count: f64) -> String {
    match count {
        n if n < 10_000.0 => format!("{} B", digits(n)),
        n if n < 10_000_000.0 => format!("{} kB", digits(n / 1e3)),
        n => format!("{} MB", digits(n / 1e6)),
    }
}

/// Writes three digits, which are more than two runs agree on.
pub fn digits(value: f64) -> String {
    match value {
        v if v < 10.0 => format!("{v:.2}"),
        v if v < 100.0 => format!("{v:.1}"),
        v => format!("{v:.0}"),
    }
}
