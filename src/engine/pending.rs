//! Applying an update together with what waited for it.
//!
//! Yjs: `readUpdateV2`. Parked blocks are tried again in the same transaction as soon as a clock that they miss has come;
//! parked deletions are tried on every update.

use yatta_encoding::block::write_block;
use yatta_encoding::delete_set::write_delete_set;
use yatta_encoding::update::merge_trusted_v2;
use yatta_encoding::{Encoder, EncoderV2, Write};

use super::apply::{Rest, apply_blocks, apply_deletes};
use crate::block::update::Update;
use crate::change::ChangeSet;
use crate::store::Store;
use crate::store::pending::PendingStructs;

/// Integrates `update`, and what was parked as far as it can be now.
pub(crate) fn apply_update(store: &mut Store, changes: &mut ChangeSet, update: &mut Update) {
    let rest = apply_blocks(store, changes, update);
    let retry = store.pending.structs.as_ref().is_some_and(|pending| {
        pending.missing.iter().any(|(client, clock)| *clock < store.state_of(*client))
    });
    if let Some(rest) = rest {
        park(store, update, rest);
    }
    let mut waiting = apply_deletes(store, changes, &update.deletes, &update.delete_order);
    if !store.pending.deletes.is_empty() {
        let parked = std::mem::take(&mut store.pending.deletes);
        waiting.merge_with(apply_deletes(store, changes, &parked, &[]));
    }
    if !waiting.is_empty() {
        store.pending.deletes = waiting;
    }
    if retry && let Some(pending) = store.pending.structs.take() {
        let update = Update::read_trusted_v2(&pending.update);
        apply_update(
            store,
            changes,
            &mut update.expect("parked blocks were decoded before they were parked"),
        );
    }
}

/// Adds blocks to those that wait.
fn park(store: &mut Store, update: &Update, rest: Rest) {
    let bytes = encode_rest(update, &rest);
    store.pending.structs = Some(match store.pending.structs.take() {
        None => PendingStructs::new(bytes, rest.missing),
        Some(mut pending) => {
            for (client, clock) in rest.missing.iter() {
                if pending.missing.contains_client(client) {
                    pending.missing.set_min(*client, *clock);
                } else {
                    pending.missing.set(*client, *clock);
                }
            }
            let update = merge_trusted_v2(&[pending.update, bytes])
                .expect("parked blocks were decoded before they were parked");
            PendingStructs::new(update, pending.missing)
        }
    });
}

/// The rest of an update in V2, clients descending.
fn encode_rest(update: &Update, rest: &Rest) -> Vec<u8> {
    let mut order: Vec<(usize, usize)> = rest.sections.clone();
    order.sort_unstable_by_key(|(section, _)| {
        std::cmp::Reverse(update.clients[update.sections[*section].client as usize])
    });
    let mut encoder = EncoderV2::new();
    encoder.write_var(order.len() as u64);
    for (place, next) in order {
        let section = &update.sections[place];
        let client = update.clients[section.client as usize];
        let blocks = &update.blocks[next..section.end as usize];
        encoder.write_var(blocks.len() as u64);
        encoder.write_client(client);
        encoder.write_var(blocks[0].clock);
        for block in blocks {
            write_block(&mut encoder, &update.wire_block(client, block), 0);
        }
    }
    write_delete_set(&mut encoder, std::iter::empty());
    encoder.to_vec()
}
