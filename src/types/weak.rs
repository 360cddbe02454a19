//! Weak links (feature `weak`): a value that stands for a map entry, or for a range of a list or text, elsewhere in the
//! document. Yjs 13 has none: what yrs does and writes is what counts here.
//!
//! A link is made in two steps: [`Quotable::quote`] or [`Map::link`] name the range by the ids of its ends
//! ([`WeakPrelim`]), inserting that makes a type ([`WeakRef`]) whose observers are told when the range changes. The marks
//! on what is quoted are the engine's (`engine::link`); here are the ends ([`LinkSource`]) and reading them.
//!
//! Reading walks from the start of the range to its end. It goes by the ids and is exact to the element, also for a link
//! that is not inserted yet, where yrs reads whole blocks. Making a link costs O(log n), inserting and reading one what
//! it quotes.

use std::marker::PhantomData;
use std::ops::{Bound, RangeBounds};
use std::sync::Arc;

use yatta_encoding::block::{
    WEAK_END_AFTER, WEAK_END_UNBOUNDED, WEAK_PARENT_ROOT, WEAK_QUOTE, WEAK_START_AFTER, WEAK_START_UNBOUNDED,
    WeakScope, WeakTag,
};
use yatta_encoding::{ClientID, Decoder, Error, ID};

use super::array::Array;
use super::content::ItemContent;
pub use super::events::WeakEvent;
use super::item::ItemPtr;
use super::map::Map;
use super::text::TextRef;
use super::xml::{XmlTextRef, range_string};
use super::{
    AsPrelim, DeepObservable, EmbedPrelim, GetString, In, Observable, Out, Prelim, ReadTxn, SharedRef,
    TypeRef,
};
use crate::block::item::{Flags, Kind};
use crate::engine::link::{Pieces, newest};
use crate::ids::{Assoc, IndexScope, StickyIndex};
use crate::store::Store;
use crate::transaction::{Branch, BranchPtr, TransactionMut};

/// What a weak link quotes: the two ends of a range. Both are the same element for a single one.
#[derive(Debug, PartialEq, Eq)]
pub struct LinkSource {
    start: StickyIndex,
    end: StickyIndex,
}

impl LinkSource {
    /// Makes a range of its ends. One that begins with an element sticks to what is before it; one that ends with an
    /// element, to what comes after it.
    pub fn new(start: StickyIndex, end: StickyIndex) -> Self {
        Self { start, end }
    }

    /// Returns whether this is a single element.
    #[inline]
    pub fn is_single(&self) -> bool {
        match (self.start.scope(), self.end.scope()) {
            (IndexScope::Relative(start), IndexScope::Relative(end)) => start == end,
            _ => false,
        }
    }

    /// Returns the quoted text without formats. Cost O(range).
    pub fn to_string<T: ReadTxn>(&self, txn: &T) -> String {
        let store = txn.store();
        let mut text = String::new();
        let mut pieces = Pieces::of(store, &self.tag());
        while let Some((slot, from, to)) = pieces.next(store) {
            let item = &store.items[slot];
            if item.kind() == Kind::String && !item.is_deleted() {
                text.push_str(store.text_part(item, from, to));
            }
        }
        text
    }

    /// Returns the quoted text with formats as tags: see [`XmlTextRef::get_string`]. Cost O(text before its end).
    pub fn to_xml_string<T: ReadTxn>(&self, txn: &T) -> String {
        range_string(txn.store(), Pieces::of(txn.store(), &self.tag()))
    }

