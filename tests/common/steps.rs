//! The step language of the shared cases (testdata/cases/README.md), played through the adapter's protocol.
//!
//! A step becomes one or a few requests; what it produces goes into `golden` under its name, in the notation of the
//! cases. An operation that the engine cannot do yet stops the case with its name, so that it can be counted. What acts on documents and
//! types stands here, what is read and decoded in `reads`, everything else that a document has in `features`.

mod features;
mod reads;

use super::Host;
use super::json::{Json, unhex};
use super::notation::{counted, given, notation, state_vector};
use super::wire;
use std::collections::BTreeMap;

/// Why a case was not played to its end.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Stop {
    /// The engine, or this player, cannot do an operation.
    Unsupported(String),
    /// Something went otherwise than it must.
    Failed(String),
    /// The engine panicked where it must not.
    Panicked(String),
}

/// What playing a step gives.
pub(crate) type Played<T> = Result<T, Stop>;

/// Plays the steps of one case.
pub(crate) struct Player<'a> {
    host: &'a mut dyn Host,
    /// What the steps produced, by name, in the notation of the cases.
    pub(crate) golden: BTreeMap<String, Json>,
    blobs: BTreeMap<String, Json>,
    /// The update events of each document.
    updates: BTreeMap<String, Vec<Json>>,
    /// Type events of each observer, to be given out by `events`.
    observed: BTreeMap<String, Vec<Json>>,
    /// The events of sub-documents, by document.
    subdocs: BTreeMap<String, Vec<Json>>,
    docs: Vec<String>,
    /// The document of each undo manager and of each snapshot.
    owners: BTreeMap<String, String>,
    /// Handles that are kept: document and handle.
    held: BTreeMap<String, (String, Json)>,
    /// The steps that each observer runs within its callback.
    inside: BTreeMap<String, Vec<Json>>,
}

impl<'a> Player<'a> {
    pub(crate) fn new(host: &'a mut dyn Host) -> Self {
        Self {
            host,
            golden: BTreeMap::new(),
            blobs: BTreeMap::new(),
            updates: BTreeMap::new(),
            observed: BTreeMap::new(),
            subdocs: BTreeMap::new(),
            docs: Vec::new(),
            owners: BTreeMap::new(),
            held: BTreeMap::new(),
            inside: BTreeMap::new(),
        }
    }

    /// Plays one step.
    pub(crate) fn step(&mut self, step: &Json) -> Played<()> {
        let op = string(step, "do");
        match op {
            "doc" => self.doc(step),
            "repeat" => self.repeat(step),
            "try" => self.attempt(step),
            "read" => self.read(step),
            "sync" => {
                self.sync(string(step, "from"), string(step, "to"), flag(step, "v2"), step.find("origin"))
            }
            "syncAll" => self.sync_all(step),
            "events" => {
                let name = string(step, "name");
                let events = self.observed.get(name).cloned().unwrap_or_default();
                self.golden.insert(name.to_owned(), notation(&events.into()));
                Ok(())
            }
            "subdocs" => {
                let events = self.subdocs.get(string(step, "doc")).cloned().unwrap_or_default();
                self.golden.insert(string(step, "as").to_owned(), events.into());
                Ok(())
            }
            "log" => {
                self.log(step);
                Ok(())
            }
            "encode" | "sv" | "hex" | "merge" | "diff" | "svFromUpdate" | "convert" | "blob" | "decode"
            | "decodeSv" | "meta" => self.blob(op, step),
            "apply" => {
                let update = self.resolve(step.get("update"))?;
                let enc: u32 = if flag(step, "v2") { 2 } else { 1 };
                let origin = step.get("origin").as_str().unwrap_or("remote");
                let request = [
                    ("op", "apply".into()),
                    ("update", update),
                    ("enc", enc.into()),
                    ("origin", origin.into()),
                ];
                self.ask(string(step, "doc"), Json::object(request)).map(drop)
            }
            "hold" => {
                let handle = self.address(string(step, "doc"), step.get("on"))?;
                self.held.insert(string(step, "as").to_owned(), (string(step, "doc").to_owned(), handle));
                Ok(())
            }
            "held" => self.held(step),
            "clone" => self.clone_type(step),
            "transact" => self.transact(step),
            "client" => self.change_client(step),
            "observe" | "unobserve" => self.observe(op, step),
            _ if op.starts_with("aw.") => self.awareness(op, step),
            _ if op.starts_with("sp.") => self.message(op, step),
            _ if op.starts_with("um.") => self.undo(op, step),
            _ if op.starts_with("rel.") => self.position(op, step),
            _ if op.starts_with("snap.") => self.snapshot(op, step),
            _ => {
                let request = self.edit(step)?;
                self.ask(string(step, "doc"), request).map(drop)
            }
        }
    }

