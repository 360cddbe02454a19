//! `Branch`: what users hold of a shared type. A handle is a reference to the document (weak) and the place of the type in
//! it with a generation, checked on use: a type that was collected is told from the one that took its place.
//!
//! The subscriptions of a type live here, outside the lock of the document.

use std::any::Any as StdAny;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use yatta_encoding::ID;
#[cfg(feature = "weak")]
use yatta_encoding::block::WeakTag;

use super::registry::Registry;
use super::{Origin, TransactionMut, family};
use crate::block::index::BranchIdx;
use crate::block::item::{Id, Kind};
use crate::branch::node::{BranchNode, NodeHandle};
use crate::doc::{Doc, DocInner};
use crate::error::EditError;
use crate::store::Store;

/// A callback on changes of one type.
pub(crate) type BranchCallback = dyn FnMut(&TransactionMut<'_>, &BranchPtr) + Send;
/// A callback on changes of a type (the first argument) and those within it (the changed types, by ascending depth).
pub(crate) type DeepCallback = dyn FnMut(&TransactionMut<'_>, &BranchPtr, &[BranchPtr]) + Send;

/// The identity of a shared type: the name of a root, or the id of the item that holds it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub enum BranchID {
    /// The id of the item that holds a nested type.
    Nested(ID),
    /// The name of a root type.
    Root(Arc<str>),
}

/// A shared type of a document, as users see it.
pub struct Branch {
    doc: Weak<dyn StdAny + Send + Sync>,
    this: Weak<Self>,
    store: u64,
    idx: BranchIdx,
    generation: u32,
    id: BranchID,
    /// The kind, `TYPE_REFS_*`; that of a root may become known later.
    kind: AtomicU8,
    /// The node name of an XML element or hook.
    node_name: Option<Arc<str>>,
    /// What a weak link quotes.
    #[cfg(feature = "weak")]
    link: Option<Arc<WeakTag<'static>>>,
    /// The number of elements when it was last looked at: see [`Self::len`].
    len: AtomicU32,
    deleted: AtomicBool,
    /// See [`family`].
    parent: Weak<Self>,
    first_child: Mutex<Weak<Self>>,
    pub(super) observers: Registry<BranchCallback>,
    pub(super) deep_observers: Registry<DeepCallback>,
}

impl Branch {
    /// Returns the identity of this type; it is the same on all peers.
    pub fn id(&self) -> BranchID {
        self.id.clone()
    }

    /// Returns whether the type was deleted, or its document is gone. It needs no transaction.
    pub fn is_deleted(&self) -> bool {
        self.deleted.load(Ordering::Acquire) || self.doc.strong_count() == 0
    }

    /// Returns the number of elements of the sequence (in the document's offset kind) without a transaction: a list, text
    /// or XML node; 0 for a map. While a write transaction is open this is what its last edit through a list handle, or the
    /// last commit or update left; else it is exact. See [`Array::len`](crate::Array::len) and its like. Cost O(1).
    #[expect(clippy::len_without_is_empty, reason = "yrs has no is_empty")]
    pub fn len(&self) -> u32 {
        if let Some(doc) = self.doc()
            && let Ok(guard) = doc.inner().lock.try_read()
        {
            self.note_len(&guard.state.store);
        }
        self.len.load(Ordering::Acquire)
    }

    /// As [`Self::len`].
    pub fn content_len(&self) -> u32 {
        self.len()
    }

    /// Remembers the number of elements for [`Self::len`].
    #[inline]
    pub(crate) fn note_len(&self, store: &Store) {
        self.len.store(self.node(store).map_or(0, |node| node.len), Ordering::Release);
    }

    /// The kind as on the wire.
    pub(crate) fn kind(&self) -> u8 {
        self.kind.load(Ordering::Relaxed)
    }

    /// Says what a root is.
    pub(crate) fn define(&self, kind: u8) {
        self.kind.store(kind, Ordering::Relaxed);
    }

    /// The node name of an XML element or hook.
    pub(crate) fn node_name(&self) -> Option<&Arc<str>> {
        self.node_name.as_ref()
    }

    /// What a weak link quotes.
    #[cfg(feature = "weak")]
    pub(crate) fn link(&self) -> Option<&WeakTag<'static>> {
        self.link.as_deref()
    }

    /// The type that holds this one; none any more once that was collected and nobody has its handle.
    pub(crate) fn parent(&self) -> Option<BranchPtr> {
        self.parent.upgrade().map(BranchPtr)
    }

    /// The type that is the first visible child of this XML node, as of the last refresh (see [`family`]).
    pub(crate) fn first_child(&self) -> Option<BranchPtr> {
        self.first_child.lock().upgrade().map(BranchPtr)
    }

    pub(super) fn set_first_child(&self, child: Option<&Arc<Self>>) {
        *self.first_child.lock() = child.map_or_else(Weak::new, Arc::downgrade);
    }

    /// The document, while it lives.
    pub(crate) fn doc(&self) -> Option<Doc> {
        Doc::from_link(self.doc.upgrade()?)
    }

    /// Calls back on changes of this type.
    pub(crate) fn subscribe(&self, key: Origin, callback: Box<BranchCallback>) {
        let added = self.observers.subscribe(key, callback);
        self.count(added, true);
    }

    /// Ends a subscription to this type. Returns whether there was one of this key.
    pub(crate) fn unsubscribe(&self, key: &Origin) -> bool {
        let removed = self.observers.unsubscribe(key);
        self.count(removed, false);
        removed
    }

    /// Calls back on changes of this type and those within it.
    pub(crate) fn subscribe_deep(&self, key: Origin, callback: Box<DeepCallback>) {
        let added = self.deep_observers.subscribe(key, callback);
        self.count(added, true);
    }

    /// Ends a deep subscription to this type. Returns whether there was one of this key.
    pub(crate) fn unsubscribe_deep(&self, key: &Origin) -> bool {
        let removed = self.deep_observers.unsubscribe(key);
        self.count(removed, false);
        removed
    }

    /// Tells the document that a subscription came or went: it keeps deleted content only while there are some.
    fn count(&self, changed: bool, added: bool) {
        if changed && let Some(doc) = self.doc() {
            doc.inner().events.count_type(added);
        }
    }

    /// The node in its store, unless the type was collected or belongs to another document.
    #[inline]
    pub(crate) fn resolve(&self, store: &Store) -> Option<BranchIdx> {
        if self.store != store.uid {
            return None;
        }
        store.branches.live(self.idx, self.generation).map(|_| self.idx)
    }

    /// The node itself.
    pub(crate) fn node<'s>(&self, store: &'s Store) -> Option<&'s BranchNode> {
        self.resolve(store).map(|idx| &store.branches[idx])
    }

    /// The node for a write.
    ///
    /// # Panics
    /// When the type belongs to another document: it can be told before anything is changed, and a write that is
    /// silently lost is worse.
    #[inline]
    pub(crate) fn resolve_mut(&self, store: &Store) -> Option<BranchIdx> {
        assert!(
            self.store == store.uid,
            "the shared type {:?} belongs to another document than the transaction",
            self.id
        );
        self.resolve(store)
    }

    /// The node for a write that may be refused.
    #[inline]
    pub(crate) fn try_resolve_mut(&self, store: &Store) -> Result<BranchIdx, EditError> {
        if self.store != store.uid {
            return Err(EditError::OtherDocument);
        }
        self.resolve(store).ok_or(EditError::Collected)
    }
}

