//! yatta under the name of yrs: every path of yrs 0.28 leads to that of yatta.

#![forbid(unsafe_code)]

pub use yatta::*;
