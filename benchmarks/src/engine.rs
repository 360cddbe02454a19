//! What a benchmark needs from an engine, and nothing more.

use std::fmt;

use crate::edit::Edit;
use crate::log::SharedLog;

/// The two update encodings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The first encoding, the one on the wire of most servers.
    V1,
    /// The column encoding.
    V2,
}

impl Format {
    /// Both encodings.
    pub const BOTH: [Self; 2] = [Self::V1, Self::V2];
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::V1 => "V1",
            Self::V2 => "V2",
        })
    }
}

/// An engine refused something that a benchmark asked for.
#[derive(Debug)]
pub struct EngineError {
    /// Name of the engine.
    pub engine: &'static str,
    /// What was asked for.
    pub action: &'static str,
    /// What the engine said.
    pub cause: String,
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} could not {}: {}", self.engine, self.action, self.cause)
    }
}

impl std::error::Error for EngineError {}

/// A document with the roots `text`, `array` and `map`, whose text is indexed in UTF-16 units.
pub trait Engine: Sized {
    /// The name shown in tables.
    const NAME: &'static str;

    /// Whether it writes the clients of a delete set in descending order, as Yjs does.
    const DESCENDING: bool;

    /// Makes an empty document for the given client.
    fn new(client: u64) -> Self;

    /// Performs the edits in one transaction.
    fn edit(&mut self, edits: &[Edit]);

    /// Sends every update (V1) to the log, until [`Engine::stop_recording`].
    ///
    /// # Errors
    /// If the document is busy.
    fn record(&self, log: &SharedLog) -> Result<(), EngineError>;

    /// Ends [`Engine::record`].
    ///
    /// # Errors
    /// If the document is busy.
    fn stop_recording(&self) -> Result<(), EngineError>;

    /// Decodes one update and applies it, in a transaction of its own.
    ///
    /// # Errors
    /// If the engine cannot decode or apply it.
    fn apply(&mut self, format: Format, update: &[u8]) -> Result<(), EngineError>;

    /// Decodes updates (V1) and applies all of them in one transaction.
    ///
    /// # Errors
    /// If the engine cannot decode or apply one.
    fn apply_all<'u>(&mut self, updates: impl Iterator<Item = &'u [u8]>) -> Result<(), EngineError>;

    /// Encodes the whole document.
    fn state(&self, format: Format) -> Vec<u8>;

    /// Encodes the ids of everything deleted, as the delete set of a V1 update.
    fn delete_set(&self) -> Vec<u8>;

    /// Returns the text.
    fn text(&self) -> String;

    /// Returns the content of all three roots.
    ///
    /// # Errors
    /// If a value has no JSON form.
    fn content(&self) -> Result<serde_json::Value, EngineError>;

    /// Merges updates (V1) without a document.
    ///
    /// # Errors
    /// If the engine cannot decode one.
    fn merge(updates: &[&[u8]]) -> Result<Vec<u8>, EngineError>;

    /// Makes a document that holds the given state.
    ///
    /// # Errors
    /// If the engine cannot decode or apply it.
    fn load(client: u64, format: Format, state: &[u8]) -> Result<Self, EngineError> {
        let mut doc = Self::new(client);
        doc.apply(format, state)?;
        Ok(doc)
    }
}
