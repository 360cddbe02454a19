//! What each operation of the protocol does, inside an open transaction.

use super::super::beyond;
use super::super::engine::{
    Any, Array, Attrs, Decode, Delta, Encode, In, LENIENT, Map, Out, ReadTxn, StateVector, Text,
    TransactionMut, Update, WriteTxn,
};
use super::super::extra::Extra;
use super::super::json::{Json, hex};
use super::node::{Node, Nodes, Place, copy, filled_prelim, node_of, put};
use super::session::Session;
use super::value;
use super::{Failure, bytes, is_v2};

/// Runs one request on its document.
pub(super) fn run(
    session: &mut Session,
    txn: &mut TransactionMut<'_>,
    request: &Json,
) -> Result<Json, Failure> {
    let op = request.get("op").as_str().unwrap_or_default();
    match op {
        "root" => return root(session, txn, request),
        "apply" => {
            let update = bytes(request, "update")?;
            let update = if is_v2(request) { Update::decode_v2(&update) } else { Update::decode_v1(&update) };
            let update = update.map_err(|error| Failure::decode(error.to_string()))?;
            txn.apply_update(update).map_err(|error| Failure::decode(error.to_string()))?;
            return Ok(Json::Null);
        }
        "pending" => {
            let Some((missing, deletes)) = beyond::pending(txn) else {
                return Ok(txn.has_missing_updates().into());
            };
            if missing.is_empty() && !deletes {
                return Ok(Json::Null);
            }
            let mut pending = Json::Object(Vec::new());
            for (client, clock) in missing {
                let mut clocks = pending.find("missing").cloned().unwrap_or_else(|| Json::Object(Vec::new()));
                clocks.set(&client.to_string(), clock.into());
                pending.set("missing", clocks);
            }
            pending.set("ds", deletes.into());
            return Ok(pending);
        }
        _ => {}
    }
    if let Some(found) = look(&mut session.nodes, txn, request) {
        return found;
    }
    let node = session.nodes.find(txn, request.get("h"))?;
    match op.split_once('_').map_or(op, |(family, _)| family) {
        "list" => list(session, txn, &node, request),
        "map" => map(session, txn, &node, request),
        "text" => text(session, txn, &node, request),
        _ if op == "clone" => clone(session, txn, &node, request),
        _ => Err(Failure::unsupported(op)),
    }
}

/// Puts a copy of a type at the end of a list, or under a key.
fn clone(
    session: &mut Session,
    txn: &mut TransactionMut<'_>,
    node: &Node,
    request: &Json,
) -> Result<Json, Failure> {
    let content = copy(node, txn)?;
    let to = session.nodes.find(txn, request.get("to"))?;
    let place = match (request.get("key").as_str(), request.find("index")) {
        (Some(key), _) => Place::Key(key),
        (None, Some(_)) => Place::Index(number(request, "index")?),
        (None, None) => Place::End,
    };
    let new = put(session, txn, &to, place, &content)?;
    Ok(new.map_or(Json::Null, |new| session.nodes.remember(new).into()))
}

/// What only looks at the document, also from within an observer; `None` if the request is another one.
pub(crate) fn look<T: ReadTxn>(nodes: &mut Nodes, txn: &T, request: &Json) -> Option<Result<Json, Failure>> {
    match request.get("op").as_str()? {
        "encode" => Some(encode(txn, request)),
        "sv" => Some(Ok(hex(&txn.state_vector().encode_v1()).into())),
        "len" | "toJSON" | "toString" | "toDelta" | "shape" | "map_get" | "map_has" | "map_entries"
        | "list_get" | "list_values" => {
            Some(nodes.find(txn, request.get("h")).and_then(|node| read(nodes, txn, &node, request)))
        }
        _ => None,
    }
}

