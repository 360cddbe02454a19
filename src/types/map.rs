//! Maps.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::marker::PhantomData;
use std::sync::Arc;

use indexmap::IndexMap;
use serde::de::DeserializeOwned;
use yatta_encoding::serde_any::from_any;
use yatta_encoding::{Any, Value};

use super::content::ItemContent;
pub use super::events::MapEvent;
use super::out::exact_element;
use super::prelim::insert_prelim;
use super::{
    AsPrelim, DefaultPrelim, EmbedPrelim, In, Out, Prelim, ReadTxn, RootRef, ToJson, TypeRef, shared_ref,
};
use crate::block::index::{BranchIdx, ItemIdx};
use crate::engine::delete::delete;
use crate::engine::insert::map_set;
use crate::error::EditError;
use crate::store::Store;
use crate::transaction::{Branch, BranchPtr, TransactionMut};

/// A map from strings to plain values and shared types. Of concurrent values of one key the one of the highest client
/// id wins.
#[derive(Clone, Debug)]
pub struct MapRef(BranchPtr);

shared_ref!(MapRef, YMap);

impl RootRef for MapRef {
    fn type_ref() -> TypeRef {
        TypeRef::Map
    }
}

impl Map for MapRef {}

/// The live item of a key.
fn entry(store: &Store, branch: BranchIdx, key: &str) -> Option<ItemIdx> {
    let slot = store.branches[branch].map.get(store.known_key(key)?).some()?;
    (!store.items[slot].is_deleted()).then_some(slot)
}

/// What can be done with a map.
pub trait Map: AsRef<Branch> + Sized {
    /// Returns the number of keys. Cost O(keys ever set).
    fn len<T: ReadTxn>(&self, txn: &T) -> u32 {
        let store = txn.store();
        let Some(node) = self.as_ref().node(store) else { return 0 };
        node.map.iter().filter(|(_, slot)| !store.items[*slot].is_deleted()).count() as u32
    }

    /// Returns the keys in the order in which they were first set. All together cost O(keys ever set), as below.
    fn keys<'a, T: ReadTxn + 'a>(&'a self, txn: &'a T) -> Keys<'a, &'a T, T> {
        Keys::new(self.as_ref(), txn)
    }

    /// Returns the values, each as a list of the elements of its entry, in the order of the keys.
    fn values<'a, T: ReadTxn + 'a>(&'a self, txn: &'a T) -> Values<'a, &'a T, T> {
        Values::new(self.as_ref(), txn)
    }

    /// Returns the keys and values in the order in which the keys were first set.
    fn iter<'a, T: ReadTxn + 'a>(&'a self, txn: &'a T) -> MapIter<'a, &'a T, T> {
        MapIter::new(self.as_ref(), txn)
    }

