//! Arrays with many elements, each written on its own.

use super::krate::{Any, Array, ArrayRef, Doc, Out, Transact};
use super::{at_each, open, state};
use crate::clock::Clock;
use crate::engine::EngineError;
use crate::felt::{Digest, Outcome, Task};

fn array_of(task: &Task) -> Result<(Doc, ArrayRef), EngineError> {
    open(task, |doc| doc.get_or_insert_array("array"))
}

/// Reads an element at a random index.
pub(in crate::felt) fn get(task: &Task, clock: &mut dyn Clock) -> Result<Outcome, EngineError> {
    let (doc, array) = array_of(task)?;
    let txn = doc.transact();
    let places = task.places(array.len(&txn) - 1);
    let mut sum = 0.0;
    clock.time(&mut || {
        sum = places.timed.iter().filter_map(|at| array.get(&txn, *at)).map(|value| number(&value)).sum();
    });
    Ok(Outcome::new(task.ops, Digest::of(&f64::to_le_bytes(sum))))
}

/// Inserts an element at a random index, a transaction each.
pub(in crate::felt) fn insert(task: &Task, clock: &mut dyn Clock) -> Result<Outcome, EngineError> {
    let (doc, array) = array_of(task)?;
    let places = task.places(array.len(&doc.transact()));
    at_each(&places, clock, |at| {
        array.insert(&mut doc.transact_mut(), at, i64::from(at));
    });
    Ok(Outcome::new(task.ops, Digest::of(&state(&doc)?)))
}

/// Removes an element at a random index, a transaction each.
pub(in crate::felt) fn remove(task: &Task, clock: &mut dyn Clock) -> Result<Outcome, EngineError> {
    let (doc, array) = array_of(task)?;
    let places = task.places(array.len(&doc.transact()) / 2);
    at_each(&places, clock, |at| array.remove(&mut doc.transact_mut(), at));
    Ok(Outcome::new(task.ops, Digest::of(&state(&doc)?)))
}

/// Walks all elements; a unit is one of them.
pub(in crate::felt) fn iterate(task: &Task, clock: &mut dyn Clock) -> Result<Outcome, EngineError> {
    let (doc, array) = array_of(task)?;
    let txn = doc.transact();
    let mut sum = 0.0;
    clock.time(&mut || sum = array.iter(&txn).map(|value| number(&value)).sum());
    Ok(Outcome::new(task.size, Digest::of(&f64::to_le_bytes(sum))))
}

fn number(value: &Out) -> f64 {
    match value {
        Out::Any(any) => match any {
            Any::Number(number) => number.as_f64().unwrap_or(-3.0),
            _ => -1.0,
        },
        _ => -2.0,
    }
}
