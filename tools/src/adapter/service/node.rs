//! Handles to shared types: how one is named, found by a path, made and filled.

use super::super::beyond;
use super::super::engine::{
    Any, Array, ArrayPrelim, ArrayRef, Attrs, BranchID, DeltaPrelim, GetString, In, Map, MapPrelim, MapRef,
    Out, ReadTxn, SharedRef, Text, TextPrelim, TextRef, ToJson, TransactionMut,
};
use super::super::extra::{self, Extra};
use super::super::json::Json;
use super::super::late;
use super::session::Session;
use super::{Failure, ops, value};
use std::collections::HashMap;

/// A shared type of any kind.
#[derive(Clone)]
pub(crate) enum Node {
    Text(TextRef),
    Array(ArrayRef),
    Map(MapRef),
    Extra(Extra),
}

impl Node {
    /// The kind's name in the protocol.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) => "text",
            Self::Array(_) => "array",
            Self::Map(node) => beyond::kind_of_map(node),
            Self::Extra(node) => node.kind(),
        }
    }

    /// The handle: `@name` of a root, `client:clock` of a nested type.
    pub(super) fn handle(&self) -> String {
        let id = match self {
            Self::Text(node) => node.hook().id().clone(),
            Self::Array(node) => node.hook().id().clone(),
            Self::Map(node) => node.hook().id().clone(),
            Self::Extra(node) => node.id(),
        };
        match id {
            BranchID::Root(name) => format!("@{name}"),
            BranchID::Nested(id) => format!("{}:{}", id.client, id.clock),
        }
    }

    /// Length in UTF-16 units or elements; of a map its number of keys.
    pub(super) fn len<T: ReadTxn>(&self, txn: &T) -> u32 {
        match self {
            Self::Text(node) => node.len(txn),
            Self::Array(node) => node.len(txn),
            Self::Map(node) => node.len(txn),
            Self::Extra(node) => node.len(txn),
        }
    }

    /// The value as `toJSON` of Yjs gives it.
    pub(super) fn to_json<T: ReadTxn>(&self, txn: &T) -> Json {
        match self {
            Self::Array(node) => beyond::to_json(self, txn, value::json(&node.to_json(txn))),
            Self::Map(node) => beyond::to_json(self, txn, value::json(&node.to_json(txn))),
            _ => Json::String(self.string(txn)),
        }
    }

    /// The value as `toString` of Yjs gives it.
    pub(crate) fn string<T: ReadTxn>(&self, txn: &T) -> String {
        match self {
            Self::Text(node) => node.get_string(txn),
            Self::Extra(node) => node.string(txn),
            Self::Array(_) | Self::Map(_) => "[object Object]".to_owned(),
        }
    }

    /// What is found in a list at `index`.
    pub(super) fn at<T: ReadTxn>(&self, txn: &T, index: u32) -> Result<Option<Out>, Failure> {
        match self {
            Self::Array(node) => Ok(node.get(txn, index)),
            Self::Extra(node) => Ok(node.at(txn, index)),
            _ => Err(self.lacks("elements")),
        }
    }

    /// What is found under a key of a map or an attribute.
    pub(super) fn key<T: ReadTxn>(&self, txn: &T, key: &str) -> Result<Option<Out>, Failure> {
        match self {
            Self::Map(node) => Ok(node.get(txn, key)),
            _ => Ok(self.with_attributes()?.attribute(txn, key)),
        }
    }

    /// All keys of a map, or the attributes.
    pub(super) fn pairs<T: ReadTxn>(&self, txn: &T) -> Result<Vec<(String, Out)>, Failure> {
        match self {
            Self::Map(node) => Ok(node.iter(txn).map(|(key, value)| (key.to_string(), value)).collect()),
            _ => Ok(self.with_attributes()?.attributes(txn)),
        }
    }

    /// The pieces of a text: content and attributes.
    pub(super) fn pieces<T: ReadTxn>(&self, txn: &T) -> Result<Vec<(Out, Option<Attrs>)>, Failure> {
        let diff = self.text()?.diff(txn, |_| ());
        Ok(diff.into_iter().map(|piece| (piece.insert, piece.attributes.map(|attrs| *attrs))).collect())
    }

    /// The type as a text.
    pub(crate) fn text(&self) -> Result<TextRef, Failure> {
        match self {
            Self::Text(node) => Ok(node.clone()),
            Self::Extra(node) => node.text().ok_or_else(|| self.lacks("text")),
            _ => Err(self.lacks("text")),
        }
    }

    /// The type as something with attributes.
    pub(crate) fn with_attributes(&self) -> Result<Extra, Failure> {
        match self {
            Self::Text(node) => {
                extra::with_attributes(node).ok_or_else(|| Failure::unsupported("attributes of a text"))
            }
            Self::Extra(node) => Ok(node.clone()),
            _ => Err(self.lacks("attributes")),
        }
    }

    /// The failure of asking for what this kind has not.
    pub(crate) fn lacks(&self, what: &str) -> Failure {
        Failure::error(format!("a {} has no {what}", self.kind()))
    }
}

