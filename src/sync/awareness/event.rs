//! What changed among the states: `Event` and `AwarenessUpdateSummary`.

use serde::{Deserialize, Serialize};
use yatta_encoding::ClientID;

/// Which states an update changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AwarenessUpdateSummary {
    /// Clients that were not known before.
    pub added: Vec<ClientID>,
    /// Clients that gave a state again, be it the same as before.
    pub updated: Vec<ClientID>,
    /// Clients whose state is gone. As in Yjs this one is here too if a peer tried to remove its state: the state
    /// stays, but peers must be told so.
    pub removed: Vec<ClientID>,
}

impl AwarenessUpdateSummary {
    /// Returns the added, updated and removed clients, in this order.
    pub fn all_changes(&self) -> Vec<ClientID> {
        [&self.added[..], &self.updated[..], &self.removed[..]].concat()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.added.is_empty() && self.updated.is_empty() && self.removed.is_empty()
    }
}

/// Tells observers of an [`Awareness`](super::Awareness) what changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    summary: AwarenessUpdateSummary,
}

impl Event {
    /// Makes an event.
    pub fn new(added: Vec<ClientID>, updated: Vec<ClientID>, removed: Vec<ClientID>) -> Self {
        Self { summary: AwarenessUpdateSummary { added, updated, removed } }
    }

    pub(super) fn into_summary(self) -> AwarenessUpdateSummary {
        self.summary
    }

    /// Returns all that changed.
    pub fn summary(&self) -> &AwarenessUpdateSummary {
        &self.summary
    }

    /// Returns the clients that were not known before.
    pub fn added(&self) -> &[ClientID] {
        &self.summary.added
    }

    /// Returns the clients that gave a state again; for a change observer only those whose state is another now.
    pub fn updated(&self) -> &[ClientID] {
        &self.summary.updated
    }

    /// Returns the clients whose state is gone.
    pub fn removed(&self) -> &[ClientID] {
        &self.summary.removed
    }

    /// Returns the added, updated and removed clients, in this order.
    pub fn all_changes(&self) -> Vec<ClientID> {
        self.summary.all_changes()
    }
}
