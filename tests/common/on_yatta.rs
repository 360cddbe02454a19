//! The adapter's service on our engine.

#[path = "../../tools/src/adapter/beyond.rs"]
pub(crate) mod beyond;
#[path = "../../tools/src/adapter/engine.rs"]
pub(crate) mod engine;
#[path = "../../tools/src/adapter/extra.rs"]
pub(crate) mod extra;
pub(crate) use super::json;
#[path = "../../tools/src/adapter/late.rs"]
pub(crate) mod late;
#[path = "../../tools/src/adapter/more.rs"]
pub(crate) mod more;
#[path = "../../tools/src/adapter/presence.rs"]
pub(crate) mod presence;
#[path = "../../tools/src/adapter/service/mod.rs"]
pub(crate) mod service;
#[path = "../../tools/src/adapter/xml_events.rs"]
pub(crate) mod xml_events;
