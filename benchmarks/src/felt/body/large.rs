//! A large document from the moment it arrives.

use super::krate::{GetString, Map, Transact};
use super::{apply, empty, missing, open};
use crate::clock::Clock;
use crate::engine::EngineError;
use crate::felt::{Digest, Outcome, Task};

/// Decodes and applies the state; a unit is a byte of text.
pub(in crate::felt) fn load(task: &Task, clock: &mut dyn Clock) -> Result<Outcome, EngineError> {
    let doc = empty(super::EDITOR);
    let text = doc.get_or_insert_text("text");
    let mut outcome = Ok(());
    clock.time(&mut || outcome = apply(&doc, &task.start));
    outcome?;
    let text = text.get_string(&doc.transact());
    Ok(Outcome::new(task.size, Digest::of(text.as_bytes())))
}

/// Reads the whole text; a unit is a byte of text.
pub(in crate::felt) fn read(task: &Task, clock: &mut dyn Clock) -> Result<Outcome, EngineError> {
    let (doc, text) = open(task, |doc| doc.get_or_insert_text("text"))?;
    let mut read = String::new();
    clock.time(&mut || read = text.get_string(&doc.transact()));
    Ok(Outcome::new(task.size, Digest::of(read.as_bytes())))
}

/// Reads one key of a map beside the text.
pub(in crate::felt) fn key(task: &Task, clock: &mut dyn Clock) -> Result<Outcome, EngineError> {
    let (doc, map) = open(task, |doc| doc.get_or_insert_map("map"))?;
    let mut read = None;
    clock.time(&mut || {
        for _ in 0..task.ops {
            read = map.get(&doc.transact(), "title");
        }
    });
    let read = read.ok_or_else(|| missing("the key"))?;
    Ok(Outcome::new(task.ops, Digest::of(read.to_string(&doc.transact()).as_bytes())))
}
