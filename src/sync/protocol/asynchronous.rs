//! `AsyncProtocol`: answers messages without blocking the thread while the document is busy.
//!
//! The futures are boxed by `async-trait`, as in yrs, so that an `impl` written for yrs has the right signatures.

use async_trait::async_trait;
use smallvec::{SmallVec, smallvec};
use yatta_encoding::{Decode, DecoderV1, Encoder};

use super::{Error, Message, MessageReader, SyncMessage};
use crate::block::update::Update;
use crate::doc::AsyncTransact;
use crate::ids::StateVector;
use crate::sync::awareness::{Awareness, AwarenessUpdate};
use crate::types::ReadTxn;

/// Answers messages. Every method has a default; [`DefaultProtocol`](super::DefaultProtocol) is nothing but these.
#[async_trait]
pub trait AsyncProtocol {
    /// Returns what is to be sent when a connection opens: what this document has, and the states that are known.
    ///
    /// # Errors
    /// Never, by default.
    async fn start<E>(&self, awareness: &Awareness) -> Result<SmallVec<[Message; 1]>, Error>
    where
        E: Encoder,
    {
        let update = awareness.update()?;
        let state = awareness.doc().transact().await.state_vector();
        Ok(smallvec![Message::Sync(SyncMessage::SyncStep1(state)), Message::Awareness(update)])
    }

    /// Handles the messages of a frame and returns the answers.
    ///
    /// # Errors
    /// When a message is malformed or its handler fails; those before it have been handled.
    async fn handle(&self, awareness: &mut Awareness, data: &[u8]) -> Result<SmallVec<[Message; 1]>, Error> {
        let mut decoder = DecoderV1::from(data);
        let mut answers = SmallVec::new();
        for message in MessageReader::new(&mut decoder) {
            answers.extend(self.handle_message(awareness, message?).await?);
        }
        Ok(answers)
    }

    /// Handles a message and returns the answer, if it calls for one.
    ///
    /// # Errors
    /// When an update is malformed or the handler fails.
    async fn handle_message(
        &self,
        awareness: &mut Awareness,
        message: Message,
    ) -> Result<Option<Message>, Error> {
        match message {
            Message::Sync(SyncMessage::SyncStep1(state)) => self.handle_sync_step1(awareness, state).await,
            Message::Sync(SyncMessage::SyncStep2(update)) => {
                self.handle_sync_step2(awareness, Update::decode_v1(&update)?).await
            }
            Message::Sync(SyncMessage::Update(update)) => {
                self.handle_update(awareness, Update::decode_v1(&update)?).await
            }
            Message::Auth(deny_reason) => self.handle_auth(awareness, deny_reason).await,
            Message::AwarenessQuery => self.handle_awareness_query(awareness).await,
            Message::Awareness(update) => self.handle_awareness_update(awareness, update).await,
            Message::Custom(tag, data) => self.missing_handle(awareness, tag, data).await,
        }
    }

    /// Answers with what a peer of this state lacks, also if that is nothing: the peer waits for it.
    ///
    /// # Errors
    /// Never, by default.
    async fn handle_sync_step1(
        &self,
        awareness: &mut Awareness,
        sv: StateVector,
    ) -> Result<Option<Message>, Error> {
        let update = awareness.doc().transact().await.encode_state_as_update_v1(&sv);
        Ok(Some(Message::Sync(SyncMessage::SyncStep2(update))))
    }

    /// Applies what was asked for.
    ///
    /// # Errors
    /// When the update cannot be applied.
    async fn handle_sync_step2(
        &self,
        awareness: &mut Awareness,
        update: Update,
    ) -> Result<Option<Message>, Error> {
        awareness.doc().transact_mut().await.apply_update(update)?;
        Ok(None)
    }

    /// Applies a change; by default as [`Self::handle_sync_step2`] does.
    ///
    /// # Errors
    /// When the update cannot be applied.
    async fn handle_update(
        &self,
        awareness: &mut Awareness,
        update: Update,
    ) -> Result<Option<Message>, Error> {
        self.handle_sync_step2(awareness, update).await
    }

    /// Takes note that access is granted, or refused for a reason.
    ///
    /// # Errors
    /// [`Error::PermissionDenied`] when it is refused.
    async fn handle_auth(
        &self,
        _awareness: &mut Awareness,
        deny_reason: Option<String>,
    ) -> Result<Option<Message>, Error> {
        deny_reason.map_or(Ok(None), |reason| Err(Error::PermissionDenied { reason }))
    }

    /// Answers with all states that are known.
    ///
    /// # Errors
    /// Never, by default.
    async fn handle_awareness_query(&self, awareness: &mut Awareness) -> Result<Option<Message>, Error> {
        Ok(Some(Message::Awareness(awareness.update()?)))
    }

    /// Takes in what a peer says of the states of clients.
    ///
    /// # Errors
    /// When a state is not JSON.
    async fn handle_awareness_update(
        &self,
        awareness: &mut Awareness,
        update: AwarenessUpdate,
    ) -> Result<Option<Message>, Error> {
        awareness.apply_update(update)?;
        Ok(None)
    }

    /// Handles a message of another kind.
    ///
    /// # Errors
    /// [`Error::Unsupported`], by default.
    async fn missing_handle(
        &self,
        _awareness: &mut Awareness,
        tag: u8,
        _data: Vec<u8>,
    ) -> Result<Option<Message>, Error> {
        Err(Error::Unsupported(tag))
    }
}
