//! Editing text: inserts, deletes and formatting, as Yjs's `YText` does them.
//!
//! Formatting stands in the sequence as zero-width marks. A [`TextPosition`] is a gap between two items and the
//! attributes in force there; they come from the position tree in O(log n) (the last mark of each key), and cost nothing
//! in a text that never had a mark.

use std::sync::Arc;

use smallvec::SmallVec;
use yatta_encoding::{Any, Value};

use super::delete::delete;
use super::in_place::{extend_at_marker, extend_text};
use super::insert::{boundary, list_delete, list_position, start_of};
use super::place::{NewContent, place_new};
use super::split::cut_to_width;
use crate::block::index::{BranchIdx, ItemIdx, KeyIdx};
use crate::block::item::{Item, Kind};
use crate::block::text_buffer::utf16_len;
use crate::branch::node::SearchMarker;
use crate::branch::tree::Marks;
use crate::change::ChangeSet;
use crate::store::{Store, TreeRead};

/// Attributes in the order in which they came into force, or in which the caller gave them.
pub(crate) type Attributes = SmallVec<[(KeyIdx, Value); 2]>;

/// A gap in a text and the attributes in force there.
pub(crate) struct TextPosition {
    pub(crate) branch: BranchIdx,
    pub(crate) left: ItemIdx,
    pub(crate) right: ItemIdx,
    pub(crate) attributes: Attributes,
}

/// Inserts text at `index` (at the end if that is beyond it). Without attributes it takes those in force at its left.
pub(crate) fn insert_text(
    store: &mut Store,
    changes: &mut ChangeSet,
    branch: BranchIdx,
    index: u32,
    text: &str,
    attributes: Option<Attributes>,
) {
    if text.is_empty() {
        return;
    }
    if attributes.is_none() && extend_at_marker(store, changes, branch, index, text) {
        return;
    }
    if !store.branches[branch].has_formats
        && attributes.as_ref().is_none_or(|attributes| attributes.is_empty())
    {
        insert_plain(store, changes, branch, index, text);
        return;
    }
    let index = index.min(store.branches[branch].len);
    let (mut position, index) = TextPosition::at(store, changes, branch, index);
    let attributes = attributes.unwrap_or_else(|| position.attributes.clone());
    let slot = position.insert(store, changes, NewContent::String(text, utf16_len(text)), attributes);
    if store.items[slot].is_visible() {
        store.branches[branch].marker = SearchMarker { item: slot, index };
    }
}

/// Inserts into a text that has no marks: right of everything deleted.
fn insert_plain(store: &mut Store, changes: &mut ChangeSet, branch: BranchIdx, index: u32, text: &str) {
    let (left, right, index) = if index >= store.branches[branch].len {
        (store.branches[branch].end, ItemIdx::NONE, store.branches[branch].len)
    } else {
        let Some((slot, offset)) = store.find_marked(branch, index) else {
            unreachable!("I3: {index} is within {}", store.branches[branch].len)
        };
        let right = start_of(store, changes, slot, offset);
        let index = boundary(store, slot, right, index - offset);
        (store.items[right].left, right, index)
    };
    if extend_text(store, changes, left, right, text) {
        let width = store.width(&store.items[left]);
        let added = store.width_of_text(text);
        store.branches[branch].marker = SearchMarker { item: left, index: index + added - width };
        return;
    }
    let content = NewContent::String(text, utf16_len(text));
    let slot = place_new(store, changes, branch, KeyIdx::NONE, left, right, content);
    if store.items[slot].is_visible() {
        store.branches[branch].marker = SearchMarker { item: slot, index };
    }
}

/// Deletes `len` of a text from `index` on, as far as there is that much, and the marks that become needless.
pub(crate) fn delete_text(
    store: &mut Store,
    changes: &mut ChangeSet,
    branch: BranchIdx,
    index: u32,
    len: u32,
) {
    let index = index.min(store.branches[branch].len);
    let len = len.min(store.branches[branch].len - index);
    if len == 0 {
        return;
    }
    if !store.branches[branch].has_formats {
        list_delete(store, changes, branch, index, len);
        return;
    }
    let (mut position, _) = TextPosition::at(store, changes, branch, index);
    position.delete(store, changes, len);
}

/// Formats `len` of a text from `index` on. At the end of the text this does nothing.
pub(crate) fn format_text(
    store: &mut Store,
    changes: &mut ChangeSet,
    branch: BranchIdx,
    index: u32,
    len: u32,
    attributes: &Attributes,
) {
    if len == 0 || index > store.branches[branch].len {
        return;
    }
    let (mut position, _) = TextPosition::at(store, changes, branch, index);
    if position.right.is_some() {
        position.format(store, changes, len, attributes);
    }
}

