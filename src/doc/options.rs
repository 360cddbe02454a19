//! Options of a document.

use std::sync::Arc;

use yatta_encoding::{Any, ClientID};

use crate::store::OffsetKind;

/// A globally unique document id, as text.
pub type Uuid = Arc<str>;

/// Makes a random UUID (version 4).
pub fn uuid_v4() -> Uuid {
    uuid_v4_from(fastrand::u128(..))
}

/// Makes a UUID (version 4) of 128 random bits, six of which are fixed by the format.
pub fn uuid_v4_from(value: u128) -> Uuid {
    let bits = value & !(0xf << 76) & !(0x3 << 62) | 0x4 << 76 | 0x2 << 62;
    let mut text = [b'-'; 36];
    let digits = text.iter_mut().enumerate().filter(|(place, _)| !matches!(place, 8 | 13 | 18 | 23));
    for ((_, digit), nibble) in digits.zip((0..32).rev()) {
        *digit = b"0123456789abcdef"[(bits >> (nibble * 4)) as usize & 0xf];
    }
    text.map(char::from).iter().collect::<String>().into()
}

/// How a document behaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Names this peer; no other peer may use it. Default: 32 random bits, as in Yjs 13.
    pub client_id: ClientID,
    /// Names the document. Default: a random UUID.
    pub guid: Uuid,
    /// The collection that the document belongs to, for providers that know such a thing.
    pub collection_id: Option<Arc<str>>,
    /// How indices and lengths of text count: UTF-8 bytes (the default) or UTF-16 units. It never touches the wire.
    pub offset_kind: OffsetKind,
    /// Keep deleted content, which snapshots need. Default: false.
    pub skip_gc: bool,
    /// Peers load this sub-document without being asked. Default: false.
    pub auto_load: bool,
    /// The document should be synced now. Default: true.
    pub should_load: bool,
    /// After a remote change of formatted text, remove marks that say nothing any more, as Yjs does. Default: true.
    pub cleanup_formatting: bool,
}

impl Options {
    /// Makes default options with this client id.
    pub fn with_client_id(client_id: ClientID) -> Self {
        Self::with_guid_and_client_id(uuid_v4(), client_id)
    }

    /// Makes default options with this guid and client id.
    pub fn with_guid_and_client_id(guid: Uuid, client_id: ClientID) -> Self {
        Self {
            client_id,
            guid,
            collection_id: None,
            offset_kind: OffsetKind::Bytes,
            skip_gc: false,
            auto_load: false,
            should_load: true,
            cleanup_formatting: true,
        }
    }
}

impl Options {
    /// What a parent document writes of a sub-document: only what differs from the defaults, as in Yjs.
    pub(crate) fn as_any(&self, meta: Option<&Any>) -> Any {
        let mut options: Vec<(String, Any)> = Vec::new();
        if self.skip_gc {
            options.push(("gc".to_owned(), Any::from(false)));
        }
        if self.auto_load {
            options.push(("autoLoad".to_owned(), Any::from(true)));
        }
        if let Some(meta) = meta {
            options.push(("meta".to_owned(), meta.clone()));
        }
        Any::Map(options.into_iter().collect())
    }
}

impl Default for Options {
    fn default() -> Self {
        Self::with_client_id(ClientID::random())
    }
}
