//! Everything a document holds: the arena, the per-client lists and texts, the types, what waits.
//!
//! Layer 3: it stores and finds, it decides nothing. Lookups by id cost O(log of the blocks of the client) with
//! an interpolation guess that is exact for uniform runs.

pub(crate) mod check;
pub(crate) mod clock_list;
pub(crate) mod content;
pub(crate) mod deleted_runs;
pub(crate) mod find;
pub(crate) mod links;
pub(crate) mod pending;

use std::any::Any as StdAny;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock, Weak};

use indexmap::{IndexMap, IndexSet};
use rustc_hash::{FxBuildHasher, FxHashMap};
use yatta_encoding::{ClientID, ID};

use crate::block::arena::Arena;
use crate::block::content::Contents;
use crate::block::index::{BranchIdx, ClientIdx, ItemIdx, KeyIdx, LeafIdx};
use crate::block::item::{Flags, Id, Item, Kind};
use crate::block::text_buffer::TextBuffer;
use crate::branch::node::{BranchNode, Branches, Tag};
use crate::branch::tree;
use clock_list::ClockList;
use deleted_runs::{DeletedRuns, Run};
use links::Links;
use pending::Pending;

/// How indices and lengths of text are counted in the API. It never touches the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OffsetKind {
    /// UTF-8 bytes.
    Bytes,
    /// UTF-16 code units, as in JavaScript.
    Utf16,
}

/// The blocks and the text of one client.
pub(crate) struct Client {
    pub(crate) id: ClientID,
    /// The clock of the next block: the state of this client.
    pub(crate) next: u32,
    pub(crate) blocks: ClockList,
    pub(crate) text: TextBuffer,
    /// Which clocks are deleted, collected ones among them; see [`Store::deleted_ranges`].
    pub(crate) deleted: DeletedRuns,
}

/// Stamps of the items that a conflict scan has visited (see `engine::integrate`).
#[derive(Default)]
pub(crate) struct ScanStamps {
    pub(crate) stamps: Vec<u32>,
    pub(crate) tick: u32,
}

/// The content of a document.
pub struct Store {
    pub(crate) items: Arena,
    pub(crate) contents: Contents,
    pub(crate) clients: Vec<Client>,
    /// The place of each client in `clients`, once there are more than [`SCAN_MAX`].
    client_index: FxHashMap<ClientID, ClientIdx>,
    /// All clients by descending id, worked out when it is asked for and dropped when one comes.
    order: OnceLock<Box<[ClientIdx]>>,
    pub(crate) keys: IndexSet<Arc<str>, FxBuildHasher>,
    pub(crate) branches: Branches,
    pub(crate) roots: IndexMap<Arc<str>, BranchIdx, FxBuildHasher>,
    pub(crate) pending: Pending,
    /// The live items that hold sub-documents.
    pub(crate) subdocs: BTreeSet<ItemIdx>,
    /// The ids of the copies that undo managers made of deleted items.
    pub(crate) redone: FxHashMap<Id, Id>,
    /// What weak links quote.
    pub(crate) links: Links,
    /// This document's own client.
    pub(crate) me: ClientIdx,
    pub(crate) offset_kind: OffsetKind,
    pub(crate) skip_gc: bool,
    /// Tells the handles of this store from those of others.
    pub(crate) uid: u64,
    /// The document that this store belongs to; handles of types lead back to it.
    pub(crate) owner: Weak<dyn StdAny + Send + Sync>,
    pub(crate) scan: ScanStamps,
    /// A hint: an item that was the first of the chain of its key (see `engine::integrate`). It may be gone since.
    pub(crate) first_entry: ItemIdx,
    /// Held while handles of types are made.
    pub(crate) making: parking_lot::Mutex<()>,
}

/// So few clients are found by a look at each: most documents have no more.
const SCAN_MAX: usize = 4;

impl std::hash::Hash for Id {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        state.write_u64(u64::from(self.client.0) << 32 | u64::from(self.clock));
    }
}

