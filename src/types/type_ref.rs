//! `TypeRef`: the kind of a shared type.

use std::borrow::Cow;
use std::sync::Arc;

use yatta_encoding::block::{
    TYPE_REFS_ARRAY, TYPE_REFS_DOC, TYPE_REFS_MAP, TYPE_REFS_TEXT, TYPE_REFS_UNDEFINED,
    TYPE_REFS_XML_ELEMENT, TYPE_REFS_XML_FRAGMENT, TYPE_REFS_XML_HOOK, TYPE_REFS_XML_TEXT, TypeTag,
    write_type_content,
};
use yatta_encoding::{Decode, Decoder, Encode, Encoder, Error};

use crate::branch::node::Tag;

/// The kind of a shared type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeRef {
    /// A list.
    Array,
    /// A map.
    Map,
    /// A text.
    Text,
    /// An XML element with its node name.
    XmlElement(Arc<str>),
    /// A list of XML nodes.
    XmlFragment,
    /// An XML hook.
    XmlHook,
    /// An XML text.
    XmlText,
    /// A sub-document.
    SubDoc,
    /// A weak link to this.
    #[cfg(feature = "weak")]
    WeakLink(Arc<super::weak::LinkSource>),
    /// A root that came with an update and was not yet asked for by kind.
    Undefined,
}

impl TypeRef {
    /// Returns the number on the wire: one of the `TYPE_REFS_*` constants.
    pub fn kind(&self) -> u8 {
        match self {
            Self::Array => TYPE_REFS_ARRAY,
            Self::Map => TYPE_REFS_MAP,
            Self::Text => TYPE_REFS_TEXT,
            Self::XmlElement(_) => TYPE_REFS_XML_ELEMENT,
            Self::XmlFragment => TYPE_REFS_XML_FRAGMENT,
            Self::XmlHook => TYPE_REFS_XML_HOOK,
            Self::XmlText => TYPE_REFS_XML_TEXT,
            Self::SubDoc => TYPE_REFS_DOC,
            #[cfg(feature = "weak")]
            Self::WeakLink(_) => yatta_encoding::block::TYPE_REFS_WEAK,
            Self::Undefined => TYPE_REFS_UNDEFINED,
        }
    }

    pub(crate) fn tag(&self) -> Tag {
        let name = match self {
            Self::XmlElement(name) => Some(Arc::clone(name)),
            _ => None,
        };
        #[cfg(feature = "weak")]
        let link = match self {
            Self::WeakLink(source) => Some(Arc::new(source.tag())),
            _ => None,
        };
        #[cfg(not(feature = "weak"))]
        let link = None;
        Tag { kind: self.kind(), name, link }
    }
}

impl Encode for TypeRef {
    fn encode<E: Encoder>(&self, encoder: &mut E) {
        let tag = self.tag();
        let name = tag.name.as_deref().map(Cow::Borrowed);
        let extra = tag.link.as_deref().map(|link| Box::new(link.clone()));
        write_type_content(encoder, &TypeTag { kind: tag.kind, name, extra });
    }
}

impl Decode for TypeRef {
    fn decode<D: Decoder>(decoder: &mut D) -> Result<Self, Error> {
        Ok(match decoder.read_type_ref()? {
            TYPE_REFS_ARRAY => Self::Array,
            TYPE_REFS_MAP => Self::Map,
            TYPE_REFS_TEXT => Self::Text,
            TYPE_REFS_XML_ELEMENT => Self::XmlElement(decoder.read_key()?),
            TYPE_REFS_XML_FRAGMENT => Self::XmlFragment,
            TYPE_REFS_XML_HOOK => Self::XmlHook,
            TYPE_REFS_XML_TEXT => Self::XmlText,
            TYPE_REFS_DOC => Self::SubDoc,
            #[cfg(feature = "weak")]
            yatta_encoding::block::TYPE_REFS_WEAK => {
                Self::WeakLink(Arc::new(super::weak::LinkSource::decode(decoder)?))
            }
            TYPE_REFS_UNDEFINED => Self::Undefined,
            _ => return Err(Error::UnexpectedValue),
        })
    }
}

impl std::fmt::Display for TypeRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::XmlElement(name) => write!(f, "XmlElement({name})"),
            #[cfg(feature = "weak")]
            Self::WeakLink(_) => f.write_str("WeakRef"),
            other => write!(f, "{other:?}"),
        }
    }
}
