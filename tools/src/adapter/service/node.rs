//! Handles to shared types: how one is named, found by a path, made and filled.

use super::super::engine::{
    Any, Array, ArrayPrelim, ArrayRef, Attrs, BranchID, DeltaPrelim, Doc, GetString, In, Map, MapPrelim, MapRef,
    Options, Out, ReadTxn, SharedRef, Text, TextPrelim, TextRef, ToJson, TransactionMut, Xml, XmlDeltaPrelim,
    XmlElementPrelim, XmlElementRef, XmlFragment, XmlFragmentPrelim, XmlFragmentRef, XmlIn, XmlOut, XmlTextPrelim,
    XmlTextRef,
};
use super::super::json::Json;
use super::session::Session;
use super::{Failure, ops, value};

/// A shared type of any kind.
#[derive(Clone)]
pub(super) enum Node {
    Text(TextRef),
    Array(ArrayRef),
    Map(MapRef),
    XmlText(XmlTextRef),
    XmlElement(XmlElementRef),
    XmlFragment(XmlFragmentRef),
}

impl Node {
    /// The kind's name in the protocol.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) => "text",
            Self::Array(_) => "array",
            Self::Map(_) => "map",
            Self::XmlText(_) => "xmltext",
            Self::XmlElement(_) => "xmlelement",
            Self::XmlFragment(_) => "xmlfragment",
        }
    }

    /// The handle: `@name` of a root, `client:clock` of a nested type.
    pub(super) fn handle(&self) -> String {
        let id = match self {
            Self::Text(node) => node.hook().id().clone(),
            Self::Array(node) => node.hook().id().clone(),
            Self::Map(node) => node.hook().id().clone(),
            Self::XmlText(node) => node.hook().id().clone(),
            Self::XmlElement(node) => node.hook().id().clone(),
            Self::XmlFragment(node) => node.hook().id().clone(),
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
            Self::XmlText(node) => node.len(txn),
            Self::XmlElement(node) => node.len(txn),
            Self::XmlFragment(node) => node.len(txn),
        }
    }

    /// The value as `toJSON` of Yjs gives it.
    pub(super) fn to_json<T: ReadTxn>(&self, txn: &T) -> Json {
        match self {
            Self::Array(node) => value::json(&node.to_json(txn)),
            Self::Map(node) => value::json(&node.to_json(txn)),
            _ => Json::String(self.string(txn)),
        }
    }

    /// The value as `toString` of Yjs gives it.
    pub(super) fn string<T: ReadTxn>(&self, txn: &T) -> String {
        match self {
            Self::Text(node) => node.get_string(txn),
            Self::XmlText(node) => node.get_string(txn),
            Self::XmlElement(node) => node.get_string(txn),
            Self::XmlFragment(node) => node.get_string(txn),
            Self::Array(_) | Self::Map(_) => "[object Object]".to_owned(),
        }
    }

    /// What is found in a list at `index`.
    pub(super) fn at<T: ReadTxn>(&self, txn: &T, index: u32) -> Result<Option<Out>, Failure> {
        Ok(match self {
            Self::Array(node) => node.get(txn, index),
            Self::XmlElement(node) => node.get(txn, index).map(xml_out),
            Self::XmlFragment(node) => node.get(txn, index).map(xml_out),
            _ => return Err(Failure::error(format!("a {} has no elements", self.kind()))),
        })
    }

    /// What is found under a key of a map or an attribute.
    pub(super) fn key<T: ReadTxn>(&self, txn: &T, key: &str) -> Result<Option<Out>, Failure> {
        Ok(match self {
            Self::Map(node) => node.get(txn, key),
            Self::Text(node) => {
                let node: &XmlTextRef = node.as_ref();
                node.get_attribute(txn, key)
            }
            Self::XmlText(node) => node.get_attribute(txn, key),
            Self::XmlElement(node) => node.get_attribute(txn, key),
            _ => return Err(Failure::error(format!("a {} has no keys", self.kind()))),
        })
    }

    /// All keys of a map, or the attributes.
    pub(super) fn pairs<T: ReadTxn>(&self, txn: &T) -> Result<Vec<(String, Out)>, Failure> {
        Ok(match self {
            Self::Map(node) => node.iter(txn).map(|(key, value)| (key.to_string(), value)).collect(),
            Self::Text(node) => {
                let node: &XmlTextRef = node.as_ref();
                node.attributes(txn).map(|(key, value)| (key.to_string(), value)).collect()
            }
            Self::XmlText(node) => node.attributes(txn).map(|(key, value)| (key.to_string(), value)).collect(),
            Self::XmlElement(node) => node.attributes(txn).map(|(key, value)| (key.to_string(), value)).collect(),
            _ => return Err(Failure::error(format!("a {} has no keys", self.kind()))),
        })
    }

    /// The pieces of a text: content and attributes.
    pub(super) fn pieces<T: ReadTxn>(&self, txn: &T) -> Result<Vec<(Out, Option<Attrs>)>, Failure> {
        let diff = match self {
            Self::Text(node) => node.diff(txn, |_| ()),
            Self::XmlText(node) => node.diff(txn, |_| ()),
            _ => return Err(Failure::error(format!("a {} has no delta", self.kind()))),
        };
        Ok(diff.into_iter().map(|piece| (piece.insert, piece.attributes.map(|attrs| *attrs))).collect())
    }
}