impl Store {
    pub(crate) fn new(client: ClientID, offset_kind: OffsetKind, skip_gc: bool, uid: u64) -> Self {
        let mut store = Self {
            items: Arena::default(),
            contents: Contents::default(),
            clients: Vec::new(),
            client_index: FxHashMap::default(),
            order: OnceLock::new(),
            keys: IndexSet::default(),
            branches: Branches::default(),
            roots: IndexMap::default(),
            pending: Pending::default(),
            subdocs: BTreeSet::new(),
            redone: FxHashMap::default(),
            links: Links::default(),
            me: ClientIdx(0),
            offset_kind,
            skip_gc,
            uid,
            owner: Weak::<()>::new(),
            scan: ScanStamps::default(),
            first_entry: ItemIdx::NONE,
            making: parking_lot::Mutex::new(()),
        };
        store.me = store.client_idx(client);
        store
    }

    /// The interned client, made if it is new.
    pub(crate) fn client_idx(&mut self, id: ClientID) -> ClientIdx {
        if let Some(last) = self.clients.last()
            && last.id == id
        {
            return ClientIdx(self.clients.len() as u32 - 1);
        }
        if let Some(client) = self.known_client(id) {
            return client;
        }
        let client = ClientIdx(self.clients.len() as u32);
        self.clients.push(Client {
            id,
            next: 0,
            blocks: ClockList::new(),
            text: TextBuffer::default(),
            deleted: DeletedRuns::default(),
        });
        self.order.take();
        if self.clients.len() > SCAN_MAX {
            if self.client_index.is_empty() {
                let all = self.clients.iter().enumerate();
                self.client_index.extend(all.map(|(place, client)| (client.id, ClientIdx(place as u32))));
            }
            self.client_index.insert(id, client);
        }
        client
    }

    /// Makes room for the clients of an update, if they are many beside those that are known: most are new then.
    pub(crate) fn expect_clients(&mut self, count: usize) {
        if count / 2 > self.clients.len() {
            self.clients.reserve(count);
            self.client_index.reserve(count);
        }
    }

    /// The interned client, if it is known.
    pub(crate) fn known_client(&self, id: ClientID) -> Option<ClientIdx> {
        if self.clients.len() <= SCAN_MAX {
            let place = self.clients.iter().position(|client| client.id == id);
            return place.map(|place| ClientIdx(place as u32));
        }
        self.client_index.get(&id).copied()
    }

    #[inline]
    pub(crate) fn client(&self, client: ClientIdx) -> &Client {
        &self.clients[client.get()]
    }

    #[inline]
    pub(crate) fn client_mut(&mut self, client: ClientIdx) -> &mut Client {
        &mut self.clients[client.get()]
    }

    /// The next clock of a client.
    #[inline]
    pub(crate) fn state(&self, client: ClientIdx) -> u32 {
        self.clients[client.get()].next
    }

    /// The next clock of a client by its id; 0 if it is unknown.
    pub(crate) fn state_of(&self, client: ClientID) -> u32 {
        self.known_client(client).map_or(0, |client| self.state(client))
    }

    /// The public form of an id.
    #[inline]
    pub(crate) fn public_id(&self, id: Id) -> ID {
        ID { client: self.client(id.client).id, clock: id.clock }
    }

    /// The interned form of an id whose client is known.
    pub(crate) fn known_id(&self, id: ID) -> Option<Id> {
        self.known_client(id.client).map(|client| Id::new(client, id.clock))
    }