    /// The values of the range, or the value of the map entry.
    fn unquote<'a, T: ReadTxn>(&self, txn: &'a T) -> Unquote<'a, T> {
        let store = txn.store();
        let mut pieces = Pieces::of(store, &self.tag());
        let mut piece = None;
        if let Some(entry) = map_entry(store, &pieces) {
            (pieces, piece) = (Pieces::nothing(), Some((entry, 0, store.items[entry].len)));
        }
        Unquote { txn, pieces, piece }
    }

    /// The value of a map entry, unless it was deleted; the last element that is quoted, if this is a range.
    fn deref<T: ReadTxn>(&self, txn: &T) -> Option<Out> {
        let store = txn.store();
        let pieces = Pieces::of(store, &self.tag());
        match map_entry(store, &pieces) {
            Some(entry) if store.items[entry].is_deleted() => None,
            Some(entry) => Out::last_of(store, entry),
            None => self.unquote(txn).next(),
        }
    }

    /// Reads what [`TypeRef`] writes of a link.
    pub(crate) fn decode<D: Decoder>(decoder: &mut D) -> Result<Self, Error> {
        let flags = decoder.read_u8()?;
        let mut end = |unbounded: u8| -> Result<WeakScope<'static>, Error> {
            if flags & unbounded != 0 && flags & WEAK_PARENT_ROOT != 0 {
                return Ok(WeakScope::Root(decoder.read_string()?.to_owned().into()));
            }
            let client: u64 = decoder.read_var()?;
            let id = ID::new(ClientID::new(client), decoder.read_var()?);
            Ok(if flags & unbounded != 0 { WeakScope::Nested(id) } else { WeakScope::Relative(id) })
        };
        let start = end(WEAK_START_UNBOUNDED)?;
        let end = if flags & (WEAK_QUOTE | WEAK_END_UNBOUNDED) == 0 {
            start.clone()
        } else {
            end(WEAK_END_UNBOUNDED)?
        };
        Ok(Self::of_tag(&WeakTag { flags, start, end }))
    }

    /// The form on the wire.
    pub(crate) fn tag(&self) -> WeakTag<'static> {
        let mut flags = 0;
        let mut set = |when: bool, bit: u8| flags |= if when { bit } else { 0 };
        set(!self.is_single(), WEAK_QUOTE);
        set(self.start.assoc == Assoc::After, WEAK_START_AFTER);
        set(self.end.assoc == Assoc::After, WEAK_END_AFTER);
        set(!self.start.is_relative(), WEAK_START_UNBOUNDED);
        set(!self.end.is_relative(), WEAK_END_UNBOUNDED);
        set(self.start.is_root() || self.end.is_root(), WEAK_PARENT_ROOT);
        WeakTag { flags, start: scope_out(self.start.scope()), end: scope_out(self.end.scope()) }
    }

    /// Reads the form on the wire.
    pub(crate) fn of_tag(tag: &WeakTag<'_>) -> Self {
        let assoc = |bit: u8| if tag.flags & bit == 0 { Assoc::Before } else { Assoc::After };
        Self {
            start: StickyIndex::new(scope_in(&tag.start), assoc(WEAK_START_AFTER)),
            end: StickyIndex::new(scope_in(&tag.end), assoc(WEAK_END_AFTER)),
        }
    }
}

fn scope_out(scope: &IndexScope) -> WeakScope<'static> {
    match scope {
        IndexScope::Relative(id) => WeakScope::Relative(*id),
        IndexScope::Nested(id) => WeakScope::Nested(*id),
        IndexScope::Root(name) => WeakScope::Root(name.to_string().into()),
    }
}

fn scope_in(scope: &WeakScope<'_>) -> IndexScope {
    match scope {
        WeakScope::Relative(id) => IndexScope::Relative(*id),
        WeakScope::Nested(id) => IndexScope::Nested(*id),
        WeakScope::Root(name) => IndexScope::Root(name.as_ref().into()),
    }
}

/// The newest entry of the key that is linked, if it is one.
fn map_entry(store: &Store, pieces: &Pieces) -> Option<crate::block::index::ItemIdx> {
    let first = pieces.first().some()?;
    if !store.items[first].flags.has(Flags::MAP) {
        return None;
    }
    newest(store, first).some()
}

/// A weak link in a document, to something of the type `P`.
#[derive(Clone, Debug)]
pub struct WeakRef<P> {
    shared: P,
    /// What it quotes; none if the type is no link.
    source: Option<Arc<LinkSource>>,
}

impl<P: AsRef<Branch>> WeakRef<P> {
    /// Returns what it quotes, unless the type behind this handle is no weak link.
    pub fn try_source(&self) -> Option<&Arc<LinkSource>> {
        self.source.as_ref()
    }

    /// Returns what it quotes.
    ///
    /// # Panics
    /// When the type behind this handle is no weak link; see [`Self::try_source`].
    pub fn source(&self) -> &Arc<LinkSource> {
        self.try_source().expect("a WeakRef was made of the handle of a type that is no weak link")
    }

    /// Returns the id with which the quoted range begins, unless it begins where its type does.
    ///
    /// # Panics
    /// As [`Self::source`].
    pub fn start_id(&self) -> Option<&ID> {
        self.source().start.id()
    }