/// The shared type in a value, if it is one that the protocol can name.
pub(crate) fn node_of(out: &Out) -> Option<Node> {
    match out {
        Out::YText(node) => Some(Node::Text(node.clone())),
        Out::YArray(node) => Some(Node::Array(node.clone())),
        Out::YMap(node) => Some(Node::Map(node.clone())),
        _ => Extra::of(out).map(Node::Extra),
    }
}

/// The handles given out so far.
#[derive(Clone, Default)]
pub(crate) struct Nodes(pub(super) HashMap<String, Node>);

impl Nodes {
    /// Finds the type that `h` names, by handle or by path.
    pub(crate) fn find<T: ReadTxn>(&self, txn: &T, h: &Json) -> Result<Node, Failure> {
        let (handle, path) = match h {
            Json::String(handle) => (handle.as_str(), &[][..]),
            Json::Array(path) => (path.first().and_then(Json::as_str).unwrap_or_default(), &path[1..]),
            _ => return Err(Failure::error("h is missing")),
        };
        let missing = || match handle.strip_prefix('@') {
            Some(root) => Failure::unsupported(&format!("the kind of root {root}")),
            None => Failure::error(format!("no handle {handle}")),
        };
        let mut node = self.0.get(handle).ok_or_else(missing)?.clone();
        for segment in path {
            let out = match segment {
                Json::Number(index) => node.at(txn, *index as u32)?,
                Json::String(key) => node.key(txn, key)?,
                other => {
                    let n = other.get("embed").as_u64().unwrap_or_default() as usize;
                    node.pieces(txn)?
                        .into_iter()
                        .map(|(out, _)| out)
                        .filter(|out| node_of(out).is_some())
                        .nth(n)
                }
            };
            node = out.as_ref().and_then(node_of).ok_or_else(|| Failure::error(format!("no type at {h}")))?;
        }
        Ok(node)
    }

    /// Gives a type its handle.
    pub(super) fn remember(&mut self, node: Node) -> String {
        let handle = node.handle();
        self.0.entry(handle.clone()).or_insert(node);
        handle
    }

    /// Writes a value of a document; a shared type becomes its handle.
    pub(crate) fn reply(&mut self, out: &Out) -> Json {
        match (out, node_of(out)) {
            (_, Some(node)) => {
                let kind = node.kind();
                Json::tagged("type", [("kind", kind.into()), ("h", self.remember(node).into())])
            }
            (Out::Any(any), _) => value::json(any),
            _ => late::subdoc(out).unwrap_or_else(|| Json::tagged("undefined", [])),
        }
    }
}

