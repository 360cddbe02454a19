//! Changes of texts, with formatting.
//!
//! The delta is that of Yjs's `YTextEvent`, which walks over the whole text and tracks, for each key, three values: the
//! one in force now, the one in force before the transaction, and the one that a retain must set. Where nothing changed
//! and no retain must set anything, a stretch of text is jumped over: the position tree knows its length and the last
//! mark of each key in it. Where retains do set something, the jump ends at the next mark of one of their keys.
//!
//! Differs from Yjs: reading the delta there deletes needless marks, in a transaction of its own. Here it changes nothing.

use std::sync::Arc;

use yatta_encoding::{Any, Value};

use super::changes::{Fate, Piece, Visit, Way, index_at, piece_text, piece_width, pieces, walk};
use super::{Observable, Source};
use crate::block::index::{BranchIdx, ItemIdx, KeyIdx};
use crate::block::item::{Item, Kind};
use crate::branch::tree::{Marks, Tree};
use crate::engine::format::{Attributes, attributes_at, equal_values, is_null, lookup, set_attribute};
use crate::store::{Store, TreeRead};
use crate::transaction::TransactionMut;
use crate::types::{Attrs, DeepObservable, Delta, Out, Path, TextRef};

/// How many items are looked at for the next mark before the tree is asked.
#[cfg(not(test))]
const MARK_STEPS: u32 = 16;

// So that short texts reach the search.
#[cfg(test)]
const MARK_STEPS: u32 = 1;

/// The change of a text.
pub struct TextEvent {
    source: Source,
    target: TextRef,
}

impl TextEvent {
    pub(super) fn new(source: Source) -> Self {
        Self { target: TextRef::from(source.target.clone()), source }
    }

    /// Returns the text that changed.
    pub fn target(&self) -> &TextRef {
        &self.target
    }

    /// Returns the way from the observed type down to this text.
    pub fn path(&self) -> Path {
        self.source.path.clone()
    }

    /// Returns what was inserted, deleted, formatted and kept, from the start of the text on; lengths are in the
    /// document's offset kind. What is kept unchanged behind the last change is left out. Cost O(changes · log n), once.
    pub fn delta(&self, txn: &TransactionMut<'_>) -> &[Delta] {
        self.source.text(txn)
    }
}

impl Observable for TextRef {
    type Event = TextEvent;
}

impl DeepObservable for TextRef {}

impl Source {
    /// What changed of the text.
    pub(super) fn text(&self, txn: &TransactionMut<'_>) -> &[Delta] {
        self.shared.text.get_or_init(|| match self.target.resolve(txn.store_ref()) {
            Some(branch) => text_delta(txn, branch, Way::Best),
            None => Vec::new(),
        })
    }
}

pub(super) fn text_delta(txn: &TransactionMut<'_>, branch: BranchIdx, way: Way) -> Vec<Delta> {
    let mut walker = TextWalk {
        txn,
        store: txn.store_ref(),
        branch,
        current: Attributes::new(),
        before: Attributes::new(),
        setting: Attributes::new(),
        action: Action::None,
        delta: Vec::new(),
    };
    walk(txn, branch, way, &mut walker);
    walker.flush();
    let mut delta = walker.delta;
    while let Some(Delta::Retain(_, None)) = delta.last() {
        delta.pop();
    }
    delta
}

/// The step that is being put together.
enum Action {
    None,
    Insert(String),
    Delete(u32),
    Retain(u32),
}

struct TextWalk<'t, 'doc> {
    txn: &'t TransactionMut<'doc>,
    store: &'t Store,
    branch: BranchIdx,
    /// In force here now (Yjs: `currentAttributes`).
    current: Attributes,
    /// In force here before the transaction; null where a mark said so (Yjs: `oldAttributes`).
    before: Attributes,
    /// What a retain sets here; null ends a format (Yjs: `attributes`).
    ///
    /// A key that is in here has the value that it has in `current`.
    setting: Attributes,
    action: Action,
    delta: Vec<Delta>,
}

