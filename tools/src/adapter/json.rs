//! JSON values that keep the order of their keys: the requests and replies of the adapter.
//!
//! Key order matters here, because an object that goes into a document is written to the wire in the order of its
//! keys. A lone surrogate in a string becomes U+FFFD, as it would on the wire. Cost: linear, but for an object,
//! whose keys are looked up one by one.

use std::fmt;

/// Values nested deeper than this are refused, so that a hostile line cannot exhaust the stack.
const DEPTH_LIMIT: u32 = 512;

/// A JSON value; objects keep their keys in the order in which they came.
#[derive(Debug, Clone, Default)]
pub(crate) enum Json {
    /// `null`, also what an absent key reads as.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// Every JSON number is a double, as in JavaScript.
    Number(f64),
    /// A string.
    String(String),
    /// An array.
    Array(Vec<Self>),
    /// An object; keys are unique.
    Object(Vec<(String, Self)>),
}

static NULL: Json = Json::Null;

impl Json {
    /// Parses one JSON text.
    ///
    /// # Errors
    /// A sentence with the byte offset of what could not be read.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut parser = Parser { bytes: text.as_bytes(), at: 0 };
        let value = parser.value(0)?;
        parser.blanks();
        if parser.at < parser.bytes.len() {
            return Err(parser.error("text after the value"));
        }
        Ok(value)
    }

    /// Builds an object from its entries.
    pub(crate) fn object<const N: usize>(entries: [(&str, Self); N]) -> Self {
        Self::Object(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    }

    /// Builds a value with the tag `$` in front, the way in which TJSON writes what JSON cannot.
    pub(crate) fn tagged<const N: usize>(tag: &str, entries: [(&str, Self); N]) -> Self {
        let mut all = vec![("$".to_owned(), Self::from(tag))];
        all.extend(entries.into_iter().map(|(key, value)| (key.to_owned(), value)));
        Self::Object(all)
    }

    /// Returns the value of `key`, or `None` for an absent key and for anything that is no object.
    pub(crate) fn find(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Object(entries) => entries.iter().find(|(k, _)| k == key).map(|(_, value)| value),
            _ => None,
        }
    }

    /// Returns the value of `key`; an absent one reads as null.
    pub(crate) fn get(&self, key: &str) -> &Self {
        self.find(key).unwrap_or(&NULL)
    }

    /// Sets a key of an object, in place if it is there, else at the end.
    pub(crate) fn set(&mut self, key: &str, value: Self) {
        if let Self::Object(entries) = self {
            match entries.iter_mut().find(|(k, _)| k == key) {
                Some((_, old)) => *old = value,
                None => entries.push((key.to_owned(), value)),
            }
        }
    }

    /// Returns the text of a string.
    pub(crate) fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the number.
    pub(crate) fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// Returns a whole number from 0 to 2^53.
    pub(crate) fn as_u64(&self) -> Option<u64> {
        let number = self.as_f64()?;
        (number >= 0.0 && number.fract() == 0.0 && number <= 9_007_199_254_740_992.0).then_some(number as u64)
    }

    /// Returns the boolean.
    pub(crate) fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// Returns the elements of an array; anything else has none.
    pub(crate) fn items(&self) -> &[Self] {
        match self {
            Self::Array(items) => items,
            _ => &[],
        }
    }

    /// Returns the entries of an object; anything else has none.
    pub(crate) fn entries(&self) -> &[(String, Self)] {
        match self {
            Self::Object(entries) => entries,
            _ => &[],
        }
    }

    /// Returns whether this is null.
    pub(crate) fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }
}

/// Two values are equal if they hold the same, whatever the order of their keys.
impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Number(a), Self::Number(b)) => a == b,
            (Self::String(a), Self::String(b)) => a == b,
            (Self::Array(a), Self::Array(b)) => a == b,
            (Self::Object(a), Self::Object(b)) => {
                a.len() == b.len() && a.iter().all(|(key, value)| other.find(key) == Some(value))
            }
            _ => false,
        }
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Self {
        Self::String(text)
    }
}

impl From<u32> for Json {
    fn from(number: u32) -> Self {
        Self::Number(f64::from(number))
    }
}

impl From<bool> for Json {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<Vec<Self>> for Json {
    fn from(items: Vec<Self>) -> Self {
        Self::Array(items)
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Number(number) if !number.is_finite() => f.write_str("null"),
            // 2^53: below it a whole double prints as an integer without loss
            Self::Number(number) if number.fract() == 0.0 && number.abs() < 9_007_199_254_740_992.0 => {
                write!(f, "{}", *number as i64)
            }
            Self::Number(number) => write!(f, "{number:?}"),
            Self::String(text) => write_string(f, text),
            Self::Array(items) => {
                f.write_str("[")?;
                for (i, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if i == 0 { "" } else { "," })?;
                }
                f.write_str("]")
            }
            Self::Object(entries) => {
                f.write_str("{")?;
                for (i, (key, value)) in entries.iter().enumerate() {
                    f.write_str(if i == 0 { "" } else { "," })?;
                    write_string(f, key)?;
                    write!(f, ":{value}")?;
                }
                f.write_str("}")
            }
        }
    }
}

fn write_string(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    use fmt::Write as _;
    f.write_str("\"")?;
    for c in text.chars() {
        match c {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            c if c < ' ' => write!(f, "\\u{:04x}", c as u32)?,
            c => f.write_char(c)?,
        }
    }
    f.write_str("\"")
}

