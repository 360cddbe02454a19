//! The suite *documents*: one editable document with metadata, an atomic string, a nested map and a list of objects.

use super::sample::{Scenario, sample};
use super::{Model, Objects, Op, Place, Value, same, wrong};
use crate::engine::EngineError;

/// Edits that each peer makes before they meet.
const OFFLINE: u32 = 100;
/// Peers that set the same key.
const PEERS: u64 = 16;

/// The steps that make a document with so many objects.
pub fn create(items: u32) -> Vec<Op> {
    let mut ops = vec![
        Op::Begin,
        Op::Set(Place::Meta, "title", "A document".into()),
        Op::Set(Place::Meta, "author", "somebody".into()),
        Op::Set(Place::Meta, "body", "Words that are replaced as a whole. ".repeat(8).as_str().into()),
        Op::Set(Place::Meta, "revision", Value::Int(0)),
        Op::Set(Place::Stats, "count", Value::Int(i64::from(items))),
    ];
    ops.extend((0..items).map(append));
    ops
}

fn append(number: u32) -> Op {
    Op::Append(vec![
        ("name", Value::Text(format!("object {number}"))),
        ("value", Value::Int(i64::from(number))),
    ])
}

fn edit(number: u32) -> Op {
    Op::Set(Place::Meta, "revision", Value::Int(i64::from(number)))
}

/// A change of one object by one of two peers; no two peers change the same.
fn offline_edit(peer: u32, number: u32) -> Op {
    Op::Set(Place::Item(number * 2 + peer), "value", Value::Int(i64::from(number) + 1_000_000))
}

fn made<E: Objects>(items: u32) -> Result<E, EngineError> {
    let mut doc = E::new(1);
    doc.commit(&create(items))?;
    Ok(doc)
}

/// Checks that the engine does all that the scenarios do, and gets what plain JSON gets.
///
/// # Errors
/// On the first difference.
pub fn check<E: Objects>() -> Result<(), EngineError> {
    for items in [0, 10, 1_000] {
        let mut model = Model::default();
        model.commit(&create(items))?;
        let mut doc = made::<E>(items)?;
        same(&doc, &model)?;
        let mut other = E::load(2, &doc.export()?)?;
        same(&other, &model)?;
        for ops in
            [vec![edit(7)], vec![append(items)], vec![Op::Set(Place::Item(items), "value", Value::Int(-5))]]
        {
            let version = other.version();
            doc.commit(&ops)?;
            model.commit(&ops)?;
            other.import(&doc.delta(&version)?)?;
            same(&doc, &model)?;
            same(&other, &model)?;
        }
        if doc.get(Place::Stats, "count") != Some(Value::Int(i64::from(items))) {
            return Err(wrong::<E>("read a nested number"));
        }
    }
    let (mut one, mut other) = apart::<E>()?;
    meet(&mut one, &mut other)?;
    let mut model = Model::default();
    model.commit(&create(1_000))?;
    for number in 0..OFFLINE {
        model.commit(&[offline_edit(0, number), offline_edit(1, number)])?;
    }
    same(&one, &model)?;
    same(&other, &model)?;
    let (mut first, deltas) = rivals::<E>()?;
    deltas.iter().try_for_each(|delta| first.import(delta))?;
    match first.get(Place::Meta, "title") {
        Some(Value::Text(title)) if title.starts_with("by peer ") => Ok(()),
        _ => Err(wrong::<E>("keep one of the values of a key")),
    }
}

/// Two peers with the same document who each made their edits without the other.
fn apart<E: Objects>() -> Result<(E, E), EngineError> {
    let mut one = made::<E>(1_000)?;
    let mut other = E::load(2, &one.export()?)?;
    for number in 0..OFFLINE {
        one.commit(&[offline_edit(0, number)])?;
        other.commit(&[offline_edit(1, number)])?;
    }
    Ok((one, other))
}

/// Both tell what they have, send what the other lacks, and take it in. Returns the bytes sent.
fn meet<E: Objects>(one: &mut E, other: &mut E) -> Result<usize, EngineError> {
    let (here, there) = (one.version(), other.version());
    let (to_there, to_here) = (one.delta(&there)?, other.delta(&here)?);
    one.import(&to_here)?;
    other.import(&to_there)?;
    Ok(here.len() + there.len() + to_there.len() + to_here.len())
}

/// One of sixteen peers that set the same key, and what the others did.
fn rivals<E: Objects>() -> Result<(E, Vec<Vec<u8>>), EngineError> {
    let state = made::<E>(10)?.export()?;
    let mut peers: Vec<E> = (0..PEERS).map(|peer| E::load(peer + 2, &state)).collect::<Result<_, _>>()?;
    let version = peers[0].version();
    let mut deltas = Vec::new();
    for (peer, number) in peers.iter_mut().zip(0..) {
        peer.commit(&[Op::Set(Place::Meta, "title", Value::Text(format!("by peer {number}")))])?;
        deltas.push(peer.delta(&version)?);
    }
    deltas.remove(0);
    Ok((peers.swap_remove(0), deltas))
}

