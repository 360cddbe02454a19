//! Bounds on what is accepted from the wire, each with its reason.

/// How deep arrays and objects may be nested in one value.
///
/// JavaScript's recursive reader gives up somewhere between 3,000 and 10,000; what one peer accepts the
/// others should too, and dropping a value this deep fits a stack of 2 MiB.
pub const MAX_DEPTH: usize = 3584;
