//! Taking in a decoded update: integrate what has its dependencies, park the rest, delete what is deleted.
//!
//! Sections wait for each other without recursion: one that is blocked registers with the client that it misses and is
//! woken when that client has moved far enough. Cost O(blocks), plus the lookups of `integrate`.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use yatta_encoding::{ClientID, ID};

use super::delete::delete_range;
use super::integrate::{IncomingParent, integrate, integrate_collected};
use super::place::{NewContent, store_content};
use crate::block::content::SubdocContent;
use crate::block::index::{ClientIdx, ItemIdx, KeyIdx};
use crate::block::item::{Flags, Id, Item, Kind};
use crate::block::text_buffer::utf16_len;
use crate::block::update::{LocalId, NONE, Update, UpdateBlock, UpdateContent, UpdateParent};
use crate::branch::node::Tag;
use crate::change::ChangeSet;
use crate::ids::{IdSet, StateVector};
use crate::store::Store;
use crate::store::clock_list::{ClockList, Pos};

/// Trees are rebuilt once rather than kept up to date if an update has this many blocks and is not small beside
/// what is there already.
const BULK_MIN: usize = 1024;

/// The blocks of an update that must wait.
pub(crate) struct Rest {
    /// For each section what is left of it: its place and the next block.
    pub(crate) sections: Vec<(usize, usize)>,
    pub(crate) missing: StateVector,
}

/// Integrates the blocks of `update` as far as their dependencies are here.
pub(crate) fn apply_blocks(store: &mut Store, changes: &mut ChangeSet, update: &Update) -> Option<Rest> {
    if update.sections.is_empty() {
        return None;
    }
    if update.blocks.len() >= BULK_MIN && update.blocks.len() * 8 >= store.items.len() {
        changes.bulk = true;
    }
    let clients = update.clients.iter().map(|id| store.client_idx(*id)).collect();
    let mut run = Run { update, clients, next: SmallVec::new(), waiting: FxHashMap::default(), last: ItemIdx::NONE, text: String::new() };
    run.next.extend(update.sections.iter().map(|section| section.first as usize));
    run.all(store, changes);
    run.rest(store)
}

/// Applies deletions as far as their blocks are here and returns the others.
pub(crate) fn apply_deletes(store: &mut Store, changes: &mut ChangeSet, deletes: &IdSet) -> IdSet {
    let mut rest = IdSet::default();
    for (client, ranges) in deletes.iter() {
        let known = store.known_client(*client);
        let state = known.map_or(0, |client| store.state(client));
        let mut place = None;
        for range in ranges.iter() {
            let range = range.start..range.end;
            if let Some(known) = known
                && range.start < state
            {
                let end = range.end.min(state);
                place = seek(&store.client(known).blocks, place, range.start);
                if !is_deleted(store, known, &mut place, end) {
                    delete_range(store, changes, known, range.start, end);
                    place = None;
                }
            }
            if range.end > state {
                let start = range.start.max(state);
                rest.insert(ID { client: *client, clock: start }, range.end - start);
            }
        }
    }
    rest
}

/// How many blocks are stepped over before the list is searched.
const SEEK_STEPS: usize = 16;

/// The place of the block that contains `clock`, which is known to be there; `from` is a place before it, if there is
/// one. Ranges of a delete set come in order, so the next is usually near.
fn seek(blocks: &ClockList, from: Option<Pos>, clock: u32) -> Option<Pos> {
    let Some(mut at) = from else { return blocks.position(clock) };
    for _ in 0..SEEK_STEPS {
        match blocks.next(at) {
            Some(next) if blocks.at(next).is_some_and(|entry| entry.0 <= clock) => at = next,
            _ => return Some(at),
        }
    }
    blocks.position(clock)
}

/// Whether all blocks from `place` to the clock `end` are deleted already; moves `place` to the last of them.
fn is_deleted(store: &Store, client: ClientIdx, place: &mut Option<Pos>, end: u32) -> bool {
    let blocks = &store.client(client).blocks;
    while let Some(at) = *place
        && let Some((_, slot)) = blocks.at(at)
    {
        let item = &store.items[slot];
        if !item.is_deleted() {
            return false;
        }
        if item.end() >= end {
            return true;
        }
        *place = blocks.next(at);
    }
    false
}

