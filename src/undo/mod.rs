//! Undo and redo (layer 10): one's own changes are taken back, those of others stay.
//!
//! | Module | What it holds |
//! |---|---|
//! | `manager` | `UndoManager`: the public calls |
//! | `options` | `Options`, `Meta` |
//! | `stack_item` | `StackItem`: what one step inserted and deleted |
//! | `event` | what observers get |
//! | `shared` | the stacks and the scope, shared with the documents' callbacks |
//! | `capture` | after a transaction: put what it did on a stack |
//! | `pop` | take a step off a stack and undo it |
//! | `view` | slices of the stacks for `undo_stack` and `redo_stack` |
//!
//! What changes the document is in `engine::redo`. Everything gives Yjs's results, ids and bytes included.
//!
//! Locks: the stacks have one of their own, taken within a transaction and never held while a callback runs. A manager
//! holds its documents, they hold it weakly: dropping it only ends its subscriptions and needs no transaction.
//! Invariant: a step leaves its stack only once the transaction that undoes it is open, so that a future which is dropped
//! while it waits loses nothing.

mod capture;
mod event;
mod manager;
mod options;
mod pop;
mod shared;
mod stack_item;
#[cfg(test)]
mod tests;
mod view;

pub use event::{Event, EventKind, StackClearedEvent};
pub use manager::UndoManager;
pub use options::{CaptureTransactionFn, Meta, Options};
pub use stack_item::StackItem;
