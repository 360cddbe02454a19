//! What cannot be applied yet: blocks whose dependencies are missing, and deletions of blocks that are.
//!
//! Both are kept as they would stand on the wire (V2, as Yjs keeps them), so that they cost their bytes and are
//! merged without a document.

use std::sync::OnceLock;

use crate::block::update::Update;
use crate::ids::{IdSet, StateVector};

/// Blocks that wait, as they are shown.
#[derive(Clone, Debug)]
pub struct PendingUpdate {
    /// The blocks.
    pub update: Update,
    /// The state of each client that is missed.
    pub missing: StateVector,
}

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
    /// The same, decoded when somebody looked at it.
    pub(crate) view: OnceLock<Box<PendingUpdate>>,
}

impl PendingStructs {
    /// Parks an update in V2 that misses these clocks.
    pub(crate) fn new(update: Vec<u8>, missing: StateVector) -> Self {
        Self { update, missing, view: OnceLock::new() }
    }

    /// What waits, decoded. Cost O(bytes), once.
    pub(crate) fn view(&self) -> &PendingUpdate {
        self.view.get_or_init(|| {
            let update = Update::read_trusted_v2(&self.update);
            let update = update.expect("parked blocks were decoded before they were parked");
            Box::new(PendingUpdate { update, missing: self.missing.clone() })
        })
    }
}
