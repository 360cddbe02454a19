//! The frames that the load is made of.

use yatta_encoding::Write;

/// A mark: `~`, the writer in 5 digits, its number in 7, when it was sent in 16 (nanoseconds), all hexadecimal.
pub(super) const MARK: usize = 29;

/// What a mark says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) writer: u32,
    pub(super) number: u32,
    pub(super) sent: u64,
}

impl Mark {
    fn text(self) -> String {
        format!("~{:05x}{:07x}{:016x}", self.writer, self.number, self.sent)
    }

    /// The marks in a frame.
    pub(super) fn find(frame: &[u8]) -> impl Iterator<Item = Self> {
        let at = |start: usize, from: usize, to: usize| {
            let digits = frame.get(start + from..start + to)?;
            u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
        };
        let starts = frame.iter().enumerate().filter(|(_, byte)| **byte == b'~').map(|(start, _)| start);
        starts.filter_map(move |start| {
            let writer = u32::try_from(at(start, 1, 6)?).ok()?;
            let number = u32::try_from(at(start, 6, 13)?).ok()?;
            Some(Self { writer, number, sent: at(start, 13, MARK)? })
        })
    }
}

/// Client ids of writers begin here: none of a real client, which has 32 random bits, is likely to clash.
const CLIENTS: u64 = 1 << 40;

/// The update that appends a mark behind the writer's last one.
pub(super) fn update(mark: Mark) -> Vec<u8> {
    let client = CLIENTS + u64::from(mark.writer);
    let clock = u64::from(mark.number) * MARK as u64;
    let mut out = Vec::with_capacity(64);
    // One client with one block.
    out.write_var(1u8);
    out.write_var(1u8);
    out.write_var(client);
    out.write_var(clock);
    if mark.number == 0 {
        // A string in the root "text".
        out.write_u8(4);
        out.write_var(1u8);
        out.write_string("text");
    } else {
        out.write_u8(0x84);
        out.write_var(client);
        out.write_var(clock - 1);
    }
    out.write_string(&mark.text());
    // Nothing is deleted.
    out.write_var(0u8);
    out
}

/// The update that makes a text of this many bytes.
pub(super) fn filling(bytes: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes + 32);
    out.write_var(1u8);
    out.write_var(1u8);
    out.write_var(CLIENTS - 1);
    out.write_var(0u8);
    out.write_u8(4);
    out.write_var(1u8);
    out.write_string("filling");
    out.write_string(&"lorem ipsum ".repeat(bytes / 12 + 1));
    out.write_var(0u8);
    out
}

/// An update as a frame.
pub(super) fn framed(prefix: &[u8], update: &[u8]) -> Vec<u8> {
    let mut out = [prefix, &[0, 2]].concat();
    out.write_buf(update);
    out
}

/// Presence as a frame.
pub(super) fn presence(prefix: &[u8], client: usize, clock: u32) -> Vec<u8> {
    let mut states = Vec::new();
    states.write_var(1u8);
    states.write_var(client as u64 + 1);
    states.write_var(clock);
    states.write_string(r#"{"cursor":{"anchor":5,"head":7},"user":{"name":"load","color":"teal"}}"#);
    let mut out = [prefix, &[1]].concat();
    out.write_buf(&states);
    out
}

#[cfg(test)]
mod tests {
    use yatta::updates::decoder::Decode;
    use yatta::{Doc, GetString, Transact, Update};

    use super::*;

    #[test]
    fn marks_are_found_in_what_the_engine_makes_of_them() {
        let doc = Doc::new();
        let mark = |number| Mark { writer: 7, number, sent: 123_456 };
        for number in 0..3 {
            let update = Update::decode_v1(&update(mark(number))).unwrap();
            doc.transact_mut().apply_update(update).unwrap();
        }
        let text = doc.get_or_insert_text("text");
        let text = text.get_string(&doc.transact());
        assert_eq!(text.len(), 3 * MARK);
        let found: Vec<Mark> = Mark::find(text.as_bytes()).collect();
        assert_eq!(found, [mark(0), mark(1), mark(2)]);
        assert_eq!(Mark::find(b"~~00 ~12345").count(), 0);
    }
}
