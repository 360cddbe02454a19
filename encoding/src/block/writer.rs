//! Writing blocks: one function for each kind of content, so that the engine and [`write_block`] share them.
//!
//! A block can be written without its first units, as a peer needs it that knows those. Its origin is then
//! the unit before, and text is cut where the offset is, even inside of a surrogate pair.

use super::{
    BLOCK_GC_REF_NUMBER, BLOCK_SKIP_REF_NUMBER, Block, Content, HAS_ORIGIN, HAS_PARENT_SUB, HAS_RIGHT_ORIGIN,
    Item, Parent, TYPE_REFS_WEAK, TypeTag, WEAK_END_UNBOUNDED, WEAK_QUOTE, WeakScope, WeakTag,
};
use crate::any::Any;
use crate::codec::Encoder;
use crate::id::ID;
use crate::utf16;
use crate::value::Value;

/// Writes a block without its first `offset` units, which must be fewer than it has (or 0).
///
/// Content of one unit is written whole.
#[inline]
pub fn write_block<E: Encoder>(enc: &mut E, block: &Block<'_>, offset: u32) {
    match block {
        Block::Gc { len, .. } => write_gc(enc, len.saturating_sub(offset)),
        Block::Skip { len, .. } => write_skip(enc, len.saturating_sub(offset)),
        Block::Item(item) => write_item(enc, item, offset),
    }
}

#[inline]
fn write_item<E: Encoder>(enc: &mut E, item: &Item<'_>, offset: u32) {
    let origin = match offset {
        0 => item.origin,
        _ => Some(ID::new(item.id.client, item.id.clock.wrapping_add(offset - 1))),
    };
    let parent_sub = item.parent_sub.as_deref();
    let content_ref = item.content.ref_number();
    write_item_head(
        enc,
        content_ref,
        origin,
        item.right_origin,
        &item.parent,
        parent_sub,
        item.has_parent_sub,
    );
    write_content(enc, &item.content, item.len, offset);
}

fn write_content<E: Encoder>(enc: &mut E, content: &Content<'_>, len: u32, offset: u32) {
    let at = offset as usize;
    match content {
        Content::String(text) if offset == 0 => write_string_content(enc, text, len),
        Content::String(text) => match utf16::cut_front(text, at) {
            (rest, false) => write_string_content(enc, rest, len.saturating_sub(offset)),
            // JavaScript writes the half that is left as a replacement.
            (rest, true) => write_string_content(enc, &format!("\u{fffd}{rest}"), len.saturating_sub(offset)),
        },
        Content::Deleted(len) => write_deleted_content(enc, len.saturating_sub(offset)),
        Content::Json(texts) => write_json_content(enc, texts.get(at..).unwrap_or_default()),
        Content::Any(values) => write_any_content(enc, values.get(at..).unwrap_or_default()),
        Content::Binary(bytes) => write_binary_content(enc, bytes),
        Content::Embed(value) => write_embed_content(enc, value),
        Content::Format(key, value) => write_format_content(enc, key, value),
        Content::Type(tag) => write_type_content(enc, tag),
        Content::Doc { guid, options } => write_doc_content(enc, guid, options),
    }
}

/// Writes the start of an item that has an origin at least at one side: its parent is that of its neighbour then.
#[inline]
pub fn write_item_ids<E: Encoder>(
    enc: &mut E,
    content_ref: u8,
    origin: Option<&ID>,
    right_origin: Option<&ID>,
    has_parent_sub: bool,
) {
    let flag = |set: bool, flag: u8| if set { flag } else { 0 };
    let info = content_ref
        | flag(origin.is_some(), HAS_ORIGIN)
        | flag(right_origin.is_some(), HAS_RIGHT_ORIGIN)
        | flag(has_parent_sub, HAS_PARENT_SUB);
    enc.write_info_and_ids(info, origin, right_origin);
}

