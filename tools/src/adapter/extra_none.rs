//! In place of `extra.rs` for an engine that has no XML and no sub-documents yet: nothing of these kinds exists.

use super::engine::{Attrs, BranchID, In, Out, ReadTxn, TextRef, TransactionMut};
use super::json::Json;

/// A shared type of none of these kinds.
#[derive(Clone)]
pub(crate) enum Extra {}

#[expect(clippy::unused_self, reason = "the interface of extra.rs")]
impl Extra {
    pub(crate) fn root(_txn: &mut TransactionMut<'_>, _name: &str, _kind: &str) -> Option<Self> {
        None
    }

    pub(crate) fn of(_out: &Out) -> Option<Self> {
        None
    }

    pub(crate) fn kind(&self) -> &'static str {
        match *self {}
    }

    pub(crate) fn id(&self) -> BranchID {
        match *self {}
    }

    pub(crate) fn text(&self) -> Option<TextRef> {
        match *self {}
    }

    pub(crate) fn len<T: ReadTxn>(&self, _txn: &T) -> u32 {
        match *self {}
    }

    pub(crate) fn string<T: ReadTxn>(&self, _txn: &T) -> String {
        match *self {}
    }

    pub(crate) fn at<T: ReadTxn>(&self, _txn: &T, _index: u32) -> Option<Out> {
        match *self {}
    }

    pub(crate) fn insert(&self, _txn: &mut TransactionMut<'_>, _index: Option<u32>, _prelim: In) -> Option<Out> {
        match *self {}
    }

    pub(crate) fn remove_range(&self, _txn: &mut TransactionMut<'_>, _index: u32, _len: u32) {
        match *self {}
    }

    pub(crate) fn attribute<T: ReadTxn>(&self, _txn: &T, _key: &str) -> Option<Out> {
        match *self {}
    }

    pub(crate) fn attributes<T: ReadTxn>(&self, _txn: &T) -> Vec<(String, Out)> {
        match *self {}
    }

    pub(crate) fn set_attribute(&self, _txn: &mut TransactionMut<'_>, _key: &str, _prelim: In) -> Option<Out> {
        match *self {}
    }

    pub(crate) fn remove_attribute(&self, _txn: &mut TransactionMut<'_>, _key: &str) {
        match *self {}
    }
}

/// A text as something with attributes: not here.
pub(crate) fn with_attributes(_text: &TextRef) -> Option<Extra> {
    None
}

/// An empty type of these kinds: not here.
pub(crate) fn prelim(_content: &Json) -> Option<In> {
    None
}

/// Embeds a type of these kinds: not here.
pub(crate) fn embed(
    _text: &TextRef,
    _txn: &mut TransactionMut<'_>,
    _index: u32,
    _attrs: Attrs,
    _prelim: In,
) -> Option<Out> {
    None
}

/// A sub-document: not here.
pub(crate) fn subdoc(_out: &Out) -> Option<Json> {
    None
}
