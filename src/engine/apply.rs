//! Taking in a decoded update: integrate what has its dependencies, park the rest, delete what is deleted.
//!
//! A section that needs a block of another goes on a stack until that block is integrated, as in Yjs: which clock a parked
//! block is said to miss decides when it is tried again, and with it the bytes of the update events. Cost O(blocks), plus
//! the lookups of `integrate`. What a peer sends as it types, one block that continues its last item or a deletion beside
//! a deleted run, is done in place, without a new item.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use yatta_encoding::block::WeakScope;
use yatta_encoding::{ClientID, ID};

use super::delete::delete_range;
use super::in_place::{continue_any, continue_text, shift_deleted};
use super::integrate::{IncomingParent, integrate, integrate_collected};
use super::place::{NewContent, store_content};
use super::split::{clean_end, clean_start};
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

/// The text of a section with fewer blocks is taken over block by block.
const WHOLE_TEXT_MIN: usize = 4;

/// The blocks of an update that must wait.
pub(crate) struct Rest {
    /// For each section what is left of it: its place and the next block.
    pub(crate) sections: Vec<(usize, usize)>,
    pub(crate) missing: StateVector,
}

/// Integrates the blocks of `update` as far as their dependencies are here. Lists of values are moved out of it.
pub(crate) fn apply_blocks(store: &mut Store, changes: &mut ChangeSet, update: &mut Update) -> Option<Rest> {
    if update.sections.is_empty() || continue_last(store, changes, update) {
        return None;
    }
    if update.blocks.len() >= BULK_MIN && update.blocks.len() * 8 >= store.items.len() {
        changes.bulk = true;
    }
    store.expect_clients(update.clients.len());
    let clients = update.clients.iter().map(|id| store.client_idx(*id)).collect();
    let mut run = Run::new(update, clients);
    run.take_texts(store);
    run.all(store, changes);
    run.return_texts(store);
    run.rest()
}

/// Takes in an update of one block that continues the last item of its client. Returns false if it is another one.
fn continue_last(store: &mut Store, changes: &mut ChangeSet, update: &mut Update) -> bool {
    let &[block] = update.blocks.as_slice() else { return false };
    let kind = block.kind;
    let client = update.sections[0].client;
    if block.origin.client != client || !matches!(kind, Kind::String | Kind::Any) {
        return false;
    }
    let Some(idx) = store.known_client(update.clients[client as usize]) else { return false };
    if block.clock != store.state(idx) {
        return false;
    }
    let right_origin = match block.right_origin {
        LocalId { client, clock } if client != NONE => {
            match store.known_client(update.clients[client as usize]) {
                Some(client) => Id::new(client, clock),
                None => return false,
            }
        }
        _ => Id::NONE,
    };
    let origins = (Id::new(idx, block.origin.clock), right_origin);
    if kind == Kind::String {
        let text = &update.text[block.content.0 as usize..block.content.1 as usize];
        return continue_text(store, changes, idx, origins, text, block.len);
    }
    let UpdateContent::Any(values) = &mut update.contents[block.content.0 as usize] else {
        unreachable!("{block:?} holds values")
    };
    match continue_any(store, changes, idx, origins, std::mem::take(values)) {
        Ok(()) => true,
        Err(back) => {
            *values = back;
            false
        }
    }
}

