//! Steps that read a document or decode bytes, and the notation that the cases write it in.

use super::super::json::Json;
use super::super::notation::{block, key_of, notation, sha, state_vector};
use super::super::wire::Content;
use super::{Played, Player, Stop, decoded, flag, from_hex, string};

impl Player<'_> {
    pub(super) fn read(&mut self, step: &Json) -> Played<()> {
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
    pub(super) fn reading(&mut self, doc: &str, what: &str, on: &Json) -> Played<Json> {
        let step = Json::object([("doc", doc.into()), ("what", what.into()), ("on", on.clone())]);
        let request = self.reading_request(&step)?;
        let value = self.ask(doc, request)?;
        self.shown(doc, what, &value)
    }

    /// The request for a reading that is one look at the document.
    pub(super) fn reading_request(&mut self, step: &Json) -> Played<Json> {
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
    pub(super) fn shown(&mut self, doc: &str, what: &str, value: &Json) -> Played<Json> {
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
    pub(super) fn without_handles(&mut self, doc: &str, json: &Json) -> Played<Json> {
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

    pub(super) fn update_sha(&mut self, doc: &str) -> Played<Json> {
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
    pub(super) fn structs(&mut self, doc: &str) -> Played<Json> {
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

    pub(super) fn blob(&mut self, op: &str, step: &Json) -> Played<()> {
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

    pub(super) fn decode(&mut self, op: &str, update: Json, enc: u32) -> Played<Json> {
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
}
