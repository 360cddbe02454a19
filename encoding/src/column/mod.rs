//! The column codecs of the second format: runs of equal values, of equal differences, and strings.
//!
//! Each writer owns one buffer; `finish` writes the last run and yields the bytes, `clear` empties it for
//! reuse. Each reader borrows its bytes and keeps runs compressed. A column that runs out is an error
//! (JavaScript reads zeros there).

mod int_diff_opt_rle;
mod rle;
mod runs;
mod string;
mod uint_opt_rle;

pub use int_diff_opt_rle::{IntDiffOptRleReader, IntDiffOptRleWriter};
pub use rle::{RleReader, RleWriter};
pub use string::{StringReader, StringWriter};
pub use uint_opt_rle::{UintOptRleReader, UintOptRleWriter};
