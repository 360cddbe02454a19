//! [`SectionWriter`]: writes blocks one after the other and counts them section by section.
//!
//! The number of a section's blocks stands before them but is known after them, so the undivided stream is
//! put together at the end, which copies it once.

use crate::block::{Block, UpdateReader, write_block};
use crate::codec::{UpdateDecoder, UpdateEncoder};
use crate::delete_set::DeleteSetBuilder;
use crate::error::Error;
use crate::id::ClientID;
use crate::write::Write;

/// A section that has been begun.
struct Begun {
    client: ClientID,
    /// Where it starts in the undivided stream.
    start: usize,
    blocks: u64,
}

/// Writes the blocks of an update.
pub(super) struct SectionWriter<E> {
    enc: E,
    sections: Vec<Begun>,
}

impl<E: UpdateEncoder> SectionWriter<E> {
    pub(super) fn new(enc: E) -> Self {
        Self { enc, sections: Vec::new() }
    }

    /// Writes a block without its first `offset` units; another client than before begins a section.
    pub(super) fn write(&mut self, block: &Block<'_>, offset: u32) {
        let id = block.id();
        match self.sections.last_mut() {
            Some(section) if section.client == id.client => section.blocks += 1,
            _ => {
                let start = self.enc.rest_mut().len();
                self.sections.push(Begun { client: id.client, start, blocks: 1 });
                self.enc.write_client(id.client);
                self.enc.write_var(id.clock.saturating_add(offset));
            }
        }
        write_block(&mut self.enc, block, offset);
    }

    /// Puts the counts in, and returns the encoder, to which the delete set is still to be written.
    pub(super) fn finish(mut self) -> E {
        let body = std::mem::take(self.enc.rest_mut());
        let mut whole = Vec::with_capacity(body.len() + 8 + 4 * self.sections.len());
        whole.write_var(self.sections.len());
        let ends = self.sections.iter().skip(1).map(|section| section.start).chain([body.len()]);
        for (section, end) in self.sections.iter().zip(ends) {
            whole.write_var(section.blocks);
            whole.write_all(&body[section.start..end]);
        }
        *self.enc.rest_mut() = whole;
        self.enc
    }

    /// Puts the counts in, and writes the delete set of `reader`, clients in descending order.
    pub(super) fn finish_with<'a, D: UpdateDecoder<'a>>(
        self,
        reader: &mut UpdateReader<'a, D>,
    ) -> Result<Vec<u8>, Error> {
        let mut enc = self.finish();
        let mut deleted = DeleteSetBuilder::new();
        reader.read_delete_set(|range| deleted.push(range))?;
        deleted.sort_clients();
        deleted.write(&mut enc);
        Ok(enc.to_vec())
    }
}
