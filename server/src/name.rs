//! Names of rooms (layer 0).

use std::fmt;
use std::sync::Arc;

/// The longest name in bytes.
pub const MAX_NAME: usize = 255;

/// The name of a room, and of its document in the store: any printable Unicode, 1 to 255 bytes. It is a key, never a
/// path. Cloning costs a counter.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RoomName(Arc<str>);

/// A name that is not allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadName {
    /// No name at all.
    #[error("a room needs a name")]
    Empty,
    /// Longer than [`MAX_NAME`].
    #[error("the name of a room has at most {MAX_NAME} bytes")]
    TooLong,
    /// A control character or one that cannot be seen but changes how others look.
    #[error("the name of a room has only printable characters")]
    Unprintable,
    /// Not UTF-8 after percent decoding.
    #[error("the name of a room is UTF-8")]
    NotUtf8,
}

impl RoomName {
    /// Checks a name.
    ///
    /// # Errors
    /// See [`BadName`].
    pub fn new(name: &str) -> Result<Self, BadName> {
        if name.is_empty() {
            return Err(BadName::Empty);
        }
        if name.len() > MAX_NAME {
            return Err(BadName::TooLong);
        }
        if name.chars().any(unprintable) {
            return Err(BadName::Unprintable);
        }
        Ok(Self(name.into()))
    }

    /// Takes the name from the path of a URL (without its leading slash), percent decoded once.
    ///
    /// # Errors
    /// See [`BadName`].
    pub fn from_path(path: &str) -> Result<Self, BadName> {
        let decoded =
            percent_encoding::percent_decode_str(path).decode_utf8().map_err(|_| BadName::NotUtf8)?;
        Self::new(&decoded)
    }

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Control characters, line and paragraph separators, and those that turn the direction of writing.
fn unprintable(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}')
}

impl fmt::Display for RoomName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for RoomName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for good in ["a", "日本語 🎉", "../../etc/passwd", "a/b", &"x".repeat(255)] {
            assert_eq!(RoomName::new(good).unwrap().as_str(), good);
        }
        assert_eq!(RoomName::new(""), Err(BadName::Empty));
        assert_eq!(RoomName::new(&"x".repeat(256)), Err(BadName::TooLong));
        for bad in ["a\0b", "a\nb", "\u{202e}abc", "\u{7f}"] {
            assert_eq!(RoomName::new(bad), Err(BadName::Unprintable), "{bad:?}");
        }
        assert_eq!(RoomName::from_path("a%20b%2520").unwrap().as_str(), "a b%20");
        assert_eq!(RoomName::from_path("%ff"), Err(BadName::NotUtf8));
    }
}
