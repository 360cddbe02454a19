//! Iterators over nodes: `XmlNodes` (children), `Siblings`, `TreeWalker` (all that is within). What is no XML node (plain
//! values, hooks) is left out. A step costs O(1), beside deleted items.

use std::borrow::Borrow;
use std::marker::PhantomData;

use yatta_encoding::block::{TYPE_REFS_XML_ELEMENT, TYPE_REFS_XML_FRAGMENT};

use super::XmlOut;
use super::node::node_in;
use crate::block::index::{BranchIdx, ItemIdx};
use crate::store::Store;
use crate::transaction::Branch;
use crate::types::ReadTxn;

/// The nodes of a list.
pub struct XmlNodes<'a, T> {
    txn: &'a T,
    at: ItemIdx,
}

impl<'a, T: ReadTxn> XmlNodes<'a, T> {
    pub(super) fn new(branch: &Branch, txn: &'a T) -> Self {
        Self { txn, at: branch.node(txn.store()).map_or(ItemIdx::NONE, |node| node.start) }
    }
}

impl<T: ReadTxn> Iterator for XmlNodes<'_, T> {
    type Item = XmlOut;

    fn next(&mut self) -> Option<XmlOut> {
        let store = self.txn.store();
        while let Some(slot) = self.at.some() {
            self.at = store.items[slot].right;
            if let Some(node) = node_in(store, slot) {
                return Some(node);
            }
        }
        None
    }
}

/// The nodes beside a node. `next` moves to the right, `next_back` to the left, from where the last step ended; once one
/// of them has reached an end, both are done.
pub struct Siblings<'a, T> {
    txn: &'a T,
    at: ItemIdx,
}

impl<'a, T: ReadTxn> Siblings<'a, T> {
    pub(super) fn new(branch: &Branch, txn: &'a T) -> Self {
        Self { txn, at: branch.node(txn.store()).map_or(ItemIdx::NONE, |node| node.item) }
    }

    fn step(&mut self, to: impl Fn(&Store, ItemIdx) -> ItemIdx) -> Option<XmlOut> {
        let store = self.txn.store();
        while let Some(slot) = self.at.some() {
            self.at = to(store, slot);
            if let Some(node) = self.at.some().and_then(|slot| node_in(store, slot)) {
                return Some(node);
            }
        }
        None
    }
}

impl<T: ReadTxn> Iterator for Siblings<'_, T> {
    type Item = XmlOut;

    fn next(&mut self) -> Option<XmlOut> {
        self.step(|store, slot| store.items[slot].right)
    }
}

impl<T: ReadTxn> DoubleEndedIterator for Siblings<'_, T> {
    fn next_back(&mut self) -> Option<XmlOut> {
        self.step(|store, slot| store.items[slot].left)
    }
}

/// All nodes within a node, each before those within it.
pub struct TreeWalker<'a, B, T> {
    txn: B,
    root: Option<BranchIdx>,
    at: ItemIdx,
    kind: PhantomData<(&'a Branch, T)>,
}

impl<'a, B: Borrow<T>, T: ReadTxn> TreeWalker<'a, B, T> {
    /// Walks over what is within `root`.
    pub fn new(root: &'a Branch, txn: B) -> Self {
        let root = root.resolve(txn.borrow().store());
        let at = root.map_or(ItemIdx::NONE, |root| txn.borrow().store().branches[root].start);
        Self { txn, root, at, kind: PhantomData }
    }
}

/// The item after `slot`: the first one within it, or else the next one outside.
fn after(store: &Store, root: BranchIdx, slot: ItemIdx) -> ItemIdx {
    if !store.items[slot].is_deleted()
        && let Some(branch) = store.held_type(&store.items[slot])
    {
        let node = &store.branches[branch];
        if matches!(node.tag.kind, TYPE_REFS_XML_ELEMENT | TYPE_REFS_XML_FRAGMENT) && node.start.is_some() {
            return node.start;
        }
    }
    let mut at = slot;
    loop {
        let item = &store.items[at];
        if item.right.is_some() {
            return item.right;
        }
        if item.parent == root {
            return ItemIdx::NONE;
        }
        at = store.branches[item.parent].item;
    }
}

impl<B: Borrow<T>, T: ReadTxn> Iterator for TreeWalker<'_, B, T> {
    type Item = XmlOut;

    fn next(&mut self) -> Option<XmlOut> {
        let store = self.txn.borrow().store();
        while let Some(slot) = self.at.some() {
            self.at = after(store, self.root?, slot);
            if let Some(node) = node_in(store, slot) {
                return Some(node);
            }
        }
        None
    }
}
