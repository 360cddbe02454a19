//! The change of what a weak link quotes.

use super::Source;
use crate::transaction::BranchPtr;
use crate::types::Path;
use crate::types::weak::WeakRef;

/// What a weak link quotes changed: elements came, went or were replaced.
pub struct WeakEvent {
    source: Source,
}

impl WeakEvent {
    pub(super) fn new(source: Source) -> Self {
        Self { source }
    }

    /// Returns the link.
    pub fn as_target<T: From<BranchPtr>>(&self) -> WeakRef<T> {
        WeakRef::from(self.source.target.clone())
    }

    /// Returns the way from the observed type down to the link.
    pub fn path(&self) -> Path {
        self.source.path.clone()
    }
}
