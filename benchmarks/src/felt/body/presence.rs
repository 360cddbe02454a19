//! Awareness of many clients.

use super::krate::ClientID;
use super::krate::sync::awareness::{Awareness, AwarenessUpdate};
use super::krate::updates::decoder::Decode;
use super::krate::updates::encoder::Encode;
use super::{empty, failed};
use crate::clock::Clock;
use crate::engine::EngineError;
use crate::felt::{Digest, Outcome, Task};

fn presence(client: u32) -> String {
    format!(r##"{{"user":{{"name":"client {client}","color":"#30bced"}},"cursor":{client}}}"##)
}

/// What one client tells about itself.
fn update_of(client: u32, cursor: u32) -> Result<Vec<u8>, EngineError> {
    let mut own = Awareness::new(empty(u64::from(client) + 1));
    own.set_local_state_raw(presence(client));
    own.set_local_state_raw(presence(cursor));
    own.update().map(|update| update.encode_v1()).map_err(|e| failed("encode a presence", e))
}

/// A room in which all clients of the task have been heard of.
fn room(task: &Task) -> Result<Awareness, EngineError> {
    let mut room = Awareness::new(empty(super::EDITOR));
    for client in 0..task.size {
        apply(&mut room, &update_of(client, client)?)?;
    }
    Ok(room)
}

fn apply(room: &mut Awareness, update: &[u8]) -> Result<(), EngineError> {
    let update = AwarenessUpdate::decode_v1(update).map_err(|e| failed("decode a presence", e))?;
    room.apply_update(update).map_err(|e| failed("apply a presence", e))
}

fn digest(room: &Awareness, clients: u32) -> Digest {
    let mut digest = Digest::default();
    for client in 0..clients {
        let clock = room.meta(ClientID::new(u64::from(client) + 1)).map_or(u32::MAX, |(clock, _)| clock);
        digest.number(u64::from(clock));
    }
    digest
}

/// The client itself moves its cursor, and tells the others.
pub(in crate::felt) fn own(task: &Task, clock: &mut dyn Clock) -> Result<Outcome, EngineError> {
    let mut room = room(task)?;
    let states: Vec<String> = (0..task.ops).map(presence).collect();
    let me = room.client_id();
    let mut bytes = 0;
    clock.time(&mut || {
        for state in &states {
            room.set_local_state_raw(state.as_str());
            bytes += room.update_with_clients([me]).map_or(0, |update| update.encode_v1().len());
        }
    });
    let mut digest = digest(&room, task.size);
    digest.number(bytes as u64);
    Ok(Outcome::new(task.ops, digest))
}

/// Another client moves its cursor.
pub(in crate::felt) fn other(task: &Task, clock: &mut dyn Clock) -> Result<Outcome, EngineError> {
    let mut room = room(task)?;
    // Half of them were heard of before: a later clock each.
    let updates: Vec<Vec<u8>> = (0..task.ops)
        .map(|turn| {
            let mut own = Awareness::new(empty(u64::from(turn % task.size) + 1));
            for cursor in 0..3 + turn / task.size {
                own.set_local_state_raw(presence(cursor));
            }
            own.update().map(|update| update.encode_v1()).map_err(|e| failed("encode a presence", e))
        })
        .collect::<Result<_, _>>()?;
    let mut outcome = Ok(());
    clock.time(&mut || {
        outcome = updates.iter().try_for_each(|update| apply(&mut room, update));
    });
    outcome?;
    Ok(Outcome::new(task.ops, digest(&room, task.size)))
}

/// Everybody's presence for a client that has just come; a unit is a client.
pub(in crate::felt) fn all(task: &Task, clock: &mut dyn Clock) -> Result<Outcome, EngineError> {
    let room = room(task)?;
    let mut newcomer = Awareness::new(empty(super::EDITOR + 1));
    let mut outcome = Ok(());
    clock.time(&mut || {
        let told = room.update().map(|update| update.encode_v1()).map_err(|e| failed("encode a presence", e));
        outcome = told.and_then(|told| apply(&mut newcomer, &told));
    });
    outcome?;
    Ok(Outcome::new(task.size, digest(&newcomer, task.size)))
}
