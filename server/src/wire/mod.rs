//! Frames of both dialects (layer 0: bytes only, no document, no I/O).
//!
//! A frame holds one message. That of y-websocket is the bare message; that of hocuspocus has the name of its document
//! in front. So every writer takes a prefix, which is empty for y-websocket. Nothing here allocates from a number on the
//! wire; reading costs O(1), writing one copy.

pub mod close;
pub mod presence;

use bytes::Bytes;
use yatta_encoding::{Cursor, Error, Read, Write};

const SYNC: u64 = 0;
const AWARENESS: u64 = 1;
const AUTH: u64 = 2;
const QUERY_AWARENESS: u64 = 3;
const SYNC_REPLY: u64 = 4;
const STATELESS: u64 = 5;
const BROADCAST_STATELESS: u64 = 6;
const DETACH: u64 = 7;
/// To a client of hocuspocus; in the dialect of y-websocket the question and answer about what is stored.
const SYNC_STATUS: u8 = 8;
const STORED: u64 = SYNC_STATUS as u64;

/// The whole frame by which a hocuspocus client asks whether somebody is there.
pub const APP_PING: &[u8] = &[9];
/// The answer to [`APP_PING`].
pub const APP_PONG: &[u8] = &[10];
/// An awareness message about nobody: keeps the watchdog of a y-websocket client quiet.
pub const KEEP_ALIVE: &[u8] = &[1, 1, 0];