impl NodeHandle for Branch {
    fn note_deleted(&self) {
        self.deleted.store(true, Ordering::Release);
    }

    fn note_len(&self, len: u32) {
        self.len.store(len, Ordering::Release);
    }

    fn has_deep_observers(&self) -> bool {
        !self.deep_observers.is_empty()
    }

    fn into_any(self: Arc<Self>) -> Arc<dyn StdAny + Send + Sync> {
        self
    }
}

impl Drop for Branch {
    /// The type was collected, and nobody holds it any more: its subscriptions count no longer.
    fn drop(&mut self) {
        for _ in 0..self.observers.len() + self.deep_observers.len() {
            self.count(true, false);
        }
    }
}

impl std::fmt::Debug for Branch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Branch({:?})", self.id)
    }
}

impl PartialEq for Branch {
    fn eq(&self, other: &Self) -> bool {
        (self.store, self.idx, self.generation) == (other.store, other.idx, other.generation)
    }
}

impl Eq for Branch {}

impl AsRef<Self> for Branch {
    fn as_ref(&self) -> &Self {
        self
    }
}

/// A handle of a shared type of any kind.
#[derive(Clone)]
pub struct BranchPtr(Arc<Branch>);

impl BranchPtr {
    /// The handle of a node: there is one per type, made when it is first asked for.
    pub(crate) fn of(store: &Store, idx: BranchIdx) -> Self {
        Self(existing(store, idx).unwrap_or_else(|| family::make(store, idx)))
    }

