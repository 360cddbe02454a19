//! Sub-documents: a document within a document, of which the parent knows the guid and the options, not the content.
//!
//! The parent holds its sub-documents, they refer back weakly: no cycle keeps them alive. The `Doc` of one that came
//! over the wire is made when it is first asked for, so that an update that is full of them costs no more than its items.
//! A document has its place in one parent at most, never within itself; inserted once more, it is inserted as another
//! document of the same guid.
//!
//! All that leads from a sub-document to its parent stands outside the lock of either. Making one costs O(1).

use std::any::Any as StdAny;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

use yatta_encoding::{Any, Decode, Decoder, Encode, Encoder, Error, ID, Number};

use super::{Doc, DocInner, OffsetKind, Options, Transact, Uuid};
use crate::block::content::{Content, SubdocContent, SubdocLink};
use crate::block::index::ItemIdx;
use crate::block::item::{Id, Kind};
use crate::change::RemovedSubdoc;
use crate::store::Store;
use crate::transaction::registry::Panic;
use crate::transaction::{BranchID, TransactionMut};

/// Where a sub-document stands in its parent.
pub(crate) struct Place {
    parent: Weak<dyn StdAny + Send + Sync>,
    /// The `uid` of the parent's store.
    store: u64,
    id: ID,
}

/// The document behind a link.
pub(crate) fn linked(link: &SubdocLink) -> &Doc {
    match link.downcast_ref() {
        Some(doc) => doc,
        None => unreachable!("the link of a sub-document leads to no document"),
    }
}

/// The document of an item that holds one, made if nobody asked for it before.
pub(crate) fn subdoc<'s>(store: &Store, id: Id, content: &'s SubdocContent) -> &'s Doc {
    linked(content.doc.get_or_init(|| Arc::new(make(store, id, content))))
}

fn make(store: &Store, id: Id, content: &SubdocContent) -> Doc {
    let mut options = Options::with_guid_and_client_id(Arc::clone(&content.guid), store.client(store.me).id);
    options.offset_kind = store.offset_kind;
    options.read_any(&content.options);
    options.should_load = (options.should_load || options.auto_load) && !content.idle;
    let doc = Doc::with_options(options);
    if let Any::Map(options) = &content.options
        && let Some(meta) = options.get("meta")
    {
        doc.inner().meta.get_or_init(|| meta.clone());
    }
    doc.settle(store, id);
    doc
}

/// What an insertion of `doc` writes: itself, unless it stands elsewhere already or holds the place where it would go.
pub(crate) fn content_of(store: &Store, doc: Doc) -> Arc<SubdocContent> {
    let content = SubdocContent::new(doc.guid(), doc.inner().options.as_any(doc.meta()));
    let mut at = store.owner.upgrade().and_then(Doc::from_link);
    let mut free = doc.inner().place.lock().is_none();
    while let Some(holder) = at {
        free &= !Doc::ptr_eq(&holder, &doc);
        at = holder.parent_doc();
    }
    if free {
        content.doc.get_or_init(|| Arc::new(doc));
    }
    content
}

/// Tells a document that was just inserted where it stands.
pub(crate) fn settle(store: &Store, slot: ItemIdx) {
    let item = &store.items[slot];
    if item.kind() == Kind::Doc
        && let Content::Doc(content) = store.boxed(item)
        && let Some(link) = content.doc.get()
    {
        linked(link).settle(store, item.id);
    }
}

/// The sub-document in a slot of `Store::subdocs`.
fn in_slot(store: &Store, slot: ItemIdx) -> &Doc {
    let item = &store.items[slot];
    match store.boxed(item) {
        Content::Doc(content) => subdoc(store, item.id, content),
        other => unreachable!("{item:?} is listed as a sub-document and holds {other:?}"),
    }
}

impl Doc {
    /// Takes the place of an item, and with it the client id and the collection of the parent.
    fn settle(&self, store: &Store, id: Id) {
        let inner = self.inner();
        let mut place = inner.place.lock();
        if place.is_some() {
            return;
        }
        *place = Some(Place { parent: Weak::clone(&store.owner), store: store.uid, id: store.public_id(id) });
        drop(place);
        inner.set_client_id(store.client(store.me).id);
        inner.client_due.store(true, Ordering::Release);
        let parent = store.owner.upgrade().and_then(|parent| parent.downcast::<DocInner>().ok());
        if let Some(collection) = parent.and_then(|parent| parent.collection.get().cloned()) {
            inner.collection.get_or_init(|| collection);
        }
    }

