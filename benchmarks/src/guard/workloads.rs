//! The workloads that are guarded: small, on yatta alone, without a random choice that is not fixed.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use yatta_benchmarks::clock::Clock;
use yatta_benchmarks::edit::Edit;
use yatta_benchmarks::engine::{Engine, Format};
use yatta_benchmarks::engines::Yatta;
use yatta_benchmarks::felt::{self, Material};
use yatta_benchmarks::merge;
use yatta_benchmarks::run;
use yatta_benchmarks::scaling::Workload;
use yatta_benchmarks::script::{Finish, Script};
use yatta_benchmarks::suite;
use yatta_benchmarks::trace::{Grouping, Trace};

type Done = Result<(), Box<dyn Error>>;

/// Edits of the LaTeX trace.
const KEYSTROKES: usize = 10_000;
/// Operations of the other workloads.
const N: u32 = 1_500;

/// One workload: what is made before the clock starts, and what it sees.
pub(super) enum Guarded {
    /// A script of the B-suite, its edits one transaction each.
    Edits(fn() -> Script),
    /// The same with an update kept for each.
    Updates(fn() -> Script),
    /// One peer integrates what the others of a script wrote.
    Gather(fn() -> Script),
    /// Something on the slice of the LaTeX trace.
    Trace(fn(&Script, &mut dyn Clock) -> Done),
    /// Something of its own.
    Own(fn(&mut dyn Clock) -> Done),
    /// A workload of `felt` at a size, with so many operations.
    Felt(u32, u32),
}

use Guarded::{Edits, Felt, Gather, Own, Trace as OnTrace, Updates};

/// All of them by name. The name of a `Felt` one is its id there.
pub(super) const ALL: [(&str, Guarded); 34] = [
    ("B1.1 append", Updates(|| script(suite::b1(N), "B1.1"))),
    ("B1.3 prepend", Edits(|| script(suite::b1(N), "B1.3"))),
    ("B1.4 random", Edits(|| script(suite::b1(N), "B1.4"))),
    ("B1.7 insert, delete", Edits(|| script(suite::b1(N), "B1.7"))),
    ("B1.8 numbers", Edits(|| script(suite::b1(N), "B1.8"))),
    ("B2.2c gather", Gather(|| script(suite::b2(N), "B2.2c"))),
    ("B3.1 gather", Gather(|| script(suite::b3(N / 10), "B3.1"))),
    ("B3.4 gather", Gather(|| script(suite::b3(N / 10), "B3.4"))),
    ("B3.5 gather", Gather(|| script(suite::b3(N / 10), "B3.5"))),
    ("two peers prepend", Own(prepends)),
    ("B4 edits", OnTrace(edits)),
    ("B4 updates", OnTrace(updates)),
    ("B4 single", OnTrace(single)),
    ("B4 apply", OnTrace(apply)),
    ("B4 load V1", OnTrace(|script, clock| load(script, clock, Format::V1))),
    ("B4 load V2", OnTrace(|script, clock| load(script, clock, Format::V2))),
    ("B4 encode V1", OnTrace(|script, clock| encode(script, clock, Format::V1))),
    ("B4 encode V2", OnTrace(|script, clock| encode(script, clock, Format::V2))),
    ("merge updates", Own(merges)),
    ("diff update", Own(diffs)),
    ("marks/insert", Felt(500, 500)),
    ("marks/format", Felt(500, 500)),
    ("marks/delta", Felt(2_000, 0)),
    ("observer", Felt(1_000, 1_000)),
    ("array/get", Felt(2_000, 5_000)),
    ("map/set", Felt(1_000, 1_000)),
    ("map/one key", Felt(1_000, 0)),
    ("xml wide/insert", Felt(500, 500)),
    ("xml wide/write", Felt(1_000, 0)),
    ("clients/empty diff", Felt(50, 50)),
    ("undo/undo", Felt(500, 0)),
    ("undo/redo", Felt(500, 0)),
    ("awareness/all", Felt(200, 0)),
    ("sticky/typing", Felt(1_000, 1_000)),
];

/// Runs the workload of that name.
///
/// # Errors
/// If there is none, or it fails.
pub(super) fn run(name: &str, slice: &Path, clock: &mut dyn Clock) -> Done {
    if let [id, size, ops] = name.split('@').collect::<Vec<_>>()[..] {
        return felt_at(id, size.parse()?, ops.parse()?, slice, clock);
    }
    let (_, guarded) = ALL.iter().find(|(known, _)| *known == name).ok_or("there is no such workload")?;
    match guarded {
        Edits(make) => edits(&make(), clock),
        Updates(make) => updates(&make(), clock),
        Gather(make) => gather(&make(), clock),
        OnTrace(work) => work(&read_slice(slice)?, clock),
        Own(work) => work(clock),
        Felt(size, ops) => felt_at(name, *size, *ops, slice, clock),
    }
}

/// A workload of `felt` at any size: `ID@SIZE@OPS` is how a profile asks for one.
fn felt_at(id: &str, size: u32, ops: u32, slice: &Path, clock: &mut dyn Clock) -> Done {
    let cases = felt::cases();
    let case = cases.iter().find(|case| case.id == id).ok_or("felt has no such workload")?;
    let mut material = Material::default();
    if case.replays {
        let script = read_slice(slice)?;
        material.updates = Arc::new(run::updates_kept::<Yatta>(&script)?.log);
        material.edits = Arc::new(script.edits().to_vec());
    }
    let mut task = case.task(size, &material);
    task.ops = ops;
    (case.ours)(&task, clock)?;
    Ok(())
}

/// Tells whether a workload needs the LaTeX trace.
pub(super) fn needs_trace(guarded: &Guarded) -> bool {
    matches!(guarded, OnTrace(_))
}

