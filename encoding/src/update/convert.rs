//! Rewriting an update in the other format.

use super::forget_bit;
use super::order::without_replaced;
use super::section_writer::SectionWriter;
use crate::block::{Block, UpdateReader};
use crate::codec::{DecoderV1, DecoderV2, EncoderV1, EncoderV2, UpdateDecoder, UpdateEncoder};
use crate::error::Error;
use crate::read::Cursor;

/// Rewrites an update of the first format in the second. Costs O(bytes).
///
/// # Errors
/// When the update is malformed.
pub fn convert_v1_to_v2(update: &[u8]) -> Result<Vec<u8>, Error> {
    if let Some(converted) = convert(DecoderV1::from(update), EncoderV2::new())? {
        return Ok(converted);
    }
    let whole = without_replaced(DecoderV1::from(update), EncoderV1::new())?;
    rewrite(DecoderV1::from(whole.as_deref().unwrap_or(update)), EncoderV2::new(), |_| {})
}

/// Rewrites an update of the second format in the first. Costs O(bytes).
///
/// # Errors
/// When the update is malformed.
pub fn convert_v2_to_v1(update: &[u8]) -> Result<Vec<u8>, Error> {
    if let Some(converted) = convert(DecoderV2::new(Cursor::new(update))?, EncoderV1::new())? {
        return Ok(converted);
    }
    let whole = without_replaced(DecoderV2::new(Cursor::new(update))?, EncoderV2::new())?;
    let decoder = DecoderV2::trusted(Cursor::new(whole.as_deref().unwrap_or(update)))?;
    rewrite(decoder, EncoderV1::new(), |_| {})
}

/// As [`convert_v2_to_v1`], for an update of our own making: see [`DecoderV2::trusted`].
///
/// # Errors
/// When the update is malformed.
#[doc(hidden)]
pub fn convert_trusted_v2_to_v1(update: &[u8]) -> Result<Vec<u8>, Error> {
    rewrite(DecoderV2::trusted(Cursor::new(update))?, EncoderV1::new(), |_| {})
}

/// `None` if the sections are out of order.
fn convert<'a, D: UpdateDecoder<'a>, E: UpdateEncoder>(decoder: D, enc: E) -> Result<Option<Vec<u8>>, Error> {
    rewrite_in_order(decoder, enc, |_| {}).map(|(bytes, is_in_order)| is_in_order.then_some(bytes))
}

/// Writes an update again, each block as `change` leaves it. A block must keep its length. Yjs: convertUpdateFormat.
pub(super) fn rewrite<'a, D: UpdateDecoder<'a>, E: UpdateEncoder>(
    decoder: D,
    enc: E,
    change: impl FnMut(&mut Block<'a>),
) -> Result<Vec<u8>, Error> {
    rewrite_in_order(decoder, enc, change).map(|(bytes, _)| bytes)
}

/// As [`rewrite`]; also returns whether the sections were in order.
fn rewrite_in_order<'a, D: UpdateDecoder<'a>, E: UpdateEncoder>(
    decoder: D,
    enc: E,
    mut change: impl FnMut(&mut Block<'a>),
) -> Result<(Vec<u8>, bool), Error> {
    let mut reader = UpdateReader::new(decoder)?;
    let mut writer = SectionWriter::new(enc);
    while let Some(mut block) = reader.next_block()? {
        forget_bit(&mut block);
        change(&mut block);
        writer.write(&block, 0);
    }
    let bytes = writer.finish_with(&mut reader)?;
    Ok((bytes, reader.is_in_order()))
}
