//! Lists.

use std::borrow::Borrow;
use std::marker::PhantomData;

use serde::de::DeserializeOwned;
use yatta_encoding::serde_any::from_any;
use yatta_encoding::{Any, Value};

use super::content::ItemContent;
pub use super::events::ArrayEvent;
use super::out::exact_element;
use super::prelim::{insert_prelim, plain_content};
use super::{
    AsPrelim, DefaultPrelim, EmbedPrelim, In, Out, Prelim, ReadTxn, RootRef, ToJson, TypeRef, shared_ref,
};
use crate::block::index::ItemIdx;
use crate::block::update::few;
use crate::change::ChangeSet;
use crate::engine::insert::{list_delete, list_insert, list_insert_at, list_position, list_push};
use crate::engine::place::NewContent;
use crate::error::EditError;
use crate::store::Store;
use crate::transaction::{Branch, BranchPtr, TransactionMut};

/// A list of plain values and shared types.
///
/// Inserting at an index costs O(log n), beside the last edit O(1). Values that were inserted in one run share a block.
#[derive(Clone, Debug)]
pub struct ArrayRef(BranchPtr);

shared_ref!(ArrayRef, YArray);

impl RootRef for ArrayRef {
    fn type_ref() -> TypeRef {
        TypeRef::Array
    }
}

impl Array for ArrayRef {}

/// What can be done with a list.
pub trait Array: AsRef<Branch> + Sized {
    /// Returns the number of elements. Cost O(1).
    fn len<T: ReadTxn>(&self, txn: &T) -> u32 {
        self.as_ref().node(txn.store()).map_or(0, |node| node.len)
    }

    /// Inserts a value before the element at `index`. Cost O(1) beside the last edit, else O(log n).
    ///
    /// # Panics
    /// When `index` is beyond the length, or the list was deleted and collected; see [`Self::try_insert`].
    fn insert<V: Prelim>(&self, txn: &mut TransactionMut<'_>, index: u32, value: V) -> V::Return {
        match self.try_insert(txn, index, value) {
            Ok(returned) => returned,
            Err(error) => panic!("array insert: {error}"),
        }
    }

    /// Inserts a value before the element at `index`.
    ///
    /// # Errors
    /// When `index` is beyond the length, or the list was collected.
    fn try_insert<V: Prelim>(
        &self,
        txn: &mut TransactionMut<'_>,
        index: u32,
        value: V,
    ) -> Result<V::Return, EditError> {
        let branch = self.as_ref().try_resolve_mut(txn.store_ref())?;
        check_range(txn.store_ref().branches[branch].len, index, 0)?;
        let returned = insert_prelim(txn, value, |store, changes, content| {
            list_insert(store, changes, branch, index, content)
        });
        self.as_ref().note_len(txn.store_ref());
        Ok(returned)
    }

    /// Inserts plain values before the element at `index`, as one block. Cost O(log n + values).
    ///
    /// # Panics
    /// When `index` is beyond the length.
    fn insert_range<T, V>(&self, txn: &mut TransactionMut<'_>, index: u32, values: T)
    where
        T: IntoIterator<Item = V>,
        V: Into<Any>,
    {
        let Some(branch) = self.as_ref().resolve_mut(txn.store_ref()) else { return };
        if let Err(error) = check_range(txn.store_ref().branches[branch].len, index, 0) {
            panic!("array insert_range: {error}");
        }
        let (store, changes) = txn.parts();
        let (mut left, right, mut at) = list_position(store, changes, branch, index);
        // Collected at once: values that are written where they stay are not copied one by one.
        let mut any_bytes = false;
        let values: Vec<Value> = values
            .into_iter()
            .map(|value| {
                let value = Value::from(value.into());
                any_bytes |= is_bytes(&value);
                value
            })
            .collect();
        let mut put = |store: &mut Store, left: ItemIdx, at: &mut u32, content: NewContent<'_>| {
            let len = content.len();
            let slot = list_insert_at(store, changes, branch, *at, (left, right), content);
            *at += len;
            slot
        };
        if !any_bytes {
            if !values.is_empty() {
                put(store, left, &mut at, NewContent::Any(few(values)));
            }
            return self.as_ref().note_len(txn.store_ref());
        }
        let mut run = Vec::new();
        for value in values {
            if !is_bytes(&value) {
                run.push(value);
                continue;
            }
            if !run.is_empty() {
                left = put(store, left, &mut at, NewContent::Any(few(std::mem::take(&mut run))));
            }
            left = put(store, left, &mut at, plain_content(value));
        }
        if !run.is_empty() {
            put(store, left, &mut at, NewContent::Any(few(run)));
        }
        self.as_ref().note_len(txn.store_ref());
    }

