//! In the place of the adapter's file of this name: what yrs lacks.

use super::engine::{
    Attrs, Delta, Doc, In, MapRef, Out, ReadTxn, Text, TextRef, Transaction, TransactionMut, UndoManager,
    XmlElementRef, XmlFragment,
};
use super::json::Json;
use super::service::Failure;
use super::service::node::{Node, Place};

/// What waits in a document: the clock that is missing of each client, and whether deletions wait.
pub(crate) fn pending(txn: &TransactionMut<'_>) -> Option<(Vec<(u64, u32)>, bool)> {
    let store = txn.store();
    let missing =
        store.pending_update().map(|update| update.missing.iter().map(|(c, k)| (c.get(), *k)).collect());
    Some((missing.unwrap_or_default(), store.pending_ds().is_some()))
}

/// yrs has no root elements.
pub(crate) fn root_element(_txn: &mut TransactionMut<'_>, _name: &str) -> Option<XmlElementRef> {
    None
}

/// The child of a list of nodes.
pub(crate) fn child<T: ReadTxn>(list: &impl XmlFragment, txn: &T, index: u32) -> Option<Out> {
    list.get(txn, index).map(super::extra::xml_out)
}

/// yrs has no hooks.
pub(crate) fn kind_of_map(_map: &MapRef) -> &'static str {
    "map"
}

/// yrs has no hooks.
pub(crate) fn hook_name(_map: &MapRef) -> Option<String> {
    None
}

/// yrs has nothing more to put.
pub(crate) fn put(
    _txn: &mut TransactionMut<'_>,
    _node: &Node,
    _place: &Place<'_>,
    _content: &Json,
) -> Option<Result<Option<Node>, Failure>> {
    None
}

/// yrs keeps no BigInts apart.
pub(crate) fn has_big_ints(_content: &Json) -> bool {
    false
}

/// yrs keeps no BigInts apart.
pub(crate) fn exact_key<T: ReadTxn>(_node: &Node, _txn: &T, _key: &str) -> Option<Json> {
    None
}

/// yrs keeps no BigInts apart.
pub(crate) fn exact_element<T: ReadTxn>(_node: &Node, _txn: &T, _index: u32) -> Option<Json> {
    None
}

/// As it is.
pub(crate) fn to_json<T: ReadTxn>(_node: &Node, _txn: &T, plain: Json) -> Json {
    plain
}

/// yrs has no `meta`.
pub(crate) fn with_meta(_doc: &Doc, _meta: &Json) -> Result<(), Failure> {
    Err(Failure::unsupported("meta"))
}

/// yrs has no `meta`.
pub(crate) fn meta(_doc: &Doc) -> Json {
    Json::Null
}

/// An undo manager of yrs watches types only.
pub(crate) fn whole_document(_manager: &mut UndoManager<()>, _doc: &Doc) -> Result<(), Failure> {
    Err(Failure::unsupported("undo of a whole document"))
}

/// yrs asks nobody before an undo deletes.
pub(crate) fn protect(_manager: &mut UndoManager<()>, _kinds: Vec<String>) -> Result<(), Failure> {
    Err(Failure::unsupported("deleteFilter"))
}

/// The blocks of yrs are compared by its bytes only.
pub(crate) fn log(_txn: &Transaction<'_>) -> Result<Json, Failure> {
    Err(Failure::unsupported("log"))
}

/// yrs cannot change a client id.
pub(crate) fn set_client(_doc: &Doc, _client: u64) -> Result<(), Failure> {
    Err(Failure::unsupported("another client id"))
}

/// yrs has no such way to apply a delta.
pub(crate) fn apply_unsanitized(
    _text: &TextRef,
    _txn: &mut TransactionMut<'_>,
    _delta: Vec<Delta<In>>,
) -> Result<(), Failure> {
    Err(Failure::unsupported("text_delta without sanitizing"))
}

pub(crate) fn format<T: Text>(text: &T, txn: &mut TransactionMut<'_>, index: u32, len: u32, attrs: Attrs) {
    text.format(txn, index, len, attrs);
}
