//! The text of one client: append-only UTF-8, addressed by bytes and, as Yjs counts, by UTF-16 units.
//!
//! Contiguous clocks are contiguous bytes, so splitting and joining items copies no text. As long as all of it is
//! ASCII, bytes and units are the same and nothing else is stored. After that, for every [`STEP`]th byte the buffer
//! knows the number of units before the char that holds it, so that turning units into bytes, or back, is a
//! search in those samples and a scan of a few dozen bytes.
//!
//! Kept here, and held by [`TextBuffer::check`]: no samples mean no text but ASCII; otherwise one for each `STEP`
//! bytes begun; `garbage` is at most the length.

/// Bytes from one sample to the next: 4 bytes in 64 is a memory cost of 6 %, and a scan of 64 bytes takes a few
/// dozen nanoseconds at worst.
#[cfg(not(test))]
const STEP: usize = 64;
// Small under test, so that short texts have many samples; less than the longest char.
#[cfg(test)]
const STEP: usize = 3;

/// UTF-8 text of one client. Positions are bytes, on a char boundary, unless they are called units.
#[derive(Debug, Clone, Default)]
pub(crate) struct TextBuffer {
    text: String,
    /// Units before the char that holds byte `STEP * n`; empty while all text is ASCII.
    samples: Vec<u32>,
    garbage: usize,
}

impl TextBuffer {
    /// Appends `text` and returns the byte it starts at. Amortised O(bytes); the first text that is not ASCII
    /// costs a pass over all samples.
    ///
    /// # Panics
    /// If the buffer would exceed 4 GiB.
    #[inline]
    pub(crate) fn push_str(&mut self, text: &str) -> u32 {
        let start = self.len();
        assert!(u32::try_from(self.text.len() + text.len()).is_ok(), "the text of one client exceeds 4 GiB");
        if let [letter] = text.as_bytes() {
            // What is typed is mostly this, and a copy of any length would be a call.
            self.text.push(char::from(*letter));
            if !self.samples.is_empty() {
                self.sample();
            }
            return start;
        }
        self.text.push_str(text);
        if !self.samples.is_empty() || !text.is_ascii() {
            self.sample();
        }
        start
    }

    /// The length in bytes.
    #[inline]
    pub(crate) fn len(&self) -> u32 {
        self.text.len() as u32
    }

    /// Whether all of the text is, and always was, ASCII, so that bytes and units are the same.
    #[inline]
    pub(crate) fn is_ascii(&self) -> bool {
        self.samples.is_empty()
    }

    /// The text from byte `start` to byte `end`.
    ///
    /// # Panics
    /// If they are not char boundaries in order, within the buffer.
    #[inline]
    pub(crate) fn slice(&self, start: u32, end: u32) -> &str {
        &self.text[start as usize..end as usize]
    }

    /// Drops the text from `byte` on. It is not counted as garbage.
    ///
    /// # Panics
    /// If `byte` is not a char boundary.
    #[inline]
    pub(crate) fn truncate(&mut self, byte: u32) {
        self.text.truncate(byte as usize);
        self.samples.truncate((byte as usize).div_ceil(STEP));
        self.garbage = self.garbage.min(self.text.len());
    }

    /// Counts `bytes` more bytes that nobody refers to.
    #[inline]
    pub(crate) fn add_garbage(&mut self, bytes: u32) {
        self.garbage += bytes as usize;
        debug_assert!(self.garbage <= self.text.len(), "{} of {} bytes", self.garbage, self.text.len());
    }

    /// The bytes that nobody refers to.
    #[inline]
    pub(crate) const fn garbage(&self) -> usize {
        self.garbage
    }

    /// Puts compacted text in place of all; no garbage is left. O(bytes).
    pub(crate) fn replace(&mut self, text: String) {
        assert!(u32::try_from(text.len()).is_ok(), "the text of one client exceeds 4 GiB");
        self.text = text;
        self.samples = Vec::new();
        self.garbage = 0;
        if !self.text.is_ascii() {
            self.samples.reserve_exact(self.text.len().div_ceil(STEP));
            self.sample();
        }
    }

