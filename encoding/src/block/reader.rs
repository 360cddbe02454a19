//! [`UpdateReader`]: walks the blocks of an update.
//!
//! What it yields borrows from the input; only values and JSON texts allocate. Counts are checked before
//! they are believed: against the bytes left in the first format, against a budget in the second (see
//! [`limits`](crate::limits)). Clocks never pass `u32::MAX`, and no block refers to itself or to what comes after it of its
//! own client. Costs O(bytes).

use super::content::read_content;
use super::{
    BLOCK_GC_REF_NUMBER, BLOCK_SKIP_REF_NUMBER, Block, Content, HAS_ORIGIN, HAS_PARENT_SUB, HAS_RIGHT_ORIGIN,
    Item, Parent,
};
use crate::codec::UpdateDecoder;
use crate::delete_set::{DeleteRange, read_delete_set};
use crate::error::Error;
use crate::id::{ClientID, ID};
use std::borrow::Cow;
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
///
/// ```
/// use yatta_encoding::DecoderV1;
/// use yatta_encoding::block::UpdateReader;
///
/// // One client, one block: the text "abc" in the root "text"; nothing deleted.
/// let update = [1, 1, 1, 0, 4, 1, 4, b't', b'e', b'x', b't', 3, b'a', b'b', b'c', 0];
/// let mut reader = UpdateReader::new(DecoderV1::from(&update[..]))?;
/// let block = reader.next_block()?.expect("one block");
/// assert_eq!((block.id().client.get(), block.len()), (1, 3));
/// assert_eq!(reader.next_block()?, None);
/// assert!(reader.delete_set()?.is_empty());
/// # Ok::<(), yatta_encoding::Error>(())
/// ```
#[derive(Debug)]
pub struct UpdateReader<'a, D> {
    decoder: D,
    /// How many sections are still to be entered.
    sections: u64,
    client: ClientID,
    /// Clock of the next block of the section.
    clock: u32,
    /// How many blocks of the section are still to be read.
    blocks: u64,
    /// Info byte of the next block, if it has been looked at.
    info: Option<u8>,
    /// How many more blocks may be claimed.
    budget: u64,
    /// Whether the clients of the sections entered so far descend.
    is_in_order: bool,
    /// Whether no section has been entered yet.
    is_first: bool,
    input: PhantomData<&'a [u8]>,
}

