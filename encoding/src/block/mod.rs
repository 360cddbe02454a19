//! Blocks as they stand in an update: [`Block`], [`Item`], [`Content`].
//!
//! They borrow from the input and know nothing of a document. [`UpdateReader`] yields them one by one;
//! [`write_block`] writes one, from an offset on if need be. Ids and lengths count clock units, which are
//! UTF-16 units for text.

mod content;
mod reader;
mod writer;

pub use crate::id::{ClientID, ID};
pub use reader::{Head, Section, UpdateReader};
pub use writer::{
    write_any_content, write_binary_content, write_block, write_deleted_content, write_doc_content,
    write_embed_content, write_format_content, write_gc, write_item_head, write_item_ids, write_json_content,
    write_skip, write_string_content, write_type_content,
};

use crate::any::Any;
use crate::value::Value;
use std::borrow::Cow;

/// Content number of a GC block, which keeps nothing but its length.
pub const BLOCK_GC_REF_NUMBER: u8 = 0;
/// Content number of deleted content.
pub const BLOCK_ITEM_DELETED_REF_NUMBER: u8 = 1;
/// Content number of JSON texts, which old versions of Yjs wrote.
pub const BLOCK_ITEM_JSON_REF_NUMBER: u8 = 2;
/// Content number of bytes.
pub const BLOCK_ITEM_BINARY_REF_NUMBER: u8 = 3;
/// Content number of text.
pub const BLOCK_ITEM_STRING_REF_NUMBER: u8 = 4;
/// Content number of an embedded value.
pub const BLOCK_ITEM_EMBED_REF_NUMBER: u8 = 5;
/// Content number of a formatting mark.
pub const BLOCK_ITEM_FORMAT_REF_NUMBER: u8 = 6;
/// Content number of a shared type.
pub const BLOCK_ITEM_TYPE_REF_NUMBER: u8 = 7;
/// Content number of values.
pub const BLOCK_ITEM_ANY_REF_NUMBER: u8 = 8;
/// Content number of a subdocument.
pub const BLOCK_ITEM_DOC_REF_NUMBER: u8 = 9;
/// Content number of a Skip block, a gap in what an update holds of a client.
pub const BLOCK_SKIP_REF_NUMBER: u8 = 10;
/// Info bit: a right origin follows.
pub const HAS_RIGHT_ORIGIN: u8 = 0b0100_0000;
/// Info bit: an origin follows.
pub const HAS_ORIGIN: u8 = 0b1000_0000;
/// Info bit: the item is the value of a key.
pub const HAS_PARENT_SUB: u8 = 0b0010_0000;

/// Number of an array type.
pub const TYPE_REFS_ARRAY: u8 = 0;
/// Number of a map type.
pub const TYPE_REFS_MAP: u8 = 1;
/// Number of a text type.
pub const TYPE_REFS_TEXT: u8 = 2;
/// Number of an XML element type; its node name follows.
pub const TYPE_REFS_XML_ELEMENT: u8 = 3;
/// Number of an XML fragment type.
pub const TYPE_REFS_XML_FRAGMENT: u8 = 4;
/// Number of an XML hook type; its hook name follows.
pub const TYPE_REFS_XML_HOOK: u8 = 5;
/// Number of an XML text type.
pub const TYPE_REFS_XML_TEXT: u8 = 6;
/// Number of a weak link, which only yrs knows; what it links follows.
pub const TYPE_REFS_WEAK: u8 = 7;
/// Number of a subdocument as a type, which only yrs knows.
pub const TYPE_REFS_DOC: u8 = 9;
/// Number of a type whose kind is not known, which only yrs writes.
pub const TYPE_REFS_UNDEFINED: u8 = 15;

/// A run of clock units of one client.
#[derive(Debug, Clone, PartialEq)]
pub enum Block<'a> {
    /// What was collected: only the length is known.
    Gc {
        /// Its first unit.
        id: ID,
        /// How many units.
        len: u32,
    },
    /// What the update does not hold.
    Skip {
        /// Its first unit.
        id: ID,
        /// How many units.
        len: u32,
    },
    /// An operation.
    Item(Item<'a>),
}

impl Block<'_> {
    /// Returns the id of the first unit.
    #[inline]
    pub fn id(&self) -> ID {
        match self {
            Block::Gc { id, .. } | Block::Skip { id, .. } => *id,
            Block::Item(item) => item.id,
        }
    }

    /// Counts the units.
    #[inline]
    pub fn len(&self) -> u32 {
        match self {
            Block::Gc { len, .. } | Block::Skip { len, .. } => *len,
            Block::Item(item) => item.len,
        }
    }

    /// Tells whether there are no units: Yjs accepts such blocks and they mean nothing.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the clock after the last unit. The reader has checked that it exists.
    #[inline]
    pub fn clock_end(&self) -> u32 {
        self.id().clock.saturating_add(self.len())
    }
}

/// An operation: content and where it goes.
#[derive(Debug, Clone, PartialEq)]
pub struct Item<'a> {
    /// The first unit.
    pub id: ID,
    /// How many clock units; for text these are UTF-16 units.
    pub len: u32,
    /// The unit left of it when it was made.
    pub origin: Option<ID>,
    /// The unit right of it when it was made.
    pub right_origin: Option<ID>,
    /// The type it belongs to.
    pub parent: Parent<'a>,
    /// The key it is a value of, if that is written (without origins only).
    pub parent_sub: Option<Cow<'a, str>>,
    /// Whether the info byte says that it is the value of a key, written or not.
    pub has_parent_sub: bool,
    /// What it holds.
    pub content: Content<'a>,
}

