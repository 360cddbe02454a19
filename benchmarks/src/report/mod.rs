//! The report: measures every benchmark in one run and writes it as Markdown and as an HTML page.
//!
//! Runs of the two engines alternate, so that a slow minute of the machine hits both; shown are medians and quartiles.

mod felt;
mod figure;
mod html;
mod machine;
mod plots;
pub(crate) mod smoke;
pub(crate) mod suites;
mod table;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use yatta_benchmarks::compare::{self, Outcome};
use yatta_benchmarks::engine::{Engine, EngineError, Format};
use yatta_benchmarks::engines::{Yatta, Yrs};
use yatta_benchmarks::felt::Material;
use yatta_benchmarks::measure::{self, Pair, interleaved};
use yatta_benchmarks::memory;
use yatta_benchmarks::merge;
use yatta_benchmarks::run;
use yatta_benchmarks::scaling::{AtSize, Prepends, SIZES, Workload, count};
use yatta_benchmarks::script::Script;
use yatta_benchmarks::suite::{self, Alphabet, N};

use crate::ReportArgs;
use felt::FeltRow;
use suites::Suite;
use table::{Memory, Row};

/// An error of any part, printed as it is.
pub(crate) type Failure = Box<dyn Error>;

/// Documents loaded in a row for a figure of memory: the first one may pay for tables that all share.
const LOADS: usize = 3;

/// Edits after which an engine has built whatever index it builds late.
const EDITS_FOR_INDEX: u32 = 10;

/// The ids of B1 that are measured in other alphabets, too.
const IN_ALPHABETS: [&str; 3] = ["B1.1", "B1.4", "B1.7"];

/// Everything that was measured.
#[derive(Default)]
pub(crate) struct Report {
    machine: Vec<String>,
    notes: Vec<String>,
    rows: Vec<Row>,
    memory: Vec<Memory>,
    felt: Vec<FeltRow>,
    suites: Vec<Suite>,
}

impl Report {
    fn add(&mut self, row: Row) {
        self.rows.push(row);
    }

    fn memory(&mut self, what: String, yatta: f64, yrs: f64) {
        self.memory.push(Memory { what, yatta, yrs });
    }
}

/// Where the table goes if nothing else is said.
pub(crate) fn default_out() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("RESULTS.md")
}

/// Runs what was asked for and writes the table.
pub(crate) fn run(args: &ReportArgs) -> Result<(), Failure> {
    let wanted =
        |id: &str| args.only.is_empty() || args.only.iter().any(|only| id.starts_with(only.as_str()));
    let mut table = Report { machine: machine::describe(), ..Report::default() };
    for script in suite::b1(N).iter().chain(&suite::b2(N)).chain(&suite::b3(N)) {
        if wanted(&script.id) {
            table.add(canonical_row(script, true)?);
        }
    }
    b4_rows(args, wanted, &mut table)?;
    if wanted("alphabet") {
        alphabet_rows(args, &mut table)?;
    }
    if wanted("scaling") {
        scaling_rows(&mut table)?;
    }
    if wanted("two peers") {
        prepend_rows(args.full, &mut table)?;
    }
    if wanted("merge") {
        table.add(merge_row()?);
    }
    if wanted("memory") {
        item_memory(&mut table)?;
    }
    let material = material(args, &mut table)?;
    table.felt = felt::rows(|id| wanted(&format!("felt/{id}")) || wanted(id), material.as_ref())?;
    table.suites = suites::run(wanted);
    #[cfg(feature = "compare")]
    if let Some(material) = material.as_ref().filter(|_| wanted("peers")) {
        table.suites.push(suites::text_engines(&material.edits)?);
    }
    table.machine.push(machine::load("at its end"));
    write(args, &table)
}

/// Writes the table and the page beside it; a part of the table only to the terminal.
fn write(args: &ReportArgs, table: &Report) -> Result<(), Failure> {
    let text = table.to_markdown();
    if !args.only.is_empty() {
        println!("{text}");
    }
    if args.only.is_empty() || args.out != default_out() {
        let page = args.out.with_extension("html");
        for (path, content) in [(&args.out, text), (&page, html::page(table)?)] {
            std::fs::write(path, content).map_err(|e| format!("cannot write {}: {e}", path.display()))?;
            eprintln!("written to {}", path.display());
        }
    }
    Ok(())
}