impl<'a, D: UpdateDecoder<'a>> UpdateReader<'a, D> {
    /// Reads the number of sections.
    ///
    /// # Errors
    /// When there is none, or more than the bytes can hold.
    pub fn new(mut decoder: D) -> Result<Self, Error> {
        let budget = decoder.block_budget();
        let sections: u64 = decoder.read_var()?;
        // A section takes at least two bytes: the number of its blocks and its clock.
        if sections > decoder.remaining() as u64 / 2 {
            return Err(decoder.invalid("more clients than bytes"));
        }
        let client = ClientID::new(0);
        Ok(Self {
            decoder,
            sections,
            client,
            clock: 0,
            blocks: 0,
            info: None,
            budget,
            is_in_order: true,
            is_first: true,
            input: PhantomData,
        })
    }

    /// Reads the head of the next section, passing over what is left of the current one.
    ///
    /// # Errors
    /// When the bytes are malformed.
    pub fn next_section(&mut self) -> Result<Option<Section>, Error> {
        while self.blocks > 0 {
            self.next_in_section()?;
        }
        let section =
            |reader: &Self| Section { client: reader.client, clock: reader.clock, blocks: reader.blocks };
        Ok(if self.enter_section()? { Some(section(self)) } else { None })
    }

    /// Reads the next block of the current section; `None` at its end.
    ///
    /// # Errors
    /// When the bytes are malformed.
    #[inline]
    pub fn next_in_section(&mut self) -> Result<Option<Block<'a>>, Error> {
        let Some(info) = self.next_info()? else { return Ok(None) };
        self.info = None;
        let id = ID::new(self.client, self.clock);
        match info & 0x1f {
            BLOCK_GC_REF_NUMBER => {
                let len = self.decoder.read_len()?;
                self.advance(len)?;
                Ok(Some(Block::Gc { id, len }))
            }
            BLOCK_SKIP_REF_NUMBER => {
                // Not of the column of lengths: gaps are of no predictable length.
                let len = self.decoder.read_var()?;
                self.advance(len)?;
                Ok(Some(Block::Skip { id, len }))
            }
            _ => self.read_item(info, id),
        }
    }

    /// Reads into `head` what stands before the parent, or else the content, of the next block of the current section;
    /// `false` at its end. Then follow [`Self::take_parent`] if [`Head::has_parent`], and the content, by
    /// [`Self::take_len`], [`Self::take_text`] or [`Self::take_content`] as its number asks for.
    ///
    /// For a caller that keeps no [`Block`]: nothing goes through memory here but numbers.
    ///
    /// # Errors
    /// When the bytes are malformed.
    #[inline(always)]
    pub fn next_head(&mut self, head: &mut Head) -> Result<bool, Error> {
        let Some(info) = self.next_info()? else { return Ok(false) };
        self.info = None;
        (head.clock, head.info, head.origin, head.right_origin) = (self.clock, info, None, None);
        if head.is_item() {
            let decoder = &mut self.decoder;
            if info & HAS_ORIGIN != 0 {
                let id = decoder.quick_left_id();
                head.origin = Some(if let Some(id) = id { id } else { decoder.read_left_id()? });
            }
            if info & HAS_RIGHT_ORIGIN != 0 {
                let id = decoder.quick_right_id();
                head.right_origin = Some(if let Some(id) = id { id } else { decoder.read_right_id()? });
            }
            self.is_past(head.clock, [head.origin, head.right_origin])?;
        }
        Ok(true)
    }

    /// Reads the parent of an item whose head says that it is written, and the key of a map entry.
    ///
    /// # Errors
    /// When the bytes are malformed.
    pub fn take_parent(&mut self, head: &Head) -> Result<(Parent<'a>, Option<Cow<'a, str>>), Error> {
        let (parent, parent_sub) = read_parent(&mut self.decoder, head.info)?;
        if let Parent::Branch(id) = &parent {
            self.is_past(head.clock, [Some(*id), None])?;
        }
        Ok((parent, parent_sub))
    }

    /// Rejects places that a block of this clock could not have known when it was made: no honest peer names them, and
    /// nothing could ever integrate it.
    #[inline]
    fn is_past(&self, clock: u32, ids: [Option<ID>; 2]) -> Result<(), Error> {
        if ids.into_iter().flatten().any(|id| id.client == self.client && id.clock >= clock) {
            return Err(self.future(clock));
        }
        Ok(())
    }

    #[cold]
    fn future(&self, clock: u32) -> Error {
        Error::Custom(format!("the block {}:{clock} refers to its own future", self.client))
    }

    /// Reads the length of a block that is nothing but long: GC, Skip or deleted content.
    ///
    /// # Errors
    /// When the bytes are malformed.
    #[inline(always)]
    pub fn take_len(&mut self, content: u8) -> Result<u32, Error> {
        // Not of the column of lengths: gaps are of no predictable length.
        let is_skip = content == BLOCK_SKIP_REF_NUMBER;
        let len = if is_skip { self.decoder.read_var()? } else { self.decoder.read_len()? };
        self.advance(len)?;
        Ok(len)
    }

    /// Appends text, which is checked to be UTF-8, to `text` and returns its length in UTF-16 units.
    ///
    /// # Errors
    /// When the bytes are malformed.
    #[inline(always)]
    pub fn take_text(&mut self, text: &mut Vec<u8>) -> Result<u32, Error> {
        let len = self.decoder.take_text(text)?;
        self.advance(len)?;
        Ok(len)
    }

    /// Reads content of any kind and its length in clock units.
    ///
    /// # Errors
    /// When the bytes are malformed.
    pub fn take_content(&mut self, content: u8) -> Result<(Content<'a>, u32), Error> {
        let (content, len) = read_content(&mut self.decoder, content)?;
        self.advance(len)?;
        Ok((content, len))
    }

    /// Reads the next block, entering the next section when the current one is done.
    ///
    /// # Errors
    /// When the bytes are malformed.
    #[inline]
    pub fn next_block(&mut self) -> Result<Option<Block<'a>>, Error> {
        loop {
            if self.blocks > 0 {
                return self.next_in_section();
            }
            if !self.enter_section()? {
                return Ok(None);
            }
        }
    }

    /// Looks at the next block: its id and the low bits of its info byte.
    #[inline]
    pub(crate) fn peek(&mut self) -> Result<Option<(ID, u8)>, Error> {
        loop {
            if let Some(info) = self.next_info()? {
                return Ok(Some((ID::new(self.client, self.clock), info & 0x1f)));
            }
            if !self.enter_section()? {
                return Ok(None);
            }
        }
    }

    /// Reads the delete set, passing over blocks that are left.
    ///
    /// # Errors
    /// When the bytes are malformed.
    pub fn delete_set(&mut self) -> Result<Vec<DeleteRange>, Error> {
        let mut ranges = Vec::new();
        self.read_delete_set(|range| ranges.push(range))?;
        Ok(ranges)
    }

    /// Like [`Self::delete_set`], but gives each range to `each`.
    ///
    /// # Errors
    /// When the bytes are malformed.
    pub fn read_delete_set(&mut self, each: impl FnMut(DeleteRange)) -> Result<(), Error> {
        while self.blocks > 0 || self.sections > 0 {
            self.next_block()?;
        }
        read_delete_set(&mut self.decoder, each)
    }

    /// Returns whether the clients of the sections entered so far descend, as every peer writes them. If they do not, two
    /// sections may be of one client; the later then replaces the earlier.
    #[inline]
    pub fn is_in_order(&self) -> bool {
        self.is_in_order
    }

    /// Returns the decoder.
    pub fn decoder(&mut self) -> &mut D {
        &mut self.decoder
    }

    /// Reads the head of the next section, if there is one; none of the current one may be left.
    fn enter_section(&mut self) -> Result<bool, Error> {
        if self.sections == 0 {
            return Ok(false);
        }
        self.sections -= 1;
        let blocks: u64 = self.decoder.read_var()?;
        let client = self.decoder.read_client()?;
        self.is_in_order &= self.is_first || client < self.client;
        self.is_first = false;
        self.client = client;
        self.clock = self.decoder.read_var()?;
        if blocks > self.budget {
            return Err(self.decoder.invalid("more blocks than the bytes can hold"));
        }
        self.budget -= blocks;
        self.blocks = blocks;
        Ok(true)
    }

    #[inline]
    fn next_info(&mut self) -> Result<Option<u8>, Error> {
        if self.blocks > 0 && self.info.is_none() {
            self.info = Some(self.decoder.read_info()?);
        }
        Ok(self.info)
    }

    #[inline]
    fn advance(&mut self, len: u32) -> Result<(), Error> {
        let Some(end) = self.clock.checked_add(len) else {
            return Err(self.decoder.invalid("a block ends beyond the last clock"));
        };
        self.clock = end;
        self.blocks -= 1;
        Ok(())
    }

    #[inline]
    fn read_item(&mut self, info: u8, id: ID) -> Result<Option<Block<'a>>, Error> {
        let decoder = &mut self.decoder;
        let origin = if info & HAS_ORIGIN != 0 { Some(decoder.read_left_id()?) } else { None };
        let right_origin = if info & HAS_RIGHT_ORIGIN != 0 { Some(decoder.read_right_id()?) } else { None };
        let (parent, parent_sub) = if info & (HAS_ORIGIN | HAS_RIGHT_ORIGIN) == 0 {
            read_parent(decoder, info)?
        } else {
            (Parent::Inherit, None)
        };
        let branch = if let Parent::Branch(id) = &parent { Some(*id) } else { None };
        self.is_past(id.clock, [origin, right_origin])?;
        self.is_past(id.clock, [branch, None])?;
        let has_parent_sub = info & HAS_PARENT_SUB != 0;
        let (content, len) = read_content(&mut self.decoder, info & 0x1f)?;
        self.advance(len)?;
        let item = Item { id, len, origin, right_origin, parent, parent_sub, has_parent_sub, content };
        Ok(Some(Block::Item(item)))
    }
}