    /// Appends a value. Cost O(1).
    ///
    /// # Panics
    /// When the list was deleted and collected: there is nothing to return then.
    fn push_back<V: Prelim>(&self, txn: &mut TransactionMut<'_>, value: V) -> V::Return {
        let branch = self.as_ref().resolve_mut(txn.store_ref());
        let branch = branch.unwrap_or_else(|| panic!("array push_back: {}", EditError::Collected));
        let push = |store: &mut Store, changes: &mut ChangeSet, content: NewContent<'_>| {
            list_push(store, changes, branch, content)
        };
        let returned = insert_prelim(txn, value, push);
        self.as_ref().note_len(txn.store_ref());
        returned
    }

    /// Inserts a value at the front. Cost O(1).
    ///
    /// # Panics
    /// When the list was deleted and collected.
    fn push_front<V: Prelim>(&self, txn: &mut TransactionMut<'_>, content: V) -> V::Return {
        self.insert(txn, 0, content)
    }

    /// Removes the element at `index`.
    ///
    /// # Panics
    /// When `index` is not below the length.
    fn remove(&self, txn: &mut TransactionMut<'_>, index: u32) {
        self.remove_range(txn, index, 1);
    }

    /// Removes `len` elements from `index` on. Cost O(log n + blocks removed).
    ///
    /// # Panics
    /// When the range is not within the list; nothing is removed then. See [`Self::try_remove_range`].
    fn remove_range(&self, txn: &mut TransactionMut<'_>, index: u32, len: u32) {
        match self.try_remove_range(txn, index, len) {
            Ok(()) | Err(EditError::Collected) => {}
            Err(error) => panic!("array remove_range: {error}"),
        }
    }

    /// Removes `len` elements from `index` on. Cost O(log n + blocks removed).
    ///
    /// # Errors
    /// When the range is not within the list, or the list was collected; nothing is removed then.
    fn try_remove_range(&self, txn: &mut TransactionMut<'_>, index: u32, len: u32) -> Result<(), EditError> {
        let branch = self.as_ref().try_resolve_mut(txn.store_ref())?;
        check_range(txn.store_ref().branches[branch].len, index, len)?;
        let (store, changes) = txn.parts();
        list_delete(store, changes, branch, index, len);
        self.as_ref().note_len(txn.store_ref());
        Ok(())
    }

    /// Returns the element at `index`, if there is one. Cost O(log n).
    fn get<T: ReadTxn>(&self, txn: &T, index: u32) -> Option<Out> {
        let store = txn.store();
        let branch = self.as_ref().resolve(store)?;
        let (slot, offset) = store.find(branch, index)?;
        Out::element(store, &store.items[slot], offset)
    }

    /// Returns the element at `index` with its BigInts kept apart, if there is one and it is plain data. Cost O(log n).
    fn get_exact<T: ReadTxn>(&self, txn: &T, index: u32) -> Option<Value> {
        let store = txn.store();
        let branch = self.as_ref().resolve(store)?;
        let (slot, offset) = store.find(branch, index)?;
        exact_element(store, &store.items[slot], offset)
    }

    /// Returns the element at `index` as a Rust value.
    ///
    /// # Errors
    /// When it is of another shape; a missing element reads as undefined.
    fn get_as<T, V>(&self, txn: &T, index: u32) -> Result<V, yatta_encoding::Error>
    where
        T: ReadTxn,
        V: DeserializeOwned,
    {
        from_any(&self.get(txn, index).unwrap_or_default().to_json(txn))
    }

    /// Returns the elements in order. Each step costs O(1).
    fn iter<'a, T: ReadTxn + 'a>(&self, txn: &'a T) -> ArrayIter<&'a T, T> {
        ArrayIter::from_ref(self.as_ref(), txn)
    }
}

