//! Paths over a document: the root's members are the root types. Members of XML nodes are their attributes, elements their
//! child nodes, as in yrs.

use yatta_encoding::Any;

use super::walk::{Nodes, Source, Walk, place};
use super::{JsonPath, JsonPathEval};
use crate::transaction::{Branch, BranchPtr};
use crate::types::array::{Array, ArrayIter, ArrayRef};
use crate::types::xml::Xml;
use crate::types::{Map, MapRef, Out, ReadTxn};

/// Walks what a path selects of a document.
pub struct JsonPathIter<'a, T: ReadTxn>(Walk<'a, Root<'a, T>>);

impl<T: ReadTxn> Iterator for JsonPathIter<'_, T> {
    type Item = Out;

    /// The document itself is no value, so a path that leads to it selects nothing.
    fn next(&mut self) -> Option<Out> {
        self.0.next().flatten()
    }
}

impl<T: ReadTxn> JsonPathEval for T {
    type Iter<'a>
        = JsonPathIter<'a, T>
    where
        T: 'a;

    fn json_path<'a>(&'a self, path: &'a JsonPath<'a>) -> JsonPathIter<'a, T> {
        JsonPathIter(Walk::new(Root(self), &path.steps))
    }
}

struct Root<'a, T>(&'a T);

/// `None` is the document.
type Node = Option<Out>;

fn boxed<'a>(nodes: impl Iterator<Item = Out> + 'a) -> Option<Nodes<'a, Node>> {
    Some(Box::new(nodes.map(Some)))
}

/// The child nodes of an XML node.
fn nodes<'a, T: ReadTxn>(node: &impl AsRef<Branch>, txn: &'a T) -> ArrayIter<&'a T, T> {
    ArrayIter::from_ref(node.as_ref(), txn)
}

impl<T: ReadTxn> Root<'_, T> {
    /// A root that nobody has asked for by kind: a list if there is anything in its sequence, else a map.
    fn guess(&self, branch: &BranchPtr) -> Out {
        let array = ArrayRef::from(branch.clone());
        if array.len(self.0) > 0 { Out::YArray(array) } else { Out::YMap(MapRef::from(branch.clone())) }
    }
}

impl<'a, T: ReadTxn> Source<'a> for Root<'a, T> {
    type Node = Node;

    fn root(&self) -> Node {
        None
    }

    fn member(&self, node: &Node, key: &str) -> Option<Node> {
        let member = match node {
            None => self.0.get(key),
            Some(Out::YMap(map)) => map.get(self.0, key),
            Some(Out::UndefinedRef(branch)) => MapRef::from(branch.clone()).get(self.0, key),
            Some(Out::YXmlElement(node)) => node.get_attribute(self.0, key),
            Some(Out::YXmlText(node)) => node.get_attribute(self.0, key),
            Some(Out::Any(Any::Map(entries))) => entries.get(key).cloned().map(Out::Any),
            Some(_) => None,
        };
        member.map(Some)
    }

    fn has_members(&self, node: &Node) -> bool {
        matches!(
            node,
            None | Some(
                Out::YMap(_)
                    | Out::UndefinedRef(_)
                    | Out::YXmlElement(_)
                    | Out::YXmlText(_)
                    | Out::Any(Any::Map(_))
            )
        )
    }

    fn elements(&self, node: &Node) -> Option<Nodes<'a, Node>> {
        match node {
            Some(Out::YArray(array)) => boxed(array.iter(self.0)),
            Some(Out::UndefinedRef(branch)) => boxed(ArrayRef::from(branch.clone()).iter(self.0)),
            Some(Out::YXmlElement(node)) => boxed(nodes(node, self.0)),
            Some(Out::YXmlFragment(node)) => boxed(nodes(node, self.0)),
            Some(Out::Any(any @ Any::Array(_))) => {
                boxed(any.clone().try_into_iter()?.map(|(_, value)| Out::Any(value)))
            }
            _ => None,
        }
    }

    fn element(&self, node: &Node, index: i32) -> Option<Node> {
        let of_array = |array: &ArrayRef| array.get(self.0, place(index, array.len(self.0) as usize)?);
        let element = match node {
            Some(Out::YArray(array)) => of_array(array),
            Some(Out::UndefinedRef(branch)) => of_array(&ArrayRef::from(branch.clone())),
            Some(Out::YXmlElement(node)) => of_array(AsRef::<ArrayRef>::as_ref(node)),
            Some(Out::YXmlFragment(node)) => of_array(AsRef::<ArrayRef>::as_ref(node)),
            Some(Out::Any(Any::Array(values))) => {
                values.get(place(index, values.len())? as usize).cloned().map(Out::Any)
            }
            _ => None,
        };
        element.map(Some)
    }

    fn children(&self, node: &Node) -> Option<Nodes<'a, Node>> {
        match node {
            None => boxed(self.0.root_refs().map(|(_, root)| root)),
            Some(Out::YArray(array)) => boxed(array.iter(self.0)),
            Some(Out::YXmlElement(node)) => boxed(nodes(node, self.0)),
            Some(Out::YXmlFragment(node)) => boxed(nodes(node, self.0)),
            Some(Out::YMap(map)) => boxed(map.clone().into_iter(self.0).map(|(_, value)| value)),
            Some(Out::UndefinedRef(branch)) => self.children(&Some(self.guess(branch))),
            Some(Out::Any(any)) => boxed(any.clone().try_into_iter()?.map(|(_, value)| Out::Any(value))),
            Some(_) => None,
        }
    }
}
