//! Sub-documents: as values, and the events of those that came, went, or are to be loaded.

use super::beyond;
use super::engine::{Doc, In, Options, Out, ReadTxn, Transact};
use super::json::Json;
use super::service::Failure;
use super::service::session::{Events, Session, lock};

/// A sub-document as TJSON describes it.
pub(crate) fn subdoc_prelim(content: &Json) -> Result<In, Failure> {
    let mut options = Options::default();
    if let Some(guid) = content.get("guid").as_str() {
        options.guid = guid.into();
    }
    options.auto_load = content.get("autoLoad").as_bool() == Some(true);
    if let Some(should_load) = content.get("shouldLoad").as_bool() {
        options.should_load = should_load;
    }
    options.skip_gc = content.get("gc").as_bool() == Some(false);
    let doc = Doc::with_options(options);
    if !content.get("meta").is_null() {
        beyond::with_meta(&doc, content.get("meta"))?;
    }
    Ok(In::Doc(doc))
}

/// The sub-document in a value, as TJSON.
pub(crate) fn subdoc(out: &Out) -> Option<Json> {
    match out {
        Out::YDoc(doc) => Some(Json::tagged(
            "doc",
            [
                ("guid", guid(doc)),
                ("gc", (!doc.skip_gc()).into()),
                ("autoLoad", doc.auto_load().into()),
                ("shouldLoad", doc.should_load().into()),
                ("meta", beyond::meta(doc)),
            ],
        )),
        _ => None,
    }
}

fn guid(doc: &Doc) -> Json {
    doc.guid().to_string().into()
}

/// Notes the events of sub-documents.
pub(crate) fn listen(doc: &Doc, events: Events) -> Result<(), Failure> {
    let noted = doc.observe_subdocs("adapter", move |_, event| {
        lock(&events).push(Json::object([
            ("t", "subdocs".into()),
            ("added", event.added().map(guid).collect::<Vec<_>>().into()),
            ("removed", event.removed().map(guid).collect::<Vec<_>>().into()),
            ("loaded", event.loaded().map(guid).collect::<Vec<_>>().into()),
        ]));
    });
    noted.map_err(|error| Failure::error(error.to_string()))
}

/// Runs an operation on sub-documents; `None` if the request is another one.
pub(crate) fn run(session: &Session, request: &Json) -> Option<Result<Json, Failure>> {
    if request.get("op").as_str() != Some("subdoc_guids") {
        return None;
    }
    let txn = session.doc.transact();
    let guids: Vec<Json> = txn.subdoc_guids().map(|guid| guid.to_string().into()).collect();
    Some(Ok(guids.into()))
}
