//! What all criterion benches share: one script becomes a group with seven figures an engine.
//!
//! Names are `B1.1/ops/yatta`. Few samples and short times: the suite compares two engines, where factors
//! matter, and a full `cargo bench` should end within a quarter of an hour.

#![allow(dead_code, reason = "each bench target compiles this file and uses a part of it")]

use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, SamplingMode};
use yatta_benchmarks::compare::{self, Outcome};
use yatta_benchmarks::engine::{Engine, EngineError, Format};
use yatta_benchmarks::engines::{Yatta, Yrs};
use yatta_benchmarks::measure::timed;
use yatta_benchmarks::run;
use yatta_benchmarks::script::Script;

/// The settings of all groups.
pub(crate) fn criterion() -> Criterion {
    Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_millis(400))
        .without_plots()
        .configure_from_args()
}

/// Begins a group.
pub(crate) fn group<'c>(c: &'c mut Criterion, id: &str) -> BenchmarkGroup<'c, WallTime> {
    let mut group = c.benchmark_group(id);
    // Flat: a slow function is run ten times, not 55.
    group.sampling_mode(SamplingMode::Flat);
    group
}

/// Adds one figure. `once` returns the time of the part that counts; what it sets up and drops does not.
pub(crate) fn figure(
    group: &mut BenchmarkGroup<'_, WallTime>,
    what: &str,
    engine: &str,
    mut once: impl FnMut() -> Result<Duration, EngineError>,
) {
    group.bench_function(BenchmarkId::new(what, engine), |bencher| {
        bencher.iter_custom(|times| {
            (0..times).map(|_| once().expect("the engines were compared before")).sum::<Duration>()
        });
    });
}

/// Compares the engines on each script, then measures all figures.
pub(crate) fn scripts(c: &mut Criterion, scripts: &[Script]) {
    for script in scripts {
        let outcome = compare::both(script).unwrap_or_else(|difference| panic!("{difference}"));
        let mut group = group(c, &script.id);
        edit_figures::<Yatta>(&mut group, script, &outcome);
        edit_figures::<Yrs>(&mut group, script, &outcome);
        codec_figures::<Yatta>(&mut group, &outcome);
        codec_figures::<Yrs>(&mut group, &outcome);
        group.finish();
    }
}

/// `ops`, `ops_updates` and `time`.
pub(crate) fn edit_figures<E: Engine>(
    group: &mut BenchmarkGroup<'_, WallTime>,
    script: &Script,
    outcome: &Outcome,
) {
    figure(group, "ops", E::NAME, || Ok(run::edits_only::<E>(script, &outcome.log)?.elapsed));
    figure(group, "ops_updates", E::NAME, || Ok(run::updates_kept::<E>(script)?.elapsed));
    figure(group, "time", E::NAME, || Ok(run::with_updates::<E>(script)?.elapsed));
}

/// `encode_v1`, `encode_v2`, `parse_v1` and `parse_v2`.
pub(crate) fn codec_figures<E: Engine>(group: &mut BenchmarkGroup<'_, WallTime>, outcome: &Outcome) {
    let doc = E::load(1, Format::V1, &outcome.v1).expect("the engines were compared before");
    for (format, encode, parse, state) in [
        (Format::V1, "encode_v1", "parse_v1", &outcome.v1),
        (Format::V2, "encode_v2", "parse_v2", &outcome.v2),
    ] {
        figure(group, encode, E::NAME, || Ok(timed(|| doc.state(format)).0));
        figure(group, parse, E::NAME, || {
            let (elapsed, loaded) = timed(|| E::load(2, format, state));
            loaded.map(|_| elapsed)
        });
    }
}
