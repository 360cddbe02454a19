//! The step language of the shared cases (testdata/cases/README.md), played through the adapter's protocol.
//!
//! A step becomes one or a few requests; what it produces goes into `golden` under its name, in the notation of the
//! cases. An operation that the engine cannot do yet stops the case with its name, so that it can be counted. Over 800 lines: one arm a
//! word of the language, and the language is one idea.

use super::Host;
use super::json::{Json, hex, unhex};
use super::notation::{block, counted, given, key_of, notation, sha, state_vector};
use super::wire::{self, Content};
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

    fn observe(&mut self, op: &str, step: &Json) -> Played<()> {
        let name = string(step, "as");
        let mut request = Json::object([("op", op.into()), ("as", name.into())]);
        if op == "unobserve" {
            let doc = self.owners.get(name).cloned().unwrap_or_else(|| self.docs[0].clone());
            return self.ask(&doc, request).map(drop);
        }
        let doc = string(step, "doc");
        self.owners.insert(name.to_owned(), doc.to_owned());
        self.observed.insert(name.to_owned(), Vec::new());
        request.set("h", self.address(doc, step.get("on"))?);
        request.set("deep", flag(step, "deep").into());
        request.set(
            "throws",
            (!step.get("throws").is_null() && step.get("throws").as_bool() != Some(false)).into(),
        );
        let mut then = Vec::new();
        for operation in unrolled(step.get("then").items()) {
            let mut operation = operation.clone();
            if operation.find("doc").is_none() {
                operation.set("doc", doc.into());
            }
            then.push(match string(&operation, "do") {
                "read" => self.reading_request(&operation)?,
                _ => self.edit(&operation)?,
            });
            self.inside.entry(name.to_owned()).or_default().push(operation);
        }
        request.set("then", then.into());
        self.ask(doc, request).map(drop)
    }

    /// What the steps within a callback gave: readings go to golden. A write is refused; that shows in what follows.
    fn note_inside(&mut self, observer: &str, replies: &[Json]) -> Played<()> {
        let steps = self.inside.get(observer).cloned().unwrap_or_default();
        for (step, reply) in steps.iter().zip(replies) {
            if string(step, "do") == "read" {
                let value = answer(step, reply)?;
                let value = self.shown(string(step, "doc"), string(step, "what"), &value)?;
                self.golden.insert(string(step, "as").to_owned(), value);
            }
        }
        Ok(())
    }

    fn undo(&mut self, op: &str, step: &Json) -> Played<()> {
        if op == "um.new" {
            let (name, doc) = (string(step, "as"), string(step, "doc"));
            self.owners.insert(name.to_owned(), doc.to_owned());
            let scope = match step.get("on") {
                // nothing, or the name of the document: all of it
                Json::Null => vec![Json::Null],
                Json::String(on) if !on.contains(':') => vec![Json::Null],
                on if is_scope_list(on) => {
                    on.items().iter().map(|on| self.address(doc, on)).collect::<Played<Vec<_>>>()?
                }
                on => vec![self.address(doc, on)?],
            };
            let mut request =
                Json::object([("op", "undo_new".into()), ("um", name.into()), ("scope", scope.into())]);
            for key in ["captureTimeout", "trackedOrigins", "ignoreRemoteMapChanges"] {
                if let Some(value) = step.find(key) {
                    request.set(key, value.clone());
                }
            }
            return self.ask(doc, request).map(drop);
        }
        let request = match op {
            "um.undo" => "undo",
            "um.redo" => "redo",
            "um.stop" => "undo_stop",
            "um.clear" => "undo_clear",
            _ => "undo_read",
        };
        let doc = self.owners.get(string(step, "um")).cloned().unwrap_or_default();
        let reply = self.ask(&doc, Json::object([("op", request.into()), ("um", step.get("um").clone())]))?;
        if op == "um.read" {
            self.golden.insert(string(step, "as").to_owned(), reply);
        }
        Ok(())
    }

    fn position(&mut self, op: &str, step: &Json) -> Played<()> {
        let name = string(step, "as").to_owned();
        match op {
            "rel.create" => {
                let doc = string(step, "doc");
                let mut request = Json::object([("op", "relpos_new".into())]);
                request.set("h", self.address(doc, step.get("on"))?);
                request.set("index", step.get("index").clone());
                request.set("assoc", step.get("assoc").clone());
                let position = self.ask(doc, request)?;
                self.blobs.insert(name, position);
            }
            "rel.read" => {
                let position = self.blobs.get(string(step, "rel")).cloned().unwrap_or_default();
                self.golden.insert(name, position);
            }
            "rel.decode" => {
                let hex = match step.find("hex") {
                    Some(hex) => hex.clone(),
                    None => {
                        let doc = self.docs[0].clone();
                        self.ask(
                            &doc,
                            Json::object([("op", "relpos_hex".into()), ("json", step.get("json").clone())]),
                        )?
                    }
                };
                self.blobs.insert(name, Json::object([("hex", hex)]));
            }
            "rel.resolve" => {
                let position = self.blobs.get(string(step, "rel")).cloned().unwrap_or_default();
                let mut request =
                    Json::object([("op", "relpos_abs".into()), ("bytes", position.get("hex").clone())]);
                if let Some(follow) = step.find("follow") {
                    request.set("follow", follow.clone());
                }
                let found = self.ask(string(step, "doc"), request)?;
                self.golden.insert(name, found);
            }
            _ => return Err(Stop::Unsupported(op.to_owned())),
        }
        Ok(())
    }

    fn snapshot(&mut self, op: &str, step: &Json) -> Played<()> {
        let name = string(step, "as").to_owned();
        let snapshot = self.blobs.get(string(step, "snap")).cloned().unwrap_or_default();
        match op {
            "snap.take" => {
                let snapshot = self.ask(string(step, "doc"), Json::object([("op", "snapshot".into())]))?;
                self.blobs.insert(name, snapshot);
            }
            "snap.encode" => {
                let doc = self.docs[0].clone();
                let request = Json::object([("op", "snapshot_v2".into()), ("snapshot", snapshot.clone())]);
                let v2 = self.ask(&doc, request)?;
                self.golden.insert(name, Json::object([("v1", snapshot), ("v2", v2)]));
            }
            "snap.equal" => {
                let equal = self.blobs.get(string(step, "a")) == self.blobs.get(string(step, "b"));
                self.golden.insert(name, equal.into());
            }
            "snap.contains" => {
                let update = self.resolve(step.get("update"))?;
                let doc = self.docs[0].clone();
                let request =
                    [("op", "snapshot_contains".into()), ("snapshot", snapshot), ("update", update)];
                let contains = self.ask(&doc, Json::object(request))?;
                self.golden.insert(name, contains);
            }
            "snap.decode" => {
                let v2 = flag(step, "v2");
                let bytes = match step.find("hex").or_else(|| step.find("bytes")) {
                    Some(hex) if hex.as_str().is_some() => hex.clone(),
                    _ => self
                        .resolve(step.find("update").or_else(|| step.find("snap")).unwrap_or(&Json::Null))?,
                };
                let doc = self.docs[0].clone();
                let op = if v2 { "snapshot_from_v2" } else { "snapshot_v2" };
                let read = self.ask(&doc, Json::object([("op", op.into()), ("snapshot", bytes.clone())]))?;
                self.blobs.insert(name, if v2 { read } else { bytes });
            }
            "snap.delta" => {
                let doc = string(step, "doc");
                let mut request = Json::object([("op", "snapshot_delta".into()), ("snapshot", snapshot)]);
                request.set("h", self.address(doc, step.get("on"))?);
                let before =
                    ["prev", "prevSnap", "before", "from"].iter().find_map(|key| step.get(key).as_str());
                if let Some(before) = before {
                    request.set("prev", self.resolve(&before.into())?);
                }
                let found = self.ask(doc, request)?;
                let found = self.shown(doc, "delta", &found)?;
                self.golden.insert(name, found);
            }
            "snap.restore" => {
                let request = Json::object([("op", "snapshot_restore".into()), ("snapshot", snapshot)]);
                let state = self.ask(string(step, "doc"), request)?;
                // a name for what was restored makes it a document of its own
                if !name.is_empty() {
                    let new = Json::object([
                        ("do", "doc".into()),
                        ("doc", name.as_str().into()),
                        ("gc", false.into()),
                        ("client", 424_242_424.into()),
                    ]);
                    self.doc(&new)?;
                    let request =
                        Json::object([("op", "apply".into()), ("update", state), ("enc", 1.into())]);
                    self.ask(&name, request)?;
                }
            }
            _ => return Err(Stop::Unsupported(op.to_owned())),
        }
        Ok(())
    }

    fn awareness(&mut self, op: &str, step: &Json) -> Played<()> {
        let name = if op == "aw.new" { "as" } else { "aw" };
        let request_op = format!("aw_{}", op.trim_start_matches("aw."));
        let mut request = Json::object([("op", request_op.into()), ("aw", step.get(name).clone())]);
        for (from, to) in [
            ("client", "clientID"),
            ("state", "state"),
            ("key", "key"),
            ("value", "value"),
            ("clients", "clients"),
        ] {
            if let Some(value) = step.find(from) {
                request.set(to, value.clone());
            }
        }
        if op == "aw.apply" {
            request.set("update", self.resolve(step.get("update"))?);
        }
        let reply = self.free(request)?;
        match op {
            "aw.encode" => drop(self.blobs.insert(string(step, "as").to_owned(), reply)),
            "aw.read" => drop(self.golden.insert(string(step, "as").to_owned(), reply)),
            _ => {}
        }
        Ok(())
    }

    fn message(&mut self, op: &str, step: &Json) -> Played<()> {
        let name = string(step, "as").to_owned();
        match op {
            "sp.step1" => {
                let message = self.ask(string(step, "doc"), Json::object([("op", "sync_step1".into())]))?;
                self.blobs.insert(name, message);
            }
            "sp.step2" => {
                let sv = step.find("sv").map_or_else(|| Ok("00".into()), |sv| self.resolve(sv))?;
                let doc = string(step, "doc");
                let bytes = from_hex(&sv)?;
                let mut message = vec![0];
                wire::write_uint(&mut message, bytes.len() as u64);
                message.extend_from_slice(&bytes);
                let request = Json::object([("op", "sync_handle".into()), ("bytes", hex(&message).into())]);
                let reply = self.ask(doc, request)?;
                self.blobs.insert(name, reply.get("reply").clone());
            }
            "sp.update" => {
                let bytes = self.resolve(step.get("update"))?;
                let doc = self.docs[0].clone();
                let message =
                    self.ask(&doc, Json::object([("op", "sync_update".into()), ("bytes", bytes)]))?;
                self.blobs.insert(name, message);
            }
            "sp.handle" => {
                let bytes = self.resolve(step.get("msg"))?;
                let request = Json::object([("op", "sync_handle".into()), ("bytes", bytes)]);
                let reply = self.ask(string(step, "doc"), request)?;
                self.blobs.insert(name.clone(), reply.get("reply").clone());
                self.golden.insert(name, reply);
            }
            _ => return Err(Stop::Unsupported(op.to_owned())),
        }
        Ok(())
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

    fn read(&mut self, step: &Json) -> Played<()> {
        let doc = string(step, "doc").to_owned();
        let value = match string(step, "what") {
            "guids" => self.ask(&doc, Json::object([("op", "subdoc_guids".into())]))?,
            "structs" => self.structs(&doc)?,
            "updateCount" => Json::from(self.updates.get(&doc).map_or(0, Vec::len) as u32),
            "updateSha" => self.update_sha(&doc)?,
            "pending" => self.ask(&doc, Json::object([("op", "pending".into())]))?,
            "stringSha" => {
                let text = self.reading(&doc, "string", step.get("on"))?;
                let text = text.as_str().unwrap_or_default().to_owned();
                let length = text.encode_utf16().count() as u32;
                Json::object([("length", length.into()), ("sha256", sha(text.as_bytes()))])
            }
            what => {
                let request = self.reading_request(step)?;
                let value = self.ask(&doc, request)?;
                self.shown(&doc, what, &value)?
            }
        };
        self.golden.insert(string(step, "as").to_owned(), value);
        Ok(())
    }

    /// A plain reading of one type.
    fn reading(&mut self, doc: &str, what: &str, on: &Json) -> Played<Json> {
        let step = Json::object([("doc", doc.into()), ("what", what.into()), ("on", on.clone())]);
        let request = self.reading_request(&step)?;
        let value = self.ask(doc, request)?;
        self.shown(doc, what, &value)
    }

    /// The request for a reading that is one look at the document.
    fn reading_request(&mut self, step: &Json) -> Played<Json> {
        let op = match string(step, "what") {
            "json" => "toJSON",
            "string" => "toString",
            "delta" => "toDelta",
            "length" | "size" => "len",
            "keys" | "attrs" | "entries" => "map_entries",
            "values" | "array" => "list_values",
            "get" | "subdoc" => "map_get",
            "has" => "map_has",
            "sv" | "svHex" => return Ok(Json::object([("op", "sv".into())])),
            "update" => return Ok(Json::object([("op", "encode".into()), ("enc", 1.into())])),
            "updateV2" => return Ok(Json::object([("op", "encode".into()), ("enc", 2.into())])),
            what => return Err(Stop::Unsupported(format!("read {what}"))),
        };
        let h = self.address(string(step, "doc"), step.get("on"))?;
        let mut request = Json::object([("op", op.into()), ("h", h)]);
        if let Some(index) = step.find("index") {
            request.set("op", "list_get".into());
            request.set("index", index.clone());
        }
        if let Some(key) = step.find("key") {
            request.set("key", key.clone());
        }
        Ok(request)
    }

    /// The answer to a reading, in the notation of the cases.
    fn shown(&mut self, doc: &str, what: &str, value: &Json) -> Played<Json> {
        let value = match what {
            "keys" => value.items().iter().map(|entry| entry.items()[0].clone()).collect::<Vec<_>>().into(),
            "attrs" | "entries" => {
                let mut attrs = Json::Object(Vec::new());
                for entry in value.items() {
                    attrs.set(entry.items()[0].as_str().unwrap_or_default(), entry.items()[1].clone());
                }
                self.without_handles(doc, &attrs)?
            }
            "get" | "delta" | "values" | "array" => self.without_handles(doc, value)?,
            "subdoc" => {
                let fields = ["guid", "shouldLoad", "autoLoad", "meta", "gc"];
                return Ok(notation(&Json::object(fields.map(|field| (field, value.get(field).clone())))));
            }
            "sv" => return state_vector(value),
            _ => value.clone(),
        };
        Ok(notation(&value))
    }

    /// Types in a delta as class and content.
    fn without_handles(&mut self, doc: &str, json: &Json) -> Played<Json> {
        Ok(match json {
            Json::Array(items) => {
                items.iter().map(|item| self.without_handles(doc, item)).collect::<Played<Vec<_>>>()?.into()
            }
            Json::Object(_) if json.get("$").as_str() == Some("type") => {
                let (class, op, key) = match json.get("kind").as_str().unwrap_or_default() {
                    "array" => ("YArray", "toJSON", "json"),
                    "map" => ("YMap", "toJSON", "json"),
                    "xmlhook" => ("YXmlHook", "toJSON", "json"),
                    "text" => ("YText", "toJSON", "json"),
                    "xmltext" => ("YXmlText", "toString", "string"),
                    "xmlelement" => ("YXmlElement", "toString", "string"),
                    _ => ("YXmlFragment", "toString", "string"),
                };
                let value = self.ask(doc, Json::object([("op", op.into()), ("h", json.get("h").clone())]))?;
                Json::object([("$type", class.into()), (key, value)])
            }
            Json::Object(entries) => {
                let mut out = Json::Object(Vec::new());
                for (key, value) in entries {
                    out.set(key, self.without_handles(doc, value)?);
                }
                out
            }
            other => other.clone(),
        })
    }

    fn update_sha(&mut self, doc: &str) -> Played<Json> {
        let mut out = Json::Object(Vec::new());
        for (enc, version) in [(1_u32, "V1"), (2, "V2")] {
            let bytes = self.ask(doc, Json::object([("op", "encode".into()), ("enc", enc.into())]))?;
            let bytes = from_hex(&bytes)?;
            out.set(&format!("bytes{version}"), Json::from(bytes.len() as u32));
            out.set(&format!("sha256{version}"), sha(&bytes));
            if enc == 1 {
                out.set("structs", Json::from(decoded(&bytes)?.structs.len() as u32));
            }
        }
        Ok(out)
    }

    /// The blocks of a document, read from its state; the key of an item with an origin is that of its neighbour.
    fn structs(&mut self, doc: &str) -> Played<Json> {
        let state = self.ask(doc, Json::object([("op", "encode".into()), ("enc", 1.into())]))?;
        let update = decoded(&from_hex(&state)?)?;
        let mut out = Json::Object(Vec::new());
        for s in &update.structs {
            let deleted = update.deletes.iter().any(|(client, ranges)| {
                *client == s.id.0
                    && ranges.iter().any(|(clock, len)| *clock <= s.id.1 && s.id.1 < clock + len)
            });
            let mut json = block(s)?;
            if let Some(key) = key_of(&update.structs, s) {
                json.set("key", key.into());
            }
            if deleted && s.content != Content::Gc {
                json.set("deleted", true.into());
            }
            let client = s.id.0.to_string();
            let mut blocks = out.get(&client).items().to_vec();
            blocks.push(json);
            out.set(&client, blocks.into());
        }
        Ok(out)
    }

    fn blob(&mut self, op: &str, step: &Json) -> Played<()> {
        let enc: u32 = if flag(step, "v2") { 2 } else { 1 };
        let value = match op {
            "hex" => step.get("hex").clone(),
            "blob" => {
                let value = self.resolve(step.get("name"))?;
                self.golden.insert(string(step, "name").to_owned(), value);
                return Ok(());
            }
            "sv" => self.ask(string(step, "doc"), Json::object([("op", "sv".into())]))?,
            "encode" => {
                let mut request = Json::object([("op", "encode".into()), ("enc", enc.into())]);
                if let Some(since) = step.find("since") {
                    let sv = match since.as_str() {
                        Some(doc) if self.docs.iter().any(|known| known == doc) => {
                            self.ask(doc, Json::object([("op", "sv".into())]))?
                        }
                        _ => self.resolve(since)?,
                    };
                    request.set("sv", sv);
                }
                self.ask(string(step, "doc"), request)?
            }
            "decodeSv" => {
                let sv = self.resolve(step.get("sv"))?;
                let value = state_vector(&sv)?;
                self.golden.insert(string(step, "as").to_owned(), value);
                return Ok(());
            }
            "merge" => {
                let updates = step.get("updates").items().iter().map(|update| self.resolve(update));
                let updates = updates.collect::<Played<Vec<_>>>()?;
                self.free(Json::object([
                    ("op", "merge".into()),
                    ("updates", updates.into()),
                    ("enc", enc.into()),
                ]))?
            }
            _ => {
                let update = self.resolve(step.get("update"))?;
                match op {
                    "decode" | "meta" => {
                        let value = self.decode(op, update, enc)?;
                        self.golden.insert(string(step, "as").to_owned(), value);
                        return Ok(());
                    }
                    "diff" => {
                        let sv = self.resolve(step.get("sv"))?;
                        let request =
                            [("op", "diff".into()), ("update", update), ("sv", sv), ("enc", enc.into())];
                        self.free(Json::object(request))?
                    }
                    "convert" => {
                        let to: u32 = if string(step, "to") == "v2" { 2 } else { 1 };
                        self.free(Json::object([
                            ("op", "convert".into()),
                            ("update", update),
                            ("to", to.into()),
                        ]))?
                    }
                    _ => {
                        self.free(Json::object([("op", op.into()), ("update", update), ("enc", enc.into())]))?
                    }
                }
            }
        };
        self.blobs.insert(string(step, "as").to_owned(), value);
        Ok(())
    }

    fn decode(&mut self, op: &str, update: Json, enc: u32) -> Played<Json> {
        let update = if enc == 2 {
            self.free(Json::object([("op", "convert".into()), ("update", update), ("to", 1.into())]))?
        } else {
            update
        };
        let update = decoded(&from_hex(&update)?)?;
        if op == "meta" {
            let mut from = Json::Object(Vec::new());
            let mut to = Json::Object(Vec::new());
            for s in &update.structs {
                let client = s.id.0.to_string();
                if from.find(&client).is_none() {
                    from.set(&client, Json::Number(s.id.1 as f64));
                }
                to.set(&client, Json::Number((s.id.1 + s.len) as f64));
            }
            return Ok(Json::object([("from", from), ("to", to)]));
        }
        let structs = update.structs.iter().map(|s| {
            let mut json = block(s)?;
            if let Some(key) = &s.key {
                json.set("key", key.as_str().into());
            }
            Ok(json)
        });
        let structs = structs.collect::<Played<Vec<_>>>()?;
        let mut ds = Json::Object(Vec::new());
        for (client, ranges) in &update.deletes {
            let pair = |(clock, len): &(u64, u64)| -> Json {
                vec![Json::Number(*clock as f64), Json::Number(*len as f64)].into()
            };
            ds.set(&client.to_string(), ranges.iter().map(pair).collect::<Vec<_>>().into());
        }
        Ok(Json::object([("structs", structs.into()), ("ds", ds)]))
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