/// Why a section cannot go on.
struct Blocked {
    client: ClientIdx,
    /// The clock that must be known.
    clock: u32,
}

struct Run<'u> {
    update: &'u Update,
    /// The interned client of each client of the update.
    clients: SmallVec<[ClientIdx; 4]>,
    /// The next block of each section.
    next: SmallVec<[usize; 4]>,
    /// Blocked sections by the client that they wait for: the clock that must be known, and the section.
    waiting: FxHashMap<ClientIdx, Vec<(u32, usize)>>,
    /// The item that was integrated last: often the origin of the next.
    last: ItemIdx,
    /// Scratch for the tail of a string that is partly known.
    text: String,
}

impl Run<'_> {
    fn all(&mut self, store: &mut Store, changes: &mut ChangeSet) {
        let mut queue: Vec<usize> = (0..self.update.sections.len()).rev().collect();
        while let Some(section) = queue.pop() {
            let client = self.client_of(self.update.sections[section].client);
            let blocked = self.section(store, changes, section);
            let state = store.state(client);
            if let Some(waiting) = self.waiting.get_mut(&client) {
                waiting.retain(|(clock, waiter)| {
                    let woken = *clock < state;
                    if woken {
                        queue.push(*waiter);
                    }
                    !woken
                });
            }
            if let Some(blocked) = blocked {
                self.waiting.entry(blocked.client).or_default().push((blocked.clock, section));
            }
        }
    }

    fn client_of(&self, local: u32) -> ClientIdx {
        self.clients[local as usize]
    }

    fn id(&self, id: LocalId) -> Id {
        if id.is_some() { Id::new(self.client_of(id.client), id.clock) } else { Id::NONE }
    }

    /// Integrates blocks of a section until its end, or until one is blocked.
    fn section(&mut self, store: &mut Store, changes: &mut ChangeSet, place: usize) -> Option<Blocked> {
        let section = self.update.sections[place];
        let client = self.client_of(section.client);
        while self.next[place] < section.end as usize {
            let block = self.update.blocks[self.next[place]];
            let state = store.state(client);
            if block.kind != Kind::Skip && block.end() > state {
                if block.clock > state {
                    return Some(Blocked { client, clock: block.clock - 1 });
                }
                if let Some(blocked) = self.missing(store, client, &block) {
                    return Some(blocked);
                }
                self.integrate(store, changes, client, &block, state - block.clock);
            }
            self.next[place] += 1;
        }
        None
    }

    /// The first dependency of a block that is not here.
    fn missing(&self, store: &Store, client: ClientIdx, block: &UpdateBlock) -> Option<Blocked> {
        let parent = match block.parent {
            UpdateParent::Item(id) => id,
            _ => LocalId::NONE,
        };
        for id in [block.origin, block.right_origin, parent] {
            if id.is_some() {
                let id = self.id(id);
                if id.client != client && id.clock >= store.state(id.client) {
                    return Some(Blocked { client: id.client, clock: id.clock });
                }
            }
        }
        None
    }

    fn integrate(
        &mut self,
        store: &mut Store,
        changes: &mut ChangeSet,
        client: ClientIdx,
        block: &UpdateBlock,
        offset: u32,
    ) {
        let id = Id::new(client, block.clock + offset);
        if block.kind == Kind::Gc {
            self.last = ItemIdx::NONE;
            integrate_collected(store, changes, id, block.len - offset);
            return;
        }
        let parent = match block.parent {
            UpdateParent::Inherit => IncomingParent::Inherit,
            UpdateParent::Root(name) => IncomingParent::Branch(store.root_idx(self.update.name(name))),
            UpdateParent::Item(id) => IncomingParent::Item(self.id(id)),
        };
        let key = if block.sub == NONE { KeyIdx::NONE } else { store.key_idx(self.update.name(block.sub)) };
        let origin = if offset > 0 { Id::new(client, id.clock - 1) } else { self.id(block.origin) };
        let right_origin = self.id(block.right_origin);
        let (flags, content) = self.store_content(store, client, block, offset);
        let len = block.len - offset;
        let item = Item { id, len, origin, right_origin, content, flags, ..Item::EMPTY };
        self.last = integrate(store, changes, item, parent, key, self.last);
    }

    /// Stores the content of a block from `offset` on. Text and deletions, which are most, take the short way.
    fn store_content(
        &mut self,
        store: &mut Store,
        client: ClientIdx,
        block: &UpdateBlock,
        offset: u32,
    ) -> (Flags, u32) {
        match block.kind {
            Kind::Deleted => {
                let mut flags = Flags::new(Kind::Deleted);
                flags.set(Flags::DELETED);
                (flags, u32::MAX)
            }
            Kind::String if block.ascii => {
                let (start, end) = block.content;
                let text = &self.update.text[(start + offset) as usize..end as usize];
                let mut flags = Flags::new(Kind::String);
                flags.set(Flags::ASCII);
                (flags, store.client_mut(client).text.push_str(text))
            }
            _ => {
                let content = content(store, self.update, block, offset, &mut self.text);
                store_content(store, client, content)
            }
        }
    }

    /// What could not be integrated.
    fn rest(&self, store: &Store) -> Option<Rest> {
        let mut rest = Rest { sections: Vec::new(), missing: StateVector::default() };
        for (place, section) in self.update.sections.iter().enumerate() {
            if self.next[place] < section.end as usize {
                rest.sections.push((place, self.next[place]));
            }
        }
        for (client, waiting) in &self.waiting {
            let id: ClientID = store.client(*client).id;
            for (clock, place) in waiting {
                let own = self.client_of(self.update.sections[*place].client) == *client;
                let clock = if own { *clock } else { store.state(*client) };
                if rest.missing.contains_client(&id) {
                    rest.missing.set_min(id, clock);
                } else {
                    rest.missing.set(id, clock);
                }
            }
        }
        (!rest.sections.is_empty()).then_some(rest)
    }
}

