//! The dialect of y-websocket: one room, named by the path; bare messages.

use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;

use super::{Peer, denial, heavy, refused};
use crate::auth::Access;
use crate::room::Receipt;
use crate::room::presence::PeerId;
use crate::room::registry::Membership;
use crate::wire::close::Close;
use crate::wire::{self, Message};

/// Bytes by which a client knows its question again: a number, mostly.
const TOKEN: usize = 16;

/// A y-websocket client in its room.
pub(super) struct YWebsocket {
    room: Membership,
    id: PeerId,
    access: Access,
    /// It wrote what it may not write.
    refused: bool,
}

impl Drop for YWebsocket {
    fn drop(&mut self) {
        self.room.leave(self.id);
    }
}

impl YWebsocket {
    /// Lets a client into the room of its path, and greets it as the original does: our state vector, then who is there.
    pub(super) async fn open(peer: &Peer) -> Result<Self, (Close, String)> {
        let name = peer.opening.room.as_ref().map_err(|bad| (Close::Malformed, bad.to_string()))?;
        let access = peer.authorize(name, peer.opening.token.as_deref()).await.map_err(denial)?;
        let enter = |close: Close| (close, close.reason().to_owned());
        let room = peer.context.rooms.enter(name).await.map_err(enter)?;
        peer.outbox.push(room.step1(&[]));
        let id = room.join(&peer.outbox, 0, Bytes::new()).map_err(enter)?;
        if let Some(states) = room.everybody(&[]) {
            peer.outbox.push(states);
        }
        peer.allowance.open();
        tracing::debug!(room = %name, user = access.user, write = access.write, "a y-websocket client came in");
        Ok(Self { room, id, access, refused: false })
    }

    pub(super) fn message(&mut self, peer: &Peer, frame: &[u8]) -> Result<(), Close> {
        match wire::read(frame).map_err(|_| Close::Malformed)? {
            Message::Step1(state_vector) => {
                let answer = heavy(self.room.stored_bytes(), || self.room.step2(&[], state_vector));
                let (answer, took) = answer.map_err(|error| refused(&error))?;
                peer.owes(took);
                peer.outbox.push(answer);
            }
            Message::Step2(update) => {
                self.update(peer, update)?;
            }
            Message::Update(update) => {
                // What an update refers to is missing: the client is asked for it. Not after a step 2, which is the
                // answer to that very question.
                if self.update(peer, update)? {
                    peer.outbox.push(self.room.step1(&[]));
                }
            }
            Message::Awareness(payload) => {
                let entries = wire::presence::entries(payload).map_err(|_| Close::Malformed)?;
                self.room.presence(self.id, &entries).map_err(|_| Close::TooLarge)?;
            }
            Message::QueryAwareness => {
                let states = self.room.everybody(&[]);
                peer.outbox.push(states.unwrap_or(Bytes::from_static(wire::KEEP_ALIVE)));
            }
            Message::AskStored(token) => {
                if token.len() > TOKEN {
                    return Err(Close::Malformed);
                }
                let answer = wire::stored(token, !self.refused);
                let receipt = Receipt::Frame(Arc::clone(&peer.outbox), answer);
                self.room.when_stored(receipt).map_err(|error| refused(&error))?;
            }
            Message::Token(_)
            | Message::Stateless
            | Message::BroadcastStateless
            | Message::Detach
            | Message::Unknown => {}
        }
        Ok(())
    }

    fn update(&mut self, peer: &Peer, update: &[u8]) -> Result<bool, Close> {
        if !self.access.write {
            let (contained, took) = self.room.contains(update).map_err(|error| refused(&error))?;
            peer.owes(took);
            if !contained {
                self.refused = true;
                peer.context.metrics().refused_writes.inc();
            }
            return Ok(false);
        }
        let receipt = Receipt::Echo(Arc::clone(&peer.outbox));
        let taken = heavy(update.len(), || self.room.update(Some(self.id), update, receipt));
        taken.map_err(|error| refused(&error))
    }

    pub(super) fn catch_up(&self) -> Result<Vec<Bytes>, Close> {
        self.room.catch_up(self.id).map_err(|error| refused(&error))
    }

    pub(super) fn expires(&self) -> Option<SystemTime> {
        self.access.expires
    }
}
