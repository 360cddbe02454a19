//! Reading JSON text as `JSON.parse` does.
//!
//! Integers that JavaScript holds exactly become integers, and others of 64 bits too where they are asked for; all other
//! numbers floats. An escaped half of a
//! surrogate pair becomes U+FFFD, because a Rust string cannot hold it.

use crate::any::entries::Entries;
use crate::any::{Any, AnyMap, Number};
use crate::error::Error;
use crate::limits::MAX_DEPTH;
use serde::de::IgnoredAny;

/// A container whose elements are being read.
enum Open {
    Array(Vec<Any>),
    Object { key: String, entries: Entries },
}

/// Which integers are kept as such; the others are numbers of JavaScript.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::any) enum Integers {
    /// Those that JavaScript holds exactly.
    Safe,
    /// All of 64 bits.
    All,
}

impl Integers {
    /// Whether `int` is one of them.
    pub(super) fn has(self, int: i64) -> bool {
        self == Self::All || int.unsigned_abs() <= Number::I64_MAX_SAFE_INTEGER.unsigned_abs()
    }
}

/// Parses the whole of `src`.
pub(in crate::any) fn parse(src: &str, integers: Integers) -> Result<Any, Error> {
    let mut parser = Parser { src, at: 0, integers };
    parser.document().map_err(|error| match error {
        // Malformed text: let serde_json say it, in the variant that callers know.
        Error::UnexpectedValue => {
            serde_json::from_str::<IgnoredAny>(src).err().map_or(error, Error::InvalidJSON)
        }
        other => other,
    })
}

struct Parser<'a> {
    src: &'a str,
    at: usize,
    integers: Integers,
}

impl<'a> Parser<'a> {
    /// A mark for [`parse`], which finds the words.
    #[cold]
    fn malformed() -> Error {
        Error::UnexpectedValue
    }

    fn peek(&self) -> Option<u8> {
        self.src.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    /// Takes `byte` if it is next after white space.
    fn accept(&mut self, byte: u8) -> bool {
        self.space();
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8) -> Result<(), Error> {
        if self.accept(byte) { Ok(()) } else { Err(Self::malformed()) }
    }

    fn document(&mut self) -> Result<Any, Error> {
        let mut open: Vec<Open> = Vec::new();
        loop {
            self.space();
            let mut value = match self.peek() {
                Some(bracket @ (b'[' | b'{')) => {
                    self.at += 1;
                    match self.begin(bracket)? {
                        Ok(empty) => empty,
                        Err(_) if open.len() >= MAX_DEPTH => {
                            return Err(Error::invalid(self.at, "JSON is nested too deep"));
                        }
                        Err(container) => {
                            open.push(container);
                            continue;
                        }
                    }
                }
                Some(b'"') => Any::String(self.string()?.into()),
                _ => self.literal()?,
            };
            loop {
                let Some(container) = open.last_mut() else {
                    self.space();
                    return if self.at == self.src.len() { Ok(value) } else { Err(Self::malformed()) };
                };
                if self.put(container, value)? {
                    break;
                }
                value = match open.pop() {
                    Some(Open::Array(values)) => Any::Array(values.into()),
                    Some(Open::Object { entries, .. }) => Any::Map(entries.into()),
                    None => return Err(Self::malformed()),
                };
            }
        }
    }

    /// Begins a container after its bracket: an empty one is complete at once.
    fn begin(&mut self, bracket: u8) -> Result<Result<Any, Open>, Error> {
        if bracket == b'[' {
            let empty = self.accept(b']');
            return Ok(if empty { Ok(Any::Array([].into())) } else { Err(Open::Array(Vec::new())) });
        }
        if self.accept(b'}') {
            return Ok(Ok(Any::Map(AnyMap::new())));
        }
        let key = self.key()?;
        Ok(Err(Open::Object { key, entries: Entries::default() }))
    }

    /// Puts a value in a container, and tells whether another is to come.
    fn put(&mut self, container: &mut Open, value: Any) -> Result<bool, Error> {
        let end = match container {
            Open::Array(values) => {
                values.push(value);
                b']'
            }
            Open::Object { key, entries } => {
                entries.insert(std::mem::take(key), value);
                b'}'
            }
        };
        if self.accept(b',') {
            if let Open::Object { key, .. } = container {
                *key = self.key()?;
            }
            return Ok(true);
        }
        self.expect(end)?;
        Ok(false)
    }

    fn key(&mut self) -> Result<String, Error> {
        self.space();
        let key = self.string()?;
        self.expect(b':')?;
        Ok(key.into_owned())
    }

    fn literal(&mut self) -> Result<Any, Error> {
        let rest = &self.src[self.at..];
        for (word, value) in [("null", Any::Null), ("true", Any::Bool(true)), ("false", Any::Bool(false))] {
            if rest.starts_with(word) {
                self.at += word.len();
                return Ok(value);
            }
        }
        self.number().map(Any::Number)
    }

    fn number(&mut self) -> Result<Number, Error> {
        let start = self.at;
        self.at += usize::from(self.peek() == Some(b'-'));
        match self.peek() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits()?,
            _ => return Err(Self::malformed()),
        }
        let mut is_integer = true;
        if self.peek() == Some(b'.') {
            is_integer = false;
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            is_integer = false;
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            self.digits()?;
        }
        let text = &self.src[start..self.at];
        if is_integer
            && text != "-0"
            && let Ok(int) = text.parse::<i64>()
            && self.integers.has(int)
        {
            return Ok(Number::Int(int));
        }
        text.parse().map(Number::Float).map_err(|_| Self::malformed())
    }

