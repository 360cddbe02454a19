//! `XmlTextRef`: a text among XML nodes. Each text can be lent as an XML text and the other way round.

use std::sync::OnceLock;

use yatta_encoding::block::TYPE_REFS_XML_TEXT;

use super::write::string_of;
use super::{Xml, XmlDeltaPrelim, XmlTextPrelim};
use crate::types::{
    AsPrelim, DefaultPrelim, GetString, ReadTxn, RootRef, Text, TextRef, TypeRef, copy, shared_ref,
};

/// A text with attributes of its own, among XML nodes. Indices count as those of [`TextRef`].
#[derive(Clone, Debug)]
pub struct XmlTextRef(TextRef);

shared_ref!(XmlTextRef, YXmlText);

impl RootRef for XmlTextRef {
    fn type_ref() -> TypeRef {
        TypeRef::XmlText
    }
}

impl Xml for XmlTextRef {}
impl Text for XmlTextRef {}

impl AsRef<TextRef> for XmlTextRef {
    fn as_ref(&self) -> &TextRef {
        &self.0
    }
}

impl AsRef<XmlTextRef> for TextRef {
    /// The same text as an XML text: with attributes, and formats as tags in its text.
    fn as_ref(&self) -> &XmlTextRef {
        self.xml_view().0.get_or_init(|| Box::new(XmlTextRef(self.clone())))
    }
}

/// The XML text that a [`TextRef`] lends, made when it is first asked for. A clone starts without.
#[derive(Default)]
pub(crate) struct XmlView(OnceLock<Box<XmlTextRef>>);

impl Clone for XmlView {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl std::fmt::Debug for XmlView {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("XmlView")
    }
}

impl GetString for XmlTextRef {
    /// Returns the text with formats as tags around each run, as Yjs does: sorted by name, nothing escaped. A format whose
    /// value is an object has its entries as attributes. Cost O(length).
    fn get_string<T: ReadTxn>(&self, txn: &T) -> String {
        string_of(txn.store(), self.as_ref(), TYPE_REFS_XML_TEXT)
    }
}

impl AsPrelim for XmlTextRef {
    type Prelim = XmlDeltaPrelim;

    fn as_prelim<T: ReadTxn>(&self, txn: &T) -> XmlDeltaPrelim {
        copy::xml_text(txn, self, 0)
    }
}

impl DefaultPrelim for XmlTextRef {
    type Prelim = XmlTextPrelim;

    fn default_prelim() -> XmlTextPrelim {
        XmlTextPrelim::default()
    }
}
