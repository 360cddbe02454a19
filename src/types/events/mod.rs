//! What observers of shared types are told: which type changed, how, and where it stands.
//!
//! - `observe`: subscribing; `changes`: which items and keys of each type a transaction changed, and the walk over a
//!   sequence that stops at these only;
//! - `text`, `array`, `map`, `xml`: the events of each kind; `path`: the way to a type.
//!
//! An event lives as long as its callback. What is asked of it is worked out once for all observers of the type, by the
//! rules of Yjs, in O(changes · log n).

pub(crate) mod array;
mod changes;
pub(crate) mod map;
mod observe;
mod path;
#[cfg(test)]
mod tests;
pub(crate) mod text;
#[cfg(feature = "weak")]
mod weak;
mod xml;

use std::any::{Any as StdAny, TypeId};
use std::slice;
use std::sync::{Arc, OnceLock};

#[cfg(feature = "weak")]
use yatta_encoding::block::TYPE_REFS_WEAK;
use yatta_encoding::block::{
    TYPE_REFS_ARRAY, TYPE_REFS_MAP, TYPE_REFS_TEXT, TYPE_REFS_UNDEFINED, TYPE_REFS_XML_ELEMENT,
    TYPE_REFS_XML_FRAGMENT, TYPE_REFS_XML_HOOK, TYPE_REFS_XML_TEXT,
};

use super::xml::XmlOut;
use super::{Delta, Out, Path};
use crate::transaction::{BranchPtr, TransactionMut};
use array::ListChanges;
use map::Keys;

pub use array::{ArrayEvent, Change};
pub use map::{EntryChange, MapEvent};
pub use observe::{DeepObservable, Observable};
pub use text::TextEvent;
#[cfg(feature = "weak")]
pub use weak::WeakEvent;
pub use xml::{XmlEvent, XmlTextEvent};

/// What the events of one type in one transaction have in common, worked out when it is first asked for.
#[derive(Default)]
struct Shared {
    text: OnceLock<Vec<Delta>>,
    list: OnceLock<ListChanges>,
    keys: OnceLock<Keys>,
}

/// What every kind of event consists of.
struct Source {
    target: BranchPtr,
    path: Path,
    shared: Arc<Shared>,
}

/// The change of a shared type of any kind.
pub enum Event {
    /// A text changed.
    Text(TextEvent),
    /// A list changed.
    Array(ArrayEvent),
    /// A map (or an XML hook) changed.
    Map(MapEvent),
    /// An XML element or fragment changed.
    XmlFragment(XmlEvent),
    /// An XML text changed.
    XmlText(XmlTextEvent),
    /// What a weak link quotes changed.
    #[cfg(feature = "weak")]
    Weak(WeakEvent),
}

impl Event {
    /// The event of `target` as an observer of `current` sees it; none for a type whose kind is not known.
    fn of(txn: &TransactionMut<'_>, target: &BranchPtr, current: &BranchPtr) -> Option<Self> {
        let kind = target.node(txn.store_ref())?.tag.kind;
        Self::of_kind(kind, txn, target, current)
    }

