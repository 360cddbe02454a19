//! Linking an item into its parent, once its neighbours are known.
//!
//! Keeps I2 (links), I3 (lengths), I4 (map entries). Cost O(log n) where the sequence has a tree, else O(1).

use yatta_encoding::Value;

use super::delete::delete;
use super::link::{beside_quoted, inherit, join, link_placed, touch_links};
use super::squash::may_merge;
use crate::block::content::{Content, SubdocContent};
use crate::block::index::{BranchIdx, ClientIdx, ItemIdx, KeyIdx};
use crate::block::item::{Flags, Id, Item, Kind};
use crate::branch::node::{BranchNode, Tag};
use crate::change::ChangeSet;
use crate::store::Store;

/// Content on its way into an item.
pub(crate) enum NewContent<'a> {
    Deleted(u32),
    String(&'a str, u32),
    Any(smallvec::SmallVec<[Value; 1]>),
    Json(Vec<std::sync::Arc<str>>),
    Binary(std::sync::Arc<[u8]>),
    Embed(Value),
    Format(KeyIdx, Value),
    Type(Tag),
    Doc(std::sync::Arc<SubdocContent>),
}

impl NewContent<'_> {
    pub(crate) fn len(&self) -> u32 {
        match self {
            Self::Deleted(len) | Self::String(_, len) => *len,
            Self::Any(values) => values.len() as u32,
            Self::Json(values) => values.len() as u32,
            _ => 1,
        }
    }
}

/// Stores content for an item of `client`. Returns the kind with its flags, and the content slot.
pub(crate) fn store_content(store: &mut Store, client: ClientIdx, content: NewContent<'_>) -> (Flags, u32) {
    let (kind, boxed) = match content {
        NewContent::Deleted(_) => {
            let mut flags = Flags::new(Kind::Deleted);
            flags.set(Flags::DELETED);
            return (flags, u32::MAX);
        }
        NewContent::String(text, _) => {
            let (start, ascii) = store.push_text(client, text);
            let mut flags = Flags::new(Kind::String);
            if ascii {
                flags.set(Flags::ASCII);
            }
            return (flags, start);
        }
        NewContent::Any(values) => (Kind::Any, Content::Any(values)),
        NewContent::Json(values) => (Kind::Json, Content::Json(values)),
        NewContent::Binary(bytes) => (Kind::Binary, Content::Binary(bytes)),
        NewContent::Embed(value) => (Kind::Embed, Content::Embed(value)),
        NewContent::Format(key, value) => (Kind::Format, Content::Format(key, value)),
        NewContent::Type(tag) => {
            let branch = store.branches.alloc(BranchNode::new(tag, ItemIdx::NONE, None));
            (Kind::Type, Content::Type(branch))
        }
        NewContent::Doc(doc) => (Kind::Doc, Content::Doc(doc)),
    };
    (Flags::new(kind), store.contents.alloc(boxed))
}

/// Makes a new item of this document's own client between two neighbours and links it.
pub(crate) fn place_new(
    store: &mut Store,
    changes: &mut ChangeSet,
    parent: BranchIdx,
    key: KeyIdx,
    left: ItemIdx,
    right: ItemIdx,
    content: NewContent<'_>,
) -> ItemIdx {
    let me = store.me;
    let len = content.len();
    let clock = store.state(me);
    let (flags, content) = store_content(store, me, content);
    let item = Item {
        id: Id::new(me, clock),
        len,
        origin: left.some().map_or(Id::NONE, |left| store.items[left].last_id()),
        right_origin: right.some().map_or(Id::NONE, |right| store.items[right].id),
        left,
        right,
        parent,
        place: key.0,
        content,
        flags,
    };
    place(store, changes, item)
}

/// Links an item between the neighbours that it names (which must be adjacent) and takes over its content.
pub(crate) fn place(store: &mut Store, changes: &mut ChangeSet, mut item: Item) -> ItemIdx {
    let key = KeyIdx(item.place);
    if key.is_some() {
        item.flags.set(Flags::MAP);
    }
    item.flags.set(Flags::LEFT_CHOSEN);
    let client = item.id.client;
    changes.note_before(client, item.id.clock);
    // Here and below no reference to `item` leaves: then it is written into its slot field by field, never to the stack.
    let (state, clock) = (store.state(client), item.id.clock);
    assert_eq!(state, clock, "I1: an item does not follow the blocks of its client {client:?}");
    store.client_mut(client).next =
        item.id.clock.checked_add(item.len).expect("clocks are checked on arrival");
    let slot = store.items.alloc(item);
    store.client_mut(client).blocks.push(item.id.clock, slot);
    link(store, changes.bulk, &item, slot, key);
    if key.is_some() && item.right.is_none() && item.left.is_some() {
        if store.items[item.left].flags.has(Flags::LINKED) {
            inherit(store, item.left, slot);
        }
        delete(store, changes, item.left);
    }
    if key.is_none() && beside_quoted(store, &item) {
        join(store, slot);
    }
    content_placed(store, changes, &item, slot);
    changes.touch(item.parent, key);
    if store.items[slot].flags.has(Flags::LINKED) {
        touch_links(store, changes, slot, key);
    }
    if item.left.is_some() && may_merge(&store.items[item.left], &item) {
        changes.candidates.push(slot);
    }
    if store.is_branch_deleted(item.parent) || (key.is_some() && item.right.is_some()) {
        delete(store, changes, slot);
    }
    slot
}

/// Ties the links of both neighbours and of the parent.
#[inline(always)]
fn link(store: &mut Store, bulk: bool, item: &Item, slot: ItemIdx, key: KeyIdx) {
    if item.left.is_some() {
        store.items[item.left].right = slot;
    }
    if item.right.is_some() {
        let right = &mut store.items[item.right];
        right.left = slot;
        right.flags.clear(Flags::LEFT_CHOSEN);
    }
    if key.is_some() {
        if item.right.is_none() {
            store.branches[item.parent].map.set(key, slot);
        }
        return;
    }
    let width = store.visible_width(item);
    let node = &mut store.branches[item.parent];
    if item.left.is_none() {
        node.start = slot;
    }
    if item.right.is_none() {
        node.end = slot;
    }
    node.items += 1;
    node.len += width;
    if bulk {
        node.tree = None;
    } else if let Some(tree) = &mut node.tree {
        tree.insert_after(&mut Store::tree_view(&mut store.items, &store.contents), item.left, slot, width);
    }
}

/// What content does when its item gets its place.
#[inline(always)]
fn content_placed(store: &mut Store, changes: &mut ChangeSet, item: &Item, slot: ItemIdx) {
    match item.kind() {
        Kind::Deleted => changes.delete(store, item.id, item.len),
        Kind::Type => {
            let Content::Type(branch) = *store.boxed(item) else { unreachable!("{slot:?} is a type") };
            store.branches[branch].item = slot;
            link_placed(store, changes, branch);
        }
        Kind::Format => store.branches[item.parent].has_formats = true,
        Kind::Doc => {
            store.subdocs.insert(slot);
            changes.subdocs_mut().added.push((slot, item.id));
        }
        _ => {}
    }
}
