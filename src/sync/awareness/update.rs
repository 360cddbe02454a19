//! `AwarenessUpdate`: states on their way from one peer to another.
//!
//! The JSON text of a state is relayed as it came, byte for byte, and the clients in the order in which they came.
//! Nothing is allocated from the count on the wire. Cost O(bytes).

use std::sync::Arc;

use indexmap::IndexMap;
use indexmap::map::Entry;
use serde::{Deserialize, Serialize};
use yatta_encoding::{ClientID, Decode, Decoder, Encode, Encoder, Error};

/// The text that stands for "no state".
pub(super) const NULL: &str = "null";

/// States of clients, to be sent to a peer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AwarenessUpdate {
    /// The states, in the order of the wire.
    pub clients: IndexMap<ClientID, AwarenessUpdateEntry>,
}

/// The state of one client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AwarenessUpdateEntry {
    /// Counts what the client said; the higher clock wins.
    pub clock: u32,
    /// The state as JSON text; `null` if the client is gone.
    pub json: Arc<str>,
}

impl AwarenessUpdateEntry {
    /// Whether this says that the client is gone.
    pub(super) fn is_null(&self) -> bool {
        is_null(&self.json)
    }

    /// Whether this is to be believed rather than `other`.
    fn beats(&self, other: &Self) -> bool {
        self.clock > other.clock || (self.clock == other.clock && self.is_null() && !other.is_null())
    }
}

/// Whether a JSON text is `null`.
pub(super) fn is_null(json: &str) -> bool {
    json.trim_matches([' ', '\t', '\n', '\r']) == NULL
}

impl Encode for AwarenessUpdate {
    fn encode<E: Encoder>(&self, encoder: &mut E) {
        encoder.write_var(self.clients.len());
        for (client, entry) in &self.clients {
            encoder.write_var(client.get());
            encoder.write_var(entry.clock);
            encoder.write_string(&entry.json);
        }
    }
}

impl Decode for AwarenessUpdate {
    /// Reads states. Of two of one client the one is kept that Yjs would keep after both.
    fn decode<D: Decoder>(decoder: &mut D) -> Result<Self, Error> {
        let mut clients = IndexMap::new();
        // Each turn reads bytes, so a count that lies ends with the input.
        let len: u64 = decoder.read_var()?;
        for _ in 0..len {
            let client: u64 = decoder.read_var()?;
            if client > ClientID::MAX.get() {
                return Err(Error::InvalidVarInt);
            }
            let clock = decoder.read_var()?;
            let entry = AwarenessUpdateEntry { clock, json: decoder.read_string()?.into() };
            match clients.entry(ClientID::new(client)) {
                Entry::Vacant(place) => {
                    place.insert(entry);
                }
                Entry::Occupied(mut known) if entry.beats(known.get()) => {
                    known.insert(entry);
                }
                Entry::Occupied(_) => {}
            }
        }
        Ok(Self { clients })
    }
}
