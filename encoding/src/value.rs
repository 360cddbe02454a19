//! [`Value`]: an [`Any`] that also remembers JavaScript's BigInts.
//!
//! `Any` cannot say "BigInt 5": `Number::Int(5)` is a JavaScript integer. A server that relays a BigInt must
//! write tag 122 again, so what stands in a document is a `Value`. Nearly all are [`Value::Plain`], as large
//! as an `Any`; only a value that holds, at some depth, a BigInt its plain form would not write as one is
//! [`Value::Exact`].

use crate::any::{self, Any, Form, Number};
use crate::error::Error;
use crate::read::Cursor;
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
