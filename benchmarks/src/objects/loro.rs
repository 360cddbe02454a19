//! The document on loro.

use ::loro::{Container, ExportMode, LoroDoc, LoroList, LoroMap, LoroValue, ValueOrContainer, VersionVector};

use super::{Fields, Objects, Op, Place, Value, record_key};
use crate::engine::EngineError;

const NAME: &str = "loro";

/// The document with handles to its containers.
pub struct Loro {
    doc: LoroDoc,
    meta: LoroMap,
    nested: LoroMap,
    stats: Option<LoroMap>,
    items: LoroList,
    records: LoroMap,
}

fn failed(action: &'static str, cause: impl std::fmt::Display) -> EngineError {
    EngineError { engine: NAME, action, cause: cause.to_string() }
}

fn plain(value: &Value) -> LoroValue {
    match value {
        Value::Int(number) => LoroValue::I64(*number),
        Value::Text(text) => LoroValue::from(text.as_str()),
        Value::Flag(flag) => LoroValue::Bool(*flag),
    }
}

fn map_of(found: Option<ValueOrContainer>) -> Option<LoroMap> {
    match found {
        Some(ValueOrContainer::Container(Container::Map(map))) => Some(map),
        _ => None,
    }
}

fn value(found: ValueOrContainer) -> Option<Value> {
    match found {
        ValueOrContainer::Value(LoroValue::I64(number)) => Some(Value::Int(number)),
        ValueOrContainer::Value(LoroValue::String(text)) => Some(Value::Text(text.to_string())),
        ValueOrContainer::Value(LoroValue::Bool(flag)) => Some(Value::Flag(flag)),
        _ => None,
    }
}

fn fill(map: &LoroMap, fields: &Fields) -> Result<(), EngineError> {
    fields
        .iter()
        .try_for_each(|(key, value)| map.insert(key, plain(value)))
        .map_err(|e| failed("fill a map", e))
}

impl Loro {
    fn map(&self, place: Place) -> Option<LoroMap> {
        match place {
            Place::Meta => Some(self.meta.clone()),
            Place::Stats => self.stats.clone(),
            Place::Item(index) => map_of(self.items.get(index as usize)),
            Place::Record(id) => map_of(self.records.get(&record_key(id))),
        }
    }

    fn step(&mut self, op: &Op) -> Result<(), EngineError> {
        let place = |place| self.map(place).ok_or_else(|| failed("find a map", format!("{place:?}")));
        match op {
            Op::Begin => {
                let stats = self.nested.insert_container("stats", LoroMap::new());
                self.stats = Some(stats.map_err(|e| failed("make a map", e))?);
            }
            Op::Set(at, key, value) => {
                place(*at)?.insert(key, plain(value)).map_err(|e| failed("set a key", e))?;
            }
            Op::Add(at, key, by) => {
                let map = place(*at)?;
                let Some(Value::Int(before)) = map.get(key).and_then(value) else {
                    return Err(failed("read a number", *key));
                };
                map.insert(key, before + by).map_err(|e| failed("set a key", e))?;
            }
            Op::Append(fields) => {
                let map = self.items.push_container(LoroMap::new()).map_err(|e| failed("append a map", e))?;
                fill(&map, fields)?;
            }
            Op::Put(id, fields) => {
                let map = self.records.insert_container(&record_key(*id), LoroMap::new());
                fill(&map.map_err(|e| failed("put a map", e))?, fields)?;
            }
        }
        Ok(())
    }
}

impl Objects for Loro {
    const NAME: &'static str = NAME;

    fn new(peer: u64) -> Self {
        let doc = LoroDoc::new();
        // It refuses only an id that stands for none.
        let _ = doc.set_peer_id(peer);
        let (meta, nested) = (doc.get_map("meta"), doc.get_map("nested"));
        let (items, records) = (doc.get_list("items"), doc.get_map("records"));
        Self { doc, meta, nested, stats: None, items, records }
    }

    fn commit(&mut self, ops: &[Op]) -> Result<(), EngineError> {
        ops.iter().try_for_each(|op| self.step(op))?;
        self.doc.commit();
        Ok(())
    }

    fn get(&self, place: Place, key: &str) -> Option<Value> {
        self.map(place)?.get(key).and_then(value)
    }

    fn export(&mut self) -> Result<Vec<u8>, EngineError> {
        self.doc.export(ExportMode::Snapshot).map_err(|e| failed("export", e))
    }

    fn load(peer: u64, bytes: &[u8]) -> Result<Self, EngineError> {
        let mut doc = Self::new(peer);
        doc.import(bytes)?;
        doc.stats = map_of(doc.nested.get("stats"));
        Ok(doc)
    }

    fn version(&mut self) -> Vec<u8> {
        self.doc.oplog_vv().encode()
    }

    fn delta(&mut self, version: &[u8]) -> Result<Vec<u8>, EngineError> {
        let version = VersionVector::decode(version).map_err(|e| failed("decode a version", e))?;
        self.doc.export(ExportMode::updates(&version)).map_err(|e| failed("export", e))
    }

    fn import(&mut self, delta: &[u8]) -> Result<(), EngineError> {
        self.doc.import(delta).map(|_| ()).map_err(|e| failed("import", e))
    }

    fn content(&self) -> Result<serde_json::Value, EngineError> {
        serde_json::to_value(self.doc.get_deep_value()).map_err(|e| failed("turn its content into JSON", e))
    }
}
