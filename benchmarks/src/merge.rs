//! Merging many small updates into one, without a document.

use std::time::{Duration, Instant};

use crate::engine::{Engine, EngineError};
use crate::log::Log;
use crate::run;
use crate::scaling::Workload;

/// How many updates are merged.
pub const UPDATES: u32 = 20_000;

/// Updates of `n` random insertions, one character each, made with the engine `E`.
///
/// # Errors
/// If the engine emits no update for an insertion.
pub fn updates<E: Engine>(n: u32) -> Result<Log, EngineError> {
    Ok(run::with_updates::<E>(&Workload::RandomInsert.script(n))?.log)
}

/// Merges all updates of the log; returns the time and the merged update.
///
/// # Errors
/// If the engine refuses an update.
pub fn merge<E: Engine>(log: &Log) -> Result<(Duration, Vec<u8>), EngineError> {
    let updates: Vec<&[u8]> = log.iter().collect();
    let start = Instant::now();
    let merged = E::merge(&updates)?;
    Ok((start.elapsed(), merged))
}

/// Checks that both engines merge to the same bytes.
///
/// # Errors
/// If an engine refuses an update, or the bytes differ.
pub fn check<A: Engine, B: Engine>(log: &Log) -> Result<(), EngineError> {
    let (ours, theirs) = (merge::<A>(log)?.1, merge::<B>(log)?.1);
    if ours != theirs {
        let cause = format!("{} bytes, {} gives {} others", ours.len(), B::NAME, theirs.len());
        return Err(EngineError { engine: A::NAME, action: "merge as the other engine does", cause });
    }
    Ok(())
}
