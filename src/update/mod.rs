//! Updates as values (layer 8): decode, merge, encode. All of it walks blocks and builds no document.

mod codec;
mod info;
mod merge;
mod tools;

pub use crate::block::update::Update;
pub use tools::{merge_updates_v1, merge_updates_v2};
pub use yatta_encoding::update::{
    convert_v1_to_v2, convert_v2_to_v1, diff_updates_v1, diff_updates_v2, encode_state_vector_from_update_v1,
    encode_state_vector_from_update_v2,
};
