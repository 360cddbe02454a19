//! The document on yatta.

use yatta as krate;

const NAME: &str = "yatta";

#[expect(
    clippy::duplicate_mod,
    reason = "the same source drives both engines: neither gets another workload"
)]
#[path = "body.rs"]
pub(super) mod body;
