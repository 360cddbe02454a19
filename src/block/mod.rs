//! Blocks: what a document is made of. Inside: the slot of a block, its content, the text buffers. Outside: ids, block
//! ranges and preliminary content under the paths of yrs.

pub(crate) mod arena;
pub(crate) mod content;
pub(crate) mod index;
pub(crate) mod item;
pub(crate) mod text_buffer;
pub(crate) mod update;

pub use crate::ids::BlockRange;
pub use crate::types::{
    EmbedPrelim, Item, ItemContent, ItemFlags, ItemPtr, Prelim, SplittableString, Unused,
};
pub use yatta_encoding::block::{
    BLOCK_GC_REF_NUMBER, BLOCK_ITEM_ANY_REF_NUMBER, BLOCK_ITEM_BINARY_REF_NUMBER,
    BLOCK_ITEM_DELETED_REF_NUMBER, BLOCK_ITEM_DOC_REF_NUMBER, BLOCK_ITEM_EMBED_REF_NUMBER,
    BLOCK_ITEM_FORMAT_REF_NUMBER, BLOCK_ITEM_JSON_REF_NUMBER, BLOCK_ITEM_STRING_REF_NUMBER,
    BLOCK_ITEM_TYPE_REF_NUMBER, BLOCK_SKIP_REF_NUMBER, HAS_ORIGIN, HAS_PARENT_SUB, HAS_RIGHT_ORIGIN,
};
pub use yatta_encoding::{ClientID, ID};
