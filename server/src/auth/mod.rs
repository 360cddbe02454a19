//! Who may enter a document, and whether to write (layer 2, beside rooms): a hook, and three ways to fill it.

pub mod jwt;
pub mod token_file;

use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::time::SystemTime;

use crate::name::RoomName;

/// What is known of somebody who wants to enter.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The document.
    pub room: &'a RoomName,
    /// The token: of the URL (`?token=`) or the `Authorization` header with y-websocket, of the auth message with
    /// hocuspocus.
    pub token: Option<&'a str>,
    /// Where the connection comes from.
    pub address: IpAddr,
}

/// What somebody may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// Change the document. Without, it can be read, and presence shown.
    pub write: bool,
    /// When this ends; the connection is closed then.
    pub expires: Option<SystemTime>,
    /// Who it is, for the log.
    pub user: Option<String>,
}

impl Access {
    /// Everything, for ever.
    pub const FULL: Self = Self { write: true, expires: None, user: None };
}

/// Why somebody may not enter. The reason is shown to the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Denied {
    /// No token, a wrong or an expired one.
    Unauthorized(String),
    /// A good token that does not reach this document.
    Forbidden(String),
    /// It cannot be told now; the client may try again.
    Unavailable,
}

/// The answer of a hook.
pub type Answer<'a> = Pin<Box<dyn Future<Output = Result<Access, Denied>> + Send + 'a>>;

/// Decides who may enter. Called once for each document of each connection.
pub trait Auth: Send + Sync + 'static {
    /// Answers a request. A slow answer holds up this connection only, and not for longer than
    /// [`crate::limits::Limits::unauthenticated_time`].
    fn authorize<'a>(&'a self, request: Request<'a>) -> Answer<'a>;
}

/// Lets everybody in to do everything.
#[derive(Clone, Copy, Debug)]
pub struct Open;

impl Auth for Open {
    fn authorize<'a>(&'a self, _: Request<'a>) -> Answer<'a> {
        Box::pin(std::future::ready(Ok(Access::FULL)))
    }
}

/// Documents by name: exact, or everything that begins with what stands before a final `*`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(transparent)]
pub struct Pattern(String);

impl Pattern {
    /// Makes a pattern.
    pub fn new(pattern: impl Into<String>) -> Self {
        Self(pattern.into())
    }

    /// Returns whether it is about this document.
    pub fn matches(&self, room: &RoomName) -> bool {
        match self.0.strip_suffix('*') {
            Some(prefix) => room.as_str().starts_with(prefix),
            None => room.as_str() == self.0,
        }
    }
}

/// How much a token grants, as configurations write it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
pub enum Level {
    /// Reading: what a token grants that does not say.
    #[default]
    #[serde(rename = "read-only")]
    ReadOnly,
    /// Reading and writing.
    #[serde(rename = "read-write")]
    ReadWrite,
}
