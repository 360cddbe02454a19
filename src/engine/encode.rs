//! Writing blocks and deletions of a store as an update, in either codec.
//!
//! Cost O(what is written).

use std::borrow::Cow;

use smallvec::SmallVec;
use yatta_encoding::block::{
    Parent, TypeTag, write_any_content, write_binary_content, write_deleted_content, write_doc_content,
    write_embed_content, write_format_content, write_gc, write_item_head, write_item_ids, write_json_content,
    write_skip, write_string_content, write_type_content,
};
use yatta_encoding::delete_set::write_delete_set;
use yatta_encoding::{ClientID, Encoder};

use crate::block::content::Content;
use crate::block::index::{ClientIdx, ItemIdx};
use crate::block::item::{Flags, Id, Item, Kind};
use crate::block::text_buffer::utf16_len;
use crate::change::DeletedRange;
use crate::ids::{Snapshot, StateVector};
use crate::store::Store;

/// Writes all that a peer with this state lacks, and the complete delete set.
pub(crate) fn encode_diff<E: Encoder>(store: &Store, known: &StateVector, encoder: &mut E) {
    // Both descend by id: one walk finds what the peer knows of each client.
    let mut known = known.iter().rev().peekable();
    let mut from = |client: ClientIdx| {
        let id = store.client(client).id;
        while known.next_if(|(other, _)| **other > id).is_some() {}
        known.next_if(|(other, _)| **other == id).map_or(0, |(_, clock)| *clock)
    };
    let order: SmallVec<[(ClientIdx, u32); 4]> =
        store.clients_descending().map(|client| (client, from(client))).collect();
    let lacking = order.iter().filter(|(client, from)| *from < store.state(*client)).count();
    encoder.write_var(lacking as u64);
    for &(client, from) in order.iter().filter(|(client, from)| *from < store.state(*client)) {
        write_section(store, encoder, client, from);
    }
    let deleted = order.iter().map(|(client, _)| (store.client(*client).id, store.deleted_ranges(*client)));
    let deleted: SmallVec<[_; 4]> = deleted.filter(|(_, ranges)| !ranges.is_empty()).collect();
    encoder.write_var(deleted.len());
    for (client, ranges) in deleted {
        let clocks = ranges.iter().map(|run| (run.start, run.end - run.start));
        write_ranges(encoder, client, ranges.len(), clocks);
    }
}

/// Writes what a transaction did: the new blocks of each client from a clock on, and its deletions (clients
/// descending, ranges ascending).
pub(crate) fn encode_changes<E: Encoder>(
    store: &Store,
    encoder: &mut E,
    parts: &[(ClientIdx, u32)],
    deleted: &[DeletedRange],
) {
    encoder.write_var(parts.len() as u64);
    for (client, from) in parts {
        write_section(store, encoder, *client, *from);
    }
    let of_clients = || deleted.chunk_by(|a, b| a.client == b.client);
    encoder.write_var(of_clients().count());
    for group in of_clients() {
        let id = store.client(group[0].client).id;
        write_ranges(encoder, id, group.len(), group.iter().map(|range| (range.clock, range.len)));
    }
}

/// Appends the deleted ranges of a client in clock order, neighbours joined.
pub(crate) fn deleted_ranges(store: &Store, client: ClientIdx, ranges: &mut Vec<DeletedRange>) {
    let runs = store.deleted_ranges(client);
    ranges.extend(runs.iter().map(|run| DeletedRange { client, clock: run.start, len: run.end - run.start }));
}

/// Writes the deletions of one client: clocks and lengths.
#[inline]
fn write_ranges<E: Encoder>(
    encoder: &mut E,
    client: ClientID,
    count: usize,
    ranges: impl Iterator<Item = (u32, u32)>,
) {
    encoder.reset_ds_cur_val();
    encoder.write_var(client.get());
    encoder.write_var(count);
    for (clock, len) in ranges {
        encoder.write_ds_clock(clock);
        encoder.write_ds_len(len);
    }
}

