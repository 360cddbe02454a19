//! Which random scripts run, and what a failure tells.
//!
//! `YATTA_SEED=n` runs one script alone, `YATTA_SCRIPTS=n` sets how many run, `YATTA_FROM=n` the first
//! of them. A failing script prints its seed.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// The number in an environment variable.
///
/// # Panics
/// If the variable is set to something else: a typing error must not run the default in silence.
pub(crate) fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text} is no number")))
}

/// The seeds to run: one, if `YATTA_SEED` names it, else those from `YATTA_FROM` up to `YATTA_SCRIPTS` or
/// `default`.
pub(crate) fn seeds(default: u64) -> std::ops::Range<u64> {
    match number("YATTA_SEED") {
        Some(seed) => seed..seed + 1,
        None => number("YATTA_FROM").unwrap_or(0)..number("YATTA_SCRIPTS").unwrap_or(default),
    }
}

/// Runs `script` for every seed and prints the seed of one that panics.
pub(crate) fn for_each(test: &str, default: u64, mut script: impl FnMut(u64)) {
    for seed in seeds(default) {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| script(seed))) {
            eprintln!("{test}: seed {seed} fails; again with YATTA_SEED={seed} cargo test {test}");
            resume_unwind(panic);
        }
    }
}
