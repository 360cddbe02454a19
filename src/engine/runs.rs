//! The runs of a text at a snapshot, and how they differ from another one (Yjs: `YText.toDelta`).
//!
//! Items are cut where a snapshot ends within them, so that each is there as a whole or not at all; the commit joins them
//! again. Cost O(items of the text, and ranges of the snapshots).

use crate::block::index::{BranchIdx, ItemIdx};
use crate::block::item::{Id, Item, Kind};
use crate::change::ChangeSet;
use crate::engine::format::{Attributes, set_attribute};
use crate::engine::redo::{OrderedIds, each_block};
use crate::engine::split::clean_start;
use crate::ids::Snapshot;
use crate::store::Store;

/// How a run differs between two snapshots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Added,
    Removed,
}

/// What a run holds.
#[derive(Debug)]
pub(crate) enum RunContent {
    Text(String),
    /// An embedded value or type, by its item.
    Element(ItemIdx),
}

/// A piece of text of equal attributes, or an embedded value.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) content: RunContent,
    pub(crate) attributes: Attributes,
    pub(crate) change: Option<(Change, Id)>,
}

/// Cuts the items that a snapshot holds a part of.
fn cut(store: &mut Store, changes: &mut ChangeSet, snapshot: &Snapshot) {
    for (client, clock) in snapshot.state_map.iter() {
        if let Some(client) = store.known_client(*client)
            && *clock < store.state(client)
        {
            clean_start(store, changes, Id::new(client, *clock));
        }
    }
    each_block(store, changes, OrderedIds { ids: &snapshot.delete_set, order: &[] }, |_, _, _| {});
}

/// Whether an item is there at a snapshot; without one: now.
fn is_visible(store: &Store, item: &Item, snapshot: Option<&Snapshot>) -> bool {
    match snapshot {
        None => !item.is_deleted(),
        Some(snapshot) => snapshot.is_visible(&store.public_id(item.id)),
    }
}

/// The runs of a text that are there at `hi` (or now) or at `lo`. With `lo`, those that are only in one say so.
pub(crate) fn runs_between(
    store: &mut Store,
    changes: &mut ChangeSet,
    branch: BranchIdx,
    hi: Option<&Snapshot>,
    lo: Option<&Snapshot>,
) -> Vec<Run> {
    for snapshot in [hi, lo].into_iter().flatten() {
        cut(store, changes, snapshot);
    }
    let store = &*store;
    let mut runs = Runs::default();
    let mut at = store.branches[branch].start;
    while let Some(slot) = at.some() {
        let item = &store.items[slot];
        at = item.right;
        let in_hi = is_visible(store, item, hi);
        let in_lo = lo.is_some() && is_visible(store, item, lo);
        if !in_hi && !in_lo {
            continue;
        }
        match item.kind() {
            Kind::String => {
                // Yjs: without a snapshot `hi` nothing counts as removed.
                let change = if hi.is_some() && !in_hi {
                    Some(Change::Removed)
                } else if lo.is_some() && !in_lo {
                    Some(Change::Added)
                } else {
                    None
                };
                if change.is_some() || runs.change.is_some() {
                    runs.finish_text();
                    runs.change = change.map(|change| (change, item.id));
                }
                runs.text.push_str(store.text(item));
            }
            Kind::Format if in_hi => {
                runs.finish_text();
                if let Some((key, value)) = store.format(item) {
                    set_attribute(&mut runs.attributes, key, value);
                }
            }
            Kind::Embed | Kind::Type => {
                runs.finish_text();
                runs.push(RunContent::Element(slot));
            }
            _ => {}
        }
    }
    runs.finish_text();
    runs.list
}

/// Runs on their way.
#[derive(Default)]
struct Runs {
    list: Vec<Run>,
    text: String,
    attributes: Attributes,
    change: Option<(Change, Id)>,
}

impl Runs {
    fn finish_text(&mut self) {
        if !self.text.is_empty() {
            let text = std::mem::take(&mut self.text);
            self.push(RunContent::Text(text));
        }
    }

    /// Yjs: a change is an attribute of what follows, embedded values included, until the next string.
    fn push(&mut self, content: RunContent) {
        self.list.push(Run { content, attributes: self.attributes.clone(), change: self.change });
    }
}
