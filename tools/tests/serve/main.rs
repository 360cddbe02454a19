//! The real command `yatta serve`, as a process: crashes, a full disk, memory, load.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]
#![cfg(unix)]

#[path = "../../../server/tests/common/mod.rs"]
mod common;

mod crashes;
mod full_disk;
mod load;
mod memory;
mod process;
