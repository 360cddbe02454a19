//! Merging updates of the first format by copying bytes: the common case of [`merge`](super::merge).
//!
//! A log of small updates is a heap of *runs*: blocks of one client without a gap. A block that Yjs would
//! write again as it stands is copied as it stands; an update with any other block is written anew first, to
//! a buffer that all such updates share. Sorted runs that do not overlap are then joined end to end.
//!
//! Whatever needs more than that (runs that overlap in part, GC and Skip blocks, empty blocks, sections out of
//! order) is left to the general merge, which yields the same bytes: a test compares them. Costs O(bytes) and
//! the sort of the runs, linear if they come in order; 32 bytes are held a run.

use super::forget_bit;
use crate::block::{
    BLOCK_ITEM_BINARY_REF_NUMBER, BLOCK_ITEM_DELETED_REF_NUMBER, BLOCK_ITEM_STRING_REF_NUMBER,
    BLOCK_ITEM_TYPE_REF_NUMBER, Block, HAS_ORIGIN, HAS_PARENT_SUB, HAS_RIGHT_ORIGIN, TYPE_REFS_XML_ELEMENT,
    TYPE_REFS_XML_HOOK, TYPE_REFS_XML_TEXT, UpdateReader, write_block, write_skip,
};
use crate::codec::{DecoderV1, Encoder, EncoderV1};
use crate::delete_set::{DeleteSetBuilder, read_delete_set};
use crate::error::Error;
use crate::id::ClientID;
use crate::read::{Cursor, Read};
use crate::utf8;
use crate::utf16;
use crate::varint::decode_word;
use crate::write::Write;
use std::cmp::Reverse;

/// Blocks of a client without a gap, and where their bytes are.
#[derive(Debug, Clone, Copy)]
struct Run {
    client: u64,
    clock: u32,
    end: u32,
    blocks: u32,
    /// Which update holds the bytes; the buffer of rewritten blocks counts as the one after the last.
    source: u32,
    start: u32,
    len: u32,
}

/// Merges updates if that takes no more than copying; `None` asks for the general merge.
///
/// # Errors
/// When an update is malformed.
pub(super) fn merge<U: AsRef<[u8]>>(updates: &[U]) -> Result<Option<Vec<u8>>, Error> {
    let mut collector = Collector {
        runs: Vec::with_capacity(updates.len()),
        rewritten: EncoderV1::new(),
        deleted: DeleteSetBuilder::new(),
        rewritten_source: u32::try_from(updates.len()).unwrap_or(u32::MAX),
    };
    let mut bytes = 0;
    for (source, update) in updates.iter().enumerate() {
        let update = update.as_ref();
        bytes += update.len();
        // Offsets are kept in 32 bits.
        let (Ok(source), true) = (u32::try_from(source), bytes < u32::MAX as usize / 2) else {
            return Ok(None);
        };
        if collector.copy(source, update)?.is_none() && !collector.rewrite(update)? {
            return Ok(None);
        }
    }
    collector.runs.sort_by_key(|run| (Reverse(run.client), run.clock));
    let rewritten = collector.rewritten.as_slice();
    let source = |run: &Run| {
        let update = updates.get(run.source as usize).map_or(rewritten, AsRef::as_ref);
        let start = run.start as usize;
        update.get(start..start + run.len as usize).unwrap_or_default()
    };
    if !drop_covered(&mut collector.runs, source) {
        return Ok(None);
    }
    let mut enc = EncoderV1::with_buffer(Vec::with_capacity(bytes));
    join(&collector.runs, source, &mut enc);
    collector.deleted.merge();
    collector.deleted.write(&mut enc);
    Ok(Some(enc.to_vec()))
}

