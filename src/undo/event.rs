//! What observers of an undo manager get.

use serde::Serialize;

use crate::transaction::{Branch, BranchPtr, Origin};

/// One or both stacks were cleared.
#[derive(Clone, Debug, Serialize)]
pub struct StackClearedEvent {
    /// The undo stack had steps and has none now.
    pub undo_stack_cleared: bool,
    /// The redo stack had steps and has none now.
    pub redo_stack_cleared: bool,
}

impl StackClearedEvent {
    /// Makes an event.
    pub fn new(undo_stack_cleared: bool, redo_stack_cleared: bool) -> Self {
        Self { undo_stack_cleared, redo_stack_cleared }
    }
}

/// A step was added to a stack, joined to its last one, or popped.
#[derive(Debug)]
pub struct Event<M> {
    pub(super) meta: M,
    pub(super) origin: Option<Origin>,
    pub(super) kind: EventKind,
    pub(super) changed: Vec<BranchPtr>,
}

impl<M> Event<M> {
    /// Returns the metadata of the step.
    pub fn meta(&self) -> &M {
        &self.meta
    }

    /// Returns the metadata of the step, to be changed. After a pop nobody sees the change.
    pub fn meta_mut(&mut self) -> &mut M {
        &mut self.meta
    }

    /// Returns whether the transaction changed a type, or one within it.
    pub fn has_changed<T: AsRef<Branch>>(&self, target: &T) -> bool {
        self.changed.iter().any(|changed| changed.as_ref() == target.as_ref())
    }

    /// Returns the origin of the transaction.
    pub fn origin(&self) -> Option<&Origin> {
        self.origin.as_ref()
    }

    /// Returns the kind of stack: for a step that was popped, what is being done with it.
    pub fn kind(&self) -> EventKind {
        self.kind
    }

    /// Returns the types that the transaction changed, and those that they are in.
    pub fn changed_parent_types(&self) -> &[BranchPtr] {
        &self.changed
    }
}

/// One of the two stacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum EventKind {
    /// What can be undone.
    Undo,
    /// What can be redone.
    Redo,
}
