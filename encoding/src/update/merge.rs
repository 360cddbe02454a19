//! Merging updates into one, as Yjs 13 does.
//!
//! Each update is a *lane* of blocks. The lane whose next block comes first (highest client, then lowest
//! clock) is read for as long as its blocks follow upon what was written; then the lanes are looked at again.
//! Blocks that are covered are dropped, overlapping ones cut, gaps become a Skip block. Items are never
//! joined, so they are written at once; GC blocks are held back while they may grow.
//!
//! Costs O(bytes) plus a sort of the lanes, which is linear if they come in order. A lane that is not being
//! read costs 40 bytes: its reader is made again when its turn comes. Updates of the first format first try
//! [`runs`], which copies bytes.

use super::order::in_order;
use super::section_writer::SectionWriter;
use super::{forget_bit, runs};
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
    match runs::merge(updates)? {
        Some(merged) => return Ok(merged),
        None => {
            if let Some(merged) = merge(updates, |update| Ok(DecoderV1::from(update)), EncoderV1::new())? {
                return Ok(merged);
            }
        }
    }
    let ordered = updates.iter().map(|update| in_order(DecoderV1::from(update.as_ref()), EncoderV1::new()));
    let ordered = ordered.collect::<Result<Vec<_>, _>>()?;
    merge(&ordered, |update| Ok(DecoderV1::from(update)), EncoderV1::new())?.ok_or(Error::UnexpectedValue)
}

/// Merges updates of the second format. A single update is returned as it is.
///
/// # Errors
/// When one of several updates is malformed.
pub fn merge_updates_v2<U: AsRef<[u8]>>(updates: &[U]) -> Result<Vec<u8>, Error> {
    if let [single] = updates {
        return Ok(single.as_ref().to_vec());
    }
    if let Some(merged) = merge(updates, |update| DecoderV2::new(Cursor::new(update)), EncoderV2::new())? {
        return Ok(merged);
    }
    let ordered = updates
        .iter()
        .map(|update| in_order(DecoderV2::new(Cursor::new(update.as_ref()))?, EncoderV2::new()))
        .collect::<Result<Vec<_>, _>>()?;
    merge_trusted_v2(&ordered)
}

/// As [`merge_updates_v2`], for updates of our own making: see [`DecoderV2::trusted`].
///
/// # Errors
/// When one of several updates is malformed.
#[doc(hidden)]
pub fn merge_trusted_v2<U: AsRef<[u8]>>(updates: &[U]) -> Result<Vec<u8>, Error> {
    merge(updates, |update| DecoderV2::trusted(Cursor::new(update)), EncoderV2::new())?
        .ok_or(Error::UnexpectedValue)
}

/// The next block of a lane, gaps left out.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Head {
    id: ID,
    is_gc: bool,
}

/// An update that is being read.
struct Lane<'a, D> {
    reader: UpdateReader<'a, D>,
    /// A block that was read and put back: rare, so that lanes stay small.
    held: Option<Box<Block<'a>>>,
}

impl<'a, D: UpdateDecoder<'a>> Lane<'a, D> {
    fn new(decoder: D) -> Result<Self, Error> {
        Ok(Self { reader: UpdateReader::new(decoder)?, held: None })
    }

    /// Looks at the next block that is no gap.
    #[inline]
    fn peek(&mut self) -> Result<Option<Head>, Error> {
        if let Some(block) = &self.held {
            return Ok(Some(Head { id: block.id(), is_gc: matches!(**block, Block::Gc { .. }) }));
        }
        while let Some((id, content)) = self.reader.peek()? {
            if content != BLOCK_SKIP_REF_NUMBER {
                return Ok(Some(Head { id, is_gc: content == BLOCK_GC_REF_NUMBER }));
            }
            self.reader.next_block()?;
        }
        Ok(None)
    }

    /// Takes the block that `peek` saw.
    #[inline]
    fn take(&mut self) -> Result<Option<Block<'a>>, Error> {
        match self.held.take() {
            None => self.reader.next_block(),
            Some(block) => Ok(Some(*block)),
        }
    }
}