/// A type with all that it holds, as TJSON describes one that is to be made. Yjs: `clone`.
pub(super) fn copy<T: ReadTxn>(node: &Node, txn: &T) -> Result<Json, Failure> {
    let inner = |out: &Out| match (node_of(out), out) {
        (Some(node), _) => copy(&node, txn),
        (None, Out::Any(any)) => Ok(value::json(any)),
        _ => late::subdoc(out).ok_or_else(|| Failure::unsupported("a copy of this")),
    };
    let mut new = Json::tagged("type", [("kind", node.kind().into())]);
    match node {
        Node::Map(map) => {
            if let Some(name) = beyond::hook_name(map) {
                new.set("name", name.into());
            }
            let entry = |(key, out): (String, Out)| {
                let value = beyond::exact_key(node, txn, &key).map_or_else(|| inner(&out), Ok)?;
                Ok(Json::Array(vec![key.into(), value]))
            };
            new.set("init", node.pairs(txn)?.into_iter().map(entry).collect::<Result<Vec<_>, _>>()?.into());
        }
        // in Yjs the copy of an XML text has no attributes
        _ if node.text().is_ok() => {
            let piece = |(out, attrs): (Out, Option<Attrs>)| {
                let mut piece = Json::object([("insert", inner(&out)?)]);
                if let Some(attrs) = attrs.filter(|attrs| !attrs.is_empty()) {
                    piece.set("attributes", value::attrs_json(&attrs));
                }
                Ok(piece)
            };
            new.set("delta", node.pieces(txn)?.into_iter().map(piece).collect::<Result<Vec<_>, _>>()?.into());
        }
        _ => {
            let child = |index| match beyond::exact_element(node, txn, index) {
                Some(exact) => Ok(exact),
                None => node.at(txn, index)?.as_ref().map_or(Ok(Json::Null), inner),
            };
            new.set("init", (0..node.len(txn)).map(child).collect::<Result<Vec<_>, _>>()?.into());
            if let Node::Extra(extra) = node {
                new.set("name", extra.name().into());
                let attrs = node.pairs(txn)?.into_iter().map(|(key, out)| Ok((key, inner(&out)?)));
                new.set("attrs", Json::Object(attrs.collect::<Result<_, Failure>>()?));
            }
        }
    }
    Ok(new)
}

/// Where a new value goes.
pub(crate) enum Place<'a> {
    Index(u32),
    End,
    Key(&'a str),
    Embed(u32, Option<Attrs>),
}

/// Puts a value, shared type or sub-document into `node`; returns the new type.
pub(super) fn put(
    session: &mut Session,
    txn: &mut TransactionMut<'_>,
    node: &Node,
    place: Place<'_>,
    content: &Json,
) -> Result<Option<Node>, Failure> {
    if let Place::Embed(index, attrs) = place {
        // what the new type holds must stand before the marks that end its attributes
        return Ok(node_of(&embed(&node.text()?, txn, index, attrs, content)?));
    }
    if let Some(put) = beyond::put(txn, node, &place, content) {
        if let Some(new) = put? {
            fill(session, txn, &new, content)?;
            return Ok(Some(new));
        }
        return Ok(None);
    }
    let prelim = prelim(content)?;
    let missing = || node.lacks("place for this");
    let out = match (node, place) {
        (Node::Array(node), Place::Index(index)) => node.insert(txn, index, prelim),
        (Node::Array(node), Place::End) => node.push_back(txn, prelim),
        (Node::Map(node), Place::Key(key)) => node.insert(txn, key, prelim),
        (_, Place::Key(key)) => {
            node.with_attributes()?.set_attribute(txn, key, prelim).ok_or_else(missing)?
        }
        (Node::Extra(node), Place::Index(index)) => {
            node.insert(txn, Some(index), prelim).ok_or_else(missing)?
        }
        (Node::Extra(node), Place::End) => node.insert(txn, None, prelim).ok_or_else(missing)?,
        _ => return Err(missing()),
    };
    let Some(new) = node_of(&out) else { return Ok(None) };
    fill(session, txn, &new, content)?;
    Ok(Some(new))
}