    /// What a document holds in the end, as `golden.final` describes it.
    pub(crate) fn outcome(&mut self, doc: &str, roots: &[Json]) -> Played<Json> {
        let mut values = Json::Object(Vec::new());
        for root in roots {
            let name = root.as_str().unwrap_or_default();
            let value = match name.split_once(':').map_or("", |(kind, _)| kind) {
                "text" | "xmltext" => Json::object([
                    ("string", self.reading(doc, "string", root)?),
                    ("delta", self.reading(doc, "delta", root)?),
                ]),
                "xml" | "xmlel" => self.reading(doc, "string", root)?,
                _ => self.reading(doc, "json", root)?,
            };
            values.set(name, value);
        }
        let mut outcome = Json::object([("roots", values)]);
        let pending = self.ask(doc, Json::object([("op", "pending".into())]))?;
        if let Some(missing) = pending.find("missing") {
            outcome.set("pendingMissing", missing.clone());
        }
        if pending.get("ds").as_bool() == Some(true) {
            outcome.set("pendingDs", true.into());
        }
        let sv = self.ask(doc, Json::object([("op", "sv".into())]))?;
        outcome.set("sv", state_vector(&sv)?);
        for (key, enc) in [("updateV1", 1_u32), ("updateV2", 2)] {
            outcome.set(key, self.ask(doc, Json::object([("op", "encode".into()), ("enc", enc.into())]))?);
        }
        Ok(outcome)
    }

    fn doc(&mut self, step: &Json) -> Played<()> {
        let name = string(step, "doc");
        let mut request = Json::object([("op", "new".into()), ("clientID", step.get("client").clone())]);
        request.set("guid", format!("guid-{name}").into());
        request.set("gc", (step.get("gc").as_bool() != Some(false)).into());
        self.docs.push(name.to_owned());
        self.updates.insert(name.to_owned(), Vec::new());
        self.ask(name, request).map(drop)
    }

    fn change_client(&mut self, step: &Json) -> Played<()> {
        let request = [("op", "client".into()), ("clientID", step.get("client").clone())];
        self.ask(string(step, "doc"), Json::object(request)).map(drop)
    }

    /// Uses a handle that was kept: the step says what to do, without `on`. In Yjs a type can be used after it was
    /// removed from its document; so it must be here.
    fn held(&mut self, step: &Json) -> Played<()> {
        let name = ["held", "handle", "name", "type", "as"].iter().find_map(|key| {
            step.get(key).as_str().filter(|name| self.held.contains_key(*name)).map(str::to_owned)
        });
        let name = name.ok_or_else(|| Stop::Failed(format!("no handle was kept for {step}")))?;
        let (doc, _) = self.held[&name].clone();
        let used = |operation: &Json| {
            let mut operation = operation.clone();
            if operation.find("doc").is_none() {
                operation.set("doc", doc.as_str().into());
            }
            operation.set("on", Json::object([("held", name.as_str().into())]));
            operation
        };
        match (step.find("op"), step.find("ops"), step.find("what")) {
            (Some(operation @ Json::Object(_)), ..) => self.step(&used(operation)),
            (Some(Json::String(op)), ..) => {
                let mut operation = used(step);
                operation.set("do", op.as_str().into());
                self.step(&operation)
            }
            (_, Some(operations), _) => operations.items().iter().try_for_each(|one| self.step(&used(one))),
            (.., Some(_)) => {
                let mut operation = used(step);
                operation.set("do", "read".into());
                self.step(&operation)
            }
            _ => Err(Stop::Unsupported(format!("held {step}"))),
        }
    }

