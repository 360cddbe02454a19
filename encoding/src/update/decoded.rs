//! [`DecodedUpdate`]: all blocks and deletions of an update, to look at them.

use crate::block::{Block, UpdateReader};
use crate::codec::{DecoderV1, DecoderV2, UpdateDecoder};
use crate::delete_set::DeleteRange;
use crate::error::Error;
use crate::read::Cursor;

/// What an update of either format says, in the order in which it says it. Its text form is a log, a block a line.
#[derive(Debug, Clone, PartialEq, Default)]
#[doc(alias = "logUpdate")]
pub struct DecodedUpdate<'a> {
    /// The blocks, section by section; they borrow text and bytes from the update.
    pub blocks: Vec<Block<'a>>,
    /// What it deletes, as the peer wrote it: clients can come twice, ranges out of order. Empty ranges are left out.
    pub delete_set: Vec<DeleteRange>,
}

/// Reads all of an update of the first format. Costs O(bytes); memory too.
///
/// To apply an update to a document, or to merge it, this is not needed.
///
/// # Errors
/// When the update is malformed.
///
/// ```
/// use yatta_encoding::update::decode_update_v1;
///
/// let update = [1, 1, 1, 0, 4, 1, 4, b't', b'e', b'x', b't', 3, b'a', b'b', b'c', 0];
/// let decoded = decode_update_v1(&update)?;
/// assert_eq!((decoded.blocks.len(), decoded.blocks[0].len()), (1, 3));
/// assert_eq!(decoded.to_string(), "1:0..3 text \"abc\" in root \"text\"\n");
/// # Ok::<(), yatta_encoding::Error>(())
/// ```
#[doc(alias = "decodeUpdate")]
pub fn decode_update_v1(update: &[u8]) -> Result<DecodedUpdate<'_>, Error> {
    decode(DecoderV1::from(update))
}

/// Reads all of an update of the second format. Costs O(bytes), and up to
/// [`BLOCKS_PER_BYTE`](crate::limits::BLOCKS_PER_BYTE) blocks a byte: GC blocks and deleted items can be runs of columns.
///
/// # Errors
/// When the update is malformed.
#[doc(alias = "decodeUpdateV2")]
pub fn decode_update_v2(update: &[u8]) -> Result<DecodedUpdate<'_>, Error> {
    decode(DecoderV2::new(Cursor::new(update))?)
}

fn decode<'a, D: UpdateDecoder<'a>>(decoder: D) -> Result<DecodedUpdate<'a>, Error> {
    let mut reader = UpdateReader::new(decoder)?;
    let mut blocks = Vec::new();
    while let Some(block) = reader.next_block()? {
        blocks.push(block);
    }
    Ok(DecodedUpdate { blocks, delete_set: reader.delete_set()? })
}
