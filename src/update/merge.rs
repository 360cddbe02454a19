//! Merging decoded updates. They are written, merged as bytes and read again, so that there is one merge only. Cost
//! O(bytes).

use yatta_encoding::update::merge_trusted_v2;
use yatta_encoding::{Encode, Error};

use crate::block::update::Update;

impl Update {
    /// Takes the blocks and deletions of another update in; what both have is kept once, gaps stay gaps.
    pub fn merge(&mut self, other: Self) {
        if self.is_empty() {
            *self = other;
        } else if !other.is_empty() {
            *self = Self::merge_updates([std::mem::take(self), other]);
        }
    }

    /// Merges updates into one: what several have is kept once, gaps stay gaps.
    #[expect(clippy::missing_panics_doc, reason = "merging what was written here does not fail")]
    pub fn merge_updates<T>(block_stores: T) -> Self
    where
        T: IntoIterator<Item = Self>,
    {
        let mut updates: Vec<Self> = block_stores.into_iter().filter(|update| !update.is_empty()).collect();
        match updates.len() {
            0 => Self::default(),
            1 => updates.swap_remove(0),
            _ => merge(&updates).expect("what is merged was written here"),
        }
    }
}

/// In V2, which keeps what JSON cannot say (a BigInt of a format).
fn merge(updates: &[Update]) -> Result<Update, Error> {
    let written: Vec<Vec<u8>> = updates.iter().map(Encode::encode_v2).collect();
    Update::read_trusted_v2(&merge_trusted_v2(&written)?)
}
