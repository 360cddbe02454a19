//! A decoded update: its blocks and deletions, checked whole before anything is changed.
//!
//! Layout: one flat list of blocks of 52 bytes; all text in one string, that of a section in one piece, so that it is
//! taken over in one go; names in another; clients interned per update. An update of one
//! keystroke allocates only its text. Decoding costs O(bytes), and memory too: no count on the wire sizes anything.

use std::borrow::Cow;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use yatta_encoding::block::{
    BLOCK_GC_REF_NUMBER, BLOCK_ITEM_DELETED_REF_NUMBER, BLOCK_ITEM_STRING_REF_NUMBER, BLOCK_SKIP_REF_NUMBER,
    Block, Content, Head, Item as WireItem, Parent, TypeTag, UpdateReader, WeakScope,
};
use yatta_encoding::{Any, ClientID, Cursor, DecoderV2, Error, ID, UpdateDecoder, Value};

use super::item::Kind;
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
    /// The text of its strings, one after the other: a range of bytes in `Update::text`.
    pub(crate) text: (u32, u32),
}

/// A decoded update, ready to be applied, merged or written again.
#[derive(Clone, Debug, Default)]
pub struct Update {
    pub(crate) clients: SmallVec<[ClientID; 2]>,
    pub(crate) sections: SmallVec<[Section; 1]>,
    pub(crate) blocks: SmallVec<[UpdateBlock; 1]>,
    pub(crate) text: String,
    /// Names of roots, keys and formats, and where each stands.
    pub(crate) name_text: String,
    pub(crate) names: SmallVec<[(u32, u32); 2]>,
    pub(crate) contents: SmallVec<[UpdateContent; 1]>,
    pub(crate) deletes: IdSet,
    /// The clients of `deletes` in the order of the wire, unless they descend as Yjs writes them (yrs does not). The order
    /// in which deletions happen decides which marks a clean-up of formats removes, and the ids of what an undo brings back.
    pub(crate) delete_order: Vec<ClientID>,
}

impl Update {
    /// A name by its place.
    pub(crate) fn name(&self, name: u32) -> &str {
        let (start, end) = self.names[name as usize];
        &self.name_text[start as usize..end as usize]
    }

    /// The public form of an id.
    pub(crate) fn public_id(&self, id: LocalId) -> ID {
        ID { client: self.clients[id.client as usize], clock: id.clock }
    }

    /// The blocks of a section.
    pub(crate) fn blocks_of(&self, section: &Section) -> &[UpdateBlock] {
        &self.blocks[section.first as usize..section.end as usize]
    }

    /// Reads an update in V2 of our own making, which may hold more blocks than a peer's of the same size.
    ///
    /// # Errors
    /// None for bytes that were written here.
    pub(crate) fn read_trusted_v2(bytes: &[u8]) -> Result<Self, Error> {
        Self::read(DecoderV2::trusted(Cursor::new(bytes))?)
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
            // No more than one per byte that is left, whatever is claimed.
            let room =
                usize::try_from(section.blocks).unwrap_or(usize::MAX).min(reader.decoder().remaining());
            builder.update.blocks.reserve(room);
            if builder.text.capacity() == 0 {
                builder.text.reserve(reader.decoder().remaining());
            }
            let mut head = Head::default();
            while reader.next_head(&mut head)? {
                builder.push(&mut reader, &head)?;
            }
            builder.end_section(reader.is_in_order());
        }
        let mut update = builder.update;
        if !reader.is_in_order() {
            update.sections.retain(|section| section.first < section.end);
        }
        update.text = yatta_encoding::utf8::into_string(builder.text)?;
        (update.deletes, update.delete_order) = read_deletes(&mut reader)?;
        Ok(update)
    }
}

