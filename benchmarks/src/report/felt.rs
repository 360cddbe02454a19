//! The felt workloads: each at three sizes, per unit of work, both engines on the same operations.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use yatta_benchmarks::clock::Stopwatch;
use yatta_benchmarks::engine::EngineError;
use yatta_benchmarks::felt::{Amount, Case, Material, Outcome, Run, Task, cases};
use yatta_benchmarks::measure::interleaved_within;

use super::Failure;
use super::figure::Figure;

/// Time an engine may take for one cell, set-up included.
const BUDGET: Duration = Duration::from_millis(400);
/// Operations of yrs before it is known how slow it is.
const PROBE: u32 = 8;
/// Time that the operations of yrs should take in one run.
const WANTED: Duration = Duration::from_millis(200);

/// One workload at one size.
pub(crate) struct FeltCell {
    pub(crate) size: u32,
    pub(crate) ours: Figure,
    pub(crate) theirs: Figure,
}

/// One workload.
pub(crate) struct FeltRow {
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) cells: Vec<FeltCell>,
}

impl FeltRow {
    /// How much dearer a unit is at the last size than at the first, if both were measured.
    pub(crate) fn growth(&self, figure: impl Fn(&FeltCell) -> &Figure) -> Option<f64> {
        Some(figure(self.cells.last()?).value()? / figure(self.cells.first()?).value()?)
    }
}

/// Measures all workloads that are wanted.
pub(crate) fn rows(
    wanted: impl Fn(&str) -> bool,
    material: Option<&Material>,
) -> Result<Vec<FeltRow>, Failure> {
    let mut rows = Vec::new();
    for case in cases().into_iter().filter(|case| wanted(case.id)) {
        let cells = case.sizes.iter().map(|size| cell(&case, *size, material)).collect::<Result<_, _>>()?;
        rows.push(FeltRow { id: case.id, title: case.title, unit: case.unit, cells });
    }
    Ok(rows)
}

/// Runs every workload small, once, on both engines; returns how many there were.
pub(crate) fn smoke(material: Option<&Material>) -> Result<usize, Failure> {
    let (mut count, mut wrong) = (0, Vec::new());
    for case in cases() {
        let material = match material {
            None if case.replays => continue,
            material => material.cloned().unwrap_or_default(),
        };
        let size = if case.replays { 500 } else { 40 };
        let mut task = case.task(size, &material);
        task.ops = task.ops.min(15);
        let (ours, theirs) = (once(case.ours, &task)?.1, once(case.theirs, &task)?.1);
        if ours.digest.value() != theirs.digest.value() {
            wrong.push(case.id);
        }
        count += 1;
    }
    if wrong.is_empty() {
        Ok(count)
    } else {
        Err(format!("the engines differ in {}", wrong.join(", ")).into())
    }
}

fn once(run: Run, task: &Task) -> Result<(Duration, Outcome), EngineError> {
    let mut watch = Stopwatch::default();
    let outcome = run(task, &mut watch)?;
    Ok((watch.elapsed, outcome))
}

/// As [`once`] for the other engine, whose panics must not end the report.
fn guarded(run: Run, task: &Task) -> Result<(Duration, Outcome), String> {
    match catch_unwind(AssertUnwindSafe(|| once(run, task))) {
        Ok(done) => done.map_err(|error| error.to_string()),
        Err(_) => Err("panics".to_owned()),
    }
}

fn cell(case: &Case, size: u32, material: Option<&Material>) -> Result<FeltCell, Failure> {
    eprintln!("{} {size}", case.id);
    let material = match material {
        None if case.replays => {
            let missing = Figure::NotRun("no trace");
            return Ok(FeltCell { size, ours: missing.clone(), theirs: missing });
        }
        material => material.cloned().unwrap_or_default(),
    };
    let task = case.task(size, &material);
    let theirs = if case.yrs_can(size) { same(case, &task) } else { Err(Figure::NotRun("minutes")) };

    let mut units = (1.0, 1.0);
    let ours_once = || {
        let (elapsed, outcome) = once(case.ours, &task)?;
        units.0 = f64::from(outcome.units);
        Ok(elapsed)
    };
    let their_task = theirs.as_ref().ok();
    let theirs_once = their_task.map(|task| {
        || {
            let (elapsed, outcome) = once(case.theirs, task)?;
            units.1 = f64::from(outcome.units);
            Ok(elapsed)
        }
    });
    let pair = interleaved_within(BUDGET, ours_once, theirs_once)?;
    let ours = Figure::of(&pair.yatta, units.0);
    let theirs = match (pair.yrs, theirs) {
        (Some(timing), _) => Figure::of(&timing, units.1),
        (None, Err(figure)) => figure,
        (None, Ok(_)) => Figure::Failed("gave no time".to_owned()),
    };
    Ok(FeltCell { size, ours, theirs })
}

/// Checks that both engines make the same of a task, with as many operations as yrs can do in its time; returns that
/// task. Those operations are the first of the full task.
fn same(case: &Case, task: &Task) -> Result<Task, Figure> {
    let mut theirs = task.clone();
    if let Amount::Ops(ops) = case.amount {
        theirs.ops = PROBE;
        let (elapsed, _) = guarded(case.theirs, &theirs).map_err(Figure::Failed)?;
        let fit = WANTED.as_secs_f64() / (elapsed.as_secs_f64() / f64::from(PROBE)).max(1e-9);
        theirs.ops = (fit as u32).clamp(PROBE, ops);
    }
    let (_, expected) = guarded(case.theirs, &theirs).map_err(Figure::Failed)?;
    let (_, got) = once(case.ours, &theirs).map_err(|error| Figure::Failed(error.to_string()))?;
    if got.digest.value() == expected.digest.value() {
        Ok(theirs)
    } else {
        Err(Figure::Failed("the results differ".to_owned()))
    }
}
