//! `StickyIndex` as bytes (those of Yjs) and as JSON (fields `item`, `type`, `tname`, `assoc`).

use std::sync::Arc;

use serde::de::Error as _;
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use yatta_encoding::{ClientID, Decode, Decoder, Encode, Encoder, Error, ID};

use super::{Assoc, IndexScope, StickyIndex};

const TAG_ELEMENT: u32 = 0;
const TAG_ROOT: u32 = 1;
const TAG_NESTED: u32 = 2;

impl Encode for StickyIndex {
    fn encode<E: Encoder>(&self, encoder: &mut E) {
        self.scope.encode(encoder);
        self.assoc.encode(encoder);
    }
}

impl Decode for StickyIndex {
    fn decode<D: Decoder>(decoder: &mut D) -> Result<Self, Error> {
        Ok(Self { scope: IndexScope::decode(decoder)?, assoc: Assoc::decode(decoder)? })
    }
}

impl Encode for IndexScope {
    fn encode<E: Encoder>(&self, encoder: &mut E) {
        let (tag, id) = match self {
            Self::Relative(id) => (TAG_ELEMENT, id),
            Self::Nested(id) => (TAG_NESTED, id),
            Self::Root(name) => {
                encoder.write_var(TAG_ROOT);
                encoder.write_string(name);
                return;
            }
        };
        encoder.write_var(tag);
        encoder.write_var(id.client.get());
        encoder.write_var(id.clock);
    }
}

impl Decode for IndexScope {
    fn decode<D: Decoder>(decoder: &mut D) -> Result<Self, Error> {
        match decoder.read_var::<u32>()? {
            TAG_ELEMENT => read_id(decoder).map(Self::Relative),
            TAG_ROOT => Ok(Self::Root(decoder.read_string()?.into())),
            TAG_NESTED => read_id(decoder).map(Self::Nested),
            _ => Err(Error::UnexpectedValue),
        }
    }
}

fn read_id<D: Decoder>(decoder: &mut D) -> Result<ID, Error> {
    let client: u64 = decoder.read_var()?;
    Ok(ID::new(ClientID::new(client), decoder.read_var()?))
}

impl Encode for Assoc {
    fn encode<E: Encoder>(&self, encoder: &mut E) {
        encoder.write_var(*self as i64);
    }
}

impl Decode for Assoc {
    /// Reads a number: negative is before, all else after. Old peers end without one: after.
    fn decode<D: Decoder>(decoder: &mut D) -> Result<Self, Error> {
        match decoder.read_var::<i64>() {
            Ok(number) => Ok(Self::of(number)),
            Err(Error::EndOfBuffer(_)) => Ok(Self::After),
            Err(error) => Err(error),
        }
    }
}

impl Assoc {
    const fn of(number: i64) -> Self {
        if number < 0 { Self::Before } else { Self::After }
    }
}

impl Serialize for Assoc {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i8(*self as i8)
    }
}

impl<'de> Deserialize<'de> for Assoc {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        i64::deserialize(deserializer).map(Self::of)
    }
}

impl Serialize for StickyIndex {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("StickyIndex", 2)?;
        match &self.scope {
            IndexScope::Relative(id) => fields.serialize_field("item", id)?,
            IndexScope::Nested(id) => fields.serialize_field("type", id)?,
            IndexScope::Root(name) => fields.serialize_field("tname", name)?,
        }
        fields.serialize_field("assoc", &self.assoc)?;
        fields.end()
    }
}

/// The fields of the JSON form. Yjs writes the root beside the element; the element decides then.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    #[serde(default)]
    item: Option<ID>,
    #[serde(default, rename = "type")]
    nested: Option<ID>,
    #[serde(default)]
    tname: Option<Arc<str>>,
    #[serde(default)]
    assoc: Option<Assoc>,
}

impl<'de> Deserialize<'de> for StickyIndex {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields = Fields::deserialize(deserializer)?;
        let scope = match fields {
            Fields { item: Some(id), .. } => IndexScope::Relative(id),
            Fields { tname: Some(name), .. } => IndexScope::Root(name),
            Fields { nested: Some(id), .. } => IndexScope::Nested(id),
            _ => return Err(D::Error::missing_field("item")),
        };
        Ok(Self { scope, assoc: fields.assoc.unwrap_or_default() })
    }
}
