//! Delete sets on the wire: ranges of clock units, client by client.
//!
//! Clients stand in descending order. The first format holds clocks as they are, the second their distance
//! to the end of the range before. [`DeleteSetBuilder`] collects ranges in any order and puts them right.

use crate::codec::{Decoder, Encoder, client_id};
use crate::error::Error;
use crate::id::ClientID;
use std::cmp::Reverse;

/// A run of deleted units of one client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeleteRange {
    /// Whose units.
    pub client: ClientID,
    /// The first of them.
    pub clock: u32,
    /// How many, at least one.
    pub len: u32,
}

impl DeleteRange {
    /// Returns the clock after the last unit.
    pub fn clock_end(&self) -> u32 {
        self.clock.saturating_add(self.len)
    }
}

/// Reads a delete set, giving each range to `each` in the order of the stream.
///
/// The order is whatever the peer wrote: clients can come twice, ranges out of order or overlapping.
///
/// # Errors
/// When the bytes are malformed, a range ends beyond the last clock, or one is empty: nobody writes such a range, and Yjs
/// throws over one of a client that it does not know.
pub fn read_delete_set<D: Decoder>(decoder: &mut D, mut each: impl FnMut(DeleteRange)) -> Result<(), Error> {
    // Both loops read bytes in each turn, so a count that lies ends with the input.
    let clients: u64 = decoder.read_var()?;
    for _ in 0..clients {
        decoder.reset_ds_cur_val();
        let client = client_id(decoder.read_var()?)?;
        let ranges: u64 = decoder.read_var()?;
        for _ in 0..ranges {
            let clock = decoder.read_ds_clock()?;
            let len = decoder.read_ds_len()?;
            if clock.checked_add(len).is_none() {
                return Err(decoder.invalid("a deleted range ends beyond the last clock"));
            }
            if len == 0 {
                return Err(decoder.invalid("a deleted range is empty"));
            }
            each(DeleteRange { client, clock, len });
        }
    }
    Ok(())
}

/// Writes a delete set of `(clock, len)` ranges.
///
/// The clients must come in descending order, the ranges of each in ascending order, and no range may be
/// empty.
pub fn write_delete_set<'r, E: Encoder>(
    enc: &mut E,
    clients: impl ExactSizeIterator<Item = (ClientID, &'r [(u32, u32)])>,
) {
    enc.write_var(clients.len());
    for (client, ranges) in clients {
        enc.reset_ds_cur_val();
        enc.write_var(client.get());
        enc.write_var(ranges.len());
        for &(clock, len) in ranges {
            enc.write_ds_clock(clock);
            enc.write_ds_len(len);
        }
    }
}

/// Collects ranges and writes them as a delete set.
#[derive(Debug, Default, Clone)]
pub struct DeleteSetBuilder {
    ranges: Vec<DeleteRange>,
}

impl DeleteSetBuilder {
    /// Starts empty.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a range.
    pub fn push(&mut self, range: DeleteRange) {
        self.ranges.push(range);
    }

    /// Sorts the ranges and joins those that touch or overlap. Costs O(n log n), O(n) if nearly sorted.
    pub fn merge(&mut self) {
        self.ranges.sort_by_key(|range| (Reverse(range.client), range.clock));
        self.ranges.dedup_by(|right, left| {
            let touching = left.client == right.client && left.clock_end() >= right.clock;
            if touching {
                left.len = left.clock_end().max(right.clock_end()) - left.clock;
            }
            touching
        });
    }

    /// Sorts by client only; ranges of a client that are out of order are merged all the same.
    pub(crate) fn sort_clients(&mut self) {
        self.ranges.sort_by_key(|range| Reverse(range.client));
        let in_order = self.ranges.windows(2).all(|pair| match pair {
            [left, right] => left.client != right.client || left.clock_end() <= right.clock,
            _ => true,
        });
        if !in_order {
            self.merge();
        }
    }

    /// Writes the ranges, which must have been sorted.
    pub fn write<E: Encoder>(&self, enc: &mut E) {
        let pairs: Vec<(u32, u32)> = self.ranges.iter().map(|range| (range.clock, range.len)).collect();
        let mut rest = pairs.as_slice();
        let groups: Vec<_> = self
            .ranges
            .chunk_by(|left, right| left.client == right.client)
            .filter_map(|group| {
                let (head, tail) = rest.split_at(group.len());
                rest = tail;
                group.first().map(|range| (range.client, head))
            })
            .collect();
        write_delete_set(enc, groups.into_iter());
    }
}
