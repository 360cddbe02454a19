//! Errors of documents and updates (layer 0).

use yatta_encoding::ID;

/// Something that a document could not do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Bytes could not be read.
    #[error("{0}")]
    ReadError(#[from] yatta_encoding::Error),
    /// An update could not be applied.
    #[error("failed to apply update: {0}")]
    UpdateError(#[from] UpdateError),
    /// A snapshot of a document that collects deleted content.
    #[error("this needs a document that keeps deleted content (`Options::skip_gc`)")]
    Gc,
    /// A snapshot of a document that knew more than this one.
    #[error("the snapshot is of another document, or of a later state than this one")]
    SnapshotAhead,
}

/// An update could not be applied.
#[derive(Debug, thiserror::Error)]
pub enum UpdateError {
    /// A block names a parent that is neither a shared type nor deleted.
    #[error("the parent of block {0} must be a shared type or deleted (content kind {1})")]
    InvalidParent(ID, u8),
}

/// A call that does not fit the document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// An index or a range beyond the end.
    #[error("{index}..{end} is out of the bounds of a sequence of length {len}")]
    OutOfBounds {
        /// Where the range begins.
        index: u32,
        /// Where it ends (exclusive); for an insert the same.
        end: u64,
        /// The length of the sequence, in the units of the call.
        len: u32,
    },
    /// The shared type was deleted and collected.
    #[error("the shared type was deleted and collected")]
    Collected,
    /// The transaction is one of another document.
    #[error("the shared type belongs to another document than the transaction")]
    OtherDocument,
}