impl TextPosition {
    /// The start of a text.
    pub(crate) fn start(store: &Store, branch: BranchIdx) -> Self {
        let right = store.branches[branch].start;
        Self { branch, left: ItemIdx::NONE, right, attributes: Attributes::new() }
    }

    /// The gap directly right of the last visible item before `index` (which must not exceed the length), and its index: a
    /// byte within a character is rounded down.
    pub(crate) fn at(
        store: &mut Store,
        changes: &mut ChangeSet,
        branch: BranchIdx,
        index: u32,
    ) -> (Self, u32) {
        let (left, right, index) = list_position(store, changes, branch, index);
        let attributes = attributes_at(store, branch, right);
        (Self { branch, left, right, attributes }, index)
    }

    /// Steps over the item at the right. Yjs: `ItemTextListPosition.forward`.
    fn forward(&mut self, store: &Store) {
        let item = &store.items[self.right];
        if !item.is_deleted()
            && let Some((key, value)) = store.format(item)
        {
            set_attribute(&mut self.attributes, key, value);
        }
        self.left = self.right;
        self.right = item.right;
    }

    /// Steps over deleted items and over marks that say what `attributes` says already.
    fn minimize(&mut self, store: &Store, attributes: &Attributes) {
        while let Some(right) = self.right.some() {
            let item = &store.items[right];
            let needless = item.is_deleted()
                || store
                    .format(item)
                    .is_some_and(|(key, value)| equal_values(lookup(attributes, key), Some(value)));
            if !needless {
                break;
            }
            self.forward(store);
        }
    }

    /// Writes a mark here and steps over it.
    fn put_mark(&mut self, store: &mut Store, changes: &mut ChangeSet, key: KeyIdx, value: Value) {
        let content = NewContent::Format(key, value);
        self.right = place_new(store, changes, self.branch, KeyIdx::NONE, self.left, self.right, content);
        store.clear_marker(self.branch);
        self.forward(store);
    }

    /// Writes the marks that bring `attributes` into force. Returns what was in force before, to end them with.
    fn open(&mut self, store: &mut Store, changes: &mut ChangeSet, attributes: &Attributes) -> Attributes {
        let mut before = Attributes::new();
        for (key, value) in attributes {
            let current = lookup(&self.attributes, *key).cloned();
            if !equal_values(current.as_ref(), Some(value)) {
                before.push((*key, current.unwrap_or(NULL)));
                self.put_mark(store, changes, *key, value.clone());
            }
        }
        before
    }

    /// Writes the marks that end what [`Self::open`] began, unless they stand there already.
    pub(crate) fn close(&mut self, store: &mut Store, changes: &mut ChangeSet, mut before: Attributes) {
        while let Some(right) = self.right.some() {
            let item = &store.items[right];
            if !item.is_deleted() {
                let Some((key, value)) = store.format(item) else { break };
                let Some(place) = before.iter().position(|entry| entry.0 == key) else { break };
                if !equal_values(Some(&before[place].1), Some(value)) {
                    break;
                }
                before.remove(place);
            }
            self.forward(store);
        }
        for (key, value) in before {
            self.put_mark(store, changes, key, value);
        }
    }

    /// Inserts content with exactly these attributes and steps over it.
    pub(crate) fn insert(
        &mut self,
        store: &mut Store,
        changes: &mut ChangeSet,
        content: NewContent<'_>,
        attributes: Attributes,
    ) -> ItemIdx {
        let (slot, before) = self.insert_open(store, changes, content, attributes);
        self.close(store, changes, before);
        slot
    }

    /// As [`Self::insert`], without the marks that end the attributes: they follow by [`Self::close`] with what this
    /// returns, after all that the content holds was inserted (Yjs writes them in this order).
    pub(crate) fn insert_open(
        &mut self,
        store: &mut Store,
        changes: &mut ChangeSet,
        content: NewContent<'_>,
        mut attributes: Attributes,
    ) -> (ItemIdx, Attributes) {
        for (key, _) in &self.attributes {
            if lookup(&attributes, *key).is_none() {
                attributes.push((*key, NULL));
            }
        }
        self.minimize(store, &attributes);
        let before = self.open(store, changes, &attributes);
        let slot = place_new(store, changes, self.branch, KeyIdx::NONE, self.left, self.right, content);
        store.clear_marker(self.branch);
        self.right = slot;
        self.forward(store);
        (slot, before)
    }

