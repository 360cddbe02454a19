//! What cannot be applied yet: blocks whose dependencies are missing, and deletions of blocks that are.
//!
//! Both are kept as they would stand on the wire (V2, as Yjs keeps them), so that they cost their bytes and are
//! merged without a document.

use crate::ids::{IdSet, StateVector};

/// Parked blocks and deletions.
#[derive(Default)]
pub(crate) struct Pending {
    pub(crate) structs: Option<PendingStructs>,
    pub(crate) deletes: IdSet,
}

/// Parked blocks and the clocks they wait for.
pub(crate) struct PendingStructs {
    /// An update in V2.
    pub(crate) update: Vec<u8>,
    /// The state of each client that is missed: worth a retry as soon as one of them moves.
    pub(crate) missing: StateVector,
}