/// Where a lane stands among the others.
#[derive(Clone, Copy)]
struct Place {
    head: Head,
    /// Breaks ties: the lane that was read last comes first, else the order of the input.
    turn: i64,
}

impl Place {
    /// Yjs: the comparison in mergeUpdatesV2. Of an item and a GC block at the same clock, Yjs says that
    /// either comes first; its sort then puts the later lane first.
    fn order(&self, other: &Self) -> Ordering {
        let (left, right) = (&self.head, &other.head);
        let turns = || match self.turn.cmp(&other.turn) {
            order if left.is_gc == right.is_gc => order,
            order => order.reverse(),
        };
        (right.id.client.cmp(&left.id.client)).then(left.id.clock.cmp(&right.id.clock)).then_with(turns)
    }
}

/// A lane that has been read in part.
struct Begun<'a, D> {
    place: Place,
    lane: Box<Lane<'a, D>>,
}

impl<D> PartialEq for Begun<'_, D> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<D> Eq for Begun<'_, D> {}

impl<D> PartialOrd for Begun<'_, D> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<D> Ord for Begun<'_, D> {
    /// Reversed: the heap yields its greatest.
    fn cmp(&self, other: &Self) -> Ordering {
        other.place.order(&self.place)
    }
}

/// Merges updates; `None` if the sections of one of them are out of order.
fn merge<'a, U: AsRef<[u8]>, D: UpdateDecoder<'a>, E: UpdateEncoder>(
    updates: &'a [U],
    decode: impl Fn(&'a [u8]) -> Result<D, Error>,
    enc: E,
) -> Result<Option<Vec<u8>>, Error> {
    let open = |index: usize| match updates.get(index) {
        Some(update) => Lane::new(decode(update.as_ref())?),
        None => Err(Error::UnexpectedValue),
    };
    let mut deleted = DeleteSetBuilder::new();
    // Lanes that have not been read; the next is the last.
    let mut fresh = Vec::with_capacity(updates.len());
    for index in 0..updates.len() {
        let mut lane = open(index)?;
        match lane.peek()? {
            Some(head) => fresh.push(Place { head, turn: index as i64 }),
            None => lane.reader.read_delete_set(|range| deleted.push(range))?,
        }
    }
    fresh.sort_by(Place::order);
    fresh.reverse();
    let mut begun: BinaryHeap<Begun<'a, D>> = BinaryHeap::new();
    let mut last_turn = 0;
    let mut merger = Merger::new(SectionWriter::new(enc));
    loop {
        let fresh_is_next = match (fresh.last(), begun.peek()) {
            (Some(fresh), Some(begun)) => fresh.order(&begun.place).is_lt(),
            (fresh, _) => fresh.is_some(),
        };
        let (head, mut lane) = if fresh_is_next {
            let Some(place) = fresh.pop() else { break };
            let mut lane = open(place.turn as usize)?;
            // Passes over the gaps that the lane begins with, as when its head was read.
            lane.peek()?;
            (place.head, lane)
        } else {
            let Some(begun) = begun.pop() else { break };
            (begun.place.head, *begun.lane)
        };
        match merger.read_lane(&mut lane, head.id.client)? {
            Some(head) => {
                last_turn -= 1;
                begun.push(Begun { place: Place { head, turn: last_turn }, lane: Box::new(lane) });
            }
            None if lane.reader.is_in_order() => lane.reader.read_delete_set(|range| deleted.push(range))?,
            None => return Ok(None),
        }
    }
    let mut enc = merger.finish();
    deleted.merge();
    deleted.write(&mut enc);
    Ok(Some(enc.to_vec()))
}

/// What has been merged.
struct Merger<E> {
    writer: SectionWriter<E>,
    /// The client of the blocks being written, and the clock after the last.
    client: Option<ClientID>,
    end: u32,
    /// The last GC block, while it may grow: its first clock. It ends at `end` and is not written yet.
    gc: Option<u32>,
}

impl<E: UpdateEncoder> Merger<E> {
    fn new(writer: SectionWriter<E>) -> Self {
        Self { writer, client: None, end: 0, gc: None }
    }

    fn finish(mut self) -> E {
        self.write_gc();
        self.writer.finish()
    }

    /// Writes the GC block that was held back.
    #[inline]
    fn write_gc(&mut self) {
        if let (Some(clock), Some(client)) = (self.gc.take(), self.client) {
            self.writer.write(&Block::Gc { id: ID::new(client, clock), len: self.end - clock }, 0);
        }
    }

    /// Takes a block whose first `known` units are written.
    #[inline]
    fn put(&mut self, block: &mut Block<'_>, known: u32) {
        self.write_gc();
        let id = block.id();
        self.client = Some(id.client);
        self.end = block.clock_end();
        if let Block::Gc { .. } = block {
            self.gc = Some(id.clock + known);
        } else {
            forget_bit(block);
            self.writer.write(block, known);
        }
    }

    /// Takes blocks of `client` from a lane for as long as they follow upon each other, and returns what the
    /// lane has next.
    fn read_lane<'a, D: UpdateDecoder<'a>>(
        &mut self,
        lane: &mut Lane<'a, D>,
        client: ClientID,
    ) -> Result<Option<Head>, Error> {
        let may_go_on = if self.client == Some(client) {
            self.join(lane, client)?
        } else {
            if let Some(mut block) = lane.take()? {
                self.put(&mut block, 0);
            }
            true
        };
        loop {
            let head = lane.peek()?;
            match head {
                Some(Head { id, .. }) if may_go_on && id == ID::new(client, self.end) => {
                    if let Some(mut block) = lane.take()? {
                        self.put(&mut block, 0);
                    }
                }
                _ => return Ok(head),
            }
        }
    }

    /// Joins the next blocks of a lane to what is written of the same client.
    ///
    /// Returns whether the lane may be read on; otherwise the lanes must be looked at again.
    fn join<'a, D: UpdateDecoder<'a>>(
        &mut self,
        lane: &mut Lane<'a, D>,
        client: ClientID,
    ) -> Result<bool, Error> {
        let mut passed_any = false;
        loop {
            match lane.peek()? {
                Some(head) if head.id.client == client => {}
                _ => return Ok(false),
            }
            let Some(mut block) = lane.take()? else { return Ok(false) };
            if block.clock_end() <= self.end {
                passed_any = true;
                continue;
            }
            let clock = block.id().clock;
            if clock > self.end {
                lane.held = Some(Box::new(block));
                if !passed_any {
                    let gap = clock - self.end;
                    self.put(&mut Block::Skip { id: ID::new(client, self.end), len: gap }, 0);
                }
                // If blocks were passed, another lane may fill the gap.
                return Ok(!passed_any);
            }
            if let (Some(_), Block::Gc { .. }) = (self.gc, &block) {
                self.end = block.clock_end();
                // Yjs looks at the lane's next block as if this one had been passed.
                passed_any = true;
                continue;
            }
            let known = self.end - clock;
            self.put(&mut block, known);
            return Ok(true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Cursor, DecoderV1, DecoderV2, EncoderV1, EncoderV2, merge, merge_updates_v1, runs};

    fn unhex(text: &str) -> Vec<u8> {
        let digits: Vec<u8> = text.bytes().map(|c| (c as char).to_digit(16).expect("hex") as u8).collect();
        digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
    }

    fn general(updates: &[&Vec<u8>]) -> Vec<u8> {
        merge(updates, |update| Ok(DecoderV1::from(update)), EncoderV1::new())
            .expect("well formed")
            .expect("in order")
    }

    #[test]
    fn copying_runs_and_the_general_merge_give_the_same_bytes() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/vectors/update-tools.json");
        let file: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let mut rng = fastrand::Rng::with_seed(5);
        let (mut by_runs, mut by_general) = (0, 0);
        for case in file["cases"].as_array().unwrap() {
            let inputs: Vec<_> =
                case["inputs"].as_array().unwrap().iter().map(|hex| unhex(hex.as_str().unwrap())).collect();
            for _ in 0..40 {
                let some: Vec<_> = (0..rng.usize(2..6)).map(|_| &inputs[rng.usize(..inputs.len())]).collect();
                let expected = general(&some);
                match runs::merge(&some).unwrap() {
                    Some(merged) => {
                        assert_eq!(merged, expected, "{some:02x?}");
                        by_runs += 1;
                    }
                    None => by_general += 1,
                }
                assert_eq!(merge_updates_v1(&some).unwrap(), expected);
            }
        }
        assert!(by_runs > 1_000 && by_general > 200, "{by_runs} by runs, {by_general} not");
    }

    /// Two sections of client 1, and before them one of client 0: no peer writes that, but a document reads it.
    #[test]
    fn sections_out_of_order_lose_nothing() {
        let odd = "03010000040101740162010101040101740161010100040101740163".to_owned() + "00";
        let other = "010201000401017401610401017401780000";
        for v2 in [false, true] {
            let all = [unhex(&odd), unhex(other)];
            let merged = if v2 {
                let all = all.map(|update| crate::update::convert_v1_to_v2(&update).unwrap());
                crate::update::convert_v2_to_v1(&super::merge_updates_v2(&all).unwrap()).unwrap()
            } else {
                merge_updates_v1(&all).unwrap()
            };
            let mut reader = crate::block::UpdateReader::new(DecoderV1::from(&merged[..])).unwrap();
            let mut blocks = Vec::new();
            while let Some(block) = reader.next_block().unwrap() {
                blocks.push((block.id().client.get(), block.id().clock, block.len()));
            }
            assert!(reader.is_in_order());
            assert_eq!(blocks, [(1, 0, 1), (1, 1, 1), (0, 0, 1)], "v2: {v2}");
        }
    }

    /// Updates that begin with a gap, as a store that keeps Skips may write them. The merged bytes are those of Yjs 13.6.33.
    #[test]
    fn gaps_at_the_start_are_passed_over() {
        // Of client 9: a gap only (and a letter of client 3), a gap and a letter, two letters before and one after.
        let gap = "020109000a0201030004010174016100";
        let gap_and_letter = "010209000a02840901016300";
        let (low, first, later) =
            ("0101030004010174016100", "010109000401017402787900", "01010904840903016400");
        for (updates, expected) in [
            (vec![gap, first], "020109000401017402787901030004010174016100"),
            (vec![gap, later], "02010904840903016401030004010174016100"),
            (vec![gap_and_letter, low], "02010902840901016301030004010174016100"),
            (vec![gap_and_letter, first], "0102090004010174027879840901016300"),
            (vec![gap_and_letter, gap, later], "0203090284090101630a01840903016401030004010174016100"),
            (
                vec![gap, gap_and_letter, first, later],
                "020409000401017402787984090101630a01840903016401030004010174016100",
            ),
        ] {
            let v1: Vec<_> = updates.iter().map(|update| unhex(update)).collect();
            assert_eq!(merge_updates_v1(&v1).unwrap(), unhex(expected), "{updates:?}");
            let v2: Vec<_> = v1.iter().map(|v1| crate::update::convert_v1_to_v2(v1).unwrap()).collect();
            let merged = super::merge_updates_v2(&v2).unwrap();
            assert_eq!(crate::update::convert_v2_to_v1(&merged).unwrap(), unhex(expected), "{updates:?}, V2");
        }
    }

    #[test]
    fn both_formats_merge_alike() {
        let v1 = ["0101010004010174016100", "01010101840100016200"].map(unhex);
        let v2: Vec<_> = v1.iter().map(|v1| crate::update::convert_v1_to_v2(v1).unwrap()).collect();
        let merged = merge(&v2, |update| DecoderV2::new(Cursor::new(update)), EncoderV2::new())
            .expect("well formed")
            .expect("in order");
        assert_eq!(crate::update::convert_v2_to_v1(&merged).unwrap(), merge_updates_v1(&v1).unwrap());
    }
}
