//! Slices of the stacks that a caller may hold as long as it borrows the manager, while transactions go on.
//!
//! A slice cannot borrow from the stacks, which change under a lock. So each view is a copy, and views are only ever
//! appended while the manager is shared; the next call that borrows it exclusively lets them go. A view is made anew only
//! if the stacks have changed since the last one.

use std::sync::OnceLock;

use super::event::EventKind;
use super::shared::Shared;
use super::stack_item::StackItem;

/// The views that were given out.
pub(super) struct Views<M>(OnceLock<Box<View<M>>>);

struct View<M> {
    version: u64,
    stacks: [Vec<StackItem<M>>; 2],
    next: OnceLock<Box<Self>>,
}

impl<M> Default for Views<M> {
    fn default() -> Self {
        Self(OnceLock::new())
    }
}

impl<M: Clone> Views<M> {
    /// A stack as it is now. Cost O(views given out), and O(stacks) if they changed since the last one.
    pub(super) fn stack(&self, shared: &Shared<M>, kind: EventKind) -> &[StackItem<M>] {
        let now = shared.lock().version;
        let mut place = &self.0;
        loop {
            let view = place.get_or_init(|| Box::new(View::new(shared)));
            if view.version >= now {
                return &view.stacks[kind as usize];
            }
            place = &view.next;
        }
    }
}

impl<M: Clone> View<M> {
    fn new(shared: &Shared<M>) -> Self {
        let state = shared.lock();
        Self {
            version: state.version,
            stacks: [state.stack(EventKind::Undo).to_vec(), state.stack(EventKind::Redo).to_vec()],
            next: OnceLock::new(),
        }
    }
}

impl<M> Views<M> {
    /// Lets all views go: nobody can hold one while the manager is borrowed exclusively.
    pub(super) fn clear(&mut self) {
        // One after the other: a chain that drops itself would recurse as deep as it is long.
        let mut next = self.0.take();
        while let Some(mut view) = next {
            next = view.next.take();
        }
    }
}

impl<M> Drop for Views<M> {
    fn drop(&mut self) {
        self.clear();
    }
}
