//! The suites *documents* and *records*, and B4 on engines that know only text: every engine that was built in.

use std::process::Command;

use yatta_benchmarks::objects::{self, Objects, Sampled, documents, records};
use yatta_benchmarks::units::{self, nanos};

use super::Failure;
use super::figure::Figure;

/// Fresh processes of a cold start.
const COLD_STARTS: usize = 25;

/// One scenario on all engines.
pub(crate) struct SuiteRow {
    pub(crate) scenario: String,
    /// Engine, its figure (median; high is the 95th percentile), and the bytes that were sent or written.
    pub(crate) engines: Vec<(&'static str, Figure, Option<usize>)>,
}

/// One suite.
pub(crate) struct Suite {
    pub(crate) name: &'static str,
    pub(crate) rows: Vec<SuiteRow>,
}

impl SuiteRow {
    /// The cell of an engine.
    pub(crate) fn text(&self, engine: &str) -> String {
        let Some((_, figure, bytes)) = self.engines.iter().find(|(name, ..)| *name == engine) else {
            return "not run".to_owned();
        };
        let mut text = match figure {
            Figure::Measured { median, high, .. } => format!("{} ({})", nanos(*median), nanos(*high)),
            other => other.text(),
        };
        if let Some(count) = bytes {
            text.push_str(", ");
            text.push_str(&units::bytes(*count as f64));
        }
        text
    }
}

impl Suite {
    fn new(name: &'static str) -> Self {
        Self { name, rows: Vec::new() }
    }

    /// The engines that have a figure, in order.
    pub(crate) fn engines(&self) -> Vec<&'static str> {
        let mut names = Vec::new();
        for (engine, ..) in self.rows.iter().flat_map(|row| &row.engines) {
            if !names.contains(engine) {
                names.push(*engine);
            }
        }
        names
    }

    fn add(&mut self, scenario: &str, engine: &'static str, figure: Figure, bytes: Option<usize>) {
        let place = self.rows.iter().position(|row| row.scenario == scenario).unwrap_or_else(|| {
            self.rows.push(SuiteRow { scenario: scenario.to_owned(), engines: Vec::new() });
            self.rows.len() - 1
        });
        self.rows[place].engines.push((engine, figure, bytes));
    }
}

/// Runs `$run::<E>(…)` for every engine.
macro_rules! for_all {
    ($run:ident ( $($argument:expr),* )) => {
        $run::<objects::Yatta>($($argument),*);
        $run::<objects::Yrs>($($argument),*);
        #[cfg(feature = "compare")]
        {
            $run::<objects::Loro>($($argument),*);
            $run::<objects::Automerge>($($argument),*);
            $run::<objects::YOcto>($($argument),*);
        }
    };
}

/// Runs both suites on all engines.
pub(crate) fn run(wanted: impl Fn(&str) -> bool) -> Vec<Suite> {
    let mut suites = Vec::new();
    if wanted("documents") {
        let mut suite = Suite::new("documents");
        for_all!(on_documents(&mut suite));
        suites.push(suite);
    }
    if wanted("records") {
        let mut suite = Suite::new("records");
        for_all!(on_records(&mut suite));
        suites.push(suite);
    }
    suites
}

/// Checks both suites on yatta and yrs.
pub(crate) fn smoke() -> Result<usize, Failure> {
    documents::check::<objects::Yatta>()?;
    documents::check::<objects::Yrs>()?;
    records::check::<objects::Yatta>()?;
    records::check::<objects::Yrs>()?;
    Ok(2)
}

fn on_documents<E: Objects>(suite: &mut Suite) {
    eprintln!("documents {}", E::NAME);
    match documents::check::<E>() {
        Ok(()) => {
            for scenario in documents::run::<E>() {
                let (figure, bytes) = figure(scenario.result.map_err(|error| error.to_string()));
                suite.add(&scenario.name, E::NAME, figure, bytes);
            }
        }
        Err(error) => {
            suite.add("the check before it is timed", E::NAME, Figure::Failed(error.to_string()), None)
        }
    }
}

fn on_records<E: Objects>(suite: &mut Suite) {
    eprintln!("records {}", E::NAME);
    match records::check::<E>() {
        Ok(()) => {
            for scenario in records::run::<E>() {
                let (figure, bytes) = figure(scenario.result.map_err(|error| error.to_string()));
                suite.add(&scenario.name, E::NAME, figure, bytes);
            }
            let (figure, bytes) = figure(cold_starts::<E>().map_err(|error| error.to_string()));
            suite.add("cold start: open 1000, read one", E::NAME, figure, bytes);
        }
        Err(error) => {
            suite.add("the check before it is timed", E::NAME, Figure::Failed(error.to_string()), None)
        }
    }
}

fn figure(sampled: Result<Sampled, String>) -> (Figure, Option<usize>) {
    match sampled {
        Ok(sampled) => {
            let nanos = |time: std::time::Duration| time.as_secs_f64() * 1e9;
            let median = nanos(sampled.median);
            (Figure::Measured { median, low: median, high: nanos(sampled.p95) }, sampled.bytes)
        }
        Err(why) => (Figure::Failed(why), None),
    }
}