    /// Formats the next `len`; where the text ends before, line breaks are added, as Quill expects.
    pub(crate) fn format(
        &mut self,
        store: &mut Store,
        changes: &mut ChangeSet,
        len: u32,
        attributes: &Attributes,
    ) {
        let mut left_over = len;
        self.minimize(store, attributes);
        let mut before = self.open(store, changes, attributes);
        while let Some(right) = self.right.some() {
            let item = store.items[right];
            let is_mark = item.kind() == Kind::Format;
            if left_over == 0 && (before.is_empty() || !(item.is_deleted() || is_mark)) {
                break;
            }
            if !item.is_deleted() {
                if is_mark {
                    if !self.replace_mark(store, changes, right, left_over, attributes, &mut before) {
                        break;
                    }
                } else {
                    let Some(width) = cut_to_width(store, changes, right, left_over) else { break };
                    left_over -= width;
                }
            }
            self.forward(store);
        }
        // Only at the end: it is also left over if it ends within a character.
        if left_over > 0 && self.right.is_none() {
            let padding = left_over.min(PADDING_MAX);
            let breaks = "\n".repeat(padding as usize);
            let content = NewContent::String(&breaks, padding);
            self.right = place_new(store, changes, self.branch, KeyIdx::NONE, self.left, self.right, content);
            store.clear_marker(self.branch);
            self.forward(store);
        }
        self.close(store, changes, before);
    }

    /// A mark within a formatted range: it goes if its key is being set. False where formatting need go no further.
    fn replace_mark(
        &mut self,
        store: &mut Store,
        changes: &mut ChangeSet,
        mark: ItemIdx,
        left_over: u32,
        attributes: &Attributes,
        before: &mut Attributes,
    ) -> bool {
        let Some((key, value)) = store.format(&store.items[mark]) else { return true };
        let value = value.clone();
        let Some(wanted) = lookup(attributes, key) else {
            return true;
        };
        if equal_values(Some(wanted), Some(&value)) {
            before.retain(|entry| entry.0 != key);
        } else {
            if left_over == 0 {
                return false;
            }
            put(before, key, value);
        }
        delete(store, changes, mark);
        true
    }

    /// Deletes the next `len` and the marks that become needless.
    pub(crate) fn delete(&mut self, store: &mut Store, changes: &mut ChangeSet, len: u32) {
        let mut left_over = len;
        let start_attributes = self.attributes.clone();
        let start = self.right;
        while left_over > 0
            && let Some(right) = self.right.some()
        {
            let item = store.items[right];
            if item.is_visible() {
                let Some(width) = cut_to_width(store, changes, right, left_over) else { break };
                left_over -= width;
                delete(store, changes, right);
            }
            self.forward(store);
        }
        if start.is_some() && store.branches[self.branch].has_formats {
            let curr = self.right;
            clean_gap(store, changes, start, curr, &start_attributes, &mut self.attributes);
        }
    }
}

/// Deletes marks between `start` and the next visible item that are overwritten or say nothing new. Returns how many.
/// Yjs: `cleanupFormattingGap`.
pub(crate) fn clean_gap(
    store: &mut Store,
    changes: &mut ChangeSet,
    start: ItemIdx,
    curr: ItemIdx,
    start_attributes: &Attributes,
    attributes: &mut Attributes,
) -> u32 {
    let mut end = start;
    let mut last_marks: SmallVec<[(KeyIdx, ItemIdx); 4]> = SmallVec::new();
    while let Some(slot) = end.some() {
        let item = &store.items[slot];
        if item.is_visible() {
            break;
        }
        if !item.is_deleted()
            && let Some((key, _)) = store.format(item)
        {
            match last_marks.iter_mut().find(|entry| entry.0 == key) {
                Some(entry) => entry.1 = slot,
                None => last_marks.push((key, slot)),
            }
        }
        end = item.right;
    }
    let mut cleaned = 0;
    let mut reached_curr = false;
    let mut at = start;
    while at != end
        && let Some(slot) = at.some()
    {
        reached_curr |= slot == curr;
        let item = store.items[slot];
        if !item.is_deleted()
            && let Some((key, value)) = store.format(&item)
        {
            let value = value.clone();
            let at_start = lookup(start_attributes, key).cloned();
            let overwritten = !last_marks.contains(&(key, slot));
            if overwritten || same(at_start.as_ref(), &value) {
                changes.clean(store.items[slot].id);
                delete(store, changes, slot);
                cleaned += 1;
                if !reached_curr && same(lookup(attributes, key), &value) && !same(at_start.as_ref(), &value)
                {
                    match at_start {
                        Some(before) => put(attributes, key, before),
                        None => attributes.retain(|entry| entry.0 != key),
                    }
                }
            } else if !reached_curr {
                set_attribute(attributes, key, &value);
            }
        }
        at = store.items[slot].right;
    }
    cleaned
}

