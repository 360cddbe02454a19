//! Writing blocks: one function for each kind of content, so that the engine and [`write_block`] share them.

use super::{Block, Parent, TypeTag};
use crate::any::Any;
use crate::codec::Encoder;
use crate::id::ID;
use crate::value::Value;

/// Writes a block without its first `offset` units.
pub fn write_block<E: Encoder>(_enc: &mut E, _block: &Block<'_>, _offset: u32) {
    unimplemented!()
}

/// Writes what stands before the content of an item.
pub fn write_item_head<E: Encoder>(
    _enc: &mut E,
    _content_ref: u8,
    _origin: Option<ID>,
    _right_origin: Option<ID>,
    _parent: &Parent<'_>,
    _parent_sub: Option<&str>,
    _has_parent_sub: bool,
) {
    unimplemented!()
}

/// Writes a GC block of `len` units.
pub fn write_gc<E: Encoder>(_enc: &mut E, _len: u32) {
    unimplemented!()
}

/// Writes a Skip block of `len` units.
pub fn write_skip<E: Encoder>(_enc: &mut E, _len: u32) {
    unimplemented!()
}

/// Writes deleted content of `len` units.
pub fn write_deleted_content<E: Encoder>(_enc: &mut E, _len: u32) {
    unimplemented!()
}

/// Writes JSON texts, without the first `offset` of them.
pub fn write_json_content<E: Encoder, S: AsRef<str>>(_enc: &mut E, _texts: &[S]) {
    unimplemented!()
}

/// Writes bytes.
pub fn write_binary_content<E: Encoder>(_enc: &mut E, _bytes: &[u8]) {
    unimplemented!()
}

/// Writes text of `utf16_len` UTF-16 units.
pub fn write_string_content<E: Encoder>(_enc: &mut E, _text: &str, _utf16_len: u32) {
    unimplemented!()
}

/// Writes an embedded value.
pub fn write_embed_content<E: Encoder>(_enc: &mut E, _value: &Value) {
    unimplemented!()
}

/// Writes a formatting mark.
pub fn write_format_content<E: Encoder>(_enc: &mut E, _key: &str, _value: &Value) {
    unimplemented!()
}

/// Writes which shared type it is.
pub fn write_type_content<E: Encoder>(_enc: &mut E, _tag: &TypeTag<'_>) {
    unimplemented!()
}

/// Writes values.
pub fn write_any_content<E: Encoder>(_enc: &mut E, _values: &[Value]) {
    unimplemented!()
}

/// Writes a subdocument.
pub fn write_doc_content<E: Encoder>(_enc: &mut E, _guid: &str, _options: &Any) {
    unimplemented!()
}