/// What a client says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message<'a> {
    /// Its state vector: it asks for what it lacks.
    Step1(&'a [u8]),
    /// An update that answers our state vector.
    Step2(&'a [u8]),
    /// An update.
    Update(&'a [u8]),
    /// States of clients, read by [`presence::entries`].
    Awareness(&'a [u8]),
    /// It asks for all states.
    QueryAwareness,
    /// Its token (hocuspocus).
    Token(&'a str),
    /// A text for the application (hocuspocus); nobody listens to it here.
    Stateless,
    /// A text for all servers of a cluster: no client may send it (hocuspocus).
    BroadcastStateless,
    /// It leaves this document and keeps the socket (hocuspocus).
    Detach,
    /// It wants to hear when all it sent is durable, and to see these bytes again then (y-websocket; our extension).
    AskStored(&'a [u8]),
    /// A kind that a later protocol may have: to be ignored.
    Unknown,
}

/// Reads the one message of a frame.
///
/// # Errors
/// When the bytes end early, something follows the message, or a sync message is of no known kind.
pub fn read(frame: &[u8]) -> Result<Message<'_>, Error> {
    let mut cursor = Cursor::new(frame);
    let message = match cursor.read_var::<u64>()? {
        SYNC | SYNC_REPLY => {
            let step = cursor.read_var::<u64>()?;
            let payload = cursor.take_buf()?;
            match step {
                0 => Message::Step1(payload),
                1 => Message::Step2(payload),
                2 => Message::Update(payload),
                _ => return Err(Error::UnexpectedValue),
            }
        }
        AWARENESS => Message::Awareness(cursor.take_buf()?),
        QUERY_AWARENESS => Message::QueryAwareness,
        AUTH => {
            if cursor.read_var::<u64>()? != 0 {
                return Err(Error::UnexpectedValue);
            }
            let token = cursor.take_str()?;
            // Provider 4 adds its version; older ones do not.
            if cursor.has_content() {
                cursor.take_str()?;
            }
            Message::Token(token)
        }
        STATELESS => {
            cursor.take_str()?;
            Message::Stateless
        }
        BROADCAST_STATELESS => return Ok(Message::BroadcastStateless),
        DETACH => return Ok(Message::Detach),
        STORED => Message::AskStored(cursor.take_buf()?),
        _ => return Ok(Message::Unknown),
    };
    if cursor.has_content() {
        return Err(Error::UnexpectedValue);
    }
    Ok(message)
}

/// Splits a hocuspocus frame into the address (the name of the document, maybe with a session behind a NUL) and the
/// message.
///
/// # Errors
/// When the bytes end early or the address is not UTF-8.
pub fn split_address(frame: &[u8]) -> Result<(&str, &[u8]), Error> {
    let mut cursor = Cursor::new(frame);
    let address = cursor.take_str()?;
    Ok((address, cursor.rest()))
}

/// Writes the prefix of all frames of a hocuspocus document.
pub fn address_prefix(address: &str) -> Bytes {
    let mut out = Vec::with_capacity(address.len() + 2);
    out.write_string(address);
    out.into()
}

/// Writes our state vector, which asks the client for what we lack.
pub fn step1(prefix: &[u8], state_vector: &[u8]) -> Bytes {
    frame(prefix, &[0, 0], state_vector)
}

/// Writes the answer to a client's state vector.
pub fn step2(prefix: &[u8], update: &[u8]) -> Bytes {
    frame(prefix, &[0, 1], update)
}

/// Writes an update.
pub fn update(prefix: &[u8], update: &[u8]) -> Bytes {
    frame(prefix, &[0, 2], update)
}

/// Writes states of clients.
pub fn awareness(prefix: &[u8], states: &[u8]) -> Bytes {
    frame(prefix, &[1], states)
}

/// Writes the denial of y-websocket.
pub fn denied(reason: &str) -> Bytes {
    frame(&[], &[2, 0], reason.as_bytes())
}

/// Writes the denial of hocuspocus.
pub fn denied_address(prefix: &[u8], reason: &str) -> Bytes {
    frame(prefix, &[2, 1], reason.as_bytes())
}

/// Writes the admission of hocuspocus.
pub fn admitted(prefix: &[u8], read_only: bool) -> Bytes {
    let scope = if read_only { "readonly" } else { "read-write" };
    frame(prefix, &[2, 2], scope.as_bytes())
}

/// Writes whether a step 2 or update of the client was taken: yes after it is durable, no when it may not write.
pub fn sync_status(prefix: &[u8], taken: bool) -> Bytes {
    Bytes::from([prefix, &[SYNC_STATUS, u8::from(taken)]].concat())
}

/// Answers [`Message::AskStored`]: all is durable, or (false) not all was taken.
pub fn stored(token: &[u8], taken: bool) -> Bytes {
    frame(&[], &[SYNC_STATUS], &[token, &[u8::from(taken)]].concat())
}

fn frame(prefix: &[u8], head: &[u8], payload: &[u8]) -> Bytes {
    let mut out = Vec::with_capacity(prefix.len() + head.len() + payload.len() + 5);
    out.extend_from_slice(prefix);
    out.extend_from_slice(head);
    out.write_buf(payload);
    out.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The frames of the reference, captured from real clients.
    #[test]
    fn captured_frames() {
        assert_eq!(read(&[0, 0, 1, 0]).unwrap(), Message::Step1(&[0]));
        assert_eq!(
            read(&[1, 6, 1, 1, 0, 2, 0x7b, 0x7d]).unwrap(),
            Message::Awareness(&[1, 1, 0, 2, 0x7b, 0x7d])
        );
        assert_eq!(read(&[3]).unwrap(), Message::QueryAwareness);
        let hi = [0, 2, 0x0c, 1, 1, 1, 0, 4, 1, 1, 0x74, 2, 0x68, 0x69, 0];
        assert_eq!(read(&hi).unwrap(), Message::Update(&hi[3..]));
        assert_eq!(update(&[], &hi[3..])[..], hi);
        assert_eq!(step2(&[], &[0, 0])[..], [0, 1, 2, 0, 0]);
        assert_eq!(denied("no")[..], [2, 0, 2, 0x6e, 0x6f]);
        let prefix = address_prefix("ab");
        assert_eq!(sync_status(&prefix, true)[..], [2, 0x61, 0x62, 8, 1]);
        assert_eq!(read(&[8, 1, 5]).unwrap(), Message::AskStored(&[5]));
        assert_eq!(stored(&[5], true)[..], [8, 2, 5, 1]);
        assert_eq!(admitted(&prefix, true)[..4], [2, 0x61, 0x62, 2]);
        assert_eq!(split_address(&[2, 0x61, 0x62, 3]).unwrap(), ("ab", &[3][..]));
    }

    #[test]
    fn malformed_frames() {
        for frame in
            [&[][..], &[0], &[0, 0], &[0, 0, 2, 0], &[0, 3, 0], &[1, 200, 1, 0], &[2, 1, 0], &[0, 0, 1, 0, 9]]
        {
            assert!(read(frame).is_err(), "{frame:?}");
        }
        assert!(split_address(&[5, 0x61]).is_err());
        assert!(split_address(&[1, 0xff]).is_err());
    }
}
