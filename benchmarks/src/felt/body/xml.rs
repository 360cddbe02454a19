//! XML: very wide and very deep.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::krate::{
    DeepObservable, Doc, GetString, Text, Transact, Xml, XmlElementPrelim, XmlFragment, XmlFragmentRef,
    XmlOut, XmlTextRef,
};
use super::{at_each, empty, missing, open, state};
use crate::clock::Clock;
use crate::engine::EngineError;
use crate::felt::{Digest, Outcome, Task};

fn fragment_of(task: &Task) -> Result<(Doc, XmlFragmentRef), EngineError> {
    open(task, |doc| doc.get_or_insert_xml_fragment("xml"))
}

/// Reads a child at a random index and its tag.
pub(in crate::felt) fn get(task: &Task, clock: &mut dyn Clock) -> Result<Outcome, EngineError> {
    let (doc, fragment) = fragment_of(task)?;
    let txn = doc.transact();
    let places = task.places(task.size - 1);
    let mut found = 0;
    clock.time(&mut || {
        for at in &places.timed {
            if let Some(XmlOut::Element(child)) = fragment.get(&txn, *at) {
                found += child.tag().len() as u64;
            }
        }
    });
    let mut digest = Digest::default();
    digest.number(found);
    Ok(Outcome::new(task.ops, digest))
}

/// Inserts a child at a random index, a transaction each.
pub(in crate::felt) fn insert(task: &Task, clock: &mut dyn Clock) -> Result<Outcome, EngineError> {
    let (doc, fragment) = fragment_of(task)?;
    let places = task.places(task.size);
    at_each(&places, clock, |at| {
        fragment.insert(&mut doc.transact_mut(), at, XmlElementPrelim::empty("p"));
    });
    Ok(Outcome::new(task.ops, Digest::of(&state(&doc)?)))
}

/// Sets an attribute of a child at a random index, a transaction each.
pub(in crate::felt) fn attribute(task: &Task, clock: &mut dyn Clock) -> Result<Outcome, EngineError> {
    let (doc, fragment) = fragment_of(task)?;
    let places = task.places(task.size - 1);
    at_each(&places, clock, |at| {
        let mut txn = doc.transact_mut();
        if let Some(XmlOut::Element(child)) = fragment.get(&txn, at) {
            child.insert_attribute(&mut txn, "class", "x");
        }
    });
    Ok(Outcome::new(task.ops, Digest::of(&state(&doc)?)))
}

/// Writes the whole tree as text; a unit is one element.
pub(in crate::felt) fn write(task: &Task, clock: &mut dyn Clock) -> Result<Outcome, EngineError> {
    let (doc, fragment) = fragment_of(task)?;
    let mut text = String::new();
    clock.time(&mut || text = fragment.get_string(&doc.transact()));
    Ok(Outcome::new(task.size, Digest::of(text.as_bytes())))
}

/// Builds a tree of elements, each inside the one before, a transaction each; a unit is one element.
pub(in crate::felt) fn nest(task: &Task, clock: &mut dyn Clock) -> Result<Outcome, EngineError> {
    let doc = empty(super::EDITOR);
    let fragment = doc.get_or_insert_xml_fragment("xml");
    clock.time(&mut || {
        let mut inner = fragment.push_back(&mut doc.transact_mut(), XmlElementPrelim::empty("div"));
        for _ in 1..task.size {
            inner = inner.push_back(&mut doc.transact_mut(), XmlElementPrelim::empty("div"));
        }
    });
    Ok(Outcome::new(task.size, Digest::of(&state(&doc)?)))
}

/// The text at the bottom of elements, each inside the one before.
fn bottom(doc: &Doc, fragment: &XmlFragmentRef) -> Result<XmlTextRef, EngineError> {
    let txn = doc.transact();
    let mut node = fragment.get(&txn, 0);
    loop {
        match node {
            Some(XmlOut::Element(element)) => node = element.get(&txn, 0),
            Some(XmlOut::Text(text)) => return Ok(text),
            _ => return Err(missing("the text at the bottom")),
        }
    }
}

/// Types at the bottom of a deep tree.
pub(in crate::felt) fn type_deep(task: &Task, clock: &mut dyn Clock) -> Result<Outcome, EngineError> {
    let (doc, fragment) = fragment_of(task)?;
    let text = bottom(&doc, &fragment)?;
    type_into(task, clock, &doc, &text)
}

/// As [`type_deep`], with an observer at the root that asks for the path.
pub(in crate::felt) fn observe_deep(task: &Task, clock: &mut dyn Clock) -> Result<Outcome, EngineError> {
    let (doc, fragment) = fragment_of(task)?;
    let text = bottom(&doc, &fragment)?;
    let heard = Arc::new(AtomicU64::new(0));
    let sum = Arc::clone(&heard);
    fragment.observe_deep("path", move |_, events| {
        for event in events.iter() {
            sum.fetch_add(event.path().len() as u64, Ordering::Relaxed);
        }
    });
    let mut outcome = type_into(task, clock, &doc, &text)?;
    outcome.digest.number(heard.load(Ordering::Relaxed));
    Ok(outcome)
}

fn type_into(
    task: &Task,
    clock: &mut dyn Clock,
    doc: &Doc,
    text: &XmlTextRef,
) -> Result<Outcome, EngineError> {
    clock.time(&mut || {
        for at in 0..task.ops {
            text.insert(&mut doc.transact_mut(), at, "x");
        }
    });
    Ok(Outcome::new(task.ops, Digest::of(&state(doc)?)))
}
