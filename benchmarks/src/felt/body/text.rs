//! Text: with many format marks, and with somebody who wants the delta of each keystroke.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::krate::types::text::YChange;
use super::krate::types::{Attrs, Delta};
use super::krate::{Any, Doc, GetString, Observable, Text, TextRef, Transact};
use super::{at_each, open, state};
use crate::clock::Clock;
use crate::engine::EngineError;
use crate::felt::{Digest, Outcome, Places, Task};

fn text_of(task: &Task) -> Result<(Doc, TextRef), EngineError> {
    open(task, |doc| doc.get_or_insert_text("text"))
}

fn bold() -> Attrs {
    std::iter::once((Arc::from("bold"), Any::from(true))).collect()
}

fn types(doc: &Doc, text: &TextRef, places: &Places, clock: &mut dyn Clock) {
    at_each(places, clock, |at| text.insert(&mut doc.transact_mut(), at, "x"));
}

/// A character at a random place, a transaction each.
pub(in crate::felt) fn insert(task: &Task, clock: &mut dyn Clock) -> Result<Outcome, EngineError> {
    let (doc, text) = text_of(task)?;
    let places = task.places(text.len(&doc.transact()));
    types(&doc, &text, &places, clock);
    Ok(Outcome::new(task.ops, Digest::of(&state(&doc)?)))
}

/// As [`insert`], with an observer that asks for the delta.
pub(in crate::felt) fn event_delta(task: &Task, clock: &mut dyn Clock) -> Result<Outcome, EngineError> {
    let (doc, text) = text_of(task)?;
    let heard = Arc::new(AtomicU64::new(0));
    let sum = Arc::clone(&heard);
    text.observe("delta", move |txn, event| {
        for step in event.delta(txn) {
            let weight = match step {
                Delta::Inserted(_, attributes) => 1 + attributes.as_ref().map_or(0, |all| all.len() as u64),
                Delta::Deleted(len) => u64::from(*len) << 20,
                Delta::Retain(len, _) => u64::from(*len) << 40,
            };
            // What counts is that all steps are looked at, and that both engines tell the same.
            sum.fetch_add(weight, Ordering::Relaxed);
        }
    });
    let places = task.places(text.len(&doc.transact()));
    types(&doc, &text, &places, clock);
    let mut digest = Digest::of(&state(&doc)?);
    digest.number(heard.load(Ordering::Relaxed));
    Ok(Outcome::new(task.ops, digest))
}

/// Seven characters at a random place become bold.
pub(in crate::felt) fn format(task: &Task, clock: &mut dyn Clock) -> Result<Outcome, EngineError> {
    let (doc, text) = text_of(task)?;
    let places = task.places(text.len(&doc.transact()) - 8);
    at_each(&places, clock, |at| text.format(&mut doc.transact_mut(), at, 7, bold()));
    Ok(Outcome::new(task.ops, pieces(&doc, &text)))
}

/// The whole text as pieces with attributes; a unit is one mark.
pub(in crate::felt) fn delta(task: &Task, clock: &mut dyn Clock) -> Result<Outcome, EngineError> {
    let (doc, text) = text_of(task)?;
    let mut count = 0;
    clock.time(&mut || count = text.diff(&doc.transact(), YChange::identity).len());
    let mut digest = pieces(&doc, &text);
    digest.number(count as u64);
    Ok(Outcome::new(task.size, digest))
}

fn pieces(doc: &Doc, text: &TextRef) -> Digest {
    let txn = doc.transact();
    let mut digest = Digest::of(text.get_string(&txn).as_bytes());
    for piece in text.diff(&txn, YChange::identity) {
        digest.bytes(piece.insert.to_string(&txn).as_bytes());
        digest.number(piece.attributes.map_or(0, |all| all.len() as u64));
    }
    digest
}
