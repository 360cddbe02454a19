//! The dialect of hocuspocus: several documents on one socket, each addressed by its name (maybe with a session behind a
//! NUL) and admitted by a token of its own; every update is acknowledged when it is durable.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;

use super::{Peer, denial, heavy, refused};
use crate::auth::Access;
use crate::name::RoomName;
use crate::room::Receipt;
use crate::room::outbox::Slot;
use crate::room::presence::PeerId;
use crate::room::registry::Membership;
use crate::wire::close::Close;
use crate::wire::{self, Message};

/// Bytes of an address: a name, a NUL, and what a provider takes for a session (a dozen characters). It is kept, and sent in
/// front of every frame of its document.
const LONGEST: usize = 512;

/// A document that the client is in.
struct Inside {
    room: Membership,
    id: PeerId,
    slot: Slot,
    prefix: Bytes,
    access: Access,
}

impl Drop for Inside {
    fn drop(&mut self) {
        self.room.leave(self.id);
    }
}

enum Document {
    /// No token yet; the frames that came meanwhile. Bounded by the allowance of the connection and by `queued` below.
    Waiting(Vec<Bytes>),
    Inside(Inside),
    /// It was told that it may not enter; what it still sends is ignored.
    Denied,
}

/// The documents of a socket, by address.
#[derive(Default)]
pub(super) struct Hocuspocus {
    documents: HashMap<String, Document>,
    next_slot: Slot,
    /// Bytes that wait for tokens.
    queued: usize,
}

impl Hocuspocus {
    pub(super) async fn message(&mut self, peer: &Peer, frame: &Bytes) -> Result<(), Close> {
        if frame.as_ref() == wire::APP_PING {
            peer.outbox.push(Bytes::from_static(wire::APP_PONG));
            return Ok(());
        }
        if frame.as_ref() == wire::APP_PONG {
            return Ok(());
        }
        let limits = &peer.context.rooms.shared().limits;
        let full = self.documents.len() >= limits.documents_per_connection;
        let (address, body) = wire::split_address(frame).map_err(|_| Close::Malformed)?;
        if address.len() > LONGEST {
            return Err(Close::Malformed);
        }
        let message = wire::read(body).map_err(|_| Close::Malformed)?;
        match (self.documents.get_mut(address), message) {
            (Some(Document::Inside(inside)), message) => {
                if matches!(message, Message::Detach) {
                    self.documents.remove(address);
                    return Ok(());
                }
                inside.message(peer, message)
            }
            (Some(Document::Denied), Message::Detach) => {
                self.documents.remove(address);
                Ok(())
            }
            // A second try with another token is a new beginning.
            (None | Some(Document::Waiting(_) | Document::Denied), Message::Token(token)) => {
                self.enter(peer, address, token).await
            }
            (Some(Document::Denied), _) => Ok(()),
            (None, _) if full => Err(Close::TooLarge),
            (waiting, _) => {
                self.queued += frame.len();
                if self.queued > limits.unauthenticated_bytes {
                    return Err(Close::TooLarge);
                }
                match waiting {
                    Some(Document::Waiting(queue)) => queue.push(frame.clone()),
                    _ => {
                        self.documents.insert(address.to_owned(), Document::Waiting(vec![frame.clone()]));
                    }
                }
                Ok(())
            }
        }
    }

    async fn enter(&mut self, peer: &Peer, address: &str, token: &str) -> Result<(), Close> {
        let limits = &peer.context.rooms.shared().limits;
        if !self.documents.contains_key(address) && self.documents.len() >= limits.documents_per_connection {
            return Err(Close::TooLarge);
        }
        let prefix = wire::address_prefix(address);
        let name = address.split('\0').next().unwrap_or_default();
        let admitted = match RoomName::new(name) {
            Ok(name) => peer
                .authorize(&name, Some(token).filter(|token| !token.is_empty()))
                .await
                .map(|access| (name, access))
                .map_err(denial),
            Err(bad) => Err((Close::Malformed, bad.to_string())),
        };
        let (name, access) = match admitted {
            Ok(admitted) => admitted,
            // The provider would not come back after a denial in words.
            Err((Close::TryAgain, _)) => return Err(Close::TryAgain),
            Err((_, reason)) => {
                peer.outbox.push(wire::denied_address(&prefix, &reason));
                self.forget_queue(address);
                self.documents.insert(address.to_owned(), Document::Denied);
                return Ok(());
            }
        };
        let room = peer.context.rooms.enter(&name).await?;
        peer.outbox.push(wire::admitted(&prefix, !access.write));
        let slot = self.next_slot;
        self.next_slot = self.next_slot.wrapping_add(1);
        let id = room.join(&peer.outbox, slot, prefix.clone())?;
        if let Some(states) = room.everybody(&prefix) {
            peer.outbox.push(states);
        }
        peer.allowance.open();
        tracing::debug!(room = %name, user = access.user, write = access.write, "a hocuspocus client came in");
        let mut inside = Inside { room, id, slot, prefix, access };
        for frame in self.forget_queue(address) {
            let (_, body) = wire::split_address(&frame).map_err(|_| Close::Malformed)?;
            inside.message(peer, wire::read(body).map_err(|_| Close::Malformed)?)?;
        }
        self.documents.insert(address.to_owned(), Document::Inside(inside));
        Ok(())
    }