/// Reads the parent of an item without origins, and its key where the info byte says that there is one.
fn read_parent<'a, D: UpdateDecoder<'a>>(
    decoder: &mut D,
    info: u8,
) -> Result<(Parent<'a>, Option<Cow<'a, str>>), Error> {
    let parent = if decoder.read_parent_info()? {
        Parent::Root(decoder.take_str()?)
    } else {
        Parent::Branch(decoder.read_left_id()?)
    };
    let parent_sub = if info & HAS_PARENT_SUB != 0 { Some(decoder.take_str()?) } else { None };
    Ok((parent, parent_sub))
}

/// What stands before the content of a block, but for its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Head {
    /// The clock of the first unit.
    pub clock: u32,
    /// The info byte.
    pub info: u8,
    /// The id at its left when it was inserted.
    pub origin: Option<ID>,
    /// The id at its right when it was inserted.
    pub right_origin: Option<ID>,
}

impl Head {
    /// Returns the number of the content: one of the `BLOCK_` constants.
    #[inline]
    pub const fn content(&self) -> u8 {
        self.info & 0x1f
    }

    /// Tells whether this is neither a collected range nor a gap.
    #[inline]
    pub const fn is_item(&self) -> bool {
        self.content() != BLOCK_GC_REF_NUMBER && self.content() != BLOCK_SKIP_REF_NUMBER
    }

    /// Tells whether the parent is written: that of the others is the parent of an origin.
    #[inline]
    pub const fn has_parent(&self) -> bool {
        self.is_item() && self.info & (HAS_ORIGIN | HAS_RIGHT_ORIGIN) == 0
    }

    /// Tells whether the info byte says that this is a map entry.
    #[inline]
    pub const fn has_parent_sub(&self) -> bool {
        self.is_item() && self.info & HAS_PARENT_SUB != 0
    }
}
