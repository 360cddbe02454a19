//! [`Number`]: what JavaScript's `number` and `bigint` become in Rust.

use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// The largest integer that JavaScript's `number` holds exactly, 2^53-1.
pub const F64_MAX_SAFE_INTEGER: f64 = Number::F64_MAX_SAFE_INTEGER;
/// The smallest integer that JavaScript's `number` holds exactly, -(2^53-1).
pub const F64_MIN_SAFE_INTEGER: f64 = Number::F64_MIN_SAFE_INTEGER;

/// A number, kept as an integer or as a float.
///
/// Two numbers are equal when they have the same value, whatever their form.
#[derive(Debug, Clone, Copy)]
pub enum Number {
    /// An integer.
    Int(i64),
    /// Any other number.
    Float(f64),
}

impl Number {
    /// The largest integer that JavaScript's `number` holds exactly, 2^53-1.
    pub const I64_MAX_SAFE_INTEGER: i64 = (1 << 53) - 1;
    /// The smallest integer that JavaScript's `number` holds exactly, -(2^53-1).
    pub const I64_MIN_SAFE_INTEGER: i64 = -Self::I64_MAX_SAFE_INTEGER;
    /// [`Self::I64_MAX_SAFE_INTEGER`] as a float.
    pub const F64_MAX_SAFE_INTEGER: f64 = Self::I64_MAX_SAFE_INTEGER as f64;
    /// [`Self::I64_MIN_SAFE_INTEGER`] as a float.
    pub const F64_MIN_SAFE_INTEGER: f64 = -Self::F64_MAX_SAFE_INTEGER;

    /// Makes an integer of a float that is a safe integer, else keeps the float.
    pub fn try_i64(value: f64) -> Self {
        let safe = Self::F64_MIN_SAFE_INTEGER..=Self::F64_MAX_SAFE_INTEGER;
        if value.trunc() == value && safe.contains(&value) {
            Self::Int(value as i64)
        } else {
            Self::Float(value)
        }
    }

    /// Returns the value as an integer, if it is one.
    pub fn as_i64(self) -> Option<i64> {
        match self {
            Self::Int(value) => Some(value),
            Self::Float(value) => {
                // The cast saturates, so 2^63 would look like i64::MAX.
                let int = value as i64;
                (int as f64 == value && int != i64::MAX).then_some(int)
            }
        }
    }

    /// Returns the value as a float, if a float can hold it.
    pub fn as_f64(self) -> Option<f64> {
        match self {
            Self::Int(value) => {
                // The cast saturates, so i64::MAX would look like 2^63.
                let float = value as f64;
                (float as i64 == value && value != i64::MAX).then_some(float)
            }
            Self::Float(value) => Some(value),
        }
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => a == b,
            (Self::Float(a), Self::Float(b)) => a == b,
            _ => match (self.as_f64(), other.as_f64()) {
                (Some(a), Some(b)) => a == b,
                _ => false,
            },
        }
    }
}

impl From<f64> for Number {
    #[inline]
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

impl From<i64> for Number {
    #[inline]
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl TryFrom<u64> for Number {
    type Error = u64;

    /// Fails with the number itself if it is above `i64::MAX`.
    fn try_from(value: u64) -> Result<Self, u64> {
        i64::try_from(value).map(Self::Int).map_err(|_| value)
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(value) => value.fmt(f),
            Self::Float(value) => value.fmt(f),
        }
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match (self.as_f64(), *self) {
            (Some(value), _) | (None, Self::Float(value)) => serializer.serialize_f64(value),
            (None, Self::Int(value)) => serializer.serialize_i64(value),
        }
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NumberVisitor;

        impl Visitor<'_> for NumberVisitor {
            type Value = Number;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number")
            }

            fn visit_i64<E>(self, value: i64) -> Result<Number, E> {
                Ok(Number::Int(value))
            }

            fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Number, E> {
                Number::try_from(value).map_err(|_| E::custom("an integer above i64::MAX"))
            }

            fn visit_f64<E>(self, value: f64) -> Result<Number, E> {
                Ok(Number::try_i64(value))
            }
        }

        deserializer.deserialize_any(NumberVisitor)
    }
}
