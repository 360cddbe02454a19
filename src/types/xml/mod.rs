//! XML: elements, fragments, texts and hooks.
//!
//! An element is a list of nodes with a map of attributes beside it, a fragment is a list of nodes without a name, an XML
//! text is a text with attributes, a hook is a map with a name. The handles are nested newtypes, so that each can be lent
//! as the plainer type that it also is (`AsRef<ArrayRef>` and so on).
//!
//! `get_string` gives what `toString` gives in Yjs (see `write`); nothing is escaped. Positions are those of lists. What
//! needs no transaction (`parent`, `tag`, `first_child`) is kept in the handle: see `transaction::family`.

mod element;
mod fragment;
mod hook;
mod node;
mod out;
pub(super) mod prelim;
mod text;
mod traits;
mod walker;
mod write;

pub use element::XmlElementRef;
pub use fragment::XmlFragmentRef;
pub use hook::{XmlHookPrelim, XmlHookRef};
pub use out::XmlOut;
pub use prelim::{XmlDeltaPrelim, XmlElementPrelim, XmlFragmentPrelim, XmlIn, XmlPrelim, XmlTextPrelim};
pub use text::XmlTextRef;
pub use traits::{Attributes, Xml, XmlFragment};
pub use walker::{Siblings, TreeWalker, XmlNodes};

pub(crate) use text::XmlView;
#[cfg(feature = "weak")]
pub(crate) use write::range_string;

pub use super::events::{XmlEvent, XmlTextEvent};
pub use super::map::{Map, MapRef};
pub use super::text::{Text, TextRef};
