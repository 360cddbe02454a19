//! The document on yrs.

use yrs as krate;

const NAME: &str = "yrs";

#[expect(
    clippy::duplicate_mod,
    reason = "the same source drives both engines: neither gets another workload"
)]
#[path = "body.rs"]
pub(super) mod body;