/// Drops the runs that those before them cover; `false` if some are covered in part.
fn drop_covered<'a>(runs: &mut Vec<Run>, source: impl Fn(&Run) -> &'a [u8]) -> bool {
    let mut is_simple = true;
    let mut end = 0;
    runs.dedup_by(|run, last| {
        if run.client != last.client {
            end = run.end;
            return false;
        }
        end = end.max(last.end);
        if run.clock >= end {
            return false;
        }
        // Of two runs that begin together, it matters which is written, unless they are the same.
        let is_same = run.clock != last.clock || source(run) == source(last);
        is_simple &= run.end <= end && is_same;
        true
    });
    is_simple
}

/// Writes the sections: runs end to end, gaps as Skip blocks.
fn join<'a>(runs: &[Run], source: impl Fn(&Run) -> &'a [u8], enc: &mut EncoderV1) {
    let sections = || runs.chunk_by(|left, right| left.client == right.client);
    enc.write_var(sections().count());
    for section in sections() {
        let Some(first) = section.first() else { continue };
        let gaps = section.windows(2).filter(|pair| matches!(pair, [left, right] if left.end < right.clock));
        let blocks: u64 = section.iter().map(|run| u64::from(run.blocks)).sum();
        enc.write_var(blocks + gaps.count() as u64);
        enc.write_client(ClientID::new(first.client));
        enc.write_var(first.clock);
        let mut end = first.clock;
        for run in section {
            if end < run.clock {
                write_skip(enc, run.clock - end);
            }
            enc.write_all(source(run));
            end = run.end;
        }
    }
}

struct Collector {
    runs: Vec<Run>,
    rewritten: EncoderV1,
    deleted: DeleteSetBuilder,
    rewritten_source: u32,
}

impl Collector {
    /// Collects the runs of an update whose blocks can all be copied; `None` if some cannot.
    fn copy(&mut self, source: u32, update: &[u8]) -> Result<Option<()>, Error> {
        let begun = self.runs.len();
        let mut cursor = Cursor::new(update);
        let copied = self.copy_sections(source, &mut cursor);
        if copied.is_none() {
            self.runs.truncate(begun);
            return Ok(None);
        }
        read_delete_set(&mut DecoderV1::new(cursor), |range| self.deleted.push(range))?;
        Ok(Some(()))
    }

    fn copy_sections(&mut self, source: u32, cursor: &mut Cursor<'_>) -> Option<()> {
        let mut last_client = u64::MAX;
        for _ in 0..canonical(cursor)? {
            let blocks = u32::try_from(canonical(cursor)?).ok()?;
            let client = canonical(cursor)?;
            let clock = u32::try_from(canonical(cursor)?).ok()?;
            if client >= last_client || client > ClientID::MAX.get() || blocks == 0 {
                return None;
            }
            last_client = client;
            let start = cursor.next;
            let mut end = clock;
            for _ in 0..blocks {
                let len = copied_block(cursor, (client, end))?;
                end = end.checked_add(len)?;
            }
            let len = (cursor.next - start) as u32;
            self.runs.push(Run { client, clock, end, blocks, source, start: start as u32, len });
        }
        Some(())
    }

    /// Writes the blocks of an update anew and collects their runs; `false` if they ask for the general merge.
    fn rewrite(&mut self, update: &[u8]) -> Result<bool, Error> {
        let mut reader = UpdateReader::new(DecoderV1::from(update))?;
        let mut last_client = None;
        while let Some(section) = reader.next_section()? {
            if last_client.is_some_and(|last| section.client >= last) || section.blocks == 0 {
                return Ok(false);
            }
            last_client = Some(section.client);
            let start = self.rewritten.as_slice().len();
            let (mut end, mut blocks) = (section.clock, 0);
            while let Some(mut block) = reader.next_in_section()? {
                if !matches!(block, Block::Item(_)) || block.is_empty() {
                    return Ok(false);
                }
                forget_bit(&mut block);
                write_block(&mut self.rewritten, &block, 0);
                end = block.clock_end();
                blocks += 1;
            }
            let (Ok(start), Ok(whole)) =
                (u32::try_from(start), u32::try_from(self.rewritten.as_slice().len()))
            else {
                return Ok(false);
            };
            self.runs.push(Run {
                client: section.client.get(),
                clock: section.clock,
                end,
                blocks,
                source: self.rewritten_source,
                start,
                len: whole - start,
            });
        }
        reader.read_delete_set(|range| self.deleted.push(range))?;
        Ok(true)
    }
}

