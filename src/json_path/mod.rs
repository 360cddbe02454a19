//! JSON paths: queries over plain data and over documents (layer 9).
//!
//! | Path | selects |
//! |---|---|
//! | `$`, `@` | the root; the value at hand |
//! | `.name`, `['a name']`, `['a', 'b']` | members |
//! | `[0]`, `[-1]`, `[0, 2]`, `[1:5:2]` | elements; a negative index counts from the end |
//! | `.*`, `[*]` | all members or elements |
//! | `..` | what is inside, at any depth: the rest of the path is tried on each child, and on the children of those on which it fails |
//!
//! `parse` makes steps of the text, `walk` walks them over a `Source`, of which there are two: `plain` (an [`Any`]) and
//! `document` (a transaction). Paths are walked lazily, without recursion; a step costs what looking up or listing the
//! children costs.
//!
//! [`Any`]: crate::Any

mod document;
mod parse;
mod plain;
mod walk;

pub use document::JsonPathIter;
pub use parse::{JsonPath, ParseError};
pub use plain::AnyJsonPathIter;

/// Anything that JSON paths can be evaluated on.
pub trait JsonPathEval {
    /// Walks what a path selects.
    type Iter<'a>
    where
        Self: 'a;

    /// Evaluates a path, with this as its root.
    fn json_path<'a>(&'a self, path: &'a JsonPath<'a>) -> Self::Iter<'a>;
}
