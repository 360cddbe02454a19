//! Reading the content of an item.

use super::{
    BLOCK_ITEM_ANY_REF_NUMBER, BLOCK_ITEM_BINARY_REF_NUMBER, BLOCK_ITEM_DELETED_REF_NUMBER,
    BLOCK_ITEM_DOC_REF_NUMBER, BLOCK_ITEM_EMBED_REF_NUMBER, BLOCK_ITEM_FORMAT_REF_NUMBER,
    BLOCK_ITEM_JSON_REF_NUMBER, BLOCK_ITEM_STRING_REF_NUMBER, BLOCK_ITEM_TYPE_REF_NUMBER, Content,
    TYPE_REFS_ARRAY, TYPE_REFS_DOC, TYPE_REFS_MAP, TYPE_REFS_TEXT, TYPE_REFS_UNDEFINED, TYPE_REFS_WEAK,
    TYPE_REFS_XML_ELEMENT, TYPE_REFS_XML_FRAGMENT, TYPE_REFS_XML_HOOK, TYPE_REFS_XML_TEXT, TypeTag,
    WEAK_END_UNBOUNDED, WEAK_PARENT_ROOT, WEAK_QUOTE, WEAK_START_UNBOUNDED, WeakScope, WeakTag,
};
use crate::any::Any;
use crate::codec::UpdateDecoder;
use crate::error::Error;
use crate::id::ID;
use crate::value::Value;
use std::borrow::Cow;

/// Reads the content of number `ref_number`, and how many clock units it is.
#[inline]
pub(super) fn read_content<'a, D: UpdateDecoder<'a>>(
    d: &mut D,
    ref_number: u8,
) -> Result<(Content<'a>, u32), Error> {
    Ok(match ref_number {
        BLOCK_ITEM_STRING_REF_NUMBER => {
            let (text, len) = d.take_string_len()?;
            (Content::String(text), len)
        }
        BLOCK_ITEM_DELETED_REF_NUMBER => {
            let len = d.read_len()?;
            (Content::Deleted(len), len)
        }
        BLOCK_ITEM_JSON_REF_NUMBER => read_json(d)?,
        BLOCK_ITEM_ANY_REF_NUMBER => read_any(d)?,
        BLOCK_ITEM_BINARY_REF_NUMBER => (Content::Binary(d.take_buf()?), 1),
        BLOCK_ITEM_EMBED_REF_NUMBER => (Content::Embed(Cow::Owned(d.read_json_value()?)), 1),
        BLOCK_ITEM_FORMAT_REF_NUMBER => {
            let key = d.take_key()?;
            (Content::Format(key, Cow::Owned(d.read_json_value()?)), 1)
        }
        BLOCK_ITEM_TYPE_REF_NUMBER => (Content::Type(read_type(d)?), 1),
        BLOCK_ITEM_DOC_REF_NUMBER => {
            let guid = d.take_str()?;
            (Content::Doc { guid, options: Cow::Owned(d.read_any()?) }, 1)
        }
        _ => return Err(d.invalid("the number of a content is unknown")),
    })
}

fn read_any<'a, D: UpdateDecoder<'a>>(d: &mut D) -> Result<(Content<'a>, u32), Error> {
    let len = d.read_len()?;
    // Each value takes at least its tag.
    if len as usize > d.remaining() {
        return Err(d.invalid("more values than bytes"));
    }
    let mut values: Vec<Value> = Vec::with_capacity(len as usize);
    d.read_values(len, &mut values)?;
    Ok((Content::Any(Cow::Owned(values)), len))
}

fn read_json<'a, D: UpdateDecoder<'a>>(d: &mut D) -> Result<(Content<'a>, u32), Error> {
    let len = d.read_len()?;
    // No room is reserved: in the second format a text need not take a byte of its own.
    let mut texts = Vec::new();
    for _ in 0..len {
        let text = d.take_str()?;
        texts.push(normal_json(text)?);
    }
    Ok((Content::Json(texts), len))
}

/// Checks a JSON text, and gives it the form in which JavaScript would write it again.
fn normal_json(text: Cow<'_, str>) -> Result<Cow<'_, str>, Error> {
    if text == "undefined" {
        return Ok(text);
    }
    let mut normal = String::with_capacity(text.len());
    Any::json_parse(&text)?.to_json(&mut normal);
    Ok(if normal == text { text } else { Cow::Owned(normal) })
}

fn read_type<'a, D: UpdateDecoder<'a>>(d: &mut D) -> Result<TypeTag<'a>, Error> {
    let kind = d.read_type_ref()?;
    let mut tag = TypeTag::plain(kind);
    match kind {
        TYPE_REFS_ARRAY | TYPE_REFS_MAP | TYPE_REFS_TEXT | TYPE_REFS_XML_FRAGMENT | TYPE_REFS_XML_TEXT => {}
        TYPE_REFS_XML_ELEMENT | TYPE_REFS_XML_HOOK => tag.name = Some(d.take_key()?),
        TYPE_REFS_WEAK => tag.extra = Some(Box::new(read_weak(d)?)),
        TYPE_REFS_DOC | TYPE_REFS_UNDEFINED => {}
        _ => return Err(d.invalid("the number of a shared type is unknown")),
    }
    Ok(tag)
}

fn read_weak<'a, D: UpdateDecoder<'a>>(d: &mut D) -> Result<WeakTag<'a>, Error> {
    let flags = d.read_u8()?;
    let start = read_scope(d, flags, WEAK_START_UNBOUNDED)?;
    let is_single = flags & WEAK_QUOTE == 0;
    let end = if is_single && flags & WEAK_END_UNBOUNDED == 0 {
        start.clone()
    } else {
        read_scope(d, flags, WEAK_END_UNBOUNDED)?
    };
    Ok(WeakTag { flags, start, end })
}

fn read_scope<'a, D: UpdateDecoder<'a>>(d: &mut D, flags: u8, unbounded: u8) -> Result<WeakScope<'a>, Error> {
    let is_unbounded = flags & unbounded != 0;
    if is_unbounded && flags & WEAK_PARENT_ROOT != 0 {
        return Ok(WeakScope::Root(d.take_str()?));
    }
    let client = crate::codec::client_id(d.read_var()?)?;
    let id = ID::new(client, d.read_var()?);
    Ok(if is_unbounded { WeakScope::Nested(id) } else { WeakScope::Relative(id) })
}