/// Passes over a number that is written in its shortest form, as we would write it.
#[inline(always)]
fn canonical(cursor: &mut Cursor<'_>) -> Option<u64> {
    let rest = cursor.rest();
    let first = *rest.first()?;
    if first < 0x80 {
        cursor.next += 1;
        return Some(u64::from(first));
    }
    // Near the end of the input a word does not fit: there the number is read byte by byte.
    let (value, len) = match decode_word(rest) {
        Some(decoded) => decoded,
        None => {
            let mut copy = cursor.clone();
            (copy.read_var_u64().ok()?, copy.next - cursor.next)
        }
    };
    cursor.next += len;
    let is_shortest = rest.get(len - 1).is_some_and(|last| *last > 0);
    is_shortest.then_some(value)
}

/// Passes over the id of something that the block `of` may refer to.
#[inline(always)]
fn canonical_id(cursor: &mut Cursor<'_>, of: (u64, u32)) -> Option<()> {
    let client = canonical(cursor)?;
    let clock = canonical(cursor)?;
    let is_future = client == of.0 && clock >= u64::from(of.1);
    (client <= ClientID::MAX.get() && clock <= u64::from(u32::MAX) && !is_future).then_some(())
}

#[inline(always)]
fn canonical_bytes<'a>(cursor: &mut Cursor<'a>) -> Option<&'a [u8]> {
    let len = usize::try_from(canonical(cursor)?).ok()?;
    cursor.take(len).ok()
}

#[inline(always)]
fn canonical_str<'a>(cursor: &mut Cursor<'a>) -> Option<&'a str> {
    utf8::check(canonical_bytes(cursor)?).ok()
}

/// Passes over a block, of this client and clock, that would be written again as it stands, and returns how many units it
/// has.
#[inline]
fn copied_block(cursor: &mut Cursor<'_>, id: (u64, u32)) -> Option<u32> {
    let info = cursor.read_u8().ok()?;
    if info & (HAS_ORIGIN | HAS_RIGHT_ORIGIN) != 0 {
        if info & HAS_PARENT_SUB != 0 {
            return None; // the bit would not be written again
        }
        if info & HAS_ORIGIN != 0 {
            canonical_id(cursor, id)?;
        }
        if info & HAS_RIGHT_ORIGIN != 0 {
            canonical_id(cursor, id)?;
        }
    } else {
        match canonical(cursor)? {
            0 => canonical_id(cursor, id)?,
            1 => canonical_str(cursor).map(|_| ())?,
            _ => return None,
        }
        if info & HAS_PARENT_SUB != 0 {
            canonical_str(cursor)?;
        }
    }
    let len = match info & 0x1f {
        BLOCK_ITEM_STRING_REF_NUMBER => utf16::len(canonical_str(cursor)?) as u64,
        BLOCK_ITEM_DELETED_REF_NUMBER => canonical(cursor)?,
        BLOCK_ITEM_BINARY_REF_NUMBER => canonical_bytes(cursor).map(|_| 1)?,
        BLOCK_ITEM_TYPE_REF_NUMBER => {
            match u8::try_from(canonical(cursor)?).ok()? {
                TYPE_REFS_XML_ELEMENT | TYPE_REFS_XML_HOOK => canonical_str(cursor).map(|_| ())?,
                0..=TYPE_REFS_XML_TEXT => {}
                _ => return None,
            }
            1
        }
        _ => return None,
    };
    u32::try_from(len).ok().filter(|len| *len > 0)
}
