//! In place of `more.rs` for an engine without the operations of version 2: each is answered as unsupported.

use super::json::Json;
use super::service::Failure;
use super::service::session::Session;

/// Nothing to remember.
#[derive(Default)]
pub(crate) struct More;

/// Names what cannot be done; `None` if the request is of another version.
pub(crate) fn run(_session: &mut Session, request: &Json) -> Option<Result<Json, Failure>> {
    let op = request.get("op").as_str()?;
    let planned = ["observe", "unobserve", "undo", "redo", "relpos_", "snapshot"];
    planned.iter().any(|name| op.starts_with(name)).then(|| Err(Failure::unsupported(op)))
}
