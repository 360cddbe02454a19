//! Conversions between [`Any`] and the types of Rust.
//!
//! Into `Any` where every value fits, out of it by `TryFrom`, which gives the `Any` back when it is of
//! another type.

use super::{Any, AnyMap, Number};
use std::collections::HashMap;
use std::sync::Arc;

macro_rules! float {
    ($($t:ty),*) => {$(
        impl From<$t> for Any {
            #[inline]
            fn from(value: $t) -> Self {
                Self::Number(Number::Float(f64::from(value)))
            }
        }

        impl TryFrom<Any> for $t {
            type Error = Any;

            fn try_from(any: Any) -> Result<Self, Any> {
                match &any {
                    Any::Number(number) => number.as_f64().map(|n| n as $t).ok_or(any),
                    _ => Err(any),
                }
            }
        }
    )*};
}

macro_rules! int {
    ($($t:ty),*) => {$(
        impl From<$t> for Any {
            #[inline]
            fn from(value: $t) -> Self {
                Self::Number(Number::Int(value as i64))
            }
        }
        int!(@from $t);
    )*};
    (@from $t:ty) => {
        impl TryFrom<Any> for $t {
            type Error = Any;

            /// Fails if the value is no integer, or one that does not fit.
            fn try_from(any: Any) -> Result<Self, Any> {
                match &any {
                    Any::Number(number) => number.as_i64().and_then(|n| n.try_into().ok()).ok_or(any),
                    _ => Err(any),
                }
            }
        }
    };
}

float!(f32, f64);
int!(i16, i32, u16, u32, i64, isize);
int!(@from u64);
int!(@from usize);

impl TryFrom<u64> for Any {
    type Error = u64;

    fn try_from(value: u64) -> Result<Self, u64> {
        Number::try_from(value).map(Self::Number)
    }
}

impl TryFrom<usize> for Any {
    type Error = usize;

    fn try_from(value: usize) -> Result<Self, usize> {
        i64::try_from(value).map(|n| Self::Number(Number::Int(n))).map_err(|_| value)
    }
}

macro_rules! variant {
    ($($variant:ident: $t:ty $(, $owned:expr)?;)*) => {$(
        impl TryFrom<Any> for $t {
            type Error = Any;

            fn try_from(any: Any) -> Result<Self, Any> {
                match any {
                    Any::$variant(value) => Ok(variant!(@out value $(, $owned)?)),
                    other => Err(other),
                }
            }
        }
    )*};
    (@out $value:ident) => { $value };
    (@out $value:ident, $owned:expr) => { $owned($value.as_ref()) };
}

variant! {
    Bool: bool;
    String: Arc<str>;
    String: String, String::from;
    Buffer: Arc<[u8]>;
    Buffer: Vec<u8>, Vec::from;
}

impl From<bool> for Any {
    #[inline]
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<String> for Any {
    #[inline]
    fn from(value: String) -> Self {
        Self::String(value.into())
    }
}

impl From<&str> for Any {
    #[inline]
    fn from(value: &str) -> Self {
        Self::String(value.into())
    }
}

impl From<Arc<str>> for Any {
    #[inline]
    fn from(value: Arc<str>) -> Self {
        Self::String(value)
    }
}

impl From<Vec<u8>> for Any {
    #[inline]
    fn from(value: Vec<u8>) -> Self {
        Self::Buffer(value.into())
    }
}

impl From<&[u8]> for Any {
    #[inline]
    fn from(value: &[u8]) -> Self {
        Self::Buffer(value.into())
    }
}

impl From<Arc<[u8]>> for Any {
    #[inline]
    fn from(value: Arc<[u8]>) -> Self {
        Self::Buffer(value)
    }
}

impl From<Number> for Any {
    #[inline]
    fn from(value: Number) -> Self {
        Self::Number(value)
    }
}

impl From<AnyMap> for Any {
    #[inline]
    fn from(value: AnyMap) -> Self {
        Self::Map(value)
    }
}

impl<T: Into<Self>> From<Option<T>> for Any {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl<T: Into<Self>> From<Vec<T>> for Any {
    fn from(values: Vec<T>) -> Self {
        Self::Array(values.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<Self>> From<HashMap<String, T>> for Any {
    fn from(map: HashMap<String, T>) -> Self {
        Self::Map(map.into())
    }
}
