//! A decoded update: its blocks and deletions, checked whole before anything is changed.
//!
//! Layout: one flat list of blocks of 52 bytes; all text in one string; clients interned per update. An update of one
//! keystroke allocates only its text. Decoding costs O(bytes), and memory too: no count on the wire sizes anything.

use std::borrow::Cow;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use yatta_encoding::block::{Block, Content, Item as WireItem, Parent, TypeTag, UpdateReader};
use yatta_encoding::{Any, ClientID, Error, ID, UpdateDecoder, Value};

use super::item::Kind;
use super::text_buffer::is_ascii;
use crate::ids::IdSet;

/// The absence of an id, a name or a content.
pub(crate) const NONE: u32 = u32::MAX;

/// An id within an update: the place of the client in `Update::clients`, and the clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct LocalId {
    pub(crate) client: u32,
    pub(crate) clock: u32,
}

impl LocalId {
    pub(crate) const NONE: Self = Self { client: NONE, clock: 0 };

    pub(crate) const fn is_some(self) -> bool {
        self.client != NONE
    }
}

/// What an item of an update says of its parent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum UpdateParent {
    Inherit,
    /// The name of a root type.
    Root(u32),
    Item(LocalId),
}

/// One block of an update.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UpdateBlock {
    pub(crate) clock: u32,
    pub(crate) len: u32,
    pub(crate) origin: LocalId,
    pub(crate) right_origin: LocalId,
    pub(crate) parent: UpdateParent,
    /// The name of the key, for a map entry.
    pub(crate) sub: u32,
    /// A string: its range of bytes in `Update::text`. Else the place in `Update::contents`.
    pub(crate) content: (u32, u32),
    pub(crate) kind: Kind,
    pub(crate) ascii: bool,
    /// Bit `0x20` of the info byte, to write it as it was read.
    pub(crate) sub_bit: bool,
}

impl UpdateBlock {
    pub(crate) const fn end(&self) -> u32 {
        self.clock + self.len
    }
}

/// Content of a block that is not text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum UpdateContent {
    Any(SmallVec<[Value; 1]>),
    Json(Vec<Arc<str>>),
    Binary(Arc<[u8]>),
    Embed(Value),
    Format(u32, Value),
    Type(TypeTag<'static>),
    Doc(Arc<str>, Any),
}

/// The blocks of one client, in clock order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Section {
    pub(crate) client: u32,
    pub(crate) first: u32,
    pub(crate) end: u32,
}

/// A decoded update, ready to be applied, merged or written again.
#[derive(Clone, Debug, Default)]
pub struct Update {
    pub(crate) clients: SmallVec<[ClientID; 2]>,
    pub(crate) sections: SmallVec<[Section; 1]>,
    pub(crate) blocks: SmallVec<[UpdateBlock; 1]>,
    pub(crate) text: String,
    /// Names of roots, keys and formats as ranges of `text`.
    pub(crate) names: SmallVec<[(u32, u32); 2]>,
    pub(crate) contents: SmallVec<[UpdateContent; 1]>,
    pub(crate) deletes: IdSet,
}

impl Update {
    /// A name by its place.
    pub(crate) fn name(&self, name: u32) -> &str {
        let (start, end) = self.names[name as usize];
        &self.text[start as usize..end as usize]
    }

    /// The public form of an id.
    pub(crate) fn public_id(&self, id: LocalId) -> ID {
        ID { client: self.clients[id.client as usize], clock: id.clock }
    }

    /// The blocks of a section.
    pub(crate) fn blocks_of(&self, section: &Section) -> &[UpdateBlock] {
        &self.blocks[section.first as usize..section.end as usize]
    }

    /// Reads a whole update.
    ///
    /// # Errors
    /// Whatever is wrong with the bytes: cut short, unknown content, a clock beyond 2^32, an item that refers to its
    /// own future.
    pub(crate) fn read<'a, D: UpdateDecoder<'a>>(decoder: D) -> Result<Self, Error> {
        let mut builder = Builder::default();
        let mut reader = UpdateReader::new(decoder)?;
        while let Some(section) = reader.next_section()? {
            builder.begin_section(section.client);
            while let Some(block) = reader.next_in_section()? {
                builder.push(&block)?;
            }
            builder.end_section();
        }
        let ranges = reader.delete_set()?;
        let mut update = builder.update;
        update.deletes = IdSet::from_ranges(ranges.iter().map(|range| (range.client, range.clock, range.len)).collect());
        Ok(update)
    }
}

