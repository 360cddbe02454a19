//! Runs the suite quickly and writes one table of results; with `--smoke`, only checks that all of it works.
//! `guard` counts instructions and allocations and compares them with the committed counts.

mod guard;
mod report;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use yatta_benchmarks::memory::Counting;
use yatta_benchmarks::trace;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// yatta and yrs on the same operations.
#[derive(Parser)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run every benchmark a few times and write the table.
    Report(ReportArgs),
    /// Count instructions and allocations of small workloads; fail if one rose by more than 3 per cent.
    Guard(guard::GuardArgs),
    /// Run one guarded workload.
    #[command(hide = true)]
    GuardOne(guard::OneArgs),
    /// Open a store and read one record.
    #[command(hide = true)]
    ColdStart(report::suites::ColdArgs),
}

/// What the report takes.
#[derive(clap::Args)]
struct ReportArgs {
    /// Run everything once with few operations, check that both engines agree, and write nothing.
    #[arg(long)]
    smoke: bool,
    /// Also run what takes yrs minutes.
    #[arg(long)]
    full: bool,
    /// Run only benchmarks whose id begins with one of these; the table is then printed, not written.
    #[arg(long, value_name = "ID")]
    only: Vec<String>,
    /// Where the traces are.
    #[arg(long, value_name = "DIR", default_value_os_t = trace::default_dir())]
    traces: PathBuf,
    /// Where the table goes; the page goes beside it, as HTML.
    #[arg(long, value_name = "FILE", default_value_os_t = report::default_out())]
    out: PathBuf,
}

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Report(args) if args.smoke => report::smoke::run(&args.traces),
        Command::Report(args) => report::run(&args),
        Command::Guard(args) => guard::run(&args),
        Command::GuardOne(args) => guard::one(&args),
        Command::ColdStart(args) => report::suites::cold_start(&args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