    fn clone_type(&mut self, step: &Json) -> Played<()> {
        let request = self.clone_request(step)?;
        self.ask(string(step, "doc"), request).map(drop)
    }

    fn clone_request(&mut self, step: &Json) -> Played<Json> {
        let doc = string(step, "doc");
        let mut request = Json::object([("op", "clone".into())]);
        request.set("h", self.address(doc, step.get("from"))?);
        request.set("to", self.address(doc, step.get("to"))?);
        for key in ["key", "index"] {
            if let Some(value) = step.find(key) {
                request.set(key, value.clone());
            }
        }
        Ok(request)
    }

    fn repeat(&mut self, step: &Json) -> Played<()> {
        for i in 0..step.get("n").as_u64().unwrap_or_default() {
            for operation in step.get("ops").items() {
                self.step(&counted(operation, i as u32))?;
            }
        }
        Ok(())
    }

    fn attempt(&mut self, step: &Json) -> Played<()> {
        let result = match self.step(step.get("op")) {
            Ok(()) => "ok",
            Err(Stop::Failed(_)) => "throws",
            Err(stop) => return Err(stop),
        };
        self.golden.insert(string(step, "as").to_owned(), result.into());
        Ok(())
    }

    fn sync(&mut self, from: &str, to: &str, v2: bool, origin: Option<&Json>) -> Played<()> {
        let enc: u32 = if v2 { 2 } else { 1 };
        let sv = self.ask(to, Json::object([("op", "sv".into())]))?;
        let update =
            self.ask(from, Json::object([("op", "encode".into()), ("enc", enc.into()), ("sv", sv)]))?;
        let origin = origin.cloned().unwrap_or_else(|| "remote".into());
        let request = [("op", "apply".into()), ("update", update), ("enc", enc.into()), ("origin", origin)];
        self.ask(to, Json::object(request)).map(drop)
    }

    fn sync_all(&mut self, step: &Json) -> Played<()> {
        let docs: Vec<&str> = step.get("docs").items().iter().filter_map(Json::as_str).collect();
        for _ in 0..2 {
            for from in &docs {
                for to in docs.iter().filter(|to| *to != from) {
                    self.sync(from, to, false, None)?;
                }
            }
        }
        Ok(())
    }

    fn transact(&mut self, step: &Json) -> Played<()> {
        let doc = string(step, "doc");
        let (mut ops, mut readings) = (Vec::new(), Vec::new());
        for operation in unrolled(step.get("ops").items()) {
            let mut operation = operation.clone();
            if operation.find("doc").is_none() {
                operation.set("doc", doc.into());
            }
            match string(&operation, "do") {
                "read" => {
                    let request = self.reading_request(&operation)?;
                    readings.push((ops.len(), operation));
                    ops.push(request);
                }
                "clone" => ops.push(self.clone_request(&operation)?),
                "hold" => self.step(&operation)?,
                _ => ops.push(self.edit(&operation)?),
            }
        }
        let mut request = Json::object([("op", "transact".into()), ("ops", ops.into())]);
        if let Some(origin) = step.find("origin") {
            request.set("origin", origin.clone());
        }
        let replies = self.ask(doc, request)?;
        for (place, reading) in readings {
            let value = self.shown(doc, string(&reading, "what"), &replies.items()[place])?;
            self.golden.insert(string(&reading, "as").to_owned(), value);
        }
        // the body of a transaction that throws has run by then: what it did stays
        if step.get("throws").is_null() {
            Ok(())
        } else {
            Err(Stop::Failed("thrown in a transaction".to_owned()))
        }
    }