/// Writes the first edits of the LaTeX trace, so that not every run of a workload unpacks the whole trace.
///
/// # Errors
/// If the trace is missing or the file cannot be written.
pub(super) fn write_slice(traces: &Path, slice: &Path) -> Done {
    let mut trace = Trace::load_named(traces, "automerge-paper")?;
    trace.truncate(KEYSTROKES);
    let script = trace.script(Grouping::PerEdit)?;
    let edits: Vec<(u32, u32, &str)> = script
        .edits()
        .iter()
        .map(|edit| match edit {
            Edit::Insert { at, text } => Ok((*at, 0, text.as_str())),
            Edit::Remove { at, len } => Ok((*at, *len, "")),
            _ => Err("the trace edits something else than its text"),
        })
        .collect::<Result<_, _>>()?;
    Ok(std::fs::write(slice, serde_json::to_vec(&edits)?)?)
}

fn read_slice(slice: &Path) -> Result<Script, Box<dyn Error>> {
    let edits: Vec<(u32, u32, String)> = serde_json::from_slice(&std::fs::read(slice)?)?;
    let mut script = Script::new("B4", "a part of B4", 1, Finish::Second);
    for (at, len, text) in edits {
        script.turn(0, [if len > 0 { Edit::Remove { at, len } } else { Edit::insert(at, text) }]);
    }
    Ok(script)
}

#[expect(clippy::expect_used, reason = "the names stand in the table above")]
fn script(scripts: Vec<Script>, id: &str) -> Script {
    scripts.into_iter().find(|script| script.id == id).expect("the suite has the script")
}

fn edits(script: &Script, clock: &mut dyn Clock) -> Done {
    let mut peers = run::set_up::<Yatta>(script)?;
    clock.time(&mut || script.turns().for_each(|turn| peers[turn.peer].edit(turn.edits)));
    Ok(())
}

fn updates(script: &Script, clock: &mut dyn Clock) -> Done {
    let mut peers = run::set_up::<Yatta>(script)?;
    let log = yatta_benchmarks::log::SharedLog::default();
    peers.iter().try_for_each(|peer| peer.record(&log))?;
    clock.time(&mut || script.turns().for_each(|turn| peers[turn.peer].edit(turn.edits)));
    Ok(())
}

fn single(script: &Script, clock: &mut dyn Clock) -> Done {
    let mut doc = Yatta::new(1);
    clock.time(&mut || doc.edit(script.edits()));
    Ok(())
}

fn gather(script: &Script, clock: &mut dyn Clock) -> Done {
    let mut finished = run::updates_kept::<Yatta>(script)?;
    let others = script.turns().zip(finished.log.iter()).filter(|(turn, _)| turn.peer != 0);
    let others: Vec<&[u8]> = others.map(|(_, update)| update).collect();
    let mut outcome = Ok(());
    clock.time(&mut || outcome = finished.peers[0].apply_all(others.iter().copied()));
    Ok(outcome?)
}

fn apply(script: &Script, clock: &mut dyn Clock) -> Done {
    let log = run::updates_kept::<Yatta>(script)?.log;
    let mut doc = Yatta::new(2);
    let mut outcome = Ok(());
    clock.time(&mut || outcome = log.iter().try_for_each(|update| doc.apply(Format::V1, update)));
    Ok(outcome?)
}

fn load(script: &Script, clock: &mut dyn Clock, format: Format) -> Done {
    let state = written(script)?.state(format);
    let mut doc = Ok(Yatta::new(3));
    clock.time(&mut || doc = Yatta::load(2, format, &state));
    doc?;
    Ok(())
}

fn encode(script: &Script, clock: &mut dyn Clock, format: Format) -> Done {
    let doc = written(script)?;
    let mut state = Vec::new();
    clock.time(&mut || state = doc.state(format));
    Ok(())
}

fn written(script: &Script) -> Result<Yatta, Box<dyn Error>> {
    let mut doc = Yatta::new(1);
    script.turns().for_each(|turn| doc.edit(turn.edits));
    Ok(doc)
}

/// The slow direction: into the peer with the smaller id.
fn prepends(clock: &mut dyn Clock) -> Done {
    let states = [1, 2].map(|client| {
        let mut doc = Yatta::new(client);
        (0..N).for_each(|_| doc.edit(&[Edit::insert(0, "x")]));
        doc.state(Format::V1)
    });
    let mut doc = Yatta::load(1, Format::V1, &states[0])?;
    let mut outcome = Ok(());
    clock.time(&mut || outcome = doc.apply(Format::V1, &states[1]));
    Ok(outcome?)
}

fn merges(clock: &mut dyn Clock) -> Done {
    let log = merge::updates::<Yatta>(N)?;
    let updates: Vec<&[u8]> = log.iter().collect();
    let mut merged = Ok(Vec::new());
    clock.time(&mut || merged = Yatta::merge(&updates));
    merged?;
    Ok(())
}

/// What a peer lacks who has heard half of it.
fn diffs(clock: &mut dyn Clock) -> Done {
    let whole = Workload::RandomInsert.script(N * 2);
    let mut doc = Yatta::new(1);
    whole.turns().take(N as usize).for_each(|turn| doc.edit(turn.edits));
    let half = yatta::encode_state_vector_from_update_v1(&doc.state(Format::V1))?;
    whole.turns().skip(N as usize).for_each(|turn| doc.edit(turn.edits));
    let state = Arc::new(doc.state(Format::V1));
    let mut diff = Ok(Vec::new());
    clock.time(&mut || diff = yatta::diff_updates_v1(&state, &half));
    diff?;
    Ok(())
}
