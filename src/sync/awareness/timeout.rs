//! Clients that went away without saying so: the time-out of states. Somebody else supplies the time and the timer.

use yatta_encoding::ClientID;

use super::{Awareness, AwarenessUpdateSummary};
use crate::clock::Timestamp;
use crate::transaction::Origin;

/// After so many milliseconds without a word a client counts as gone. The same in all implementations of Yjs.
pub const OUTDATED_TIMEOUT: Timestamp = 30_000;

/// How often [`Awareness::check_timeouts`] is to be called, in milliseconds: as often as Yjs does.
pub const CHECK_INTERVAL: Timestamp = OUTDATED_TIMEOUT / 10;

impl Awareness {
    /// Renews the local state if it was last sent half of [`OUTDATED_TIMEOUT`] ago, and removes the states of clients
    /// that said nothing for as long. To be called every [`CHECK_INTERVAL`]; `now` is in milliseconds, of the same clock
    /// that this awareness uses. Observers see the removals with the origin `timeout`.
    ///
    /// Returns what must be told to peers, if there is anything. Cost O(clients).
    pub fn check_timeouts(&mut self, now: Timestamp) -> Option<AwarenessUpdateSummary> {
        let own = self.client_id();
        let mut summary = AwarenessUpdateSummary::default();
        let local = self.states.get(&own);
        let stale = local.filter(|state| now.saturating_sub(state.last_updated) >= OUTDATED_TIMEOUT / 2);
        if let Some(json) = stale.and_then(|state| state.data.clone()) {
            self.set_local(json, now);
            summary.updated.push(own);
        }
        let outdated = self.states.iter().filter(|(client, state)| {
            **client != own
                && state.data.is_some()
                && now.saturating_sub(state.last_updated) >= OUTDATED_TIMEOUT
        });
        summary.removed = outdated.map(|(client, _)| *client).collect::<Vec<ClientID>>();
        if !summary.removed.is_empty() {
            self.remove_states(summary.removed.iter().copied(), Some(Origin::from("timeout")));
        }
        (!summary.is_empty()).then_some(summary)
    }
}
