//! Delete sets on the wire: ranges of clock units, client by client.

use crate::codec::{Decoder, Encoder};
use crate::error::Error;
use crate::id::ClientID;

/// A run of deleted units of one client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeleteRange {
    /// Whose units.
    pub client: ClientID,
    /// The first of them.
    pub clock: u32,
    /// How many.
    pub len: u32,
}

/// Reads a delete set, giving each range to `each` in the order of the stream; empty ranges are left out.
///
/// # Errors
/// When the bytes are malformed.
pub fn read_delete_set<D: Decoder>(decoder: &mut D, each: impl FnMut(DeleteRange)) -> Result<(), Error> {
    let (_, _) = (decoder, each);
    unimplemented!()
}

/// Writes a delete set. The clients must come in descending order, the ranges of each in ascending order,
/// and no range may be empty.
pub fn write_delete_set<'r, E: Encoder>(
    enc: &mut E,
    clients: impl ExactSizeIterator<Item = (ClientID, &'r [(u32, u32)])>,
) {
    let (_, _) = (enc, clients);
    unimplemented!()
}