/// Writes what stands before the content of an item: info byte, origins, and without these the parent.
///
/// `has_parent_sub` is the bit of the info byte; the key itself is only written after a parent.
#[inline]
pub fn write_item_head<E: Encoder>(
    enc: &mut E,
    content_ref: u8,
    origin: Option<ID>,
    right_origin: Option<ID>,
    parent: &Parent<'_>,
    parent_sub: Option<&str>,
    has_parent_sub: bool,
) {
    write_item_ids(enc, content_ref, origin.as_ref(), right_origin.as_ref(), has_parent_sub);
    if origin.is_some() || right_origin.is_some() {
        return;
    }
    match parent {
        Parent::Root(name) => {
            enc.write_parent_info(true);
            enc.write_string(name);
        }
        Parent::Branch(id) => {
            enc.write_parent_info(false);
            enc.write_left_id(id);
        }
        Parent::Inherit => debug_assert!(false, "an item with neither origins nor parent"),
    }
    if has_parent_sub {
        debug_assert!(parent_sub.is_some(), "an item of a key without the key");
        enc.write_string(parent_sub.unwrap_or_default());
    }
}

/// Writes a GC block of `len` units.
pub fn write_gc<E: Encoder>(enc: &mut E, len: u32) {
    enc.write_info(BLOCK_GC_REF_NUMBER);
    enc.write_len(len);
}

/// Writes a Skip block of `len` units. Its length stands in the undivided stream in both formats.
pub fn write_skip<E: Encoder>(enc: &mut E, len: u32) {
    enc.write_info(BLOCK_SKIP_REF_NUMBER);
    enc.write_var(len);
}

/// Writes deleted content of `len` units.
pub fn write_deleted_content<E: Encoder>(enc: &mut E, len: u32) {
    enc.write_len(len);
}

/// Writes JSON texts, of which `undefined` stands for itself.
pub fn write_json_content<E: Encoder, S: AsRef<str>>(enc: &mut E, texts: &[S]) {
    enc.write_len(clock_len(texts.len()));
    for text in texts {
        enc.write_string(text.as_ref());
    }
}

/// Writes bytes.
pub fn write_binary_content<E: Encoder>(enc: &mut E, bytes: &[u8]) {
    enc.write_buf(bytes);
}

/// Writes text of `utf16_len` UTF-16 units.
#[inline]
pub fn write_string_content<E: Encoder>(enc: &mut E, text: &str, utf16_len: u32) {
    enc.write_str_utf16(text, utf16_len);
}

/// Writes an embedded value.
pub fn write_embed_content<E: Encoder>(enc: &mut E, value: &Value) {
    enc.write_json_value(value);
}

/// Writes a formatting mark.
pub fn write_format_content<E: Encoder>(enc: &mut E, key: &str, value: &Value) {
    enc.write_key(key);
    enc.write_json_value(value);
}

/// Writes which shared type it is: its number, then its name or what it links.
pub fn write_type_content<E: Encoder>(enc: &mut E, tag: &TypeTag<'_>) {
    enc.write_type_ref(tag.kind);
    if let Some(name) = &tag.name {
        enc.write_key(name);
    }
    if let (TYPE_REFS_WEAK, Some(weak)) = (tag.kind, &tag.extra) {
        write_weak(enc, weak);
    }
}

fn write_weak<E: Encoder>(enc: &mut E, weak: &WeakTag<'_>) {
    enc.write_u8(weak.flags);
    write_scope(enc, &weak.start);
    if weak.flags & (WEAK_QUOTE | WEAK_END_UNBOUNDED) != 0 {
        write_scope(enc, &weak.end);
    }
}

fn write_scope<E: Encoder>(enc: &mut E, scope: &WeakScope<'_>) {
    match scope {
        WeakScope::Root(name) => enc.write_string(name),
        WeakScope::Relative(id) | WeakScope::Nested(id) => {
            enc.write_var(id.client.get());
            enc.write_var(id.clock);
        }
    }
}

/// Writes values.
pub fn write_any_content<E: Encoder>(enc: &mut E, values: &[Value]) {
    enc.write_len(clock_len(values.len()));
    for value in values {
        enc.write_value(value);
    }
}

/// Writes a subdocument.
pub fn write_doc_content<E: Encoder>(enc: &mut E, guid: &str, options: &Any) {
    enc.write_string(guid);
    enc.write_any(options);
}

/// More elements than clocks cannot have come from an update nor fit into one.
fn clock_len(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}
