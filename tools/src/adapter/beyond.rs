//! What yatta has beyond the API of yrs: BigInts, XML hooks, root elements, and a few words of Yjs. The tests mount
//! another file in the place of this one for yrs.

use super::engine::{
    Any, Array, ArrayRef, Attrs, ClientID, Delta, Doc, ID, In, Map, MapRef, Out, ReadTxn, StateVector, Text,
    TextRef, Transaction, TransactionMut, UndoManager, Xml, XmlElementRef, XmlFragment,
};
use super::extra::Extra;
use super::json::Json;
use super::late;
use super::service::node::{Node, Place, node_of};
use super::service::{Failure, value};
use yatta::types::exact::{ExactPrelim, Parts, Value};
use yatta::types::xml::{XmlHookPrelim, XmlHookRef};
use yatta::{IdSet, Root};
use yatta_encoding::block::{Block, Content, Parent};
use yatta_encoding::update::decode_update_v1;

/// Types nested deeper than this are left to the engine's own `to_json`.
const DEPTH: u32 = 100;

/// All blocks that are integrated, by descending client, as the state of the document names them.
pub(crate) fn log(txn: &Transaction<'_>) -> Result<Json, Failure> {
    let state = txn.encode_state_as_update_v1(&StateVector::default());
    let decoded = decode_update_v1(&state).map_err(|error| Failure::decode(error.to_string()))?;
    let known = txn.state_vector();
    let deleted = txn.snapshot().delete_set;
    let here = |block: &&Block<'_>| block.clock_end() <= known.get(&block.id().client);
    Ok(decoded.blocks.iter().filter(here).map(|block| block_json(block, &deleted)).collect::<Vec<_>>().into())
}

fn block_json(block: &Block<'_>, deleted: &IdSet) -> Json {
    let id = |id: ID| Json::from(vec![Json::Number(id.client.get() as f64), Json::from(id.clock)]);
    let mut json = Json::object([("id", id(block.id())), ("len", block.len().into())]);
    let Block::Item(item) = block else {
        json.set("content", if matches!(block, Block::Gc { .. }) { "gc" } else { "skip" }.into());
        return json;
    };
    json.set("content", u32::from(item.content.ref_number()).into());
    json.set("deleted", deleted.contains(&item.id).into());
    for (key, origin) in [("origin", item.origin), ("rightOrigin", item.right_origin)] {
        if let Some(origin) = origin {
            json.set(key, id(origin));
        }
    }
    match &item.parent {
        Parent::Inherit => {}
        Parent::Root(name) => json.set("parent", name.as_ref().into()),
        Parent::Branch(parent) => json.set("parent", id(*parent)),
    }
    if let Some(key) = &item.parent_sub {
        json.set("parentSub", key.as_ref().into());
    }
    if let Content::String(text) = &item.content {
        json.set("text", text.as_ref().into());
    }
    json
}

/// What waits in a document: the clock that is missing of each client, and whether deletions wait. `None` where the
/// engine only tells whether something waits.
pub(crate) fn pending(txn: &TransactionMut<'_>) -> Option<(Vec<(u64, u32)>, bool)> {
    let store = txn.store();
    let missing = store.missing_clocks().iter().map(|(client, clock)| (client.get(), *clock)).collect();
    Some((missing, store.has_pending_deletions()))
}

/// Makes or finds a root element.
pub(crate) fn root_element(txn: &mut TransactionMut<'_>, name: &str) -> Option<XmlElementRef> {
    Some(Root::<XmlElementRef>::new(name).get_or_create(txn))
}

/// The child of a list of nodes, hooks and plain values included.
pub(crate) fn child<T: ReadTxn>(
    list: &(impl XmlFragment + AsRef<ArrayRef>),
    txn: &T,
    index: u32,
) -> Option<Out> {
    AsRef::<ArrayRef>::as_ref(list).get(txn, index)
}

/// The kind of a map: a map, or a hook.
pub(crate) fn kind_of_map(map: &MapRef) -> &'static str {
    if XmlHookRef::try_from(map.clone()).is_ok() { "xmlhook" } else { "map" }
}

/// The name of a hook.
pub(crate) fn hook_name(map: &MapRef) -> Option<String> {
    Some(XmlHookRef::try_from(map.clone()).ok()?.hook_name()?.to_string())
}