    /// Takes what waited for the token of a document.
    fn forget_queue(&mut self, address: &str) -> Vec<Bytes> {
        let Some(Document::Waiting(queue)) = self.documents.remove(address) else { return Vec::new() };
        let bytes: usize = queue.iter().map(Bytes::len).sum();
        self.queued = self.queued.saturating_sub(bytes);
        queue
    }

    fn inside(&self) -> impl Iterator<Item = &Inside> {
        self.documents.values().filter_map(|document| match document {
            Document::Inside(inside) => Some(inside),
            _ => None,
        })
    }

    pub(super) fn is_admitted(&self) -> bool {
        self.inside().next().is_some()
    }

    pub(super) fn catch_up(&self, slot: Slot) -> Result<Vec<Bytes>, Close> {
        match self.inside().find(|inside| inside.slot == slot) {
            Some(inside) => inside.room.catch_up(inside.id).map_err(|error| refused(&error)),
            None => Ok(Vec::new()),
        }
    }

    pub(super) fn expires(&self) -> Option<SystemTime> {
        self.inside().filter_map(|inside| inside.access.expires).min()
    }
}

impl Inside {
    fn message(&mut self, peer: &Peer, message: Message<'_>) -> Result<(), Close> {
        match message {
            Message::Step1(state_vector) => {
                let answer = heavy(self.room.stored_bytes(), || self.room.step2(&self.prefix, state_vector));
                let (answer, took) = answer.map_err(|error| refused(&error))?;
                peer.owes(took);
                peer.outbox.push(answer);
                // The client counts one acknowledgement for its step 1: that of the step 2 it answers this with.
                peer.outbox.push(self.room.step1(&self.prefix));
            }
            Message::Step2(update) | Message::Update(update) => {
                let repeats = matches!(message, Message::Step2(_));
                self.update(peer, update, repeats)?;
            }
            Message::Awareness(payload) => {
                let entries = wire::presence::entries(payload).map_err(|_| Close::Malformed)?;
                self.room.presence(self.id, &entries).map_err(|_| Close::TooLarge)?;
            }
            Message::QueryAwareness => {
                let nobody = || wire::awareness(&self.prefix, &[0]);
                peer.outbox.push(self.room.everybody(&self.prefix).unwrap_or_else(nobody));
            }
            Message::BroadcastStateless => return Err(Close::Malformed),
            Message::Token(_)
            | Message::Stateless
            | Message::AskStored(_)
            | Message::Detach
            | Message::Unknown => {}
        }
        Ok(())
    }

    fn update(&self, peer: &Peer, update: &[u8], answers: bool) -> Result<(), Close> {
        if !self.access.write {
            // As the original: a step 2 without news is fine.
            let mut fine = false;
            if answers {
                let (contained, took) = self.room.contains(update).map_err(|error| refused(&error))?;
                peer.owes(took);
                fine = contained;
            }
            if !fine {
                peer.context.metrics().refused_writes.inc();
            }
            peer.outbox.push(wire::sync_status(&self.prefix, fine));
            return Ok(());
        }
        let receipt = Receipt::Frame(Arc::clone(&peer.outbox), wire::sync_status(&self.prefix, true));
        let taken = heavy(update.len(), || self.room.update(Some(self.id), update, receipt));
        taken.map_err(|error| refused(&error))?;
        Ok(())
    }
}
