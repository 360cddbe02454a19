//! Steps on what stands beside the types of a document: observers, undo managers, positions, snapshots, awareness, messages.

use super::super::json::{Json, hex};
use super::super::wire;
use super::{Played, Player, Stop, answer, flag, from_hex, is_scope_list, string, unrolled};

impl Player<'_> {
    pub(super) fn observe(&mut self, op: &str, step: &Json) -> Played<()> {
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
    pub(super) fn note_inside(&mut self, observer: &str, replies: &[Json]) -> Played<()> {
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

    pub(super) fn undo(&mut self, op: &str, step: &Json) -> Played<()> {
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

    pub(super) fn position(&mut self, op: &str, step: &Json) -> Played<()> {
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

    pub(super) fn snapshot(&mut self, op: &str, step: &Json) -> Played<()> {
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

    pub(super) fn awareness(&mut self, op: &str, step: &Json) -> Played<()> {
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

    pub(super) fn message(&mut self, op: &str, step: &Json) -> Played<()> {
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
}
