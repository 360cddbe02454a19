//! Sub-documents, which came late to the engine. See `late_none.rs`.

use super::engine::{Doc, In, Options, Out};
use super::json::Json;

/// A sub-document as TJSON describes it.
pub(crate) fn subdoc_prelim(content: &Json) -> Option<In> {
    let mut options = Options::default();
    if let Some(guid) = content.get("guid").as_str() {
        options.guid = guid.into();
    }
    options.auto_load = content.get("autoLoad").as_bool() == Some(true);
    options.skip_gc = content.get("gc").as_bool() == Some(false);
    Some(In::Doc(Doc::with_options(options)))
}

/// The sub-document in a value, as TJSON.
pub(crate) fn subdoc(out: &Out) -> Option<Json> {
    match out {
        Out::YDoc(doc) => Some(Json::tagged("doc", [("guid", doc.guid().to_string().into())])),
        _ => None,
    }
}
