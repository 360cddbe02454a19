//! The kinds beyond text, array and map: XML and sub-documents.

use super::beyond;
use super::engine::{
    Attrs, BranchID, GetString, In, Out, ReadTxn, SharedRef, Text, TextRef, TransactionMut, WriteTxn, Xml,
    XmlDeltaPrelim, XmlElementPrelim, XmlElementRef, XmlFragment, XmlFragmentPrelim, XmlFragmentRef, XmlIn,
    XmlOut, XmlTextPrelim, XmlTextRef,
};
use super::json::Json;
use super::late;
use super::service::Failure;

/// A shared type of one of these kinds.
#[derive(Clone)]
pub(crate) enum Extra {
    Text(XmlTextRef),
    Element(XmlElementRef),
    Fragment(XmlFragmentRef),
}

impl Extra {
    /// Makes or finds a root.
    pub(crate) fn root(txn: &mut TransactionMut<'_>, name: &str, kind: &str) -> Option<Self> {
        match kind {
            "xmlelement" => beyond::root_element(txn, name).map(Self::Element),
            "xmlfragment" => Some(Self::Fragment(txn.get_or_insert_xml_fragment(name))),
            "xmltext" => with_attributes(&txn.get_or_insert_text(name)),
            _ => None,
        }
    }

    /// The type in a value, if it is one of these.
    pub(crate) fn of(out: &Out) -> Option<Self> {
        match out {
            Out::YXmlText(node) => Some(Self::Text(node.clone())),
            Out::YXmlElement(node) => Some(Self::Element(node.clone())),
            Out::YXmlFragment(node) => Some(Self::Fragment(node.clone())),
            _ => None,
        }
    }

    /// The kind's name in the protocol.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) => "xmltext",
            Self::Element(_) => "xmlelement",
            Self::Fragment(_) => "xmlfragment",
        }
    }

    /// The class of Yjs.
    pub(crate) fn class(&self) -> &'static str {
        match self {
            Self::Text(_) => "YXmlText",
            Self::Element(_) => "YXmlElement",
            Self::Fragment(_) => "YXmlFragment",
        }
    }

    /// The name of an element; empty if it is none.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Element(node) => node.try_tag().map(ToString::to_string).unwrap_or_default(),
            Self::Text(_) | Self::Fragment(_) => String::new(),
        }
    }

    pub(crate) fn id(&self) -> BranchID {
        match self {
            Self::Text(node) => node.hook().id().clone(),
            Self::Element(node) => node.hook().id().clone(),
            Self::Fragment(node) => node.hook().id().clone(),
        }
    }

    /// Its text, if it is a text.
    pub(crate) fn text(&self) -> Option<TextRef> {
        match self {
            Self::Text(node) => Some(AsRef::<TextRef>::as_ref(node).clone()),
            _ => None,
        }
    }

    pub(crate) fn len<T: ReadTxn>(&self, txn: &T) -> u32 {
        match self {
            Self::Text(node) => Text::len(node, txn),
            Self::Element(node) => node.len(txn),
            Self::Fragment(node) => node.len(txn),
        }
    }

    pub(crate) fn string<T: ReadTxn>(&self, txn: &T) -> String {
        match self {
            Self::Text(node) => node.get_string(txn),
            Self::Element(node) => node.get_string(txn),
            Self::Fragment(node) => node.get_string(txn),
        }
    }

    /// The child at an index.
    pub(crate) fn at<T: ReadTxn>(&self, txn: &T, index: u32) -> Option<Out> {
        match self {
            Self::Text(_) => None,
            Self::Element(node) => beyond::child(node, txn, index),
            Self::Fragment(node) => beyond::child(node, txn, index),
        }
    }

    /// Inserts a child, at the end if there is no index.
    pub(crate) fn insert(&self, txn: &mut TransactionMut<'_>, index: Option<u32>, prelim: In) -> Option<Out> {
        let prelim = match prelim {
            In::XmlElement(prelim) => XmlIn::from(prelim),
            In::XmlFragment(prelim) => XmlIn::Fragment(prelim),
            In::XmlText(prelim) => XmlIn::from(prelim),
            _ => return None,
        };
        Some(xml_out(match (self, index) {
            (Self::Element(node), Some(index)) => node.insert(txn, index, prelim),
            (Self::Element(node), None) => node.push_back(txn, prelim),
            (Self::Fragment(node), Some(index)) => node.insert(txn, index, prelim),
            (Self::Fragment(node), None) => node.push_back(txn, prelim),
            (Self::Text(_), _) => return None,
        }))
    }

    /// Removes children.
    pub(crate) fn remove_range(&self, txn: &mut TransactionMut<'_>, index: u32, len: u32) {
        match self {
            Self::Text(_) => {}
            Self::Element(node) => node.remove_range(txn, index, len),
            Self::Fragment(node) => node.remove_range(txn, index, len),
        }
    }

    pub(crate) fn attribute<T: ReadTxn>(&self, txn: &T, key: &str) -> Option<Out> {
        match self {
            Self::Text(node) => node.get_attribute(txn, key),
            Self::Element(node) => node.get_attribute(txn, key),
            Self::Fragment(_) => None,
        }
    }

    pub(crate) fn attributes<T: ReadTxn>(&self, txn: &T) -> Vec<(String, Out)> {
        match self {
            Self::Text(node) => node.attributes(txn).map(|(key, value)| (key.to_string(), value)).collect(),
            Self::Element(node) => {
                node.attributes(txn).map(|(key, value)| (key.to_string(), value)).collect()
            }
            Self::Fragment(_) => Vec::new(),
        }
    }

    pub(crate) fn set_attribute(&self, txn: &mut TransactionMut<'_>, key: &str, prelim: In) -> Option<Out> {
        match self {
            Self::Text(node) => Some(node.insert_attribute(txn, key, prelim)),
            Self::Element(node) => Some(node.insert_attribute(txn, key, prelim)),
            Self::Fragment(_) => None,
        }
    }

    pub(crate) fn remove_attribute(&self, txn: &mut TransactionMut<'_>, key: &str) {
        match self {
            Self::Text(node) => node.remove_attribute(txn, &key),
            Self::Element(node) => node.remove_attribute(txn, &key),
            Self::Fragment(_) => {}
        }
    }
}

