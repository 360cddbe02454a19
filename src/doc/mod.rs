//! `Doc`: a document and its options (the layer of `transaction`, see there).
//!
//! A `Doc` is a reference: clones are the same document. It is `Send` and `Sync`; all access goes through transactions.

mod async_transact;
mod events;
mod options;
pub(crate) mod subdoc;
mod transact;

use std::any::Any as StdAny;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use parking_lot::Mutex;
use yatta_encoding::{Any, ClientID};

use crate::change::ChangeSet;
pub use crate::store::OffsetKind;
use crate::store::Store;
use crate::transaction::family;
use crate::transaction::handle::link_to_doc;
use crate::transaction::lock::{DocLock, DocState};
use crate::transaction::registry::Listeners;

pub use async_transact::{AcquireTransaction, AcquireTransactionMut, AsyncTransact};
pub use events::StoreEvents;
pub(crate) use events::UpdateCallback;
pub use options::{Options, Uuid, uuid_v4, uuid_v4_from};
pub use transact::{Transact, TransactionAcqError};

/// Numbers stores, so that a handle is told from one of another document.
static NEXT_UID: AtomicU64 = AtomicU64::new(1);

/// What all clones of a `Doc` share.
pub(crate) struct DocInner {
    pub(crate) lock: DocLock,
    pub(crate) options: Options,
    pub(crate) events: StoreEvents,
    /// Tells the store from others, and so this document.
    pub(crate) uid: u64,
    /// The client id may change on a clash, and is read without the lock.
    client_id: AtomicU64,
    /// The client id was changed by somebody who had not the lock: the next transaction takes it over.
    client_due: AtomicBool,
    should_load: AtomicBool,
    /// The collection; a sub-document takes over that of its parent.
    collection: OnceLock<Arc<str>>,
    /// What the parent document says of this one beyond its options.
    meta: OnceLock<Any>,
    /// Where this document stands in another one.
    place: Mutex<Option<subdoc::Place>>,
}

impl DocInner {
    pub(crate) fn set_client_id(&self, client: ClientID) {
        self.client_id.store(client.get(), Ordering::Release);
    }

    /// The client id that the store has to take over.
    #[inline]
    pub(crate) fn due_client(&self) -> Option<ClientID> {
        if !self.client_due.load(Ordering::Acquire) {
            return None;
        }
        self.client_due.store(false, Ordering::Release);
        Some(ClientID::new(self.client_id.load(Ordering::Acquire)))
    }
}

/// A document: a set of named shared types that merge with those of other peers.
///
/// ```
/// use yatta::{Doc, ReadTxn, StateVector, Text, GetString, Transact, Update, updates::decoder::Decode};
///
/// let doc = Doc::new();
/// let text = doc.get_or_insert_text("article");
/// text.insert(&mut doc.transact_mut(), 0, "hello");
///
/// let peer = Doc::new();
/// let copy = peer.get_or_insert_text("article");
/// let update = doc.transact().encode_state_as_update_v1(&StateVector::default());
/// peer.transact_mut().apply_update(Update::decode_v1(&update)?)?;
/// assert_eq!(copy.get_string(&peer.transact()), "hello");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Doc(Arc<DocInner>);

impl Doc {
    /// Makes an empty document with default options and a random client id of 32 bits.
    pub fn new() -> Self {
        Self::with_options(Options::default())
    }

    /// Makes an empty document with this client id, which must be used by no other peer.
    pub fn with_client_id(client_id: u64) -> Self {
        Self::with_options(Options::with_client_id(ClientID::new(client_id)))
    }

    /// Makes an empty document.
    pub fn with_options(options: Options) -> Self {
        Self(Arc::new_cyclic(|this| {
            let uid = NEXT_UID.fetch_add(1, Ordering::Relaxed);
            let mut store = Store::new(options.client_id, options.offset_kind, options.skip_gc, uid);
            store.owner = Weak::<DocInner>::clone(this);
            DocInner {
                lock: DocLock::new(DocState {
                    store,
                    changes: ChangeSet::default(),
                    update: Vec::new(),
                    listeners: Listeners::default(),
                }),
                uid,
                client_id: AtomicU64::new(options.client_id.get()),
                client_due: AtomicBool::new(false),
                should_load: AtomicBool::new(options.should_load),
                collection: options.collection_id.clone().map_or_else(OnceLock::new, OnceLock::from),
                meta: OnceLock::new(),
                place: Mutex::new(None),
                options,
                events: StoreEvents::default(),
            }
        }))
    }

    pub(crate) fn inner(&self) -> &DocInner {
        &self.0
    }

    /// The document that a store belongs to.
    pub(crate) fn from_link(link: Arc<dyn StdAny + Send + Sync>) -> Option<Self> {
        link_to_doc(link).map(Self)
    }

    /// Returns the client id under which this document writes.
    pub fn client_id(&self) -> ClientID {
        ClientID::new(self.0.client_id.load(Ordering::Acquire))
    }

    /// Returns the globally unique id of this document.
    pub fn guid(&self) -> Uuid {
        Arc::clone(&self.0.options.guid)
    }

    /// Returns the collection that this document belongs to, for providers that know such a thing.
    pub fn collection_id(&self) -> Option<Arc<str>> {
        self.0.collection.get().cloned()
    }

    /// Returns whether deleted content is kept.
    pub fn skip_gc(&self) -> bool {
        self.0.options.skip_gc
    }

    /// Returns whether peers load this sub-document without being asked.
    pub fn auto_load(&self) -> bool {
        self.0.options.auto_load
    }

    /// Returns whether this document should be synced now.
    pub fn should_load(&self) -> bool {
        self.0.should_load.load(Ordering::Acquire)
    }

    /// Changes the client id under which this document writes, from the next write transaction on.
    ///
    /// No other peer may use it, now or before. Yjs: `doc.clientID = id`.
    pub fn set_client_id(&self, client_id: ClientID) {
        self.0.set_client_id(client_id);
        self.0.client_due.store(true, Ordering::Release);
    }

    /// Returns what the application that made this sub-document says of it to all peers. Yjs: `doc.meta`.
    pub fn meta(&self) -> Option<&Any> {
        self.0.meta.get()
    }

    /// Sets what all peers shall know of this document once it is inserted into another one.
    ///
    /// # Errors
    /// Gives `meta` back if it was set before.
    pub fn set_meta(&self, meta: Any) -> Result<(), Any> {
        self.0.meta.set(meta)
    }

    /// Returns how indices and lengths of text are counted.
    pub fn offset_kind(&self) -> OffsetKind {
        self.0.options.offset_kind
    }

    /// Returns whether two handles are of the same document.
    pub fn ptr_eq(a: &Self, b: &Self) -> bool {
        Arc::ptr_eq(&a.0, &b.0)
    }

    /// Checks the invariants of docs/ARCHITECTURE.md and stops with the values if one is broken. Cost O(document).
    #[doc(hidden)]
    pub fn check(&self) {
        let txn = Transact::transact(self);
        txn.store_ref().check();
        family::check(txn.store_ref());
        self.0.events.check();
    }
}

impl Default for Doc {
    fn default() -> Self {
        Self::new()
    }
}

impl PartialEq for Doc {
    fn eq(&self, other: &Self) -> bool {
        self.0.options.guid == other.0.options.guid
    }
}

impl std::fmt::Debug for Doc {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Doc(client {}, guid {})", self.client_id(), self.0.options.guid)
    }
}

impl std::fmt::Display for Doc {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Debug::fmt(self, f)
    }
}
