//! Time, under the path of yrs.

pub use crate::clock::{Clock, SystemClock, Timestamp};