/// Turns wire blocks into an update.
#[derive(Default)]
struct Builder {
    update: Update,
    index: FxHashMap<ClientID, u32>,
    /// The client of the current section and where its blocks begin.
    client: u32,
    first: u32,
}

/// With more clients than this, they are looked up in a hash map.
const SCAN_MAX: usize = 8;

impl Builder {
    fn client(&mut self, id: ClientID) -> u32 {
        let clients = &mut self.update.clients;
        if clients.len() <= SCAN_MAX {
            if let Some(place) = clients.iter().position(|client| *client == id) {
                return place as u32;
            }
        } else if let Some(place) = self.index.get(&id) {
            return *place;
        }
        clients.push(id);
        let place = clients.len() as u32 - 1;
        if clients.len() == SCAN_MAX + 1 {
            self.index = clients.iter().enumerate().map(|(place, id)| (*id, place as u32)).collect();
        } else if clients.len() > SCAN_MAX {
            self.index.insert(id, place);
        }
        place
    }

    fn id(&mut self, id: Option<ID>) -> LocalId {
        match id {
            Some(id) => LocalId { client: self.client(id.client), clock: id.clock },
            None => LocalId::NONE,
        }
    }

    fn push_str(&mut self, text: &str) -> (u32, u32) {
        let start = self.update.text.len() as u32;
        self.update.text.push_str(text);
        (start, self.update.text.len() as u32)
    }

    fn name(&mut self, name: &str) -> u32 {
        if let Some(last) = self.update.names.len().checked_sub(1)
            && self.update.name(last as u32) == name
        {
            return last as u32;
        }
        let range = self.push_str(name);
        self.update.names.push(range);
        self.update.names.len() as u32 - 1
    }

    fn begin_section(&mut self, client: ClientID) {
        self.client = self.client(client);
        self.first = self.update.blocks.len() as u32;
    }

    /// Yjs: of two sections of one client the later replaces the earlier.
    fn end_section(&mut self) {
        let section =
            Section { client: self.client, first: self.first, end: self.update.blocks.len() as u32 };
        let sections = &mut self.update.sections;
        sections.retain(|earlier| earlier.client != section.client);
        if section.first < section.end {
            sections.push(section);
        }
    }

    fn push(&mut self, block: &Block<'_>) -> Result<(), Error> {
        match block {
            Block::Gc { id, len } => self.push_bare(Kind::Gc, id.clock, *len),
            Block::Skip { id, len } => self.push_bare(Kind::Skip, id.clock, *len),
            Block::Item(item) => self.push_item(item)?,
        }
        Ok(())
    }

    fn push_bare(&mut self, kind: Kind, clock: u32, len: u32) {
        if len > 0 {
            self.update.blocks.push(UpdateBlock {
                clock,
                len,
                origin: LocalId::NONE,
                right_origin: LocalId::NONE,
                parent: UpdateParent::Inherit,
                sub: NONE,
                content: (NONE, NONE),
                kind,
                ascii: false,
                sub_bit: false,
            });
        }
    }

    fn push_item(&mut self, item: &WireItem<'_>) -> Result<(), Error> {
        let future = |id: Option<ID>| id.is_some_and(|id| id.client == item.id.client && id.clock >= item.id.clock);
        let parent_id = match &item.parent {
            Parent::Branch(id) => Some(*id),
            _ => None,
        };
        if future(item.origin) || future(item.right_origin) || future(parent_id) {
            return Err(Error::Custom(format!(
                "the block {}:{} refers to its own future",
                item.id.client, item.id.clock
            )));
        }
        if item.len == 0 {
            return Ok(());
        }
        let origin = self.id(item.origin);
        let right_origin = self.id(item.right_origin);
        let parent = match &item.parent {
            Parent::Inherit => UpdateParent::Inherit,
            Parent::Root(name) => UpdateParent::Root(self.name(name)),
            Parent::Branch(id) => UpdateParent::Item(self.id(Some(*id))),
        };
        let sub = item.parent_sub.as_deref().map_or(NONE, |key| self.name(key));
        let (kind, content, ascii) = self.content(&item.content);
        self.update.blocks.push(UpdateBlock {
            clock: item.id.clock,
            len: item.len,
            origin,
            right_origin,
            parent,
            sub,
            content,
            kind,
            ascii,
            sub_bit: item.has_parent_sub,
        });
        Ok(())
    }

