//! The adapter's protocol: one request in, one reply out.
//!
//! - `session`: one document with its handles and the events it has emitted.
//! - `value`: TJSON to and from the engine's values.
//! - `node`: a handle to a shared type, and how one is made, found and filled.
//! - `ops`: what each operation does inside a transaction.
//!
//! Beyond version 1 of the protocol, for tests: `h` may be a path `[handle, segment…]` (a number is an index, a
//! string a key, `{"embed": n}` the n-th type in a text), `transact {doc, origin?, ops}` runs several requests in one
//! transaction, `batch {reqs}` answers several at once, `shape {doc, h}` describes a type.

pub(crate) mod node;
pub(crate) mod ops;
pub(crate) mod session;
pub(crate) mod value;

use super::engine;
use super::json::{Json, hex, unhex};
use super::more::{self, FakeClock};
use super::presence::{self, Presence};
use session::Session;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Why a request was not done.
#[derive(Debug)]
pub(crate) struct Failure {
    kind: &'static str,
    message: String,
}

impl Failure {
    pub(crate) fn error(message: impl Into<String>) -> Self {
        Self { kind: "error", message: message.into() }
    }

    pub(crate) fn decode(message: impl Into<String>) -> Self {
        Self { kind: "decode", message: message.into() }
    }

    pub(crate) fn unsupported(what: &str) -> Self {
        Self { kind: "unsupported", message: format!("{what} is not supported") }
    }

    fn reply(self) -> Json {
        Json::object([("ok", false.into()), ("err", self.message.into()), ("kind", self.kind.into())])
    }
}

/// All documents of one adapter.
#[derive(Default)]
pub(crate) struct Service {
    docs: HashMap<String, Session>,
    presence: Presence,
    /// What undo managers take for the time.
    clock: FakeClock,
}

impl Service {
    /// Answers the request lines of `input` in order until it ends; a transaction stays open from `begin` to `commit`.
    ///
    /// # Errors
    /// Those of `reply`.
    pub(crate) fn serve<E>(
        &mut self,
        input: &mut dyn Iterator<Item = String>,
        reply: &mut dyn FnMut(Json) -> Result<(), E>,
    ) -> Result<(), E> {
        while let Some(line) = input.next() {
            let request = match Json::parse(&line) {
                Ok(request) => request,
                Err(message) => {
                    reply(Failure::error(message).reply())?;
                    continue;
                }
            };
            if request.get("op").as_str() == Some("begin") {
                self.transaction(&request, input, reply)?;
            } else {
                reply(with_id(&request, self.handle(&request)))?;
            }
        }
        Ok(())
    }

    /// Answers one request.
    pub(crate) fn handle(&mut self, request: &Json) -> Json {
        match request.get("op").as_str() {
            Some("batch") => {
                let replies =
                    request.get("reqs").items().iter().map(|request| self.handle(request)).collect();
                return ok(Json::Array(replies), Vec::new());
            }
            Some("new") => {
                return match Session::new(request) {
                    Ok(mut session) => {
                        session.more.clock = self.clock.clone();
                        self.docs.insert(request.get("doc").as_str().unwrap_or_default().to_owned(), session);
                        ok(Json::Null, Vec::new())
                    }
                    Err(failure) => failure.reply(),
                };
            }
            Some("free") => {
                self.docs.remove(request.get("doc").as_str().unwrap_or_default());
                return ok(Json::Null, Vec::new());
            }
            Some("clock") => {
                self.clock.set(request.get("ms").as_u64());
                return ok(Json::Null, Vec::new());
            }
            _ => {}
        }
        if let Some(result) = without_document(request).or_else(|| presence::run(&mut self.presence, request))
        {
            return result.map_or_else(Failure::reply, |r| ok(r, Vec::new()));
        }
        let Some(session) = self.docs.get_mut(request.get("doc").as_str().unwrap_or_default()) else {
            return Failure::error(format!("no document {}", request.get("doc"))).reply();
        };
        let result = catch_unwind(AssertUnwindSafe(|| session.run(request)));
        let events = session.take_events();
        finish(result.unwrap_or_else(|panic| Err(panicked(&*panic))), events)
    }

    /// The document of that name, for checks that the protocol does not offer.
    #[allow(dead_code, reason = "for the tests that mount this file")]
    pub(crate) fn doc(&self, name: &str) -> Option<&engine::Doc> {
        self.docs.get(name).map(|session| &session.doc)
    }

