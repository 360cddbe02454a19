//! Merging updates into one, as Yjs 13 does.
//!
//! Each update is a *lane* of blocks. The lane whose next block comes first (highest client, then lowest
//! clock) is read for as long as its blocks follow upon what was written; then the lanes are looked at again.
//! Blocks that are covered are dropped, overlapping ones cut, gaps become a Skip block. Items are never
//! joined. Costs O(bytes) plus O(lanes log lanes), of which the sort of lanes that come in order is free.

use super::forget_bit;
use super::section_writer::SectionWriter;
use crate::block::{BLOCK_GC_REF_NUMBER, BLOCK_SKIP_REF_NUMBER, Block, UpdateReader};
use crate::codec::{DecoderV1, DecoderV2, EncoderV1, EncoderV2, UpdateDecoder, UpdateEncoder};
use crate::delete_set::DeleteSetBuilder;
use crate::error::Error;
use crate::id::{ClientID, ID};
use crate::read::Cursor;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Merges updates of the first format. A single update is returned as it is.
///
/// # Errors
/// When one of several updates is malformed.
pub fn merge_updates_v1<U: AsRef<[u8]>>(updates: &[U]) -> Result<Vec<u8>, Error> {
    if let [single] = updates {
        return Ok(single.as_ref().to_vec());
    }
    let bytes = updates.iter().map(|update| update.as_ref().len()).sum();
    let lanes = updates.iter().map(|update| Lane::new(DecoderV1::from(update.as_ref())));
    merge(lanes.collect::<Result<_, _>>()?, EncoderV1::with_buffer(Vec::with_capacity(bytes)))
}

/// Merges updates of the second format. A single update is returned as it is.
///
/// # Errors
/// When one of several updates is malformed.
pub fn merge_updates_v2<U: AsRef<[u8]>>(updates: &[U]) -> Result<Vec<u8>, Error> {
    if let [single] = updates {
        return Ok(single.as_ref().to_vec());
    }
    let lanes = updates.iter().map(|update| Lane::new(DecoderV2::new(Cursor::new(update.as_ref()))?));
    merge(lanes.collect::<Result<_, _>>()?, EncoderV2::new())
}

/// An update that is being read.
struct Lane<'a, D> {
    reader: UpdateReader<'a, D>,
    /// A block that was read and put back; boxed, because that is rare and lanes are many.
    held: Option<Box<Block<'a>>>,
}

impl<'a, D: UpdateDecoder<'a>> Lane<'a, D> {
    fn new(decoder: D) -> Result<Self, Error> {
        Ok(Self { reader: UpdateReader::new(decoder)?, held: None })
    }

    /// Looks at the next block that is no gap: its id, and whether it is a GC block.
    fn peek(&mut self) -> Result<Option<(ID, bool)>, Error> {
        if let Some(block) = &self.held {
            return Ok(Some((block.id(), matches!(**block, Block::Gc { .. }))));
        }
        loop {
            match self.reader.peek()? {
                Some((_, BLOCK_SKIP_REF_NUMBER)) => self.reader.next_block()?,
                head => return Ok(head.map(|(id, content)| (id, content == BLOCK_GC_REF_NUMBER))),
            };
        }
    }

    /// Takes the block that `peek` saw.
    fn take(&mut self) -> Result<Option<Block<'a>>, Error> {
        if let Some(block) = self.held.take() {
            return Ok(Some(*block));
        }
        let mut block = self.reader.next_block()?;
        if let Some(block) = &mut block {
            forget_bit(block);
        }
        Ok(block)
    }

    /// Takes the next block if it belongs to `client` and begins at `clock`.
    fn take_if(&mut self, client: ClientID, clock: u32) -> Result<Option<Block<'a>>, Error> {
        match self.peek()? {
            Some((id, _)) if id == ID::new(client, clock) => self.take(),
            _ => Ok(None),
        }
    }
}

/// Where a lane stands among the others.
#[derive(Clone, Copy)]
struct Place {
    head: ID,
    is_gc: bool,
    /// Breaks ties: the lane that was read last comes first, else the order of the input.
    turn: i64,
    lane: usize,
}

impl Place {
    /// Yjs: the comparison in mergeUpdatesV2. Of an item and a GC block at the same clock, Yjs says that
    /// either comes first; its sort then puts the later lane first.
    fn order(&self, other: &Self) -> Ordering {
        let turns = self.turn.cmp(&other.turn);
        (other.head.client.cmp(&self.head.client))
            .then(self.head.clock.cmp(&other.head.clock))
            .then(if self.is_gc == other.is_gc { turns } else { turns.reverse() })
    }
}

impl PartialEq for Place {
    fn eq(&self, other: &Self) -> bool {
        self.order(other).is_eq()
    }
}

impl Eq for Place {}

