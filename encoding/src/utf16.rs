//! Lengths and offsets in UTF-16 units, the unit in which Yjs counts text.

/// Counts the UTF-16 units of `s`. Costs O(bytes), a fraction of a nanosecond each.
#[inline]
pub fn len(s: &str) -> usize {
    // One unit for each byte that begins a character, one more for those of four bytes.
    let units = |b: &u8| usize::from((b & 0xc0) != 0x80) + usize::from(*b >= 0xf0);
    s.as_bytes().iter().map(units).sum()
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
