//! Who is there: the awareness of a room, with the connection that refreshed each client last.
//!
//! A connection may speak for several clients (tabs that relay for each other over a BroadcastChannel). When it goes, those
//! that it refreshed last are gone; what another connection refreshed since stays. States are relayed, never looked into.
//! Cost O(clients of a message).

use std::time::{Duration, Instant};

use indexmap::IndexMap;

use crate::wire::presence::{Entry, write};

/// As in y-protocols: who was not refreshed for so long is gone.
const OUTDATED: Duration = Duration::from_secs(30);
/// How long it is remembered that a client left, so that an older message does not bring it back.
const REMEMBERED: Duration = Duration::from_secs(120);

/// Names a peer in its room.
pub type PeerId = u64;

/// Bounds on what a room keeps of its clients.
#[derive(Clone, Copy, Debug)]
pub struct PresenceLimits {
    /// Clients that one connection may speak for.
    pub clients_per_peer: usize,
    /// Bytes of one state.
    pub state_bytes: usize,
}

/// A message went beyond the limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooMuch;

struct Client {
    clock: u32,
    /// `None` after the client left.
    state: Option<Box<str>>,
    owner: PeerId,
    refreshed: Instant,
}

/// The clients of a room.
#[derive(Default)]
pub struct Presence {
    clients: IndexMap<u64, Client>,
}

impl Presence {
    /// Takes states in, as y-protocols does: a higher clock wins, at the same clock only leaving does. Returns the payload
    /// for the peers, if anything was news.
    ///
    /// # Errors
    /// [`TooMuch`]; then nothing was taken.
    pub fn apply(
        &mut self,
        owner: PeerId,
        entries: &[Entry<'_>],
        limits: &PresenceLimits,
        now: Instant,
    ) -> Result<Option<Vec<u8>>, TooMuch> {
        if entries.iter().any(|entry| entry.state.len() > limits.state_bytes) {
            return Err(TooMuch);
        }
        let owned = self.clients.iter().filter(|(id, client)| {
            client.owner == owner && !entries.iter().any(|entry| entry.client == **id)
        });
        if owned.count() + entries.len() > limits.clients_per_peer {
            return Err(TooMuch);
        }
        let news: Vec<Entry<'_>> =
            entries.iter().filter(|entry| self.take(owner, entry, now)).copied().collect();
        Ok((!news.is_empty()).then(|| write(news.into_iter())))
    }

    fn take(&mut self, owner: PeerId, entry: &Entry<'_>, now: Instant) -> bool {
        let state = (!entry.is_gone()).then(|| entry.state.into());
        match self.clients.get_mut(&entry.client) {
            Some(client) => {
                let leaves = entry.clock == client.clock && state.is_none() && client.state.is_some();
                if entry.clock <= client.clock && !leaves {
                    return false;
                }
                *client = Client { clock: entry.clock, state, owner, refreshed: now };
                true
            }
            // Clock 0 of an unknown client is ignored by y-protocols too: 0 is not above the 0 it assumes.
            None if entry.clock == 0 => false,
            None => {
                self.clients
                    .insert(entry.client, Client { clock: entry.clock, state, owner, refreshed: now });
                true
            }
        }
    }

    /// Returns the payload with all who are there, if anybody is. With `left` also those who left lately.
    pub fn everybody(&self, left: bool) -> Option<Vec<u8>> {
        let entries: Vec<Entry<'_>> = self
            .clients
            .iter()
            .filter(|(_, client)| left || client.state.is_some())
            .map(|(id, client)| Entry {
                client: *id,
                clock: client.clock,
                state: client.state.as_deref().unwrap_or("null"),
            })
            .collect();
        (!entries.is_empty()).then(|| write(entries.into_iter()))
    }

    /// Takes out those that a peer spoke for; returns the payload for the others.
    pub fn leave(&mut self, owner: PeerId, now: Instant) -> Option<Vec<u8>> {
        self.remove(now, |client| client.owner == owner)
    }

    /// Takes out those that were not refreshed; returns the payload for the others.
    pub fn sweep(&mut self, now: Instant) -> Option<Vec<u8>> {
        let gone = self.remove(now, |client| now.duration_since(client.refreshed) > OUTDATED);
        self.clients
            .retain(|_, client| client.state.is_some() || now.duration_since(client.refreshed) < REMEMBERED);
        gone
    }

    fn remove(&mut self, now: Instant, which: impl Fn(&Client) -> bool) -> Option<Vec<u8>> {
        let mut gone = Vec::new();
        for (id, client) in &mut self.clients {
            if client.state.is_some() && which(client) {
                client.state = None;
                client.clock = client.clock.saturating_add(1);
                client.refreshed = now;
                gone.push(Entry { client: *id, clock: client.clock, state: "null" });
            }
        }
        (!gone.is_empty()).then(|| write(gone.into_iter()))
    }

    /// Counts those who are there.
    pub fn len(&self) -> usize {
        self.clients.values().filter(|client| client.state.is_some()).count()
    }

    /// Returns whether nobody is there.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::presence::entries;

    const LIMITS: PresenceLimits = PresenceLimits { clients_per_peer: 3, state_bytes: 10 };

    fn entry(client: u64, clock: u32, state: &str) -> Entry<'_> {
        Entry { client, clock, state }
    }

