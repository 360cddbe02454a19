//! The close codes and when each is sent (the table stands in docs/SERVER.md).
//!
//! y-websocket 3.1 never comes back after 4400-4499 and retries after all others, so a code says whether a retry may help.

/// Why a connection is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Close {
    /// The client said goodbye.
    Normal,
    /// The server shuts down: come back.
    GoingAway,
    /// The document could not be loaded, or a rule of ours was broken: come back later.
    Internal,
    /// Not now: the store does not take writes, the client is too slow, or there are too many of it.
    TryAgain,
    /// A frame or update that no client of the protocol sends.
    Malformed,
    /// No valid token.
    Unauthorized,
    /// The token does not reach this document, or the page's origin is not allowed.
    Forbidden,
    /// The document was closed or deleted by an operator.
    Gone,
    /// It did not say who it is in time.
    AuthTimeout,
    /// A message, document or presence beyond its limit.
    TooLarge,
}

impl Close {
    /// Returns the code on the wire.
    pub fn code(self) -> u16 {
        match self {
            Self::Normal => 1000,
            Self::GoingAway => 1001,
            Self::Internal => 1011,
            Self::TryAgain => 1013,
            Self::Malformed => 4400,
            Self::Unauthorized => 4401,
            Self::Forbidden => 4403,
            Self::AuthTimeout => 4408,
            Self::Gone => 4205,
            Self::TooLarge => 4413,
        }
    }

    /// Returns the reason that is sent along, short enough for a close frame.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Normal => "bye",
            Self::GoingAway => "the server shuts down",
            Self::Internal => "the document cannot be served",
            Self::TryAgain => "try again later",
            Self::Malformed => "malformed message",
            Self::Unauthorized => "unauthorized",
            Self::Forbidden => "forbidden",
            Self::AuthTimeout => "no authentication in time",
            Self::Gone => "the document was closed",
            Self::TooLarge => "too large",
        }
    }
}
