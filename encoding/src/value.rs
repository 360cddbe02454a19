//! [`Value`]: an [`Any`] that also remembers JavaScript's BigInts.
//!
//! `Any` cannot say "BigInt 5": `Number::Int(5)` is a JavaScript integer. A server that relays a BigInt must
//! write tag 122 again, so what stands in a document is a `Value`. Nearly all are [`Value::Plain`], as large
//! as an `Any`; only a value that holds, at some depth, a BigInt its plain form would not write as one is
//! [`Value::Exact`].

use crate::any::{self, Any, Form, Number};
use crate::error::Error;
use crate::read::{Cursor, Read};
use crate::write::Write;
use std::sync::Arc;

/// A value as it stands in a document.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A value that its `Any` says completely.
    Plain(Any),
    /// A value that holds BigInts.
    Exact(Arc<Exact>),
}

// A document holds millions of these.
const _: () = assert!(size_of::<Value>() == size_of::<Any>() && size_of::<Any>() <= 24);

/// A value that holds BigInts: how it reads, and how it is written.
#[derive(Debug, Clone)]
pub struct Exact {
    plain: Any,
    bytes: Box<[u8]>,
}

impl Exact {
    /// Returns what a reader sees: BigInts are integers.
    pub fn any(&self) -> &Any {
        &self.plain
    }

    /// Returns the lib0 bytes to write.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl Exact {
    fn parts(&self) -> Result<Parts, Error> {
        let mut cursor = Cursor::new(&self.bytes);
        match cursor.read_u8()? {
            any::ARRAY => {
                let len: usize = cursor.read_var()?;
                (0..len).map(|_| Value::decode(&mut cursor)).collect::<Result<_, _>>().map(Parts::Array)
            }
            any::OBJECT => {
                let len: usize = cursor.read_var()?;
                let mut entry = |_| {
                    let key = Arc::from(cursor.read_string()?);
                    Ok((key, Value::decode(&mut cursor)?))
                };
                (0..len).map(&mut entry).collect::<Result<_, Error>>().map(Parts::Map)
            }
            _ => cursor.read_i64().map(Parts::BigInt),
        }
    }
}

/// What a [`Value`] consists of, one level deep.
#[derive(Debug, Clone, PartialEq)]
pub enum Parts {
    /// Data without BigInts.
    Plain(Any),
    /// A BigInt.
    BigInt(i64),
    /// An array.
    Array(Vec<Value>),
    /// An object, in the order of its keys.
    Map(Vec<(Arc<str>, Value)>),
}

impl PartialEq for Exact {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

impl Value {
    /// Makes a JavaScript BigInt.
    pub fn big_int(value: i64) -> Self {
        let plain = Any::Number(Number::Int(value));
        let mut bytes = vec![122];
        bytes.write_i64(value);
        let mut written = Vec::new();
        plain.encode(&mut written);
        if written == bytes { Self::Plain(plain) } else { Self::exact(plain, bytes) }
    }

    fn exact(plain: Any, bytes: Vec<u8>) -> Self {
        Self::Exact(Arc::new(Exact { plain, bytes: bytes.into() }))
    }

    /// Puts a value together from its parts: the reverse of [`Self::parts`]. Of equal keys the last value counts, at
    /// the place of the first. Costs O(size).
    ///
    /// # Errors
    /// When it would be nested deeper than [`limits::MAX_DEPTH`](crate::limits::MAX_DEPTH).
    pub fn from_parts(parts: Parts) -> Result<Self, Error> {
        let mut bytes = Vec::new();
        match parts {
            Parts::Plain(any) => return Ok(Self::Plain(any)),
            Parts::BigInt(value) => return Ok(Self::big_int(value)),
            Parts::Array(values) => {
                bytes.push(any::ARRAY);
                bytes.write_var(values.len());
                for value in values {
                    value.encode(&mut bytes);
                }
            }
            Parts::Map(entries) => {
                bytes.push(any::OBJECT);
                bytes.write_var(entries.len());
                for (key, value) in entries {
                    bytes.write_string(&key);
                    value.encode(&mut bytes);
                }
            }
        }
        Self::decode(&mut Cursor::new(&bytes))
    }

    /// Returns what the value consists of, one level deep. Costs O(size) if it holds BigInts.
    pub fn parts(&self) -> Parts {
        match self {
            Self::Plain(Any::Number(Number::Int(int))) if any::is_written_as_big_int(*int) => {
                Parts::BigInt(*int)
            }
            Self::Plain(any) => Parts::Plain(any.clone()),
            Self::Exact(exact) => {
                exact.parts().unwrap_or_else(|error| unreachable!("{exact:?} was written here: {error}"))
            }
        }
    }

    /// Returns what a reader sees.
    #[inline]
    pub fn any(&self) -> &Any {
        match self {
            Self::Plain(any) => any,
            Self::Exact(exact) => &exact.plain,
        }
    }

    /// Turns the value into what a reader sees.
    #[inline]
    pub fn into_any(self) -> Any {
        match self {
            Self::Plain(any) => any,
            Self::Exact(exact) => exact.plain.clone(),
        }
    }

    /// Writes the value in lib0's binary form.
    #[inline]
    pub fn encode<W: Write>(&self, w: &mut W) {
        match self {
            Self::Plain(any) => any.encode(w),
            Self::Exact(exact) => w.write_all(&exact.bytes),
        }
    }

    /// Reads a value in lib0's binary form. Costs O(bytes), twice that if it holds a BigInt.
    ///
    /// # Errors
    /// Those of [`Any::decode`].
    #[inline]
    pub fn decode(cursor: &mut Cursor<'_>) -> Result<Self, Error> {
        match any::read_scalar(cursor)? {
            Some(scalar) => Ok(Self::Plain(scalar)),
            None => Self::decode_any(cursor),
        }
    }

    /// Reads `len` values and appends them. Small integers are built where they stay: a copy of a value that was just
    /// put together from parts costs more than reading it.
    pub(crate) fn decode_many(
        cursor: &mut Cursor<'_>,
        len: u32,
        values: &mut Vec<Self>,
    ) -> Result<(), Error> {
        for _ in 0..len {
            if let Some(int) = any::read_short_int(cursor) {
                values.push(Self::Plain(Any::Number(Number::Int(int))));
            } else {
                values.push(Self::decode(cursor)?);
            }
        }
        Ok(())
    }

    fn decode_any(cursor: &mut Cursor<'_>) -> Result<Self, Error> {
        let start = cursor.next;
        let (plain, has_big_int) = any::read(cursor, Form::Plain)?;
        if !has_big_int {
            return Ok(Self::Plain(plain));
        }
        // Rare: read again with the BigInts marked, to write the canonical bytes.
        cursor.next = start;
        let (marked, _) = any::read(cursor, Form::Marked)?;
        let mut bytes = Vec::new();
        any::write(&marked, &mut bytes, Form::Marked);
        Ok(Self::exact(plain, bytes))
    }
}

impl From<Any> for Value {
    #[inline]
    fn from(any: Any) -> Self {
        Self::Plain(any)
    }
}

impl From<Value> for Any {
    #[inline]
    fn from(value: Value) -> Self {
        value.into_any()
    }
}
