//! Reading an [`Any`] by serde, and reading other types out of one.

use super::entries::Entries;
use super::{Any, AnyMap, Number};
use crate::error::Error;
use serde::de::value::{MapAccessDeserializer, MapDeserializer, SeqDeserializer};
use serde::de::{self, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::fmt;

/// Reads a `T` out of a value, borrowing strings and bytes from it where `T` does.
///
/// # Errors
/// [`Error::TypeMismatch`] when the value is not a `T`, [`Error::UnexpectedValue`] when a number does not
/// fit, [`Error::Custom`] for what `T` itself rejects.
pub fn from_any<'de, T: Deserialize<'de>>(any: &'de Any) -> Result<T, Error> {
    T::deserialize(AnyDeserializer { value: any })
}

impl<'de> Deserialize<'de> for Any {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyVisitor)
    }
}

impl<'de> Deserialize<'de> for AnyMap {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Any::deserialize(deserializer)? {
            Any::Map(map) => Ok(map),
            _ => Err(de::Error::custom("expected an object")),
        }
    }
}

struct AnyVisitor;

macro_rules! visit {
    ($($name:ident: $t:ty => $value:ident -> $any:expr;)*) => {$(
        fn $name<E: de::Error>(self, $value: $t) -> Result<Any, E> {
            $any
        }
    )*};
}

impl<'de> Visitor<'de> for AnyVisitor {
    type Value = Any;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    visit! {
        visit_bool: bool => v -> Ok(Any::Bool(v));
        visit_i64: i64 => v -> Ok(Any::Number(Number::Int(v)));
        visit_u64: u64 => v -> Any::try_from(v).map_err(|v| E::custom(format_args!("{v} is above i64::MAX")));
        visit_f64: f64 => v -> Ok(Any::Number(Number::Float(v)));
        visit_str: &str => v -> Ok(Any::from(v));
        visit_string: String => v -> Ok(Any::from(v));
        visit_bytes: &[u8] => v -> Ok(Any::from(v));
        visit_byte_buf: Vec<u8> => v -> Ok(Any::from(v));
    }

    fn visit_none<E>(self) -> Result<Any, E> {
        Ok(Any::Null)
    }

    fn visit_unit<E>(self) -> Result<Any, E> {
        Ok(Any::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Any, D::Error> {
        Any::deserialize(deserializer)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Any, D::Error> {
        Any::deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Any, A::Error> {
        let mut values: Vec<Any> = Vec::new();
        while let Some(value) = seq.next_element()? {
            values.push(value);
        }
        Ok(Any::Array(values.into()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Any, A::Error> {
        let mut entries = Entries::default();
        while let Some((key, value)) = map.next_entry::<String, Any>()? {
            entries.insert(key, value);
        }
        Ok(Any::Map(entries.into()))
    }
}

/// Lets serde read from an [`Any`].
#[derive(Debug, Clone, Copy)]
pub struct AnyDeserializer<'a> {
    value: &'a Any,
}

impl<'de, 'a: 'de> IntoDeserializer<'de, Error> for &'a Any {
    type Deserializer = AnyDeserializer<'de>;

    fn into_deserializer(self) -> Self::Deserializer {
        AnyDeserializer { value: self }
    }
}

macro_rules! ints {
    ($($name:ident $visit:ident $t:ty;)*) => {$(
        fn $name<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            let Any::Number(number) = self.value else { return Err(Error::type_mismatch::<$t>()) };
            let int = number.as_i64().ok_or_else(Error::type_mismatch::<$t>)?;
            visitor.$visit(int.try_into().map_err(|_| Error::UnexpectedValue)?)
        }
    )*};
}

macro_rules! by_variant {
    ($($name:ident $t:ty: $pattern:pat => |$visitor:ident| $visit:expr;)*) => {$(
        fn $name<V: Visitor<'de>>(self, $visitor: V) -> Result<V::Value, Error> {
            match self.value {
                $pattern => $visit,
                _ => Err(Error::type_mismatch::<$t>()),
            }
        }
    )*};
}

impl<'de> AnyDeserializer<'de> {
    fn float<T>(self) -> Result<f64, Error> {
        match self.value {
            Any::Number(number) => number.as_f64().ok_or_else(Error::type_mismatch::<T>),
            _ => Err(Error::type_mismatch::<T>()),
        }
    }

    fn single_char(self) -> Result<char, Error> {
        let Any::String(text) = self.value else { return Err(Error::type_mismatch::<char>()) };
        let mut chars = text.chars();
        match (chars.next(), chars.next()) {
            (Some(c), None) => Ok(c),
            _ => Err(Error::type_mismatch::<char>()),
        }
    }

    fn map(map: &'de AnyMap) -> MapDeserializer<'de, impl Iterator<Item = (&'de str, &'de Any)>, Error> {
        MapDeserializer::new(map.iter().map(|(key, value)| (key.as_str(), value)))
    }
}

impl<'de> Deserializer<'de> for AnyDeserializer<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.value {
            Any::Null | Any::Undefined => visitor.visit_unit(),
            Any::Bool(value) => visitor.visit_bool(*value),
            Any::Number(Number::Float(value)) => visitor.visit_f64(*value),
            Any::Number(Number::Int(value)) => visitor.visit_i64(*value),
            Any::String(text) => visitor.visit_borrowed_str(text),
            Any::Buffer(bytes) => visitor.visit_borrowed_bytes(bytes),
            Any::Array(values) => visitor.visit_seq(SeqDeserializer::new(values.iter())),
            Any::Map(map) => visitor.visit_map(Self::map(map)),
        }
    }

    ints! {
        deserialize_i8 visit_i8 i8;
        deserialize_i16 visit_i16 i16;
        deserialize_i32 visit_i32 i32;
        deserialize_i64 visit_i64 i64;
        deserialize_u8 visit_u8 u8;
        deserialize_u16 visit_u16 u16;
        deserialize_u32 visit_u32 u32;
        deserialize_u64 visit_u64 u64;
    }

    by_variant! {
        deserialize_bool bool: Any::Bool(value) => |visitor| visitor.visit_bool(*value);
        deserialize_str &str: Any::String(text) => |visitor| visitor.visit_borrowed_str(text);
        deserialize_string String: Any::String(text) => |visitor| visitor.visit_borrowed_str(text);
        deserialize_bytes &[u8]: Any::Buffer(bytes) => |visitor| visitor.visit_borrowed_bytes(bytes);
        deserialize_byte_buf Vec<u8>: Any::Buffer(bytes) => |visitor| visitor.visit_borrowed_bytes(bytes);
        deserialize_unit (): Any::Null | Any::Undefined => |visitor| visitor.visit_unit();
        deserialize_map V::Value: Any::Map(map) => |visitor| visitor.visit_map(Self::map(map));
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_f32(self.float::<f32>()? as f32)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_f64(self.float::<f64>()?)
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_char(self.single_char()?)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.value {
            Any::Null | Any::Undefined => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    /// Reads bytes as a sequence of numbers too: that is what a `Vec<u8>` asks for.
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.value {
            Any::Array(values) => visitor.visit_seq(SeqDeserializer::new(values.iter())),
            Any::Buffer(bytes) => visitor.visit_seq(SeqDeserializer::new(bytes.iter().copied())),
            _ => Err(Error::type_mismatch::<V::Value>()),
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.value {
            Any::String(name) => visitor.visit_enum((**name).into_deserializer()),
            Any::Map(map) => visitor.visit_enum(MapAccessDeserializer::new(Self::map(map))),
            _ => Err(Error::type_mismatch::<V::Value>()),
        }
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_str(visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_any(visitor)
    }
}
