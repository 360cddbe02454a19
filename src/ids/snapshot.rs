//! `Snapshot`: a point in the history of a document, as a state vector and a delete set.
//!
//! Bytes: the delete set (V1, or the V2 columns without the header of an update), then the state
//! vector.

use crate::ids::id_set::IdSet;
use crate::ids::state_vector::StateVector;
use crate::ids::wire::{self, ClockReader, ClockWriter};
use yatta_encoding::{Decode, Decoder, Encode, Encoder, Error, ID};

/// A point in the history of a document.
///
/// With it the document can be read as it was then, as long as its garbage collection is off.
#[derive(Default, Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// What was deleted.
    pub delete_set: IdSet,
    /// What was known of each client.
    pub state_map: StateVector,
}

impl Snapshot {
    /// Makes a snapshot of its two parts.
    pub fn new(state_map: StateVector, delete_set: IdSet) -> Self {
        Self { delete_set, state_map }
    }

    /// Tells if the element was there and not deleted.
    #[inline]
    pub(crate) fn is_visible(&self, id: &ID) -> bool {
        id.clock < self.state_map.get(&id.client) && !self.delete_set.contains(id)
    }

    fn write<W: ClockWriter>(&self, to: &mut W) {
        self.delete_set.write(to);
        self.state_map.write(to);
    }

    fn read<R: ClockReader>(from: &mut R) -> Result<Self, Error> {
        let delete_set = IdSet::read(from)?;
        Ok(Self::new(StateVector::read(from)?, delete_set))
    }
}

impl Encode for Snapshot {
    fn encode<E: Encoder>(&self, encoder: &mut E) {
        self.write(encoder);
    }

    /// Encodes the snapshot as Yjs does in V2, without the header of an update in front.
    fn encode_v2(&self) -> Vec<u8> {
        wire::encode_plain_v2(|writer| self.write(writer))
    }
}

impl Decode for Snapshot {
    fn decode<D: Decoder>(decoder: &mut D) -> Result<Self, Error> {
        Self::read(decoder)
    }

    /// Decodes a snapshot from V2, with or without the header that yrs writes in front.
    fn decode_v2(data: &[u8]) -> Result<Self, Error> {
        wire::decode_plain_v2(data, |reader| Self::read(reader))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use yatta_encoding::ClientID;

    #[test]
    fn visible_is_known_and_not_deleted() {
        let client = ClientID::new(1);
        let mut deleted = IdSet::new();
        deleted.insert(ID::new(client, 2), 2);
        let snapshot = Snapshot::new(StateVector::from_iter([(client, 6)]), deleted);
        let visible: Vec<u32> =
            (0..10).filter(|clock| snapshot.is_visible(&ID::new(client, *clock))).collect();
        assert_eq!(visible, [0, 1, 4, 5]);
        assert!(!snapshot.is_visible(&ID::new(ClientID::new(2), 0)));
    }
}
