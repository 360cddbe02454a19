//! Documents of objects: maps in maps, a list of maps, a collection of records. What applications keep.
//!
//! [`Op`] says what is done without naming an engine, [`Objects`] does it, [`model::Model`] says what must come out.
//! [`documents`] and [`records`] are the two suites.

use crate::engine::EngineError;

#[cfg(feature = "compare")]
mod automerge;
pub mod documents;
#[cfg(feature = "compare")]
mod loro;
mod model;
mod ours;
pub mod records;
mod sample;
mod theirs;
#[cfg(feature = "compare")]
mod y_octo;

#[cfg(feature = "compare")]
pub use automerge::Automerge;
#[cfg(feature = "compare")]
pub use loro::Loro;
pub use model::Model;
pub use ours::body::YObjects as Yatta;
pub use sample::{Sampled, Scenario};
pub use theirs::body::YObjects as Yrs;
#[cfg(feature = "compare")]
pub use y_octo::YOcto;

/// A value that is set and read whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A whole number.
    Int(i64),
    /// An atomic string.
    Text(String),
    /// A flag.
    Flag(bool),
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

/// A map of the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The root map `meta`.
    Meta,
    /// The map `stats` in the root map `nested`.
    Stats,
    /// An element of the root list `items`.
    Item(u32),
    /// A record of the root map `records`.
    Record(u32),
}

/// Keys and values of a new map.
pub type Fields = Vec<(&'static str, Value)>;

/// One step of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    /// Makes the containers. The first step of a new document, and only there.
    Begin,
    /// Sets a key.
    Set(Place, &'static str, Value),
    /// Adds to a number.
    Add(Place, &'static str, i64),
    /// Appends a map to `items`.
    Append(Fields),
    /// Puts a map into `records`.
    Put(u32, Fields),
}

/// The key of a record.
pub fn record_key(id: u32) -> String {
    format!("record-{id:05}")
}

/// An engine that keeps such a document.
pub trait Objects: Sized {
    /// The name shown in tables.
    const NAME: &'static str;

    /// Makes an empty document of a peer.
    fn new(peer: u64) -> Self;

    /// Does all steps in one transaction.
    ///
    /// # Errors
    /// If the engine refuses one.
    fn commit(&mut self, ops: &[Op]) -> Result<(), EngineError>;

    /// Reads a key.
    fn get(&self, place: Place, key: &str) -> Option<Value>;

    /// Writes the whole document.
    ///
    /// # Errors
    /// If the engine cannot.
    fn export(&mut self) -> Result<Vec<u8>, EngineError>;

    /// Reads a whole document for a peer.
    ///
    /// # Errors
    /// If the engine cannot read it.
    fn load(peer: u64, bytes: &[u8]) -> Result<Self, EngineError>;

    /// Writes what this peer has.
    fn version(&mut self) -> Vec<u8>;

    /// Writes what a peer of that version lacks.
    ///
    /// # Errors
    /// If the engine cannot read the version.
    fn delta(&mut self, version: &[u8]) -> Result<Vec<u8>, EngineError>;

    /// Takes in what another peer wrote.
    ///
    /// # Errors
    /// If the engine cannot read it.
    fn import(&mut self, delta: &[u8]) -> Result<(), EngineError>;

    /// Returns the whole content; root containers that are empty may be missing.
    ///
    /// # Errors
    /// If it has no JSON form.
    fn content(&self) -> Result<serde_json::Value, EngineError>;
}

/// Leaves out empty root containers and empty maps below them: some engines do not know of a root that nobody wrote to.
pub fn normal(mut content: serde_json::Value) -> serde_json::Value {
    let empty = |value: &serde_json::Value| match value {
        serde_json::Value::Object(map) => {
            map.values().all(|inner| inner.as_object().is_some_and(serde_json::Map::is_empty))
        }
        serde_json::Value::Array(list) => list.is_empty(),
        _ => false,
    };
    if let Some(roots) = content.as_object_mut() {
        roots.retain(|_, value| !empty(value));
    }
    content
}

/// Checks that an engine holds what the model holds.
///
/// # Errors
/// If it does not.
pub fn same<E: Objects>(engine: &E, model: &Model) -> Result<(), EngineError> {
    let (got, expected) = (normal(engine.content()?), normal(model.content()?));
    if got == expected {
        return Ok(());
    }
    let text = |value: &serde_json::Value| value.to_string().chars().take(200).collect::<String>();
    let cause = format!("{} instead of {}", text(&got), text(&expected));
    Err(EngineError { engine: E::NAME, action: "hold what was written", cause })
}

/// An engine gave something else than it should.
fn wrong<E: Objects>(what: &'static str) -> EngineError {
    EngineError { engine: E::NAME, action: what, cause: "something else came out".to_owned() }
}