/// Reads the deletions, and the order of their clients unless they descend. One range, which is most of what a peer sends
/// as it types, needs no list.
fn read_deletes<'a, D: UpdateDecoder<'a>>(
    reader: &mut UpdateReader<'a, D>,
) -> Result<(IdSet, Vec<ClientID>), Error> {
    let mut ranges: SmallVec<[(ClientID, u32, u32); 1]> = SmallVec::new();
    reader.read_delete_set(|range| ranges.push((range.client, range.clock, range.len)))?;
    let mut order = Vec::new();
    if ranges.spilled() {
        if !ranges.is_sorted_by(|left, right| left.0 >= right.0) {
            order = ranges.iter().map(|range| range.0).collect();
            order.dedup();
        }
        return Ok((IdSet::from_ranges(ranges.into_vec()), order));
    }
    let mut deletes = IdSet::default();
    for (client, clock, len) in ranges {
        deletes.insert(ID { client, clock }, len);
    }
    Ok((deletes, order))
}

/// Turns wire blocks into an update.
struct Builder {
    update: Update,
    /// What becomes the text of the update: strings that are each checked to be UTF-8 on their way here.
    text: Vec<u8>,
    index: FxHashMap<ClientID, u32>,
    /// The client of the current section and where its blocks begin.
    client_id: ClientID,
    client: u32,
    first: u32,
    first_text: u32,
    /// The section of each client, once they come out of order.
    places: FxHashMap<u32, usize>,
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            update: Update::default(),
            text: Vec::new(),
            index: FxHashMap::default(),
            places: FxHashMap::default(),
            client_id: ClientID::new(0),
            client: NONE,
            first: 0,
            first_text: 0,
        }
    }
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

    #[inline]
    fn id(&mut self, id: Option<ID>) -> LocalId {
        match id {
            Some(id) if id.client == self.client_id => LocalId { client: self.client, clock: id.clock },
            Some(id) => LocalId { client: self.client(id.client), clock: id.clock },
            None => LocalId::NONE,
        }
    }

    fn push_str(&mut self, text: &str) -> (u32, u32) {
        let start = self.text.len() as u32;
        self.text.extend_from_slice(text.as_bytes());
        (start, self.text.len() as u32)
    }

    fn name(&mut self, name: &str) -> u32 {
        let update = &mut self.update;
        if let Some(last) = update.names.len().checked_sub(1)
            && update.name(last as u32) == name
        {
            return last as u32;
        }
        let start = update.name_text.len() as u32;
        update.name_text.push_str(name);
        update.names.push((start, update.name_text.len() as u32));
        update.names.len() as u32 - 1
    }

    fn begin_section(&mut self, client: ClientID) {
        self.client = self.client(client);
        self.client_id = client;
        self.first = self.update.blocks.len() as u32;
        self.first_text = self.text.len() as u32;
    }

    /// Yjs: of two sections of one client the later replaces the earlier, which is left empty here. There can be two
    /// only where clients do not come in descending order.
    fn end_section(&mut self, is_in_order: bool) {
        let section = Section {
            client: self.client,
            first: self.first,
            end: self.update.blocks.len() as u32,
            text: (self.first_text, self.text.len() as u32),
        };
        let sections = &mut self.update.sections;
        if !is_in_order {
            if self.places.is_empty() {
                self.places =
                    sections.iter().enumerate().map(|(place, section)| (section.client, place)).collect();
            }
            if let Some(place) = self.places.insert(section.client, sections.len()) {
                sections[place].end = sections[place].first;
            }
            sections.push(section);
        } else if section.first < section.end {
            sections.push(section);
        }
    }

    /// Reads the content of a block and appends it. Text and deletions, which are most, take the short way.
    #[inline]
    fn push<'a, D: UpdateDecoder<'a>>(
        &mut self,
        reader: &mut UpdateReader<'a, D>,
        head: &Head,
    ) -> Result<(), Error> {
        let mut block = UpdateBlock {
            clock: head.clock,
            len: 0,
            origin: self.id(head.origin),
            right_origin: self.id(head.right_origin),
            parent: UpdateParent::Inherit,
            sub: NONE,
            content: (NONE, NONE),
            kind: Kind::Gc,
            ascii: false,
            sub_bit: head.has_parent_sub(),
        };
        if head.has_parent() {
            self.parent(reader, head, &mut block)?;
        }
        match head.content() {
            BLOCK_GC_REF_NUMBER | BLOCK_SKIP_REF_NUMBER | BLOCK_ITEM_DELETED_REF_NUMBER => {
                block.len = reader.take_len(head.content())?;
                block.kind = match head.content() {
                    BLOCK_GC_REF_NUMBER => Kind::Gc,
                    BLOCK_SKIP_REF_NUMBER => Kind::Skip,
                    _ => Kind::Deleted,
                };
            }
            BLOCK_ITEM_STRING_REF_NUMBER => {
                let start = self.text.len() as u32;
                block.len = reader.take_text(&mut self.text)?;
                block.kind = Kind::String;
                block.content = (start, self.text.len() as u32);
                block.ascii = block.content.1 - start == block.len;
            }
            other => {
                let (content, len) = reader.take_content(other)?;
                block.len = len;
                block.kind = self.content(content, &mut block.content);
            }
        }
        if block.len > 0 {
            self.update.blocks.push(block);
        }
        Ok(())
    }

    /// The parent and key of a block, which are written.
    fn parent<'a, D: UpdateDecoder<'a>>(
        &mut self,
        reader: &mut UpdateReader<'a, D>,
        head: &Head,
        block: &mut UpdateBlock,
    ) -> Result<(), Error> {
        let (parent, key) = reader.take_parent(head)?;
        match parent {
            Parent::Inherit => {}
            Parent::Root(name) => block.parent = UpdateParent::Root(self.name(&name)),
            Parent::Branch(id) => block.parent = UpdateParent::Item(self.id(Some(id))),
        }
        if let Some(key) = key {
            block.sub = self.name(&key);
        }
        Ok(())
    }

    /// Boxed content: stores it, notes its place and returns its kind.
    fn content(&mut self, content: Content<'_>, place: &mut (u32, u32)) -> Kind {
        let (kind, boxed) = match content {
            Content::Deleted(_) => return Kind::Deleted,
            Content::String(text) => {
                *place = self.push_str(&text);
                return Kind::String;
            }
            Content::Json(values) => (
                Kind::Json,
                UpdateContent::Json(values.iter().map(|text| Arc::from(text.as_ref())).collect()),
            ),
            Content::Binary(bytes) => (Kind::Binary, UpdateContent::Binary(Arc::from(bytes.as_ref()))),
            Content::Embed(value) => (Kind::Embed, UpdateContent::Embed(value.into_owned())),
            Content::Format(key, value) => {
                (Kind::Format, UpdateContent::Format(self.name(&key), value.into_owned()))
            }
            Content::Type(tag) => {
                // A weak link waits for the clients of what it quotes.
                for end in tag.extra.iter().flat_map(|link| [&link.start, &link.end]) {
                    if let WeakScope::Relative(id) = end {
                        self.client(id.client);
                    }
                }
                (Kind::Type, UpdateContent::Type(tag.into_owned()))
            }
            Content::Any(values) => (Kind::Any, UpdateContent::Any(few(values.into_owned()))),
            Content::Doc { guid, options } => {
                (Kind::Doc, UpdateContent::Doc(Arc::from(guid.as_ref()), options.into_owned()))
            }
        };
        self.update.contents.push(boxed);
        place.0 = self.update.contents.len() as u32 - 1;
        kind
    }
}

/// One value is kept inline, more stay in their list.
pub(crate) fn few(mut values: Vec<Value>) -> SmallVec<[Value; 1]> {
    match values.pop() {
        Some(only) if values.is_empty() => smallvec::smallvec![only],
        Some(last) => {
            values.push(last);
            SmallVec::from_vec(values)
        }
        None => SmallVec::new(),
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
