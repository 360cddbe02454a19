//! Documents as others than Yjs see them: JSON, text, and going back to a version.
//!
//! All of it works on a copy of the document, off the room's lock. Cost O(document).

use yatta::undo::UndoManager;
use yatta::updates::decoder::Decode;
use yatta::{Any, Array, Doc, GetString, Map, Out, ReadTxn, StateVector, ToJson, Transact, Update};

/// A root type, as the caller of the API names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    /// A text.
    Text,
    /// A map.
    Map,
    /// A list.
    Array,
    /// A list of XML nodes.
    Xml,
}

/// Builds a copy of a document.
pub(super) fn copy(state: &[u8]) -> Result<Doc, String> {
    let doc = Doc::new();
    let update = Update::decode_v1(state).map_err(|error| error.to_string())?;
    doc.transact_mut().apply_update(update).map_err(|error| error.to_string())?;
    Ok(doc)
}

/// Returns the names of the roots.
fn roots(doc: &Doc) -> Vec<String> {
    doc.transact().root_refs().map(|(name, _)| name.to_owned()).collect()
}

/// What a root most likely is. Its kind is on no wire: only the program that uses it knows.
fn guess(doc: &Doc, name: &str) -> Kind {
    let map = doc.get_or_insert_map(name);
    if map.len(&doc.transact()) > 0 {
        return Kind::Map;
    }
    let array = doc.get_or_insert_array(name);
    let txn = doc.transact();
    match array.get(&txn, 0) {
        Some(Out::YXmlElement(_) | Out::YXmlText(_) | Out::YXmlFragment(_)) => Kind::Xml,
        Some(Out::Any(Any::String(_))) | None => Kind::Text,
        Some(_) => Kind::Array,
    }
}

fn as_json(doc: &Doc, name: &str, kind: Kind) -> Result<serde_json::Value, String> {
    let any = match kind {
        Kind::Map => doc.get_or_insert_map(name).to_json(&doc.transact()),
        Kind::Array => doc.get_or_insert_array(name).to_json(&doc.transact()),
        Kind::Text | Kind::Xml => Any::from(as_text(doc, name, kind)),
    };
    serde_json::to_value(&any).map_err(|error| error.to_string())
}

fn as_text(doc: &Doc, name: &str, kind: Kind) -> String {
    match kind {
        Kind::Xml => doc.get_or_insert_xml_fragment(name).get_string(&doc.transact()),
        _ => doc.get_or_insert_text(name).get_string(&doc.transact()),
    }
}

/// Returns the roots as JSON: one if it is named, else all.
pub(super) fn json(doc: &Doc, root: Option<&str>, kind: Option<Kind>) -> Result<serde_json::Value, String> {
    let kind_of = |name: &str| kind.unwrap_or_else(|| guess(doc, name));
    if let Some(root) = root {
        return as_json(doc, root, kind_of(root));
    }
    let mut object = serde_json::Map::new();
    for name in roots(doc) {
        object.insert(name.clone(), as_json(doc, &name, kind_of(&name))?);
    }
    Ok(object.into())
}

/// Returns the text of a root, or of the first one that has some.
pub(super) fn text(doc: &Doc, root: Option<&str>, kind: Option<Kind>) -> String {
    let kind_of = |name: &str| kind.unwrap_or_else(|| guess(doc, name));
    if let Some(root) = root {
        return as_text(doc, root, kind_of(root));
    }
    let texts = roots(doc).into_iter().map(|name| as_text(doc, &name, kind_of(&name)));
    texts.into_iter().find(|text| !text.is_empty()).unwrap_or_default()
}

/// Returns the update that turns the present state back into a version, as new edits: what is deleted since comes back,
/// what came since is deleted, and every client follows.
pub(super) fn restore(version: &[u8], present: &[u8]) -> Result<Vec<u8>, String> {
    const SINCE: &str = "since";
    let doc = copy(version)?;
    let mut undo = UndoManager::<()>::new();
    undo.expand_scope_to_doc(&doc);
    undo.include_origin(SINCE);
    {
        let update = Update::decode_v1(present).map_err(|error| error.to_string())?;
        let mut txn = doc.transact_mut_with(SINCE);
        txn.apply_update(update).map_err(|error| error.to_string())?;
    }
    let known = doc.transact().state_vector();
    while undo.can_undo() {
        if !undo.undo_blocking() {
            break;
        }
    }
    Ok(doc.transact().encode_state_as_update_v1(&known))
}

/// The whole state of a document.
pub(super) fn state(doc: &Doc) -> Vec<u8> {
    doc.transact().encode_state_as_update_v1(&StateVector::default())
}

/// The state vector of an update is empty only if it inserts nothing that can stand.
pub(super) fn is_empty(doc: &Doc) -> bool {
    doc.transact().state_vector() == StateVector::default() && !doc.transact().has_missing_updates()
}

#[cfg(test)]
mod tests {
    use yatta::Text;

    use super::*;

    #[test]
    fn guesses() {
        let doc = Doc::new();
        let text = doc.get_or_insert_text("text");
        let map = doc.get_or_insert_map("map");
        let list = doc.get_or_insert_array("list");
        let mut txn = doc.transact_mut();
        text.insert(&mut txn, 0, "hello");
        map.insert(&mut txn, "a", 1);
        list.push_back(&mut txn, 5);
        drop(txn);
        let copy = copy(&state(&doc)).unwrap();
        assert_eq!(
            json(&copy, None, None).unwrap(),
            serde_json::json!({ "text": "hello", "map": { "a": 1 }, "list": [5] })
        );
        assert_eq!(super::text(&copy, None, None), "hello");
        assert_eq!(json(&copy, Some("list"), Some(Kind::Array)).unwrap(), serde_json::json!([5]));
    }

    #[test]
    fn a_version_comes_back() {
        let doc = Doc::new();
        let text = doc.get_or_insert_text("text");
        let map = doc.get_or_insert_map("map");
        text.insert(&mut doc.transact_mut(), 0, "hello world");
        map.insert(&mut doc.transact_mut(), "a", 1);
        let version = state(&doc);
        text.remove_range(&mut doc.transact_mut(), 0, 6);
        text.insert(&mut doc.transact_mut(), 5, "!!");
        map.insert(&mut doc.transact_mut(), "a", 2);
        map.insert(&mut doc.transact_mut(), "b", 3);
        let back = restore(&version, &state(&doc)).unwrap();
        doc.transact_mut().apply_update(Update::decode_v1(&back).unwrap()).unwrap();
        assert_eq!(text.get_string(&doc.transact()), "hello world");
        assert_eq!(map.to_json(&doc.transact()), yatta::any!({ "a": 1 }));
    }
}
