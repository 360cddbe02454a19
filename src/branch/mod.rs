//! The node of a shared type, and its public handle.

pub(crate) mod node;
pub(crate) mod tree;

pub use crate::transaction::{Branch, BranchID, BranchPtr};
pub use crate::types::{Hook, Nested, Root};
