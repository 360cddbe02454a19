//! Maps with many keys, and one key that is set again and again.

use super::krate::{Doc, Map, MapRef, ReadTxn, StateVector, Transact};
use super::{apply, empty, missing, open, state};
use crate::clock::Clock;
use crate::engine::EngineError;
use crate::felt::{Digest, Outcome, Task, key};

fn map_of(task: &Task) -> Result<(Doc, MapRef), EngineError> {
    open(task, |doc| doc.get_or_insert_map("map"))
}

fn keys(task: &Task) -> Vec<String> {
    task.places(task.size - 1).timed.into_iter().map(key).collect()
}

/// Reads a random key.
pub(in crate::felt) fn get(task: &Task, clock: &mut dyn Clock) -> Result<Outcome, EngineError> {
    let (doc, map) = map_of(task)?;
    let (txn, keys) = (doc.transact(), keys(task));
    let mut found = Vec::with_capacity(keys.len());
    clock.time(&mut || found.extend(keys.iter().map(|key| map.get(&txn, key))));
    let mut digest = Digest::default();
    for value in found {
        let value = value.ok_or_else(|| missing("a key"))?;
        digest.bytes(value.to_string(&txn).as_bytes());
    }
    Ok(Outcome::new(task.ops, digest))
}

/// Sets a random key that has a value, a transaction each.
pub(in crate::felt) fn set(task: &Task, clock: &mut dyn Clock) -> Result<Outcome, EngineError> {
    let (doc, map) = map_of(task)?;
    let keys = keys(task);
    clock.time(&mut || {
        for key in &keys {
            map.insert(&mut doc.transact_mut(), key.as_str(), 7_i64);
        }
    });
    Ok(Outcome::new(task.ops, Digest::of(&state(&doc)?)))
}

/// Walks all keys; a unit is one of them.
pub(in crate::felt) fn iterate(task: &Task, clock: &mut dyn Clock) -> Result<Outcome, EngineError> {
    let (doc, map) = map_of(task)?;
    let txn = doc.transact();
    let mut seen = (0, 0);
    clock.time(&mut || {
        seen = map.iter(&txn).fold((0, 0), |(count, length), (key, _)| (count + 1, length + key.len()));
    });
    let mut digest = Digest::default();
    digest.number(seen.0);
    digest.number(seen.1 as u64);
    Ok(Outcome::new(task.size, digest))
}

/// Makes all keys, a transaction each; a unit is one of them.
pub(in crate::felt) fn fill(task: &Task, clock: &mut dyn Clock) -> Result<Outcome, EngineError> {
    let doc = empty(super::EDITOR);
    let map = doc.get_or_insert_map("map");
    let keys: Vec<String> = (0..task.size).map(key).collect();
    clock.time(&mut || {
        for key in &keys {
            map.insert(&mut doc.transact_mut(), key.as_str(), 7_i64);
        }
    });
    Ok(Outcome::new(task.size, Digest::of(&state(&doc)?)))
}

/// Sets one key again and again, a transaction each; a unit is one of them.
pub(in crate::felt) fn one_key(task: &Task, clock: &mut dyn Clock) -> Result<Outcome, EngineError> {
    let doc = empty(super::EDITOR);
    let map = doc.get_or_insert_map("map");
    clock.time(&mut || {
        for value in 0..task.size {
            map.insert(&mut doc.transact_mut(), "key", i64::from(value));
        }
    });
    Ok(Outcome::new(task.size, Digest::of(&state(&doc)?)))
}

/// Loads what [`one_key`] leaves, reads the key; a unit is one time it was set.
pub(in crate::felt) fn one_key_load(task: &Task, clock: &mut dyn Clock) -> Result<Outcome, EngineError> {
    let written = empty(super::EDITOR);
    let map = written.get_or_insert_map("map");
    for value in 0..task.size {
        map.insert(&mut written.transact_mut(), "key", i64::from(value));
    }
    let state = written.transact().encode_state_as_update_v1(&StateVector::default());
    let doc = empty(super::EDITOR + 1);
    let map = doc.get_or_insert_map("map");
    let mut outcome = Ok(());
    let mut read = None;
    clock.time(&mut || {
        outcome = apply(&doc, &state);
        read = map.get(&doc.transact(), "key");
    });
    outcome?;
    let read = read.ok_or_else(|| missing("the key"))?;
    Ok(Outcome::new(task.size, Digest::of(read.to_string(&doc.transact()).as_bytes())))
}
