//! Shared types as JSON, on a stack of our own: a peer may nest types as deep as it likes.
//!
//! What is nested deeper than [`MAX_DEPTH`] reads as `undefined`, as a value of that depth could not be dropped on the
//! stack of a thread. Cost O(items within).

use std::sync::Arc;

use yatta_encoding::Any;
use yatta_encoding::limits::MAX_DEPTH;

use super::ReadTxn;
use super::array::ArrayIter;
use super::map::{Map, MapIntoIter};
use super::{GetString, Out};

/// A value as JSON; text and XML as strings.
pub(super) fn json_of<T: ReadTxn>(txn: &T, value: Out) -> Any {
    let mut open: Vec<Open<'_, T>> = Vec::new();
    let mut value = value;
    loop {
        let mut done = match value {
            Out::YArray(array) if open.len() < MAX_DEPTH => {
                open.push(Open::Array(ArrayIter::from_ref(array.as_ref(), txn), Vec::new()));
                None
            }
            Out::YMap(map) if open.len() < MAX_DEPTH => {
                open.push(Open::Map(map.into_iter(txn), Vec::new(), None));
                None
            }
            flat => Some(flat_json(txn, flat)),
        };
        // Back up through all that ends here, to the next value that is still to be read.
        value = loop {
            match (open.last_mut(), done.take()) {
                (None, json) => return json.unwrap_or(Any::Undefined),
                (Some(top), Some(json)) => top.put(json),
                (Some(_), None) => {}
            }
            if let Some(next) = open.last_mut().and_then(Open::next) {
                break next;
            }
            done = open.pop().map(Open::close);
        };
    }
}

/// What holds no other values that could be nested further.
fn flat_json<T: ReadTxn>(txn: &T, value: Out) -> Any {
    match value {
        Out::Any(any) => any,
        Out::YText(text) => Any::from(text.get_string(txn)),
        Out::YXmlElement(node) => Any::from(node.get_string(txn)),
        Out::YXmlFragment(node) => Any::from(node.get_string(txn)),
        Out::YXmlText(node) => Any::from(node.get_string(txn)),
        Out::YDoc(doc) => super::subdoc::guid_to_json(&doc),
        #[cfg(feature = "weak")]
        Out::YWeakLink(_) => Any::Undefined,
        Out::YArray(_) | Out::YMap(_) | Out::UndefinedRef(_) => Any::Undefined,
    }
}

/// A type that is being read.
enum Open<'t, T> {
    Array(ArrayIter<&'t T, T>, Vec<Any>),
    /// With the key of the value that is being read.
    Map(MapIntoIter<'t, T>, Vec<(Arc<str>, Any)>, Option<Arc<str>>),
}

impl<T: ReadTxn> Open<'_, T> {
    fn next(&mut self) -> Option<Out> {
        match self {
            Self::Array(values, _) => values.next(),
            Self::Map(entries, _, at) => {
                let (key, value) = entries.next()?;
                *at = Some(key);
                Some(value)
            }
        }
    }

    fn put(&mut self, json: Any) {
        match self {
            Self::Array(_, list) => list.push(json),
            Self::Map(_, list, at) => list.extend(at.take().map(|key| (key, json))),
        }
    }

    fn close(self) -> Any {
        match self {
            Self::Array(_, list) => Any::Array(list.into()),
            Self::Map(_, list, _) => {
                Any::Map(list.into_iter().map(|(key, json)| (key.to_string(), json)).collect())
            }
        }
    }
}