    /// The byte that stands `units` UTF-16 units after byte `start`. For a place between the two units of an
    /// astral char: where that char starts, and `true`. The place is not beyond the end of the text.
    #[inline]
    pub(crate) fn byte_at(&self, start: u32, units: u32) -> (u32, bool) {
        if self.samples.is_empty() {
            debug_assert!(start + units <= self.len(), "{start} + {units} of {} bytes", self.len());
            return (start + units, false);
        }
        let (mut from, mut left) = (start as usize, units);
        if units as usize > STEP {
            let target = self.units_before(from) + units;
            // A unit takes one to three bytes, so the place is in these samples.
            let first = from / STEP;
            let end = ((from + 3 * units as usize) / STEP + 1).min(self.samples.len());
            let sample = first + self.samples[first..end].partition_point(|&it| it <= target) - 1;
            if sample > first {
                from = self.boundary(sample * STEP);
                left = target - self.samples[sample];
            }
        }
        let (byte, inside) = skip_units(&self.text.as_bytes()[from..], left);
        ((from + byte) as u32, inside)
    }

    /// The UTF-16 units between two bytes.
    #[inline]
    pub(crate) fn units_between(&self, start: u32, end: u32) -> u32 {
        if self.samples.is_empty() {
            return end - start;
        }
        if (end - start) as usize <= 2 * STEP {
            return utf16_len(self.slice(start, end));
        }
        self.units_before(end as usize) - self.units_before(start as usize)
    }

    /// The units before a byte; there are samples.
    fn units_before(&self, byte: usize) -> u32 {
        // The end of the text can be where the next sample will be.
        let sample = (byte / STEP).min(self.samples.len() - 1);
        self.samples[sample] + utf16_len(&self.text[self.boundary(sample * STEP)..byte])
    }

    /// Takes the samples that are missing.
    fn sample(&mut self) {
        if self.samples.is_empty() && !self.text.is_empty() {
            self.samples.push(0);
        }
        while self.samples.len() * STEP < self.text.len() {
            let byte = self.boundary(self.samples.len() * STEP);
            let before = self.boundary((self.samples.len() - 1) * STEP);
            let units = self.samples[self.samples.len() - 1] + utf16_len(&self.text[before..byte]);
            self.samples.push(units);
        }
    }

    /// Where the char that holds `byte` starts.
    #[inline]
    fn boundary(&self, byte: usize) -> usize {
        let mut at = byte;
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        at
    }

    /// Panics with the values if an invariant does not hold. O(bytes).
    pub(crate) fn check(&self) {
        assert!(self.garbage <= self.text.len(), "{} of {} bytes are garbage", self.garbage, self.text.len());
        if self.samples.is_empty() {
            assert!(self.text.is_ascii(), "there are no samples of a text that is not ASCII");
            return;
        }
        assert_eq!(
            self.samples.len(),
            self.text.len().div_ceil(STEP),
            "samples of {} bytes",
            self.text.len()
        );
        let mut units = 0;
        for (start, char) in self.text.char_indices() {
            for sample in start.div_ceil(STEP)..(start + char.len_utf8()).div_ceil(STEP) {
                assert_eq!(self.samples[sample], units, "sample {sample}, which {char:?} at {start} holds");
            }
            units += char.len_utf16() as u32;
        }
    }
}

/// The length of `text` in UTF-16 units.
#[inline]
pub(crate) fn utf16_len(text: &str) -> u32 {
    yatta_encoding::utf16::len(text) as u32
}

/// Whether all of `text` is ASCII.
#[inline]
pub(crate) const fn is_ascii(text: &str) -> bool {
    text.is_ascii()
}

/// The bytes that the first `units` units of UTF-8 `bytes` take, and whether the last char is cut in two (then
/// it is left out).
fn skip_units(bytes: &[u8], units: u32) -> (usize, bool) {
    let (mut at, mut left) = (0, units as usize);
    while left > 0 {
        if left >= 8
            && let Some(block) = bytes[at..].first_chunk::<8>()
            && block.is_ascii()
        {
            (at, left) = (at + 8, left - 8);
            continue;
        }
        let Some(&lead) = bytes.get(at) else {
            debug_assert!(false, "{left} units beyond the end of the text");
            break;
        };
        match lead {
            0..0x80 => at += 1,
            0x80..0xE0 => at += 2,
            0xE0..0xF0 => at += 3,
            0xF0.. if left == 1 => return (at, true),
            0xF0.. => (at, left) = (at + 4, left - 1),
        }
        left -= 1;
    }
    (at, false)
}

#[cfg(test)]
mod tests {
    use super::{TextBuffer, utf16_len};

    const CHARS: [char; 8] = ['a', 'b', ' ', 'é', 'ß', '語', '\u{FFFD}', '😀'];

