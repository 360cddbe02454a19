//! Runs a script on an engine and times it.
//!
//! Documents are made before the clock starts and dropped by the caller, after it stopped.

use std::time::{Duration, Instant};

use crate::engine::{Engine, EngineError, Format};
use crate::log::{Log, SharedLog};
use crate::script::{Finish, Script, Start, Turn};

/// What a run leaves behind.
pub struct Finished<E> {
    /// Time spent in the engine.
    pub elapsed: Duration,
    /// The documents that edited.
    pub peers: Vec<E>,
    /// The document that only listened, under [`Finish::Second`].
    pub second: Option<E>,
    /// The updates (V1), one a turn. Empty if they were not kept.
    pub log: Log,
}

/// The client id of a peer. Zero is left out, as some tools take it for "none".
pub fn client_of(peer: usize) -> u64 {
    peer as u64 + 1
}

/// Makes the documents and brings them to the start of the script.
///
/// # Errors
/// If the engine refuses the start.
///
/// # Panics
/// If a script that starts with edits has no peer.
pub fn set_up<E: Engine>(script: &Script) -> Result<Vec<E>, EngineError> {
    let mut peers: Vec<E> = (0..script.peers).map(|peer| E::new(client_of(peer))).collect();
    match &script.start {
        Start::Empty => {}
        Start::Edits(edits) => {
            let (first, others) = peers.split_first_mut().expect("a script has a peer");
            first.edit(edits);
            let state = first.state(Format::V1);
            for peer in others {
                peer.apply(Format::V1, &state)?;
            }
        }
        Start::State(state) => {
            for peer in &mut peers {
                peer.apply(Format::V1, state)?;
            }
        }
    }
    Ok(peers)
}

/// Performs the edits alone: nobody listens. Where a turn hears others, it is given their updates from
/// `heard` while the clock stands.
///
/// # Errors
/// If the engine refuses an update, or `heard` lacks one.
pub fn edits_only<E: Engine>(script: &Script, heard: &Log) -> Result<Finished<E>, EngineError> {
    let mut peers = set_up::<E>(script)?;
    let mut elapsed = Duration::ZERO;
    if script.has_hearing() {
        for turn in script.turns() {
            hear(&mut peers[turn.peer], turn, heard)?;
            let start = Instant::now();
            peers[turn.peer].edit(turn.edits);
            elapsed += start.elapsed();
        }
    } else {
        let start = Instant::now();
        for _ in 0..script.times {
            for turn in script.turns() {
                peers[turn.peer].edit(turn.edits);
            }
        }
        elapsed = start.elapsed();
    }
    Ok(Finished { elapsed, peers, second: None, log: Log::default() })
}

/// Performs the edits and keeps every update; nobody hears of them but those who must before a turn.
///
/// # Errors
/// If the engine refuses an update, or a turn emitted none.
pub fn updates_kept<E: Engine>(script: &Script) -> Result<Finished<E>, EngineError> {
    let mut peers = set_up::<E>(script)?;
    let shared = SharedLog::default();
    for peer in &peers {
        peer.record(&shared)?;
    }
    let start = Instant::now();
    for _ in 0..script.times {
        for turn in script.turns() {
            if !turn.hears.is_empty() {
                hear_live(&mut peers[turn.peer], turn, &shared)?;
            }
            peers[turn.peer].edit(turn.edits);
        }
    }
    let elapsed = start.elapsed();
    for peer in &peers {
        peer.stop_recording()?;
    }
    let log = shared.take();
    let turns = script.len() * script.times as usize;
    if log.len() != turns {
        let cause = format!("{turns} transactions with a change gave {} updates", log.len());
        return Err(EngineError { engine: E::NAME, action: "emit an update a transaction", cause });
    }
    Ok(Finished { elapsed, peers, second: None, log })
}

/// As [`updates_kept`], and then delivers the updates as the script says.
///
/// # Errors
/// If the engine refuses an update, or a turn emitted none.
pub fn with_updates<E: Engine>(script: &Script) -> Result<Finished<E>, EngineError> {
    let mut finished = updates_kept::<E>(script)?;
    if script.finish == Finish::Second {
        let mut doc = E::new(client_of(script.peers));
        // What stood there before the first turn reached the listener long ago.
        doc.apply(Format::V1, &set_up::<E>(script)?[0].state(Format::V1))?;
        finished.second = Some(doc);
    }
    let unheard = if script.finish == Finish::Everyone { unheard(script) } else { Vec::new() };
    let start = Instant::now();
    deliver(script, &mut finished, &unheard)?;
    finished.elapsed += start.elapsed();
    Ok(finished)
}

fn deliver<E: Engine>(
    script: &Script,
    finished: &mut Finished<E>,
    unheard: &[Vec<u32>],
) -> Result<(), EngineError> {
    let Finished { peers, second, log, .. } = finished;
    match script.finish {
        Finish::Second => {
            if let Some(doc) = second {
                for update in log.iter() {
                    doc.apply(Format::V1, update)?;
                }
            }
        }
        Finish::Everyone => {
            for (peer, turns) in peers.iter_mut().zip(unheard) {
                for turn in turns {
                    peer.apply(Format::V1, update_of::<E>(log, *turn)?)?;
                }
            }
        }
        Finish::Gather => {
            let others = script.turns().zip(log.iter()).filter(|(turn, _)| turn.peer != 0);
            peers[0].apply_all(others.map(|(_, update)| update))?;
        }
    }
    Ok(())
}

/// For every peer, the turns of others that it has not heard by its last turn.
fn unheard(script: &Script) -> Vec<Vec<u32>> {
    let mut known = vec![vec![false; script.len()]; script.peers];
    for turn in script.turns() {
        known[turn.peer][turn.index] = true;
        for heard in turn.hears {
            known[turn.peer][*heard as usize] = true;
        }
    }
    let missing = |turns: Vec<bool>| {
        let indices = (0..).zip(turns).filter(|(_, known)| !known);
        indices.map(|(index, _)| index).collect()
    };
    known.into_iter().map(missing).collect()
}

fn hear<E: Engine>(peer: &mut E, turn: Turn<'_>, log: &Log) -> Result<(), EngineError> {
    for heard in turn.hears {
        peer.apply(Format::V1, update_of::<E>(log, *heard)?)?;
    }
    Ok(())
}

/// As [`hear`], while the peer itself writes to the log: what it only passes on is taken out again.
fn hear_live<E: Engine>(peer: &mut E, turn: Turn<'_>, shared: &SharedLog) -> Result<(), EngineError> {
    for heard in turn.hears {
        let update = update_of::<E>(&shared.lock(), *heard)?.to_vec();
        peer.apply(Format::V1, &update)?;
        shared.lock().truncate(turn.index);
    }
    Ok(())
}

fn update_of<E: Engine>(log: &Log, turn: u32) -> Result<&[u8], EngineError> {
    log.get(turn as usize).ok_or_else(|| EngineError {
        engine: E::NAME,
        action: "pass an update on",
        cause: format!("turn {turn} emitted none"),
    })
}
