//! Access to the content of items: text, widths, and letting content go.
//!
//! Widths count in the document's offset kind; `len` of an item always counts UTF-16 units or elements. For ASCII,
//! which is most text, both are the same and nothing is looked up.

use super::{Client, OffsetKind, Store};
use crate::block::content::Content;
use crate::block::index::{BranchIdx, ClientIdx, ItemIdx, KeyIdx};
use crate::block::item::{Flags, Item, Kind};
use crate::block::text_buffer::is_ascii;
use yatta_encoding::Value;

/// Text buffers with less garbage than this are never compacted.
const COMPACT_MIN: usize = 64 * 1024;

/// The byte after the last one of a string item in the buffer of its client.
#[inline]
fn text_end(clients: &[Client], item: &Item) -> u32 {
    if item.flags.has(Flags::ASCII) {
        return item.content + item.len;
    }
    clients[item.id.client.get()].text.byte_at(item.content, item.len).0
}

/// As [`Store::width`], for a caller that has borrowed other parts of the store.
#[inline]
pub(super) fn width(clients: &[Client], offset_kind: OffsetKind, item: &Item) -> u32 {
    if offset_kind == OffsetKind::Utf16 || !item.flags.is(Kind::String) || item.flags.has(Flags::ASCII) {
        return item.len;
    }
    text_end(clients, item) - item.content
}

impl Store {
    /// The byte after the last one of a string item in the buffer of its client.
    #[inline]
    pub(crate) fn text_end(&self, item: &Item) -> u32 {
        text_end(&self.clients, item)
    }

    /// The text of a string item.
    #[inline]
    pub(crate) fn text(&self, item: &Item) -> &str {
        debug_assert!(item.kind() == Kind::String, "{item:?} has no text");
        self.client(item.id.client).text.slice(item.content, self.text_end(item))
    }

    /// A part of the text of a string item, from and to these units. What is left of half a surrogate pair at its start
    /// is left out, and one at its end is there as a whole.
    #[cfg(feature = "weak")]
    pub(crate) fn text_part(&self, item: &Item, from: u32, to: u32) -> &str {
        let text = &self.client(item.id.client).text;
        let byte = |units: u32| {
            if units >= item.len {
                return self.text_end(item);
            }
            let (byte, inside) = text.byte_at(item.content, units);
            if inside { byte + 4 } else { byte }
        };
        text.slice(byte(from), byte(to))
    }

    /// The length of the content in the document's offset kind, deleted or not.
    #[inline]
    pub(crate) fn width(&self, item: &Item) -> u32 {
        width(&self.clients, self.offset_kind, item)
    }

    /// What the item adds to the length of its parent.
    #[inline]
    pub(crate) fn visible_width(&self, item: &Item) -> u32 {
        if item.is_visible() { self.width(item) } else { 0 }
    }

    /// The type that an item holds, if it does and was not collected.
    pub(crate) fn held_type(&self, item: &Item) -> Option<BranchIdx> {
        if item.kind() != Kind::Type {
            return None;
        }
        match self.boxed(item) {
            Content::Type(branch) => Some(*branch),
            other => unreachable!("{item:?} holds {other:?}"),
        }
    }

    /// An offset in the document's offset kind as UTF-16 units. A byte offset within a character is rounded down.
    pub(crate) fn units(&self, item: &Item, offset: u32) -> u32 {
        if self.offset_kind == OffsetKind::Utf16
            || item.kind() != Kind::String
            || item.flags.has(Flags::ASCII)
        {
            return offset;
        }
        let text = self.text(item);
        let mut byte = (offset as usize).min(text.len());
        while !text.is_char_boundary(byte) {
            byte -= 1;
        }
        self.client(item.id.client).text.units_between(item.content, item.content + byte as u32)
    }

    /// Appends text to the buffer of a client. Returns the first byte and whether it is ASCII.
    #[inline]
    pub(crate) fn push_text(&mut self, client: ClientIdx, text: &str) -> (u32, bool) {
        let start = self.client_mut(client).text.push_str(text);
        (start, is_ascii(text))
    }

    /// Gives text of a buffer up: at its end it is cut off, elsewhere it becomes garbage.
    #[inline]
    pub(crate) fn drop_text(&mut self, client: ClientIdx, start: u32, end: u32) {
        let text = &mut self.client_mut(client).text;
        if end == text.len() {
            text.truncate(start);
        } else {
            text.add_garbage(end - start);
        }
    }

    /// Frees the content of an item that is no shared type and turns it into deleted content.
    pub(crate) fn drop_content(&mut self, slot: ItemIdx) {
        let item = self.items[slot];
        match item.kind() {
            Kind::String => self.drop_text(item.id.client, item.content, self.text_end(&item)),
            Kind::Gc | Kind::Skip | Kind::Deleted => {}
            _ => {
                self.contents.take(item.content);
            }
        }
        let item = &mut self.items[slot];
        item.content = u32::MAX;
        item.flags.clear(Flags::ASCII);
        item.flags.set_kind(Kind::Deleted);
    }

    /// The key and value of a format item.
    pub(crate) fn format(&self, item: &Item) -> Option<(KeyIdx, &Value)> {
        if item.kind() != Kind::Format {
            return None;
        }
        match self.contents.get(item.content) {
            Content::Format(key, value) => Some((*key, value)),
            other => unreachable!("a format item holds {other:?}"),
        }
    }

    /// The boxed content of an item.
    #[inline]
    pub(crate) fn boxed(&self, item: &Item) -> &Content {
        self.contents.get(item.content)
    }

    /// Compacts the text of a client if more than half of it is garbage.
    pub(crate) fn compact_text(&mut self, client: ClientIdx) {
        let text = &self.client(client).text;
        if text.garbage() < COMPACT_MIN || text.garbage() * 2 < text.len() as usize {
            return;
        }
        let live = text.len() as usize - text.garbage();
        let mut fresh = String::with_capacity(live + live / 8);
        let slots: Vec<ItemIdx> = self.client(client).blocks.iter().map(|(_, slot)| slot).collect();
        for slot in slots {
            let item = self.items[slot];
            if item.kind() == Kind::String {
                let start = fresh.len() as u32;
                fresh.push_str(self.text(&item));
                self.items[slot].content = start;
            }
        }
        self.client_mut(client).text.replace(fresh);
    }
}