    fn log(&mut self, step: &Json) {
        let entries = self.updates.get(string(step, "doc")).cloned().unwrap_or_default();
        let entry = |event: &Json| {
            let origin = event.get("origin");
            let mut entry =
                Json::object([("update", event.get("v1").clone()), ("local", event.get("local").clone())]);
            if !origin.is_null() {
                entry.set("origin", origin.clone());
            }
            entry
        };
        self.golden
            .insert(string(step, "as").to_owned(), entries.iter().map(entry).collect::<Vec<_>>().into());
    }

    /// The request for a step that edits one type.
    fn edit(&mut self, step: &Json) -> Played<Json> {
        let op = string(step, "do");
        let doc = string(step, "doc");
        let (name, fields): (&str, &[(&str, &str)]) = match op {
            "text.insert" => ("text_insert", &[("index", "index"), ("str", "text"), ("attrs", "attrs")]),
            "text.delete" => ("text_delete", &[("index", "index"), ("len", "len")]),
            "text.format" => ("text_format", &[("index", "index"), ("len", "len"), ("attrs", "attrs")]),
            "text.embed" => ("text_embed", &[("index", "index"), ("value", "value"), ("attrs", "attrs")]),
            "text.delta" => ("text_delta", &[("delta", "delta"), ("sanitize", "sanitize")]),
            "text.push" => ("text_insert", &[("str", "text"), ("attrs", "attrs")]),
            "attr.set" | "map.set" => ("map_set", &[("key", "key"), ("value", "value")]),
            "attr.remove" | "map.delete" => ("map_delete", &[("key", "key")]),
            "map.clear" => ("map_clear", &[]),
            "array.insert" => ("list_insert", &[("index", "index"), ("values", "content")]),
            "array.push" => ("list_push", &[("values", "content")]),
            "array.delete" | "xml.delete" => ("list_delete", &[("index", "index"), ("len", "len")]),
            "xml.insert" => ("list_insert", &[("index", "index"), ("nodes", "content")]),
            "xml.insertAfter" => ("list_insert", &[("nodes", "content")]),
            _ => return Err(Stop::Unsupported(op.to_owned())),
        };
        let mut request = Json::object([("op", name.into()), ("h", self.address(doc, step.get("on"))?)]);
        for (from, to) in fields {
            if let Some(value) = step.find(from) {
                let value = if *from == "values" || *from == "nodes" {
                    value.items().iter().map(given).collect::<Played<Vec<_>>>()?.into()
                } else {
                    given(value)?
                };
                request.set(to, value);
            }
        }
        if op == "xml.insertAfter" {
            let index = step.get("after").as_u64().map_or(0, |after| after as u32 + 1);
            request.set("index", index.into());
        }
        request.set("doc", doc.into());
        Ok(request)
    }

    /// The handle or path of an address, its root declared.
    fn address(&mut self, doc: &str, on: &Json) -> Played<Json> {
        let held =
            on.find("held").and_then(Json::as_str).or_else(|| on.as_str().filter(|on| !on.contains(':')));
        if let Some((_, handle)) = held.and_then(|held| self.held.get(held)) {
            return Ok(handle.clone());
        }
        let root = on.as_str().or_else(|| on.items().first().and_then(Json::as_str)).unwrap_or_default();
        let (kind, name) = root.split_once(':').unwrap_or(("", root));
        let kind = match kind {
            "xml" => "xmlfragment",
            "xmlel" => "xmlelement",
            kind => kind,
        };
        let request = Json::object([("op", "root".into()), ("name", name.into()), ("kind", kind.into())]);
        let handle = self.ask(doc, request)?;
        if on.items().len() < 2 {
            return Ok(handle);
        }
        let mut path = vec![handle];
        path.extend_from_slice(&on.items()[1..]);
        Ok(path.into())
    }

    /// The hex of `name`, `{"hex": …}`, `"A#2"` (third update event of A) or `"A##2"` (the same in V2).
    fn resolve(&self, reference: &Json) -> Played<Json> {
        if let Some(hex) = reference.find("hex") {
            return Ok(hex.clone());
        }
        let name = reference.as_str().unwrap_or_default();
        if let Some(blob) = self.blobs.get(name) {
            return Ok(blob.clone());
        }
        let (doc, key, index) = match name.split_once("##") {
            Some((doc, index)) => (doc, "v2", index),
            None => {
                let (doc, index) = name.split_once('#').unwrap_or((name, ""));
                (doc, "v1", index)
            }
        };
        let event = index.parse::<usize>().ok().and_then(|index| self.updates.get(doc)?.get(index));
        event
            .map(|event| event.get(key).clone())
            .ok_or_else(|| Stop::Failed(format!("no bytes by the name of {reference}")))
    }

