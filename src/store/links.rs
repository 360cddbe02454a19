//! Which items weak links quote, both ways: a side table, empty in a document without links.
//!
//! Invariants: an item has an entry only if it carries `Flags::LINKED` (the flag may outlive the entry: see
//! `engine::link`); the two directions agree. Every operation costs O(links of the item); taking a link out costs what it
//! quotes.

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::block::index::{BranchIdx, ItemIdx};

/// The links of one item, in the order in which they came.
pub(crate) type LinkList = SmallVec<[BranchIdx; 2]>;

/// The quoted items of a document and the links that quote them.
#[derive(Default, Debug)]
pub(crate) struct Links {
    by_item: FxHashMap<ItemIdx, LinkList>,
    by_link: FxHashMap<BranchIdx, FxHashSet<ItemIdx>>,
}

impl Links {
    /// Whether there is no link.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.by_link.is_empty()
    }

    /// The links that quote an item.
    pub(crate) fn of(&self, item: ItemIdx) -> &[BranchIdx] {
        self.by_item.get(&item).map_or(&[], SmallVec::as_slice)
    }

    /// Notes that a link quotes an item.
    pub(crate) fn add(&mut self, item: ItemIdx, link: BranchIdx) {
        if self.by_link.entry(link).or_default().insert(item) {
            self.by_item.entry(item).or_default().push(link);
        }
    }

    /// Takes an item out, and returns the links that quoted it.
    pub(crate) fn take(&mut self, item: ItemIdx) -> LinkList {
        let links = self.by_item.remove(&item).unwrap_or_default();
        for link in &links {
            if let Some(items) = self.by_link.get_mut(link) {
                items.remove(&item);
            }
        }
        links
    }

    /// What quotes `from` quotes `to` as well.
    pub(crate) fn copy(&mut self, from: ItemIdx, to: ItemIdx) {
        let links: LinkList = self.of(from).into();
        for link in links {
            self.add(to, link);
        }
    }

    /// Takes a link out, and returns the items that nothing quotes any more, in the order of their slots.
    pub(crate) fn unlink(&mut self, link: BranchIdx) -> Vec<ItemIdx> {
        let mut free = Vec::new();
        for item in self.by_link.remove(&link).unwrap_or_default() {
            let Some(links) = self.by_item.get_mut(&item) else { continue };
            links.retain(|other| *other != link);
            if links.is_empty() {
                self.by_item.remove(&item);
                free.push(item);
            }
        }
        free.sort_unstable();
        free
    }

    /// Stops if the two directions disagree; calls `check` with each quoted item and each of its links.
    pub(crate) fn check(&self, mut check: impl FnMut(ItemIdx, BranchIdx)) {
        let mut pairs = 0;
        for (item, links) in &self.by_item {
            assert!(!links.is_empty(), "{item:?} has an empty list of links");
            for link in links {
                let items = self.by_link.get(link);
                assert!(items.is_some_and(|items| items.contains(item)), "{link:?} does not know {item:?}");
                check(*item, *link);
                pairs += 1;
            }
        }
        let back: usize = self.by_link.values().map(FxHashSet::len).sum();
        assert_eq!(pairs, back, "pairs of item and link, and of link and item");
    }
}
