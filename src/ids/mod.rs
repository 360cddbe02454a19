//! Sets of ids, and what is built from them (layer 1: below it only the encoding crate).
//!
//! | Module | What it holds |
//! |---|---|
//! | `block_range` | a run of clocks of one client |
//! | `id_ranges` | the sorted ranges of one client, each with a value; their algebra |
//! | `client_map` | an ordered map from client id, cheap for a few clients |
//! | `client_ranges` | ranges of many clients: the core of `IdSet` and `IdMap` |
//! | `id_set` | `IdSet`: delete sets, insert sets, undo ranges |
//! | `id_map` | `IdMap`: id ranges with attributes |
//! | `state_vector` | `StateVector`: the next clock of each client |
//! | `snapshot` | `Snapshot`: a state vector and a delete set |
//! | `wire` | the clock columns of a delete set in V1 and V2 |
//! | `sticky` | `StickyIndex`, an element or type and a side |
//! | `client_hasher` | the hasher in the signature of `StateVector::new` |
//!
//! All of them iterate in ascending order of client ids and write in descending order, as Yjs
//! does; all of them obey I8 (sorted, disjoint, not touching), whatever a peer sent.

mod block_range;
mod client_hasher;
mod client_map;
mod client_ranges;
mod id_map;
mod id_ranges;
mod id_set;
mod snapshot;
mod state_vector;
mod sticky;
mod wire;

#[cfg(test)]
mod tests;

pub use self::block_range::BlockRange;
pub use self::id_map::{AttrRange, ContentAttribute, ContentAttributes, Diff, IdMap};
pub use self::id_set::IdSet;
pub use self::snapshot::Snapshot;
pub use self::state_vector::StateVector;
pub use self::sticky::{Assoc, IndexScope, StickyIndex};
