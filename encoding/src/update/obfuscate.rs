//! Replacing what an update says by numbers, so that a broken document can be shown to others.
//!
//! Ids, lengths, order and deletions stay, and with them who typed how much and where. Names of root types stay too,
//! as in Yjs. The bytes are those of Yjs's obfuscateUpdate.

use super::convert::rewrite;
use crate::any::{Any, AnyMap, Number};
use crate::block::{Block, Content, Item, TYPE_REFS_XML_ELEMENT, TYPE_REFS_XML_HOOK, TypeTag};
use crate::codec::{DecoderV1, DecoderV2, EncoderV1, EncoderV2};
use crate::error::Error;
use crate::read::Cursor;
use crate::value::Value;
use std::borrow::Cow;
use std::collections::HashMap;

/// What is replaced beside text, values, bytes, embeds and the keys of maps, which always are. All by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[doc(alias = "ObfuscatorOptions")]
pub struct ObfuscateOptions {
    /// Keys and values of formatting marks. The value `null`, which ends a format, stays.
    pub formatting: bool,
    /// Names and options of sub-documents.
    pub subdocs: bool,
    /// Names of XML elements and hooks.
    pub yxml: bool,
}

impl Default for ObfuscateOptions {
    fn default() -> Self {
        Self { formatting: true, subdocs: true, yxml: true }
    }
}

/// Replaces the content of an update of the first format by numbers. Costs O(bytes).
///
/// Keys that are equal stay equal, and so do XML names and formats; each text becomes a run of one digit. What a weak
/// link of yrs links stays.
///
/// # Errors
/// When the update is malformed.
#[doc(alias = "obfuscateUpdate")]
pub fn obfuscate_update_v1(update: &[u8], options: ObfuscateOptions) -> Result<Vec<u8>, Error> {
    let mut obfuscator = Obfuscator::new(options);
    rewrite(DecoderV1::from(update), EncoderV1::new(), |block| obfuscator.block(block))
}

/// Replaces the content of an update of the second format by numbers. See [`obfuscate_update_v1`].
///
/// # Errors
/// When the update is malformed.
#[doc(alias = "obfuscateUpdateV2")]
pub fn obfuscate_update_v2(update: &[u8], options: ObfuscateOptions) -> Result<Vec<u8>, Error> {
    let mut obfuscator = Obfuscator::new(options);
    rewrite(DecoderV2::new(Cursor::new(update))?, EncoderV2::new(), |block| obfuscator.block(block))
}

/// What has been replaced by what.
struct Obfuscator {
    options: ObfuscateOptions,
    /// How many items came before: the number that stands for what is met first in an item.
    count: i64,
    map_keys: HashMap<String, String>,
    xml_names: HashMap<String, String>,
    format_keys: HashMap<String, String>,
    /// By the bytes of the value.
    format_values: HashMap<Vec<u8>, Any>,
}

impl Obfuscator {
    fn new(options: ObfuscateOptions) -> Self {
        Self {
            options,
            count: 0,
            map_keys: HashMap::new(),
            xml_names: HashMap::new(),
            format_keys: HashMap::new(),
            format_values: HashMap::new(),
        }
    }

    fn block(&mut self, block: &mut Block<'_>) {
        let Block::Item(item) = block else { return };
        self.content(item);
        // JavaScript takes an empty key for none.
        if let Some(key) = &mut item.parent_sub
            && !key.is_empty()
        {
            replace(&mut self.map_keys, key, || self.count.to_string());
        }
        self.count += 1;
    }

    fn content(&mut self, item: &mut Item<'_>) {
        let number = || Any::Number(Number::Int(self.count));
        match &mut item.content {
            Content::Deleted(_) => {}
            Content::Type(tag) if self.options.yxml => self.xml_name(tag),
            Content::Type(_) => {}
            Content::Any(values) => {
                *values = Cow::Owned(vec![Value::Plain(number()); values.len()]);
            }
            Content::Json(texts) => texts.fill(Cow::Owned(self.count.to_string())),
            // A Uint8Array keeps the low bits.
            Content::Binary(bytes) => *bytes = Cow::Owned(vec![self.count as u8]),
            Content::Embed(value) => *value = Cow::Owned(Any::Map(AnyMap::new()).into()),
            Content::String(text) => {
                *text = Cow::Owned((self.count % 10).to_string().repeat(item.len as usize));
            }
            Content::Doc { guid, options } if self.options.subdocs => {
                *guid = Cow::Owned(self.count.to_string());
                *options = Cow::Owned(Any::Map(AnyMap::new()));
            }
            Content::Format(key, value) if self.options.formatting => {
                replace(&mut self.format_keys, key, || self.count.to_string());
                *value = Cow::Owned(self.format_value(value).into());
            }
            Content::Doc { .. } | Content::Format(..) => {}
        }
    }

    /// Elements and hooks share their names.
    fn xml_name(&mut self, tag: &mut TypeTag<'_>) {
        let prefix = match tag.kind {
            TYPE_REFS_XML_ELEMENT => "node",
            TYPE_REFS_XML_HOOK => "hook",
            _ => return,
        };
        if let Some(name) = &mut tag.name {
            replace(&mut self.xml_names, name, || format!("{prefix}-{}", self.count));
        }
    }

    /// Equal values give the same number, unless they are objects: in JavaScript no two of these are equal.
    fn format_value(&mut self, value: &Value) -> Any {
        let number = Any::Number(Number::Int(self.count));
        let fresh = Any::Map([("i".to_owned(), number)].into_iter().collect());
        match value.any() {
            Any::Null => Any::Null,
            Any::Array(_) | Any::Map(_) | Any::Buffer(_) => fresh,
            _ => {
                let mut bytes = Vec::new();
                value.encode(&mut bytes);
                // -0 is 0.
                if bytes == [125, 0x40] {
                    bytes = vec![125, 0];
                }
                self.format_values.entry(bytes).or_insert(fresh).clone()
            }
        }
    }
}

/// Replaces a name by what stands for it, which `fresh` makes when it is met first.
fn replace(cache: &mut HashMap<String, String>, name: &mut Cow<'_, str>, fresh: impl FnOnce() -> String) {
    let known = match cache.get(name.as_ref()) {
        Some(known) => known.clone(),
        None => cache.entry(name.as_ref().to_owned()).or_insert_with(fresh).clone(),
    };
    *name = Cow::Owned(known);
}
