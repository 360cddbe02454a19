//! Bytes of any kind as JSON for programs. A BigInt reads as a number; bytes are hexadecimal text.

use serde_json::{Map, Value as Json, json};
use yatta::sync::awareness::AwarenessUpdate;
use yatta::sync::{Message, SyncMessage};
use yatta::updates::tools::{Block, Content, DecodedUpdate, DeleteRange, Item, Parent, decode_update_v1};
use yatta::{Any, Assoc, ID, IndexScope, StateVector, StickyIndex};

use super::sizes::{self, Size, Sizes};
use crate::kind::Parsed;
use crate::output::hex;

/// Describes what was read, as an object.
pub(super) fn of(parsed: &Parsed<'_>, only_sizes: bool) -> Json {
    match parsed {
        Parsed::Update(_, decoded) => update(decoded, only_sizes),
        Parsed::StateVector(state) => json!({ "clients": state_vector(state) }),
        Parsed::Snapshot(_, snapshot) => {
            let deleted: Map<String, Json> = snapshot
                .delete_set
                .iter()
                .map(|(client, ranges)| {
                    let ranges: Vec<_> = ranges.iter().map(|range| json!([range.start, range.end])).collect();
                    (client.to_string(), ranges.into())
                })
                .collect();
            json!({ "clients": state_vector(&snapshot.state_map), "deleted": deleted })
        }
        Parsed::StickyIndex(index) => sticky_index(index),
        Parsed::Awareness(update) => awareness(update),
        Parsed::Messages(messages) => {
            let messages: Vec<Json> = messages.iter().map(|one| message(one, only_sizes)).collect();
            json!({ "messages": messages })
        }
        Parsed::Sync(message) => sync(message, only_sizes),
    }
}

fn update(decoded: &DecodedUpdate<'_>, only_sizes: bool) -> Json {
    let sizes = Sizes::of(decoded);
    let size = |size: &Size| json!({ "blocks": size.blocks, "units": size.units, "bytesV1": size.bytes });
    let clients: Map<String, Json> = sizes
        .clients
        .iter()
        .map(|(client, of)| {
            let mut value = size(&of.size);
            value["clocks"] = json!([of.clocks.0, of.clocks.1]);
            value["deletedUnits"] = of.deleted.into();
            (client.to_string(), value)
        })
        .collect();
    let contents: Map<String, Json> =
        sizes.contents.iter().map(|(content, of)| (content.clone(), size(of))).collect();
    let mut value = json!({ "clients": clients, "contents": contents });
    if !only_sizes {
        value["blocks"] = decoded.blocks.iter().map(block).collect();
        value["deleted"] = deleted(&decoded.delete_set);
    }
    value
}

/// Ranges by client, ends exclusive.
fn deleted(ranges: &[DeleteRange]) -> Json {
    let mut clients = Map::new();
    for range in ranges {
        let list = clients.entry(range.client.to_string()).or_insert_with(|| json!([]));
        if let Some(list) = list.as_array_mut() {
            list.push(json!([range.clock, range.clock_end()]));
        }
    }
    clients.into()
}

fn id(id: ID) -> Json {
    json!({ "client": id.client.get(), "clock": id.clock })
}

fn block(block: &Block<'_>) -> Json {
    let mut value = id(block.id());
    value["len"] = block.len().into();
    value["content"] = sizes::content(block).into();
    if let Block::Item(item) = block {
        add_item(&mut value, item);
    }
    value
}

fn add_item(value: &mut Json, item: &Item<'_>) {
    if let Some(origin) = item.origin {
        value["origin"] = id(origin);
    }
    if let Some(right) = item.right_origin {
        value["rightOrigin"] = id(right);
    }
    match &item.parent {
        Parent::Inherit => {}
        Parent::Root(name) => value["parent"] = json!({ "root": name }),
        Parent::Branch(parent) => value["parent"] = id(*parent),
    }
    if let Some(key) = &item.parent_sub {
        value["key"] = key.as_ref().into();
    }
    match &item.content {
        Content::Deleted(_) => {}
        Content::Json(texts) => value["json"] = texts.iter().map(|text| Json::from(text.as_ref())).collect(),
        Content::Binary(bytes) => value["binary"] = hex(bytes).into(),
        Content::String(text) => value["text"] = text.as_ref().into(),
        Content::Embed(embed) => value["value"] = any(embed.any()),
        Content::Format(key, format) => {
            value["format"] = key.as_ref().into();
            value["value"] = any(format.any());
        }
        Content::Type(tag) => {
            value["type"] = tag.to_string().into();
        }
        Content::Any(values) => value["values"] = values.iter().map(|value| any(value.any())).collect(),
        Content::Doc { guid, options } => {
            value["guid"] = guid.as_ref().into();
            value["options"] = any(options);
        }
    }
}

/// What JSON can say of a value: as `JSON.stringify`, but for bytes, which become text.
pub(crate) fn any(value: &Any) -> Json {
    match value {
        Any::Buffer(bytes) => hex(bytes).into(),
        Any::Array(values) => values.iter().map(any).collect(),
        Any::Map(entries) => {
            entries.iter().map(|(key, value)| (key.to_owned(), any(value))).collect::<Map<_, _>>().into()
        }
        value => {
            let mut text = String::new();
            value.to_json(&mut text);
            serde_json::from_str(&text).unwrap_or(Json::Null)
        }
    }
}

fn state_vector(state: &StateVector) -> Json {
    state.iter().map(|(client, clock)| (client.to_string(), Json::from(*clock))).collect::<Map<_, _>>().into()
}

fn sticky_index(index: &StickyIndex) -> Json {
    let mut value = match index.scope() {
        IndexScope::Relative(at) => json!({ "item": id(*at) }),
        IndexScope::Nested(at) => json!({ "type": id(*at) }),
        IndexScope::Root(name) => json!({ "tname": name.as_ref() }),
    };
    value["assoc"] = if index.assoc == Assoc::Before { (-1).into() } else { 0.into() };
    value
}

fn awareness(update: &AwarenessUpdate) -> Json {
    let clients: Map<String, Json> = update
        .clients
        .iter()
        .map(|(client, entry)| {
            let state: Json =
                serde_json::from_str(&entry.json).unwrap_or_else(|_| entry.json.as_ref().into());
            (client.to_string(), json!({ "clock": entry.clock, "state": state }))
        })
        .collect();
    json!({ "clients": clients })
}

fn message(message: &Message, only_sizes: bool) -> Json {
    match message {
        Message::Sync(message) => sync(message, only_sizes),
        Message::Auth(reason) => json!({ "message": "auth", "refused": reason }),
        Message::AwarenessQuery => json!({ "message": "query-awareness" }),
        Message::Awareness(update) => {
            let mut value = awareness(update);
            value["message"] = "awareness".into();
            value
        }
        Message::Custom(tag, payload) => json!({ "message": "custom", "tag": tag, "payload": hex(payload) }),
    }
}

fn sync(message: &SyncMessage, only_sizes: bool) -> Json {
    let payload = |name: &str, bytes: &[u8]| match decode_update_v1(bytes) {
        Ok(decoded) => json!({ "message": name, "update": update(&decoded, only_sizes) }),
        Err(error) => json!({ "message": name, "error": error.to_string() }),
    };
    match message {
        SyncMessage::SyncStep1(state) => json!({ "message": "sync-step-1", "clients": state_vector(state) }),
        SyncMessage::SyncStep2(bytes) => payload("sync-step-2", bytes),
        SyncMessage::Update(bytes) => payload("update", bytes),
    }
}