fn xml_out(out: XmlOut) -> Out {
    match out {
        XmlOut::Element(node) => Out::YXmlElement(node),
        XmlOut::Fragment(node) => Out::YXmlFragment(node),
        XmlOut::Text(node) => Out::YXmlText(node),
    }
}

/// The shared type in a value, if it is one that the protocol can name.
pub(super) fn node_of(out: &Out) -> Option<Node> {
    Some(match out {
        Out::YText(node) => Node::Text(node.clone()),
        Out::YArray(node) => Node::Array(node.clone()),
        Out::YMap(node) => Node::Map(node.clone()),
        Out::YXmlText(node) => Node::XmlText(node.clone()),
        Out::YXmlElement(node) => Node::XmlElement(node.clone()),
        Out::YXmlFragment(node) => Node::XmlFragment(node.clone()),
        _ => return None,
    })
}

impl Session {
    /// Finds the type that `h` names, by handle or by path.
    pub(super) fn find<T: ReadTxn>(&self, txn: &T, h: &Json) -> Result<Node, Failure> {
        let (handle, path) = match h {
            Json::String(handle) => (handle.as_str(), &[][..]),
            Json::Array(path) => (path.first().and_then(Json::as_str).unwrap_or_default(), &path[1..]),
            _ => return Err(Failure::error("h is missing")),
        };
        let mut node = self.nodes.get(handle).ok_or_else(|| Failure::error(format!("no handle {handle}")))?.clone();
        for segment in path {
            let out = match segment {
                Json::Number(index) => node.at(txn, *index as u32)?,
                Json::String(key) => node.key(txn, key)?,
                other => {
                    let n = other.get("embed").as_u64().unwrap_or_default() as usize;
                    node.pieces(txn)?.into_iter().map(|(out, _)| out).filter(|out| node_of(out).is_some()).nth(n)
                }
            };
            node = out.as_ref().and_then(node_of).ok_or_else(|| Failure::error(format!("no type at {h}")))?;
        }
        Ok(node)
    }

    /// Gives a type its handle.
    pub(super) fn remember(&mut self, node: Node) -> String {
        let handle = node.handle();
        self.nodes.entry(handle.clone()).or_insert(node);
        handle
    }

    /// Writes a value of a document; a shared type becomes its handle.
    pub(super) fn reply(&mut self, out: &Out) -> Json {
        match (out, node_of(out)) {
            (_, Some(node)) => {
                let kind = node.kind();
                Json::tagged("type", [("kind", kind.into()), ("h", self.remember(node).into())])
            }
            (Out::Any(any), _) => value::json(any),
            (Out::YDoc(doc), _) => Json::tagged("doc", [("guid", doc.guid().to_string().into())]),
            _ => Json::tagged("undefined", []),
        }
    }
}

