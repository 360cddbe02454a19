//! What changes a document: layer 5. Every function takes the store and the change set, never a transaction.
//!
//! `place` links an item, `split` cuts one, `integrate` finds the place of a remote one, `delete` deletes, `in_place` does
//! what needs no new item, `gc` and `squash` tidy up at the commit, `apply` takes in an update, `redo` brings deleted content
//! back, `runs` reads a text at a snapshot, `link` marks what weak links quote.

pub(crate) mod apply;
pub(crate) mod clean;
pub(crate) mod delete;
pub(crate) mod encode;
pub(crate) mod format;
pub(crate) mod gc;
pub(crate) mod in_place;
pub(crate) mod insert;
pub(crate) mod integrate;
pub(crate) mod link;
pub(crate) mod pending;
pub(crate) mod place;
pub(crate) mod redo;
pub(crate) mod runs;
pub(crate) mod split;
pub(crate) mod squash;
