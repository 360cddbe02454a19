//! Lengths and offsets in UTF-16 units, the unit in which Yjs counts text.

/// Counts the UTF-16 units of `s`. Costs O(bytes), some 16 of them a nanosecond.
#[inline]
pub fn len(s: &str) -> usize {
    if s.is_ascii() { s.len() } else { len_wide(s) }
}

/// As [`len`], for text that is not ASCII.
fn len_wide(s: &str) -> usize {
    // One unit for each byte that begins a character, one more for those of four bytes.
    let units = |b: &u8| u8::from((b & 0xc0) != 0x80) + u8::from(*b >= 0xf0);
    // The sum of 64 bytes fits a `u8`, so that vector code counts 16 and more bytes at once.
    let (blocks, rest) = s.as_bytes().as_chunks::<64>();
    let whole: usize = blocks.iter().map(|block| usize::from(block.iter().map(units).sum::<u8>())).sum();
    whole + usize::from(rest.iter().map(units).sum::<u8>())
}

/// Finds the byte offset of the UTF-16 offset `units`, and how many units are missing to it.
///
/// One is missing if the offset is inside of a surrogate pair (the byte offset is then before that
/// character); more if the string is too short. Costs O(offset).
pub fn offset(s: &str, units: usize) -> (usize, usize) {
    let mut left = units;
    for (at, c) in s.char_indices() {
        if left < c.len_utf16() {
            return (at, left);
        }
        left -= c.len_utf16();
    }
    (s.len(), left)
}

/// Cuts `units` UTF-16 units off the front of `s`.
///
/// Returns what is left, and whether a half of a surrogate pair stands before it (JavaScript writes that as
/// U+FFFD).
pub fn cut_front(s: &str, units: usize) -> (&str, bool) {
    let (at, missing) = offset(s, units);
    let rest = &s[at..];
    match rest.chars().next() {
        Some(c) if missing > 0 => (&rest[c.len_utf8()..], true),
        _ => (rest, false),
    }
}