    /// Returns the id with which the quoted range ends, unless it ends where its type does.
    ///
    /// # Panics
    /// As [`Self::source`].
    pub fn end_id(&self) -> Option<&ID> {
        self.source().end.id()
    }

    /// Returns the same link to something of any type.
    pub fn into_inner(self) -> WeakRef<BranchPtr> {
        WeakRef { shared: BranchPtr::from(self.shared.as_ref()), source: self.source }
    }
}

impl<P: SharedRef + Map> WeakRef<P> {
    /// Returns the value of the linked map entry as a certain type.
    ///
    /// # Errors
    /// `None` when the entry was deleted or is not here, and the value when it is of another type.
    pub fn try_deref<T, V>(&self, txn: &T) -> Result<V, Option<V::Error>>
    where
        T: ReadTxn,
        V: TryFrom<Out>,
    {
        V::try_from(self.try_deref_value(txn).ok_or(None)?).map_err(Some)
    }

    /// Returns the value of the linked map entry; `None` if it was deleted or is not here. Cost O(1).
    pub fn try_deref_value<T: ReadTxn>(&self, txn: &T) -> Option<Out> {
        self.try_source()?.deref(txn)
    }
}

impl<P: SharedRef + Array> WeakRef<P> {
    /// Iterates over the quoted elements that are not deleted.
    pub fn unquote<'a, T: ReadTxn>(&self, txn: &'a T) -> Unquote<'a, T> {
        match self.try_source() {
            Some(source) => source.unquote(txn),
            None => Unquote { txn, pieces: Pieces::nothing(), piece: None },
        }
    }
}

impl GetString for WeakRef<TextRef> {
    fn get_string<T: ReadTxn>(&self, txn: &T) -> String {
        self.source.as_ref().map_or_else(String::new, |source| source.to_string(txn))
    }
}

impl GetString for WeakRef<XmlTextRef> {
    fn get_string<T: ReadTxn>(&self, txn: &T) -> String {
        self.source.as_ref().map_or_else(String::new, |source| source.to_xml_string(txn))
    }
}

impl<P: AsRef<Branch>> AsRef<Branch> for WeakRef<P> {
    fn as_ref(&self) -> &Branch {
        self.shared.as_ref()
    }
}

/// What the type behind a handle quotes, if it is a link.
fn source_of(branch: &Branch) -> Option<Arc<LinkSource>> {
    branch.link().map(|tag| Arc::new(LinkSource::of_tag(tag)))
}

impl<P: From<BranchPtr>> From<BranchPtr> for WeakRef<P> {
    fn from(branch: BranchPtr) -> Self {
        Self { source: source_of(&branch), shared: P::from(branch) }
    }
}

impl<P: SharedRef> From<WeakRef<BranchPtr>> for WeakRef<P> {
    fn from(link: WeakRef<BranchPtr>) -> Self {
        Self { shared: P::from(link.shared), source: link.source }
    }
}

impl<P: TryFrom<ItemPtr>> TryFrom<ItemPtr> for WeakRef<P> {
    type Error = P::Error;

    fn try_from(item: ItemPtr) -> Result<Self, Self::Error> {
        let source = item.branch().and_then(|branch| source_of(&branch));
        Ok(Self { shared: P::try_from(item)?, source })
    }
}

impl<P: From<BranchPtr>> TryFrom<Out> for WeakRef<P> {
    type Error = Out;

    fn try_from(value: Out) -> Result<Self, Out> {
        match value {
            Out::YWeakLink(link) => Ok(Self { shared: P::from(link.shared), source: link.source }),
            other => Err(other),
        }
    }
}

impl<P: AsRef<Branch>> PartialEq for WeakRef<P> {
    fn eq(&self, other: &Self) -> bool {
        self.as_ref().id() == other.as_ref().id()
    }
}

impl<P: AsRef<Branch>> Eq for WeakRef<P> {}
impl<P: SharedRef> SharedRef for WeakRef<P> {}
impl SharedRef for WeakRef<BranchPtr> {}
impl<P: AsRef<Branch>> DeepObservable for WeakRef<P> {}

impl<P: AsRef<Branch>> Observable for WeakRef<P> {
    type Event = WeakEvent;
}

