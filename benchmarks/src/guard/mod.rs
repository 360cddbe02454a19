//! The guard: counts instructions and allocations of small workloads and compares them with committed counts.
//!
//! Each workload runs in a process of its own under callgrind, which counts only while [`counted`] is on the stack.
//! Allocations are counted by our allocator in the same process and need no tool: without valgrind they are still
//! checked. Neither depends on how busy the machine is, so a rise is a change of the code.

mod counts;
mod workloads;

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use yatta_benchmarks::clock::Clock;
use yatta_benchmarks::memory::{Asked, asked};
use yatta_benchmarks::trace;

use counts::{Book, Counts, compare};

/// What the guard takes.
#[derive(clap::Args)]
pub(crate) struct GuardArgs {
    /// Take what is measured as the new counts, and say so with this reason in the changelog.
    #[arg(long, value_name = "REASON")]
    accept: Option<String>,
    /// Only workloads whose name begins with one of these.
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Count no instructions even if valgrind is there.
    #[arg(long)]
    no_valgrind: bool,
    /// The file of accepted counts.
    #[arg(long, value_name = "FILE", default_value_os_t = beside("guard.tsv"))]
    file: PathBuf,
    /// The changelog.
    #[arg(long, value_name = "FILE", default_value_os_t = beside("../CHANGELOG.md"))]
    changelog: PathBuf,
    /// Where the traces are.
    #[arg(long, value_name = "DIR", default_value_os_t = trace::default_dir())]
    traces: PathBuf,
}

/// What one run of a workload takes.
#[derive(clap::Args)]
pub(crate) struct OneArgs {
    name: String,
    slice: PathBuf,
}

fn beside(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(file)
}

/// Checks all workloads, or accepts what they cost now.
pub(crate) fn run(args: &GuardArgs) -> Result<(), Box<dyn Error>> {
    let valgrind = (!args.no_valgrind).then(valgrind).flatten();
    if valgrind.is_none() {
        eprintln!(
            "WARNING: there is no valgrind: INSTRUCTIONS ARE NOT COUNTED, only allocations are checked"
        );
    }
    let measured = measure(args, valgrind.is_some(), made_with(valgrind.as_deref()))?;
    let accepted = match std::fs::read_to_string(&args.file) {
        Ok(text) => Book::parse(&text)?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Book::default(),
        Err(error) => return Err(format!("cannot read {}: {error}", args.file.display()).into()),
    };
    match &args.accept {
        Some(reason) => accept(args, reason, accepted, measured),
        None => check(args, &accepted, &measured),
    }
}

fn check(args: &GuardArgs, accepted: &Book, measured: &Book) -> Result<(), Box<dyn Error>> {
    let verdict = compare(accepted, measured, args.only.is_empty());
    for line in &verdict.better {
        println!("better: {line}");
    }
    if !verdict.doubtful.is_empty() {
        println!("accepted with {}, measured with {}:", accepted.made_with, measured.made_with);
    }
    for line in &verdict.doubtful {
        println!("warning, other tools: {line}");
    }
    for line in &verdict.wrong {
        println!("WORSE: {line}");
    }
    if verdict.wrong.is_empty() {
        println!("guard: {} workloads, none rose by more than 3 %", measured.counts.len());
        return Ok(());
    }
    Err(format!(
        "guard: {} counts rose by more than 3 % or are unknown. If it is worth it: \
         `cargo run --release -p yatta-benchmarks -- guard --accept REASON`",
        verdict.wrong.len()
    )
    .into())
}

fn accept(args: &GuardArgs, reason: &str, mut book: Book, measured: Book) -> Result<(), Box<dyn Error>> {
    if reason.trim().is_empty() {
        return Err("--accept wants a reason".into());
    }
    let verdict = compare(&book, &measured, args.only.is_empty());
    if args.only.is_empty() {
        book.counts.clear();
    } else if book.made_with != measured.made_with && !book.counts.is_empty() {
        return Err("with other tools than before all workloads must be accepted, not some".into());
    }
    book.made_with.clone_from(&measured.made_with);
    let count = measured.counts.len();
    book.counts.extend(measured.counts);
    std::fs::write(&args.file, book.to_text())?;

    let mut line =
        format!("- Guarded counts accepted ({count} workloads): {}.", reason.trim().trim_end_matches('.'));
    for risen in verdict.wrong.iter().filter(|line| !line.ends_with("no accepted counts")) {
        write!(line, " {risen};")?;
    }
    let changelog = std::fs::read_to_string(&args.changelog)?;
    std::fs::write(&args.changelog, with_line(&changelog, line.trim_end_matches(';'))?)?;
    println!("written to {} and {}", args.file.display(), args.changelog.display());
    Ok(())
}

/// Adds a line at the end of the newest section of a changelog.
fn with_line(changelog: &str, line: &str) -> Result<String, String> {
    let start = changelog.find("\n## ").ok_or("the changelog has no section")? + 1;
    let end = changelog[start..].find("\n## ").map_or(changelog.len(), |at| start + at);
    let (section, rest) = (changelog[..end].trim_end(), &changelog[end..]);
    Ok(format!("{section}\n{line}\n{rest}"))
}

