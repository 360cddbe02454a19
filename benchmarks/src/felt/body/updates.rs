//! Many updates at once.

use super::krate::updates::decoder::Decode;
use super::krate::{GetString, Text, Transact, Update};
use super::{empty, failed};
use crate::clock::Clock;
use crate::engine::EngineError;
use crate::felt::{Digest, Outcome, Task};

/// Applies all updates of the task one by one, a transaction each; a unit is an update.
pub(in crate::felt) fn apart(task: &Task, clock: &mut dyn Clock) -> Result<Outcome, EngineError> {
    let doc = empty(super::EDITOR);
    let text = doc.get_or_insert_text("text");
    let mut outcome = Ok(());
    clock.time(&mut || {
        outcome = task
            .material
            .updates
            .iter()
            .take(task.size as usize)
            .try_for_each(|update| super::apply(&doc, update));
    });
    outcome?;
    let read = text.get_string(&doc.transact());
    Ok(Outcome::new(task.size, Digest::of(read.as_bytes())))
}

/// Applies all updates of the task within one transaction; a unit is an update.
pub(in crate::felt) fn together(task: &Task, clock: &mut dyn Clock) -> Result<Outcome, EngineError> {
    let doc = empty(super::EDITOR);
    let text = doc.get_or_insert_text("text");
    let mut outcome = Ok(());
    clock.time(&mut || {
        let mut txn = doc.transact_mut();
        outcome = task.material.updates.iter().take(task.size as usize).try_for_each(|update| {
            let update = Update::decode_v1(update).map_err(|e| failed("decode an update", e))?;
            txn.apply_update(update).map_err(|e| failed("apply an update", e))
        });
    });
    outcome?;
    let read = text.get_string(&doc.transact());
    Ok(Outcome::new(task.size, Digest::of(read.as_bytes())))
}

/// Makes the edits of the task within one transaction; a unit is an edit.
pub(in crate::felt) fn one_transaction(task: &Task, clock: &mut dyn Clock) -> Result<Outcome, EngineError> {
    use crate::edit::Edit;
    let doc = empty(super::EDITOR);
    let text = doc.get_or_insert_text("text");
    clock.time(&mut || {
        let mut txn = doc.transact_mut();
        for edit in task.material.edits.iter().take(task.size as usize) {
            match edit {
                Edit::Insert { at, text: new } => text.insert(&mut txn, *at, new),
                Edit::Remove { at, len } => text.remove_range(&mut txn, *at, *len),
                _ => {}
            }
        }
    });
    let read = text.get_string(&doc.transact());
    Ok(Outcome::new(task.size, Digest::of(read.as_bytes())))
}