/// Puts a value that only this engine can: a hook, or data with BigInts. `None` if it is neither.
pub(crate) fn put(
    txn: &mut TransactionMut<'_>,
    node: &Node,
    place: &Place<'_>,
    content: &Json,
) -> Option<Result<Option<Node>, Failure>> {
    if content.get("kind").as_str() == Some("xmlhook") && content.get("$").as_str() == Some("type") {
        let name = content.get("name").as_str().unwrap_or_default();
        let hook = put_hook(txn, node, place, XmlHookPrelim::new(name));
        let as_map = |hook: XmlHookRef| Some(Node::Map(AsRef::<MapRef>::as_ref(&hook).clone()));
        return Some(hook.map(as_map));
    }
    if is_typed(content) || !has_big_ints(content) {
        return None;
    }
    let put = exact(content).and_then(|value| {
        let value = ExactPrelim(value);
        match (node, place) {
            (Node::Array(array), Place::Index(index)) => drop(array.insert(txn, *index, value)),
            (Node::Array(array), Place::End) => drop(array.push_back(txn, value)),
            (Node::Map(map), Place::Key(key)) => drop(map.insert(txn, *key, value)),
            (_, Place::Key(key)) => match node.with_attributes()? {
                Extra::Text(text) => drop(text.insert_attribute(txn, *key, value)),
                Extra::Element(element) => drop(element.insert_attribute(txn, *key, value)),
                Extra::Fragment(_) => return Err(node.lacks("attributes")),
            },
            _ => return Err(Failure::unsupported("a BigInt here")),
        }
        Ok(None)
    });
    Some(put)
}

fn put_hook(
    txn: &mut TransactionMut<'_>,
    node: &Node,
    place: &Place<'_>,
    hook: XmlHookPrelim,
) -> Result<XmlHookRef, Failure> {
    Ok(match (node, place) {
        (Node::Array(array), Place::Index(index)) => array.insert(txn, *index, hook),
        (Node::Array(array), Place::End) => array.push_back(txn, hook),
        (Node::Map(map), Place::Key(key)) => map.insert(txn, *key, hook),
        (Node::Extra(Extra::Element(list)), Place::Index(index)) => list.insert(txn, *index, hook),
        (Node::Extra(Extra::Element(list)), Place::End) => list.push_back(txn, hook),
        (Node::Extra(Extra::Fragment(list)), Place::Index(index)) => list.insert(txn, *index, hook),
        (Node::Extra(Extra::Fragment(list)), Place::End) => list.push_back(txn, hook),
        (_, Place::Key(key)) => match node.with_attributes()? {
            Extra::Text(text) => text.insert_attribute(txn, *key, hook),
            Extra::Element(element) => element.insert_attribute(txn, *key, hook),
            Extra::Fragment(_) => return Err(node.lacks("attributes")),
        },
        _ => return Err(Failure::unsupported("a hook here")),
    })
}

/// Whether a value is a shared type, a document or bytes, which are items of their own.
fn is_typed(content: &Json) -> bool {
    matches!(content.get("$").as_str(), Some("type" | "doc" | "bytes"))
}

/// Whether plain data holds BigInts at any depth.
pub(crate) fn has_big_ints(content: &Json) -> bool {
    match content {
        Json::Array(items) => items.iter().any(has_big_ints),
        Json::Object(_) if content.get("$").as_str() == Some("bigint") => true,
        Json::Object(entries) => entries.iter().any(|(_, value)| has_big_ints(value)),
        _ => false,
    }
}

/// Reads plain data with its BigInts.
fn exact(content: &Json) -> Result<Value, Failure> {
    let parts = match content {
        _ if !has_big_ints(content) => Parts::Plain(value::any(content)?),
        Json::Array(items) => Parts::Array(items.iter().map(exact).collect::<Result<_, _>>()?),
        Json::Object(_) if content.get("$").as_str() == Some("bigint") => {
            let text = content.get("v").as_str().unwrap_or_default();
            let wide: i128 = text.parse().map_err(|_| Failure::error(format!("no BigInt: {text}")))?;
            // on the wire a BigInt is taken modulo 2^64
            Parts::BigInt(wide as i64)
        }
        other => {
            let entries = other.entries().iter().map(|(key, value)| Ok((key.as_str().into(), exact(value)?)));
            Parts::Map(entries.collect::<Result<_, Failure>>()?)
        }
    };
    Value::from_parts(parts).map_err(|error| Failure::error(error.to_string()))
}

/// Writes plain data with its BigInts.
fn exact_json(value: &Value) -> Json {
    match value.parts() {
        Parts::Plain(any) => value::json(&any),
        Parts::BigInt(int) => Json::tagged("bigint", [("v", int.to_string().into())]),
        Parts::Array(values) => values.iter().map(exact_json).collect::<Vec<_>>().into(),
        Parts::Map(entries) => {
            Json::Object(entries.iter().map(|(key, value)| (key.to_string(), exact_json(value))).collect())
        }
    }
}

/// The value of a key with its BigInts, if it has some.
pub(crate) fn exact_key<T: ReadTxn>(node: &Node, txn: &T, key: &str) -> Option<Json> {
    match node {
        Node::Map(map) => map.get_exact(txn, key).filter(is_exact).map(|value| exact_json(&value)),
        _ => None,
    }
}

