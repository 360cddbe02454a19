//! Writing an [`Any`] by serde, and turning other types into one.
use super::Any;
use serde::Serialize;

/// Turns a serializable value into an [`Any`].
///
/// # Errors
/// When `Any` cannot hold it.
pub fn to_any<T: Serialize>(_value: &T) -> Result<Any, AnySerializeError> {
    unimplemented!()
}

/// Says why a value cannot be held by an [`Any`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AnySerializeError {
    /// An integer above `i64::MAX`.
    #[error("an integer above i64::MAX cannot be held")]
    UnrepresentableInt,
    /// A key of a map that is not a string.
    #[error("a key of a map must be a string")]
    MapKeyNotString,
    /// Something else.
    #[error("{0}")]
    Custom(String),
}