    fn random_text(random: &mut fastrand::Rng, ascii: bool) -> String {
        let kinds = if ascii { 3 } else { CHARS.len() };
        (0..random.usize(..12)).map(|_| CHARS[random.usize(..kinds)]).collect()
    }

    /// Every position of the buffer against a plain `String`.
    fn check(buffer: &TextBuffer, text: &str) {
        buffer.check();
        assert_eq!(buffer.len() as usize, text.len());
        assert_eq!(buffer.slice(0, buffer.len()), text);
        assert!(text.is_ascii() || !buffer.is_ascii());
        let mut starts: Vec<usize> = text.char_indices().map(|it| it.0).collect();
        starts.push(text.len());
        for &start in &starts {
            let mut units = 0;
            for char in text[start..].chars() {
                let end =
                    start + text[start..].char_indices().nth(chars_in(&text[start..], units)).unwrap().0;
                assert_eq!(
                    buffer.byte_at(start as u32, units),
                    (end as u32, false),
                    "{text:?} {start} {units}"
                );
                assert_eq!(buffer.units_between(start as u32, end as u32), units, "{text:?} {start} {end}");
                if char.len_utf16() == 2 {
                    assert_eq!(
                        buffer.byte_at(start as u32, units + 1),
                        (end as u32, true),
                        "{text:?} {start}"
                    );
                }
                units += char.len_utf16() as u32;
            }
            assert_eq!(buffer.byte_at(start as u32, units), (buffer.len(), false));
            assert_eq!(buffer.units_between(start as u32, buffer.len()), units);
        }
    }

    /// How many chars the first `units` units are.
    fn chars_in(text: &str, units: u32) -> usize {
        let mut left = units;
        text.chars()
            .take_while(|char| {
                let more = left > 0;
                left = left.saturating_sub(char.len_utf16() as u32);
                more
            })
            .count()
    }

    #[test]
    fn random_operations_agree_with_a_string() {
        for seed in 0..60 {
            println!("seed {seed}");
            let mut random = fastrand::Rng::with_seed(seed);
            let (mut buffer, mut text) = (TextBuffer::default(), String::new());
            for step in 0..60 {
                match random.u32(..8) {
                    0 => {
                        let byte = text.char_indices().map(|it| it.0).nth(random.usize(..20));
                        let byte = byte.unwrap_or(text.len());
                        buffer.truncate(byte as u32);
                        text.truncate(byte);
                    }
                    1 => {
                        let units: Vec<char> = text.chars().filter(|_| random.bool()).collect();
                        text = units.into_iter().collect();
                        buffer.replace(text.clone());
                        assert_eq!((buffer.is_ascii(), buffer.garbage()), (text.is_ascii(), 0));
                    }
                    _ => {
                        let more = random_text(&mut random, step < 20);
                        assert_eq!(buffer.push_str(&more) as usize, text.len());
                        text.push_str(&more);
                        buffer.add_garbage(more.len() as u32 / 2);
                    }
                }
                check(&buffer, &text);
            }
        }
    }

    #[test]
    fn ascii_has_no_samples_until_something_else_comes() {
        let mut buffer = TextBuffer::default();
        buffer.push_str(&"plain ".repeat(50));
        assert!(buffer.is_ascii() && buffer.samples.capacity() == 0);
        buffer.push_str("naïve");
        assert!(!buffer.is_ascii());
        check(&buffer, &("plain ".repeat(50) + "naïve"));
        // What is truncated to nothing starts anew.
        buffer.truncate(0);
        assert!(buffer.is_ascii());
    }

    #[test]
    fn garbage_is_counted() {
        let mut buffer = TextBuffer::default();
        buffer.push_str("0123456789");
        buffer.add_garbage(6);
        assert_eq!(buffer.garbage(), 6);
        buffer.truncate(3);
        assert_eq!(buffer.garbage(), 3);
        buffer.replace("abc".into());
        assert_eq!(buffer.garbage(), 0);
    }

    #[test]
    fn units_are_counted_as_encode_utf16_does() {
        let mut random = fastrand::Rng::with_seed(5);
        for _ in 0..300 {
            let text: String = (0..20).map(|_| random_text(&mut random, false)).collect();
            assert_eq!(utf16_len(&text) as usize, text.encode_utf16().count(), "{text:?}");
        }
        // The largest sum of one block.
        assert_eq!(utf16_len(&"😀".repeat(64)), 128);
    }
}
