//! Who is there: the awareness of a room, with the connection that refreshed each client last.
//!
//! A connection may speak for several clients: tabs relay for each other over a BroadcastChannel. The client that its first
//! message of one client is about is its own (every provider greets so). When it goes, its own client is gone, whoever
//! relayed it last, and those that it refreshed last and that are no other connection's own. States are relayed, never
//! looked into. Cost O(clients of a message).

use std::collections::HashMap;
use std::time::{Duration, Instant};

use indexmap::{IndexMap, IndexSet};

use crate::wire::presence::{Entry, write};

/// As in y-protocols: who was not refreshed for so long is gone.
const OUTDATED: Duration = Duration::from_secs(30);
/// How long it is remembered that a client left, so that an older message does not bring it back.
const REMEMBERED: Duration = Duration::from_secs(120);

/// All clients of a connection together may have so many states of the longest kind: tabs are like each other, and short.
const FULL_STATES: usize = 4;

/// Clients that a room remembers beyond those who are there. More leave only when somebody makes them up.
const MANY_LEFT: usize = 10_000;

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
    /// Who refreshed it last.
    owner: PeerId,
    /// The connection whose own client it is, as far as that is known.
    home: Option<PeerId>,
    /// It took leave on its own connection: then what others still relay is an echo.
    farewell: bool,
    refreshed: Instant,
}

