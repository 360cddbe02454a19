//! Changes of XML nodes: children and attributes.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use yatta_encoding::ID;
use yatta_encoding::block::{TYPE_REFS_XML_ELEMENT, TYPE_REFS_XML_TEXT};

use super::changes::Observed;
use super::{Change, EntryChange, Observable, Source};
use crate::transaction::TransactionMut;
use crate::types::xml::{XmlElementRef, XmlFragmentRef, XmlOut, XmlTextRef};
use crate::types::{DeepObservable, Delta, Path};

/// The change of an XML element or fragment.
pub struct XmlEvent {
    source: Source,
    target: XmlOut,
    children_changed: bool,
}

impl XmlEvent {
    pub(super) fn new(kind: u8, txn: &TransactionMut<'_>, source: Source) -> Self {
        let handle = source.target.clone();
        let changed = Observed::changed(txn, handle.idx());
        Self {
            children_changed: changed.is_some_and(|changed| changed.children),
            target: match kind {
                TYPE_REFS_XML_ELEMENT => XmlOut::Element(XmlElementRef::from(handle)),
                TYPE_REFS_XML_TEXT => XmlOut::Text(XmlTextRef::from(handle)),
                _ => XmlOut::Fragment(XmlFragmentRef::from(handle)),
            },
            source,
        }
    }

    /// Returns whether children were inserted or deleted.
    pub fn children_changed(&self) -> bool {
        self.children_changed
    }

    /// Returns the node that changed.
    pub fn target(&self) -> &XmlOut {
        &self.target
    }

    /// Returns the way from the observed type down to this node.
    pub fn path(&self) -> Path {
        self.source.path.clone()
    }

    /// Returns which children were inserted, deleted and kept, from the first on. What is kept behind the last change is
    /// left out. Cost O(changes · log n), once.
    pub fn delta(&self, txn: &TransactionMut<'_>) -> &[Change] {
        &self.source.list(txn).delta
    }

    /// Returns the ids of the inserted children.
    pub fn added(&self, txn: &TransactionMut<'_>) -> &HashSet<ID> {
        &self.source.list(txn).added
    }

    /// Returns the ids of the deleted children.
    pub fn deleted(&self, txn: &TransactionMut<'_>) -> &HashSet<ID> {
        &self.source.list(txn).removed
    }

    /// Returns the attributes that are others than before the transaction. Cost O(changes), once.
    pub fn keys(&self, txn: &TransactionMut<'_>) -> &HashMap<Arc<str>, EntryChange> {
        self.source.keys(txn)
    }
}

/// The change of an XML text.
pub struct XmlTextEvent {
    source: Source,
    target: XmlTextRef,
}

impl XmlTextEvent {
    pub(super) fn new(source: Source) -> Self {
        Self { target: XmlTextRef::from(source.target.clone()), source }
    }

    /// Returns the text that changed.
    pub fn target(&self) -> &XmlTextRef {
        &self.target
    }

    /// Returns the way from the observed type down to this text.
    pub fn path(&self) -> Path {
        self.source.path.clone()
    }

    /// Returns what was inserted, deleted, formatted and kept: see [`super::TextEvent::delta`].
    pub fn delta(&self, txn: &TransactionMut<'_>) -> &[Delta] {
        self.source.text(txn)
    }

    /// Returns the attributes of the node that are others than before the transaction. Cost O(changes), once.
    pub fn keys(&self, txn: &TransactionMut<'_>) -> &HashMap<Arc<str>, EntryChange> {
        self.source.keys(txn)
    }
}

impl Observable for XmlElementRef {
    type Event = XmlEvent;
}

impl DeepObservable for XmlElementRef {}

impl Observable for XmlFragmentRef {
    type Event = XmlEvent;
}

impl DeepObservable for XmlFragmentRef {}

impl Observable for XmlTextRef {
    type Event = XmlTextEvent;
}

impl DeepObservable for XmlTextRef {}
