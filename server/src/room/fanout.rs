//! How a room sends to its peers (layer 2): who gets which frame, made once for all that can share it.
//!
//! Frames are put into outboxes under the room's lock and written to the sockets after it is given up, by a [`Fanout`]. Invariant
//! **F1**: whenever something is sent or a peer begins to lag, nothing that was gathered before is left behind, so the state
//! a lagging peer was served up to is that of the document, lowered by what it missed.

use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;

use super::gather::Gathered;
use super::outbox::{Out, Outbox};
use super::presence::PeerId;
use super::{Peer, State};
use crate::metrics::Metrics;
use crate::room::document::{Document, join, lower};
use crate::wire;

/// So many sockets are written to by who made the broadcast (some 5 us each); the tasks of the others are woken, to work in
/// parallel.
const DIRECT: usize = 512;

/// Outboxes that got something under the room's lock.
#[derive(Default)]
#[must_use = "what is in the outboxes has to be written"]
pub(super) struct Fanout(Vec<Arc<Outbox>>);

impl Fanout {
    /// Writes to the sockets. To be called without the room's lock.
    pub(super) fn go(self, metrics: &Metrics) {
        if self.0.is_empty() {
            return;
        }
        let now = Instant::now();
        let (mut messages, mut bytes) = (0, 0);
        for (place, outbox) in self.0.iter().enumerate() {
            if place >= DIRECT {
                outbox.wake();
                continue;
            }
            let wrote = outbox.send(now);
            messages += wrote.messages;
            bytes += wrote.bytes;
        }
        metrics.messages_out.inc_by(messages);
        metrics.bytes_out.inc_by(bytes);
    }
}

/// A message for many: framed once for all without a prefix.
struct Shared<'a> {
    make: fn(&[u8], &[u8]) -> Bytes,
    payload: &'a [u8],
    plain: Option<Bytes>,
}

impl<'a> Shared<'a> {
    fn new(make: fn(&[u8], &[u8]) -> Bytes, payload: &'a [u8]) -> Self {
        Self { make, payload, plain: None }
    }

    fn of(&mut self, prefix: &[u8]) -> Bytes {
        if !prefix.is_empty() {
            return (self.make)(prefix, self.payload);
        }
        self.plain.get_or_insert_with(|| (self.make)(&[], self.payload)).clone()
    }

    fn update(&mut self, peer: &Peer) -> Out {
        let frame = self.of(&peer.prefix);
        let offset = frame.len() - self.payload.len();
        Out::Update(peer.slot, frame, offset)
    }

    fn presence(&mut self, peer: &Peer) -> Out {
        Out::Presence(peer.slot, self.of(&peer.prefix))
    }
}

impl Peer {
    /// Puts a broadcast into its outbox, unless it lags, or begins to.
    fn give(&mut self, out: Out, document: &Document, metrics: &Metrics) {
        if self.lagging.is_some() {
            return;
        }
        if let Some(missed) = self.outbox.broadcast(self.slot, out) {
            metrics.catch_ups.inc();
            let mut known = document.known();
            for update in missed {
                lower(&mut known, &update);
            }
            self.lagging = Some(known);
        }
    }
}

impl State {
    /// Sends an update to all but its sender.
    pub(super) fn send_update(
        &mut self,
        from: Option<PeerId>,
        update: &Bytes,
        metrics: &Metrics,
        fanout: &mut Fanout,
    ) {
        if !self.gather.is_empty() {
            // F1: the document holds this one already, so all of them go together.
            self.gather.push(from, update);
            return self.send_gathered(metrics, fanout);
        }
        let mut shared = Shared::new(wire::update, update);
        for (id, peer) in &mut self.peers {
            if Some(*id) != from {
                peer.give(shared.update(peer), &self.document, metrics);
                fanout.0.push(Arc::clone(&peer.outbox));
            }
        }
    }

    /// Sends presence to all.
    pub(super) fn send_presence(&mut self, states: &[u8], metrics: &Metrics, fanout: &mut Fanout) {
        self.send_gathered(metrics, fanout);
        let mut shared = Shared::new(wire::awareness, states);
        for peer in self.peers.values_mut() {
            peer.give(shared.presence(peer), &self.document, metrics);
            fanout.0.push(Arc::clone(&peer.outbox));
        }
    }

    /// Sends what was gathered: one update and one presence for each peer; who wrote some of it itself gets that of the others
    /// one by one, since its own comes back as its acknowledgement only.
    pub(super) fn send_gathered(&mut self, metrics: &Metrics, fanout: &mut Fanout) {
        let Some(Gathered { updates, present }) = self.gather.take() else { return };
        let merged = match &updates[..] {
            [] => None,
            [(_, only)] => Some(only.clone()),
            many => join(many.iter().map(|(_, update)| update)),
        };
        let mut whole = merged.as_deref().map(|merged| Shared::new(wire::update, merged));
        let mut parts: Vec<Shared<'_>> =
            updates.iter().map(|(_, update)| Shared::new(wire::update, update)).collect();
        let states = (!present.is_empty()).then(|| self.presence.of(&present));
        let mut states = states.as_deref().map(|states| Shared::new(wire::awareness, states));
        for (id, peer) in &mut self.peers {
            let lagged = peer.lagging.is_some();
            let wrote = updates.iter().any(|(from, _)| *from == Some(*id));
            match &mut whole {
                Some(whole) if !wrote => peer.give(whole.update(peer), &self.document, metrics),
                _ => {
                    let others = updates.iter().zip(&mut parts).filter(|((from, _), _)| *from != Some(*id));
                    for (_, part) in others {
                        peer.give(part.update(peer), &self.document, metrics);
                    }
                }
            }
            if let (false, Some(known)) = (lagged, &mut peer.lagging) {
                // F1: the document is ahead of the part that did not fit.
                for (_, update) in &updates {
                    lower(known, update);
                }
            }
            if let Some(states) = &mut states {
                peer.give(states.presence(peer), &self.document, metrics);
            }
            fanout.0.push(Arc::clone(&peer.outbox));
        }
    }
}
