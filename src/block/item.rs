//! One block of a document as the arena stores it: an [`Item`], or a garbage-collected range or a gap
//! (which use the same slot with less of it filled).
//!
//! Invariants: I2 `left` and `right` are mutual and of the same parent and key; I9 `len` is the length of the
//! content in UTF-16 units (strings) or elements. A slot is 52 bytes: everything that few items need (the boxed
//! content, redone ids, weak links) lives in side tables.

use super::index::{BranchIdx, ClientIdx, ItemIdx, KeyIdx, LeafIdx};

/// The id of one unit of content, with the client interned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Id {
    pub(crate) client: ClientIdx,
    pub(crate) clock: u32,
}

impl Id {
    pub(crate) const NONE: Self = Self { client: ClientIdx::NONE, clock: 0 };

    #[inline]
    pub(crate) const fn new(client: ClientIdx, clock: u32) -> Self {
        Self { client, clock }
    }

    #[inline]
    pub(crate) const fn is_none(self) -> bool {
        self.client.is_none()
    }

    #[inline]
    pub(crate) const fn is_some(self) -> bool {
        self.client.is_some()
    }
}

/// What an item holds; the numbers are those of the wire.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Kind {
    Gc = 0,
    Deleted = 1,
    Json = 2,
    Binary = 3,
    String = 4,
    Embed = 5,
    Format = 6,
    Type = 7,
    Any = 8,
    Doc = 9,
    Skip = 10,
}

impl Kind {
    const ALL: [Self; 11] = [
        Self::Gc,
        Self::Deleted,
        Self::Json,
        Self::Binary,
        Self::String,
        Self::Embed,
        Self::Format,
        Self::Type,
        Self::Any,
        Self::Doc,
        Self::Skip,
    ];

    /// Whether this content counts for the length of its parent as long as it is not deleted.
    #[inline]
    pub(crate) const fn is_countable(self) -> bool {
        !matches!(self, Self::Gc | Self::Deleted | Self::Format | Self::Skip)
    }
}

/// The kinds that are [`Kind::is_countable`], a bit each.
const COUNTABLE: u32 = {
    let mut bits = 0;
    let mut at = 0;
    while at < Kind::ALL.len() {
        if Kind::ALL[at].is_countable() {
            bits |= 1 << Kind::ALL[at] as u32;
        }
        at += 1;
    }
    bits
};

/// The kind of an item and its state bits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Flags(u32);

impl Flags {
    const KIND: u32 = 15;
    /// The content is deleted (it may still be there, see I7).
    pub(crate) const DELETED: u32 = 1 << 4;
    /// Not to be collected: an undo manager may bring it back.
    pub(crate) const KEEP: u32 = 1 << 5;
    /// `place` is the key of a map entry, not a leaf.
    pub(crate) const MAP: u32 = 1 << 6;
    /// A string of ASCII only: bytes, UTF-16 units and code points are the same.
    pub(crate) const ASCII: u32 = 1 << 7;
    /// The left neighbour is still the one that integration chose (the B2.1 rule, see `engine::integrate`).
    pub(crate) const LEFT_CHOSEN: u32 = 1 << 8;
    /// The slot is free.
    pub(crate) const FREE: u32 = 1 << 9;
    /// An undo manager made a copy of this item; its id is in `Store::redone`.
    pub(crate) const REDONE: u32 = 1 << 10;
    /// Weak links quote this item.
    pub(crate) const LINKED: u32 = 1 << 11;
    /// Was kept and is not any more: its content stays, as the transaction that would have collected it is over.
    pub(crate) const RELEASED: u32 = 1 << 15;

    #[inline]
    pub(crate) const fn new(kind: Kind) -> Self {
        Self(kind as u32)
    }

    #[inline]
    pub(crate) const fn has(self, bit: u32) -> bool {
        self.0 & bit != 0
    }

    #[inline]
    pub(crate) const fn set(&mut self, bit: u32) {
        self.0 |= bit;
    }

    #[inline]
    pub(crate) const fn clear(&mut self, bit: u32) {
        self.0 &= !bit;
    }

