//! `Prelim`: values on their way into a document.

use std::sync::Arc;

use smallvec::smallvec;
use yatta_encoding::{Any, Value};

use super::content::ItemContent;
use super::item::{ItemPtr, Unused};
use crate::block::index::ItemIdx;
use crate::branch::node::Tag;
use crate::change::ChangeSet;
use crate::doc::subdoc;
use crate::engine::place::NewContent;
use crate::store::Store;
use crate::transaction::{BranchPtr, TransactionMut};

/// A value that can be inserted into a shared type.
pub trait Prelim: Sized {
    /// What inserting returns: the handle of a shared type, or [`Unused`].
    type Return: TryFrom<ItemPtr>;

    /// Splits into the content of an item and what is to be inserted into that once it stands.
    fn into_content(self, txn: &mut TransactionMut<'_>) -> (ItemContent, Option<Self>);

    /// Inserts the rest into the type that was made.
    fn integrate(self, txn: &mut TransactionMut<'_>, inner_ref: BranchPtr);

    /// The value if it is plain data: spares a list of one. Gives `self` back otherwise.
    #[doc(hidden)]
    fn into_plain(self) -> Result<Value, Self> {
        Err(self)
    }

    /// The name of a shared type whose [`TypeRef`](super::TypeRef) has no place for one.
    #[doc(hidden)]
    fn hook_name(&self) -> Option<Arc<str>> {
        None
    }
}

impl<T: Into<Any>> Prelim for T {
    type Return = Unused;

    fn into_content(self, _txn: &mut TransactionMut<'_>) -> (ItemContent, Option<Self>) {
        (ItemContent::Any(vec![self.into()]), None)
    }

    fn integrate(self, _txn: &mut TransactionMut<'_>, _inner_ref: BranchPtr) {}

    fn into_plain(self) -> Result<Value, Self> {
        Ok(Value::from(self.into()))
    }
}

/// An embedded value of a text: plain data or a shared type.
#[derive(Debug)]
pub enum EmbedPrelim<T> {
    /// Plain data.
    Primitive(Any),
    /// A shared type.
    Shared(T),
}

impl<T: Prelim> Prelim for EmbedPrelim<T> {
    type Return = T::Return;

    fn into_content(self, txn: &mut TransactionMut<'_>) -> (ItemContent, Option<Self>) {
        match self {
            Self::Primitive(any) => (ItemContent::Embed(any), None),
            Self::Shared(shared) => {
                let (content, rest) = shared.into_content(txn);
                (content, rest.map(Self::Shared))
            }
        }
    }

    fn integrate(self, txn: &mut TransactionMut<'_>, inner_ref: BranchPtr) {
        if let Self::Shared(shared) = self {
            shared.integrate(txn, inner_ref);
        }
    }
}

impl<T: Into<Any>> From<T> for EmbedPrelim<T> {
    fn from(value: T) -> Self {
        Self::Primitive(value.into())
    }
}

/// Plain data as content: bytes are an item of their own kind, as in Yjs.
pub(crate) fn plain_content(value: Value) -> NewContent<'static> {
    match value {
        Value::Plain(Any::Buffer(bytes)) => NewContent::Binary(bytes),
        value => NewContent::Any(smallvec![value]),
    }
}

/// Inserts a value where `place` puts its content, then what it holds.
pub(crate) fn insert_prelim<V: Prelim>(
    txn: &mut TransactionMut<'_>,
    value: V,
    place: impl FnOnce(&mut Store, &mut ChangeSet, NewContent<'_>) -> ItemIdx,
) -> V::Return {
    let (slot, rest) = place_prelim(txn, value, place);
    fill_prelim(txn, slot, rest)
}

/// Inserts a value where `place` puts its content. Returns what is to be inserted into it by [`fill_prelim`].
pub(crate) fn place_prelim<V: Prelim>(
    txn: &mut TransactionMut<'_>,
    value: V,
    place: impl FnOnce(&mut Store, &mut ChangeSet, NewContent<'_>) -> ItemIdx,
) -> (ItemIdx, Option<V>) {
    match value.into_plain() {
        Ok(value) => {
            let (store, changes) = txn.parts();
            (place(store, changes, plain_content(value)), None)
        }
        Err(value) => {
            let name = value.hook_name();
            let (content, rest) = value.into_content(txn);
            let (store, changes) = txn.parts();
            let slot = with_content(store, content, |store, content| {
                let content = match content {
                    NewContent::Type(tag) if name.is_some() => NewContent::Type(Tag { name, ..tag }),
                    other => other,
                };
                place(store, changes, content)
            });
            subdoc::settle(store, slot);
            (slot, rest)
        }
    }
}

/// Inserts the rest of a value into the item that [`place_prelim`] made.
pub(crate) fn fill_prelim<V: Prelim>(
    txn: &mut TransactionMut<'_>,
    slot: ItemIdx,
    rest: Option<V>,
) -> V::Return {
    let item = ItemPtr::of(txn.store_ref(), slot);
    if let Some(rest) = rest
        && let Some(branch) = item.branch()
    {
        rest.integrate(txn, branch);
    }
    match V::Return::try_from(item) {
        Ok(returned) => returned,
        Err(_) => panic!("Prelim::Return does not fit the content that Prelim::into_content made"),
    }
}

/// Calls `place` with content of the API in the form of the engine.
fn with_content(
    store: &mut Store,
    content: ItemContent,
    place: impl FnOnce(&mut Store, NewContent<'_>) -> ItemIdx,
) -> ItemIdx {
    let content = match content {
        ItemContent::Any(mut values) => match values.pop() {
            Some(last) if values.is_empty() => plain_content(Value::from(last)),
            Some(last) => {
                values.push(last);
                NewContent::Any(values.into_iter().map(Value::from).collect())
            }
            None => NewContent::Any(smallvec![Value::from(Any::Undefined)]),
        },
        ItemContent::Binary(bytes) => NewContent::Binary(bytes.into()),
        ItemContent::Deleted(len) => NewContent::Deleted(len.max(1)),
        ItemContent::Doc(_, doc) => NewContent::Doc(subdoc::content_of(store, doc)),
        ItemContent::JSON(values) => NewContent::Json(values.into_iter().map(Into::into).collect()),
        ItemContent::Embed(any) => NewContent::Embed(Value::from(any)),
        ItemContent::Format(key, value) => {
            let key = store.key_idx(&key);
            NewContent::Format(key, Value::from(*value))
        }
        ItemContent::String(text) => {
            let text = text.as_str();
            return place(store, NewContent::String(text, crate::block::text_buffer::utf16_len(text)));
        }
        ItemContent::Type(kind) => NewContent::Type(kind.tag()),
    };
    place(store, content)
}