/// The clients of a room.
#[derive(Default)]
pub struct Presence {
    clients: IndexMap<u64, Client>,
    /// The client of each connection's first message of one client.
    own: HashMap<PeerId, u64>,
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
        let kept = self.clients.iter().filter(|(id, client)| {
            client.owner == owner && !entries.iter().any(|entry| entry.client == **id)
        });
        let mut count = entries.len();
        let mut bytes: usize = entries.iter().map(|entry| entry.state.len()).sum();
        for (_, client) in kept {
            count += 1;
            bytes += client.state.as_ref().map_or(0, |state| state.len());
        }
        if count > limits.clients_per_peer || bytes > FULL_STATES * limits.state_bytes {
            return Err(TooMuch);
        }
        if self.clients.len() >= MANY_LEFT {
            self.clients.retain(|_, client| client.state.is_some());
        }
        if let [only] = entries {
            self.own.entry(owner).or_insert(only.client);
        }
        let news: Vec<Entry<'_>> = entries.iter().filter_map(|entry| self.take(owner, entry, now)).collect();
        Ok((!news.is_empty()).then(|| write(news.into_iter())))
    }

    /// Takes one state in; returns what the peers should hear of it.
    fn take<'a>(&mut self, owner: PeerId, entry: &Entry<'a>, now: Instant) -> Option<Entry<'a>> {
        let own = self.own.get(&owner) == Some(&entry.client);
        let home = own.then_some(owner);
        let state: Option<Box<str>> = (!entry.is_gone()).then(|| entry.state.into());
        let Some(client) = self.clients.get_mut(&entry.client) else {
            // Clock 0 of an unknown client is ignored by y-protocols too: 0 is not above the 0 it assumes.
            if entry.clock == 0 {
                return None;
            }
            let farewell = own && state.is_none();
            let client = Client { clock: entry.clock, state, owner, home, farewell, refreshed: now };
            self.clients.insert(entry.client, client);
            return Some(*entry);
        };
        // Also when a relay was quicker, and this is no news.
        client.home = home.or(client.home);
        client.farewell |= own && state.is_none() && entry.clock == client.clock;
        let leaves = entry.clock == client.clock && state.is_none() && client.state.is_some();
        if entry.clock <= client.clock && !leaves {
            return None;
        }
        if client.farewell && !own && state.is_some() && entry.clock == client.clock + 1 {
            // As it takes leave a tab hears its own farewell back from the others and protests with the next clock; they
            // relay that. It is gone, and they have to hear it again.
            client.clock = entry.clock;
            client.refreshed = now;
            return Some(Entry { state: "null", ..*entry });
        }
        let farewell = own && state.is_none();
        let home = client.home.filter(|peer| self.own.get(peer) == Some(&entry.client));
        *client = Client { clock: entry.clock, state, owner, home, farewell, refreshed: now };
        Some(*entry)
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

    /// Returns the payload with these clients as they are now, gone or not.
    pub fn of(&self, clients: &IndexSet<u64>) -> Vec<u8> {
        let known: Vec<(u64, &Client)> =
            clients.iter().filter_map(|id| Some((*id, self.clients.get(id)?))).collect();
        write(known.into_iter().map(|(client, of)| Entry {
            client,
            clock: of.clock,
            state: of.state.as_deref().unwrap_or("null"),
        }))
    }

    /// Takes out those that only this peer spoke for; returns the payload for the others.
    pub fn leave(&mut self, peer: PeerId, now: Instant) -> Option<Vec<u8>> {
        self.own.remove(&peer);
        self.remove(now, |client| client.home.unwrap_or(client.owner) == peer)
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

    fn say(presence: &mut Presence, from: PeerId, said: Entry<'_>) -> Option<Vec<(u64, u32, String)>> {
        let news = presence.apply(from, &[said], &LIMITS, Instant::now()).unwrap()?;
        let news = entries(&news).unwrap();
        Some(news.iter().map(|entry| (entry.client, entry.clock, entry.state.to_owned())).collect())
    }

    /// Two tabs of one browser, peers 1 and 2 with the clients 7 and 8, which greet with clock 0.
    fn tabs() -> Presence {
        let mut presence = Presence::default();
        assert_eq!(say(&mut presence, 1, entry(7, 0, "{}")), None);
        assert_eq!(say(&mut presence, 2, entry(8, 0, "{}")), None);
        // The second hears of the first by the BroadcastChannel and is quicker.
        assert!(say(&mut presence, 2, entry(7, 1, "1")).is_some());
        assert_eq!(say(&mut presence, 1, entry(7, 1, "1")), None);
        assert!(say(&mut presence, 2, entry(8, 1, "2")).is_some());
        presence
    }

    /// Client 7 says farewell (clock 1) on its own connection and to the other tab, hears that relayed, protests (clock 2),
    /// and is gone; the other tab relays both. Whatever comes first, nothing is left of it.
    #[test]
    fn a_protest_that_is_relayed_last_leaves_no_ghost() {
        let said: [(PeerId, Option<Entry<'_>>); 5] = [
            (1, Some(entry(7, 1, "null"))),
            (1, Some(entry(7, 2, "1"))),
            (1, None),
            (2, Some(entry(7, 1, "null"))),
            (2, Some(entry(7, 2, "1"))),
        ];
        // All ways to shuffle the three of the first connection into the two of the second: bits say whose turn it is.
        for (turns, protests) in (0_u32..32).flat_map(|turns| [(turns, true), (turns, false)]) {
            if turns.count_ones() != 2 {
                continue;
            }
            let mut presence = tabs();
            let (mut first, mut second) = (said[..3].iter(), said[3..].iter());
            for turn in 0..5 {
                let next = if turns >> turn & 1 == 1 { second.next() } else { first.next() };
                match next.unwrap() {
                    // The protest on the own connection may be lost: it is closing.
                    (1, Some(said)) if said.clock == 2 && !protests => {}
                    (peer, Some(said)) => drop(say(&mut presence, *peer, *said)),
                    (peer, None) => drop(presence.leave(*peer, Instant::now())),
                }
            }
            assert_eq!(presence.len(), 1, "turns {turns:05b}, protests: {protests}");
            // What others heard last is that it is gone.
            let all = presence.everybody(true).unwrap();
            let seven = entries(&all).unwrap().into_iter().find(|entry| entry.client == 7).unwrap();
            assert!(seven.is_gone() && seven.clock >= 2, "{seven:?}");
        }
    }

    #[test]
    fn a_relayed_client_stays_as_long_as_its_own_connection() {
        let mut presence = tabs();
        assert!(say(&mut presence, 2, entry(7, 2, "3")).is_some());
        presence.leave(2, Instant::now());
        assert_eq!(presence.len(), 1, "only client 8 goes with the tab that relayed client 7");
        presence.leave(1, Instant::now());
        assert!(presence.is_empty());
    }

    #[test]
    fn without_a_connection_of_its_own_a_client_lives_by_relay() {
        let mut presence = tabs();
        // The connection of client 7 breaks off; it took no leave and goes on over the other tab.
        presence.leave(1, Instant::now());
        assert_eq!(presence.len(), 1);
        assert_eq!(say(&mut presence, 2, entry(7, 2, "1")), None, "older than the removal");
        assert!(say(&mut presence, 2, entry(7, 3, "1")).is_some());
        assert_eq!(presence.len(), 2);
        presence.leave(2, Instant::now());
        assert!(presence.is_empty());
    }

    #[test]
    fn who_took_leave_may_come_back() {
        let mut presence = tabs();
        assert!(say(&mut presence, 1, entry(7, 2, "null")).is_some());
        assert_eq!(say(&mut presence, 2, entry(7, 3, "1")), Some(vec![(7, 3, "null".to_owned())]));
        assert_eq!(say(&mut presence, 1, entry(7, 4, "1")), Some(vec![(7, 4, "1".to_owned())]), "by itself");
        assert!(say(&mut presence, 1, entry(7, 5, "null")).is_some());
        assert!(say(&mut presence, 2, entry(7, 7, "1")).is_some(), "or relayed, with what is no protest");
        assert_eq!(presence.len(), 2);
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
    fn those_who_left_are_bounded() {
        let mut presence = Presence::default();
        let now = Instant::now();
        presence.apply(1, &[entry(1, 1, "1")], &LIMITS, now).unwrap();
        for peer in 2..20_000 {
            presence.apply(peer, &[entry(peer, 1, "1")], &LIMITS, now).unwrap();
            presence.leave(peer, now);
        }
        assert_eq!(presence.len(), 1);
        assert!(presence.clients.len() <= MANY_LEFT + 1, "{}", presence.clients.len());
        assert_eq!(presence.own.len(), 1);
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
        // Each state is within its bound, all together are not.
        let limits = PresenceLimits { clients_per_peer: 10, ..LIMITS };
        for client in 20..24 {
            presence.apply(3, &[entry(client, 1, "1234567890")], &limits, now).unwrap();
        }
        assert_eq!(presence.apply(3, &[entry(24, 1, "1")], &limits, now), Err(TooMuch));
        presence.apply(3, &[entry(20, 2, "1")], &limits, now).unwrap();
        presence.apply(3, &[entry(24, 1, "1")], &limits, now).unwrap();
    }
}