fn measure(args: &GuardArgs, valgrind: bool, made_with: String) -> Result<Book, Box<dyn Error>> {
    let scratch = Scratch::new()?;
    let slice = scratch.0.join("b4.json");
    let traced = workloads::write_slice(&args.traces, &slice);
    if let Err(error) = &traced {
        if std::env::var_os("CI").is_some() {
            return Err(format!("{error}").into());
        }
        eprintln!("WARNING: without the trace, B4 is not checked: {error}");
    }
    let mut book = Book { made_with, ..Book::default() };
    for (name, guarded) in &workloads::ALL {
        let wanted = args.only.is_empty() || args.only.iter().any(|only| name.starts_with(only.as_str()));
        if wanted && (traced.is_ok() || !workloads::needs_trace(guarded)) {
            let counts = one_process(name, &slice, valgrind, &scratch.0)?;
            book.counts.insert((*name).to_owned(), counts);
        }
    }
    Ok(book)
}

/// A folder for files of one run, removed at its end.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> std::io::Result<Self> {
        let folder = std::env::temp_dir().join(format!("yatta-guard-{}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        Ok(Self(folder))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A leftover in the temporary folder harms nobody.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn one_process(name: &str, slice: &Path, valgrind: bool, scratch: &Path) -> Result<Counts, Box<dyn Error>> {
    let program = std::env::current_exe()?;
    let out = scratch.join("callgrind.out");
    let mut command = if valgrind {
        let mut command = Command::new("valgrind");
        command.args(["--tool=callgrind", "--toggle-collect=*guard_counted*", "--cache-sim=no", "-q"]);
        command.arg(format!("--callgrind-out-file={}", out.display())).arg(program);
        command
    } else {
        Command::new(program)
    };
    // A fixed and small environment: its size moves the stack.
    let ran =
        command.env_clear().env("PATH", "/usr/bin:/bin").arg("guard-one").arg(name).arg(slice).output()?;
    let said = String::from_utf8_lossy(&ran.stdout);
    if !ran.status.success() {
        return Err(format!("{name}: {}: {}", ran.status, String::from_utf8_lossy(&ran.stderr)).into());
    }
    let mut numbers = said.split_whitespace().map(str::parse);
    let (Some(Ok(allocations)), Some(Ok(bytes))) = (numbers.next(), numbers.next()) else {
        return Err(format!("{name}: told no counts: {said}").into());
    };
    let instructions = if valgrind { Some(instructions(&std::fs::read_to_string(&out)?)?) } else { None };
    Ok(Counts { instructions, allocations, bytes })
}

/// Reads the sum from the output of callgrind.
fn instructions(out: &str) -> Result<u64, String> {
    let total =
        out.lines().find_map(|line| line.strip_prefix("totals: ")).ok_or("callgrind told no totals")?;
    let count = total.trim().parse().map_err(|e| format!("callgrind told the totals {total}: {e}"))?;
    if count == 0 { Err("callgrind saw nothing of the workload".to_owned()) } else { Ok(count) }
}

/// Runs one workload and prints what it asked of the allocator.
pub(crate) fn one(args: &OneArgs) -> Result<(), Box<dyn Error>> {
    let mut counter = Counter::default();
    workloads::run(&args.name, &args.slice, &mut counter)?;
    println!("{} {}", counter.0.allocations, counter.0.bytes);
    Ok(())
}

#[derive(Default)]
struct Counter(Asked);

impl Clock for Counter {
    fn time(&mut self, work: &mut dyn FnMut()) {
        let before = asked();
        guard_counted(work);
        let after = asked();
        self.0.allocations += after.allocations - before.allocations;
        self.0.bytes += after.bytes - before.bytes;
    }
}

/// Callgrind finds it by its name.
#[inline(never)]
fn guard_counted(work: &mut dyn FnMut()) {
    work();
    // Not in tail position: the call must return here, or the stretch that counts would never end.
    std::hint::black_box(());
}

fn valgrind() -> Option<String> {
    output("valgrind", &["--version"])
}

fn made_with(valgrind: Option<&str>) -> String {
    let rustc = output("rustc", &["--version"]).unwrap_or_else(|| "unknown compiler".to_owned());
    let libc = output("getconf", &["GNU_LIBC_VERSION"]).unwrap_or_else(|| "unknown libc".to_owned());
    let profile = if cfg!(debug_assertions) { "debug" } else { "release" };
    format!("{rustc} {profile}, {libc}, {}, {}", valgrind.unwrap_or("no valgrind"), std::env::consts::ARCH)
}

fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let ran = Command::new(program).args(arguments).output().ok().filter(|ran| ran.status.success())?;
    Some(String::from_utf8_lossy(&ran.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::{instructions, with_line};

    #[test]
    fn reads_the_sum() {
        assert_eq!(instructions("events: Ir\nfn=x\n1 5\ntotals: 1234\n"), Ok(1234));
        assert!(instructions("totals: 0\n").is_err(), "a toggle that never matched must not pass");
        assert!(instructions("").is_err());
    }

    #[test]
    fn the_newest_section_gets_the_line() {
        let changelog = "# Changelog\n\n## Unreleased\n- a\n\n## 0.1\n- b\n";
        let longer = with_line(changelog, "- new").expect("there is a section");
        assert_eq!(longer, "# Changelog\n\n## Unreleased\n- a\n- new\n\n## 0.1\n- b\n");
        assert!(with_line("# Changelog\n", "- new").is_err());
    }
}