/// Opens the store and reads one record in fresh processes.
fn cold_starts<E: Objects>() -> Result<Sampled, Failure> {
    let file = std::env::temp_dir().join(format!("yatta-cold-start-{}", std::process::id()));
    let bytes = records::stored::<E>()?;
    std::fs::write(&file, &bytes)?;
    let once = || -> Result<std::time::Duration, Failure> {
        let ran = Command::new(std::env::current_exe()?).args(["cold-start", E::NAME]).arg(&file).output()?;
        let said = String::from_utf8_lossy(&ran.stdout);
        let nanos = said.trim().parse().map_err(|_| format!("a fresh process said: {said}"))?;
        Ok(std::time::Duration::from_nanos(nanos))
    };
    let times: Result<Vec<_>, _> = (0..COLD_STARTS).map(|_| once()).collect();
    std::fs::remove_file(&file)?;
    let mut times = times?;
    times.sort_unstable();
    let (median, p95) = (times[COLD_STARTS / 2], times[COLD_STARTS * 95 / 100]);
    Ok(Sampled { median, p95, bytes: Some(bytes.len()) })
}

/// What one cold start takes.
#[derive(clap::Args)]
pub(crate) struct ColdArgs {
    engine: String,
    file: std::path::PathBuf,
}

/// Is the fresh process of a cold start.
pub(crate) fn cold_start(args: &ColdArgs) -> Result<(), Failure> {
    fn try_one<E: Objects>(args: &ColdArgs, bytes: &[u8], elapsed: &mut Option<std::time::Duration>) {
        if args.engine == E::NAME {
            *elapsed = records::cold_start::<E>(bytes).ok();
        }
    }
    let bytes = std::fs::read(&args.file)?;
    let mut elapsed = None;
    for_all!(try_one(args, &bytes, &mut elapsed));
    println!("{}", elapsed.ok_or("no such engine, or it cannot read the store")?.as_nanos());
    Ok(())
}

/// Runs of an engine on B4.
#[cfg(feature = "compare")]
const B4_RUNS: usize = 7;
/// Time beyond which an engine does not replay all of B4.
#[cfg(feature = "compare")]
const B4_LIMIT: std::time::Duration = std::time::Duration::from_secs(60);

/// The words of a panic.
#[cfg(feature = "compare")]
fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let words = panic.downcast_ref::<String>().map(String::as_str);
    format!("panics: {}", words.or(panic.downcast_ref::<&str>().copied()).unwrap_or("without words"))
}

/// B4 on all engines that know text, in turn; the texts are compared first.
#[cfg(feature = "compare")]
pub(crate) fn text_engines(edits: &[yatta_benchmarks::edit::Edit]) -> Result<Suite, Failure> {
    use yatta_benchmarks::engine::Engine as _;
    use yatta_benchmarks::engines::Yatta;
    use yatta_benchmarks::measure::timed;
    use yatta_benchmarks::peers::{PEERS, Play};

    let ours = || {
        let mut doc = Yatta::new(1);
        let (elapsed, ()) = timed(|| edits.iter().for_each(|edit| doc.edit(std::slice::from_ref(edit))));
        (elapsed, doc)
    };
    let expected = ours().1.text();
    // An engine that panics has failed; the others go on.
    let played = |play: Play, edits: &[yatta_benchmarks::edit::Edit]| {
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| play(edits)));
        caught.map_err(|panic| message(&*panic)).and_then(|done| done.map_err(|error| error.to_string()))
    };
    let mut all = vec![("yatta", Ok(Vec::new()))];
    for (name, play) in PEERS {
        eprintln!("B4 on {name}");
        let tenth = played(play, &edits[..edits.len() / 10]).map(|(elapsed, _)| elapsed * 10);
        let fit = match tenth {
            Ok(guess) if guess < B4_LIMIT => match played(play, edits) {
                Ok((_, Some(text))) if text != expected => Err(Figure::Failed("the text differs".to_owned())),
                Ok(_) => Ok(Vec::new()),
                Err(error) => Err(Figure::Failed(error)),
            },
            Ok(_) => Err(Figure::NotRun("minutes")),
            Err(error) => Err(Figure::Failed(error)),
        };
        all.push((name, fit));
    }
    for _ in 0..B4_RUNS {
        for (name, times) in &mut all {
            let Ok(times) = times else { continue };
            match PEERS.iter().find(|(peer, _)| peer == name) {
                Some((_, play)) => times.push(played(*play, edits)?.0),
                None => times.push(ours().0),
            }
        }
    }
    let mut suite = Suite::new("B4 on other engines");
    for (name, times) in all {
        let figure = times.map_or_else(
            |figure| figure,
            |mut times| {
                times.sort_unstable();
                let nanos = |at: usize| times[at].as_secs_f64() * 1e9;
                Figure::Measured { median: nanos(B4_RUNS / 2), low: nanos(1), high: nanos(B4_RUNS - 1) }
            },
        );
        suite.add("B4, a transaction an edit", name, figure, None);
    }
    Ok(suite)
}
