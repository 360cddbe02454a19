//! Bytes of any kind as text for people.

use std::fmt::Write;

use yatta::sync::awareness::AwarenessUpdate;
use yatta::sync::{Message, SyncMessage};
use yatta::updates::tools::{DecodedUpdate, decode_update_v1};
use yatta::{IndexScope, StateVector, StickyIndex};

use super::sizes::Sizes;
use crate::kind::Parsed;

/// Describes what was read.
pub(super) fn of(parsed: &Parsed<'_>, only_sizes: bool) -> String {
    match parsed {
        Parsed::Update(_, decoded) => update(decoded, only_sizes),
        Parsed::StateVector(state) => state_vector(state),
        Parsed::Snapshot(_, snapshot) => {
            let mut text = state_vector(&snapshot.state_map);
            for (client, ranges) in snapshot.delete_set.iter() {
                let ranges: Vec<_> =
                    ranges.iter().map(|range| format!(" {}..{}", range.start, range.end)).collect();
                text += &format!("deleted {client}:{}\n", ranges.concat());
            }
            text
        }
        Parsed::StickyIndex(index) => sticky_index(index),
        Parsed::Awareness(update) => awareness(update),
        Parsed::Messages(messages) => messages.iter().map(|one| message(one, only_sizes)).collect(),
        Parsed::Sync(message) => sync(message, only_sizes),
    }
}

fn update(decoded: &DecodedUpdate<'_>, only_sizes: bool) -> String {
    let sizes = Sizes::of(decoded);
    let mut clients =
        vec![["client", "clocks", "blocks", "units", "bytes V1", "deleted units"].map(str::to_owned)];
    for (client, of) in &sizes.clients {
        let size = of.size;
        let clocks =
            if size.blocks == 0 { "-".to_owned() } else { format!("{}..{}", of.clocks.0, of.clocks.1) };
        let numbers = [size.blocks, size.units, size.bytes, of.deleted].map(|number| number.to_string());
        let [blocks, units, bytes, deleted] = numbers;
        clients.push([client.to_string(), clocks, blocks, units, bytes, deleted]);
    }
    let mut contents = vec![["content", "blocks", "units", "bytes V1"].map(str::to_owned)];
    for (content, size) in &sizes.contents {
        let [blocks, units, bytes] = [size.blocks, size.units, size.bytes].map(|number| number.to_string());
        contents.push([content.clone(), blocks, units, bytes]);
    }
    let mut text = format!("\n{}\n{}", table(&clients), table(&contents));
    if !only_sizes {
        text += &format!("\n{decoded}");
    }
    text
}

/// Rows with their cells under each other: the first column to the left, numbers to the right.
fn table<const N: usize>(rows: &[[String; N]]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for row in rows {
        for (column, cell) in row.iter().enumerate() {
            let width = width(column);
            let written =
                if column == 0 { write!(text, "{cell:width$}") } else { write!(text, "  {cell:>width$}") };
            written.expect("a string takes all");
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    text
}

fn state_vector(state: &StateVector) -> String {
    state.iter().map(|(client, clock)| format!("{client}: {clock}\n")).collect()
}

fn sticky_index(index: &StickyIndex) -> String {
    let side = format!("{:?}", index.assoc).to_lowercase();
    match index.scope() {
        IndexScope::Relative(id) => format!("at {}:{}, side: {side}\n", id.client, id.clock),
        IndexScope::Nested(id) => format!("bound of the type {}:{}, side: {side}\n", id.client, id.clock),
        IndexScope::Root(name) => format!("bound of the root {name:?}, side: {side}\n"),
    }
}

fn awareness(update: &AwarenessUpdate) -> String {
    let line = |(client, entry): (&yatta::ClientID, &yatta::sync::awareness::AwarenessUpdateEntry)| {
        format!("{client} clock {}: {}\n", entry.clock, entry.json)
    };
    update.clients.iter().map(line).collect()
}

fn message(message: &Message, only_sizes: bool) -> String {
    match message {
        Message::Sync(message) => sync(message, only_sizes),
        Message::Auth(None) => "access granted\n".to_owned(),
        Message::Auth(Some(reason)) => format!("access refused: {reason}\n"),
        Message::AwarenessQuery => "awareness asked for\n".to_owned(),
        Message::Awareness(update) => format!("awareness\n{}", awareness(update)),
        Message::Custom(tag, payload) => format!("custom message {tag}, {} bytes\n", payload.len()),
    }
}

fn sync(message: &SyncMessage, only_sizes: bool) -> String {
    let payload = |update_bytes: &[u8]| match decode_update_v1(update_bytes) {
        Ok(decoded) => update(&decoded, only_sizes),
        Err(error) => format!("not an update: {error}\n"),
    };
    match message {
        SyncMessage::SyncStep1(state) => format!("sync step 1, the sender has\n{}", state_vector(state)),
        SyncMessage::SyncStep2(bytes) => format!("sync step 2, an update\n{}", payload(bytes)),
        SyncMessage::Update(bytes) => format!("update\n{}", payload(bytes)),
    }
}