/// The edits and updates of the LaTeX trace, if it is there.
fn material(args: &ReportArgs, table: &mut Report) -> Result<Option<Material>, Failure> {
    match suite::b4(&args.traces) {
        Ok(script) => {
            let log = run::updates_kept::<Yatta>(&script)?.log;
            Ok(Some(Material { edits: Arc::new(script.edits().to_vec()), updates: Arc::new(log) }))
        }
        Err(error) if std::env::var_os("CI").is_none() => {
            table.notes.push(format!("Replays of B4 were not run: {error}."));
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// B1 and B4 in Chinese, emoji and letters with accents.
fn alphabet_rows(args: &ReportArgs, table: &mut Report) -> Result<(), Failure> {
    let plain = suite::b1(N).into_iter().filter(|script| IN_ALPHABETS.contains(&script.id.as_str()));
    let b4 = suite::b4(&args.traces).ok();
    let nobody = yatta_benchmarks::log::Log::default();
    let scripts: Vec<Script> = plain.collect();
    for alphabet in Alphabet::ALL {
        for script in &scripts {
            table.add(canonical_row(&alphabet.script(script).ok_or("not ASCII")?, true)?);
        }
        if let Some(script) = &b4 {
            let script = alphabet.script(script).ok_or("the trace is not ASCII")?;
            eprintln!("{}", script.id);
            compare_text(&script)?;
            let cell = interleaved(
                || Ok(run::edits_only::<Yatta>(&script, &nobody)?.elapsed),
                Some(|| Ok(run::edits_only::<Yrs>(&script, &nobody)?.elapsed)),
            )?;
            table.add(Row::single(script.id.clone(), script.title.clone(), cell));
        }
    }
    Ok(())
}

fn b4_rows(args: &ReportArgs, wanted: impl Fn(&str) -> bool, table: &mut Report) -> Result<(), Failure> {
    if !wanted("B4") {
        return Ok(());
    }
    let script = match suite::b4(&args.traces) {
        Ok(script) => script,
        Err(error) if std::env::var_os("CI").is_none() => {
            eprintln!("B4 is left out: {error}");
            table.notes.push(format!("B4 was not run: {error}."));
            return Ok(());
        }
        Err(error) => return Err(error.into()),
    };
    table.add(canonical_row(&script, true)?);
    b4_memory(&script, table)?;
    table.add(canonical_row(&suite::b4_times(&args.traces, 10)?, args.full)?);
    Ok(())
}

/// All columns of a script. Without `yrs_edits`, yrs only encodes and parses what yatta wrote.
fn canonical_row(script: &Script, yrs_edits: bool) -> Result<Row, Failure> {
    eprintln!("{} {}", script.id, script.title);
    let outcome = if yrs_edits {
        compare::both(script)?
    } else {
        let outcome = compare::one::<Yatta>(script)?;
        let theirs = Yrs::load(1, Format::V1, &outcome.v1)?;
        if compare::ordered_state(script, &theirs, Format::V1)? != outcome.v1 {
            return Err(format!("{}: {} reads the state back as something else", script.id, Yrs::NAME).into());
        }
        outcome
    };
    let mut cells = vec![
        interleaved(
            || Ok(run::edits_only::<Yatta>(script, &outcome.log)?.elapsed),
            yrs_edits.then_some(|| Ok(run::edits_only::<Yrs>(script, &outcome.log)?.elapsed)),
        )?,
        interleaved(
            || Ok(run::updates_kept::<Yatta>(script)?.elapsed),
            yrs_edits.then_some(|| Ok(run::updates_kept::<Yrs>(script)?.elapsed)),
        )?,
        interleaved(
            || Ok(run::with_updates::<Yatta>(script)?.elapsed),
            yrs_edits.then_some(|| Ok(run::with_updates::<Yrs>(script)?.elapsed)),
        )?,
    ];
    cells.extend(codec_cells(&outcome)?);
    Ok(Row {
        id: script.id.clone(),
        title: script.title.clone(),
        cells,
        document: Some((outcome.v1.len(), outcome.v2.len())),
        updates: Some((outcome.log.len(), outcome.log.byte_len())),
    })
}

fn codec_cells(outcome: &Outcome) -> Result<Vec<Pair>, Failure> {
    let (ours, theirs) = (Yatta::load(1, Format::V1, &outcome.v1)?, Yrs::load(1, Format::V1, &outcome.v1)?);
    let mut cells = Vec::new();
    for format in Format::BOTH {
        let encode = interleaved(
            || Ok(measure::timed(|| ours.state(format)).0),
            Some(|| Ok(measure::timed(|| theirs.state(format)).0)),
        )?;
        cells.push(encode);
    }
    for (format, state) in [(Format::V1, &outcome.v1), (Format::V2, &outcome.v2)] {
        cells.push(interleaved(|| parse::<Yatta>(format, state), Some(|| parse::<Yrs>(format, state)))?);
    }
    Ok(cells)
}

fn parse<E: Engine>(format: Format, state: &[u8]) -> Result<Duration, EngineError> {
    let (elapsed, doc) = measure::timed(|| E::load(2, format, state));
    doc.map(|_| elapsed)
}

fn scaling_rows(table: &mut Report) -> Result<(), Failure> {
    for workload in Workload::ALL {
        for n in SIZES {
            let script = workload.script(n);
            eprintln!("scaling: {}", script.id);
            let yrs = workload.yrs_can(n);
            if yrs {
                compare_text(&script)?;
            }
            let nobody = yatta_benchmarks::log::Log::default();
            let cell = interleaved(
                || Ok(run::edits_only::<Yatta>(&script, &nobody)?.elapsed),
                yrs.then_some(|| Ok(run::edits_only::<Yrs>(&script, &nobody)?.elapsed)),
            )?;
            table.add(Row::single(format!("scaling: {}", script.id), script.title.clone(), cell));
        }
    }
    for n in SIZES {
        eprintln!("scaling: random edit at {}", count(n));
        let at = AtSize::build::<Yatta>(n, 20_000);
        let few = at.edits_for_yrs();
        at.check::<Yatta, Yrs>(few)?;
        let cell = interleaved(|| Ok(at.run::<Yatta>(at.edits())?.0), Some(|| Ok(at.run::<Yrs>(few)?.0)))?;
        let title = "one edit, an item a character, inserts and deletes in turn".to_owned();
        table.add(Row::single(format!("scaling: random edit at {}", count(n)), title, cell));
    }
    Ok(())
}

/// As [`compare::both`] for long scripts: only the outcome of the edits, in V1.
fn compare_text(script: &Script) -> Result<(), Failure> {
    let nobody = yatta_benchmarks::log::Log::default();
    let ours = run::edits_only::<Yatta>(script, &nobody)?.peers[0].state(Format::V1);
    let theirs = run::edits_only::<Yrs>(script, &nobody)?.peers[0].state(Format::V1);
    if ours == theirs { Ok(()) } else { Err(format!("{}: the engines differ", script.id).into()) }
}

fn prepend_rows(full: bool, table: &mut Report) -> Result<(), Failure> {
    for n in [6_000, 60_000] {
        eprintln!("two peers prepend {}", count(n));
        let prepends = Prepends::build::<Yatta>(n);
        // yrs is quadratic here, in one direction: minutes at 60,000.
        let yrs = full || n <= 6_000;
        if yrs {
            prepends.check::<Yatta, Yrs>()?;
        }
        for (peer, which) in [(0, "smaller"), (1, "larger")] {
            let cell = interleaved(
                || Ok(prepends.run::<Yatta>(peer)?.0),
                yrs.then_some(|| Ok(prepends.run::<Yrs>(peer)?.0)),
            )?;
            let title = format!("the peer with the {which} client id integrates the other's");
            table.add(Row::single(format!("two peers prepend {}", count(n)), title, cell));
        }
    }
    Ok(())
}

fn merge_row() -> Result<Row, Failure> {
    eprintln!("merge of {} updates", count(merge::UPDATES));
    let log = merge::updates::<Yatta>(merge::UPDATES)?;
    merge::check::<Yatta, Yrs>(&log)?;
    let cell = interleaved(|| Ok(merge::merge::<Yatta>(&log)?.0), Some(|| Ok(merge::merge::<Yrs>(&log)?.0)))?;
    let id = format!("merge of {} updates", count(merge::UPDATES));
    Ok(Row::single(id, "random insertions, without a document".to_owned(), cell))
}

fn b4_memory(script: &Script, table: &mut Report) -> Result<(), Failure> {
    fn after<E: Engine>(script: &Script) -> Result<[usize; 2], Failure> {
        let nobody = yatta_benchmarks::log::Log::default();
        let (finished, replayed) = memory::held(|| run::edits_only::<E>(script, &nobody));
        let state = finished?.peers[0].state(Format::V1);
        Ok([replayed, loaded::<E>(&state)?])
    }
    let (ours, theirs) = (after::<Yatta>(script)?, after::<Yrs>(script)?);
    table.memory("live heap after replaying B4".to_owned(), ours[0] as f64, theirs[0] as f64);
    table.memory("live heap after loading B4".to_owned(), ours[1] as f64, theirs[1] as f64);
    Ok(())
}

fn item_memory(table: &mut Report) -> Result<(), Failure> {
    eprintln!("memory an item");
    let at = AtSize::build::<Yatta>(60_000, EDITS_FOR_INDEX);
    let items = measure::items_of_one_client(at.state()).ok_or("the state has an unexpected form")? as f64;
    let [ours, theirs] = [loaded::<Yatta>(at.state())?, loaded::<Yrs>(at.state())?];
    let what = format!("live heap an item, text of {} live one-character items, loaded", items as u64);
    table.memory(what, ours as f64 / items, theirs as f64 / items);
    // An index may be made at the first edit; it belongs to the price of an item.
    let [ours, theirs] = [edited::<Yatta>(&at)?, edited::<Yrs>(&at)?];
    table.memory(
        format!("the same, after {EDITS_FOR_INDEX} edits"),
        ours as f64 / items,
        theirs as f64 / items,
    );
    Ok(())
}

fn loaded<E: Engine>(state: &[u8]) -> Result<usize, EngineError> {
    let mut least = usize::MAX;
    for _ in 0..LOADS {
        let (doc, bytes) = memory::held(|| E::load(1, Format::V1, state));
        doc?;
        least = least.min(bytes);
    }
    Ok(least)
}

fn edited<E: Engine>(at: &AtSize) -> Result<usize, EngineError> {
    let (doc, bytes) = memory::held(|| at.run::<E>(at.edits()));
    doc?;
    Ok(bytes)
}
