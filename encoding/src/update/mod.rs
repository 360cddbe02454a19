//! Tools that work on the bytes of updates and build no document.
//!
//! All walk the blocks once, front to back. As in Yjs, what they write says a little less than what they
//! read: the bit of the info byte for "value of a key" is lost on items that have an origin. Differs from Yjs: an update
//! whose sections are out of order is read as a document reads it (see `order`), where Yjs loses a part of it.

mod convert;
mod decoded;
mod diff;
mod log;
mod merge;
mod meta;
mod obfuscate;
mod order;
mod runs;
mod section_writer;
mod state_vector;

pub use convert::{convert_trusted_v2_to_v1, convert_v1_to_v2, convert_v2_to_v1};
pub use decoded::{DecodedUpdate, decode_update_v1, decode_update_v2};
pub use diff::{diff_trusted_v2, diff_updates_v1, diff_updates_v2};
pub use merge::{merge_trusted_v2, merge_updates_v1, merge_updates_v2};
pub use meta::{UpdateMeta, parse_update_meta_v1, parse_update_meta_v2};
pub use obfuscate::{ObfuscateOptions, obfuscate_update_v1, obfuscate_update_v2};
pub use state_vector::{
    decode_state_vector, encode_state_vector_from_update_v1, encode_state_vector_from_update_v2,
};

use crate::block::Block;

/// Forgets what Yjs forgets when it reads an update without a document: that an item with an origin is the
/// value of a key. Yjs: lazyStructReaderGenerator.
#[inline]
fn forget_bit(block: &mut Block<'_>) {
    if let Block::Item(item) = block {
        item.has_parent_sub = item.parent_sub.is_some();
    }
}
