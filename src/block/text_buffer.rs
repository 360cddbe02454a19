//! The text of one client, append-only.

/// UTF-8 text addressed by bytes and by UTF-16 units.
#[derive(Debug, Clone, Default)]
pub(crate) struct TextBuffer {}

#[allow(unused_variables, dead_code, clippy::unimplemented, reason = "signatures first")]
impl TextBuffer {
    /// Makes an empty buffer; allocates nothing.
    pub(crate) const fn new() -> Self {
        Self {}
    }

    /// Appends `text` and returns the byte it starts at.
    pub(crate) fn push_str(&mut self, text: &str) -> u32 {
        unimplemented!()
    }

    /// The length in bytes.
    pub(crate) fn len(&self) -> u32 {
        unimplemented!()
    }

    /// Whether the buffer is empty.
    pub(crate) fn is_empty(&self) -> bool {
        unimplemented!()
    }

    /// Whether all of the text is ASCII, so that bytes and units are the same.
    pub(crate) fn is_ascii(&self) -> bool {
        unimplemented!()
    }

    /// The text from byte `start` to byte `end`.
    pub(crate) fn slice(&self, start: u32, end: u32) -> &str {
        unimplemented!()
    }

    /// Drops the text from `byte` on.
    pub(crate) fn truncate(&mut self, byte: u32) {
        unimplemented!()
    }

    /// Counts `bytes` more bytes that nobody refers to.
    pub(crate) fn add_garbage(&mut self, bytes: u32) {
        unimplemented!()
    }

    /// The bytes that nobody refers to.
    pub(crate) fn garbage(&self) -> usize {
        unimplemented!()
    }

    /// The byte `units` UTF-16 units after byte `start`; inside an astral char: its first byte and `true`.
    pub(crate) fn byte_at(&self, start: u32, units: u32) -> (u32, bool) {
        unimplemented!()
    }

    /// The UTF-16 units between two bytes.
    pub(crate) fn units_between(&self, start: u32, end: u32) -> u32 {
        unimplemented!()
    }

    /// Puts compacted text in place of all; no garbage is left.
    pub(crate) fn replace(&mut self, text: String) {
        unimplemented!()
    }

    /// Panics with the values if an invariant does not hold.
    pub(crate) fn check(&self) {
        unimplemented!()
    }
}

/// The length of `text` in UTF-16 units.
#[allow(unused_variables, dead_code, clippy::unimplemented, reason = "signatures first")]
pub(crate) fn utf16_len(text: &str) -> u32 {
    unimplemented!()
}

/// Whether all of `text` is ASCII.
#[allow(dead_code, reason = "signatures first")]
pub(crate) fn is_ascii(text: &str) -> bool {
    text.is_ascii()
}