    #[test]
    fn the_higher_clock_wins_and_leaving_at_the_same() {
        let mut presence = Presence::default();
        let now = Instant::now();
        let mut say = |entry| presence.apply(1, &[entry], &LIMITS, now).unwrap().is_some();
        assert!(!say(entry(7, 0, "{}")), "clock 0 of an unknown client");
        assert!(say(entry(7, 1, "{}")));
        assert!(!say(entry(7, 1, "{\"a\":1}")));
        assert!(say(entry(7, 1, "null")));
        assert!(!say(entry(7, 1, "null")));
        assert!(say(entry(7, 2, "1")));
    }

    #[test]
    fn only_the_last_owner_takes_a_client_along() {
        let mut presence = Presence::default();
        let now = Instant::now();
        presence.apply(1, &[entry(7, 1, "1"), entry(8, 1, "1")], &LIMITS, now).unwrap();
        presence.apply(2, &[entry(8, 2, "2")], &LIMITS, now).unwrap();
        let gone = presence.leave(1, now).unwrap();
        assert_eq!(entries(&gone).unwrap(), [entry(7, 2, "null")]);
        assert_eq!(presence.len(), 1);
        let all = presence.everybody(true).unwrap();
        assert_eq!(entries(&all).unwrap(), [entry(7, 2, "null"), entry(8, 2, "2")]);
        assert_eq!(presence.leave(1, now), None);
    }

    #[test]
    fn sweeping_takes_out_the_silent() {
        let mut presence = Presence::default();
        let start = Instant::now();
        presence.apply(1, &[entry(7, 1, "1")], &LIMITS, start).unwrap();
        assert_eq!(presence.sweep(start + Duration::from_secs(29)), None);
        assert!(presence.sweep(start + Duration::from_secs(31)).is_some());
        assert!(presence.is_empty());
        assert!(presence.everybody(true).is_some(), "remembered");
        presence.sweep(start + Duration::from_secs(200));
        assert!(presence.everybody(true).is_none());
    }

    #[test]
    fn limits() {
        let mut presence = Presence::default();
        let now = Instant::now();
        assert_eq!(presence.apply(1, &[entry(1, 1, "12345678901")], &LIMITS, now), Err(TooMuch));
        let many: Vec<Entry<'_>> = (0..4).map(|client| entry(client, 1, "1")).collect();
        assert_eq!(presence.apply(1, &many, &LIMITS, now), Err(TooMuch));
        assert!(presence.is_empty());
        presence.apply(1, &many[..3], &LIMITS, now).unwrap();
        assert_eq!(presence.apply(1, &[entry(9, 1, "1")], &LIMITS, now), Err(TooMuch));
        presence.apply(1, &[entry(2, 2, "1")], &LIMITS, now).unwrap();
        presence.apply(2, &[entry(9, 1, "1")], &LIMITS, now).unwrap();
    }
}
