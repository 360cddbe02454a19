//! Bytes as hex. Test binaries take it in by its path, also those without the rest of `common`.

#![allow(dead_code, reason = "some only write and some only read")]

/// Bytes in lower case.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes that hex says, white space around it aside.
pub(crate) fn unhex(text: &str) -> Vec<u8> {
    let (pairs, rest) = text.trim().as_bytes().as_chunks::<2>();
    assert!(rest.is_empty(), "an odd number of digits: {text}");
    let digit = |digit: u8| char::from(digit).to_digit(16).unwrap_or_else(|| panic!("no hex: {text}")) as u8;
    pairs.iter().map(|[high, low]| digit(*high) << 4 | digit(*low)).collect()
}
