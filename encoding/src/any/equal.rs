//! Equality of values, without recursion: depth must not cost stack.

use super::{Any, AnyMap};

impl PartialEq for Any {
    fn eq(&self, other: &Self) -> bool {
        let mut pairs = Vec::new();
        let mut next = Some((self, other));
        while let Some((a, b)) = next {
            if !equal_outside(a, b, &mut pairs) {
                return false;
            }
            next = pairs.pop();
        }
        true
    }
}

impl PartialEq for AnyMap {
    fn eq(&self, other: &Self) -> bool {
        let mut pairs = Vec::new();
        if !equal_keys(self, other, &mut pairs) {
            return false;
        }
        pairs.into_iter().all(|(a, b)| a == b)
    }
}

/// Compares two values up to their elements, which are put on the list.
fn equal_outside<'a>(a: &'a Any, b: &'a Any, pairs: &mut Vec<(&'a Any, &'a Any)>) -> bool {
    match (a, b) {
        (Any::Null, Any::Null) | (Any::Undefined, Any::Undefined) => true,
        (Any::Bool(a), Any::Bool(b)) => a == b,
        (Any::Number(a), Any::Number(b)) => a == b,
        (Any::String(a), Any::String(b)) => a == b,
        (Any::Buffer(a), Any::Buffer(b)) => a == b,
        (Any::Array(a), Any::Array(b)) => {
            pairs.extend(a.iter().zip(b.iter()));
            a.len() == b.len()
        }
        (Any::Map(a), Any::Map(b)) => equal_keys(a, b, pairs),
        _ => false,
    }
}

fn equal_keys<'a>(a: &'a AnyMap, b: &'a AnyMap, pairs: &mut Vec<(&'a Any, &'a Any)>) -> bool {
    a.len() == b.len()
        && a.iter().all(|(key, value)| {
            let other = b.get(key);
            pairs.extend(other.map(|other| (value, other)));
            other.is_some()
        })
}
