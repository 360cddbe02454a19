//! Copies of shared types as preliminary ones, down to [`COPY_DEPTH`]. Cost O(size).

use super::array::{Array, ArrayPrelim, ArrayRef};
use super::map::{MapPrelim, MapRef};
use super::text::{DeltaPrelim, Diff, TextRef, YChange};
use super::xml::prelim::attributes_of;
use super::xml::{
    XmlDeltaPrelim, XmlElementPrelim, XmlElementRef, XmlFragment, XmlFragmentPrelim, XmlFragmentRef, XmlIn,
    XmlOut, XmlTextRef,
};
use super::{Delta, In, Map, Out, ReadTxn, Text};

use std::sync::Arc;
use yatta_encoding::Any;

/// How deep types are nested in a copy. A preliminary type holds others as values, so that dropping, comparing and
/// inserting one recurses, some kilobytes a level; peers may nest the types of a document deeper than a stack.
pub(super) const COPY_DEPTH: u32 = 200;

/// A copy of a value that stands below `depth` types. What is too deep is `undefined`.
pub(super) fn value<T: ReadTxn>(txn: &T, value: &Out, depth: u32) -> In {
    match value {
        Out::Any(any) => In::Any(any.clone()),
        Out::YDoc(doc) => In::Doc(doc.clone()),
        #[cfg(feature = "weak")]
        Out::YWeakLink(link) => In::WeakLink(super::weak::WeakPrelim::from(link.clone())),
        Out::UndefinedRef(_) => In::Any(Any::Undefined),
        _ if depth >= COPY_DEPTH => In::Any(Any::Undefined),
        Out::YText(it) => In::Text(text(txn, it, depth)),
        Out::YArray(it) => In::Array(array(txn, it, depth)),
        Out::YMap(it) => In::Map(map(txn, it, depth)),
        Out::YXmlElement(it) => In::XmlElement(element(txn, it, depth)),
        Out::YXmlFragment(it) => In::XmlFragment(fragment(txn, it, depth)),
        Out::YXmlText(it) => In::XmlText(xml_text(txn, it, depth)),
    }
}

pub(super) fn array<T: ReadTxn>(txn: &T, list: &ArrayRef, depth: u32) -> ArrayPrelim {
    list.iter(txn).map(|it| value(txn, &it, depth + 1)).collect()
}

pub(super) fn map<T: ReadTxn>(txn: &T, map: &MapRef, depth: u32) -> MapPrelim {
    map.iter(txn).map(|(key, it)| (key, value(txn, &it, depth + 1))).collect()
}

pub(super) fn text<T: ReadTxn>(txn: &T, text: &TextRef, depth: u32) -> DeltaPrelim {
    runs(txn, text, depth).collect()
}

pub(super) fn xml_text<T: ReadTxn>(txn: &T, text: &XmlTextRef, depth: u32) -> XmlDeltaPrelim {
    XmlDeltaPrelim { attributes: attributes_of(text.as_ref(), txn), delta: runs(txn, text, depth).collect() }
}

fn runs<T: ReadTxn>(txn: &T, text: &impl Text, depth: u32) -> impl Iterator<Item = Delta<In>> {
    // What is too deep is left out: `undefined` has no form of its own in a text.
    let is_type = |run: &Diff<YChange>| !matches!(run.insert, Out::Any(_) | Out::YDoc(_));
    let runs = text.diff(txn, YChange::identity).into_iter();
    runs.filter(move |run| depth + 1 < COPY_DEPTH || !is_type(run))
        .map(move |run| Delta::Inserted(value(txn, &run.insert, depth + 1), run.attributes))
}

pub(super) fn element<T: ReadTxn>(txn: &T, element: &XmlElementRef, depth: u32) -> XmlElementPrelim {
    XmlElementPrelim {
        tag: Arc::clone(element.tag()),
        attributes: attributes_of(element.as_ref(), txn),
        children: nodes(txn, element, depth),
    }
}

pub(super) fn fragment<T: ReadTxn>(txn: &T, fragment: &XmlFragmentRef, depth: u32) -> XmlFragmentPrelim {
    nodes(txn, fragment, depth).into_iter().collect()
}

/// The nodes of a list; none if they are too deep.
fn nodes<T: ReadTxn>(txn: &T, list: &impl XmlFragment, depth: u32) -> Vec<XmlIn> {
    if depth + 1 >= COPY_DEPTH {
        return Vec::new();
    }
    let copy = |node| match node {
        XmlOut::Element(it) => XmlIn::Element(element(txn, &it, depth + 1)),
        XmlOut::Fragment(it) => XmlIn::Fragment(fragment(txn, &it, depth + 1)),
        XmlOut::Text(it) => XmlIn::Text(xml_text(txn, &it, depth + 1)),
    };
    list.children(txn).map(copy).collect()
}
