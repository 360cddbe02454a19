//! Events of a document as a whole.

use super::TransactionMut;
use crate::ids::{IdSet, StateVector};

/// The update of a transaction, as given to `observe_update_v1` and `observe_update_v2`.
pub struct UpdateEvent {
    /// The update in V1 or V2: new blocks and deletions of the transaction.
    pub update: Vec<u8>,
}

/// What a transaction changed, after the commit has tidied up.
#[derive(Clone, Debug)]
pub struct TransactionCleanupEvent {
    /// The state vector before the transaction.
    pub before_state: StateVector,
    /// The state vector after it.
    pub after_state: StateVector,
    /// What it deleted.
    pub delete_set: IdSet,
}

impl TransactionCleanupEvent {
    /// Reads the summary off a transaction.
    pub fn new(txn: &TransactionMut<'_>) -> Self {
        Self {
            before_state: txn.before_state().clone(),
            after_state: txn.after_state().clone(),
            delete_set: txn.delete_set().clone(),
        }
    }
}