/// Whether the value is bytes, which are an item of their own.
fn is_bytes(value: &Value) -> bool {
    matches!(value, Value::Plain(Any::Buffer(_)))
}

/// Checks that `index..index + len` is within `0..=total`.
pub(crate) fn check_range(total: u32, index: u32, len: u32) -> Result<(), EditError> {
    let end = u64::from(index) + u64::from(len);
    if end <= u64::from(total) { Ok(()) } else { Err(EditError::OutOfBounds { index, end, len: total }) }
}

/// The elements of a list.
pub struct ArrayIter<B, T> {
    txn: B,
    at: ItemIdx,
    offset: u32,
    kind: PhantomData<fn() -> T>,
}

impl<T: Borrow<T> + ReadTxn> ArrayIter<T, T> {
    /// Iterates with a transaction of its own.
    pub fn from(array: &ArrayRef, txn: T) -> Self {
        let at = start(array.as_ref(), &txn);
        Self { txn, at, offset: 0, kind: PhantomData }
    }
}

impl<'a, T: Borrow<T> + ReadTxn> ArrayIter<&'a T, T> {
    /// Iterates with a borrowed transaction.
    pub fn from_ref(array: &Branch, txn: &'a T) -> Self {
        Self { txn, at: start(array, txn), offset: 0, kind: PhantomData }
    }
}

fn start<T: ReadTxn>(array: &Branch, txn: &T) -> ItemIdx {
    array.node(txn.store()).map_or(ItemIdx::NONE, |node| node.start)
}

impl<B: Borrow<T>, T: ReadTxn> Iterator for ArrayIter<B, T> {
    type Item = Out;

    fn next(&mut self) -> Option<Out> {
        let store = self.txn.borrow().store();
        loop {
            let item = &store.items[self.at.some()?];
            if item.is_visible() && self.offset < item.len {
                self.offset += 1;
                return Out::element(store, item, self.offset - 1);
            }
            self.at = item.right;
            self.offset = 0;
        }
    }
}

impl ToJson for ArrayRef {
    fn to_json<T: ReadTxn>(&self, txn: &T) -> Any {
        super::json::json_of(txn, Out::YArray(self.clone()))
    }
}

impl AsPrelim for ArrayRef {
    type Prelim = ArrayPrelim;

    fn as_prelim<T: ReadTxn>(&self, txn: &T) -> ArrayPrelim {
        super::copy::array(txn, self, 0)
    }
}

impl DefaultPrelim for ArrayRef {
    type Prelim = ArrayPrelim;

    fn default_prelim() -> ArrayPrelim {
        ArrayPrelim::default()
    }
}

/// A list that is about to be inserted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ArrayPrelim(Vec<In>);

impl std::ops::Deref for ArrayPrelim {
    type Target = Vec<In>;

    fn deref(&self) -> &Vec<In> {
        &self.0
    }
}

impl std::ops::DerefMut for ArrayPrelim {
    fn deref_mut(&mut self) -> &mut Vec<In> {
        &mut self.0
    }
}

impl<T: Into<In>> FromIterator<T> for ArrayPrelim {
    fn from_iter<I: IntoIterator<Item = T>>(iter: I) -> Self {
        Self(iter.into_iter().map(Into::into).collect())
    }
}

impl<I, T> From<I> for ArrayPrelim
where
    I: IntoIterator<Item = T>,
    T: Into<In>,
{
    fn from(values: I) -> Self {
        values.into_iter().collect()
    }
}

impl From<ArrayPrelim> for EmbedPrelim<ArrayPrelim> {
    fn from(array: ArrayPrelim) -> Self {
        Self::Shared(array)
    }
}

impl Prelim for ArrayPrelim {
    type Return = ArrayRef;

    fn into_content(self, _txn: &mut TransactionMut<'_>) -> (ItemContent, Option<Self>) {
        (ItemContent::Type(TypeRef::Array), Some(self))
    }

    fn integrate(self, txn: &mut TransactionMut<'_>, inner_ref: BranchPtr) {
        let array = ArrayRef::from(inner_ref);
        for value in self.0 {
            array.push_back(txn, value);
        }
    }
}
