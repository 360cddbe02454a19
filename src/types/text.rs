//! Texts, with formatting and embedded values.

use std::ops::{Deref, DerefMut};

use indexmap::IndexMap;
use yatta_encoding::{Any, ID, Value};

use super::content::ItemContent;
pub use super::events::TextEvent;
use super::prelim::{fill_prelim, place_prelim};
use super::xml::XmlView;
use super::{
    AsPrelim, Attrs, DefaultPrelim, Delta, EmbedPrelim, GetString, In, Out, Prelim, ReadTxn, RootRef,
    TypeRef, shared_ref,
};
use crate::block::index::BranchIdx;
use crate::block::item::Kind;
use crate::block::text_buffer::utf16_len;
use crate::branch::node::BranchNode;
use crate::engine::format::{Attributes, TextPosition, delete_text, format_text, insert_text, set_attribute};
use crate::engine::place::NewContent;
use crate::engine::runs::{Change, RunContent, runs_between};
use crate::error::EditError;
use crate::ids::Snapshot;
use crate::store::Store;
use crate::transaction::{Branch, BranchPtr, TransactionMut};

/// A text.
///
/// Indices and lengths count in the offset kind of the document: UTF-8 bytes by default, or UTF-16 units. An embedded
/// value counts 1. An edit costs O(1) beside the last one, else O(log n).
#[derive(Clone, Debug)]
pub struct TextRef(BranchPtr, XmlView);

shared_ref!(TextRef, YText, |branch| Self(branch, XmlView::default()));

impl TextRef {
    /// What holds the XML text that this text lends.
    pub(crate) fn xml_view(&self) -> &XmlView {
        &self.1
    }
}

impl RootRef for TextRef {
    fn type_ref() -> TypeRef {
        TypeRef::Text
    }
}

impl Text for TextRef {}

impl GetString for TextRef {
    fn get_string<T: ReadTxn>(&self, txn: &T) -> String {
        text_of(txn.store(), self.as_ref())
    }
}

/// The visible text of a sequence, without embedded values.
pub(crate) fn text_of(store: &Store, branch: &Branch) -> String {
    branch.node(store).map_or_else(String::new, |node| text_of_node(store, node))
}

/// As [`text_of`], by the node.
pub(crate) fn text_of_node(store: &Store, node: &BranchNode) -> String {
    let mut text = String::with_capacity(node.len as usize);
    let mut at = node.start;
    while let Some(slot) = at.some() {
        let item = &store.items[slot];
        if item.kind() == Kind::String && !item.is_deleted() {
            text.push_str(store.text(item));
        }
        at = item.right;
    }
    text
}

/// What can be done with a text.
pub trait Text: AsRef<Branch> + Sized {
    /// Returns the length in the document's offset kind. Cost O(1).
    fn len<T: ReadTxn>(&self, txn: &T) -> u32 {
        self.as_ref().node(txn.store()).map_or(0, |node| node.len)
    }

    /// Inserts text before `index`, which counts in the document's offset kind (UTF-8 bytes by default), with the
    /// attributes in force at its left. Beyond the end it appends. A byte within a
    /// character counts as its start; a UTF-16 index within a surrogate pair splits it, as in Yjs, and both halves read as
    /// U+FFFD. Nothing happens if the text was collected. Cost O(1) beside the last edit, else O(log n).
    fn insert(&self, txn: &mut TransactionMut<'_>, index: u32, chunk: &str) {
        let Some(branch) = self.as_ref().resolve_mut(txn.store_ref()) else { return };
        let (store, changes) = txn.parts();
        insert_text(store, changes, branch, index, chunk, None);
    }

    /// As [`Self::insert`], but refuses an `index` beyond the length (both in the document's offset kind).
    ///
    /// # Errors
    /// When `index` is beyond the length, or the text was collected.
    fn try_insert(&self, txn: &mut TransactionMut<'_>, index: u32, chunk: &str) -> Result<(), EditError> {
        check(self.as_ref(), txn, index, 0)?;
        self.insert(txn, index, chunk);
        Ok(())
    }

