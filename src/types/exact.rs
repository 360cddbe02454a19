//! Plain data with JavaScript's BigInts kept apart, on its way in and out.
//!
//! [`Any`](crate::Any) has no BigInt: one reads as an integer. The wire keeps it all the same, and
//! [`Map::get_exact`](crate::Map::get_exact), [`Array::get_exact`](crate::Array::get_exact) and [`ExactPrelim`] show and
//! make it.

use yatta_encoding::Error;
pub use yatta_encoding::value::{Parts, Value};

use super::{ItemContent, Prelim, Unused};
use crate::transaction::{BranchPtr, TransactionMut};

/// Plain data that may hold BigInts, about to be inserted.
///
/// ```
/// use yatta::types::exact::{ExactPrelim, Parts, Value};
/// use yatta::{Doc, Map, Transact};
///
/// let doc = Doc::new();
/// let map = doc.get_or_insert_map("m");
/// let mut txn = doc.transact_mut();
/// map.insert(&mut txn, "n", ExactPrelim(Value::big_int(5)));
/// assert_eq!(map.get_exact(&txn, "n").map(|value| value.parts()), Some(Parts::BigInt(5)));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ExactPrelim(pub Value);

impl TryFrom<Parts> for ExactPrelim {
    type Error = Error;

    fn try_from(parts: Parts) -> Result<Self, Error> {
        Value::from_parts(parts).map(Self)
    }
}

impl Prelim for ExactPrelim {
    type Return = Unused;

    fn into_content(self, _txn: &mut TransactionMut<'_>) -> (ItemContent, Option<Self>) {
        (ItemContent::Any(vec![self.0.into_any()]), None)
    }

    fn integrate(self, _txn: &mut TransactionMut<'_>, _inner_ref: BranchPtr) {}

    fn into_plain(self) -> Result<Value, Self> {
        Ok(self.0)
    }
}
