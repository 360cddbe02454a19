//! Undo: typing with a manager that listens, taking all of it back, and making it again.

use super::krate::undo::{Options, UndoManager};
use super::krate::{Doc, Text, TextRef, Transact};
use super::{empty, state};
use crate::clock::Clock;
use crate::engine::EngineError;
use crate::felt::{Digest, Outcome, Task};

/// A text that a manager listens to; each transaction is a step of its own.
fn scene() -> (Doc, TextRef, UndoManager<()>) {
    let doc = empty(super::EDITOR);
    let text = doc.get_or_insert_text("text");
    let mut manager = UndoManager::with_options(Options { capture_timeout_millis: 0, ..Options::default() });
    manager.expand_scope(&doc, &text);
    (doc, text, manager)
}

fn type_all(doc: &Doc, text: &TextRef, places: &[u32]) {
    for at in places {
        text.insert(&mut doc.transact_mut(), *at, "x");
    }
}

/// A step: one character at a random place. A unit is a step.
pub(in crate::felt) fn record(task: &Task, clock: &mut dyn Clock) -> Result<Outcome, EngineError> {
    let (doc, text, manager) = scene();
    let places = task.growing_places();
    clock.time(&mut || type_all(&doc, &text, &places));
    let mut digest = Digest::of(&state(&doc)?);
    digest.number(manager.undo_stack().len() as u64);
    Ok(Outcome::new(task.size, digest))
}

/// Undoes all steps; a unit is a step.
pub(in crate::felt) fn undo(task: &Task, clock: &mut dyn Clock) -> Result<Outcome, EngineError> {
    let (doc, text, mut manager) = scene();
    type_all(&doc, &text, &task.growing_places());
    let mut steps = 0;
    clock.time(&mut || {
        while manager.undo_blocking() {
            steps += 1;
        }
    });
    let mut digest = Digest::of(&state(&doc)?);
    digest.number(steps);
    Ok(Outcome::new(task.size, digest))
}

/// Redoes all steps; a unit is a step.
pub(in crate::felt) fn redo(task: &Task, clock: &mut dyn Clock) -> Result<Outcome, EngineError> {
    let (doc, text, mut manager) = scene();
    type_all(&doc, &text, &task.growing_places());
    while manager.undo_blocking() {}
    let mut steps = 0;
    clock.time(&mut || {
        while manager.redo_blocking() {
            steps += 1;
        }
    });
    let mut digest = Digest::of(&state(&doc)?);
    digest.number(steps);
    Ok(Outcome::new(task.size, digest))
}
