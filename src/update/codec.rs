//! Reading and writing an [`Update`].

use std::cmp::Reverse;

use yatta_encoding::block::write_block;
use yatta_encoding::delete_set::write_delete_set;
use yatta_encoding::{
    ClientID, Cursor, Decode, Decoder, DecoderV1, DecoderV2, Encode, Encoder, Error, Through,
};

use crate::block::update::Update;
use crate::ids::IdSet;

impl Update {
    /// The empty update in V1.
    pub const EMPTY_V1: &'static [u8] = &[0, 0];
    /// The empty update in V2.
    pub const EMPTY_V2: &'static [u8] = &[0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0];

    /// Makes an empty update.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns whether there are neither blocks nor deletions.
    pub fn is_empty(&self) -> bool {
        self.sections.is_empty() && self.deletes.is_empty()
    }

    /// Returns the deletions.
    pub fn delete_set(&self) -> &IdSet {
        &self.deletes
    }
}

impl Decode for Update {
    /// Reads an update with any decoder, which afterwards stands behind it. Cost O(bytes); the two below copy less.
    fn decode<D: Decoder>(decoder: &mut D) -> Result<Self, Error> {
        Self::read(Through::new(decoder)?)
    }

    /// Reads an update in V1. Trailing bytes are ignored, as in Yjs. Cost O(bytes).
    fn decode_v1(data: &[u8]) -> Result<Self, Error> {
        Self::read(DecoderV1::new(Cursor::new(data)))
    }

    /// Reads an update in V2. Trailing bytes are ignored, as in Yjs. Cost O(bytes).
    fn decode_v2(data: &[u8]) -> Result<Self, Error> {
        Self::read(DecoderV2::new(Cursor::new(data))?)
    }
}

impl Encode for Update {
    fn encode<E: Encoder>(&self, encoder: &mut E) {
        let mut order: Vec<_> = self.sections.iter().collect();
        order.sort_unstable_by_key(|section| Reverse(self.clients[section.client as usize]));
        encoder.write_var(order.len() as u64);
        for section in order {
            let client = self.clients[section.client as usize];
            let blocks = self.blocks_of(section);
            encoder.write_var(blocks.len() as u64);
            encoder.write_client(client);
            encoder.write_var(blocks[0].clock);
            for block in blocks {
                write_block(encoder, &self.wire_block(client, block), 0);
            }
        }
        let ranges: Vec<(ClientID, Vec<(u32, u32)>)> = self
            .deletes
            .iter()
            .rev()
            .map(|(client, ranges)| {
                (*client, ranges.iter().map(|range| (range.start, range.end - range.start)).collect())
            })
            .collect();
        write_delete_set(encoder, ranges.iter().map(|(client, ranges)| (*client, ranges.as_slice())));
    }
}

impl PartialEq for Update {
    fn eq(&self, other: &Self) -> bool {
        self.encode_v1() == other.encode_v1()
    }
}