/// Where a new value goes.
pub(super) enum Place<'a> {
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
    let prelim = prelim(content)?;
    let out = match (node, place) {
        (Node::Array(node), Place::Index(index)) => node.insert(txn, index, prelim),
        (Node::Array(node), Place::End) => node.push_back(txn, prelim),
        (Node::Map(node), Place::Key(key)) => node.insert(txn, key, prelim),
        (Node::Text(node), Place::Key(key)) => {
            let node: &XmlTextRef = node.as_ref();
            node.insert_attribute(txn, key, prelim)
        }
        (Node::XmlText(node), Place::Key(key)) => node.insert_attribute(txn, key, prelim),
        (Node::XmlElement(node), Place::Key(key)) => node.insert_attribute(txn, key, prelim),
        (Node::XmlElement(node), Place::Index(index)) => xml_out(node.insert(txn, index, xml_prelim(prelim)?)),
        (Node::XmlFragment(node), Place::Index(index)) => xml_out(node.insert(txn, index, xml_prelim(prelim)?)),
        (Node::XmlElement(node), Place::End) => xml_out(node.push_back(txn, xml_prelim(prelim)?)),
        (Node::XmlFragment(node), Place::End) => xml_out(node.push_back(txn, xml_prelim(prelim)?)),
        (Node::Text(node), Place::Embed(index, attrs)) => embed(node, txn, index, attrs, prelim)?,
        (Node::XmlText(node), Place::Embed(index, attrs)) => embed(node, txn, index, attrs, prelim)?,
        _ => return Err(Failure::error(format!("a {} does not take this", node.kind()))),
    };
    let Some(new) = node_of(&out) else { return Ok(None) };
    fill(session, txn, &new, content)?;
    Ok(Some(new))
}

fn xml_prelim(prelim: In) -> Result<XmlIn, Failure> {
    Ok(match prelim {
        In::XmlElement(prelim) => prelim.into(),
        In::XmlFragment(prelim) => XmlIn::Fragment(prelim),
        In::XmlText(prelim) => prelim.into(),
        _ => return Err(Failure::unsupported("a node that is not XML")),
    })
}

/// An empty type of the wanted kind, or a plain value.
fn prelim(content: &Json) -> Result<In, Failure> {
    let name = || content.get("name").as_str().unwrap_or_default();
    Ok(match (content.get("$").as_str(), content.get("kind").as_str()) {
        (Some("doc"), _) => {
            let mut options = Options::default();
            if let Some(guid) = content.get("guid").as_str() {
                options.guid = guid.into();
            }
            options.auto_load = content.get("autoLoad").as_bool() == Some(true);
            options.skip_gc = content.get("gc").as_bool() == Some(false);
            In::Doc(Doc::with_options(options))
        }
        (Some("type"), Some("text")) => In::Text(DeltaPrelim::default()),
        (Some("type"), Some("array")) => In::Array(ArrayPrelim::default()),
        (Some("type"), Some("map")) => In::Map(MapPrelim::default()),
        (Some("type"), Some("xmltext")) => In::XmlText(XmlDeltaPrelim::default()),
        (Some("type"), Some("xmlelement")) => In::XmlElement(XmlElementPrelim::empty(name())),
        (Some("type"), Some("xmlfragment")) => In::XmlFragment(XmlFragmentPrelim::default()),
        (Some("type"), kind) => return Err(Failure::unsupported(&format!("making a {kind:?}"))),
        _ => In::Any(value::any(content)?),
    })
}

fn embed<N: Text>(
    node: &N,
    txn: &mut TransactionMut<'_>,
    index: u32,
    attrs: Option<Attrs>,
    prelim: In,
) -> Result<Out, Failure> {
    macro_rules! insert {
        ($prelim:expr) => {
            match attrs {
                Some(attrs) => node.insert_embed_with_attributes(txn, index, $prelim, attrs),
                None => node.insert_embed(txn, index, $prelim),
            }
        };
    }
    Ok(match prelim {
        In::Any(any) => {
            insert!(any);
            Out::Any(Any::Undefined)
        }
        In::Text(_) => Out::YText(insert!(TextPrelim::new(""))),
        In::Array(prelim) => Out::YArray(insert!(prelim)),
        In::Map(prelim) => Out::YMap(insert!(prelim)),
        In::XmlText(_) => Out::YXmlText(insert!(XmlTextPrelim::new(""))),
        In::XmlElement(prelim) => Out::YXmlElement(insert!(prelim)),
        In::XmlFragment(prelim) => Out::YXmlFragment(insert!(prelim)),
        _ => return Err(Failure::unsupported("this embed")),
    })
}

/// Fills a type that was just made, in the order in which Yjs does: elements and children, then attributes.
fn fill(session: &mut Session, txn: &mut TransactionMut<'_>, node: &Node, content: &Json) -> Result<(), Failure> {
    let init = content.get("init");
    match node {
        Node::Map(_) => {
            for entry in init.items() {
                let key = entry.items().first().and_then(Json::as_str).unwrap_or_default();
                let value = entry.items().get(1).cloned().unwrap_or_default();
                put(session, txn, node, Place::Key(key), &value)?;
            }
        }
        Node::Text(_) | Node::XmlText(_) => {
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