    /// Asks a document, and keeps the events that come with the answer.
    fn ask(&mut self, doc: &str, mut request: Json) -> Played<Json> {
        request.set("doc", doc.into());
        let local = request.get("op").as_str() != Some("apply");
        let reply = self.host.call(&request);
        self.host.check(doc);
        for event in reply.get("ev").items() {
            if event.get("t").as_str() == Some("subdocs") {
                let parts = ["added", "removed", "loaded"].map(|part| (part, event.get(part).clone()));
                self.subdocs.entry(doc.to_owned()).or_default().push(Json::object(parts));
            }
            if event.get("t").as_str() == Some("update") {
                let mut event = event.clone();
                event.set("local", (local || event.get("origin").is_null()).into());
                self.updates.entry(doc.to_owned()).or_default().push(event);
            } else if event.get("t").as_str() == Some("inside") {
                self.note_inside(string(event, "as"), event.get("replies").items())?;
            } else {
                let observer = event.get("as").as_str().unwrap_or_default().to_owned();
                self.observed.entry(observer).or_default().push(event.get("event").clone());
            }
        }
        answer(&request, &reply)
    }

    fn free(&mut self, request: Json) -> Played<Json> {
        let reply = self.host.call(&request);
        answer(&request, &reply)
    }
}

fn answer(request: &Json, reply: &Json) -> Played<Json> {
    if reply.get("ok").as_bool() == Some(true) {
        return Ok(reply.get("r").clone());
    }
    let op = request.get("op").as_str().unwrap_or_default();
    match reply.get("kind").as_str() {
        Some("unsupported") => {
            Err(Stop::Unsupported(format!("{op}: {}", reply.get("err").as_str().unwrap_or_default())))
        }
        Some("panic") => Err(Stop::Panicked(format!("PANIC {} in {request}", reply.get("err")))),
        _ => Err(Stop::Failed(format!("{} in {request}", reply.get("err")))),
    }
}

/// Steps with those of `repeat` written out.
fn unrolled(steps: &[Json]) -> Vec<Json> {
    let times = |step: &Json| step.get("n").as_u64().unwrap_or_default() as u32;
    let once = |step: &Json| match string(step, "do") {
        "repeat" => (0..times(step))
            .flat_map(|i| step.get("ops").items().iter().map(move |op| counted(op, i)).collect::<Vec<_>>())
            .collect(),
        _ => vec![step.clone()],
    };
    let flat: Vec<Json> = steps.iter().flat_map(once).collect();
    if flat.iter().any(|step| string(step, "do") == "repeat") { unrolled(&flat) } else { flat }
}

/// Whether an address is a list of roots rather than a root and a path.
fn is_scope_list(on: &Json) -> bool {
    let is_root = |on: &Json| match on {
        Json::String(on) => on.contains(':'),
        Json::Array(path) => path.first().is_some_and(|root| root.as_str().is_some()),
        _ => false,
    };
    on.items().len() > 1 && on.items().iter().all(is_root)
        || on.items().first().is_some_and(|on| !on.items().is_empty())
}

fn string<'j>(json: &'j Json, key: &str) -> &'j str {
    json.get(key).as_str().unwrap_or_default()
}

fn flag(json: &Json, key: &str) -> bool {
    json.get(key).as_bool() == Some(true)
}

fn from_hex(json: &Json) -> Played<Vec<u8>> {
    unhex(json.as_str().unwrap_or_default()).map_err(Stop::Failed)
}

fn decoded(bytes: &[u8]) -> Played<wire::Update> {
    wire::decode(bytes).map_err(Stop::Failed)
}