    /// As [`Self::of`] for an observer that expects the event `E`: it knows what a type of unknown kind is.
    fn of_wanted<E: 'static>(txn: &TransactionMut<'_>, target: &BranchPtr) -> Option<Self> {
        let mut kind = target.node(txn.store_ref())?.tag.kind;
        if kind == TYPE_REFS_UNDEFINED {
            let wanted = TypeId::of::<E>();
            let kinds = [
                (TypeId::of::<TextEvent>(), TYPE_REFS_TEXT),
                (TypeId::of::<ArrayEvent>(), TYPE_REFS_ARRAY),
                (TypeId::of::<MapEvent>(), TYPE_REFS_MAP),
                (TypeId::of::<XmlEvent>(), TYPE_REFS_XML_FRAGMENT),
                (TypeId::of::<XmlTextEvent>(), TYPE_REFS_XML_TEXT),
            ];
            kind = kinds.iter().find(|entry| entry.0 == wanted)?.1;
        }
        Self::of_kind(kind, txn, target, target)
    }

    fn of_kind(kind: u8, txn: &TransactionMut<'_>, target: &BranchPtr, current: &BranchPtr) -> Option<Self> {
        let store = txn.store_ref();
        let source = |target: &BranchPtr| -> Option<Source> {
            Some(Source {
                target: target.clone(),
                path: path::path(store, current.resolve(store)?, target.resolve(store)?),
                shared: changes::Observed::of(txn).shared(target.idx()),
            })
        };
        Some(match kind {
            TYPE_REFS_TEXT => Self::Text(TextEvent::new(source(target)?)),
            TYPE_REFS_ARRAY => Self::Array(ArrayEvent::new(source(target)?)),
            TYPE_REFS_MAP | TYPE_REFS_XML_HOOK => Self::Map(MapEvent::new(source(target)?)),
            TYPE_REFS_XML_ELEMENT | TYPE_REFS_XML_FRAGMENT => {
                Self::XmlFragment(XmlEvent::new(kind, txn, source(target)?))
            }
            TYPE_REFS_XML_TEXT => Self::XmlText(XmlTextEvent::new(source(target)?)),
            #[cfg(feature = "weak")]
            TYPE_REFS_WEAK => Self::Weak(WeakEvent::new(source(target)?)),
            _ => return None,
        })
    }

    /// The event of one kind.
    fn inner(&self) -> &dyn StdAny {
        match self {
            Self::Text(event) => event,
            Self::Array(event) => event,
            Self::Map(event) => event,
            Self::XmlFragment(event) => event,
            Self::XmlText(event) => event,
            #[cfg(feature = "weak")]
            Self::Weak(event) => event,
        }
    }

    /// Returns the way from the observed type down to the one that changed.
    pub fn path(&self) -> Path {
        match self {
            Self::Text(event) => event.path(),
            Self::Array(event) => event.path(),
            Self::Map(event) => event.path(),
            Self::XmlFragment(event) => event.path(),
            Self::XmlText(event) => event.path(),
            #[cfg(feature = "weak")]
            Self::Weak(event) => event.path(),
        }
    }

    /// Returns the type that changed.
    pub fn target(&self) -> Out {
        match self {
            Self::Text(event) => Out::YText(event.target().clone()),
            Self::Array(event) => Out::YArray(event.target().clone()),
            Self::Map(event) => Out::YMap(event.target().clone()),
            Self::XmlText(event) => Out::YXmlText(event.target().clone()),
            Self::XmlFragment(event) => match event.target() {
                XmlOut::Element(node) => Out::YXmlElement(node.clone()),
                XmlOut::Fragment(node) => Out::YXmlFragment(node.clone()),
                XmlOut::Text(node) => Out::YXmlText(node.clone()),
            },
            #[cfg(feature = "weak")]
            Self::Weak(event) => Out::YWeakLink(event.as_target()),
        }
    }
}

macro_rules! as_event {
    ($($event:ident: $what:literal,)*) => {
        $(
            impl AsRef<$event> for Event {
                /// # Panics
                #[doc = concat!("When this is not the event of ", $what, ".")]
                fn as_ref(&self) -> &$event {
                    self.inner().downcast_ref().expect(concat!("this is not the event of ", $what))
                }
            }

            impl AsRef<$event> for $event {
                fn as_ref(&self) -> &$event {
                    self
                }
            }
        )*
    };
}

as_event! {
    TextEvent: "a text",
    ArrayEvent: "a list",
    MapEvent: "a map",
    XmlEvent: "an XML node",
    XmlTextEvent: "an XML text",
}

#[cfg(feature = "weak")]
as_event! {
    WeakEvent: "a weak link",
}

/// The events of one transaction in the order of their depth: what changed in a type and in those within it.
pub struct Events<'a>(&'a [Event]);

impl Events<'_> {
    /// Returns an iterator over the events, those of the nearest types first.
    pub fn iter(&self) -> EventsIter<'_> {
        EventsIter(self.0.iter())
    }
}

/// Iterates over [`Events`].
pub struct EventsIter<'a>(slice::Iter<'a, Event>);

impl<'a> Iterator for EventsIter<'a> {
    type Item = &'a Event;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl ExactSizeIterator for EventsIter<'_> {}