/// Applies deletions as far as their blocks are here and returns the others. `order` is that of the clients on the wire
/// (see [`Update::delete_order`]).
pub(crate) fn apply_deletes(
    store: &mut Store,
    changes: &mut ChangeSet,
    deletes: &IdSet,
    order: &[ClientID],
) -> IdSet {
    let mut rest = IdSet::default();
    let mut by_client: SmallVec<[_; 4]> = deletes.iter().rev().collect();
    if !order.is_empty() {
        let mut places: FxHashMap<ClientID, usize> = FxHashMap::default();
        for (place, client) in order.iter().enumerate() {
            places.entry(*client).or_insert(place);
        }
        by_client.sort_by_key(|(client, _)| places.get(client).copied());
    }
    for (client, ranges) in by_client {
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
                    let block = place.and_then(|place| store.client(known).blocks.at(place));
                    let shifted = block.is_some_and(|(clock, slot)| {
                        clock <= range.start && shift_deleted(store, changes, slot, range.start, end)
                    });
                    if !shifted {
                        delete_range(store, changes, known, range.start, end);
                    }
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

/// What became of the next block of a section.
enum Step {
    /// It is integrated, or was known, or is nothing.
    Done,
    /// Blocks of its own client are missing up to this clock.
    Gap(u32),
    /// It needs a block of this client of the update.
    Needs(u32),
}

struct Run<'u> {
    update: &'u mut Update,
    /// The interned client of each client of the update.
    clients: SmallVec<[ClientIdx; 4]>,
    /// The section of each client of the update; `NONE` if it has none, or if that was parked.
    section_of: SmallVec<[u32; 4]>,
    /// The next block of each section.
    next: SmallVec<[usize; 4]>,
    missing: StateVector,
    /// The item that was integrated last: often the origin of the next.
    last: ItemIdx,
    /// Where the text of each section begins in the buffer of its client, if it was taken over in one go; else `NONE`.
    texts: SmallVec<[u32; 4]>,
    /// Scratch for the tail of a string that is partly known.
    text: String,
}

impl<'u> Run<'u> {
    fn new(update: &'u mut Update, clients: SmallVec<[ClientIdx; 4]>) -> Self {
        let mut section_of = SmallVec::from_elem(NONE, clients.len());
        for (place, section) in update.sections.iter().enumerate() {
            section_of[section.client as usize] = place as u32;
        }
        let next = update.sections.iter().map(|section| section.first as usize).collect();
        let texts = SmallVec::from_elem(NONE, update.sections.len());
        let missing = StateVector::default();
        Self { update, clients, section_of, next, missing, last: ItemIdx::NONE, texts, text: String::new() }
    }

    /// Takes over the text of sections of which nothing is known yet, each in one piece.
    fn take_texts(&mut self, store: &mut Store) {
        for (place, section) in self.update.sections.iter().enumerate() {
            let blocks = self.update.blocks_of(section);
            let client = self.client_of(section.client);
            if blocks.len() >= WHOLE_TEXT_MIN && blocks[0].clock == store.state(client) {
                let text = &self.update.text[section.text.0 as usize..section.text.1 as usize];
                self.texts[place] = store.client_mut(client).text.push_str(text);
            }
        }
    }

    /// Gives back the text of blocks that were parked. Behind it stands text of ours if an item was cut within a character.
    fn return_texts(&self, store: &mut Store) {
        for (place, section) in self.update.sections.iter().enumerate() {
            let rest = &self.update.blocks[self.next[place]..section.end as usize];
            if self.texts[place] != NONE
                && let Some(string) = rest.iter().find(|block| block.kind == Kind::String)
            {
                let byte = |of_update: u32| self.texts[place] + (of_update - section.text.0);
                let client = self.client_of(section.client);
                store.drop_text(client, byte(string.content.0), byte(section.text.1));
            }
        }
    }

    /// Yjs: `integrateStructs`. Sections are taken by descending client id.
    fn all(&mut self, store: &mut Store, changes: &mut ChangeSet) {
        let mut order: SmallVec<[usize; 4]> = (0..self.update.sections.len()).collect();
        order.sort_unstable_by_key(|place| {
            std::cmp::Reverse(self.update.clients[self.update.sections[*place].client as usize])
        });
        let mut stack: SmallVec<[usize; 4]> = SmallVec::new();
        for target in order {
            stack.push(target);
            while let Some(&place) = stack.last() {
                let section = self.update.sections[place];
                if self.next[place] == section.end as usize
                    || self.section_of[section.client as usize] == NONE
                {
                    stack.pop();
                    continue;
                }
                match self.step(store, changes, place) {
                    Step::Done => {
                        self.next[place] += 1;
                        // One block for the sake of another section, then that one is asked again.
                        if stack.len() > 1 {
                            stack.pop();
                        }
                    }
                    Step::Gap(clock) => self.park(&mut stack, section.client, clock),
                    Step::Needs(client) => self.need(store, &mut stack, client),
                }
            }
        }
    }

    /// Turns to the section of a client that the top of the stack needs, or parks what is on the stack.
    fn need(&mut self, store: &Store, stack: &mut SmallVec<[usize; 4]>, client: u32) {
        let state = store.state(self.client_of(client));
        let place = self.section_of[client as usize];
        if place == NONE {
            return self.park(stack, client, state);
        }
        let place = place as usize;
        let end = self.update.sections[place].end as usize;
        if stack.contains(&place) {
            // A circle: its block on the stack is taken, the one after it comes too early.
            let after = self.update.blocks[..end].get(self.next[place] + 1);
            let clock = after.map_or(state, |block| block.clock.saturating_sub(1));
            return self.park(stack, client, clock);
        }
        if self.next[place] == end {
            return self.park(stack, client, state);
        }
        stack.push(place);
    }

    /// Gives up on all sections of the stack, for want of this clock.
    fn park(&mut self, stack: &mut SmallVec<[usize; 4]>, client: u32, clock: u32) {
        let client = self.update.clients[client as usize];
        if self.missing.contains_client(&client) {
            self.missing.set_min(client, clock);
        } else {
            self.missing.set(client, clock);
        }
        for place in stack.drain(..) {
            self.section_of[self.update.sections[place].client as usize] = NONE;
        }
    }

    fn client_of(&self, local: u32) -> ClientIdx {
        self.clients[local as usize]
    }

    fn id(&self, id: LocalId) -> Id {
        if id.is_some() { Id::new(self.client_of(id.client), id.clock) } else { Id::NONE }
    }

    /// Integrates the next block of a section if it can be.
    #[inline]
    fn step(&mut self, store: &mut Store, changes: &mut ChangeSet, place: usize) -> Step {
        let client = self.client_of(self.update.sections[place].client);
        let block = self.update.blocks[self.next[place]];
        let state = store.state(client);
        if block.kind == Kind::Skip {
            return Step::Done;
        }
        if block.clock > state {
            return Step::Gap(block.clock - 1);
        }
        // Asked of known blocks too, as in Yjs. What they name is here, but for a forged block of an id that was taken.
        if let Some(client) = self.missing(store, client, &block) {
            return Step::Needs(client);
        }
        if block.clock < state {
            self.cut_at_origins(store, changes, &block);
        }
        if block.end() <= state {
            return Step::Done;
        }
        self.integrate(store, changes, place, &block, state - block.clock);
        Step::Done
    }

    /// Cuts the neighbours of a block that is known already, as Yjs does before it looks whether it is. The commit joins
    /// them again, but for what an undo has brought back elsewhere, which stays in parts, and for a surrogate pair, which
    /// is lost: the peer that wrote the block has lost it too.
    fn cut_at_origins(&self, store: &mut Store, changes: &mut ChangeSet, block: &UpdateBlock) {
        let matters = |store: &Store, id: Id| {
            id.is_some()
                && id.clock < store.state(id.client)
                && (!store.redone.is_empty() || !store.client(id.client).text.is_ascii())
        };
        let (origin, right) = (self.id(block.origin), self.id(block.right_origin));
        if matters(store, origin) {
            clean_end(store, changes, origin);
        }
        if matters(store, right) {
            clean_start(store, changes, right);
        }
    }

    /// The client of the first dependency of a block that is not here.
    #[inline]
    fn missing(&self, store: &Store, client: ClientIdx, block: &UpdateBlock) -> Option<u32> {
        let parent = match block.parent {
            UpdateParent::Item(id) => id,
            _ => LocalId::NONE,
        };
        for local in [block.origin, block.right_origin, parent] {
            if local.is_some() {
                let id = self.id(local);
                if id.client != client && id.clock >= store.state(id.client) {
                    return Some(local.client);
                }
            }
        }
        if block.kind == Kind::Type { self.missing_quoted(store, client, block) } else { None }
    }

    /// As [`Self::missing`] for what a weak link quotes: it waits for the ends of its range.
    fn missing_quoted(&self, store: &Store, client: ClientIdx, block: &UpdateBlock) -> Option<u32> {
        let UpdateContent::Type(tag) = &self.update.contents[block.content.0 as usize] else { return None };
        let link = tag.extra.as_ref()?;
        let ends = [&link.start, &link.end].into_iter().filter_map(|end| match end {
            WeakScope::Relative(id) => Some(id),
            WeakScope::Nested(_) | WeakScope::Root(_) => None,
        });
        let missing =
            |id: &&ID| id.client != store.client(client).id && store.state_of(id.client) <= id.clock;
        let id = ends.into_iter().find(missing)?;
        let place = self.update.clients.iter().position(|known| *known == id.client);
        place.map(|place| place as u32)
    }

    fn integrate(
        &mut self,
        store: &mut Store,
        changes: &mut ChangeSet,
        place: usize,
        block: &UpdateBlock,
        offset: u32,
    ) {
        let client = self.client_of(self.update.sections[place].client);
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
        let (flags, content) = self.store_content(store, place, block, offset);
        let len = block.len - offset;
        let item = Item { id, len, origin, right_origin, content, flags, ..Item::EMPTY };
        self.last = integrate(store, changes, item, parent, key, self.last);
    }

    /// Stores the content of a block from `offset` on. Text and deletions, which are most, take the short way.
    fn store_content(
        &mut self,
        store: &mut Store,
        place: usize,
        block: &UpdateBlock,
        offset: u32,
    ) -> (Flags, u32) {
        let section = &self.update.sections[place];
        let client = self.client_of(section.client);
        match block.kind {
            Kind::String if self.texts[place] != NONE => {
                assert_eq!(offset, 0, "nothing was known of {client:?} before {block:?}");
                let mut flags = Flags::new(Kind::String);
                if block.ascii {
                    flags.set(Flags::ASCII);
                }
                (flags, self.texts[place] + (block.content.0 - section.text.0))
            }
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
            Kind::Any if offset == 0 => {
                let UpdateContent::Any(values) = &mut self.update.contents[block.content.0 as usize] else {
                    unreachable!("{block:?} holds values")
                };
                let values = std::mem::take(values);
                store_content(store, client, NewContent::Any(values))
            }
            _ => {
                let content = content(store, self.update, block, offset, &mut self.text);
                store_content(store, client, content)
            }
        }
    }

    /// What could not be integrated.
    fn rest(self) -> Option<Rest> {
        let places =
            self.update.sections.iter().enumerate().map(|(place, section)| (place, section.end as usize));
        let sections: Vec<_> = places
            .filter(|(place, end)| self.next[*place] < *end)
            .map(|(place, _)| (place, self.next[place]))
            .collect();
        (!sections.is_empty()).then_some(Rest { sections, missing: self.missing })
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
            UpdateContent::Any(values) => {
                NewContent::Any(values[offset as usize..].iter().cloned().collect())
            }
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
            UpdateContent::Doc(guid, options) => {
                NewContent::Doc(SubdocContent::new(std::sync::Arc::clone(guid), options.clone()))
            }
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