/// The attributes in force before `right` (`NONE`: at the end), in the order in which they came into force.
pub(crate) fn attributes_at(store: &Store, branch: BranchIdx, right: ItemIdx) -> Attributes {
    let node = &store.branches[branch];
    let mut attributes = Attributes::new();
    if !node.has_formats {
        return attributes;
    }
    let Some(tree) = &node.tree else {
        let mut at = node.start;
        while at != right
            && let Some(slot) = at.some()
        {
            let item = &store.items[slot];
            if !item.is_deleted()
                && let Some((key, value)) = store.format(item)
            {
                set_attribute(&mut attributes, key, value);
            }
            at = item.right;
        }
        return attributes;
    };
    let view = TreeRead(store);
    let mut marks = Marks::new();
    match right.some() {
        Some(right) => tree.marks_before(&view, right, &mut marks),
        None => tree.last_marks(&mut marks),
    }
    let live = |slot: ItemIdx| store.format(&store.items[slot]).filter(|(_, value)| !is_null(value));
    let mut active: SmallVec<[(KeyIdx, ItemIdx, ItemIdx); 4]> = SmallVec::new();
    for (key, last) in marks {
        if live(last).is_some() {
            active.push((key, last, last));
        }
    }
    if active.len() > 1 {
        // The order of the keys is that of the marks that brought them into force: the first after the last null.
        for (key, _, first) in &mut active {
            loop {
                let mut earlier = Marks::new();
                tree.marks_before(&view, *first, &mut earlier);
                match earlier.iter().find(|entry| entry.0 == *key) {
                    Some((_, mark)) if live(*mark).is_some() => *first = *mark,
                    _ => break,
                }
            }
        }
        active.sort_by(|a, b| tree.compare(&view, a.2, b.2));
    }
    for (_, last, _) in active {
        if let Some((key, value)) = live(last) {
            attributes.push((key, value.clone()));
        }
    }
    attributes
}

/// How many line breaks are appended at most where a format reaches beyond the end of a text. An editor asks for one; a
/// peer's delta can ask for 2^32, on which Yjs fails for want of memory.
const PADDING_MAX: u32 = 1 << 16;

const NULL: Value = Value::Plain(Any::Null);

/// The value of a key, if it is there.
pub(crate) fn lookup(attributes: &Attributes, key: KeyIdx) -> Option<&Value> {
    attributes.iter().find(|entry| entry.0 == key).map(|entry| &entry.1)
}

/// Sets a key, which keeps its place if it is there already.
fn put(attributes: &mut Attributes, key: KeyIdx, value: Value) {
    match attributes.iter_mut().find(|entry| entry.0 == key) {
        Some(entry) => entry.1 = value,
        None => attributes.push((key, value)),
    }
}

/// What a mark does to the attributes in force: null ends one.
pub(crate) fn set_attribute(attributes: &mut Attributes, key: KeyIdx, value: &Value) {
    if is_null(value) {
        attributes.retain(|entry| entry.0 != key);
    } else {
        put(attributes, key, value.clone());
    }
}

pub(crate) fn is_null(value: &Value) -> bool {
    matches!(value.any(), Any::Null)
}

fn null_of(value: Option<&Value>) -> &Any {
    match value.map(Value::any) {
        None | Some(Any::Undefined) => &Any::Null,
        Some(any) => any,
    }
}

/// Whether two attribute values are the same to JavaScript; an absent one is null.
pub(crate) fn equal_values(a: Option<&Value>, b: Option<&Value>) -> bool {
    equal_any(null_of(a), null_of(b))
}

/// As `===`: two objects are the same only if one is a copy of the other's reference. Marks share it where one was written
/// to bring back what another had set.
fn same(a: Option<&Value>, b: &Value) -> bool {
    match (null_of(a), null_of(Some(b))) {
        (Any::Map(a), Any::Map(b)) => a.ptr_eq(b),
        (Any::Array(a), Any::Array(b)) => Arc::ptr_eq(a, b),
        (Any::Buffer(a), Any::Buffer(b)) => Arc::ptr_eq(a, b),
        (a, b) => equal_any(a, b),
    }
}

fn equal_any(a: &Any, b: &Any) -> bool {
    match (a, b) {
        (Any::Number(a), Any::Number(b)) => a.as_f64() == b.as_f64() && (a == b || a.as_f64().is_some()),
        _ => a == b,
    }
}

impl Store {
    /// The length of some text in the document's offset kind.
    pub(crate) fn width_of_text(&self, text: &str) -> u32 {
        match self.offset_kind {
            crate::store::OffsetKind::Bytes => text.len() as u32,
            crate::store::OffsetKind::Utf16 => utf16_len(text),
        }
    }

    /// Whether an item is a live format mark.
    pub(crate) fn is_live_mark(item: &Item) -> bool {
        item.kind() == Kind::Format && !item.is_deleted()
    }
}
