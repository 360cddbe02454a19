//! What can be wrong with bytes: [`Error`].

use std::any::type_name;
use std::collections::TryReserveError;
use std::fmt;

/// Says why bytes (or JSON, or a value) could not be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A variable-length number does not fit its type.
    #[error("a variable-length number is too large for its type")]
    InvalidVarInt,
    /// The input ended before the given number of bytes that were still needed.
    #[error("the input ended where {0} more bytes were needed")]
    EndOfBuffer(usize),
    /// A tag or a count holds a value that has no meaning.
    #[error("a value was read that has no meaning here")]
    UnexpectedValue,
    /// Memory could not be reserved.
    #[error("no memory: {0}")]
    NotEnoughMemory(#[from] TryReserveError),
    /// A text is not JSON.
    #[error("invalid JSON: {0}")]
    InvalidJSON(#[from] serde_json::Error),
    /// A value is of another type than the one asked for.
    #[error("the value cannot be turned into {0}")]
    TypeMismatch(&'static str),
    /// The structure of the bytes is broken.
    #[cfg(not(feature = "yrs-0-28-0"))]
    #[error("malformed update: {0}")]
    Malformed(MalformedKind),
    /// Something else, said in words.
    #[error("{0}")]
    Custom(String),
}

impl Error {
    /// Makes the error for bytes that are wrong at an offset into the input (in the second format: into the part that
    /// holds the value), in the way that `what` says.
    ///
    /// It is no variant of its own because users match on those of yrs, all of them.
    #[cold]
    pub(crate) fn invalid(at: usize, what: &str) -> Self {
        Self::Custom(format!("at byte {at}: {what}"))
    }

    /// Makes the error for bytes whose structure is broken: that variant does not exist under the feature `yrs-0-28-0`.
    #[doc(hidden)]
    #[cold]
    pub fn malformed(kind: MalformedKind) -> Self {
        #[cfg(feature = "yrs-0-28-0")]
        return Self::Custom(format!("malformed update: {kind}"));
        #[cfg(not(feature = "yrs-0-28-0"))]
        Self::Malformed(kind)
    }

    /// Makes the error for a value that cannot become a `T`.
    pub fn type_mismatch<T>() -> Self {
        Self::TypeMismatch(type_name::<T>())
    }
}

impl serde::de::Error for Error {
    fn custom<T: fmt::Display>(msg: T) -> Self {
        Self::Custom(msg.to_string())
    }
}

/// Says how bytes are malformed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MalformedKind {
    /// A string is not UTF-8.
    Utf8,
    /// A block has no length.
    EmptyBlock,
}

impl fmt::Display for MalformedKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Utf8 => "a string is not UTF-8",
            Self::EmptyBlock => "a block has no length",
        })
    }
}
