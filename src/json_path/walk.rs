//! Walking the steps of a path over a source, lazily and without recursion.
//!
//! Invariant: each frame but the last has an iterator, whose last child is what the next frame began with.

use super::parse::Step;

/// Children of a node.
pub(super) type Nodes<'a, N> = Box<dyn Iterator<Item = N> + 'a>;

/// Something that a path can be walked over.
pub(super) trait Source<'a> {
    type Node: Clone + 'a;

    fn root(&self) -> Self::Node;

    /// The member of this name.
    fn member(&self, node: &Self::Node, key: &str) -> Option<Self::Node>;

    /// Whether members can be asked for.
    fn has_members(&self, node: &Self::Node) -> bool;

    /// The elements of a list.
    fn elements(&self, node: &Self::Node) -> Option<Nodes<'a, Self::Node>>;

    /// The element at an index, which counts from the end if it is negative.
    fn element(&self, node: &Self::Node, index: i32) -> Option<Self::Node>;

    /// All that is directly inside.
    fn children(&self, node: &Self::Node) -> Option<Nodes<'a, Self::Node>>;
}

/// A place of an element in a list of this length, counted from the end if it is negative.
pub(super) fn place(index: i32, len: usize) -> Option<u32> {
    let from_end = if index < 0 { i64::try_from(len).ok()? } else { 0 };
    u32::try_from(i64::from(index) + from_end).ok()
}

struct Frame<'a, N> {
    current: N,
    /// The next step.
    step: usize,
    /// Whether a `..` came before: children are tried where a step fails.
    descending: bool,
    children: Option<Nodes<'a, N>>,
}

pub(super) struct Walk<'a, S: Source<'a>> {
    source: S,
    steps: &'a [Step<'a>],
    frames: Vec<Frame<'a, S::Node>>,
}

impl<'a, S: Source<'a>> Walk<'a, S> {
    pub(super) fn new(source: S, steps: &'a [Step<'a>]) -> Self {
        let current = source.root();
        Self { source, steps, frames: vec![Frame { current, step: 0, descending: false, children: None }] }
    }
}

/// What came of a step.
enum Outcome<'a, N> {
    At(N),
    Among(Nodes<'a, N>),
    Nothing,
}

impl<'a, N> Outcome<'a, N> {
    fn at(node: Option<N>) -> Self {
        node.map_or(Self::Nothing, Self::At)
    }

    fn among(nodes: Option<Nodes<'a, N>>) -> Self {
        nodes.map_or(Self::Nothing, Self::Among)
    }
}

fn take<'a, S: Source<'a>>(source: &S, node: &S::Node, step: &'a Step<'a>) -> Outcome<'a, S::Node> {
    match step {
        Step::Root => Outcome::At(source.root()),
        Step::Current => Outcome::At(node.clone()),
        Step::Member(key) => Outcome::at(source.member(node, key)),
        Step::Index(index) => Outcome::at(source.element(node, *index)),
        Step::Wildcard | Step::Descend => Outcome::among(source.children(node)),
        Step::Slice(from, to, by) => {
            let elements = source.elements(node).map(|elements| -> Nodes<'a, S::Node> {
                let len = to.saturating_sub(*from) as usize;
                match *by as usize {
                    0 => Box::new(std::iter::empty()),
                    by => Box::new(elements.skip(*from as usize).take(len).step_by(by)),
                }
            });
            Outcome::among(elements)
        }
        Step::Members(keys) if source.has_members(node) => {
            let found: Vec<_> = keys.iter().filter_map(|key| source.member(node, key)).collect();
            Outcome::Among(Box::new(found.into_iter()))
        }
        Step::Indices(indices) if source.elements(node).is_some() => {
            let found: Vec<_> = indices.iter().filter_map(|index| source.element(node, *index)).collect();
            Outcome::Among(Box::new(found.into_iter()))
        }
        Step::Members(_) | Step::Indices(_) => Outcome::Nothing,
    }
}

impl<'a, S: Source<'a>> Iterator for Walk<'a, S> {
    type Item = S::Node;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let frame = self.frames.last_mut()?;
            if let Some(children) = &mut frame.children {
                let Some(current) = children.next() else {
                    self.frames.pop();
                    continue;
                };
                let (step, descending) = (frame.step, frame.descending);
                self.frames.push(Frame { current, step, descending, children: None });
            } else if frame.step == self.steps.len() {
                self.frames.pop();
                continue;
            }
            if let Some(found) = self.advance() {
                return Some(found);
            }
        }
    }
}

impl<'a, S: Source<'a>> Walk<'a, S> {
    /// Takes the steps of the last frame up to where it branches, fails or arrives.
    fn advance(&mut self) -> Option<S::Node> {
        let frame = self.frames.last_mut()?;
        while let Some(step) = self.steps.get(frame.step) {
            match take(&self.source, &frame.current, step) {
                Outcome::At(node) => {
                    frame.current = node;
                    frame.step += 1;
                }
                Outcome::Among(children) => {
                    frame.children = Some(children);
                    frame.step += 1;
                    frame.descending |= *step == Step::Descend;
                    return None;
                }
                Outcome::Nothing => {
                    // below a `..` the same step is tried further down
                    frame.children =
                        if frame.descending { self.source.children(&frame.current) } else { None };
                    if frame.children.is_none() {
                        self.frames.pop();
                    }
                    return None;
                }
            }
        }
        Some(frame.current.clone())
    }
}
