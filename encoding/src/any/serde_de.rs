//! Reading an [`Any`] by serde, and reading other types from one.
use super::Any;
use crate::error::Error;
use serde::Deserialize;

/// Reads a `T` out of a value.
///
/// # Errors
/// When the value is not a `T`.
pub fn from_any<'de, T: Deserialize<'de>>(_any: &'de Any) -> Result<T, Error> {
    unimplemented!()
}

/// Lets serde read from an [`Any`].
#[derive(Debug)]
pub struct AnyDeserializer<'a> {
    #[expect(dead_code, reason = "to be filled in")]
    value: &'a Any,
}