/// The element of a list with its BigInts, if it has some.
pub(crate) fn exact_element<T: ReadTxn>(node: &Node, txn: &T, index: u32) -> Option<Json> {
    match node {
        Node::Array(array) => array.get_exact(txn, index).filter(is_exact).map(|value| exact_json(&value)),
        _ => None,
    }
}

fn is_exact(value: &Value) -> bool {
    matches!(value, Value::Exact(_)) || matches!(value.parts(), Parts::BigInt(_))
}

/// A list or map with what the engine's own JSON has no words for: BigInts and sub-documents. All else must be as the
/// engine says it.
pub(crate) fn to_json<T: ReadTxn>(node: &Node, txn: &T, plain: Json) -> Json {
    let found = walk(node, txn, 0);
    match found {
        Some(found) => {
            assert_eq!(readable(&found), plain, "to_json says the same as reading one by one");
            found
        }
        None => plain,
    }
}

/// A list or map, read one by one; `None` if it is too deep.
fn walk<T: ReadTxn>(node: &Node, txn: &T, depth: u32) -> Option<Json> {
    if depth > DEPTH {
        return None;
    }
    let inner = |out: Option<Out>| match out {
        Some(out @ Out::YDoc(_)) => late::subdoc(&out),
        Some(Out::Any(any)) => Some(value::json(&any)),
        Some(out) => match node_of(&out) {
            Some(node) => walk(&node, txn, depth + 1),
            None => Some(Json::tagged("undefined", [])),
        },
        None => Some(Json::tagged("undefined", [])),
    };
    match node {
        Node::Array(array) => {
            let element = |(index, out)| exact_element(node, txn, index).or_else(|| inner(Some(out)));
            (0..).zip(array.iter(txn)).map(element).collect::<Option<Vec<_>>>().map(Json::from)
        }
        Node::Map(map) => {
            let entry = |(key, out): (&str, Out)| {
                Some((key.to_owned(), exact_key(node, txn, key).or_else(|| inner(Some(out)))?))
            };
            map.iter(txn).map(entry).collect::<Option<Vec<_>>>().map(Json::Object)
        }
        _ => Some(Json::String(node.string(txn))),
    }
}

/// What the engine's JSON makes of it: a BigInt that fits is an integer, a sub-document an object with its guid.
fn readable(json: &Json) -> Json {
    match json {
        Json::Array(items) => items.iter().map(readable).collect::<Vec<_>>().into(),
        Json::Object(entries) => match json.get("$").as_str() {
            Some("bigint") => {
                let int =
                    json.get("v").as_str().and_then(|text| text.parse::<i64>().ok()).unwrap_or_default();
                value::json(&Any::from(int))
            }
            Some("doc") => Json::object([("guid", json.get("guid").clone())]),
            _ => Json::Object(entries.iter().map(|(key, value)| (key.clone(), readable(value))).collect()),
        },
        other => other.clone(),
    }
}

/// Gives a sub-document what its application says of it.
pub(crate) fn with_meta(doc: &Doc, meta: &Json) -> Result<(), Failure> {
    doc.set_meta(value::any(meta)?).map_err(|_| Failure::error("meta is set once"))
}

/// What the application of a sub-document says of it.
pub(crate) fn meta(doc: &Doc) -> Json {
    doc.meta().map_or(Json::Null, value::json)
}

/// Lets an undo manager watch all of a document.
pub(crate) fn whole_document(manager: &mut UndoManager<()>, doc: &Doc) -> Result<(), Failure> {
    manager.expand_scope_to_doc(doc);
    Ok(())
}

/// Keeps types of these kinds from being deleted by an undo or redo.
pub(crate) fn protect(manager: &mut UndoManager<()>, kinds: Vec<String>) -> Result<(), Failure> {
    manager.set_delete_filter(move |_, item| {
        !node_of(item.value()).is_some_and(|node| kinds.iter().any(|kind| kind == node.kind()))
    });
    Ok(())
}

/// Changes the client id of a document.
pub(crate) fn set_client(doc: &Doc, client: u64) -> Result<(), Failure> {
    doc.set_client_id(ClientID::new(client));
    Ok(())
}

/// Applies a delta without its final line break.
pub(crate) fn apply_unsanitized(
    text: &TextRef,
    txn: &mut TransactionMut<'_>,
    delta: Vec<Delta<In>>,
) -> Result<(), Failure> {
    text.apply_delta_without_final_newline(txn, delta);
    Ok(())
}

/// Formats a text; beyond its end as Yjs does.
pub(crate) fn format<T: Text>(text: &T, txn: &mut TransactionMut<'_>, index: u32, len: u32, attrs: Attrs) {
    text.format_padded(txn, index, len, attrs);
}