/// The type an item belongs to.
#[derive(Debug, Clone, PartialEq)]
pub enum Parent<'a> {
    /// That of its origin or right origin, one of which is there.
    Inherit,
    /// The root type of this name.
    Root(Cow<'a, str>),
    /// The type that the item of this id holds.
    Branch(ID),
}

/// What an item holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Content<'a> {
    /// So many units that were deleted.
    Deleted(u32),
    /// JSON text of each element; `undefined` stands for itself.
    Json(Vec<Cow<'a, str>>),
    /// Bytes.
    Binary(Cow<'a, [u8]>),
    /// Text.
    String(Cow<'a, str>),
    /// A value within text.
    Embed(Cow<'a, Value>),
    /// A formatting mark: key and value.
    Format(Cow<'a, str>, Cow<'a, Value>),
    /// A shared type.
    Type(TypeTag<'a>),
    /// Values.
    Any(Cow<'a, [Value]>),
    /// A subdocument.
    Doc {
        /// Its name.
        guid: Cow<'a, str>,
        /// Its options, an object.
        options: Cow<'a, Any>,
    },
}

impl Content<'_> {
    /// Returns the content number that the info byte carries.
    pub fn ref_number(&self) -> u8 {
        match self {
            Content::Deleted(_) => BLOCK_ITEM_DELETED_REF_NUMBER,
            Content::Json(_) => BLOCK_ITEM_JSON_REF_NUMBER,
            Content::Binary(_) => BLOCK_ITEM_BINARY_REF_NUMBER,
            Content::String(_) => BLOCK_ITEM_STRING_REF_NUMBER,
            Content::Embed(_) => BLOCK_ITEM_EMBED_REF_NUMBER,
            Content::Format(..) => BLOCK_ITEM_FORMAT_REF_NUMBER,
            Content::Type(_) => BLOCK_ITEM_TYPE_REF_NUMBER,
            Content::Any(_) => BLOCK_ITEM_ANY_REF_NUMBER,
            Content::Doc { .. } => BLOCK_ITEM_DOC_REF_NUMBER,
        }
    }
}

/// Which shared type an item holds.
#[derive(Debug, Clone, PartialEq)]
pub struct TypeTag<'a> {
    /// One of the `TYPE_REFS_` numbers.
    pub kind: u8,
    /// Node name of an XML element, hook name of an XML hook.
    pub name: Option<Cow<'a, str>>,
    /// What a weak link links.
    pub extra: Option<Box<WeakTag<'a>>>,
}

impl TypeTag<'_> {
    /// Copies what it borrows.
    pub fn into_owned(self) -> TypeTag<'static> {
        TypeTag {
            kind: self.kind,
            name: self.name.map(|name| Cow::Owned(name.into_owned())),
            extra: self.extra.map(|link| Box::new(link.into_owned())),
        }
    }

    /// Makes the tag of a kind that has neither name nor payload.
    pub fn plain(kind: u8) -> Self {
        TypeTag { kind, name: None, extra: None }
    }
}

/// What a weak link of yrs links: a range or a single element.
#[derive(Debug, Clone, PartialEq)]
pub struct WeakTag<'a> {
    /// The `WEAK_` bits: they say how the two ends are to be read.
    pub flags: u8,
    /// Where the range begins.
    pub start: WeakScope<'a>,
    /// Where the range ends; the same as `start` for a single element.
    pub end: WeakScope<'a>,
}

impl WeakTag<'_> {
    /// Copies what it borrows.
    pub fn into_owned(self) -> WeakTag<'static> {
        WeakTag { flags: self.flags, start: self.start.into_owned(), end: self.end.into_owned() }
    }
}

impl WeakScope<'_> {
    /// Copies what it borrows.
    pub fn into_owned(self) -> WeakScope<'static> {
        match self {
            Self::Relative(id) => WeakScope::Relative(id),
            Self::Nested(id) => WeakScope::Nested(id),
            Self::Root(name) => WeakScope::Root(Cow::Owned(name.into_owned())),
        }
    }
}

/// Bit of [`WeakTag::flags`]: a range rather than a single element.
pub const WEAK_QUOTE: u8 = 0b0000_0001;
/// Bit of [`WeakTag::flags`]: the start sticks to what comes after it.
pub const WEAK_START_AFTER: u8 = 0b0000_0010;
/// Bit of [`WeakTag::flags`]: the end sticks to what comes after it.
pub const WEAK_END_AFTER: u8 = 0b0000_0100;
/// Bit of [`WeakTag::flags`]: the range begins where the type begins.
pub const WEAK_START_UNBOUNDED: u8 = 0b0000_1000;
/// Bit of [`WeakTag::flags`]: the range ends where the type ends.
pub const WEAK_END_UNBOUNDED: u8 = 0b0001_0000;
/// Bit of [`WeakTag::flags`]: the type of an unbounded end is a root type.
pub const WEAK_PARENT_ROOT: u8 = 0b0010_0000;

/// One end of what a weak link links.
#[derive(Debug, Clone, PartialEq)]
pub enum WeakScope<'a> {
    /// At this unit.
    Relative(ID),
    /// At the bound of the type that the item of this id holds.
    Nested(ID),
    /// At the bound of the root type of this name.
    Root(Cow<'a, str>),
}