    fn digits(&mut self) -> Result<(), Error> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        if self.at == start { Err(Self::malformed()) } else { Ok(()) }
    }

    fn string(&mut self) -> Result<std::borrow::Cow<'a, str>, Error> {
        if self.peek() != Some(b'"') {
            return Err(Self::malformed());
        }
        self.at += 1;
        let src = self.src;
        let mut start = self.at;
        let mut text = String::new();
        loop {
            match self.peek() {
                Some(b'"') => {
                    let tail = &src[start..self.at];
                    self.at += 1;
                    if text.is_empty() {
                        return Ok(tail.into());
                    }
                    text.push_str(tail);
                    return Ok(text.into());
                }
                Some(b'\\') => {
                    text.push_str(&src[start..self.at]);
                    self.at += 1;
                    text.push(self.escape()?);
                    start = self.at;
                }
                Some(0x20..) => self.at += 1,
                Some(_) | None => return Err(Self::malformed()),
            }
        }
    }

    fn escape(&mut self) -> Result<char, Error> {
        let byte = self.peek().ok_or_else(Self::malformed)?;
        self.at += 1;
        Ok(match byte {
            b'"' | b'\\' | b'/' => char::from(byte),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => self.unicode()?,
            _ => return Err(Self::malformed()),
        })
    }

    fn unicode(&mut self) -> Result<char, Error> {
        let unit = self.hex4()?;
        if (0xd800..0xdc00).contains(&unit) && self.src[self.at..].starts_with("\\u") {
            let after_first = self.at;
            self.at += 2;
            let second = self.hex4()?;
            if (0xdc00..0xe000).contains(&second) {
                let scalar = 0x10000 + ((unit - 0xd800) << 10) + (second - 0xdc00);
                return char::from_u32(scalar).ok_or_else(Self::malformed);
            }
            self.at = after_first;
        }
        Ok(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn hex4(&mut self) -> Result<u32, Error> {
        let hex = self.src.get(self.at..self.at + 4).filter(|h| h.bytes().all(|b| b.is_ascii_hexdigit()));
        let unit = hex.and_then(|hex| u32::from_str_radix(hex, 16).ok()).ok_or_else(Self::malformed)?;
        self.at += 4;
        Ok(unit)
    }
}