fn encode<T: ReadTxn>(txn: &T, request: &Json) -> Result<Json, Failure> {
    let sv = match request.find("sv") {
        Some(Json::String(_)) => StateVector::decode_v1(&bytes(request, "sv")?)
            .map_err(|error| Failure::decode(error.to_string()))?,
        _ => StateVector::default(),
    };
    let state =
        if is_v2(request) { txn.encode_state_as_update_v2(&sv) } else { txn.encode_state_as_update_v1(&sv) };
    Ok(hex(&state).into())
}

fn root(session: &mut Session, txn: &mut TransactionMut<'_>, request: &Json) -> Result<Json, Failure> {
    let name = request.get("name").as_str().unwrap_or_default();
    let node = match request.get("kind").as_str() {
        Some("text") => Node::Text(txn.get_or_insert_text(name)),
        Some("array") => Node::Array(txn.get_or_insert_array(name)),
        Some("map") => Node::Map(txn.get_or_insert_map(name)),
        kind => match kind.and_then(|kind| Extra::root(txn, name, kind)) {
            Some(root) => Node::Extra(root),
            // until it is used, a root is but a name
            None => return Ok(format!("@{name}").into()),
        },
    };
    let handle = format!("@{name}");
    if session.nodes.0.get(&handle).is_some_and(|known| known.kind() != node.kind()) {
        return Err(Failure::error(format!("root {name} is defined with a different kind")));
    }
    session.nodes.0.insert(handle.clone(), node);
    Ok(handle.into())
}

fn read<T: ReadTxn>(nodes: &mut Nodes, txn: &T, node: &Node, request: &Json) -> Result<Json, Failure> {
    let key = request.get("key").as_str().unwrap_or_default();
    let undefined = || Json::tagged("undefined", []);
    Ok(match request.get("op").as_str().unwrap_or_default() {
        "len" => node.len(txn).into(),
        "toJSON" => node.to_json(txn),
        "toString" => node.string(txn).into(),
        "toDelta" => {
            let pieces = node.pieces(txn)?;
            let piece = |(out, attrs): &(_, Option<Attrs>)| {
                let mut json = Json::object([("insert", nodes.reply(out))]);
                if let Some(attrs) = attrs.as_ref().filter(|attrs| !attrs.is_empty()) {
                    json.set("attributes", value::attrs_json(attrs));
                }
                json
            };
            pieces.iter().map(piece).collect::<Vec<_>>().into()
        }
        "list_get" => element(nodes, txn, node, number(request, "index")?)?.unwrap_or_else(undefined),
        "list_values" => {
            let elements = (0..node.len(txn)).map(|index| element(nodes, txn, node, index));
            elements.filter_map(Result::transpose).collect::<Result<Vec<_>, _>>()?.into()
        }
        "map_get" => match beyond::exact_key(node, txn, key) {
            Some(exact) => exact,
            None => node.key(txn, key)?.map_or_else(undefined, |out| nodes.reply(&out)),
        },
        "map_has" => node.key(txn, key)?.is_some().into(),
        "map_entries" => {
            let mut pairs = node.pairs(txn)?;
            pairs.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
            let entry = |(key, out): &(String, _)| {
                let value = beyond::exact_key(node, txn, key).unwrap_or_else(|| nodes.reply(out));
                Json::Array(vec![key.as_str().into(), value])
            };
            pairs.iter().map(entry).collect::<Vec<_>>().into()
        }
        "shape" => shape(txn, node)?,
        op => return Err(Failure::unsupported(op)),
    })
}

/// The element of a list at an index, if it is there.
fn element<T: ReadTxn>(nodes: &mut Nodes, txn: &T, node: &Node, index: u32) -> Result<Option<Json>, Failure> {
    match beyond::exact_element(node, txn, index) {
        Some(exact) => Ok(Some(exact)),
        None => Ok(node.at(txn, index)?.map(|out| nodes.reply(&out))),
    }
}

