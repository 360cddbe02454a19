//! The order in which JavaScript walks an object: array indices ascending, then the rest as inserted.

use super::{Any, AnyMap, AnyMapIter};
use std::vec;

/// Walks the entries of a map as JavaScript would.
pub(super) enum JsOrder<'a> {
    /// No key is an array index: as inserted.
    AsIs(AnyMapIter<'a>),
    Sorted(vec::IntoIter<(&'a String, &'a Any)>),
}

impl<'a> JsOrder<'a> {
    /// Starts a walk. Costs O(entries), and a sort only if some key is an array index.
    pub(super) fn new(map: &'a AnyMap) -> Self {
        if !map.keys().any(|key| array_index(key).is_some()) {
            return Self::AsIs(map.iter());
        }
        let mut entries: Vec<_> = map.iter().collect();
        // The sort is stable, so keys that are no index stay as inserted.
        entries.sort_by_key(|(key, _)| array_index(key).unwrap_or(u32::MAX));
        Self::Sorted(entries.into_iter())
    }
}

impl<'a> Iterator for JsOrder<'a> {
    type Item = (&'a String, &'a Any);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::AsIs(iter) => iter.next(),
            Self::Sorted(iter) => iter.next(),
        }
    }
}

/// Returns the number that `key` is the canonical text of, if it is an array index (below 2^32-1).
fn array_index(key: &str) -> Option<u32> {
    let bytes = key.as_bytes();
    match bytes.first()? {
        b'0' if bytes.len() > 1 => None,
        b'0'..=b'9' if bytes.len() <= 10 => key.parse().ok().filter(|n| *n != u32::MAX),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::array_index;

    #[test]
    fn only_canonical_indices_count() {
        assert_eq!(array_index("0"), Some(0));
        assert_eq!(array_index("10"), Some(10));
        assert_eq!(array_index("4294967294"), Some(u32::MAX - 1));
        for key in ["", "01", "-1", "+1", "1.0", "1e3", " 1", "a", "4294967295", "99999999999"] {
            assert_eq!(array_index(key), None, "{key}");
        }
    }
}