impl<P: AsRef<Branch> + TryFrom<ItemPtr>> AsPrelim for WeakRef<P> {
    type Prelim = WeakPrelim<P>;

    /// # Panics
    /// As [`WeakRef::source`].
    fn as_prelim<T: ReadTxn>(&self, _txn: &T) -> WeakPrelim<P> {
        WeakPrelim::of(Arc::clone(self.source()))
    }
}

/// A weak link on its way into a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeakPrelim<P> {
    source: Arc<LinkSource>,
    to: PhantomData<P>,
}

impl<P> WeakPrelim<P> {
    fn of(source: Arc<LinkSource>) -> Self {
        Self { source, to: PhantomData }
    }

    /// Makes a link to the entry of a map, by the id of its value.
    pub(crate) fn to_entry(id: ID) -> Self {
        let end = |assoc| StickyIndex::from_id(id, assoc);
        Self::of(Arc::new(LinkSource::new(end(Assoc::Before), end(Assoc::After))))
    }

    /// Returns the same link to something of any type.
    pub fn into_inner(&self) -> WeakPrelim<BranchPtr> {
        WeakPrelim::of(Arc::clone(&self.source))
    }

    /// Returns what it quotes.
    pub fn source(&self) -> &Arc<LinkSource> {
        &self.source
    }
}

impl<P: AsRef<Branch>> WeakPrelim<P> {
    /// Turns into the same link to something of any type.
    pub fn upcast(self) -> WeakPrelim<BranchPtr> {
        WeakPrelim::of(self.source)
    }
}

impl<P: SharedRef + Array> WeakPrelim<P> {
    /// Iterates over the quoted elements that are not deleted.
    pub fn unquote<'a, T: ReadTxn>(&self, txn: &'a T) -> Unquote<'a, T> {
        self.source.unquote(txn)
    }
}

impl<P: SharedRef + Map> WeakPrelim<P> {
    /// Returns the value of the linked map entry; `None` if it was deleted or is not here. Cost O(1).
    pub fn try_deref_raw<T: ReadTxn>(&self, txn: &T) -> Option<Out> {
        self.source.deref(txn)
    }

    /// Returns the value of the linked map entry as a certain type.
    ///
    /// # Errors
    /// `None` when the entry was deleted or is not here, and the value when it is of another type.
    pub fn try_deref<T, V>(&self, txn: &T) -> Result<V, Option<V::Error>>
    where
        T: ReadTxn,
        V: TryFrom<Out>,
    {
        V::try_from(self.try_deref_raw(txn).ok_or(None)?).map_err(Some)
    }
}

impl GetString for WeakPrelim<TextRef> {
    fn get_string<T: ReadTxn>(&self, txn: &T) -> String {
        self.source.to_string(txn)
    }
}

impl GetString for WeakPrelim<XmlTextRef> {
    fn get_string<T: ReadTxn>(&self, txn: &T) -> String {
        self.source.to_xml_string(txn)
    }
}

impl<P: AsRef<Branch>> From<WeakRef<P>> for WeakPrelim<P> {
    /// # Panics
    /// As [`WeakRef::source`].
    fn from(link: WeakRef<P>) -> Self {
        Self::of(Arc::clone(link.source()))
    }
}

impl<P: SharedRef> From<WeakPrelim<BranchPtr>> for WeakPrelim<P> {
    fn from(link: WeakPrelim<BranchPtr>) -> Self {
        Self::of(link.source)
    }
}

#[expect(clippy::from_over_into, reason = "a From for any P would overlap with that of plain values")]
impl<P> Into<EmbedPrelim<Self>> for WeakPrelim<P> {
    fn into(self) -> EmbedPrelim<Self> {
        EmbedPrelim::Shared(self)
    }
}

impl<P> From<WeakPrelim<P>> for In {
    fn from(link: WeakPrelim<P>) -> Self {
        Self::WeakLink(link.into_inner())
    }
}

impl<P: TryFrom<ItemPtr>> Prelim for WeakPrelim<P> {
    type Return = WeakRef<P>;

    fn into_content(self, _txn: &mut TransactionMut<'_>) -> (ItemContent, Option<Self>) {
        (ItemContent::Type(TypeRef::WeakLink(Arc::clone(&self.source))), Some(self))
    }