    /// As [`Self::iter`], with keys of their own.
    fn into_iter<'a, T: ReadTxn + 'a>(self, txn: &'a T) -> MapIntoIter<'a, T> {
        let branch = self.as_ref().resolve(txn.store());
        MapIntoIter { txn, cursor: Cursor { branch, next: 0 } }
    }

    /// Sets a key. Cost O(1).
    ///
    /// # Panics
    /// When the map was deleted and collected; see [`Self::try_insert`].
    fn insert<K, V>(&self, txn: &mut TransactionMut<'_>, key: K, value: V) -> V::Return
    where
        K: Into<Arc<str>>,
        V: Prelim,
    {
        match self.try_insert(txn, key, value) {
            Ok(returned) => returned,
            Err(error) => panic!("map insert: {error}"),
        }
    }

    /// Sets a key. Cost O(1).
    ///
    /// # Errors
    /// When the map was deleted and collected.
    fn try_insert<K, V>(&self, txn: &mut TransactionMut<'_>, key: K, value: V) -> Result<V::Return, EditError>
    where
        K: Into<Arc<str>>,
        V: Prelim,
    {
        let branch = self.as_ref().try_resolve_mut(txn.store_ref())?;
        let key: Arc<str> = key.into();
        Ok(insert_prelim(txn, value, |store, changes, content| {
            let key = store.key_idx(&key);
            map_set(store, changes, branch, key, content)
        }))
    }

    /// Sets a key unless it has this value already. Returns whether it was set.
    fn try_update<K, V>(&self, txn: &mut TransactionMut<'_>, key: K, value: V) -> bool
    where
        K: Into<Arc<str>>,
        V: Into<Any>,
    {
        let (key, value) = (key.into(), value.into());
        if self.get(txn, &key) == Some(Out::Any(value.clone())) {
            return false;
        }
        self.insert(txn, key, value);
        true
    }

    /// Returns the shared type of a key; where there is another value, or none, an empty one is set.
    fn get_or_init<K, V>(&self, txn: &mut TransactionMut<'_>, key: K) -> V
    where
        K: Into<Arc<str>>,
        V: DefaultPrelim + TryFrom<Out>,
    {
        let key = key.into();
        if let Some(Ok(value)) = self.get(txn, &key).map(V::try_from) {
            return value;
        }
        self.insert(txn, key, V::default_prelim())
    }

    /// Removes a key and returns the value that it had. Cost O(1), and that of what is held within.
    fn remove(&self, txn: &mut TransactionMut<'_>, key: &str) -> Option<Out> {
        let branch = self.as_ref().resolve_mut(txn.store_ref())?;
        let slot = entry(txn.store_ref(), branch, key)?;
        let value = Out::last_of(txn.store_ref(), slot);
        let (store, changes) = txn.parts();
        delete(store, changes, slot);
        value
    }

    /// Makes a weak link to the value of a key, whatever that will be; `None` if the key was never set. Cost O(1).
    #[cfg(feature = "weak")]
    fn link<T: ReadTxn>(&self, txn: &T, key: &str) -> Option<super::weak::WeakPrelim<Self>> {
        let store = txn.store();
        let entry = self.as_ref().node(store)?.map.get(store.known_key(key)?).some()?;
        Some(super::weak::WeakPrelim::to_entry(store.public_id(store.items[entry].id)))
    }

    /// Returns the value of a key, if it is set. Cost O(1).
    fn get<T: ReadTxn>(&self, txn: &T, key: &str) -> Option<Out> {
        let store = txn.store();
        let branch = self.as_ref().resolve(store)?;
        Out::last_of(store, entry(store, branch, key)?)
    }

    /// Returns the value of a key with its BigInts kept apart, if it is set to plain data. Cost O(1).
    fn get_exact<T: ReadTxn>(&self, txn: &T, key: &str) -> Option<Value> {
        let store = txn.store();
        let branch = self.as_ref().resolve(store)?;
        let item = &store.items[entry(store, branch, key)?];
        exact_element(store, item, item.len.checked_sub(1)?)
    }

    /// Returns the value of a key as a Rust value.
    ///
    /// # Errors
    /// When it is of another shape; a missing key reads as null.
    fn get_as<T, V>(&self, txn: &T, key: &str) -> Result<V, yatta_encoding::Error>
    where
        T: ReadTxn,
        V: DeserializeOwned,
    {
        from_any(&self.get(txn, key).map_or(Any::Null, |value| value.to_json(txn)))
    }

    /// Returns whether a key is set. Cost O(1).
    fn contains_key<T: ReadTxn>(&self, txn: &T, key: &str) -> bool {
        let store = txn.store();
        self.as_ref().resolve(store).is_some_and(|branch| entry(store, branch, key).is_some())
    }

    /// Removes all keys. Cost O(keys ever set).
    fn clear(&self, txn: &mut TransactionMut<'_>) {
        let Some(branch) = self.as_ref().resolve_mut(txn.store_ref()) else { return };
        let (store, changes) = txn.parts();
        let mut place = 0;
        while let Some((_, slot)) = store.branches[branch].map.at(place) {
            delete(store, changes, slot);
            place += 1;
        }
    }
}

/// A place among the entries of a map.
struct Cursor {
    branch: Option<BranchIdx>,
    next: usize,
}

impl Cursor {
    fn new<T: ReadTxn>(branch: &Branch, txn: &T) -> Self {
        Self { branch: branch.resolve(txn.store()), next: 0 }
    }

    /// The next live entry.
    fn next<'s>(&mut self, store: &'s Store) -> Option<(&'s Arc<str>, ItemIdx)> {
        let node = &store.branches[self.branch?];
        loop {
            let (key, slot) = node.map.at(self.next)?;
            self.next += 1;
            if !store.items[slot].is_deleted() {
                return Some((store.key(key), slot));
            }
        }
    }
}

macro_rules! map_iterator {
    ($(#[$doc:meta])* $name:ident, $item:ty, |$store:ident, $key:ident, $slot:ident| $value:expr) => {
        $(#[$doc])*
        pub struct $name<'a, B, T> {
            txn: B,
            cursor: Cursor,
            kind: PhantomData<&'a T>,
        }

        impl<'a, B: Borrow<T>, T: ReadTxn> $name<'a, B, T> {
            /// Iterates over the entries of a map.
            pub fn new(branch: &'a Branch, txn: B) -> Self {
                let cursor = Cursor::new(branch, txn.borrow());
                Self { txn, cursor, kind: PhantomData }
            }
        }

        impl<'a, T: ReadTxn> Iterator for $name<'a, &'a T, T> {
            type Item = $item;

            fn next(&mut self) -> Option<Self::Item> {
                let $store = self.txn.store();
                let ($key, $slot) = self.cursor.next($store)?;
                Some($value)
            }
        }
    };
}

map_iterator!(
    /// The keys and values of a map.
    MapIter, (&'a str, Out), |store, key, slot| (key, Out::last_of(store, slot).unwrap_or_default())
);
map_iterator!(
    /// The keys of a map.
    Keys, &'a str, |_store, key, _slot| key
);
map_iterator!(
    /// The values of a map.
    Values, Vec<Out>, |store, _key, slot| {
        let item = &store.items[slot];
        (0..item.len).filter_map(|offset| Out::element(store, item, offset)).collect()
    }
);

/// The keys and values of a map, with keys of their own.
pub struct MapIntoIter<'a, T> {
    txn: &'a T,
    cursor: Cursor,
}

impl<T: ReadTxn> Iterator for MapIntoIter<'_, T> {
    type Item = (Arc<str>, Out);

    fn next(&mut self) -> Option<Self::Item> {
        let store = self.txn.store();
        let (key, slot) = self.cursor.next(store)?;
        Some((Arc::clone(key), Out::last_of(store, slot).unwrap_or_default()))
    }
}

impl ToJson for MapRef {
    fn to_json<T: ReadTxn>(&self, txn: &T) -> Any {
        super::json::json_of(txn, Out::YMap(self.clone()))
    }
}

impl AsPrelim for MapRef {
    type Prelim = MapPrelim;

    fn as_prelim<T: ReadTxn>(&self, txn: &T) -> MapPrelim {
        super::copy::map(txn, self, 0)
    }
}

impl DefaultPrelim for MapRef {
    type Prelim = MapPrelim;

    fn default_prelim() -> MapPrelim {
        MapPrelim::default()
    }
}

/// A map that is about to be inserted, in the order in which its keys are written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MapPrelim(IndexMap<Arc<str>, In>);

impl std::ops::Deref for MapPrelim {
    type Target = IndexMap<Arc<str>, In>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl std::ops::DerefMut for MapPrelim {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl<S: Into<Arc<str>>, T: Into<In>> FromIterator<(S, T)> for MapPrelim {
    fn from_iter<I: IntoIterator<Item = (S, T)>>(iter: I) -> Self {
        Self(iter.into_iter().map(|(key, value)| (key.into(), value.into())).collect())
    }
}

impl<S: Into<Arc<str>>, T: Into<In>, const C: usize> From<[(S, T); C]> for MapPrelim {
    fn from(entries: [(S, T); C]) -> Self {
        entries.into_iter().collect()
    }
}

impl<S: Into<Arc<str>>, T: Into<In>> From<HashMap<S, T>> for MapPrelim {
    fn from(entries: HashMap<S, T>) -> Self {
        entries.into_iter().collect()
    }
}

impl From<MapPrelim> for EmbedPrelim<MapPrelim> {
    fn from(map: MapPrelim) -> Self {
        Self::Shared(map)
    }
}

impl Prelim for MapPrelim {
    type Return = MapRef;

    fn into_content(self, _txn: &mut TransactionMut<'_>) -> (ItemContent, Option<Self>) {
        (ItemContent::Type(TypeRef::Map), Some(self))
    }

    fn integrate(self, txn: &mut TransactionMut<'_>, inner_ref: BranchPtr) {
        let map = MapRef::from(inner_ref);
        for (key, value) in self.0 {
            map.insert(txn, key, value);
        }
    }
}
