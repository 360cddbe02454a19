//! The bodies of the fuzz targets: each takes any bytes, and panics where a promise is broken.
//!
//! - `input`: takes an input apart.
//! - `bytes`: primitives, decoders, and the tools on updates that need no document.
//! - `peers`: what a peer sends to a document: updates, awareness, sync messages, positions and snapshots.
//! - `fixture`: the document that receives it, and a reader of everything in it.
//! - `replicas`: typed edits on three replicas.

mod bytes;
mod fixture;
mod input;
mod peers;
mod replicas;

pub use bytes::{convert, decode_v1, decode_v2, diff, merge, primitives};
pub use peers::{apply_v1, apply_v2, awareness, positions, sync};
pub use replicas::replicas;

/// The body of a target.
pub type Body = fn(&[u8]);

/// Every target with its name: that of its fuzzer and of its folders of seeds and crashers.
pub const ALL: [(&str, Body); 12] = [
    ("primitives", primitives),
    ("decode_v1", decode_v1),
    ("decode_v2", decode_v2),
    ("apply_v1", apply_v1),
    ("apply_v2", apply_v2),
    ("merge", merge),
    ("diff", diff),
    ("convert", convert),
    ("awareness", awareness),
    ("sync", sync),
    ("positions", positions),
    ("replicas", replicas),
];
