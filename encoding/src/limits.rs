//! Bounds on what is accepted from the wire, each with its reason.

/// How deep arrays and objects may be nested in one value.
///
/// JavaScript's recursive reader gives up somewhere between 3,000 and 10,000; what one peer accepts the
/// others should too, and dropping a value this deep fits a stack of 2 MiB.
pub const MAX_DEPTH: usize = 3584;

/// How many blocks an update of the second format may claim beyond [`BLOCKS_PER_BYTE`].
///
/// Blocks of the second format can cost no bytes at all: GC blocks and deleted items whose columns are runs.
/// Honest updates do that too. Two users who set one key in turn for hours leave a deleted item for each set,
/// and no two of those can be joined: half a million sets take 60 bytes. So the bound is what an engine takes
/// in without pain, some 20 MB, and a claim above it is refused before anything is done.
pub const FREE_BLOCKS: u64 = 1 << 18;

/// How many blocks an update of the second format may claim for each of its bytes, beyond [`FREE_BLOCKS`].
pub const BLOCKS_PER_BYTE: u64 = 64;
