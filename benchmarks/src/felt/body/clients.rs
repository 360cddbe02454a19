//! Documents that many clients wrote, or that consist of many blocks: what a sync costs when nothing is missing.

use super::krate::updates::encoder::Encode;
use super::krate::{Doc, ReadTxn, Text, TextRef, Transact};
use super::{at_each, open, state};
use crate::clock::Clock;
use crate::engine::EngineError;
use crate::felt::{Digest, Outcome, Places, Task};

fn text_of(task: &Task) -> Result<(Doc, TextRef), EngineError> {
    open(task, |doc| doc.get_or_insert_text("text"))
}

/// One more character at a place that stays the same, with the update for the peers.
pub(in crate::felt) fn keystroke(task: &Task, clock: &mut dyn Clock) -> Result<Outcome, EngineError> {
    let (doc, text) = text_of(task)?;
    let at = text.len(&doc.transact()) / 2;
    let heard = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let sum = heard.clone();
    doc.observe_update_v1("peers", move |_, event| {
        sum.fetch_add(event.update.len(), std::sync::atomic::Ordering::Relaxed);
    })
    .map_err(|e| super::failed("listen to updates", e))?;
    let typed = Places { warm_up: vec![at, at + 1], timed: (at + 2..at + 2 + task.ops).collect() };
    at_each(&typed, clock, |at| text.insert(&mut doc.transact_mut(), at, "x"));
    let mut digest = Digest::of(&state(&doc)?);
    digest.number(heard.load(std::sync::atomic::Ordering::Relaxed) as u64);
    Ok(Outcome::new(task.ops, digest))
}

/// The update for a peer that has everything.
pub(in crate::felt) fn empty_diff(task: &Task, clock: &mut dyn Clock) -> Result<Outcome, EngineError> {
    let (doc, _) = text_of(task)?;
    let theirs = doc.transact().state_vector();
    let mut update = Vec::new();
    clock.time(&mut || {
        for _ in 0..task.ops {
            update = doc.transact().encode_state_as_update_v1(&theirs);
        }
    });
    Ok(Outcome::new(task.ops, Digest::of(&update)))
}

/// The update for a peer that lacks the last character.
pub(in crate::felt) fn last_diff(task: &Task, clock: &mut dyn Clock) -> Result<Outcome, EngineError> {
    let (doc, text) = text_of(task)?;
    let theirs = doc.transact().state_vector();
    text.insert(&mut doc.transact_mut(), 0, "x");
    let mut update = Vec::new();
    clock.time(&mut || {
        for _ in 0..task.ops {
            update = doc.transact().encode_state_as_update_v1(&theirs);
        }
    });
    Ok(Outcome::new(task.ops, Digest::of(&update)))
}

/// The state vector, encoded.
pub(in crate::felt) fn state_vector(task: &Task, clock: &mut dyn Clock) -> Result<Outcome, EngineError> {
    let (doc, _) = text_of(task)?;
    let mut bytes = Vec::new();
    clock.time(&mut || {
        for _ in 0..task.ops {
            bytes = doc.transact().state_vector().encode_v1();
        }
    });
    // yrs writes it in the order of a hash map: what is compared is the length.
    let mut digest = Digest::default();
    digest.number(bytes.len() as u64);
    Ok(Outcome::new(task.ops, digest))
}
