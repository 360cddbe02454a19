//! `yatta replay`: a real editing history on both engines, checked to the byte, with figures.

use std::error::Error;
use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;
use yatta_benchmarks::compare::{self, Outcome};
use yatta_benchmarks::engine::{Engine, EngineError, Format};
use yatta_benchmarks::engines::{Yatta, Yrs};
use yatta_benchmarks::measure;
use yatta_benchmarks::memory;
use yatta_benchmarks::run;
use yatta_benchmarks::script::Script;
use yatta_benchmarks::trace::{self, Grouping, Kind, SOURCES, Source, Trace, TraceError};
use yatta_benchmarks::units::{bytes, digits, duration};

use crate::fetch;

/// What the subcommand takes.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The trace, or `all`.
    #[arg(default_value = "automerge-paper")]
    trace: String,
    /// One transaction an edit (the default).
    #[arg(long)]
    per_edit: bool,
    /// As few transactions as the history allows: one, or one a stretch of an agent. Slow in yrs.
    #[arg(long)]
    single: bool,
    /// Which engine replays.
    #[arg(long, value_enum, default_value_t = Choice::Both)]
    engine: Choice,
    /// Where the traces are. Without it they are fetched to the folder that benchmarks use, if they are not there.
    #[arg(long, value_name = "DIR")]
    traces: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Choice {
    Yatta,
    Yrs,
    Both,
}

/// Replays what was asked for; fails on the first thing that is not as it should be.
pub(crate) fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let sources = if args.trace == "all" {
        SOURCES.to_vec()
    } else {
        vec![Source::named(&args.trace).ok_or_else(|| TraceError::Unknown(args.trace.clone()))?]
    };
    let mut groupings = Vec::new();
    if args.per_edit || !args.single {
        groupings.push(Grouping::PerEdit);
    }
    if args.single {
        groupings.push(Grouping::Single);
    }
    let folder = args.traces.clone().unwrap_or_else(trace::default_dir);
    for source in sources {
        if args.traces.is_none() {
            fetch::ensure(&source, &folder)?;
        }
        let trace = Trace::load(&folder, source)?;
        for grouping in &groupings {
            replay(&trace, *grouping, args.engine)?;
        }
    }
    Ok(())
}

fn replay(trace: &Trace, grouping: Grouping, choice: Choice) -> Result<(), Box<dyn Error>> {
    let script = trace.script(grouping)?;
    println!(
        "{}: {} edits by {} in {} transactions",
        trace.source().name,
        script.edits().len(),
        if script.peers == 1 { "one writer".to_owned() } else { format!("{} writers", script.peers) },
        script.len(),
    );
    if grouping == Grouping::Single && trace.source().kind == Kind::Sequential && choice != Choice::Yatta {
        println!("one transaction for everything: yrs may take minutes");
    }
    let ours = (choice != Choice::Yrs).then(|| replay_on::<Yatta>(&script)).transpose()?;
    let theirs = (choice != Choice::Yatta).then(|| replay_on::<Yrs>(&script)).transpose()?;
    if let (Some((ours, _)), Some((theirs, _))) = (&ours, &theirs) {
        compare::same_outcome(&script, ours, theirs)?;
    }
    print_table(ours.as_ref().map(|(_, figures)| figures), theirs.as_ref().map(|(_, figures)| figures));
    print_checks(&script, choice);
    Ok(())
}

/// Replays on one engine, checks the outcome and sends it through yrs and back.
fn replay_on<E: Engine>(script: &Script) -> Result<(Outcome, Figures), Box<dyn Error>> {
    let outcome = compare::one::<E>(script)?;
    through::<E, Yrs>(script, &outcome)?;
    let figures = Figures::measure::<E>(script, &outcome)?;
    Ok((outcome, figures))
}

/// Sends a state from one engine to another one and back, in both formats: content and bytes must survive.
fn through<A: Engine, B: Engine>(script: &Script, outcome: &Outcome) -> Result<(), Box<dyn Error>> {
    for format in Format::BOTH {
        let sent = match format {
            Format::V1 => &outcome.v1,
            Format::V2 => &outcome.v2,
        };
        let there = B::load(run::client_of(script.peers + 1), format, sent)?;
        let back = A::load(run::client_of(script.peers + 2), format, &there.state(format))?;
        let content_survives = there.content()? == outcome.content && back.content()? == outcome.content;
        let (there, back) =
            (compare::ordered_state(script, &there, format)?, compare::ordered_state(script, &back, format)?);
        if !content_survives || there != *sent || back != *sent {
            let (from, to) = (A::NAME, B::NAME);
            return Err(format!(
                "{}: the {format} state changed on its way from {from} to {to} and back",
                script.id
            )
            .into());
        }
    }
    Ok(())
}

