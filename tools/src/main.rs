//! The command `yatta`. Each subcommand has a file of its own: its arguments, and a function that runs it.

mod adapter;
mod fetch;
mod replay;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use yatta_benchmarks::memory::Counting;

/// Counts the heap for `replay`; costs one addition an allocation.
#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Tools around the yatta engine.
#[derive(Parser)]
#[command(name = "yatta", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Fetch the editing traces that benchmarks and replays use.
    FetchTraces(fetch::Args),
    /// Replay a real editing history, check what comes out, and compare with yrs.
    Replay(replay::Args),
    /// Answer requests of the adapter's protocol: one JSON object a line on standard input, one reply a line.
    Adapter,
}

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::FetchTraces(args) => fetch::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Adapter => {
            adapter::run(std::io::stdin().lock(), std::io::stdout().lock()).map_err(Into::into)
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("yatta: {error}");
            ExitCode::FAILURE
        }
    }
}