/// Kind, length, text or keys, and where the nested types are.
fn shape<T: ReadTxn>(txn: &T, node: &Node) -> Result<Json, Failure> {
    let mut shape = Json::object([("kind", node.kind().into()), ("len", node.len(txn).into())]);
    let mut types = Vec::new();
    match node {
        _ if node.text().is_ok() => {
            let mut units = Vec::new();
            for (out, _) in node.pieces(txn)? {
                if node_of(&out).is_some() {
                    types.push(Json::object([("embed", Json::from(types.len() as u32))]));
                }
                match out {
                    Out::Any(Any::String(text)) => units.push(Json::String(text.to_string())),
                    _ => units.push(Json::Null),
                }
            }
            shape.set("pieces", units.into());
        }
        Node::Map(_) => {
            let mut keys = Vec::new();
            for (key, out) in node.pairs(txn)? {
                if node_of(&out).is_some() {
                    types.push(Json::String(key.clone()));
                }
                keys.push(key);
            }
            // the order within the engine is its own affair
            keys.sort();
            types.sort_by_key(|key| key.as_str().map(str::to_owned));
            shape.set("keys", keys.into_iter().map(Json::String).collect::<Vec<_>>().into());
        }
        Node::Array(node) => {
            let nested = node.iter(txn).enumerate().filter(|(_, out)| node_of(out).is_some());
            types.extend(nested.map(|(index, _)| Json::from(index as u32)));
        }
        _ => types.extend((0..node.len(txn)).map(Json::from)),
    }
    shape.set("types", types.into());
    Ok(shape)
}

fn list(
    session: &mut Session,
    txn: &mut TransactionMut<'_>,
    node: &Node,
    request: &Json,
) -> Result<Json, Failure> {
    let index = || number(request, "index");
    match request.get("op").as_str().unwrap_or_default() {
        "list_insert" => list_insert(session, txn, node, Some(index()?), request.get("content").items()),
        "list_push" => list_insert(session, txn, node, None, request.get("content").items()),
        "list_delete" => {
            let (index, len) = (index()?, number(request, "len")?);
            let there = node.len(txn).saturating_sub(index);
            // Yjs deletes what is there before it complains
            match node {
                _ if there.min(len) == 0 => {}
                Node::Array(node) => node.remove_range(txn, index, len.min(there)),
                Node::Extra(node) => node.remove_range(txn, index, len.min(there)),
                _ => return Err(node.lacks("elements")),
            }
            if len > there { Err(Failure::error("Length exceeded!")) } else { Ok(Json::Null) }
        }
        op => Err(Failure::unsupported(op)),
    }
}

/// Inserts values and new types at `index`, or after the last item if there is none; plain neighbours share an item.
pub(super) fn list_insert(
    session: &mut Session,
    txn: &mut TransactionMut<'_>,
    node: &Node,
    index: Option<u32>,
    content: &[Json],
) -> Result<Json, Failure> {
    if index.is_some_and(|index| index > node.len(txn)) {
        return Err(Failure::error("Length exceeded!"));
    }
    let mut next = index;
    let mut handles = Vec::new();
    let mut rest = content;
    while let Some(first) = rest.first() {
        let plain = rest.iter().take_while(|value| is_plain(value) && !beyond::has_big_ints(value)).count();
        if let (Node::Array(array), Some(at), 1..) = (node, next, plain) {
            let values = rest[..plain].iter().map(value::any).collect::<Result<Vec<_>, _>>()?;
            array.insert_range(txn, at, values);
            handles.extend(std::iter::repeat_n(Json::Null, plain));
            next = Some(at + plain as u32);
            rest = &rest[plain..];
            continue;
        }
        let new = put(session, txn, node, next.map_or(Place::End, Place::Index), first)?;
        handles.push(new.map_or(Json::Null, |new| session.nodes.remember(new).into()));
        next = next.map(|next| next + 1);
        rest = &rest[1..];
    }
    Ok(handles.into())
}

/// Whether Yjs would put this value into a ContentAny together with its neighbours.
fn is_plain(value: &Json) -> bool {
    !matches!(value.get("$").as_str(), Some("type" | "doc" | "bytes"))
}

