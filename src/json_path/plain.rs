//! Paths over plain data.

use yatta_encoding::Any;

use super::walk::{Nodes, Source, Walk, place};
use super::{JsonPath, JsonPathEval};

/// Walks what a path selects of plain data.
pub struct AnyJsonPathIter<'a>(Walk<'a, Root<'a>>);

impl<'a> Iterator for AnyJsonPathIter<'a> {
    type Item = &'a Any;

    fn next(&mut self) -> Option<&'a Any> {
        self.0.next()
    }
}

impl JsonPathEval for Any {
    type Iter<'a> = AnyJsonPathIter<'a>;

    fn json_path<'a>(&'a self, path: &'a JsonPath<'a>) -> AnyJsonPathIter<'a> {
        AnyJsonPathIter(Walk::new(Root(self), &path.steps))
    }
}

struct Root<'a>(&'a Any);

impl<'a> Source<'a> for Root<'a> {
    type Node = &'a Any;

    fn root(&self) -> &'a Any {
        self.0
    }

    fn member(&self, node: &&'a Any, key: &str) -> Option<&'a Any> {
        match node {
            Any::Map(entries) => entries.get(key),
            _ => None,
        }
    }

    fn has_members(&self, node: &&'a Any) -> bool {
        matches!(node, Any::Map(_))
    }

    fn elements(&self, node: &&'a Any) -> Option<Nodes<'a, &'a Any>> {
        match node {
            Any::Array(values) => Some(Box::new(values.iter())),
            _ => None,
        }
    }

    fn element(&self, node: &&'a Any, index: i32) -> Option<&'a Any> {
        match node {
            Any::Array(values) => values.get(place(index, values.len())? as usize),
            _ => None,
        }
    }

    fn children(&self, node: &&'a Any) -> Option<Nodes<'a, &'a Any>> {
        let node: &'a Any = node;
        node.try_iter().map(|children| -> Nodes<'a, &'a Any> { Box::new(children.map(|(_, child)| child)) })
    }
}
