//! The value of a sticky index: an element or type by its id, and a side. Finding the place is the business of
//! `crate::sticky_index`; weak links name the ends of their ranges in the same way.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use yatta_encoding::ID;

/// A place in a sequence that stays with the element at its right or left.
///
/// ```
/// use yatta::{Assoc, Doc, IndexedSequence, Text, Transact};
///
/// let doc = Doc::new();
/// let text = doc.get_or_insert_text("article");
/// let mut txn = doc.transact_mut();
/// text.insert(&mut txn, 0, "ac");
/// let before_c = text.sticky_index(&txn, 1, Assoc::After).expect("1 is within the text");
/// text.insert(&mut txn, 0, "xyz");
/// assert_eq!(before_c.get_offset(&txn).map(|place| place.index), Some(4));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StickyIndex {
    pub(crate) scope: IndexScope,
    /// Which neighbour the place stays with.
    pub assoc: Assoc,
}

impl StickyIndex {
    /// Makes a place of its parts.
    pub fn new(scope: IndexScope, assoc: Assoc) -> Self {
        Self { scope, assoc }
    }

    /// Makes a place beside the element of this id.
    pub fn from_id(id: ID, assoc: Assoc) -> Self {
        Self::new(IndexScope::Relative(id), assoc)
    }

    /// Returns what the place is relative to.
    #[inline]
    pub fn scope(&self) -> &IndexScope {
        &self.scope
    }

    /// Returns whether this is the end or start of a root type.
    #[inline]
    pub fn is_root(&self) -> bool {
        matches!(self.scope, IndexScope::Root(_))
    }

    /// Returns whether this is the end or start of a nested type.
    #[inline]
    pub fn is_nested(&self) -> bool {
        matches!(self.scope, IndexScope::Nested(_))
    }

    /// Returns whether this is beside an element.
    #[inline]
    pub fn is_relative(&self) -> bool {
        matches!(self.scope, IndexScope::Relative(_))
    }

    /// Returns the id of the element that the place stays with, if it does.
    pub fn id(&self) -> Option<&ID> {
        match &self.scope {
            IndexScope::Relative(id) => Some(id),
            _ => None,
        }
    }
}

/// What a place is relative to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum IndexScope {
    /// An element of a sequence.
    Relative(ID),
    /// The end or start of a nested type, by the id of the item that holds it.
    Nested(ID),
    /// The end or start of a root type, by its name.
    Root(Arc<str>),
}

/// Which neighbour a place stays with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(i8)]
pub enum Assoc {
    /// The element at its right; at the end, the end.
    #[default]
    After = 0,
    /// The element at its left; at the start, the start.
    Before = -1,
}

impl std::fmt::Display for StickyIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.assoc == Assoc::Before {
            f.write_str("<")?;
        }
        if let Some(id) = self.id() {
            write!(f, "{id}")?;
        }
        if self.assoc == Assoc::After {
            f.write_str(">")?;
        }
        Ok(())
    }
}