    /// Applies the steps of a delta from the start of the text; lengths count in the document's offset kind. Steps beyond
    /// the end do what the calls for one step do there, but that a format appends line breaks, as Yjs does for Quill. Cost
    /// O(length up to the last step).
    fn apply_delta<D, P>(&self, txn: &mut TransactionMut<'_>, delta: D)
    where
        D: IntoIterator<Item = Delta<P>>,
        P: Prelim,
    {
        let Some(branch) = self.as_ref().resolve_mut(txn.store_ref()) else { return };
        let mut position = TextPosition::start(txn.store_ref(), branch);
        for step in delta {
            delta_step(txn, &mut position, step, false);
        }
    }

    /// As [`Self::apply_delta`], but a line break with which the last step would end the text is left out: editors like
    /// Quill have one there that is no part of the text. Yjs: `applyDelta` with `sanitize: false`.
    fn apply_delta_without_final_newline<D, P>(&self, txn: &mut TransactionMut<'_>, delta: D)
    where
        D: IntoIterator<Item = Delta<P>>,
        P: Prelim,
    {
        let Some(branch) = self.as_ref().resolve_mut(txn.store_ref()) else { return };
        let mut position = TextPosition::start(txn.store_ref(), branch);
        let mut delta = delta.into_iter().peekable();
        while let Some(step) = delta.next() {
            let ends = delta.peek().is_none() && position.right.is_none();
            delta_step(txn, &mut position, step, ends);
        }
    }

    /// Inserts text with exactly these attributes before `index`, in the document's offset kind (at the end if that is
    /// beyond it). Cost O(log n + marks).
    fn insert_with_attributes(
        &self,
        txn: &mut TransactionMut<'_>,
        index: u32,
        chunk: &str,
        attributes: Attrs,
    ) {
        let Some(branch) = self.as_ref().resolve_mut(txn.store_ref()) else { return };
        let attributes = attributes_in(txn, Some(&attributes));
        let (store, changes) = txn.parts();
        insert_text(store, changes, branch, index, chunk, Some(attributes));
    }

    /// Inserts an embedded value before `index`, in the document's offset kind (at the end if that is beyond it), without
    /// attributes. The value counts 1.
    ///
    /// # Panics
    /// When the text was deleted and collected: there is nothing to return then.
    fn insert_embed<V>(&self, txn: &mut TransactionMut<'_>, index: u32, content: V) -> V::Return
    where
        V: Into<EmbedPrelim<V>> + Prelim,
    {
        self.insert_embed_with_attributes(txn, index, content, Attrs::default())
    }

    /// Inserts an embedded value with exactly these attributes before `index`, in the document's offset kind (at the end if
    /// that is beyond it). The value counts 1.
    ///
    /// # Panics
    /// When the text was deleted and collected: there is nothing to return then.
    fn insert_embed_with_attributes<V>(
        &self,
        txn: &mut TransactionMut<'_>,
        index: u32,
        embed: V,
        attributes: Attrs,
    ) -> V::Return
    where
        V: Into<EmbedPrelim<V>> + Prelim,
    {
        let branch = self.as_ref().resolve_mut(txn.store_ref());
        let branch = branch.unwrap_or_else(|| panic!("text insert_embed: {}", EditError::Collected));
        let attributes = attributes_in(txn, Some(&attributes));
        let (store, changes) = txn.parts();
        let index = index.min(store.branches[branch].len);
        let (mut position, _) = TextPosition::at(store, changes, branch, index);
        insert_value(txn, &mut position, embed.into(), attributes)
    }

    /// Appends text with the attributes in force at its left.
    fn push(&self, txn: &mut TransactionMut<'_>, chunk: &str) {
        let len = self.len(txn);
        self.insert(txn, len, chunk);
    }

    /// Removes `len` from `index` on, both in the document's offset kind, as far as there is that much. Cost O(log n + what
    /// is removed).
    fn remove_range(&self, txn: &mut TransactionMut<'_>, index: u32, len: u32) {
        let Some(branch) = self.as_ref().resolve_mut(txn.store_ref()) else { return };
        let (store, changes) = txn.parts();
        delete_text(store, changes, branch, index, len);
    }

    /// As [`Self::remove_range`], but refuses a range that reaches beyond the length (in the document's offset kind).
    ///
    /// # Errors
    /// When the range is not within the text, or the text was collected; nothing is removed then.
    fn try_remove_range(&self, txn: &mut TransactionMut<'_>, index: u32, len: u32) -> Result<(), EditError> {
        check(self.as_ref(), txn, index, len)?;
        self.remove_range(txn, index, len);
        Ok(())
    }

    /// Formats `len` from `index` on, both in the document's offset kind. A null attribute ends a format. What is beyond the
    /// end of the text is left out, as in yrs; see [`Self::format_padded`]. Cost O(log n + items within).
    fn format(&self, txn: &mut TransactionMut<'_>, index: u32, len: u32, attributes: Attrs) {
        let len = len.min(self.len(txn).saturating_sub(index));
        self.format_padded(txn, index, len, attributes);
    }

    /// As [`Self::format`] (in the document's offset kind), but where the range reaches beyond the end of the text, line
    /// breaks are appended to fill it, 65,536 at most, as `YText.format` of Yjs does for Quill. At the end of the text nothing happens.
    /// Cost O(log n + items within + line breaks).
    fn format_padded(&self, txn: &mut TransactionMut<'_>, index: u32, len: u32, attributes: Attrs) {
        let Some(branch) = self.as_ref().resolve_mut(txn.store_ref()) else { return };
        let attributes = attributes_in(txn, Some(&attributes));
        let (store, changes) = txn.parts();
        format_text(store, changes, branch, index, len, &attributes);
    }

    /// As [`Self::format`], but refuses a range that reaches beyond the length (in the document's offset kind).
    ///
    /// # Errors
    /// When the range is not within the text, or the text was collected; nothing is formatted then.
    fn try_format(
        &self,
        txn: &mut TransactionMut<'_>,
        index: u32,
        len: u32,
        attributes: Attrs,
    ) -> Result<(), EditError> {
        check(self.as_ref(), txn, index, len)?;
        self.format(txn, index, len, attributes);
        Ok(())
    }

    /// Returns the text as runs of equal attributes, embedded values apart. Cost O(length).
    fn diff<T, D, F>(&self, txn: &T, _compute_ychange: F) -> Vec<Diff<D>>
    where
        T: ReadTxn,
        F: Fn(YChange) -> D,
    {
        let store = txn.store();
        self.as_ref().resolve(store).map_or_else(Vec::new, |branch| runs(store, branch))
    }

    /// Returns the runs of the text as it was at the snapshot `hi` (`None`: as it is now). With an earlier snapshot `lo`,
    /// also what was there then and is not at `hi`; runs that differ carry what `compute_ychange` makes of that.
    ///
    /// Needs a document that keeps deleted content (`Options::skip_gc`). Items are cut where a snapshot ends within them,
    /// until the commit. Cost O(length, deleted text included).
    fn diff_range<D, F>(
        &self,
        txn: &mut TransactionMut<'_>,
        hi: Option<&Snapshot>,
        lo: Option<&Snapshot>,
        compute_ychange: F,
    ) -> Vec<Diff<D>>
    where
        F: Fn(YChange) -> D,
    {
        let Some(branch) = self.as_ref().resolve(txn.store_ref()) else { return Vec::new() };
        let (store, changes) = txn.parts();
        let runs = runs_between(store, changes, branch, hi, lo);
        let store = &*store;
        let in_words = |(change, id)| {
            let kind = match change {
                Change::Added => ChangeKind::Added,
                Change::Removed => ChangeKind::Removed,
            };
            compute_ychange(YChange::new(kind, store.public_id(id)))
        };
        let diff = runs.into_iter().filter_map(|run| {
            let insert = match run.content {
                RunContent::Text(text) => Out::Any(Any::from(text)),
                RunContent::Element(slot) => Out::element(store, &store.items[slot], 0)?,
            };
            Some(Diff::with_change(insert, attributes_out(store, &run.attributes), run.change.map(in_words)))
        });
        diff.collect()
    }
}

fn check(branch: &Branch, txn: &TransactionMut<'_>, index: u32, len: u32) -> Result<(), EditError> {
    let store = txn.store_ref();
    let branch = branch.try_resolve_mut(store)?;
    super::array::check_range(store.branches[branch].len, index, len)
}

/// Attributes with their keys interned.
fn attributes_in(txn: &mut TransactionMut<'_>, attributes: Option<&Attrs>) -> Attributes {
    let (store, _) = txn.parts();
    let Some(attributes) = attributes else { return Attributes::new() };
    attributes.iter().map(|(key, value)| (store.key_idx(key), Value::from(value.clone()))).collect()
}

/// Plain data embedded in a text is one element, not a list of values.
fn embedded(content: NewContent<'_>) -> NewContent<'_> {
    match content {
        NewContent::Any(mut values) if values.len() == 1 => match values.pop() {
            Some(value) => NewContent::Embed(value),
            None => NewContent::Any(values),
        },
        NewContent::Binary(bytes) => NewContent::Embed(Value::from(Any::Buffer(bytes))),
        other => other,
    }
}

/// One step of a delta; `trim` leaves out a line break at the end of what it inserts.
fn delta_step<P: Prelim>(
    txn: &mut TransactionMut<'_>,
    position: &mut TextPosition,
    step: Delta<P>,
    trim: bool,
) {
    match step {
        Delta::Inserted(value, attributes) => {
            let attributes = attributes_in(txn, attributes.as_deref());
            insert_step(txn, position, value, attributes, trim);
        }
        Delta::Deleted(len) => {
            let (store, changes) = txn.parts();
            position.delete(store, changes, len);
        }
        Delta::Retain(len, attributes) => {
            let attributes = attributes_in(txn, attributes.as_deref());
            let (store, changes) = txn.parts();
            position.format(store, changes, len, &attributes);
        }
    }
}

/// An insert of a delta: a string is text, other plain data is embedded.
fn insert_step<P: Prelim>(
    txn: &mut TransactionMut<'_>,
    position: &mut TextPosition,
    value: P,
    attributes: Attributes,
    trim: bool,
) {
    match value.into_plain() {
        Ok(Value::Plain(Any::String(text))) => {
            let text = if trim { text.strip_suffix('\n').unwrap_or(&text) } else { &text };
            if !text.is_empty() {
                let (store, changes) = txn.parts();
                let content = NewContent::String(text, utf16_len(text));
                position.insert(store, changes, content, attributes);
            }
        }
        Ok(value) => {
            let (store, changes) = txn.parts();
            position.insert(store, changes, NewContent::Embed(value), attributes);
        }
        Err(value) => {
            insert_value(txn, position, value, attributes);
        }
    }
}

/// Inserts a value and what it holds, and only then the marks that end its attributes.
fn insert_value<P: Prelim>(
    txn: &mut TransactionMut<'_>,
    position: &mut TextPosition,
    value: P,
    attributes: Attributes,
) -> P::Return {
    let mut before = Attributes::new();
    let (slot, rest) = place_prelim(txn, value, |store, changes, content| {
        let (slot, attributes) = position.insert_open(store, changes, embedded(content), attributes);
        before = attributes;
        slot
    });
    let returned = fill_prelim(txn, slot, rest);
    let (store, changes) = txn.parts();
    position.close(store, changes, before);
    returned
}

/// The runs of a text.
fn runs<D>(store: &Store, branch: BranchIdx) -> Vec<Diff<D>> {
    let mut runs = Vec::new();
    let mut attributes = Attributes::new();
    let mut text = String::new();
    let mut at = store.branches[branch].start;
    let flush = |text: &mut String, attributes: &Attributes, runs: &mut Vec<Diff<D>>| {
        if !text.is_empty() {
            let insert = Out::Any(Any::from(std::mem::take(text)));
            runs.push(Diff::new(insert, attributes_out(store, attributes)));
        }
    };
    while let Some(slot) = at.some() {
        let item = &store.items[slot];
        at = item.right;
        if item.is_deleted() {
            continue;
        }
        match item.kind() {
            Kind::String => text.push_str(store.text(item)),
            Kind::Format => {
                flush(&mut text, &attributes, &mut runs);
                if let Some((key, value)) = store.format(item) {
                    set_attribute(&mut attributes, key, value);
                }
            }
            _ => {
                flush(&mut text, &attributes, &mut runs);
                for offset in 0..item.len {
                    if let Some(value) = Out::element(store, item, offset) {
                        runs.push(Diff::new(value, attributes_out(store, &attributes)));
                    }
                }
            }
        }
    }
    flush(&mut text, &attributes, &mut runs);
    runs
}

/// Attributes with their keys spelled out; none if there are none.
pub(crate) fn attributes_out(store: &Store, attributes: &Attributes) -> Option<Box<Attrs>> {
    if attributes.is_empty() {
        return None;
    }
    let spelled = attributes.iter().map(|(key, value)| (store.key(*key).clone(), value.any().clone()));
    Some(Box::new(spelled.collect::<IndexMap<_, _>>()))
}

impl<T> std::fmt::Display for Diff<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{{ insert: '{}'", self.insert)?;
        if let Some(attributes) = &self.attributes {
            let all: Vec<String> = attributes.iter().map(|(key, value)| format!("{key}={value}")).collect();
            write!(f, ", attributes: {{ {} }}", all.join(", "))?;
        }
        f.write_str(" }")
    }
}

/// A run of a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Diff<T> {
    /// The text, or the embedded value.
    pub insert: Out,
    /// Its attributes.
    pub attributes: Option<Box<Attrs>>,
    /// How it differs between two snapshots.
    pub ychange: Option<T>,
}

impl<T> Diff<T> {
    /// Makes a run that is no change.
    pub fn new(insert: Out, attributes: Option<Box<Attrs>>) -> Self {
        Self { insert, attributes, ychange: None }
    }

    /// Makes a run that may be a change.
    pub fn with_change(insert: Out, attributes: Option<Box<Attrs>>, ychange: Option<T>) -> Self {
        Self { insert, attributes, ychange }
    }
}

impl<T> From<Diff<T>> for Delta {
    fn from(diff: Diff<T>) -> Self {
        Self::Inserted(diff.insert, diff.attributes)
    }
}

/// How a run differs between two snapshots.
#[derive(Clone, Debug, PartialEq)]
pub struct YChange {
    /// Added or removed.
    pub kind: ChangeKind,
    /// The id of the first element.
    pub id: ID,
}

impl YChange {
    /// Makes a change.
    pub fn new(kind: ChangeKind, id: ID) -> Self {
        Self { kind, id }
    }

    /// Returns the change as it is: for [`Text::diff`].
    pub fn identity(change: Self) -> Self {
        change
    }
}

/// Which way a run differs between two snapshots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// It is only in the later one.
    Added,
    /// It is only in the earlier one.
    Removed,
}

/// A text that is about to be inserted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct TextPrelim(String);

impl TextPrelim {
    /// Makes a text with this content.
    pub fn new<S: Into<String>>(value: S) -> Self {
        Self(value.into())
    }
}

impl Deref for TextPrelim {
    type Target = String;

    fn deref(&self) -> &String {
        &self.0
    }
}

impl DerefMut for TextPrelim {
    fn deref_mut(&mut self) -> &mut String {
        &mut self.0
    }
}

impl From<TextPrelim> for EmbedPrelim<TextPrelim> {
    fn from(text: TextPrelim) -> Self {
        Self::Shared(text)
    }
}

impl Prelim for TextPrelim {
    type Return = TextRef;

    fn into_content(self, _txn: &mut TransactionMut<'_>) -> (ItemContent, Option<Self>) {
        (ItemContent::Type(TypeRef::Text), Some(self))
    }

    fn integrate(self, txn: &mut TransactionMut<'_>, inner_ref: BranchPtr) {
        TextRef::from(inner_ref).push(txn, &self.0);
    }
}

/// A formatted text that is about to be inserted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeltaPrelim(Vec<Delta<In>>);

impl Deref for DeltaPrelim {
    type Target = [Delta<In>];

    fn deref(&self) -> &[Delta<In>] {
        &self.0
    }
}

impl From<TextPrelim> for DeltaPrelim {
    fn from(text: TextPrelim) -> Self {
        if text.is_empty() { Self::default() } else { Self(vec![Delta::insert(text.0)]) }
    }
}

impl FromIterator<Delta<In>> for DeltaPrelim {
    fn from_iter<I: IntoIterator<Item = Delta<In>>>(steps: I) -> Self {
        Self(steps.into_iter().collect())
    }
}

impl Prelim for DeltaPrelim {
    type Return = TextRef;

    fn into_content(self, _txn: &mut TransactionMut<'_>) -> (ItemContent, Option<Self>) {
        (ItemContent::Type(TypeRef::Text), Some(self))
    }

    fn integrate(self, txn: &mut TransactionMut<'_>, inner_ref: BranchPtr) {
        TextRef::from(inner_ref).apply_delta(txn, self.0);
    }
}

impl AsPrelim for TextRef {
    type Prelim = DeltaPrelim;

    fn as_prelim<T: ReadTxn>(&self, txn: &T) -> DeltaPrelim {
        super::copy::text(txn, self, 0)
    }
}

impl DefaultPrelim for TextRef {
    type Prelim = TextPrelim;

    fn default_prelim() -> TextPrelim {
        TextPrelim::default()
    }
}
