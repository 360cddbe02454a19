//! Every benchmark once, with few operations: do both engines agree, and does all of it run?

use std::path::Path;
use std::sync::Arc;

use yatta_benchmarks::compare;
use yatta_benchmarks::engine::{Engine, Format};
use yatta_benchmarks::engines::{Yatta, Yrs};
use yatta_benchmarks::felt::Material;
use yatta_benchmarks::merge;
use yatta_benchmarks::run;
use yatta_benchmarks::scaling::{AtSize, Prepends, Workload};
use yatta_benchmarks::script::Script;
use yatta_benchmarks::suite;
use yatta_benchmarks::trace::{Grouping, Trace};

use super::{Failure, felt, suites};

/// Operations a benchmark: enough for items to be split, joined and collected.
const N: u32 = 120;
/// Keystrokes of the LaTeX trace.
const KEYSTROKES: usize = 1500;

/// Runs everything once and prints what was run.
pub(crate) fn run(traces: &Path) -> Result<(), Failure> {
    let mut checked = suites::smoke()?;
    for script in suite::b1(N).iter().chain(&suite::b2(N)).chain(&suite::b3(N)) {
        check(script)?;
        checked += 1;
    }
    for workload in Workload::ALL {
        check(&workload.script(N))?;
        checked += 1;
    }
    match Trace::load_named(traces, "automerge-paper") {
        Ok(mut trace) => {
            trace.truncate(KEYSTROKES);
            let mut script = trace.script(Grouping::PerEdit)?;
            check(&script)?;
            script.times = 3;
            check(&script)?;
            checked += 2 + felt::smoke(Some(&material(&trace)?))?;
        }
        Err(error) if std::env::var_os("CI").is_none() => {
            eprintln!("B4 is left out: {error}");
            checked += felt::smoke(None)?;
        }
        Err(error) => return Err(error.into()),
    }

    let at = AtSize::build::<Yatta>(N, N);
    at.check::<Yatta, Yrs>(at.edits())?;
    Prepends::build::<Yatta>(N).check::<Yatta, Yrs>()?;
    merge::check::<Yatta, Yrs>(&merge::updates::<Yatta>(N)?)?;
    println!("{} benchmarks ran, yatta and yrs agree", checked + 3);
    Ok(())
}

/// The first keystrokes of the trace, for what replays it.
fn material(trace: &Trace) -> Result<Material, Failure> {
    let script = trace.script(Grouping::PerEdit)?;
    let log = run::updates_kept::<Yatta>(&script)?.log;
    Ok(Material { edits: Arc::new(script.edits().to_vec()), updates: Arc::new(log) })
}

/// What the report does with a script, once.
fn check(script: &Script) -> Result<(), Failure> {
    let outcome = compare::both(script)?;
    let alone = run::edits_only::<Yatta>(script, &outcome.log)?;
    let whole = matches!(script.finish, yatta_benchmarks::script::Finish::Second);
    if whole && alone.peers[0].content()? != outcome.content {
        return Err(format!("{}: without a listener something else comes out", script.id).into());
    }
    for (format, state) in [(Format::V1, &outcome.v1), (Format::V2, &outcome.v2)] {
        Yrs::load(1, format, state)?;
    }
    Ok(())
}