    /// The handle of a node, if somebody asked for it before.
    pub(crate) fn existing(store: &Store, idx: BranchIdx) -> Option<Self> {
        existing(store, idx).map(Self)
    }

    /// The node that this handle was made for.
    pub(crate) fn idx(&self) -> BranchIdx {
        self.0.idx
    }

    pub(super) fn arc(&self) -> &Arc<Branch> {
        &self.0
    }
}

/// The handle of a node, if it was made.
#[inline]
pub(super) fn existing(store: &Store, idx: BranchIdx) -> Option<Arc<Branch>> {
    match Arc::clone(store.branches[idx].handle.get()?).into_any().downcast() {
        Ok(branch) => Some(branch),
        Err(_) => unreachable!("the handle of {idx:?} is no branch"),
    }
}

/// A handle for a node, not yet published.
pub(super) fn new_handle(store: &Store, idx: BranchIdx, parent: Weak<Branch>) -> Arc<Branch> {
    let node = &store.branches[idx];
    let id = match &node.name {
        Some(name) => BranchID::Root(Arc::clone(name)),
        None => BranchID::Nested(store.public_id(item_id(store, node))),
    };
    Arc::new_cyclic(|this| Branch {
        doc: Weak::clone(&store.owner),
        this: Weak::clone(this),
        store: store.uid,
        idx,
        generation: node.generation,
        id,
        kind: AtomicU8::new(node.tag.kind),
        node_name: node.tag.name.clone(),
        #[cfg(feature = "weak")]
        link: node.tag.link.clone(),
        len: AtomicU32::new(node.len),
        deleted: AtomicBool::new(store.is_branch_deleted(idx)),
        parent,
        first_child: Mutex::new(Weak::new()),
        observers: Registry::default(),
        deep_observers: Registry::default(),
    })
}

fn item_id(store: &Store, node: &BranchNode) -> Id {
    let item = &store.items[node.item];
    debug_assert!(item.kind() == Kind::Type, "{item:?} is no type");
    item.id
}

impl std::ops::Deref for BranchPtr {
    type Target = Branch;

    fn deref(&self) -> &Branch {
        &self.0
    }
}

impl AsRef<Branch> for BranchPtr {
    fn as_ref(&self) -> &Branch {
        &self.0
    }
}

impl From<&Branch> for BranchPtr {
    /// # Panics
    /// Never: a branch is only ever reached through its handle.
    fn from(branch: &Branch) -> Self {
        Self(branch.this.upgrade().expect("whoever has the reference holds the handle"))
    }
}

impl From<&Box<Branch>> for BranchPtr {
    fn from(branch: &Box<Branch>) -> Self {
        Self::from(branch.as_ref())
    }
}

impl From<&mut Box<Branch>> for BranchPtr {
    fn from(branch: &mut Box<Branch>) -> Self {
        Self::from(branch.as_ref())
    }
}

impl PartialEq for BranchPtr {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl Eq for BranchPtr {}

impl std::hash::Hash for BranchPtr {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (self.0.store, self.0.idx, self.0.generation).hash(state);
    }
}

impl std::fmt::Debug for BranchPtr {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// The document behind a link that a store holds.
pub(crate) fn link_to_doc(link: Arc<dyn StdAny + Send + Sync>) -> Option<Arc<DocInner>> {
    link.downcast().ok()
}
