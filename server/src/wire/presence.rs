//! The payload of an awareness message: for each client its id, a clock and a state as JSON (`null`: it left).

use yatta_encoding::{Cursor, Error, Read, Write};

/// One client of an awareness message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The client.
    pub client: u64,
    /// Counts its states.
    pub clock: u32,
    /// The state as JSON.
    pub state: &'a str,
}

impl Entry<'_> {
    /// Returns whether the client left.
    pub fn is_gone(&self) -> bool {
        self.state == "null"
    }
}

/// Clocks above this are of no client: one that counted every millisecond would need weeks. Whoever says so only wants that
/// the real one cannot go on.
const MAX_CLOCK: u64 = 1 << 31;

/// An entry takes at least three bytes: id, clock, length.
const MIN_ENTRY: usize = 3;

/// Reads all clients of a payload, but for those with a clock that no client has.
///
/// # Errors
/// When the bytes end early, something follows, or a state is not JSON: relayed, it would throw in every client.
pub fn entries(payload: &[u8]) -> Result<Vec<Entry<'_>>, Error> {
    let mut cursor = Cursor::new(payload);
    let count: usize = cursor.read_var()?;
    if count > cursor.remaining() / MIN_ENTRY {
        return Err(Error::EndOfBuffer(count));
    }
    let mut entries = Vec::with_capacity(count);
    for _ in 0..count {
        let (client, clock, state) = (cursor.read_var()?, cursor.read_var::<u64>()?, cursor.take_str()?);
        serde_json::from_str::<serde::de::IgnoredAny>(state)?;
        if clock <= MAX_CLOCK {
            let clock = u32::try_from(clock).unwrap_or(u32::MAX);
            entries.push(Entry { client, clock, state });
        }
    }
    if cursor.has_content() {
        return Err(Error::UnexpectedValue);
    }
    Ok(entries)
}

/// Writes the payload for clients.
pub fn write<'a>(entries: impl ExactSizeIterator<Item = Entry<'a>>) -> Vec<u8> {
    let mut out = Vec::new();
    out.write_var(entries.len());
    for entry in entries {
        out.write_var(entry.client);
        out.write_var(entry.clock);
        out.write_string(entry.state);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        let gone = Entry { client: 1, clock: 1, state: "null" };
        let payload = write([gone].into_iter());
        assert_eq!(payload, [1, 1, 1, 4, 0x6e, 0x75, 0x6c, 0x6c]);
        assert_eq!(entries(&payload).unwrap(), [gone]);
        assert!(gone.is_gone());
        assert_eq!(entries(&[0]).unwrap(), []);
    }

    #[test]
    fn clocks_that_no_client_has_are_passed_over() {
        let payload = |clock: u64| {
            let mut out = vec![1, 7];
            out.write_var(clock);
            out.write_string("{}");
            out
        };
        assert_eq!(entries(&payload(1 << 31)).unwrap().len(), 1);
        for clock in [(1 << 31) + 1, u64::from(u32::MAX), 1 << 40, u64::MAX] {
            assert_eq!(entries(&payload(clock)).unwrap(), [], "{clock}");
        }
    }

    #[test]
    fn malformed() {
        for bad in [&[][..], &[2, 1, 1, 1, 0x30], &[255, 255, 255, 255, 15], &[1, 1, 1, 1, 0x7b], &[0, 0]] {
            assert!(entries(bad).is_err(), "{bad:?}");
        }
    }
}