fn map(
    session: &mut Session,
    txn: &mut TransactionMut<'_>,
    node: &Node,
    request: &Json,
) -> Result<Json, Failure> {
    let key = request.get("key").as_str().unwrap_or_default();
    match request.get("op").as_str().unwrap_or_default() {
        "map_set" => {
            let new = put(session, txn, node, Place::Key(key), request.get("value"))?;
            Ok(new.map_or(Json::Null, |new| session.nodes.remember(new).into()))
        }
        "map_delete" => {
            match node {
                Node::Map(node) => drop(node.remove(txn, key)),
                _ => node.with_attributes()?.remove_attribute(txn, key),
            }
            Ok(Json::Null)
        }
        "map_clear" => match node {
            Node::Map(node) => {
                node.clear(txn);
                Ok(Json::Null)
            }
            _ => Err(node.lacks("keys to clear")),
        },
        op => Err(Failure::unsupported(op)),
    }
}

fn text(
    session: &mut Session,
    txn: &mut TransactionMut<'_>,
    node: &Node,
    request: &Json,
) -> Result<Json, Failure> {
    let text = node.text()?;
    let len = text.len(txn);
    let bound = |index: u32, end: u32| if LENIENT { index } else { index.min(end) };
    // without an index: at the end
    let index = || match request.find("index") {
        Some(_) => number(request, "index").map(|index| bound(index, len)),
        None => Ok(len),
    };
    let attrs = || value::attrs(request.find("attrs"));
    match request.get("op").as_str().unwrap_or_default() {
        "text_insert" => {
            let chunk = request.get("text").as_str().unwrap_or_default();
            match attrs()? {
                Some(attrs) => text.insert_with_attributes(txn, index()?, chunk, attrs),
                None => text.insert(txn, index()?, chunk),
            }
        }
        "text_embed" => {
            let new = put(session, txn, node, Place::Embed(index()?, attrs()?), request.get("value"))?;
            return Ok(new.map_or(Json::Null, |new| session.nodes.remember(new).into()));
        }
        "text_delete" => {
            let index = index()?;
            let len = bound(number(request, "len")?, len.saturating_sub(index));
            if len > 0 {
                text.remove_range(txn, index, len);
            }
        }
        "text_format" => {
            let index = index()?;
            let len = bound(number(request, "len")?, len.saturating_sub(index));
            let attrs = attrs()?.ok_or_else(|| Failure::error("attrs is missing"))?;
            if len > 0 {
                beyond::format(&text, txn, index, len, attrs);
            }
        }
        "text_delta" if request.get("sanitize").as_bool() == Some(false) => {
            beyond::apply_unsanitized(&text, txn, steps(request.get("delta"))?)?;
        }
        "text_delta" => apply_delta(txn, node, request.get("delta"))?,
        op => return Err(Failure::unsupported(op)),
    }
    Ok(Json::Null)
}

/// Applies a delta of texts, plain embeds and new types.
pub(super) fn apply_delta(txn: &mut TransactionMut<'_>, node: &Node, delta: &Json) -> Result<(), Failure> {
    node.text()?.apply_delta(txn, steps(delta)?);
    Ok(())
}

fn steps(delta: &Json) -> Result<Vec<Delta<In>>, Failure> {
    let mut parts = Vec::new();
    for part in delta.items() {
        let attrs = value::attrs(part.find("attributes"))?.map(Box::new);
        parts.push(match (part.find("insert"), part.get("delete").as_u64()) {
            (Some(content), _) => Delta::Inserted(filled_prelim(content)?, attrs),
            (None, Some(len)) => Delta::Deleted(len as u32),
            (None, None) => Delta::Retain(number(part, "retain")?, attrs),
        });
    }
    Ok(parts)
}

fn number(request: &Json, key: &str) -> Result<u32, Failure> {
    let number = request.get(key).as_u64().and_then(|number| u32::try_from(number).ok());
    number.ok_or_else(|| Failure::error(format!("{key} is no index: {}", request.get(key))))
}