/// Writes the blocks of a client from a clock on.
fn write_section<E: Encoder>(store: &Store, encoder: &mut E, client: ClientIdx, from: u32) {
    let client = store.client(client);
    if let Some((start, slot)) = client.blocks.last()
        && start <= from
    {
        // Whoever types writes into the last block, and nothing needs to be searched for.
        encoder.write_var(1u32);
        encoder.write_client(client.id);
        encoder.write_var(from);
        write_block(store, encoder, slot, from - start);
        return;
    }
    let mut blocks = client.blocks.iter_from(from);
    let (Some((start, first)), Some(pos)) = (blocks.next(), client.blocks.position(from)) else {
        unreachable!("I1: {:?} has blocks", client.id)
    };
    let offset = from.saturating_sub(start);
    encoder.write_var(client.blocks.count_from(pos) as u64);
    encoder.write_client(client.id);
    encoder.write_var(start + offset);
    write_block(store, encoder, first, offset);
    for (_, slot) in blocks {
        write_block(store, encoder, slot, 0);
    }
}

/// Writes one block without its first `offset` units.
pub(crate) fn write_block<E: Encoder>(store: &Store, encoder: &mut E, slot: ItemIdx, offset: u32) {
    let item = &store.items[slot];
    match item.kind() {
        Kind::Gc => return write_gc(encoder, item.len - offset),
        Kind::Skip => return write_skip(encoder, item.len - offset),
        _ => {}
    }
    let origin = if offset > 0 { Id::new(item.id.client, item.id.clock + offset - 1) } else { item.origin };
    write_head(store, encoder, item, origin);
    write_content(store, encoder, item, offset);
}

/// Writes the first `len` units of a block, as if it had been split there.
fn write_block_start<E: Encoder>(store: &Store, encoder: &mut E, slot: ItemIdx, len: u32) {
    let item = &store.items[slot];
    if len >= item.len {
        return write_block(store, encoder, slot, 0);
    }
    match item.kind() {
        Kind::Gc => return write_gc(encoder, len),
        Kind::Skip => return write_skip(encoder, len),
        _ => {}
    }
    write_head(store, encoder, item, item.origin);
    match item.kind() {
        Kind::Deleted => return write_deleted_content(encoder, len),
        Kind::String => return write_text_start(store, encoder, item, len),
        _ => {}
    }
    match store.boxed(item) {
        Content::Any(values) => write_any_content(encoder, &values[..len as usize]),
        Content::Json(values) => write_json_content(encoder, &values[..len as usize]),
        other => unreachable!("{other:?} has length 1 and cannot be cut"),
    }
}

/// What an item says of itself before its content.
#[inline]
fn write_head<E: Encoder>(store: &Store, encoder: &mut E, item: &Item, origin: Id) {
    let key = item.key();
    if origin.is_some() || item.right_origin.is_some() {
        let public = |id: Id| id.is_some().then(|| store.public_id(id));
        let (origin, right_origin) = (public(origin), public(item.right_origin));
        let kind = item.kind() as u8;
        return write_item_ids(encoder, kind, origin.as_ref(), right_origin.as_ref(), key.is_some());
    }
    let sub = key.is_some().then(|| store.key(key).as_ref());
    let node = &store.branches[item.parent];
    let parent = match &node.name {
        Some(name) => Parent::Root(Cow::Borrowed(name.as_ref())),
        None => Parent::Branch(store.public_id(store.items[node.item].id)),
    };
    write_item_head(encoder, item.kind() as u8, None, None, &parent, sub, sub.is_some());
}