impl PartialOrd for Place {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Place {
    /// Reversed: the heap yields its greatest.
    fn cmp(&self, other: &Self) -> Ordering {
        other.order(self)
    }
}

/// The places of all lanes that have blocks left.
struct Queue {
    /// Lanes that have not been read, in descending order: the next is the last.
    fresh: Vec<Place>,
    /// Lanes that have been read in part.
    begun: BinaryHeap<Place>,
    turn: i64,
}

impl Queue {
    fn new(mut fresh: Vec<Place>) -> Self {
        // Stable, and linear for lanes that come in order.
        fresh.sort_by(Place::order);
        fresh.reverse();
        Self { fresh, begun: BinaryHeap::new(), turn: 0 }
    }

    fn pop(&mut self) -> Option<Place> {
        match (self.fresh.last(), self.begun.peek()) {
            (Some(fresh), Some(begun)) if fresh.order(begun).is_lt() => self.fresh.pop(),
            (_, Some(_)) => self.begun.pop(),
            (_, None) => self.fresh.pop(),
        }
    }

    fn push(&mut self, lane: usize, (head, is_gc): (ID, bool)) {
        self.turn -= 1;
        self.begun.push(Place { head, is_gc, turn: self.turn, lane });
    }
}

/// The block that is written next, without its first `offset` units: its end may still grow.
struct Current<'a> {
    block: Block<'a>,
    offset: u32,
}

fn merge<'a, D: UpdateDecoder<'a>, E: UpdateEncoder>(
    mut lanes: Vec<Lane<'a, D>>,
    enc: E,
) -> Result<Vec<u8>, Error> {
    let mut deleted = DeleteSetBuilder::new();
    let mut places = Vec::with_capacity(lanes.len());
    for (lane, reader) in lanes.iter_mut().enumerate() {
        match reader.peek()? {
            Some((head, is_gc)) => places.push(Place { head, is_gc, turn: lane as i64, lane }),
            None => reader.reader.read_delete_set(|range| deleted.push(range))?,
        }
    }
    let mut queue = Queue::new(places);
    let mut merger = Merger { writer: SectionWriter::new(enc), current: None };
    while let Some(place) = queue.pop() {
        let Some(lane) = lanes.get_mut(place.lane) else { continue };
        merger.read_lane(lane, place.head.client)?;
        match lane.peek()? {
            Some(head) => queue.push(place.lane, head),
            None => lane.reader.read_delete_set(|range| deleted.push(range))?,
        }
    }
    merger.write_current();
    let mut enc = merger.writer.finish();
    deleted.merge();
    deleted.write(&mut enc);
    Ok(enc.to_vec())
}

/// What has been merged.
struct Merger<'a, E> {
    writer: SectionWriter<E>,
    current: Option<Current<'a>>,
}

impl<'a, E: UpdateEncoder> Merger<'a, E> {
    fn write_current(&mut self) {
        if let Some(current) = self.current.take() {
            self.writer.write(&current.block, current.offset);
        }
    }

    fn set_current(&mut self, block: Block<'a>, offset: u32) {
        self.write_current();
        self.current = Some(Current { block, offset });
    }

    /// Where the current block ends, if it is one of `client`.
    fn end_of(&self, client: ClientID) -> Option<u32> {
        let block = &self.current.as_ref()?.block;
        (block.id().client == client).then(|| block.clock_end())
    }

    /// Takes blocks of `client` from a lane for as long as they follow upon each other.
    fn read_lane<D: UpdateDecoder<'a>>(
        &mut self,
        lane: &mut Lane<'a, D>,
        client: ClientID,
    ) -> Result<(), Error> {
        match self.end_of(client) {
            None => {
                if let Some(block) = lane.take()? {
                    self.set_current(block, 0);
                }
            }
            Some(end) => {
                if !self.join(lane, client, end)? {
                    return Ok(());
                }
            }
        }
        while let Some(end) = self.end_of(client)
            && let Some(block) = lane.take_if(client, end)?
        {
            self.set_current(block, 0);
        }
        Ok(())
    }

    /// Joins the next blocks of a lane to a current block of the same client, which ends at `end`.
    ///
    /// Returns whether the lane may be read on; otherwise the lanes must be looked at again.
    fn join<D: UpdateDecoder<'a>>(
        &mut self,
        lane: &mut Lane<'a, D>,
        client: ClientID,
        mut end: u32,
    ) -> Result<bool, Error> {
        let mut passed_any = false;
        loop {
            let Some((head, _)) = lane.peek()? else { return Ok(false) };
            if head.client != client {
                return Ok(false);
            }
            let Some(block) = lane.take()? else { return Ok(false) };
            if block.clock_end() <= end {
                passed_any = true;
                continue;
            }
            if head.clock > end {
                lane.held = Some(Box::new(block));
                if passed_any {
                    // Another lane may fill the gap.
                    return Ok(false);
                }
                self.set_current(Block::Skip { id: ID::new(client, end), len: head.clock - end }, 0);
                return Ok(true);
            }
            let known = end - head.clock;
            match (&mut self.current, &block) {
                (Some(Current { block: Block::Gc { len, .. }, .. }), Block::Gc { len: more, .. }) => {
                    *len += more - known;
                    end = block.clock_end();
                    // Yjs looks at the lane's next block in the same way, as if this one had been passed.
                    passed_any = true;
                }
                _ => {
                    self.set_current(block, known);
                    return Ok(true);
                }
            }
        }
    }
}
