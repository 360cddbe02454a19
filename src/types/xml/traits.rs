//! What can be done with XML nodes: `Xml` (attributes, relatives) and `XmlFragment` (children).

use std::borrow::Borrow;
use std::sync::Arc;

use super::node::{AttributeMap, Children, index_in};
use super::{Siblings, TreeWalker, XmlElementRef, XmlNodes, XmlOut, XmlPrelim};
use crate::error::EditError;
use crate::transaction::{Branch, TransactionMut, family};
use crate::types::array::Array;
use crate::types::map::{Map, MapIter};
use crate::types::{Out, Prelim, ReadTxn};

/// What can be done with elements and XML texts.
pub trait Xml: AsRef<Branch> {
    /// Returns the XML node that holds this one; none for a root, and if it is held by another sort of type.
    ///
    /// Needs no transaction, and works while one is open.
    fn parent(&self) -> Option<XmlOut> {
        XmlOut::try_from(self.as_ref().parent()?).ok()
    }

    /// Removes an attribute, if it is set. Cost O(1).
    fn remove_attribute<K>(&self, txn: &mut TransactionMut<'_>, attr_name: &K)
    where
        K: AsRef<str>,
    {
        AttributeMap(self.as_ref()).remove(txn, attr_name.as_ref());
    }

    /// Sets an attribute. Cost O(1).
    ///
    /// # Panics
    /// When the node was deleted and collected; see [`Self::try_insert_attribute`].
    fn insert_attribute<K, V>(&self, txn: &mut TransactionMut<'_>, key: K, value: V) -> V::Return
    where
        K: Into<Arc<str>>,
        V: Prelim,
    {
        match self.try_insert_attribute(txn, key, value) {
            Ok(returned) => returned,
            Err(error) => panic!("xml insert_attribute: {error}"),
        }
    }

    /// Sets an attribute. Cost O(1).
    ///
    /// # Errors
    /// When the node was deleted and collected.
    fn try_insert_attribute<K, V>(
        &self,
        txn: &mut TransactionMut<'_>,
        key: K,
        value: V,
    ) -> Result<V::Return, EditError>
    where
        K: Into<Arc<str>>,
        V: Prelim,
    {
        AttributeMap(self.as_ref()).try_insert(txn, key, value)
    }

    /// Returns the value of an attribute, if it is set. Cost O(1).
    fn get_attribute<T: ReadTxn>(&self, txn: &T, attr_name: &str) -> Option<Out> {
        AttributeMap(self.as_ref()).get(txn, attr_name)
    }

    /// Returns the attributes in the order in which their names were first set.
    fn attributes<'a, T: ReadTxn>(&'a self, txn: &'a T) -> Attributes<'a, &'a T, T> {
        Attributes::new(self.as_ref(), txn)
    }

    /// Returns the nodes that stand beside this one: from the back those before it, the nearest first. One cursor moves
    /// both ways.
    fn siblings<'a, T: ReadTxn>(&self, txn: &'a T) -> Siblings<'a, T> {
        Siblings::new(self.as_ref(), txn)
    }
}

/// What can be done with elements and fragments: lists of nodes.
pub trait XmlFragment: AsRef<Branch> {
    /// Returns the first node.
    ///
    /// Needs no transaction, and works while one is open. It sees this trait's edits and remote updates at once, and any
    /// other edit once that is committed: an edit through `AsRef<ArrayRef>`, say.
    fn first_child(&self) -> Option<XmlOut> {
        XmlOut::try_from(self.as_ref().first_child()?).ok()
    }

