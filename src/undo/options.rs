//! Options of an undo manager.

use std::collections::HashSet;
use std::sync::Arc;

use super::StackItem;
use crate::clock::{Clock, SystemClock};
use crate::transaction::{Origin, TransactionMut};

/// What a stack item may carry besides its changes, for instance a selection.
pub trait Meta: Default + Send {}

impl<M: Default + Send> Meta for M {}

/// Decides whether an undo manager captures a transaction.
pub type CaptureTransactionFn = Arc<dyn Fn(&TransactionMut<'_>) -> bool + Send + Sync + 'static>;

/// How an [`UndoManager`](super::UndoManager) behaves.
pub struct Options<M> {
    /// Changes that follow each other within this many milliseconds make one step; so do changes after which the clock runs
    /// backwards, as in Yjs, even if this is 0. Default: 500.
    pub capture_timeout_millis: u64,
    /// The origins of transactions that are captured. While there are none, those without an origin are. Default: none.
    pub tracked_origins: HashSet<Origin>,
    /// Is asked about each transaction; what it refuses is not captured. Default: everything is.
    pub capture_transaction: Option<CaptureTransactionFn>,
    /// Tells the time. Default: the time of the operating system.
    pub timestamp: Arc<dyn Clock>,
    /// The steps that can be undone from the start, the last one first. Default: none.
    pub init_undo_stack: Vec<StackItem<M>>,
    /// The steps that can be redone from the start, the last one first. Default: none.
    pub init_redo_stack: Vec<StackItem<M>>,
}

impl<M> Default for Options<M> {
    fn default() -> Self {
        Self {
            capture_timeout_millis: 500,
            tracked_origins: HashSet::new(),
            capture_transaction: None,
            timestamp: Arc::new(SystemClock),
            init_undo_stack: Vec::new(),
            init_redo_stack: Vec::new(),
        }
    }
}

impl<M> std::fmt::Debug for Options<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options")
            .field("capture_timeout_millis", &self.capture_timeout_millis)
            .field("tracked_origins", &self.tracked_origins)
            .finish_non_exhaustive()
    }
}