fn write_content<E: Encoder>(store: &Store, encoder: &mut E, item: &Item, offset: u32) {
    match item.kind() {
        Kind::Deleted => return write_deleted_content(encoder, item.len - offset),
        Kind::String => {
            let text = store.text(item);
            return match offset {
                0 => write_string_content(encoder, text, item.len),
                _ => write_text_tail(store, encoder, item, offset),
            };
        }
        _ => {}
    }
    match store.boxed(item) {
        Content::Any(values) => write_any_content(encoder, &values[offset as usize..]),
        Content::Json(values) => write_json_content(encoder, &values[offset as usize..]),
        Content::Binary(bytes) => write_binary_content(encoder, bytes),
        Content::Embed(value) => write_embed_content(encoder, value),
        Content::Format(key, value) => write_format_content(encoder, store.key(*key), value),
        Content::Type(branch) => write_type_content(encoder, &type_tag(store, *branch)),
        Content::Doc(doc) => write_doc_content(encoder, &doc.guid, &doc.options),
        Content::Free => unreachable!("I10: {item:?} has no content"),
    }
}

fn type_tag(store: &Store, branch: crate::block::index::BranchIdx) -> TypeTag<'_> {
    let tag = &store.branches[branch].tag;
    let extra = tag.link.as_deref().map(|link| Box::new(link.clone()));
    TypeTag { kind: tag.kind, name: tag.name.as_deref().map(Cow::Borrowed), extra }
}

/// The tail of a string; a cut within a surrogate pair leaves the lone half, which UTF-8 writes as U+FFFD.
fn write_text_tail<E: Encoder>(store: &Store, encoder: &mut E, item: &Item, offset: u32) {
    let buffer = &store.client(item.id.client).text;
    let end = store.text_end(item);
    let (byte, inside) = if item.flags.has(Flags::ASCII) {
        (item.content + offset, false)
    } else {
        buffer.byte_at(item.content, offset)
    };
    if inside {
        let tail = format!("\u{FFFD}{}", &buffer.slice(byte, end)[4..]);
        write_string_content(encoder, &tail, utf16_len(&tail));
    } else {
        write_string_content(encoder, buffer.slice(byte, end), item.len - offset);
    }
}

/// The start of a string; a cut within a surrogate pair leaves U+FFFD, as a split does.
fn write_text_start<E: Encoder>(store: &Store, encoder: &mut E, item: &Item, len: u32) {
    let buffer = &store.client(item.id.client).text;
    let (byte, inside) = if item.flags.has(Flags::ASCII) {
        (item.content + len, false)
    } else {
        buffer.byte_at(item.content, len)
    };
    let text = buffer.slice(item.content, byte);
    if inside {
        write_string_content(encoder, &format!("{text}\u{FFFD}"), len);
    } else {
        write_string_content(encoder, text, len);
    }
}

/// Writes the document as it was at a snapshot: the blocks that were there then, the last of each client cut if need
/// be, and what was deleted then. Cost O(what is written).
pub(crate) fn encode_snapshot<E: Encoder>(store: &Store, snapshot: &Snapshot, encoder: &mut E) {
    let mut parts: Vec<(ClientIdx, u32)> = Vec::new();
    for (client, clock) in snapshot.state_map.iter() {
        if let Some(client) = store.known_client(*client)
            && store.state(client).min(*clock) > 0
        {
            parts.push((client, store.state(client).min(*clock)));
        }
    }
    parts.sort_unstable_by_key(|(client, _)| std::cmp::Reverse(store.client(*client).id));
    encoder.write_var(parts.len() as u64);
    for (client, end) in parts {
        let client = store.client(client);
        let blocks: Vec<(u32, ItemIdx)> =
            client.blocks.iter().take_while(|(clock, _)| *clock < end).collect();
        encoder.write_var(blocks.len() as u64);
        encoder.write_client(client.id);
        encoder.write_var(0u32);
        for (clock, slot) in blocks {
            write_block_start(store, encoder, slot, end - clock);
        }
    }
    let ranges: Vec<(ClientID, Vec<(u32, u32)>)> = snapshot
        .delete_set
        .client_ids()
        .map(|client| {
            let ranges = snapshot.delete_set.ranges(client).iter();
            (client, ranges.map(|(range, ())| (range.start, range.end - range.start)).collect())
        })
        .collect();
    write_delete_set(encoder, ranges.iter().rev().map(|(client, ranges)| (*client, ranges.as_slice())));
}