/// Runs all scenarios.
pub fn run<E: Objects>() -> Vec<Scenario> {
    let mut all = Vec::new();
    for items in [10, 1_000] {
        all.extend(at_size::<E>(items));
    }
    all.push(sample("export/1000, the first time", 1, |watch| {
        let mut doc = made::<E>(1_000)?;
        watch.timed(|| doc.export()).map(|bytes| Some(bytes.len()))
    }));
    all.extend(on_one::<E>());
    for before in [0, 1_000, 5_000] {
        all.push(after_edits::<E>(before));
    }
    all.push(sample("offline merge of 100 edits a peer, both ways", 1, |watch| {
        let (mut one, mut other) = apart::<E>()?;
        watch.timed(|| meet(&mut one, &mut other)).map(Some)
    }));
    all.push(sample("16 peers set one key: one takes in the others", 1, |watch| {
        let (mut first, deltas) = rivals::<E>()?;
        watch.timed(|| deltas.iter().try_for_each(|delta| first.import(delta)))?;
        Ok(Some(deltas.iter().map(Vec::len).sum()))
    }));
    all
}

fn at_size<E: Objects>(items: u32) -> Vec<Scenario> {
    let ops = create(items);
    let runs = if items > 100 { 1 } else { 20 };
    let create_only = sample(format!("create/{items}"), runs, |watch| {
        watch.timed(|| {
            let mut doc = E::new(1);
            doc.commit(&ops).map(|()| doc)
        })?;
        Ok(None)
    });
    let create_encode = sample(format!("create and encode/{items}"), runs, |watch| {
        let bytes = watch.timed(|| {
            let mut doc = E::new(1);
            doc.commit(&ops)?;
            doc.export()
        })?;
        Ok(Some(bytes.len()))
    });
    let mut turn = 0;
    let mut pair = None;
    let round_trip = sample(format!("delta round trip/{items}"), 10, |watch| {
        if pair.is_none() {
            let mut doc = made::<E>(items)?;
            let other = E::load(2, &doc.export()?)?;
            pair = Some((doc, other));
        }
        let (doc, other) = pair.as_mut().expect("made above");
        turn += 1;
        let (read, bytes) = watch.timed(|| {
            let version = other.version();
            doc.commit(&[edit(turn)])?;
            let delta = doc.delta(&version)?;
            other.import(&delta)?;
            Ok((other.get(Place::Meta, "revision"), version.len() + delta.len()))
        })?;
        if read == Some(Value::Int(i64::from(turn))) {
            Ok(Some(bytes))
        } else {
            Err(wrong::<E>("bring an edit over"))
        }
    });
    let mut state = None;
    let load = sample(format!("load and read all/{items}"), runs, |watch| {
        if state.is_none() {
            state = Some(made::<E>(items)?.export()?);
        }
        let state = state.as_ref().expect("made above");
        let content = watch.timed(|| E::load(2, state)?.content())?;
        if content["items"].as_array().map(Vec::len) == Some(items as usize) {
            Ok(Some(state.len()))
        } else {
            Err(wrong::<E>("read all objects"))
        }
    });
    vec![create_only, create_encode, round_trip, load]
}

/// What is done to one document of 1,000 objects again and again.
fn on_one<E: Objects>() -> Vec<Scenario> {
    let mut doc = match made::<E>(1_000) {
        Ok(doc) => doc,
        Err(error) => {
            return vec![Scenario { name: "a document of 1,000 objects".to_owned(), result: Err(error) }];
        }
    };
    let export =
        sample("export/1000, again", 1, |watch| watch.timed(|| doc.export()).map(|bytes| Some(bytes.len())));
    let read =
        sample("read a nested count", 1_000, |watch| match watch.timed(|| doc.get(Place::Stats, "count")) {
            Some(Value::Int(1_000)) => Ok(None),
            _ => Err(wrong::<E>("read a nested number")),
        });
    let mut turn = 0;
    let encode = sample("edit and encode/1000", 1, |watch| {
        turn += 1;
        let bytes = watch.timed(|| doc.commit(&[edit(turn)]).and_then(|()| doc.export()))?;
        Ok(Some(bytes.len()))
    });
    let mut items = 1_000;
    let append_one = sample("append an object to 1000", 20, |watch| {
        items += 1;
        watch.timed(|| doc.commit(&[append(items)]))?;
        Ok(None)
    });
    vec![export, read, encode, append_one]
}

fn after_edits<E: Objects>(before: u32) -> Scenario {
    let mut doc = made::<E>(10);
    if let Ok(doc) = &mut doc {
        // An engine that refuses one of these refuses the first that is timed, too.
        let _ = (0..before).try_for_each(|number| doc.commit(&[edit(number)]));
    }
    let mut turn = before;
    sample(format!("commit one edit after {before}"), 20, |watch| {
        let doc = doc.as_mut().map_err(|_| wrong::<E>("make a document"))?;
        turn += 1;
        watch.timed(|| doc.commit(&[edit(turn)]))?;
        Ok(None)
    })
}
