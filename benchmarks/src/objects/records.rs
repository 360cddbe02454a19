//! The suite *records*: a collection of to-do records, a map each, in memory.

use std::time::{Duration, Instant};

use super::sample::{Scenario, sample};
use super::{Fields, Model, Objects, Op, Place, Value, same, wrong};
use crate::engine::EngineError;

/// Records in the store.
pub const RECORDS: u32 = 1_000;
/// The record that a cold start reads.
const READ: u32 = 500;

fn fields(id: u32) -> Fields {
    vec![
        ("title", Value::Text(format!("To do number {id}"))),
        ("done", Value::Flag(id.is_multiple_of(3))),
        ("priority", Value::Int(i64::from(id % 5))),
        ("owner", Value::Text(format!("owner {}", id % 7))),
        ("counter", Value::Int(0)),
    ]
}

fn fill(from: u32, count: u32) -> Vec<Op> {
    (from..from + count).map(|id| Op::Put(id, fields(id))).collect()
}

fn store<E: Objects>() -> Result<E, EngineError> {
    let mut doc = E::new(1);
    doc.commit(&[Op::Begin])?;
    doc.commit(&fill(0, RECORDS))?;
    Ok(doc)
}

/// Checks that the engine does all that the scenarios do, and gets what plain JSON gets.
///
/// # Errors
/// On the first difference.
pub fn check<E: Objects>() -> Result<(), EngineError> {
    let mut doc = store::<E>()?;
    let mut model = Model::default();
    model.commit(&[Op::Begin])?;
    let ops = [
        fill(0, RECORDS),
        fill(RECORDS, 1),
        vec![Op::Set(Place::Record(3), "done", Value::Flag(true))],
        vec![Op::Add(Place::Record(3), "counter", 2), Op::Add(Place::Record(3), "counter", 3)],
    ];
    for (number, ops) in ops.iter().enumerate() {
        model.commit(ops)?;
        if number > 0 {
            doc.commit(ops)?;
        }
        same(&doc, &model)?;
    }
    same(&E::load(2, &doc.export()?)?, &model)
}

/// Runs all scenarios in memory.
pub fn run<E: Objects>() -> Vec<Scenario> {
    let mut doc = match store::<E>() {
        Ok(doc) => doc,
        Err(error) => {
            return vec![Scenario { name: "a store of 1,000 records".to_owned(), result: Err(error) }];
        }
    };
    let mut turn = 0;
    let mut id = RECORDS;
    let insert = sample("insert into 1000", 20, |watch| {
        id += 1;
        let ops = [Op::Put(id, fields(id))];
        watch.timed(|| doc.commit(&ops)).map(|()| None)
    });
    let update = sample("update a field", 20, |watch| {
        turn += 1;
        let ops = [Op::Set(Place::Record(turn % RECORDS), "priority", Value::Int(i64::from(turn)))];
        watch.timed(|| doc.commit(&ops)).map(|()| None)
    });
    let read = sample("read a record's title", 200, |watch| {
        turn += 1;
        match watch.timed(|| doc.get(Place::Record(turn % RECORDS), "title")) {
            Some(Value::Text(_)) => Ok(None),
            _ => Err(wrong::<E>("read a title")),
        }
    });
    let increment = sample("increment a counter", 20, |watch| {
        turn += 1;
        let ops = [Op::Add(Place::Record(turn % RECORDS), "counter", 1)];
        watch.timed(|| doc.commit(&ops)).map(|()| None)
    });
    let bulk = fill(0, RECORDS);
    let at_once = sample("insert 1000 at once", 1, |watch| {
        let mut doc = E::new(1);
        doc.commit(&[Op::Begin])?;
        watch.timed(|| doc.commit(&bulk)).map(|()| None)
    });
    let mut source = store::<E>();
    let replicate = sample("replicate the store to an empty replica", 1, |watch| {
        let source = source.as_mut().map_err(|_| wrong::<E>("make a store"))?;
        let (replica, bytes) = watch.timed(|| {
            let bytes = source.export()?;
            Ok((E::load(2, &bytes)?, bytes.len()))
        })?;
        match replica.get(Place::Record(READ), "counter") {
            Some(Value::Int(0)) => Ok(Some(bytes)),
            _ => Err(wrong::<E>("replicate a record")),
        }
    });
    vec![insert, update, read, increment, at_once, replicate]
}

/// The store as bytes, for a cold start.
///
/// # Errors
/// If the engine cannot make or write it.
pub fn stored<E: Objects>() -> Result<Vec<u8>, EngineError> {
    store::<E>()?.export()
}

/// Opens a store and reads one record: what a fresh process does first.
///
/// # Errors
/// If the engine cannot read it.
pub fn cold_start<E: Objects>(bytes: &[u8]) -> Result<Duration, EngineError> {
    let start = Instant::now();
    let read = E::load(2, bytes)?.get(Place::Record(READ), "title");
    let elapsed = start.elapsed();
    match read {
        Some(Value::Text(_)) => Ok(elapsed),
        _ => Err(wrong::<E>("read a title")),
    }
}