/// A text as something with attributes.
pub(crate) fn with_attributes(text: &TextRef) -> Option<Extra> {
    Some(Extra::Text(AsRef::<XmlTextRef>::as_ref(text).clone()))
}

pub(crate) fn xml_out(out: XmlOut) -> Out {
    match out {
        XmlOut::Element(node) => Out::YXmlElement(node),
        XmlOut::Fragment(node) => Out::YXmlFragment(node),
        XmlOut::Text(node) => Out::YXmlText(node),
    }
}

/// An empty type of one of these kinds, or a sub-document, as TJSON describes it.
pub(crate) fn prelim(content: &Json) -> Result<Option<In>, Failure> {
    let name = || content.get("name").as_str().unwrap_or_default();
    Ok(Some(match (content.get("$").as_str(), content.get("kind").as_str()) {
        (Some("doc"), _) => late::subdoc_prelim(content)?,
        (Some("type"), Some("xmltext")) => In::XmlText(XmlDeltaPrelim::default()),
        (Some("type"), Some("xmlelement")) => In::XmlElement(XmlElementPrelim::empty(name())),
        (Some("type"), Some("xmlfragment")) => In::XmlFragment(XmlFragmentPrelim::default()),
        _ => return Ok(None),
    }))
}

/// Embeds a type of one of these kinds in a text.
pub(crate) fn embed(
    text: &TextRef,
    txn: &mut TransactionMut<'_>,
    index: u32,
    attrs: Attrs,
    prelim: In,
) -> Option<Out> {
    Some(match prelim {
        In::XmlText(_) => {
            Out::YXmlText(text.insert_embed_with_attributes(txn, index, XmlTextPrelim::new(""), attrs))
        }
        In::XmlElement(prelim) => {
            Out::YXmlElement(text.insert_embed_with_attributes(txn, index, prelim, attrs))
        }
        In::XmlFragment(prelim) => {
            Out::YXmlFragment(text.insert_embed_with_attributes(txn, index, prelim, attrs))
        }
        _ => return None,
    })
}
