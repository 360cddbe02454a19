//! Looking at a document as it was (layer 7): `Snapshot` itself is a value of `ids`, here is what it is good for. The runs of a text at a
//! snapshot are in `engine::runs`.
//!
//! | Module | What it does |
//! |---|---|
//! | `read` | maps and lists at a snapshot |
//! | `restore` | a document of its own from a snapshot; whether a snapshot holds an update |
//!
//! Everything needs a document that keeps deleted content (`Options::skip_gc`): what was collected reads as if it had
//! never been.

mod read;
mod restore;
#[cfg(test)]
mod tests;
