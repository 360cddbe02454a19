//! The command `yatta`. Each subcommand has a file of its own: its arguments, and a function that runs it.

mod adapter;
mod failure;
mod fetch;
mod input;
mod inspect;
mod kind;
mod load;
mod output;
mod replay;
mod roots;
mod serve;
mod show;
mod transfer;
mod update_tools;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use yatta_benchmarks::memory::Counting;

use failure::Failure;

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
    /// Show what stands in an update, state vector, snapshot, sticky index, awareness or sync message.
    Inspect(inspect::Args),
    /// Merge updates into one.
    Merge(update_tools::MergeArgs),
    /// Leave out of an update what a receiver has.
    Diff(update_tools::DiffArgs),
    /// Write an update in the other format (V1, V2).
    Convert(update_tools::ConvertArgs),
    /// Write the state vector that a document has after an update.
    StateVector(update_tools::One),
    /// Print the texts of a document.
    Text(show::Args),
    /// Print the root types of a document as JSON.
    Json(show::Args),
    /// Replace what an update says by numbers, so that it can be shown to others.
    Obfuscate(update_tools::ObfuscateArgs),
    /// Fetch the editing traces that benchmarks and replays use.
    FetchTraces(fetch::Args),
    /// Replay a real editing history, check what comes out, and compare with yrs.
    Replay(replay::Args),
    /// Answer requests of the adapter's protocol: one JSON object a line on standard input, one reply a line.
    Adapter,
    /// Take documents of hocuspocus, y-leveldb or files into the store of `serve`.
    Import(transfer::ImportArgs),
    /// Write documents of the store of `serve` to files.
    Export(transfer::ExportArgs),
    /// Make load for a sync server and measure latency, loss, processor time and memory.
    Load(load::Args),
    /// Serve documents to Yjs clients: y-websocket and hocuspocus on one port.
    Serve(Box<serve::Args>),
}

fn main() -> ExitCode {
    match run(Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Inspect(args) => inspect::run(&args),
        Command::Merge(args) => update_tools::merge(&args),
        Command::Diff(args) => update_tools::diff(&args),
        Command::Convert(args) => update_tools::convert(&args),
        Command::StateVector(args) => update_tools::state_vector(&args),
        Command::Text(args) => show::text(&args),
        Command::Json(args) => show::json(&args),
        Command::Obfuscate(args) => update_tools::obfuscate(&args),
        Command::FetchTraces(args) => Ok(fetch::run(&args)?),
        Command::Replay(args) => Ok(replay::run(&args)?),
        Command::Import(args) => transfer::import(&args),
        Command::Export(args) => transfer::export(&args),
        Command::Load(args) => Ok(load::run(&args)?),
        Command::Serve(args) => Ok(serve::run(*args)?),
        Command::Adapter => Ok(adapter::run(std::io::stdin().lock(), std::io::stdout().lock())?),
    }
}