/// The content of a block from `offset` on.
fn content<'u>(
    store: &mut Store,
    update: &'u Update,
    block: &UpdateBlock,
    offset: u32,
    scratch: &'u mut String,
) -> NewContent<'u> {
    let boxed = || &update.contents[block.content.0 as usize];
    match block.kind {
        Kind::String => {
            let text = &update.text[block.content.0 as usize..block.content.1 as usize];
            let text = if offset == 0 { text } else { cut_text(text, offset, scratch) };
            NewContent::String(text, block.len - offset)
        }
        _ => match boxed() {
            UpdateContent::Any(values) => NewContent::Any(values[offset as usize..].iter().cloned().collect()),
            UpdateContent::Json(values) => NewContent::Json(values[offset as usize..].to_vec()),
            UpdateContent::Binary(bytes) => NewContent::Binary(std::sync::Arc::clone(bytes)),
            UpdateContent::Embed(value) => NewContent::Embed(value.clone()),
            UpdateContent::Format(key, value) => {
                NewContent::Format(store.key_idx(update.name(*key)), value.clone())
            }
            UpdateContent::Type(tag) => NewContent::Type(Tag {
                kind: tag.kind,
                name: tag.name.as_deref().map(std::sync::Arc::from),
                link: tag.extra.as_deref().map(|link| std::sync::Arc::new(link.clone())),
            }),
            UpdateContent::Doc(guid, options) => NewContent::Doc(Box::new(SubdocContent {
                guid: std::sync::Arc::clone(guid),
                options: options.clone(),
                doc: None,
            })),
        },
    }
}

/// The text after `units` UTF-16 units. A cut within a surrogate pair leaves U+FFFD, as splitting does.
fn cut_text<'s>(text: &'s str, units: u32, scratch: &'s mut String) -> &'s str {
    let mut seen = 0;
    for (byte, char) in text.char_indices() {
        if seen == units {
            return &text[byte..];
        }
        seen += char.len_utf16() as u32;
        if seen > units {
            scratch.clear();
            scratch.push('\u{FFFD}');
            scratch.push_str(&text[byte + char.len_utf8()..]);
            return scratch;
        }
    }
    debug_assert_eq!(seen, utf16_len(text));
    ""
}