    /// Answers everything from a `begin` to its `commit`.
    fn transaction<E>(
        &mut self,
        begin: &Json,
        input: &mut dyn Iterator<Item = String>,
        reply: &mut dyn FnMut(Json) -> Result<(), E>,
    ) -> Result<(), E> {
        let name = begin.get("doc").as_str().unwrap_or_default().to_owned();
        let Some(mut session) = self.docs.remove(&name) else {
            return reply(with_id(begin, Failure::error(format!("no document {name}")).reply()));
        };
        reply(with_id(begin, ok(Json::Null, Vec::new())))?;
        let doc = session.doc.clone();
        let mut txn = session::open(&doc, begin);
        let mut commit = Json::Null;
        for line in input {
            let request = Json::parse(&line).unwrap_or_default();
            let answer = match request.get("op").as_str() {
                Some("commit") => {
                    commit = request;
                    break;
                }
                Some("begin") => Failure::unsupported("a transaction within a transaction").reply(),
                _ if request.get("doc").as_str() == Some(&name) => {
                    let result = catch_unwind(AssertUnwindSafe(|| session.exec(&mut txn, &request)));
                    finish(result.unwrap_or_else(|panic| Err(panicked(&*panic))), Vec::new())
                }
                _ => self.handle(&request),
            };
            reply(with_id(&request, answer))?;
        }
        drop(txn);
        let events = session.take_events();
        self.docs.insert(name, session);
        reply(with_id(&commit, ok(Json::Null, events)))
    }
}

fn ok(result: Json, events: Vec<Json>) -> Json {
    Json::object([("ok", true.into()), ("r", result), ("ev", events.into())])
}

pub(crate) fn finish(result: Result<Json, Failure>, events: Vec<Json>) -> Json {
    match result {
        Ok(r) => ok(r, events),
        Err(failure) => {
            let mut reply = failure.reply();
            reply.set("ev", events.into());
            reply
        }
    }
}

fn with_id(request: &Json, mut reply: Json) -> Json {
    if let (Some(id), Json::Object(entries)) = (request.find("id"), &mut reply) {
        entries.insert(0, ("id".to_owned(), id.clone()));
    }
    reply
}

fn panicked(panic: &(dyn std::any::Any + Send)) -> Failure {
    let message = panic
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
        .unwrap_or_else(|| "panic without a message".to_owned());
    let kind = if message == more::THROWN { "error" } else { "panic" };
    Failure { kind, message }
}

/// The bytes of a hex field.
fn bytes(request: &Json, key: &str) -> Result<Vec<u8>, Failure> {
    let text = request.get(key).as_str().ok_or_else(|| Failure::error(format!("{key} is missing")))?;
    unhex(text).map_err(Failure::error)
}

fn is_v2(request: &Json) -> bool {
    request.get("enc").as_u64() == Some(2)
}

/// Operations on bytes alone; `None` if this is none of them.
fn without_document(request: &Json) -> Option<Result<Json, Failure>> {
    let to_hex = |result: Result<Vec<u8>, String>| match result {
        Ok(bytes) => Ok(hex(&bytes).into()),
        Err(message) => Err(Failure::decode(message)),
    };
    let run = || match request.get("op").as_str().unwrap_or_default() {
        "hello" => Ok(Json::object([
            ("name", engine::NAME.into()),
            ("version", env!("CARGO_PKG_VERSION").into()),
            ("protocol", 1.into()),
            ("v2", true.into()),
        ])),
        "merge" => {
            let updates: Result<Vec<_>, _> = request
                .get("updates")
                .items()
                .iter()
                .map(|hex| unhex(hex.as_str().unwrap_or_default()))
                .collect();
            to_hex(engine::merge(&updates.map_err(Failure::error)?, is_v2(request)))
        }
        "diff" => to_hex(engine::diff(&bytes(request, "update")?, &bytes(request, "sv")?, is_v2(request))),
        "svFromUpdate" => to_hex(engine::state_vector_of(&bytes(request, "update")?, is_v2(request))),
        _ => to_hex(engine::convert(&bytes(request, "update")?, request.get("to").as_u64() == Some(2))),
    };
    matches!(request.get("op").as_str()?, "hello" | "merge" | "diff" | "svFromUpdate" | "convert").then(run)
}