/// Writes bytes as lower-case hex.
pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    text
}

/// Reads hex of either case.
///
/// # Errors
/// If the length is odd or a character is no hex digit.
pub(crate) fn unhex(text: &str) -> Result<Vec<u8>, String> {
    let digit =
        |b: u8| char::from(b).to_digit(16).ok_or_else(|| format!("{:?} is no hex digit", char::from(b)));
    let bytes = text.as_bytes();
    if bytes.len() % 2 == 1 {
        return Err("hex of odd length".to_owned());
    }
    bytes.chunks_exact(2).map(|pair| Ok((digit(pair[0])? * 16 + digit(pair[1])?) as u8)).collect()
}

struct Parser<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Parser<'_> {
    fn error(&self, what: &str) -> String {
        format!("JSON: {what} at byte {}", self.at)
    }

    fn blanks(&mut self) {
        while matches!(self.bytes.get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn expect(&mut self, byte: u8) -> Result<(), String> {
        if self.bytes.get(self.at) == Some(&byte) {
            self.at += 1;
            Ok(())
        } else {
            Err(self.error(&format!("expected {:?}", char::from(byte))))
        }
    }

    fn word(&mut self, word: &str, value: Json) -> Result<Json, String> {
        if self.bytes[self.at..].starts_with(word.as_bytes()) {
            self.at += word.len();
            Ok(value)
        } else {
            Err(self.error("unknown word"))
        }
    }

    fn value(&mut self, depth: u32) -> Result<Json, String> {
        if depth > DEPTH_LIMIT {
            return Err(self.error("nested too deep"));
        }
        self.blanks();
        match self.bytes.get(self.at) {
            Some(b'n') => self.word("null", Json::Null),
            Some(b't') => self.word("true", Json::Bool(true)),
            Some(b'f') => self.word("false", Json::Bool(false)),
            Some(b'"') => Ok(Json::String(self.string()?)),
            Some(b'[') => self.array(depth),
            Some(b'{') => self.object(depth),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => Err(self.error("no value")),
        }
    }

    fn array(&mut self, depth: u32) -> Result<Json, String> {
        self.expect(b'[')?;
        let mut items = Vec::new();
        self.blanks();
        if self.expect(b']').is_ok() {
            return Ok(Json::Array(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.blanks();
            if self.expect(b',').is_err() {
                self.expect(b']')?;
                return Ok(Json::Array(items));
            }
        }
    }

    fn object(&mut self, depth: u32) -> Result<Json, String> {
        self.expect(b'{')?;
        let mut object = Json::Object(Vec::new());
        self.blanks();
        if self.expect(b'}').is_ok() {
            return Ok(object);
        }
        loop {
            self.blanks();
            let key = self.string()?;
            self.blanks();
            self.expect(b':')?;
            let value = self.value(depth + 1)?;
            object.set(&key, value);
            self.blanks();
            if self.expect(b',').is_err() {
                self.expect(b'}')?;
                return Ok(object);
            }
        }
    }

    fn number(&mut self) -> Result<Json, String> {
        let start = self.at;
        while matches!(self.bytes.get(self.at), Some(b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9')) {
            self.at += 1;
        }
        let text = std::str::from_utf8(&self.bytes[start..self.at]).map_err(|_| self.error("bad number"))?;
        text.parse().map(Json::Number).map_err(|_| self.error("bad number"))
    }

    fn string(&mut self) -> Result<String, String> {
        self.expect(b'"')?;
        let mut text = String::new();
        let mut start = self.at;
        loop {
            match self.bytes.get(self.at) {
                None => return Err(self.error("string without end")),
                Some(b'"') => {
                    text.push_str(self.piece(start)?);
                    self.at += 1;
                    return Ok(text);
                }
                Some(b'\\') => {
                    text.push_str(self.piece(start)?);
                    self.at += 1;
                    text.push(self.escape()?);
                    start = self.at;
                }
                Some(_) => self.at += 1,
            }
        }
    }

    fn piece(&self, start: usize) -> Result<&str, String> {
        std::str::from_utf8(&self.bytes[start..self.at]).map_err(|_| self.error("bad UTF-8"))
    }

    fn escape(&mut self) -> Result<char, String> {
        let byte = *self.bytes.get(self.at).ok_or_else(|| self.error("escape without end"))?;
        self.at += 1;
        Ok(match byte {
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode(),
            b'"' | b'\\' | b'/' => char::from(byte),
            _ => return Err(self.error("unknown escape")),
        })
    }

    fn unicode(&mut self) -> Result<char, String> {
        let high = self.four_digits()?;
        if (0xD800..0xDC00).contains(&high) && self.bytes[self.at..].starts_with(b"\\u") {
            let back = self.at;
            self.at += 2;
            let low = self.four_digits()?;
            if (0xDC00..0xE000).contains(&low) {
                let code = 0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00);
                return char::from_u32(code).ok_or_else(|| self.error("bad escape"));
            }
            self.at = back;
        }
        Ok(char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn four_digits(&mut self) -> Result<u32, String> {
        let digits = self.bytes.get(self.at..self.at + 4).ok_or_else(|| self.error("short escape"))?;
        let text = std::str::from_utf8(digits).map_err(|_| self.error("bad escape"))?;
        let code = u32::from_str_radix(text, 16).map_err(|_| self.error("bad escape"))?;
        self.at += 4;
        Ok(code)
    }
}
