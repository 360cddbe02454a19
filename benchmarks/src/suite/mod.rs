//! The canonical suite, ids as in dmonad/crdt-benchmarks.
//!
//! Every benchmark draws from a generator seeded by its own id, so that leaving one out changes no other.

mod alphabet;
mod b1;
mod b2;
mod b3;
mod b4;
mod random;

pub use alphabet::Alphabet;
pub use b1::b1;
pub use b2::b2;
pub use b3::b3;
pub use b4::{b4, b4_times};
pub(crate) use random::Random;

/// The size of the published figures.
pub const N: u32 = 6000;
