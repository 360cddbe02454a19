//! Logical references to shared types, which need no document: `Root`, `Nested`, `Hook`.

use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::sync::Arc;

use yatta_encoding::ID;

use super::{Out, ReadTxn, RootRef, SharedRef, WriteTxn};
use crate::transaction::{BranchID, BranchPtr, family};

/// A root type by its name.
#[derive(Debug)]
pub struct Root<S> {
    /// The name.
    pub name: Arc<str>,
    kind: PhantomData<fn() -> S>,
}

impl<S: RootRef> Root<S> {
    /// Makes a reference to the root of this name.
    pub fn new<N: Into<Arc<str>>>(name: N) -> Self {
        Self { name: name.into(), kind: PhantomData }
    }

    /// Returns the root, which is made if it is missing.
    pub fn get_or_create<T: WriteTxn>(&self, txn: &mut T) -> S {
        let store = txn.store_mut();
        let branch = store.root_idx(&self.name);
        let tag = &mut store.branches[branch].tag;
        if tag.kind == yatta_encoding::block::TYPE_REFS_UNDEFINED {
            *tag = S::type_ref().tag();
            family::define_root(store, branch);
        }
        S::from(BranchPtr::of(store, branch))
    }
}

impl<S: SharedRef> Root<S> {
    /// Returns the root, if it is there.
    pub fn get<T: ReadTxn>(&self, txn: &T) -> Option<S> {
        let store = txn.store();
        let branch = store.roots.get(self.name.as_ref())?;
        Some(S::from(BranchPtr::of(store, *branch)))
    }
}

/// A nested type by the id of the item that holds it.
#[derive(Debug)]
pub struct Nested<S> {
    /// The id.
    pub id: ID,
    kind: PhantomData<fn() -> S>,
}

impl<S> Nested<S> {
    /// Makes a reference to the type that the item of this id holds.
    pub fn new(id: ID) -> Self {
        Self { id, kind: PhantomData }
    }
}

impl<S: SharedRef> Nested<S> {
    /// Returns the type, if it is there and not deleted. Cost O(log n).
    pub fn get<T: ReadTxn>(&self, txn: &T) -> Option<S> {
        BranchID::get_nested(txn, &self.id).map(S::from)
    }
}

/// A root or nested type.
pub struct Hook<S> {
    id: BranchID,
    kind: PhantomData<fn() -> S>,
}

impl<S> Hook<S> {
    /// Returns the identity of the type.
    pub fn id(&self) -> &BranchID {
        &self.id
    }
}

impl<S: SharedRef> Hook<S> {
    /// Returns the type, if it is there and not deleted.
    pub fn get<T: ReadTxn>(&self, txn: &T) -> Option<S> {
        self.id.get_branch(txn).map(S::from)
    }

    /// Returns the reference to a nested type, if it is one.
    pub fn into_nested(self) -> Option<Nested<S>> {
        match self.id {
            BranchID::Nested(id) => Some(Nested::new(id)),
            BranchID::Root(_) => None,
        }
    }
}

impl<S: RootRef> Hook<S> {
    /// Returns the reference to a root, if it is one.
    pub fn into_root(self) -> Option<Root<S>> {
        match self.id {
            BranchID::Root(name) => Some(Root::new(name)),
            BranchID::Nested(_) => None,
        }
    }
}

impl BranchID {
    /// Returns the root of this name, if it is there.
    pub fn get_root<T: ReadTxn, K: std::borrow::Borrow<str>>(txn: &T, name: K) -> Option<BranchPtr> {
        let store = txn.store();
        store.roots.get(name.borrow()).map(|branch| BranchPtr::of(store, *branch))
    }

    /// Returns the type that the item of this id holds, if it is there and not deleted. Cost O(log n).
    pub fn get_nested<T: ReadTxn>(txn: &T, id: &ID) -> Option<BranchPtr> {
        let store = txn.store();
        let item = &store.items[store.find_item(*id)?];
        if item.is_deleted() || store.public_id(item.id) != *id {
            return None;
        }
        Some(BranchPtr::of(store, store.held_type(item)?))
    }

    /// Returns the type, if it is there and not deleted.
    pub fn get_branch<T: ReadTxn>(&self, txn: &T) -> Option<BranchPtr> {
        match self {
            Self::Root(name) => Self::get_root(txn, name.as_ref()),
            Self::Nested(id) => Self::get_nested(txn, id),
        }
    }
}

impl std::fmt::Display for BranchID {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Nested(id) => write!(f, "{id}"),
            Self::Root(name) => write!(f, "'{name}'"),
        }
    }
}

macro_rules! reference {
    ($name:ident, $field:ident) => {
        impl<S> Clone for $name<S> {
            fn clone(&self) -> Self {
                Self { $field: self.$field.clone(), kind: PhantomData }
            }
        }

        impl<S> PartialEq for $name<S> {
            fn eq(&self, other: &Self) -> bool {
                self.$field == other.$field
            }
        }

        impl<S> Eq for $name<S> {}

        impl<S> Hash for $name<S> {
            fn hash<H: Hasher>(&self, state: &mut H) {
                self.$field.hash(state);
            }
        }

        impl<S> PartialOrd for $name<S> {
            fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
                Some(self.cmp(other))
            }
        }

        impl<S> Ord for $name<S> {
            fn cmp(&self, other: &Self) -> std::cmp::Ordering {
                self.$field.cmp(&other.$field)
            }
        }
    };
}

reference!(Root, name);
reference!(Nested, id);
reference!(Hook, id);

impl<S> std::fmt::Debug for Hook<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Hook({})", self.id)
    }
}

impl<S> From<Root<S>> for Hook<S> {
    fn from(root: Root<S>) -> Self {
        Self::from(BranchID::Root(root.name))
    }
}

impl<S> From<Nested<S>> for Hook<S> {
    fn from(nested: Nested<S>) -> Self {
        Self::from(BranchID::Nested(nested.id))
    }
}

impl<S> From<BranchID> for Hook<S> {
    fn from(id: BranchID) -> Self {
        Self { id, kind: PhantomData }
    }
}

impl<S> From<Root<S>> for BranchID {
    fn from(root: Root<S>) -> Self {
        Self::Root(root.name)
    }
}

impl<S> From<Nested<S>> for BranchID {
    fn from(nested: Nested<S>) -> Self {
        Self::Nested(nested.id)
    }
}

impl<S> From<Hook<S>> for BranchID {
    fn from(hook: Hook<S>) -> Self {
        hook.id
    }
}

impl<S> serde::Serialize for Hook<S> {
    fn serialize<Z: serde::Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        self.id.serialize(serializer)
    }
}

impl<'de, S> serde::Deserialize<'de> for Hook<S> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        BranchID::deserialize(deserializer).map(Self::from)
    }
}

/// A root as [`ReadTxn::get`] returns it.
pub(crate) fn root_out<T: ReadTxn>(txn: &T, name: &str) -> Option<Out> {
    let store = txn.store();
    store.roots.get(name).map(|branch| Out::of_branch(store, *branch))
}