    /// Whether this is a sub-document.
    pub(crate) fn is_placed(&self) -> bool {
        self.inner().place.lock().is_some()
    }

    /// Says that this document is to be synced. Returns whether that was said before.
    pub(crate) fn ask_to_load(&self) -> bool {
        self.inner().should_load.swap(true, Ordering::AcqRel)
    }

    /// Returns the document that holds this one as a sub-document, if one does and still lives.
    pub fn parent_doc(&self) -> Option<Self> {
        let parent = self.inner().place.lock().as_ref()?.parent.upgrade()?;
        Self::from_link(parent)
    }

    /// Returns the id of the item that holds this document, if it is a sub-document.
    pub fn branch_id(&self) -> Option<BranchID> {
        self.inner().place.lock().as_ref().map(|place| BranchID::Nested(place.id))
    }

    /// Ends the use of this document: its sub-documents are destroyed, [`Self::observe_destroy`] calls back, all
    /// subscriptions end. With a transaction of the parent, a fresh document of the same guid, not to be loaded, takes the
    /// place of this one, which the parent tells as one removed and one added. Without one, the parent is left alone.
    ///
    /// # Panics
    /// With the first panic of a callback, when all is done; without a transaction of the parent also when this thread has
    /// a transaction of this document open.
    pub fn destroy(&self, parent_txn: Option<&mut TransactionMut<'_>>) {
        let mut panicked = None;
        self.destroy_noting(parent_txn, &mut panicked);
        if let Some(panic) = panicked
            && !std::thread::panicking()
        {
            resume_unwind(panic);
        }
    }

    /// As [`Self::destroy`], but keeps the first panic for the caller. A document that is in use is destroyed in the
    /// parent only: whoever uses it may be waiting for this very thread.
    pub(crate) fn destroy_noting(
        &self,
        mut parent_txn: Option<&mut TransactionMut<'_>>,
        panicked: &mut Option<Panic>,
    ) {
        let events = &self.inner().events;
        let mut own = match parent_txn {
            Some(_) => self.try_transact_mut().ok(),
            None => Some(self.transact_mut()),
        };
        if let Some(txn) = &mut own {
            let children = children(txn.store_ref(), !events.subdocs.is_empty());
            for child in &children {
                child.destroy_noting(Some(txn), panicked);
            }
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| txn.commit())) {
                panicked.get_or_insert(panic);
            }
        }
        if let Some(parent) = &mut parent_txn {
            self.replace(parent);
        }
        if let Some(txn) = own.as_ref().or(parent_txn.as_deref()) {
            events.destroy.trigger_all(panicked, |call| call(txn, self));
        }
        events.clear();
    }

    /// Puts a fresh document in the place of this one.
    fn replace(&self, parent: &mut TransactionMut<'_>) {
        let (store, changes) = parent.parts();
        let mut place = self.inner().place.lock();
        let Some(Place { id, .. }) = place.take_if(|place| place.store == store.uid) else { return };
        drop(place);
        let Some(own_id) = store.known_id(id) else { return };
        let removed = |content| RemovedSubdoc { id: own_id, content, born: false };
        let slot = store.find_item(id).filter(|slot| store.items[*slot].kind() == Kind::Doc);
        let Some(slot) = slot else {
            // The item was collected: only the parent's observers are left to be told.
            let content = SubdocContent::new(self.guid(), Any::Null);
            content.doc.get_or_init(|| Arc::new(self.clone()));
            changes.subdocs_mut().removed.push(removed(content));
            return;
        };
        let item = store.items[slot];
        if let Content::Doc(content) = store.contents.get_mut(item.content) {
            let fresh = content.fresh(true);
            let old = std::mem::replace(content, fresh);
            if !item.is_deleted() {
                changes.subdocs_mut().added.push((slot, item.id));
            }
            changes.subdocs_mut().removed.push(removed(old));
        }
    }
}

