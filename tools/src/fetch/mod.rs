//! `yatta fetch-traces`: brings the editing traces here and checks that they are the right ones.
//!
//! A trace is read whole into memory, checked, and only then written beside its place and renamed into it:
//! whatever stops the program, no half a trace is left where a benchmark looks for one.

mod error;
mod origin;
#[cfg(test)]
mod tests;

use std::error::Error;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use sha2::{Digest, Sha256};
use yatta_benchmarks::trace::{self, SOURCES, Source, TraceError};

use error::{FetchError, Reason};
use origin::Origin;

/// The public repository, at the commit whose files have the hashes that we know.
const PUBLISHED: &str =
    "https://raw.githubusercontent.com/josephg/editing-traces/762fa6c51605c88a05ebe5c4b9d4540caca30b97";

/// What the subcommand takes.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Traces to fetch; all if none is named.
    names: Vec<String>,
    /// A folder that holds the files, or a URL under which they lie as in the published repository.
    #[arg(long, value_name = "DIR-or-URL", default_value = PUBLISHED)]
    from: String,
    /// Where to put them.
    #[arg(long, value_name = "DIR", default_value_os_t = trace::default_dir())]
    to: PathBuf,
}

/// How patient a download is.
#[derive(Clone, Copy, Debug)]
struct Patience {
    /// Attempts for what may pass: no connection, a server error, a body that breaks off.
    attempts: u32,
    /// Pause after the first attempt; doubled after each further one.
    pause: Duration,
    /// Longest wait for a connection and for each piece of an answer.
    timeout: Duration,
}

const PATIENCE: Patience =
    Patience { attempts: 4, pause: Duration::from_millis(500), timeout: Duration::from_secs(20) };

/// What became of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fetched {
    Written,
    /// It was there already, with the right content.
    Present,
}

/// Fetches what was asked for. Goes on after a failure and tells it at the end.
pub(crate) fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let sources = if args.names.is_empty() { SOURCES.to_vec() } else { named(&args.names)? };
    let origin = Origin::new(&args.from, PATIENCE)?;
    let mut failed = 0;
    for source in &sources {
        match fetch(source, &origin, &args.to, PATIENCE) {
            Ok(Fetched::Written) => println!("{}: fetched", source.name),
            Ok(Fetched::Present) => println!("{}: already there", source.name),
            Err(error) => {
                eprintln!("{error}");
                failed += 1;
            }
        }
    }
    if failed > 0 {
        return Err(format!("{failed} of {} traces could not be fetched", sources.len()).into());
    }
    println!("in {}", args.to.display());
    Ok(())
}

/// Fetches one trace from the published repository unless it is there.
pub(crate) fn ensure(source: &Source, to: &Path) -> Result<(), Box<dyn Error>> {
    if !to.join(source.file_name()).exists() {
        eprintln!("fetching the trace {}", source.name);
        fetch(source, &Origin::new(PUBLISHED, PATIENCE)?, to, PATIENCE)?;
    }
    Ok(())
}

fn named(names: &[String]) -> Result<Vec<Source>, TraceError> {
    names.iter().map(|name| Source::named(name).ok_or_else(|| TraceError::Unknown(name.clone()))).collect()
}

fn fetch(source: &Source, origin: &Origin, to: &Path, patience: Patience) -> Result<Fetched, FetchError> {
    let path = to.join(source.file_name());
    if fs::read(&path).is_ok_and(|bytes| hash_of(&bytes) == source.sha256) {
        return Ok(Fetched::Present);
    }
    let bar = progress(source);
    let bytes = download(source, origin, patience, &bar);
    bar.finish_and_clear();
    let bytes = bytes?;
    let hash = hash_of(&bytes);
    if hash != source.sha256 {
        let reason = Reason::WrongHash { got: hash, expected: source.sha256 };
        return Err(FetchError::new(source, origin.place(source), reason));
    }
    write_whole(&path, &bytes)
        .map_err(|error| FetchError::new(source, path.display().to_string(), Reason::Write(error)))?;
    Ok(Fetched::Written)
}

fn download(
    source: &Source,
    origin: &Origin,
    patience: Patience,
    bar: &ProgressBar,
) -> Result<Vec<u8>, FetchError> {
    let mut pause = patience.pause;
    let mut attempt = 1;
    loop {
        match origin.read(source, bar) {
            Err(reason) if reason.may_pass() && attempt < patience.attempts => {
                bar.println(format!("{}: {reason}; trying again in {pause:?}", source.name));
                std::thread::sleep(pause);
                pause *= 2;
                attempt += 1;
            }
            read => return read.map_err(|reason| FetchError::new(source, origin.place(source), reason)),
        }
    }
}

fn progress(source: &Source) -> ProgressBar {
    let bar = ProgressBar::no_length().with_prefix(source.name);
    match ProgressStyle::with_template("{prefix} [{bar:30}] {bytes}/{total_bytes} {bytes_per_sec}") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

fn hash_of(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Writes a file so that its path names either what was there before or all of the new content.
fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let dir = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(dir)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = dir.join(format!(".{name}.{}.part", std::process::id()));
    let written = (|| {
        let mut file = File::create(&beside)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&beside, path)
    })();
    if written.is_err() {
        // The first error is the one to tell; a part that was never made cannot be removed either.
        let _ = fs::remove_file(&beside);
    }
    written
}
