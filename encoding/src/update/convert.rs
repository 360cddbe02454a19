//! Rewriting an update in the other format.

use super::forget_bit;
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
    convert(DecoderV1::from(update), EncoderV2::new())
}

/// Rewrites an update of the second format in the first. Costs O(bytes).
///
/// # Errors
/// When the update is malformed.
pub fn convert_v2_to_v1(update: &[u8]) -> Result<Vec<u8>, Error> {
    convert(DecoderV2::new(Cursor::new(update))?, EncoderV1::new())
}

/// As [`convert_v2_to_v1`], for an update of our own making: see [`DecoderV2::trusted`].
///
/// # Errors
/// When the update is malformed.
#[doc(hidden)]
pub fn convert_trusted_v2_to_v1(update: &[u8]) -> Result<Vec<u8>, Error> {
    convert(DecoderV2::trusted(Cursor::new(update))?, EncoderV1::new())
}

fn convert<'a, D: UpdateDecoder<'a>, E: UpdateEncoder>(decoder: D, enc: E) -> Result<Vec<u8>, Error> {
    rewrite(decoder, enc, |_| {})
}

/// Writes an update again, each block as `change` leaves it. A block must keep its length. Yjs: convertUpdateFormat.
pub(super) fn rewrite<'a, D: UpdateDecoder<'a>, E: UpdateEncoder>(
    decoder: D,
    enc: E,
    mut change: impl FnMut(&mut Block<'a>),
) -> Result<Vec<u8>, Error> {
    let mut reader = UpdateReader::new(decoder)?;
    let mut writer = SectionWriter::new(enc);
    while let Some(mut block) = reader.next_block()? {
        forget_bit(&mut block);
        change(&mut block);
        writer.write(&block, 0);
    }
    writer.finish_with(&mut reader)
}
