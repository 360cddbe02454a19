//! Tools on encoded updates, with the signatures of yrs.

use yatta_encoding::Error;

/// Merges updates in V1 into one, without a document. Cost O(bytes), plus sorting where they are out of order.
///
/// # Errors
/// When one of them is malformed.
pub fn merge_updates_v1<I, B>(updates: I) -> Result<Vec<u8>, Error>
where
    I: IntoIterator<Item = B>,
    B: AsRef<[u8]>,
{
    let updates: Vec<B> = updates.into_iter().collect();
    yatta_encoding::update::merge_updates_v1(&updates)
}

/// Merges updates in V2 into one, without a document. Cost O(bytes), plus sorting where they are out of order.
///
/// # Errors
/// When one of them is malformed.
pub fn merge_updates_v2<I, B>(updates: I) -> Result<Vec<u8>, Error>
where
    I: IntoIterator<Item = B>,
    B: AsRef<[u8]>,
{
    let updates: Vec<B> = updates.into_iter().collect();
    yatta_encoding::update::merge_updates_v2(&updates)
}