    /// Returns the nodes in order, without those within them. Each step costs O(1).
    fn children<'a, T: ReadTxn>(&self, txn: &'a T) -> XmlNodes<'a, T> {
        XmlNodes::new(self.as_ref(), txn)
    }

    /// Returns the number of nodes. Cost O(1).
    fn len<T: ReadTxn>(&self, txn: &T) -> u32 {
        Children(self.as_ref()).len(txn)
    }

    /// Inserts a node before the one at `index`. Cost O(log n).
    ///
    /// # Panics
    /// When `index` is beyond the length; see [`Self::try_insert`].
    fn insert<V>(&self, txn: &mut TransactionMut<'_>, index: u32, xml_node: V) -> V::Return
    where
        V: XmlPrelim,
    {
        match self.try_insert(txn, index, xml_node) {
            Ok(returned) => returned,
            Err(error) => panic!("xml insert: {error}"),
        }
    }

    /// Inserts a node before the one at `index`. Cost O(log n).
    ///
    /// # Errors
    /// When `index` is beyond the length, or this node was deleted and collected.
    fn try_insert<V>(
        &self,
        txn: &mut TransactionMut<'_>,
        index: u32,
        xml_node: V,
    ) -> Result<V::Return, EditError>
    where
        V: XmlPrelim,
    {
        let returned = Children(self.as_ref()).try_insert(txn, index, xml_node)?;
        if index == 0 {
            refresh(self.as_ref(), txn);
        }
        Ok(returned)
    }

    /// Inserts a node after another one of this list, or at the front if there is none. Yjs: `insertAfter`.
    ///
    /// # Errors
    /// When `reference` is no node of this list, or this node was deleted and collected.
    fn insert_after<V>(
        &self,
        txn: &mut TransactionMut<'_>,
        reference: Option<&XmlOut>,
        xml_node: V,
    ) -> Result<V::Return, EditError>
    where
        V: XmlPrelim,
    {
        let index = match reference {
            None => 0,
            Some(node) => {
                let beyond = self.len(txn).saturating_add(1);
                index_in(txn.store(), self.as_ref(), node.as_ref()).map_or(beyond, |index| index + 1)
            }
        };
        self.try_insert(txn, index, xml_node)
    }

    /// Inserts a node at the end. Cost O(log n).
    ///
    /// # Panics
    /// When this node was deleted and collected.
    fn push_back<V>(&self, txn: &mut TransactionMut<'_>, xml_node: V) -> V::Return
    where
        V: XmlPrelim,
    {
        let len = self.len(txn);
        self.insert(txn, len, xml_node)
    }

    /// Inserts a node at the front. Cost O(1).
    ///
    /// # Panics
    /// When this node was deleted and collected.
    fn push_front<V>(&self, txn: &mut TransactionMut<'_>, xml_node: V) -> V::Return
    where
        V: XmlPrelim,
    {
        self.insert(txn, 0, xml_node)
    }

    /// Removes the node at `index`. Cost O(log n).
    ///
    /// # Panics
    /// When `index` is not below the length.
    fn remove(&self, txn: &mut TransactionMut<'_>, index: u32) {
        self.remove_range(txn, index, 1);
    }

    /// Removes `len` nodes from `index` on. Cost O(len + log n).
    ///
    /// # Panics
    /// When the range is not within the list; nothing is removed then. See [`Self::try_remove_range`].
    fn remove_range(&self, txn: &mut TransactionMut<'_>, index: u32, len: u32) {
        match self.try_remove_range(txn, index, len) {
            Ok(()) | Err(EditError::Collected) => {}
            Err(error) => panic!("xml remove_range: {error}"),
        }
    }

    /// Removes `len` nodes from `index` on. Cost O(len + log n).
    ///
    /// # Errors
    /// When the range is not within the list, or this node was deleted and collected; nothing is removed then.
    fn try_remove_range(&self, txn: &mut TransactionMut<'_>, index: u32, len: u32) -> Result<(), EditError> {
        Children(self.as_ref()).try_remove_range(txn, index, len)?;
        if index == 0 {
            refresh(self.as_ref(), txn);
        }
        Ok(())
    }

    /// Returns the node at `index`, if there is one. Cost O(log n).
    fn get<T: ReadTxn>(&self, txn: &T, index: u32) -> Option<XmlOut> {
        XmlOut::try_from(Children(self.as_ref()).get(txn, index)?).ok()
    }

    /// Returns all nodes within this one, each before those within it. Each step costs O(1).
    fn successors<'a, T: ReadTxn>(&'a self, txn: &'a T) -> TreeWalker<'a, &'a T, T> {
        TreeWalker::new(self.as_ref(), txn)
    }

    /// Returns the first element of this name within this node, however deep; case does not matter.
    fn query_selector<T: ReadTxn>(&self, txn: &T, tag: &str) -> Option<XmlElementRef> {
        let tag = tag.to_uppercase();
        TreeWalker::<&T, T>::new(self.as_ref(), txn).find_map(|node| named(node, &tag))
    }

    /// Returns all elements of this name within this node, however deep; case does not matter.
    fn query_selector_all<T: ReadTxn>(&self, txn: &T, tag: &str) -> Vec<XmlElementRef> {
        let tag = tag.to_uppercase();
        TreeWalker::<&T, T>::new(self.as_ref(), txn).filter_map(|node| named(node, &tag)).collect()
    }
}

/// The node, if it is an element of this name (in upper case).
fn named(node: XmlOut, tag: &str) -> Option<XmlElementRef> {
    node.into_xml_element().filter(|element| element.tag().to_uppercase() == tag)
}

/// Renews the first child in the handle.
fn refresh(branch: &Branch, txn: &TransactionMut<'_>) {
    if let Some(idx) = branch.resolve(txn.store()) {
        family::refresh(txn.store(), idx);
    }
}

/// The names and values of attributes.
pub struct Attributes<'a, B, T>(MapIter<'a, B, T>);

impl<'a, B: Borrow<T>, T: ReadTxn> Attributes<'a, B, T> {
    /// Iterates over the attributes of a node.
    pub fn new(branch: &'a Branch, txn: B) -> Self {
        Self(MapIter::new(branch, txn))
    }
}

impl<'a, T: ReadTxn> Iterator for Attributes<'a, &'a T, T> {
    type Item = (&'a str, Out);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next()
    }
}
