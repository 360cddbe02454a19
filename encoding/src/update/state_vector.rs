//! State vectors: read from bytes, and computed of an update.

use super::order::without_replaced;
use crate::block::{Block, UpdateReader};
use crate::codec::{DecoderV1, DecoderV2, EncoderV1, EncoderV2, UpdateDecoder, client_id};
use crate::error::Error;
use crate::id::ClientID;
use crate::read::{Cursor, Read};
use crate::write::Write;
use std::collections::HashMap;

/// Reads a state vector, which is the same in both formats.
///
/// # Errors
/// When the bytes are cut or a number does not fit.
pub fn decode_state_vector(bytes: &[u8]) -> Result<HashMap<ClientID, u32>, Error> {
    let mut cursor = Cursor::new(bytes);
    let len: u64 = cursor.read_var()?;
    let mut state = HashMap::new();
    // Each turn reads bytes, so a count that lies ends with the input.
    for _ in 0..len {
        let client = client_id(cursor.read_var()?)?;
        state.insert(client, cursor.read_var()?);
    }
    Ok(state)
}

/// Computes the state vector that a document would have after an update of the first format. Costs O(bytes).
///
/// A client counts if its blocks begin at clock 0, up to its first gap. Clients keep the order of the update.
///
/// # Errors
/// When the update is malformed.
pub fn encode_state_vector_from_update_v1(update: &[u8]) -> Result<Vec<u8>, Error> {
    match encode(DecoderV1::from(update))? {
        (state, true) => Ok(state),
        (state, false) => match without_replaced(DecoderV1::from(update), EncoderV1::new())? {
            Some(whole) => encode(DecoderV1::from(&whole[..])).map(|(state, _)| state),
            None => Ok(state),
        },
    }
}

/// Computes the state vector that a document would have after an update of the second format.
///
/// See [`encode_state_vector_from_update_v1`].
///
/// # Errors
/// When the update is malformed.
pub fn encode_state_vector_from_update_v2(update: &[u8]) -> Result<Vec<u8>, Error> {
    match encode(DecoderV2::new(Cursor::new(update))?)? {
        (state, true) => Ok(state),
        (state, false) => match without_replaced(DecoderV2::new(Cursor::new(update))?, EncoderV2::new())? {
            Some(whole) => encode(DecoderV2::trusted(Cursor::new(&whole))?).map(|(state, _)| state),
            None => Ok(state),
        },
    }
}

/// Also returns whether the sections were in order.
fn encode<'a, D: UpdateDecoder<'a>>(decoder: D) -> Result<(Vec<u8>, bool), Error> {
    let mut reader = UpdateReader::new(decoder)?;
    let mut state: Vec<(ClientID, u32)> = Vec::new();
    // Whether the blocks of the current client still join up with what was counted.
    let mut counting = false;
    let mut client = None;
    while let Some(block) = reader.next_block()? {
        let id = block.id();
        if client != Some(id.client) {
            client = Some(id.client);
            counting = id.clock == 0;
            state.push((id.client, 0));
        }
        counting &= !matches!(block, Block::Skip { .. });
        if let (true, Some((_, clock))) = (counting, state.last_mut()) {
            *clock = block.clock_end();
        }
    }
    state.retain(|(_, clock)| *clock > 0);
    let mut bytes = Vec::new();
    bytes.write_var(state.len());
    for (client, clock) in state {
        bytes.write_var(client.get());
        bytes.write_var(clock);
    }
    Ok((bytes, reader.is_in_order()))
}
