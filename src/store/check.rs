//! The invariants of a document, checked one by one. Tests call this after every transaction.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use yatta_encoding::ClientID;

use super::{SCAN_MAX, Store, TreeRead};
use crate::block::content::Content;
use crate::block::index::{BranchIdx, ClientIdx, ItemIdx};
use crate::block::item::{Flags, Kind};

impl Store {
    /// Stops with the values if an invariant is broken. Cost O(document).
    pub(crate) fn check(&self) {
        let mut reached = 0;
        let mut linked: FxHashMap<ItemIdx, BranchIdx> = FxHashMap::default();
        for client in 0..self.clients.len() as u32 {
            reached += self.check_client(ClientIdx(client), &mut linked);
        }
        assert_eq!(reached, self.items.len(), "I10: blocks in the lists of clients, and slots in use");
        let holds_doc =
            |slot: &&ItemIdx| self.items[**slot].kind() == Kind::Doc && !self.items[**slot].is_deleted();
        let subdocs: BTreeSet<ItemIdx> = linked.keys().filter(holds_doc).copied().collect();
        assert_eq!(self.subdocs, subdocs, "sub-documents, and live items that hold one");
        self.links.check(|slot, link| {
            assert!(linked.contains_key(&slot), "{link:?} quotes {slot:?}, which is no item");
            assert!(self.items[slot].flags.has(Flags::LINKED), "{link:?} quotes {:?}", self.items[slot]);
            assert!(
                self.branches[link].tag.link.is_some(),
                "{slot:?} is quoted by {link:?}, which is no link"
            );
        });
        let mut in_branches = 0;
        for branch in 0..self.branches.len() as u32 {
            in_branches += self.check_branch(BranchIdx(branch), &linked);
        }
        assert_eq!(in_branches, linked.len(), "I2: items reached from their parents, and items");
        self.check_clients();
    }

    /// The index and the order of the clients.
    fn check_clients(&self) {
        let ids: Vec<ClientID> = self.clients.iter().map(|client| client.id).collect();
        for (place, id) in ids.iter().enumerate() {
            assert_eq!(self.known_client(*id), Some(ClientIdx(place as u32)), "the index of {id}");
        }
        let indexed = if ids.len() > SCAN_MAX { ids.len() } else { 0 };
        assert_eq!(self.client_index.len(), indexed, "clients in the index");
        if let Some(order) = self.order.get() {
            assert_eq!(order.len(), ids.len(), "clients in their order");
            assert!(
                order.iter().map(|client| self.client(*client).id).is_sorted_by(|a, b| a > b),
                "{order:?} of {ids:?}"
            );
        }
    }

    /// I1, I9, I10, I12, I14.
    fn check_client(&self, client: ClientIdx, linked: &mut FxHashMap<ItemIdx, BranchIdx>) -> usize {
        let blocks = &self.client(client).blocks;
        blocks.check();
        self.client(client).text.check();
        let mut clock = 0;
        let mut count = 0;
        for (start, slot) in blocks.iter() {
            let item = &self.items[slot];
            assert!(!item.flags.has(Flags::FREE), "I10: {slot:?} at {client:?}:{start} is free");
            assert_eq!((item.id.client, item.id.clock), (client, start), "I1: {slot:?}");
            assert_eq!(start, clock, "I1: {client:?} has a gap before {slot:?}");
            assert!(item.len > 0, "I1: {item:?} is empty");
            clock += item.len;
            count += 1;
            if item.is_item() {
                linked.insert(slot, item.parent);
                self.check_item(slot);
            }
        }
        assert_eq!(clock, self.state(client), "I1: state of {client:?}");
        self.client(client).deleted.check(self.deleted_blocks(client));
        count
    }

    fn check_item(&self, slot: ItemIdx) {
        let item = &self.items[slot];
        let len = match item.kind() {
            Kind::String => crate::block::text_buffer::utf16_len(self.text(item)),
            Kind::Deleted => item.len,
            _ => match self.boxed(item) {
                Content::Any(values) => values.len() as u32,
                Content::Json(values) => values.len() as u32,
                _ => 1,
            },
        };
        assert_eq!(item.len, len, "I9: {item:?}");
        if item.kind() == Kind::String {
            assert_eq!(
                item.flags.has(Flags::ASCII),
                self.text(item).is_ascii(),
                "I9: ASCII flag of {item:?}"
            );
        }
        if !self.skip_gc && item.kind() != Kind::Deleted {
            assert!(
                !item.is_deleted() || item.flags.has(Flags::KEEP | Flags::RELEASED),
                "I7: {item:?} is not collected"
            );
        }
        for id in [item.origin, item.right_origin] {
            if id.is_some() {
                assert!(id.clock < self.state(id.client), "I12: origin {id:?} of {item:?}");
            }
        }
        if item.left.is_some() {
            let left = &self.items[item.left];
            assert_eq!(left.right, slot, "I2: {left:?} beside {item:?}");
            assert_eq!((left.parent, left.key()), (item.parent, item.key()), "I2: {left:?} beside {item:?}");
        }
        if item.right.is_some() {
            assert_eq!(self.items[item.right].left, slot, "I2: right of {item:?}");
        }
        if let Kind::Type = item.kind()
            && let Content::Type(branch) = self.boxed(item)
        {
            assert_eq!(self.branches[*branch].item, slot, "I2: type of {item:?}");
        }
    }

    /// I2 to I5 of one type. Returns how many items it holds.
    fn check_branch(&self, branch: BranchIdx, linked: &FxHashMap<ItemIdx, BranchIdx>) -> usize {
        let node = &self.branches[branch];
        let mut order = Vec::new();
        let mut len = 0;
        let mut last = ItemIdx::NONE;
        let mut at = node.start;
        while let Some(slot) = at.some() {
            let item = &self.items[slot];
            assert_eq!(linked.get(&slot), Some(&branch), "I2: {item:?} in {branch:?}");
            assert!(item.key().is_none(), "I2: {item:?} in the sequence of {branch:?}");
            if node.marker.item == slot {
                assert_eq!(node.marker.index, len, "I5: marker of {branch:?} at {item:?}");
                assert!(item.is_visible(), "I5: marker of {branch:?} at {item:?}");
            }
            let width = self.visible_width(item);
            order.push((slot, width));
            len += width;
            last = slot;
            at = item.right;
        }
        assert_eq!(node.len, len, "I3: length of {branch:?}");
        assert_eq!(node.items as usize, order.len(), "I3: items of {branch:?}");
        assert_eq!(node.end, last, "I2: end of {branch:?}");
        if node.marker.item.is_some() {
            assert!(order.iter().any(|entry| entry.0 == node.marker.item), "I5: marker of {branch:?}");
        }
        if let Some(tree) = &node.tree {
            tree.check(&TreeRead(self), order.iter().copied());
        }
        order.len() + self.check_entries(branch)
    }

    /// I4.
    fn check_entries(&self, branch: BranchIdx) -> usize {
        let mut count = 0;
        for (key, newest) in self.branches[branch].map.iter() {
            let item = &self.items[newest];
            assert_eq!(item.key(), key, "I4: {item:?} in {branch:?}");
            assert!(item.right.is_none(), "I4: {item:?} is not the last of its key");
            count += 1;
            let mut at = item.left;
            while let Some(slot) = at.some() {
                assert!(self.items[slot].is_deleted(), "I4: {:?} is overwritten", self.items[slot]);
                count += 1;
                at = self.items[slot].left;
            }
        }
        count
    }
}