    fn integrate(self, _txn: &mut TransactionMut<'_>, _inner_ref: BranchPtr) {}
}

/// The quoted elements: see [`WeakRef::unquote`].
pub struct Unquote<'a, T> {
    txn: &'a T,
    pieces: Pieces,
    piece: Option<(crate::block::index::ItemIdx, u32, u32)>,
}

impl<T: ReadTxn> Iterator for Unquote<'_, T> {
    type Item = Out;

    fn next(&mut self) -> Option<Out> {
        let store = self.txn.store();
        loop {
            if let Some((slot, from, to)) = &mut self.piece
                && from < to
            {
                let item = &store.items[*slot];
                let offset = *from;
                *from += 1;
                if !item.is_visible() {
                    *from = *to;
                    continue;
                }
                if item.kind() == Kind::String {
                    // Half a surrogate pair is no character of its own.
                    let text = store.text_part(item, offset, *to);
                    let char = text.chars().next()?;
                    *from = offset + char.len_utf16() as u32;
                    return Some(Out::from(char.to_string()));
                }
                return Out::element(store, item, offset);
            }
            self.piece = Some(self.pieces.next(store)?);
        }
    }
}

/// A sequence of which a range can be quoted.
pub trait Quotable: AsRef<Branch> + Sized {
    /// Makes a weak link to a range of indices (in the document's offset kind). What is inserted at an open end later on
    /// (`1..`, `..=2`, an excluded start) becomes part of it; an element that is included is its fixed end. Cost O(log n).
    ///
    /// # Errors
    /// When an end of the range is not an element of the sequence: `0..len` must be written `0..`.
    fn quote<T, R>(&self, txn: &T, range: R) -> Result<WeakPrelim<Self>, QuoteError>
    where
        T: ReadTxn,
        R: RangeBounds<u32>,
    {
        let store = txn.store();
        let type_end = |assoc| StickyIndex::from_type(txn, self.as_ref(), assoc);
        let start = match range.start_bound() {
            Bound::Included(index) => element_at(store, self.as_ref(), *index, true, Assoc::Before)?,
            Bound::Excluded(index) => element_at(store, self.as_ref(), *index, true, Assoc::After)?,
            Bound::Unbounded => type_end(Assoc::Before),
        };
        let first = match range.start_bound() {
            Bound::Included(index) | Bound::Excluded(index) => *index,
            Bound::Unbounded => 0,
        };
        let end = match range.end_bound() {
            Bound::Included(index) | Bound::Excluded(index) if *index < first => {
                return Err(QuoteError::OutOfBounds);
            }
            Bound::Included(index) => element_at(store, self.as_ref(), *index, false, Assoc::After)?,
            Bound::Excluded(index) => element_at(store, self.as_ref(), *index, false, Assoc::Before)?,
            Bound::Unbounded => type_end(Assoc::After),
        };
        Ok(WeakPrelim::of(Arc::new(LinkSource::new(start, end))))
    }
}

/// The element at an index. The start of a range is the first one behind what is before the index, deleted or not; its
/// end the one that is seen there.
fn element_at(
    store: &Store,
    branch: &Branch,
    index: u32,
    start: bool,
    assoc: Assoc,
) -> Result<StickyIndex, QuoteError> {
    let branch = branch.resolve(store).ok_or(QuoteError::OutOfBounds)?;
    let (slot, offset) = if !start {
        store.find(branch, index).ok_or(QuoteError::OutOfBounds)?
    } else if index == 0 {
        (store.branches[branch].start, 0)
    } else {
        let (slot, offset) = store.find(branch, index - 1).ok_or(QuoteError::OutOfBounds)?;
        let item = &store.items[slot];
        if offset + 1 < store.width(item) { (slot, offset + 1) } else { (item.right, 0) }
    };
    let item = &store.items[slot.some().ok_or(QuoteError::OutOfBounds)?];
    let mut id = store.public_id(item.id);
    id.clock += store.units(item, offset);
    Ok(StickyIndex::from_id(id, assoc))
}

impl Quotable for super::array::ArrayRef {}
impl Quotable for TextRef {}
impl Quotable for XmlTextRef {}

/// A range cannot be quoted.
#[derive(Debug, thiserror::Error)]
pub enum QuoteError {
    /// An end of the range is no element of the sequence.
    #[error("the quoted range reaches beyond the elements of its sequence")]
    OutOfBounds,
}
