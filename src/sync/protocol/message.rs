//! `Message`: the bytes of a frame. Updates stay bytes until somebody applies them. Cost O(bytes).

use yatta_encoding::{Decode, Decoder, Encode, Encoder, Error};

use crate::ids::StateVector;
use crate::sync::awareness::AwarenessUpdate;

/// Tag of [`Message::Sync`].
pub const MSG_SYNC: u8 = 0;
/// Tag of [`Message::Awareness`].
pub const MSG_AWARENESS: u8 = 1;
/// Tag of [`Message::Auth`].
pub const MSG_AUTH: u8 = 2;
/// Tag of [`Message::AwarenessQuery`].
pub const MSG_QUERY_AWARENESS: u8 = 3;

/// Within [`Message::Auth`]: access is refused, a reason follows.
pub const PERMISSION_DENIED: u8 = 0;
/// Within [`Message::Auth`]: access is granted.
pub const PERMISSION_GRANTED: u8 = 1;

/// Tag of [`SyncMessage::SyncStep1`].
pub const MSG_SYNC_STEP_1: u8 = 0;
/// Tag of [`SyncMessage::SyncStep2`].
pub const MSG_SYNC_STEP_2: u8 = 1;
/// Tag of [`SyncMessage::Update`].
pub const MSG_SYNC_UPDATE: u8 = 2;

/// What peers say to each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// Of the document.
    Sync(SyncMessage),
    /// Access is refused for this reason, or granted.
    Auth(Option<String>),
    /// Asks for all states.
    AwarenessQuery,
    /// Of the states of clients.
    Awareness(AwarenessUpdate),
    /// Of another kind: its tag and its payload.
    Custom(u8, Vec<u8>),
}

/// What peers say to each other about a document. All payloads are V1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SyncMessage {
    /// "This is what I have": to be answered with what is missing.
    SyncStep1(StateVector),
    /// The answer: all that the asker lacks, as an update.
    SyncStep2(Vec<u8>),
    /// A change, as an update.
    Update(Vec<u8>),
}

impl Encode for Message {
    fn encode<E: Encoder>(&self, encoder: &mut E) {
        match self {
            Self::Sync(message) => {
                encoder.write_var(MSG_SYNC);
                message.encode(encoder);
            }
            Self::Awareness(update) => {
                encoder.write_var(MSG_AWARENESS);
                encoder.write_buf(update.encode_v1());
            }
            Self::Auth(None) => {
                encoder.write_var(MSG_AUTH);
                encoder.write_var(PERMISSION_GRANTED);
            }
            Self::Auth(Some(reason)) => {
                encoder.write_var(MSG_AUTH);
                encoder.write_var(PERMISSION_DENIED);
                encoder.write_string(reason);
            }
            Self::AwarenessQuery => encoder.write_var(MSG_QUERY_AWARENESS),
            Self::Custom(tag, payload) => {
                // Differs from yrs, which writes one byte: a tag above 127 could not be read again.
                encoder.write_var(*tag);
                encoder.write_buf(payload);
            }
        }
    }
}

impl Decode for Message {
    fn decode<D: Decoder>(decoder: &mut D) -> Result<Self, Error> {
        Ok(match decoder.read_var::<u8>()? {
            MSG_SYNC => Self::Sync(SyncMessage::decode(decoder)?),
            MSG_AWARENESS => Self::Awareness(AwarenessUpdate::decode_v1(decoder.read_buf()?)?),
            MSG_AUTH if decoder.read_var::<u8>()? == PERMISSION_DENIED => {
                Self::Auth(Some(decoder.read_string()?.to_owned()))
            }
            MSG_AUTH => Self::Auth(None),
            MSG_QUERY_AWARENESS => Self::AwarenessQuery,
            tag => Self::Custom(tag, decoder.read_buf()?.to_vec()),
        })
    }
}

impl Encode for SyncMessage {
    fn encode<E: Encoder>(&self, encoder: &mut E) {
        match self {
            Self::SyncStep1(state) => {
                encoder.write_var(MSG_SYNC_STEP_1);
                encoder.write_buf(state.encode_v1());
            }
            Self::SyncStep2(update) => {
                encoder.write_var(MSG_SYNC_STEP_2);
                encoder.write_buf(update);
            }
            Self::Update(update) => {
                encoder.write_var(MSG_SYNC_UPDATE);
                encoder.write_buf(update);
            }
        }
    }
}

impl Decode for SyncMessage {
    fn decode<D: Decoder>(decoder: &mut D) -> Result<Self, Error> {
        match decoder.read_var::<u8>()? {
            MSG_SYNC_STEP_1 => Ok(Self::SyncStep1(StateVector::decode_v1(decoder.read_buf()?)?)),
            MSG_SYNC_STEP_2 => Ok(Self::SyncStep2(decoder.read_buf()?.to_vec())),
            MSG_SYNC_UPDATE => Ok(Self::Update(decoder.read_buf()?.to_vec())),
            _ => Err(Error::UnexpectedValue),
        }
    }
}

/// Reads messages that stand one after the other, up to the end of the input or the first that is malformed.
///
/// Differs from yrs: a message that is cut short is an error, not the end.
pub struct MessageReader<'a, D: Decoder> {
    decoder: &'a mut D,
    failed: bool,
}

impl<'a, D: Decoder> MessageReader<'a, D> {
    /// Reads what the decoder has left.
    pub fn new(decoder: &'a mut D) -> Self {
        Self { decoder, failed: false }
    }
}

impl<D: Decoder> Iterator for MessageReader<'_, D> {
    type Item = Result<Message, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed || self.decoder.read_to_end().is_ok_and(<[u8]>::is_empty) {
            return None;
        }
        let message = Message::decode(self.decoder);
        self.failed = message.is_err();
        Some(message)
    }
}

impl<D: Decoder> std::iter::FusedIterator for MessageReader<'_, D> {}
