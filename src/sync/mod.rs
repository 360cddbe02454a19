//! Syncing with peers and telling them who is there (layer 11): the protocols of y-protocols 1.0.7, without any I/O.
//!
//! [`Awareness`] holds what each client says of itself; [`Message`] is what goes over the wire; a [`Protocol`] answers
//! messages. Nothing here opens a connection, spawns a task or asks for the time but through a [`Clock`].

pub mod awareness;
pub mod protocol;
pub mod time;

pub use awareness::{Awareness, AwarenessUpdate};
pub use protocol::{AsyncProtocol, DefaultProtocol, Error, Message, MessageReader, Protocol, SyncMessage};
pub use time::{Clock, Timestamp};
