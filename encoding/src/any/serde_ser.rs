//! Writing an [`Any`] by serde, and turning other types into one.

use super::entries::Entries as Pairs;
use super::{Any, AnyMap};
use serde::ser::{self, SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};
use std::fmt;

/// Turns a serializable value into an [`Any`].
///
/// # Errors
/// When `Any` cannot hold it: an integer above `i64::MAX`, a key that is not a string.
pub fn to_any<T: Serialize>(value: &T) -> Result<Any, AnySerializeError> {
    value.serialize(AnySerializer)
}

/// Says why a value cannot be held by an [`Any`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AnySerializeError {
    /// An integer above `i64::MAX`.
    #[error("an integer above i64::MAX cannot be held")]
    UnrepresentableInt,
    /// A key of a map that is not a string.
    #[error("a key of a map must be a string")]
    MapKeyNotString,
    /// Something else.
    #[error("{0}")]
    Custom(String),
}

impl ser::Error for AnySerializeError {
    fn custom<T: fmt::Display>(msg: T) -> Self {
        Self::Custom(msg.to_string())
    }
}

impl Serialize for Any {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null | Self::Undefined => serializer.serialize_none(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            // Whole numbers as integers, whatever their form: JavaScript knows no difference.
            Self::Number(number) => match (number.as_i64(), number.as_f64()) {
                (Some(int), _) => serializer.serialize_i64(int),
                (None, Some(float)) => serializer.serialize_f64(float),
                (None, None) => Err(ser::Error::custom("a number that is neither i64 nor f64")),
            },
            Self::String(text) => serializer.serialize_str(text),
            Self::Buffer(bytes) => serializer.serialize_bytes(bytes),
            Self::Array(values) => {
                let mut seq = serializer.serialize_seq(Some(values.len()))?;
                for value in values.iter() {
                    seq.serialize_element(value)?;
                }
                seq.end()
            }
            Self::Map(map) => map.serialize(serializer),
        }
    }
}

impl Serialize for AnyMap {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.len()))?;
        for (key, value) in self {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

struct AnySerializer;

macro_rules! via {
    ($($name:ident: $t:ty => |$value:ident| $any:expr;)*) => {$(
        fn $name(self, $value: $t) -> Result<Any, AnySerializeError> {
            $any
        }
    )*};
}

impl Serializer for AnySerializer {
    type Ok = Any;
    type Error = AnySerializeError;
    type SerializeSeq = Elements;
    type SerializeTuple = Elements;
    type SerializeTupleStruct = Elements;
    type SerializeTupleVariant = Elements;
    type SerializeMap = Entries;
    type SerializeStruct = Entries;
    type SerializeStructVariant = Entries;

    via! {
        serialize_bool: bool => |v| Ok(Any::Bool(v));
        serialize_i8: i8 => |v| Ok(i64::from(v).into());
        serialize_i16: i16 => |v| Ok(v.into());
        serialize_i32: i32 => |v| Ok(v.into());
        serialize_i64: i64 => |v| Ok(v.into());
        serialize_u8: u8 => |v| Ok(i64::from(v).into());
        serialize_u16: u16 => |v| Ok(v.into());
        serialize_u32: u32 => |v| Ok(v.into());
        serialize_u64: u64 => |v| Any::try_from(v).map_err(|_| AnySerializeError::UnrepresentableInt);
        serialize_f32: f32 => |v| Ok(v.into());
        serialize_f64: f64 => |v| Ok(v.into());
        serialize_char: char => |v| Ok(v.to_string().into());
        serialize_str: &str => |v| Ok(v.into());
        serialize_bytes: &[u8] => |v| Ok(v.into());
        serialize_unit_struct: &'static str => |_v| Ok(Any::Null);
    }

    fn serialize_none(self) -> Result<Any, AnySerializeError> {
        Ok(Any::Null)
    }

    fn serialize_unit(self) -> Result<Any, AnySerializeError> {
        Ok(Any::Null)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Any, AnySerializeError> {
        value.serialize(self)
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<Any, AnySerializeError> {
        Ok(variant.into())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<Any, AnySerializeError> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<Any, AnySerializeError> {
        Ok(in_variant(Some(variant), value.serialize(self)?))
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Elements, AnySerializeError> {
        Ok(Elements { variant: None, values: Vec::new() })
    }

    fn serialize_tuple(self, _: usize) -> Result<Elements, AnySerializeError> {
        self.serialize_seq(None)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Elements, AnySerializeError> {
        self.serialize_seq(None)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Elements, AnySerializeError> {
        Ok(Elements { variant: Some(variant), values: Vec::new() })
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Entries, AnySerializeError> {
        Ok(Entries { variant: None, key: None, entries: Pairs::default() })
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Entries, AnySerializeError> {
        self.serialize_map(None)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Entries, AnySerializeError> {
        Ok(Entries { variant: Some(variant), key: None, entries: Pairs::default() })
    }
}

/// Wraps the payload of an enum's variant: `{ variant: value }`.
fn in_variant(variant: Option<&'static str>, value: Any) -> Any {
    match variant {
        Some(name) => Any::Map([(name, value)].into()),
        None => value,
    }
}

struct Elements {
    variant: Option<&'static str>,
    values: Vec<Any>,
}

impl Elements {
    fn push<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), AnySerializeError> {
        self.values.push(value.serialize(AnySerializer)?);
        Ok(())
    }

    fn finish(self) -> Any {
        in_variant(self.variant, Any::Array(self.values.into()))
    }
}

macro_rules! elements {
    ($($name:ident $method:ident;)*) => {$(
        impl ser::$name for Elements {
            type Ok = Any;
            type Error = AnySerializeError;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), AnySerializeError> {
                self.push(value)
            }

            fn end(self) -> Result<Any, AnySerializeError> {
                Ok(self.finish())
            }
        }
    )*};
}

elements! {
    SerializeSeq serialize_element;
    SerializeTuple serialize_element;
    SerializeTupleStruct serialize_field;
    SerializeTupleVariant serialize_field;
}

struct Entries {
    variant: Option<&'static str>,
    key: Option<String>,
    entries: Pairs,
}

impl Entries {
    fn finish(self) -> Any {
        in_variant(self.variant, Any::Map(self.entries.into()))
    }
}

impl SerializeMap for Entries {
    type Ok = Any;
    type Error = AnySerializeError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), AnySerializeError> {
        match key.serialize(AnySerializer)? {
            Any::String(key) => {
                self.key = Some(String::from(&*key));
                Ok(())
            }
            _ => Err(AnySerializeError::MapKeyNotString),
        }
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), AnySerializeError> {
        let key = self.key.take().ok_or_else(|| ser::Error::custom("a value came before its key"))?;
        self.entries.insert(key, value.serialize(AnySerializer)?);
        Ok(())
    }

    fn end(self) -> Result<Any, AnySerializeError> {
        Ok(self.finish())
    }
}

macro_rules! fields {
    ($($name:ident;)*) => {$(
        impl ser::$name for Entries {
            type Ok = Any;
            type Error = AnySerializeError;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                key: &'static str,
                value: &T,
            ) -> Result<(), AnySerializeError> {
                self.entries.insert(key.to_owned(), value.serialize(AnySerializer)?);
                Ok(())
            }

            fn end(self) -> Result<Any, AnySerializeError> {
                Ok(self.finish())
            }
        }
    )*};
}

fields! {
    SerializeStruct;
    SerializeStructVariant;
}
