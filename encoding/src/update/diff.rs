//! Leaving out of an update what its receiver has.

use super::order::without_replaced;
use super::section_writer::SectionWriter;
use super::{decode_state_vector, forget_bit};
use crate::block::{Block, UpdateReader};
use crate::codec::{DecoderV1, DecoderV2, EncoderV1, EncoderV2, UpdateDecoder, UpdateEncoder};
use crate::error::Error;
use crate::read::Cursor;

/// Leaves out of an update of the first format what a state vector covers. Costs O(bytes).
///
/// The delete set stays whole.
///
/// # Errors
/// When the update or the state vector is malformed.
pub fn diff_updates_v1(update: &[u8], state_vector: &[u8]) -> Result<Vec<u8>, Error> {
    match diff(DecoderV1::from(update), EncoderV1::new(), state_vector)? {
        (cut, true) => Ok(cut),
        (cut, false) => match without_replaced(DecoderV1::from(update), EncoderV1::new())? {
            Some(whole) => {
                diff(DecoderV1::from(&whole[..]), EncoderV1::new(), state_vector).map(|(cut, _)| cut)
            }
            None => Ok(cut),
        },
    }
}

/// Leaves out of an update of the second format what a state vector covers. Costs O(bytes).
///
/// The delete set stays whole.
///
/// # Errors
/// When the update or the state vector is malformed.
pub fn diff_updates_v2(update: &[u8], state_vector: &[u8]) -> Result<Vec<u8>, Error> {
    match diff(DecoderV2::new(Cursor::new(update))?, EncoderV2::new(), state_vector)? {
        (cut, true) => Ok(cut),
        (cut, false) => match without_replaced(DecoderV2::new(Cursor::new(update))?, EncoderV2::new())? {
            Some(whole) => diff_trusted_v2(&whole, state_vector),
            None => Ok(cut),
        },
    }
}

/// As [`diff_updates_v2`], for an update of our own making: see [`DecoderV2::trusted`].
///
/// # Errors
/// When the update or the state vector is malformed.
#[doc(hidden)]
pub fn diff_trusted_v2(update: &[u8], state_vector: &[u8]) -> Result<Vec<u8>, Error> {
    diff(DecoderV2::trusted(Cursor::new(update))?, EncoderV2::new(), state_vector).map(|(cut, _)| cut)
}

/// Also returns whether the sections were in order.
fn diff<'a, D: UpdateDecoder<'a>, E: UpdateEncoder>(
    decoder: D,
    enc: E,
    state_vector: &[u8],
) -> Result<(Vec<u8>, bool), Error> {
    let state = decode_state_vector(state_vector)?;
    let mut reader = UpdateReader::new(decoder)?;
    let mut writer = SectionWriter::new(enc);
    // The client whose blocks are being written: all after its first are.
    let mut writing = None;
    while let Some(mut block) = reader.next_block()? {
        let id = block.id();
        forget_bit(&mut block);
        if writing == Some(id.client) {
            writer.write(&block, 0);
            continue;
        }
        let known = state.get(&id.client).copied().unwrap_or(0);
        // What is written of a client does not begin with a gap.
        if !matches!(block, Block::Skip { .. }) && block.clock_end() > known {
            writer.write(&block, known.saturating_sub(id.clock));
            writing = Some(id.client);
        } else {
            writing = None;
        }
    }
    let cut = writer.finish_with(&mut reader)?;
    Ok((cut, reader.is_in_order()))
}