    /// Clients that have blocks, by descending id: the order of the wire. Cost O(clients); sorts only where a client is new.
    pub(crate) fn clients_descending(&self) -> impl Iterator<Item = ClientIdx> + '_ {
        let order = self.order.get_or_init(|| {
            let mut order: Box<[ClientIdx]> = (0..self.clients.len() as u32).map(ClientIdx).collect();
            order.sort_unstable_by_key(|client| std::cmp::Reverse(self.client(*client).id));
            order
        });
        order.iter().copied().filter(|client| self.state(*client) > 0)
    }

    pub(crate) fn key_idx(&mut self, key: &str) -> KeyIdx {
        if let Some(place) = self.keys.get_index_of(key) {
            return KeyIdx(place as u32);
        }
        KeyIdx(self.keys.insert_full(Arc::from(key)).0 as u32)
    }

    pub(crate) fn known_key(&self, key: &str) -> Option<KeyIdx> {
        self.keys.get_index_of(key).map(|place| KeyIdx(place as u32))
    }

    /// The text of an interned key.
    pub(crate) fn key(&self, key: KeyIdx) -> &Arc<str> {
        &self.keys[key.get()]
    }

    /// The block that contains `id`, whose clock must be below the state of its client.
    #[inline]
    pub(crate) fn item_at(&self, id: Id) -> ItemIdx {
        self.clients[id.client.get()].blocks.find(id.clock)
    }

    /// The block that contains a public id, if it is here.
    pub(crate) fn find_item(&self, id: ID) -> Option<ItemIdx> {
        let id = self.known_id(id)?;
        (id.clock < self.state(id.client)).then(|| self.item_at(id))
    }

    /// The deleted clocks of a client: ranges in rising order that do not touch. Cost O(1) from the second call on, and
    /// O(n log n) for n ranges that were deleted lately; the first looks at every block.
    pub(crate) fn deleted_ranges(&self, client: ClientIdx) -> Cow<'_, [Run]> {
        self.client(client).deleted.ranges(|| self.deleted_blocks(client))
    }

    /// The deleted blocks of a client in rising order.
    fn deleted_blocks(&self, client: ClientIdx) -> impl Iterator<Item = Run> {
        let blocks = self.client(client).blocks.iter().map(|(_, slot)| &self.items[slot]);
        blocks.filter(|item| item.is_deleted()).map(|item| Run { start: item.id.clock, end: item.end() })
    }

    /// The root type of this name, made with no kind if it is new.
    pub(crate) fn root_idx(&mut self, name: &str) -> BranchIdx {
        if let Some(root) = self.roots.get(name) {
            return *root;
        }
        let name: Arc<str> = Arc::from(name);
        let node = BranchNode::new(
            Tag::of(yatta_encoding::block::TYPE_REFS_UNDEFINED),
            ItemIdx::NONE,
            Some(Arc::clone(&name)),
        );
        let root = self.branches.alloc(node);
        self.roots.insert(name, root);
        root
    }

    /// Whether the type, or one that holds it, is deleted.
    pub(crate) fn is_branch_deleted(&self, branch: BranchIdx) -> bool {
        let item = self.branches[branch].item;
        item.is_some() && self.items[item].is_deleted()
    }

    /// The items and contents as the position tree wants to see them.
    #[inline]
    pub(crate) fn tree_view<'a>(items: &'a mut Arena, contents: &'a Contents) -> TreeView<'a> {
        TreeView { items, contents }
    }
}

/// The arena as the position tree sees it.
pub(crate) struct TreeView<'a> {
    items: &'a mut Arena,
    contents: &'a Contents,
}

impl TreeView<'_> {
    #[inline]
    pub(crate) fn item(&self, slot: ItemIdx) -> &Item {
        &self.items[slot]
    }
}

impl tree::Entries for TreeView<'_> {
    #[inline]
    fn leaf(&self, item: ItemIdx) -> LeafIdx {
        self.items[item].leaf()
    }

    #[inline]
    fn set_leaf(&mut self, item: ItemIdx, leaf: LeafIdx) {
        self.items.set_leaf(item, leaf);
    }

    #[inline]
    fn mark(&self, item: ItemIdx) -> KeyIdx {
        mark_of(&self.items[item], self.contents)
    }
}

/// The arena as a position tree sees it that is only read.
pub(crate) struct TreeRead<'a>(pub(crate) &'a Store);

impl tree::Entries for TreeRead<'_> {
    fn leaf(&self, item: ItemIdx) -> LeafIdx {
        self.0.items[item].leaf()
    }

    fn set_leaf(&mut self, item: ItemIdx, leaf: LeafIdx) {
        unreachable!("a tree that is read moves no item ({item:?} to {leaf:?})")
    }

    fn mark(&self, item: ItemIdx) -> KeyIdx {
        mark_of(&self.0.items[item], &self.0.contents)
    }
}

/// The key of a live format mark.
#[inline]
fn mark_of(item: &Item, contents: &Contents) -> KeyIdx {
    if item.kind() != Kind::Format || item.flags.has(Flags::DELETED) {
        return KeyIdx::NONE;
    }
    match contents.get(item.content) {
        crate::block::content::Content::Format(key, _) => *key,
        other => unreachable!("a format item holds {other:?}"),
    }
}