    fn content(&mut self, content: &Content<'_>) -> (Kind, (u32, u32), bool) {
        let (kind, boxed) = match content {
            Content::Deleted(_) => return (Kind::Deleted, (NONE, NONE), false),
            Content::String(text) => return (Kind::String, self.push_str(text), is_ascii(text)),
            Content::Json(values) => {
                (Kind::Json, UpdateContent::Json(values.iter().map(|text| Arc::from(text.as_ref())).collect()))
            }
            Content::Binary(bytes) => (Kind::Binary, UpdateContent::Binary(Arc::from(bytes.as_ref()))),
            Content::Embed(value) => (Kind::Embed, UpdateContent::Embed(value.as_ref().clone())),
            Content::Format(key, value) => {
                let key = self.name(key);
                (Kind::Format, UpdateContent::Format(key, value.as_ref().clone()))
            }
            Content::Type(tag) => (Kind::Type, UpdateContent::Type(owned_tag(tag))),
            Content::Any(values) => (Kind::Any, UpdateContent::Any(values.iter().cloned().collect())),
            Content::Doc { guid, options } => {
                (Kind::Doc, UpdateContent::Doc(Arc::from(guid.as_ref()), options.as_ref().clone()))
            }
        };
        self.update.contents.push(boxed);
        (kind, (self.update.contents.len() as u32 - 1, NONE), false)
    }
}

impl Update {
    /// A block in the form that the encoding crate writes.
    pub(crate) fn wire_block(&self, client: ClientID, block: &UpdateBlock) -> Block<'_> {
        let id = ID { client, clock: block.clock };
        match block.kind {
            Kind::Gc => return Block::Gc { id, len: block.len },
            Kind::Skip => return Block::Skip { id, len: block.len },
            _ => {}
        }
        let public = |id: LocalId| id.is_some().then(|| self.public_id(id));
        Block::Item(WireItem {
            id,
            len: block.len,
            origin: public(block.origin),
            right_origin: public(block.right_origin),
            parent: match block.parent {
                UpdateParent::Inherit => Parent::Inherit,
                UpdateParent::Root(name) => Parent::Root(Cow::Borrowed(self.name(name))),
                UpdateParent::Item(id) => Parent::Branch(self.public_id(id)),
            },
            parent_sub: (block.sub != NONE).then(|| Cow::Borrowed(self.name(block.sub))),
            has_parent_sub: block.sub_bit,
            content: self.wire_content(block),
        })
    }

    fn wire_content(&self, block: &UpdateBlock) -> Content<'_> {
        match block.kind {
            Kind::Deleted => return Content::Deleted(block.len),
            Kind::String => {
                let (start, end) = block.content;
                return Content::String(Cow::Borrowed(&self.text[start as usize..end as usize]));
            }
            _ => {}
        }
        match &self.contents[block.content.0 as usize] {
            UpdateContent::Any(values) => Content::Any(Cow::Borrowed(values)),
            UpdateContent::Json(values) => {
                Content::Json(values.iter().map(|text| Cow::Borrowed(text.as_ref())).collect())
            }
            UpdateContent::Binary(bytes) => Content::Binary(Cow::Borrowed(bytes)),
            UpdateContent::Embed(value) => Content::Embed(Cow::Borrowed(value)),
            UpdateContent::Format(key, value) => {
                Content::Format(Cow::Borrowed(self.name(*key)), Cow::Borrowed(value))
            }
            UpdateContent::Type(tag) => Content::Type(tag.clone()),
            UpdateContent::Doc(guid, options) => {
                Content::Doc { guid: Cow::Borrowed(guid), options: Cow::Borrowed(options) }
            }
        }
    }
}

fn owned_tag(tag: &TypeTag<'_>) -> TypeTag<'static> {
    TypeTag { kind: tag.kind, name: tag.name.as_deref().map(|name| Cow::Owned(name.to_owned())), extra: None }
}
