//! Sub-documents as values of shared types.

use std::sync::Arc;

use yatta_encoding::Any;

use super::{ItemContent, ItemPtr, Out, Prelim, ReadTxn, ToJson, WriteTxn};
use crate::block::content::SubdocLink;
use crate::doc::{Doc, Transact};
use crate::transaction::{BranchPtr, TransactionMut};

impl Doc {
    /// Asks providers to sync this sub-document: the parent's [`Self::observe_subdocs`] tells it as loaded when
    /// `parent_txn` commits. Doing it twice does nothing, nor does it for a document that is in no other.
    pub fn load<T: WriteTxn>(&self, parent_txn: &mut T) {
        if !self.ask_to_load() && self.is_placed() {
            let link: SubdocLink = Arc::new(self.clone());
            let subdocs = parent_txn.subdocs_mut();
            subdocs.loaded.push((subdocs.added.len(), link));
        }
    }
}

impl Prelim for Doc {
    type Return = Self;

    fn into_content(self, _txn: &mut TransactionMut<'_>) -> (ItemContent, Option<Self>) {
        (ItemContent::Doc(None, self), None)
    }

    fn integrate(self, _txn: &mut TransactionMut<'_>, _inner_ref: BranchPtr) {}
}

impl TryFrom<ItemPtr> for Doc {
    type Error = ItemPtr;

    fn try_from(item: ItemPtr) -> Result<Self, ItemPtr> {
        match item.clone().into_value() {
            Out::YDoc(doc) => Ok(doc),
            _ => Err(item),
        }
    }
}

impl TryFrom<Out> for Doc {
    type Error = Out;

    fn try_from(value: Out) -> Result<Self, Out> {
        match value {
            Out::YDoc(doc) => Ok(doc),
            other => Err(other),
        }
    }
}

impl ToJson for Doc {
    /// The roots of this document. If `txn` is of another document, this one is read in a transaction of its own, or shows
    /// only its guid while somebody writes to it.
    fn to_json<T: ReadTxn>(&self, txn: &T) -> Any {
        if txn.store().uid == self.inner().uid {
            return roots_to_json(txn);
        }
        self.try_transact().map_or_else(|_| guid_to_json(self), |own| roots_to_json(&own))
    }
}

fn roots_to_json<T: ReadTxn>(txn: &T) -> Any {
    Any::Map(txn.root_refs().map(|(name, value)| (name.to_owned(), value.to_json(txn))).collect())
}

/// A sub-document as it shows in the JSON of its parent.
pub(super) fn guid_to_json(doc: &Doc) -> Any {
    Any::Map([("guid".to_owned(), Any::from(doc.guid()))].into_iter().collect())
}
