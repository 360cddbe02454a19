//! What users feel and the B-suite does not show: marks, large containers, many clients, undo, presence.
//!
//! [`cases`] lists the workloads; each has one source (`body/`) that is compiled against both engines, gets the same
//! start state, and says what came out ([`Digest`]), so that the engines can be compared before they are timed. Each is
//! measured at three sizes: a cost per unit that grows with the size is what a user feels.

mod cases;
mod ours;
pub mod start;
mod task;
mod theirs;

pub use cases::{Amount, Case, Run, cases};
pub use task::{Digest, Material, Outcome, Places, Task};

/// Cursors in a document whose sticky indices are asked for.
pub const CURSORS: u32 = 1_000;

/// The name of key number `n`.
pub(crate) fn key(n: u32) -> String {
    format!("key{n}")
}
