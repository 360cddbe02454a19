//! [`Any`] as JSON text, exactly as `JSON.parse` reads and `JSON.stringify` writes it.
//!
//! Neither uses the machine's stack for nesting, so a text of a peer cannot overflow it.

mod number;
mod parse;
mod write;

pub(super) use parse::{Integers, parse};
pub(super) use write::write;
