//! What cargo-fuzz runs. The bodies of the targets stand in [`targets`], which `tests/crashers.rs` of the root mounts too,
//! so that a finding is replayed by plain `cargo test`.

#![forbid(unsafe_code)]

pub mod targets;
