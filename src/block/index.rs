//! The index types of the engine: small `u32` handles in place of pointers.
//!
//! Each has a `NONE` that stands for "there is none" (`u32::MAX`), so that an optional handle costs four bytes.

macro_rules! index_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub(crate) struct $name(pub(crate) u32);

        impl $name {
            pub(crate) const NONE: Self = Self(u32::MAX);

            #[inline]
            pub(crate) const fn is_none(self) -> bool {
                self.0 == u32::MAX
            }

            #[inline]
            #[allow(dead_code, reason = "one macro for all index types; not each needs it")]
            pub(crate) const fn is_some(self) -> bool {
                self.0 != u32::MAX
            }

            #[inline]
            pub(crate) const fn get(self) -> usize {
                self.0 as usize
            }

            /// The index as an `Option`: `None` stands for [`Self::NONE`].
            #[inline]
            #[allow(dead_code, reason = "one macro for all index types; not each needs it")]
            pub(crate) const fn some(self) -> Option<Self> {
                if self.is_none() { None } else { Some(self) }
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                if self.is_none() { f.write_str("none") } else { write!(f, "#{}", self.0) }
            }
        }
    };
}

index_type!(
    /// A slot of the item arena.
    ItemIdx
);
index_type!(
    /// A slot of the branch table: the node of a shared type.
    BranchIdx
);
index_type!(
    /// A client id, interned per document.
    ClientIdx
);
index_type!(
    /// A map key, attribute or format name, interned per document.
    KeyIdx
);
index_type!(
    /// A leaf of a position tree.
    LeafIdx
);
