//! The text form of a [`DecodedUpdate`]: a block a line, then the deletions, a client a line. Costs O(bytes).

use super::DecodedUpdate;
use crate::any::Any;
use crate::block::{
    Block, Content, Item, Parent, TYPE_REFS_ARRAY, TYPE_REFS_DOC, TYPE_REFS_MAP, TYPE_REFS_TEXT,
    TYPE_REFS_UNDEFINED, TYPE_REFS_WEAK, TYPE_REFS_XML_ELEMENT, TYPE_REFS_XML_FRAGMENT, TYPE_REFS_XML_HOOK,
    TYPE_REFS_XML_TEXT, TypeTag,
};
use crate::id::ID;
use std::fmt;

impl fmt::Display for DecodedUpdate<'_> {
    /// `client:first..end what in parent key, left, right`; ends are exclusive, all in clock units.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for block in &self.blocks {
            writeln!(f, "{block}")?;
        }
        for ranges in self.delete_set.chunk_by(|left, right| left.client == right.client) {
            for (place, range) in ranges.iter().enumerate() {
                if place == 0 {
                    write!(f, "deleted {}:", range.client.get())?;
                }
                write!(f, " {}..{}", range.clock, range.clock_end())?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

impl fmt::Display for Block<'_> {
    /// `client:first..end what in parent key, left, right`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = self.id();
        write!(f, "{}:{}..{} ", id.client.get(), id.clock, self.clock_end())?;
        match self {
            Block::Gc { .. } => f.write_str("collected"),
            Block::Skip { .. } => f.write_str("missing"),
            Block::Item(item) => write_item(f, item),
        }
    }
}

fn write_item(f: &mut fmt::Formatter<'_>, item: &Item<'_>) -> fmt::Result {
    write!(f, "{}", item.content)?;
    match &item.parent {
        Parent::Inherit => {}
        Parent::Root(name) => write!(f, " in root {name:?}")?,
        Parent::Branch(id) => write!(f, " in {}", Place(id))?,
    }
    match &item.parent_sub {
        Some(key) => write!(f, " key {key:?}")?,
        None if item.has_parent_sub => f.write_str(" of a key")?,
        None => {}
    }
    if let Some(id) = &item.origin {
        write!(f, " after {}", Place(id))?;
    }
    if let Some(id) = &item.right_origin {
        write!(f, " before {}", Place(id))?;
    }
    Ok(())
}

/// An id as `client:clock`.
struct Place<'a>(&'a ID);

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.0.client.get(), self.0.clock)
    }
}

impl fmt::Display for Content<'_> {
    /// Its kind and what it holds; a BigInt reads as a number.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Content::Deleted(_) => f.write_str("deleted"),
            Content::Json(texts) => write_list(f, "json", texts.iter().map(|text| text.as_ref().to_owned())),
            Content::Binary(bytes) => write!(f, "binary {} bytes", bytes.len()),
            Content::String(text) => write!(f, "text {text:?}"),
            Content::Embed(value) => write!(f, "embed {}", json(value.any())),
            Content::Format(key, value) => write!(f, "format {key:?}={}", json(value.any())),
            Content::Type(tag) => write!(f, "type {tag}"),
            Content::Any(values) => write_list(f, "values", values.iter().map(|value| json(value.any()))),
            Content::Doc { guid, options } => write!(f, "document {guid:?} {}", json(options)),
        }
    }
}

/// JSON, which has no line breaks; what JSON cannot say in words.
fn json(value: &Any) -> String {
    match value {
        Any::Undefined => "undefined".to_owned(),
        Any::Buffer(bytes) => format!("binary {} bytes", bytes.len()),
        value => {
            let mut text = String::new();
            value.to_json(&mut text);
            text
        }
    }
}

fn write_list(f: &mut fmt::Formatter<'_>, name: &str, elements: impl Iterator<Item = String>) -> fmt::Result {
    write!(f, "{name} [")?;
    for (place, element) in elements.enumerate() {
        let comma = if place == 0 { "" } else { ", " };
        write!(f, "{comma}{element}")?;
    }
    f.write_str("]")
}

impl fmt::Display for TypeTag<'_> {
    /// The kind of type, and its name if it has one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            TYPE_REFS_ARRAY => f.write_str("array"),
            TYPE_REFS_MAP => f.write_str("map"),
            TYPE_REFS_TEXT => f.write_str("text"),
            TYPE_REFS_XML_ELEMENT => f.write_str("xml-element"),
            TYPE_REFS_XML_FRAGMENT => f.write_str("xml-fragment"),
            TYPE_REFS_XML_HOOK => f.write_str("xml-hook"),
            TYPE_REFS_XML_TEXT => f.write_str("xml-text"),
            TYPE_REFS_WEAK => f.write_str("weak-link"),
            TYPE_REFS_DOC => f.write_str("document"),
            TYPE_REFS_UNDEFINED => f.write_str("undefined"),
            other => write!(f, "{other}"),
        }?;
        self.name.as_ref().map_or(Ok(()), |name| write!(f, " {name:?}"))
    }
}
