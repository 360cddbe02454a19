//! Sticky indices: a thousand cursors that others look at while somebody types.

use super::krate::{Assoc, Doc, IndexedSequence, StickyIndex, Text, TextRef, Transact};
use super::{at_each, missing, open};
use crate::clock::Clock;
use crate::engine::EngineError;
use crate::felt::{CURSORS, Digest, Outcome, Task};

fn text_of(task: &Task) -> Result<(Doc, TextRef), EngineError> {
    open(task, |doc| doc.get_or_insert_text("text"))
}

fn cursors(doc: &Doc, text: &TextRef, places: &[u32]) -> Result<Vec<StickyIndex>, EngineError> {
    let txn = doc.transact();
    let made = places.iter().map(|at| text.sticky_index(&txn, *at, Assoc::After));
    made.collect::<Option<_>>().ok_or_else(|| missing("a place for a cursor"))
}

/// Makes a sticky index at a random place.
pub(in crate::felt) fn create(task: &Task, clock: &mut dyn Clock) -> Result<Outcome, EngineError> {
    let (doc, text) = text_of(task)?;
    let places = task.places(text.len(&doc.transact()) - 1);
    let mut made = Ok(Vec::new());
    clock.time(&mut || made = cursors(&doc, &text, &places.timed));
    Ok(Outcome::new(task.ops, digest(&doc, &made?)))
}

/// A character at a random place, then one of the cursors is asked where it is; a unit is both.
pub(in crate::felt) fn typing(task: &Task, clock: &mut dyn Clock) -> Result<Outcome, EngineError> {
    let (doc, text) = text_of(task)?;
    let len = text.len(&doc.transact());
    let cursors = cursors(&doc, &text, &task.spread(CURSORS, len - 1))?;
    let places = task.places(len);
    let mut sum = 0;
    let mut asked = cursors.iter().cycle();
    at_each(&places, clock, |at| {
        text.insert(&mut doc.transact_mut(), at, "x");
        let found = asked.next().and_then(|cursor| cursor.get_offset(&doc.transact()));
        sum += found.map_or(0, |found| u64::from(found.index));
    });
    let mut digest = digest(&doc, &cursors);
    digest.number(sum);
    Ok(Outcome::new(task.ops, digest))
}

fn digest(doc: &Doc, cursors: &[StickyIndex]) -> Digest {
    let txn = doc.transact();
    let mut digest = Digest::default();
    // In yrs each costs a walk through the text: a few tell whether they are right.
    for cursor in cursors.iter().step_by(cursors.len() / 20 + 1) {
        digest.number(cursor.get_offset(&txn).map_or(u64::MAX, |found| u64::from(found.index)));
    }
    digest
}
