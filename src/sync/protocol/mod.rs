//! Messages of the sync and awareness protocols, and what answers them.
//!
//! A frame of y-websocket is one [`Message`] (or several, one after the other); [`Protocol`] handles it and says what
//! is to be sent back, [`AsyncProtocol`] does so without blocking the thread. The methods of the two have defaults, so
//! a server overrides only what it does in another way.

mod asynchronous;
mod blocking;
mod message;

use crate::error::UpdateError;
use crate::sync::awareness;

pub use asynchronous::AsyncProtocol;
pub use blocking::Protocol;
pub use message::{
    MSG_AUTH, MSG_AWARENESS, MSG_QUERY_AWARENESS, MSG_SYNC, MSG_SYNC_STEP_1, MSG_SYNC_STEP_2,
    MSG_SYNC_UPDATE, Message, MessageReader, PERMISSION_DENIED, PERMISSION_GRANTED, SyncMessage,
};

/// Handles messages in the way that y-websocket does.
#[derive(Clone, Copy, Debug, Default)]
pub struct DefaultProtocol;

impl Protocol for DefaultProtocol {}

impl AsyncProtocol for DefaultProtocol {}

/// A message could not be handled.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The bytes are no message.
    #[error("failed to deserialize message: {0}")]
    DecodingError(#[from] yatta_encoding::Error),
    /// The states could not be read or written.
    #[error("failed to process awareness update: {0}")]
    AwarenessEncoding(#[from] awareness::Error),
    /// The peer refuses access.
    #[error("permission denied to access: {reason}")]
    PermissionDenied {
        /// What the peer says of it.
        reason: String,
    },
    /// A message of a kind that is not handled here.
    #[error("unsupported message tag identifier: {0}")]
    Unsupported(u8),
    /// Reading or writing failed, in code built upon this.
    #[error("IO error: {0}")]
    IO(#[from] std::io::Error),
    /// The update could not be applied.
    #[error("failed to apply update: {0}")]
    Update(#[from] UpdateError),
    /// Something else, in code built upon this.
    #[error("internal failure: {0}")]
    Other(#[from] Box<dyn std::error::Error + Send + Sync>),
}