/// The sub-documents of a store; on demand those too for which nobody asked yet.
fn children(store: &Store, all: bool) -> Vec<Doc> {
    let asked_for = |slot: &ItemIdx| match store.boxed(&store.items[*slot]) {
        Content::Doc(content) => all || content.doc.get().is_some(),
        _ => false,
    };
    store.subdocs.iter().copied().filter(asked_for).map(|slot| in_slot(store, slot).clone()).collect()
}

impl crate::transaction::Branch {
    /// Returns nothing: a shared type is no sub-document. yrs has this method and its answer.
    pub fn as_subdoc(&self) -> Option<Doc> {
        None
    }
}

impl Options {
    /// Takes over what a parent document says of a sub-document.
    pub(crate) fn read_any(&mut self, options: &Any) {
        self.should_load = false;
        let Any::Map(options) = options else { return };
        for (key, value) in options.iter() {
            match (key.as_ref(), value) {
                ("gc", Any::Bool(gc)) => self.skip_gc = !gc,
                ("autoLoad", Any::Bool(auto_load)) => self.auto_load = *auto_load,
                ("shouldLoad", Any::Bool(should_load)) => self.should_load = *should_load,
                ("collectionId", Any::String(id)) => self.collection_id = Some(Arc::from(id.as_ref())),
                // Only yrs writes this.
                ("encoding", Any::Number(Number::Int(1))) => self.offset_kind = OffsetKind::Bytes,
                ("encoding", _) => self.offset_kind = OffsetKind::Utf16,
                _ => {}
            }
        }
    }
}

impl Store {
    /// Returns the sub-documents that stand in this document. One that came over the wire is made when the iterator gets
    /// to it.
    pub fn subdocs(&self) -> SubdocsIter<'_> {
        SubdocsIter { store: self, slots: self.subdocs.iter() }
    }

    /// Returns the guids of the sub-documents that stand in this document; one that is held twice comes twice.
    pub fn subdoc_guids(&self) -> SubdocGuids<'_> {
        SubdocGuids { store: self, slots: self.subdocs.iter() }
    }

    /// Returns whether the document that this is the content of is a sub-document.
    pub fn is_subdoc(&self) -> bool {
        self.doc().is_some_and(|doc| doc.is_placed())
    }

    /// The document that this is the content of.
    pub(crate) fn doc(&self) -> Option<Doc> {
        Doc::from_link(self.owner.upgrade()?)
    }
}

/// The sub-documents of a document: see [`Store::subdocs`].
pub struct SubdocsIter<'doc> {
    store: &'doc Store,
    slots: std::collections::btree_set::Iter<'doc, ItemIdx>,
}

impl<'doc> Iterator for SubdocsIter<'doc> {
    type Item = &'doc Doc;

    fn next(&mut self) -> Option<Self::Item> {
        self.slots.next().map(|slot| in_slot(self.store, *slot))
    }
}

/// The guids of the sub-documents of a document: see [`Store::subdoc_guids`].
pub struct SubdocGuids<'doc> {
    store: &'doc Store,
    slots: std::collections::btree_set::Iter<'doc, ItemIdx>,
}

impl Iterator for SubdocGuids<'_> {
    type Item = Uuid;

    fn next(&mut self) -> Option<Self::Item> {
        self.slots.next().map(|slot| match self.store.boxed(&self.store.items[*slot]) {
            Content::Doc(content) => Arc::clone(&content.guid),
            other => unreachable!("{slot:?} is listed as a sub-document and holds {other:?}"),
        })
    }
}

impl Encode for Options {
    /// The guid, and what a parent document says of a sub-document.
    fn encode<E: Encoder>(&self, encoder: &mut E) {
        encoder.write_string(&self.guid);
        encoder.write_any(&self.as_any(None));
    }
}

impl Decode for Options {
    fn decode<D: Decoder>(decoder: &mut D) -> Result<Self, Error> {
        let mut options = Self { guid: Arc::from(decoder.read_string()?), ..Self::default() };
        options.read_any(&decoder.read_any()?);
        Ok(options)
    }
}
