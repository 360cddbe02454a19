//! The URL of a room.

use std::fmt::Write;

/// Puts the name of a room behind the path of a URL, before its query.
pub(crate) fn of_room(url: &str, room: &str) -> String {
    let (base, query) = url.split_once('?').map_or((url, None), |(base, query)| (base, Some(query)));
    let mut address = base.trim_end_matches('/').to_owned();
    address.push('/');
    for byte in room.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            address.push(char::from(byte));
        } else {
            // Writing to a string does not fail.
            let _ = write!(address, "%{byte:02X}");
        }
    }
    if let Some(query) = query {
        address.push('?');
        address.push_str(query);
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_rooms() {
        assert_eq!(of_room("ws://a:1/", "b c/é"), "ws://a:1/b%20c%2F%C3%A9");
        assert_eq!(of_room("ws://a:1?token=x", "b"), "ws://a:1/b?token=x");
        assert_eq!(of_room("wss://a/sub/", "b"), "wss://a/sub/b");
    }
}
