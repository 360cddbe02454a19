//! Phase 12 of the commit: what happened to sub-documents. Yjs: the end of `cleanupTransactions`.
//!
//! Costs O(changes of sub-documents); while nobody listens, none is made for it.

use rustc_hash::{FxHashMap, FxHashSet};

use super::TransactionMut;
use super::registry::Panic;
use crate::block::content::Content;
use crate::change::{ChangeSet, Subdocs};
use crate::doc::Doc;
use crate::doc::subdoc::{linked, subdoc};

/// The sub-documents that a transaction added, removed, or asked to load.
#[derive(Clone, Debug, Default)]
pub struct SubdocsEvent {
    added: Vec<Doc>,
    removed: Vec<Doc>,
    /// In the order in which they were inserted, if that means to load them, or asked for.
    loaded: Vec<Doc>,
}

impl SubdocsEvent {
    /// Returns the sub-documents that were added, also those that stand in for one that was destroyed.
    pub fn added(&self) -> SubdocsEventIter<'_> {
        SubdocsEventIter(self.added.iter())
    }

    /// Returns the sub-documents that were removed. They are destroyed after this event.
    pub fn removed(&self) -> SubdocsEventIter<'_> {
        SubdocsEventIter(self.removed.iter())
    }

    /// Returns the sub-documents that a provider should now sync.
    pub fn loaded(&self) -> SubdocsEventIter<'_> {
        SubdocsEventIter(self.loaded.iter())
    }

    fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.loaded.is_empty()
    }
}

/// Sub-documents of a [`SubdocsEvent`].
pub struct SubdocsEventIter<'a>(std::slice::Iter<'a, Doc>);

impl<'a> Iterator for SubdocsEventIter<'a> {
    type Item = &'a Doc;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl ExactSizeIterator for SubdocsEventIter<'_> {}

/// A list of documents, each once.
#[derive(Default)]
struct Each {
    docs: Vec<Doc>,
    seen: FxHashSet<u64>,
}

impl Each {
    fn push(&mut self, doc: &Doc) {
        if self.seen.insert(doc.inner().uid) {
            self.docs.push(doc.clone());
        }
    }
}

impl TransactionMut<'_> {
    /// Tells what happened to sub-documents, then destroys those that were removed; what that does to this document goes
    /// into transactions of their own, as in Yjs.
    pub(super) fn emit_subdocs(&mut self, panicked: &mut Option<Panic>, follow_ups: &mut Vec<ChangeSet>) {
        let Some(subdocs) = self.guard.state.changes.subdocs.take() else { return };
        let doc = self.doc;
        let events = &doc.inner().events;
        let removed = if events.subdocs.is_empty() {
            let removed = subdocs.removed.iter().filter(|removed| !removed.born);
            removed.filter_map(|removed| removed.content.doc.get()).map(|link| linked(link).clone()).collect()
        } else {
            let event = self.subdocs_event(&subdocs);
            if !event.is_empty() {
                events.subdocs.trigger_all(panicked, |call| call(self, &event));
            }
            event.removed
        };
        for removed in removed.iter().filter(|removed| removed.is_placed()) {
            removed.destroy_noting(Some(self), panicked);
            if let Some(subdocs) = self.guard.state.changes.subdocs.take() {
                let mut changes = ChangeSet::default();
                changes.subdocs = Some(subdocs);
                follow_ups.push(changes);
            }
        }
    }

    fn subdocs_event(&self, subdocs: &Subdocs) -> SubdocsEvent {
        let store = self.store_ref();
        let (mut added, mut removed, mut loaded) = (Each::default(), Each::default(), Each::default());
        let mut asked = subdocs.loaded.iter().peekable();
        let asked_for: FxHashSet<_> =
            subdocs.loaded.iter().map(|(_, link)| linked(link).inner().uid).collect();
        let gone: FxHashMap<_, _> =
            subdocs.removed.iter().filter(|gone| gone.born).map(|gone| (gone.id, &gone.content)).collect();
        for (place, (slot, id)) in subdocs.added.iter().enumerate() {
            while let Some((_, link)) = asked.next_if(|(before, _)| *before <= place) {
                loaded.push(linked(link));
            }
            let doc = if let Some(content) = gone.get(id) {
                subdoc(store, *id, content)
            } else if store.subdocs.contains(slot)
                && let item = &store.items[*slot]
                && let Content::Doc(content) = store.boxed(item)
            {
                let doc = subdoc(store, item.id, content);
                added.push(doc);
                doc
            } else {
                continue;
            };
            // One that is loaded only because somebody asked has its place where that happened.
            if doc.should_load() && !asked_for.contains(&doc.inner().uid) {
                loaded.push(doc);
            }
        }
        asked.for_each(|(_, link)| loaded.push(linked(link)));
        for gone in subdocs.removed.iter().filter(|gone| !gone.born) {
            removed.push(subdoc(store, gone.id, &gone.content));
        }
        SubdocsEvent { added: added.docs, removed: removed.docs, loaded: loaded.docs }
    }
}
