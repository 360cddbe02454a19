//! [`UpdateMeta`]: from which clock to which an update goes, client by client.

use crate::block::UpdateReader;
use crate::codec::{DecoderV1, DecoderV2, UpdateDecoder};
use crate::error::Error;
use crate::id::ClientID;
use crate::read::Cursor;
use indexmap::IndexMap;

/// Which clocks an update covers, by client, in the order of the update. Gaps within are not told; deletions neither.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UpdateMeta {
    /// The clock of the first unit.
    pub from: IndexMap<ClientID, u32>,
    /// The clock after the last unit.
    pub to: IndexMap<ClientID, u32>,
}

/// Tells from which clock to which an update of the first format goes. Costs O(bytes).
///
/// # Errors
/// When the blocks are malformed; the delete set is not read.
#[doc(alias = "parseUpdateMeta")]
pub fn parse_update_meta_v1(update: &[u8]) -> Result<UpdateMeta, Error> {
    parse(DecoderV1::from(update))
}

/// Tells from which clock to which an update of the second format goes. Costs O(bytes).
///
/// # Errors
/// When the blocks are malformed; the delete set is not read.
#[doc(alias = "parseUpdateMetaV2")]
pub fn parse_update_meta_v2(update: &[u8]) -> Result<UpdateMeta, Error> {
    parse(DecoderV2::new(Cursor::new(update))?)
}

fn parse<'a, D: UpdateDecoder<'a>>(decoder: D) -> Result<UpdateMeta, Error> {
    let mut reader = UpdateReader::new(decoder)?;
    let mut meta = UpdateMeta::default();
    let mut client = None;
    while let Some(block) = reader.next_block()? {
        let id = block.id();
        if client.replace(id.client) != Some(id.client) {
            meta.from.insert(id.client, id.clock);
        }
        meta.to.insert(id.client, block.clock_end());
    }
    Ok(meta)
}