impl Visit for TextWalk<'_, '_> {
    fn item(&mut self, slot: ItemIdx) {
        let item = &self.store.items[slot];
        match self.store.format(item) {
            Some((key, value)) => pieces(self.txn, item, |piece| self.format(key, value, piece.fate)),
            None => pieces(self.txn, item, |piece| self.content(item, piece)),
        }
    }

    fn gap(&mut self, from: ItemIdx, to: ItemIdx) {
        let mut at = from;
        while at != to {
            if to.is_none() && self.setting.is_empty() {
                // Nothing but what would be left out at the end.
                return;
            }
            let stop = if self.setting.is_empty() { to } else { self.next_mark(at, to) };
            self.jump(at, stop);
            if stop == to {
                return;
            }
            if let Some((key, value)) = self.store.format(&self.store.items[stop]) {
                self.format(key, value, Fate::Kept);
            }
            at = self.store.items[stop].right;
        }
    }
}

impl TextWalk<'_, '_> {
    /// Text, or an embedded value.
    fn content(&mut self, item: &Item, piece: Piece) {
        let width = piece_width(self.store, item, piece);
        match piece.fate {
            Fate::Added if item.kind() == Kind::String => self.insert(piece_text(self.store, item, piece)),
            Fate::Added => {
                for offset in piece.from..piece.to {
                    self.embed(Out::element(self.store, item, offset).unwrap_or_default());
                }
            }
            Fate::Removed => self.delete(width),
            Fate::Kept => self.retain(width),
        }
    }

    fn format(&mut self, key: KeyIdx, value: &Value, fate: Fate) {
        match fate {
            Fate::Added => {
                if !equal_values(lookup(&self.current, key), Some(value)) {
                    self.flush_retain();
                    if equal_values(Some(value), lookup(&self.before, key)) {
                        self.setting.retain(|entry| entry.0 != key);
                    } else {
                        put(&mut self.setting, key, value.clone());
                    }
                } else if !is_null(value) {
                    // Yjs deletes this needless mark, so that it does not end an insert.
                    return;
                }
            }
            Fate::Removed => {
                put(&mut self.before, key, value.clone());
                let current = lookup(&self.current, key).cloned();
                if !equal_values(current.as_ref(), Some(value)) {
                    self.flush_retain();
                    put(&mut self.setting, key, current.unwrap_or(Value::Plain(Any::Null)));
                }
                return;
            }
            Fate::Kept => {
                put(&mut self.before, key, value.clone());
                if let Some(set) = lookup(&self.setting, key) {
                    if !equal_values(Some(set), Some(value)) {
                        self.flush_retain();
                        if is_null(value) {
                            self.setting.retain(|entry| entry.0 != key);
                        } else {
                            put(&mut self.setting, key, value.clone());
                        }
                    } else if !is_null(value) {
                        return;
                    }
                }
            }
        }
        if matches!(self.action, Action::Insert(_)) {
            self.flush();
        }
        set_attribute(&mut self.current, key, value);
    }

    /// Steps over items that did not change and set nothing.
    fn jump(&mut self, from: ItemIdx, to: ItemIdx) {
        if from == to {
            return;
        }
        let width = index_at(self.store, self.branch, to) - index_at(self.store, self.branch, from);
        let mut marks = self.marks_before(to);
        marks.retain(|mark| !self.store.is_left_of(mark.1, from));
        if (width > 0 || !marks.is_empty()) && matches!(self.action, Action::Insert(_)) {
            self.flush();
        }
        for (key, mark) in &marks {
            if let Some((_, value)) = self.store.format(&self.store.items[*mark]) {
                put(&mut self.before, *key, value.clone());
            }
        }
        if !marks.is_empty() {
            self.current = attributes_at(self.store, self.branch, to);
        }
        self.retain(width);
    }

    fn tree(&self) -> Option<&Tree> {
        self.store.branches[self.branch].tree.as_deref()
    }

    /// The last live mark of each key before an item, or before the end.
    fn marks_before(&self, to: ItemIdx) -> Marks {
        let mut marks = Marks::new();
        if let Some(tree) = self.tree() {
            match to.some() {
                Some(to) => tree.marks_before(&TreeRead(self.store), to, &mut marks),
                None => tree.last_marks(&mut marks),
            }
        }
        marks
    }