/// What one engine needed.
struct Figures {
    edits: Duration,
    updates_kept: Duration,
    with_updates: Duration,
    updates: (usize, usize),
    states: [usize; 2],
    encode: [Duration; 2],
    parse: [Duration; 2],
    heap: usize,
}

impl Figures {
    fn measure<E: Engine>(script: &Script, outcome: &Outcome) -> Result<Self, EngineError> {
        let (finished, heap) = memory::held(|| run::edits_only::<E>(script, &outcome.log));
        let finished = finished?;
        let first = finished.elapsed;
        let heap = heap / script.peers;
        let doc = &finished.peers[0];
        // A slow engine has shown what it needs.
        let edits = if first > Duration::from_secs(1) {
            first
        } else {
            measure::alone(|| Ok(run::edits_only::<E>(script, &outcome.log)?.elapsed))?
        };
        let encode = |format| measure::alone(|| Ok(measure::timed(|| doc.state(format)).0));
        let parse = |format, state: &[u8]| {
            measure::alone(|| {
                let (elapsed, loaded) =
                    measure::timed(|| E::load(run::client_of(script.peers), format, state));
                loaded.map(|_| elapsed)
            })
        };
        Ok(Self {
            edits,
            updates_kept: measure::alone(|| Ok(run::updates_kept::<E>(script)?.elapsed))?,
            with_updates: outcome.elapsed,
            updates: (outcome.log.len(), outcome.log.byte_len()),
            states: [outcome.v1.len(), outcome.v2.len()],
            encode: [encode(Format::V1)?, encode(Format::V2)?],
            parse: [parse(Format::V1, &outcome.v1)?, parse(Format::V2, &outcome.v2)?],
            heap,
        })
    }

    /// Name, figure as text, and the figure as a number where a ratio makes sense.
    fn lines(&self) -> Vec<(&'static str, String, f64)> {
        let time = |name, value: Duration| (name, duration(value), value.as_secs_f64());
        let size = |name, value: usize| (name, bytes(value as f64), value as f64);
        vec![
            time("edits", self.edits),
            time("edits, updates kept", self.updates_kept),
            time("edits, updates kept and applied", self.with_updates),
            ("updates", self.updates.0.to_string(), self.updates.0 as f64),
            size("update bytes (V1)", self.updates.1),
            size("state V1", self.states[0]),
            size("state V2", self.states[1]),
            time("encode V1", self.encode[0]),
            time("encode V2", self.encode[1]),
            time("parse V1", self.parse[0]),
            time("parse V2", self.parse[1]),
            size("live heap a document", self.heap),
        ]
    }
}

fn print_table(ours: Option<&Figures>, theirs: Option<&Figures>) {
    let lines = |figures: Option<&Figures>| figures.map(Figures::lines);
    let (ours, theirs) = (lines(ours), lines(theirs));
    let Some(names) = ours.as_ref().or(theirs.as_ref()) else { return };
    println!("{:34} {:>12} {:>12} {:>10}", "", Yatta::NAME, Yrs::NAME, "yrs/yatta");
    for (row, (name, _, _)) in names.iter().enumerate() {
        let text = |column: &Option<Vec<(&str, String, f64)>>| {
            column.as_ref().map_or_else(|| "-".to_owned(), |lines| lines[row].1.clone())
        };
        let ratio = match (&ours, &theirs) {
            (Some(ours), Some(theirs)) => format!("{}x", digits(theirs[row].2 / ours[row].2.max(1e-9))),
            _ => "-".to_owned(),
        };
        println!("{name:34} {:>12} {:>12} {ratio:>10}", text(&ours), text(&theirs));
    }
}

fn print_checks(script: &Script, choice: Choice) {
    let documents = if script.peers == 1 {
        "a second document fed by updates agrees"
    } else {
        "the documents of all writers agree"
    };
    let end =
        if script.expected.is_some() { "the end text is the trace's" } else { "the trace has no end text" };
    println!("checked: {end}; {documents}; V1 and V2 read back; to yrs and back unchanged");
    if choice == Choice::Both {
        println!("checked: state bytes V1 and V2, and updates, are the same in both engines");
    }
    println!();
}