/// An empty type of the wanted kind, or a plain value.
fn prelim(content: &Json) -> Result<In, Failure> {
    if let Some(prelim) = extra::prelim(content)? {
        return Ok(prelim);
    }
    Ok(match (content.get("$").as_str(), content.get("kind").as_str()) {
        (Some("type"), Some("text")) => In::Text(DeltaPrelim::default()),
        (Some("type"), Some("array")) => In::Array(ArrayPrelim::default()),
        (Some("type"), Some("map")) => In::Map(MapPrelim::default()),
        (Some("type"), Some(kind)) => return Err(Failure::unsupported(&format!("making a {kind}"))),
        _ => In::Any(value::any(content)?),
    })
}

/// A value for a delta: a type is filled before it is inserted.
pub(super) fn filled_prelim(content: &Json) -> Result<In, Failure> {
    let init = content.get("init").items();
    Ok(match prelim(content)? {
        In::Array(_) => {
            In::Array(init.iter().map(filled_prelim).collect::<Result<Vec<_>, _>>()?.into_iter().collect())
        }
        In::Map(_) => {
            let entry = |entry: &Json| {
                let key = entry.items().first().and_then(Json::as_str).unwrap_or_default();
                Ok((key.to_owned(), filled_prelim(entry.items().get(1).unwrap_or(&Json::Null))?))
            };
            In::Map(init.iter().map(entry).collect::<Result<Vec<_>, Failure>>()?.into_iter().collect())
        }
        In::Text(_) => In::Text(TextPrelim::new(plain_text(content)?).into()),
        other => other,
    })
}

/// The text of a delta without embeds and attributes.
fn plain_text(content: &Json) -> Result<String, Failure> {
    let plain = |part: &Json| {
        part.get("insert").as_str().filter(|_| part.find("attributes").is_none()).map(str::to_owned)
    };
    let text: Option<String> = content.get("delta").items().iter().map(plain).collect();
    text.ok_or_else(|| Failure::unsupported("a formatted text within a text"))
}

fn embed(
    text: &TextRef,
    txn: &mut TransactionMut<'_>,
    index: u32,
    attrs: Option<Attrs>,
    content: &Json,
) -> Result<Out, Failure> {
    // in Yjs an embed does not inherit: absent attributes are none
    let attrs = attrs.unwrap_or_default();
    Ok(match filled_prelim(content)? {
        In::Any(any) => {
            text.insert_embed_with_attributes(txn, index, any, attrs);
            Out::Any(Any::Undefined)
        }
        In::Text(_) => {
            let prelim = TextPrelim::new(plain_text(content)?);
            Out::YText(text.insert_embed_with_attributes(txn, index, prelim, attrs))
        }
        In::Array(prelim) => Out::YArray(text.insert_embed_with_attributes(txn, index, prelim, attrs)),
        In::Map(prelim) => Out::YMap(text.insert_embed_with_attributes(txn, index, prelim, attrs)),
        #[allow(unreachable_patterns, reason = "an engine without XML has no other kind")]
        other => {
            let out = extra::embed(text, txn, index, attrs, other);
            out.ok_or_else(|| Failure::unsupported("this embed"))?
        }
    })
}

/// Fills a type that was just made, in the order in which Yjs does: elements and children, then attributes.
fn fill(
    session: &mut Session,
    txn: &mut TransactionMut<'_>,
    node: &Node,
    content: &Json,
) -> Result<(), Failure> {
    let init = content.get("init");
    match node {
        Node::Map(_) => {
            for entry in init.items() {
                let key = entry.items().first().and_then(Json::as_str).unwrap_or_default();
                let value = entry.items().get(1).cloned().unwrap_or_default();
                put(session, txn, node, Place::Key(key), &value)?;
            }
        }
        _ if node.text().is_ok() => {
            if content.find("delta").is_some() {
                ops::apply_delta(txn, node, content.get("delta"))?;
            }
        }
        _ => {
            ops::list_insert(session, txn, node, Some(0), init.items())?;
        }
    }
    for (key, value) in content.get("attrs").entries() {
        put(session, txn, node, Place::Key(key), value)?;
    }
    Ok(())
}