    /// The first live mark in `from..to` of a key that retains set; `to` if there is none. Cost O(log² n).
    fn next_mark(&self, from: ItemIdx, to: ItemIdx) -> ItemIdx {
        let mut at = from;
        for _ in 0..MARK_STEPS {
            if at == to {
                return to;
            }
            let item = &self.store.items[at];
            let sets = |key: KeyIdx| lookup(&self.setting, key).is_some();
            if Store::is_live_mark(item) && self.store.format(item).is_some_and(|mark| sets(mark.0)) {
                return at;
            }
            at = item.right;
        }
        if at == to {
            return to;
        }
        let Some(mut found) = self.mark_between(at, to) else { return to };
        let Some(tree) = self.tree() else { return to };
        // The first visible item that has such a mark at its left.
        let mut low = index_at(self.store, self.branch, at);
        let mut high = index_at(self.store, self.branch, found);
        while low < high {
            let middle = low + (high - low) / 2;
            let Some((slot, offset)) = tree.find(middle) else { break };
            match self.mark_between(at, slot) {
                Some(mark) => {
                    found = mark;
                    high = middle - offset;
                }
                None => low = middle - offset + self.store.visible_width(&self.store.items[slot]),
            }
        }
        // Several marks may stand side by side.
        while let Some(mark) = self.mark_between(at, found) {
            found = mark;
        }
        found
    }

    /// A live mark in `from..to` of a key that retains set: the last one of its key.
    fn mark_between(&self, from: ItemIdx, to: ItemIdx) -> Option<ItemIdx> {
        let marks = self.marks_before(to);
        let mut marks = marks.iter().filter(|mark| lookup(&self.setting, mark.0).is_some());
        marks.find(|mark| !self.store.is_left_of(mark.1, from)).map(|mark| mark.1)
    }

    fn insert(&mut self, text: &str) {
        if let Action::Insert(all) = &mut self.action {
            all.push_str(text);
        } else {
            self.flush();
            self.action = Action::Insert(text.to_owned());
        }
    }

    fn embed(&mut self, value: Out) {
        self.flush();
        let attributes = self.attributes(&self.current);
        self.delta.push(Delta::Inserted(value, attributes));
    }

    fn delete(&mut self, len: u32) {
        if let Action::Delete(all) = &mut self.action {
            *all += len;
        } else {
            self.flush();
            self.action = Action::Delete(len);
        }
    }

    fn retain(&mut self, len: u32) {
        if len == 0 {
            return;
        }
        if let Action::Retain(all) = &mut self.action {
            *all += len;
        } else {
            self.flush();
            self.action = Action::Retain(len);
        }
    }

    /// Ends a retain: what it sets is about to change.
    fn flush_retain(&mut self) {
        if matches!(self.action, Action::Retain(_)) {
            self.flush();
        }
    }

    /// Ends the step that is being put together.
    fn flush(&mut self) {
        let step = match std::mem::replace(&mut self.action, Action::None) {
            Action::None => return,
            Action::Insert(text) => {
                Delta::Inserted(Out::Any(Any::from(text)), self.attributes(&self.current))
            }
            Action::Delete(len) => Delta::Deleted(len),
            Action::Retain(len) => Delta::Retain(len, self.attributes(&self.setting)),
        };
        self.delta.push(step);
    }

    /// Attributes as users see them; none if there are none.
    fn attributes(&self, attributes: &Attributes) -> Option<Box<Attrs>> {
        if attributes.is_empty() {
            return None;
        }
        let pairs = attributes.iter();
        let pairs = pairs.map(|(key, value)| (Arc::clone(self.store.key(*key)), value.any().clone()));
        Some(Box::new(pairs.collect()))
    }
}

/// Sets a key, which keeps its place if it is there already.
fn put(attributes: &mut Attributes, key: KeyIdx, value: Value) {
    match attributes.iter_mut().find(|entry| entry.0 == key) {
        Some(entry) => entry.1 = value,
        None => attributes.push((key, value)),
    }
}