    #[inline]
    pub(crate) const fn kind(self) -> Kind {
        // Written out, this is a comparison and no look at a table.
        match self.0 & Self::KIND {
            0 => Kind::Gc,
            1 => Kind::Deleted,
            2 => Kind::Json,
            3 => Kind::Binary,
            4 => Kind::String,
            5 => Kind::Embed,
            6 => Kind::Format,
            7 => Kind::Type,
            8 => Kind::Any,
            9 => Kind::Doc,
            _ => Kind::Skip,
        }
    }

    /// As `kind() == kind`, without a look at the table.
    #[inline]
    pub(crate) const fn is(self, kind: Kind) -> bool {
        self.0 & Self::KIND == kind as u32
    }

    #[inline]
    pub(crate) const fn set_kind(&mut self, kind: Kind) {
        self.0 = self.0 & !Self::KIND | kind as u32;
    }
}

/// A block in the arena.
#[derive(Clone, Copy)]
pub(crate) struct Item {
    pub(crate) id: Id,
    pub(crate) len: u32,
    /// The id at its left when it was inserted.
    pub(crate) origin: Id,
    /// The id at its right when it was inserted.
    pub(crate) right_origin: Id,
    pub(crate) left: ItemIdx,
    pub(crate) right: ItemIdx,
    pub(crate) parent: BranchIdx,
    /// The leaf of the position tree, or the key if the item is a map entry.
    pub(crate) place: u32,
    /// A string: its first byte in the text buffer of its client. Else a slot of the content table, or none.
    pub(crate) content: u32,
    pub(crate) flags: Flags,
}

const _: () =
    assert!(size_of::<Item>() == 52, "the memory target of docs/ARCHITECTURE.md counts on 52 bytes");

impl Item {
    /// A slot that holds nothing.
    pub(crate) const EMPTY: Self = Self {
        id: Id::NONE,
        len: 0,
        origin: Id::NONE,
        right_origin: Id::NONE,
        left: ItemIdx::NONE,
        right: ItemIdx::NONE,
        parent: BranchIdx::NONE,
        place: u32::MAX,
        content: u32::MAX,
        flags: Flags(Flags::FREE),
    };

    /// A collected range or a gap.
    pub(crate) const fn bare(kind: Kind, id: Id, len: u32) -> Self {
        let mut flags = Flags::new(kind);
        if matches!(kind, Kind::Gc) {
            flags.set(Flags::DELETED);
        }
        Self { id, len, flags, ..Self::EMPTY }
    }

    #[inline]
    pub(crate) const fn kind(&self) -> Kind {
        self.flags.kind()
    }

    /// The clock after the last unit.
    #[inline]
    pub(crate) const fn end(&self) -> u32 {
        self.id.clock + self.len
    }

    #[inline]
    pub(crate) const fn last_id(&self) -> Id {
        Id::new(self.id.client, self.id.clock + self.len - 1)
    }

    #[inline]
    pub(crate) const fn is_deleted(&self) -> bool {
        self.flags.has(Flags::DELETED)
    }

    /// Whether the item counts for the length of its parent.
    #[inline]
    pub(crate) const fn is_visible(&self) -> bool {
        // Countable kinds as bits, so that nothing branches on the kind.
        !self.is_deleted() && COUNTABLE >> (self.flags.0 & Flags::KIND) & 1 != 0
    }

    /// An item of a list or map, not a collected range or a gap.
    #[inline]
    pub(crate) const fn is_item(&self) -> bool {
        !self.flags.is(Kind::Gc) && !self.flags.is(Kind::Skip)
    }

    /// The key, if this is a map entry.
    #[inline]
    pub(crate) const fn key(&self) -> KeyIdx {
        if self.flags.has(Flags::MAP) { KeyIdx(self.place) } else { KeyIdx::NONE }
    }

    /// The leaf, if this is an item of a sequence that has a position tree.
    #[inline]
    pub(crate) const fn leaf(&self) -> LeafIdx {
        if self.flags.has(Flags::MAP) { LeafIdx::NONE } else { LeafIdx(self.place) }
    }
}

impl std::fmt::Debug for Item {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{:?}{} {:?}:{}+{} in {:?}",
            self.kind(),
            if self.is_deleted() { "†" } else { "" },
            self.id.client,
            self.id.clock,
            self.len,
            self.parent
        )
    }
}
