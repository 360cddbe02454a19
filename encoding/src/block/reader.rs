//! [`UpdateReader`]: walks the blocks of an update.

use super::Block;
use crate::codec::UpdateDecoder;
use crate::delete_set::DeleteRange;
use crate::error::Error;
use crate::id::ClientID;
use std::marker::PhantomData;

/// The head of a client's blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Section {
    /// Whose blocks follow.
    pub client: ClientID,
    /// The clock of the first.
    pub clock: u32,
    /// How many the update claims to hold.
    pub blocks: u64,
}

/// Walks the blocks of an update in the order of the stream.
#[derive(Debug)]
pub struct UpdateReader<'a, D> {
    decoder: D,
    input: PhantomData<&'a [u8]>,
}

impl<'a, D: UpdateDecoder<'a>> UpdateReader<'a, D> {
    /// Reads the number of sections.
    ///
    /// # Errors
    /// When there is none, or more than bytes.
    pub fn new(_decoder: D) -> Result<Self, Error> {
        unimplemented!()
    }

    /// Reads the head of the next section, skipping what is left of the current one.
    ///
    /// # Errors
    /// When the bytes are malformed.
    pub fn next_section(&mut self) -> Result<Option<Section>, Error> {
        unimplemented!()
    }

    /// Reads the next block of the current section.
    ///
    /// # Errors
    /// When the bytes are malformed.
    pub fn next_in_section(&mut self) -> Result<Option<Block<'a>>, Error> {
        unimplemented!()
    }

    /// Reads the next block, entering the next section when the current one is done.
    ///
    /// # Errors
    /// When the bytes are malformed.
    pub fn next_block(&mut self) -> Result<Option<Block<'a>>, Error> {
        unimplemented!()
    }

    /// Reads the delete set, after the last block.
    ///
    /// # Errors
    /// When the bytes are malformed, or blocks are left.
    pub fn delete_set(&mut self) -> Result<Vec<DeleteRange>, Error> {
        unimplemented!()
    }

    /// Returns the decoder.
    pub fn decoder(&mut self) -> &mut D {
        &mut self.decoder
    }
}
