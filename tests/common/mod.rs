//! What the integration tests share.
//!
//! - `on_yatta`, `on_yrs`: the adapter's service, mounted on our engine and on yrs, so that one script drives both.
//! - `yjs`: real Yjs in a Node process behind the same protocol.
//! - `heap`: an allocator that counts.
//! - `seeds`: how many scripts run, from which seeds, and what is printed when one fails.
//! - `script`, `value`: random scripts; `network`: runs one on several engines in lockstep.
//! - `mixed`: the peers of a network that are yrs.
//! - `plain`: what a document of one replica should hold, without any history.
//! - `steps`: the step language of the shared cases, played through the same protocol; `notation` of its values.
//! - `wire`: an independent reader of updates, which brings those of yrs into Yjs's order.

#![allow(dead_code, reason = "each test binary uses its own part of these modules")]
#![allow(clippy::duplicate_mod, reason = "the same protocol on two engines is the point")]

pub(crate) mod heap;
#[path = "../../tools/src/adapter/json.rs"]
pub(crate) mod json;
pub(crate) mod mixed;
pub(crate) mod network;
pub(crate) mod notation;
pub(crate) mod on_yatta;
pub(crate) mod on_yrs;
pub(crate) mod plain;
pub(crate) mod script;
pub(crate) mod seeds;
pub(crate) mod steps;
pub(crate) mod value;
pub(crate) mod wire;
pub(crate) mod yjs;

use json::Json;

/// Anything that answers the requests of the adapter's protocol.
pub(crate) trait Host {
    /// Answers one request.
    fn call(&mut self, request: &Json) -> Json;

    /// Checks the invariants of a document, where the engine can.
    fn check(&mut self, _doc: &str) {}
}

impl Host for on_yatta::service::Service {
    fn call(&mut self, request: &Json) -> Json {
        self.handle(request)
    }

    fn check(&mut self, doc: &str) {
        if let Some(doc) = self.doc(doc) {
            on_yatta::engine::check(doc);
        }
    }
}

impl Host for on_yrs::service::Service {
    fn call(&mut self, request: &Json) -> Json {
        self.handle(request)
    }
}
