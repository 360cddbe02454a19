//! The document on automerge.

use ::automerge::transaction::Transactable;
use ::automerge::{ActorId, AutoCommit, AutoSerde, ChangeHash, ObjId, ObjType, ROOT, ReadDoc, ScalarValue};

use super::{Fields, Objects, Op, Place, Value, record_key};
use crate::engine::EngineError;

const NAME: &str = "automerge";

/// The document with the ids of its containers.
pub struct Automerge {
    doc: AutoCommit,
    meta: ObjId,
    nested: ObjId,
    stats: ObjId,
    items: ObjId,
    records: ObjId,
}

fn failed(action: &'static str, cause: impl std::fmt::Display) -> EngineError {
    EngineError { engine: NAME, action, cause: cause.to_string() }
}

fn plain(value: &Value) -> ScalarValue {
    match value {
        Value::Int(number) => ScalarValue::Int(*number),
        Value::Text(text) => ScalarValue::Str(text.as_str().into()),
        Value::Flag(flag) => ScalarValue::Boolean(*flag),
    }
}

impl Automerge {
    fn map(&self, place: Place) -> Option<ObjId> {
        match place {
            Place::Meta => Some(self.meta.clone()),
            Place::Stats => Some(self.stats.clone()),
            Place::Item(index) => Some(self.doc.get(&self.items, index as usize).ok()??.1),
            Place::Record(id) => Some(self.doc.get(&self.records, record_key(id)).ok()??.1),
        }
    }

    fn read(&self, map: &ObjId, key: &str) -> Option<Value> {
        let (found, _) = self.doc.get(map, key).ok()??;
        match found.as_scalar()? {
            ScalarValue::Int(number) => Some(Value::Int(*number)),
            ScalarValue::Str(text) => Some(Value::Text(text.to_string())),
            ScalarValue::Boolean(flag) => Some(Value::Flag(*flag)),
            _ => None,
        }
    }

    fn fill(&mut self, map: &ObjId, fields: &Fields) -> Result<(), EngineError> {
        fields
            .iter()
            .try_for_each(|(key, value)| self.doc.put(map, *key, plain(value)))
            .map_err(|e| failed("fill a map", e))
    }

    fn begin(&mut self) -> Result<(), EngineError> {
        let mut make = |parent: &ObjId, key: &str, kind| {
            self.doc.put_object(parent, key, kind).map_err(|e| failed("make a container", e))
        };
        self.meta = make(&ROOT, "meta", ObjType::Map)?;
        self.nested = make(&ROOT, "nested", ObjType::Map)?;
        self.stats = make(&self.nested, "stats", ObjType::Map)?;
        self.items = make(&ROOT, "items", ObjType::List)?;
        self.records = make(&ROOT, "records", ObjType::Map)?;
        Ok(())
    }

    fn step(&mut self, op: &Op) -> Result<(), EngineError> {
        let place = |place| self.map(place).ok_or_else(|| failed("find a map", format!("{place:?}")));
        match op {
            Op::Begin => self.begin()?,
            Op::Set(at, key, value) => {
                let map = place(*at)?;
                self.doc.put(&map, *key, plain(value)).map_err(|e| failed("set a key", e))?;
            }
            Op::Add(at, key, by) => {
                let map = place(*at)?;
                let Some(Value::Int(before)) = self.read(&map, key) else {
                    return Err(failed("read a number", *key));
                };
                self.doc.put(&map, *key, before + by).map_err(|e| failed("set a key", e))?;
            }
            Op::Append(fields) => {
                let at = self.doc.length(&self.items);
                let map = self.doc.insert_object(&self.items, at, ObjType::Map);
                self.fill(&map.map_err(|e| failed("append a map", e))?, fields)?;
            }
            Op::Put(id, fields) => {
                let map = self.doc.put_object(&self.records, record_key(*id), ObjType::Map);
                self.fill(&map.map_err(|e| failed("put a map", e))?, fields)?;
            }
        }
        Ok(())
    }
}

impl Objects for Automerge {
    const NAME: &'static str = NAME;

    fn new(peer: u64) -> Self {
        let doc = AutoCommit::new().with_actor(ActorId::from(peer.to_be_bytes()));
        Self { doc, meta: ROOT, nested: ROOT, stats: ROOT, items: ROOT, records: ROOT }
    }

    fn commit(&mut self, ops: &[Op]) -> Result<(), EngineError> {
        ops.iter().try_for_each(|op| self.step(op))?;
        self.doc.commit();
        Ok(())
    }

    fn get(&self, place: Place, key: &str) -> Option<Value> {
        self.read(&self.map(place)?, key)
    }

    fn export(&mut self) -> Result<Vec<u8>, EngineError> {
        Ok(self.doc.save())
    }

    fn load(peer: u64, bytes: &[u8]) -> Result<Self, EngineError> {
        let doc = AutoCommit::load(bytes).map_err(|e| failed("load", e))?;
        let mut this = Self::new(peer);
        this.doc = doc.with_actor(ActorId::from(peer.to_be_bytes()));
        let find = |parent: &ObjId, key: &str| match this.doc.get(parent, key) {
            Ok(Some((_, id))) => Ok(id),
            _ => Err(failed("find a container", key)),
        };
        let (meta, nested) = (find(&ROOT, "meta")?, find(&ROOT, "nested")?);
        let (stats, items, records) =
            (find(&nested, "stats")?, find(&ROOT, "items")?, find(&ROOT, "records")?);
        (this.meta, this.nested, this.stats, this.items, this.records) =
            (meta, nested, stats, items, records);
        Ok(this)
    }

    fn version(&mut self) -> Vec<u8> {
        self.doc.get_heads().iter().flat_map(|head| head.0).collect()
    }

    fn delta(&mut self, version: &[u8]) -> Result<Vec<u8>, EngineError> {
        let heads: Result<Vec<ChangeHash>, _> = version.chunks(32).map(ChangeHash::try_from).collect();
        let heads = heads.map_err(|_| failed("read a version", "it is no list of hashes"))?;
        // What the other has and this one lacks cannot be a start.
        let known =
            heads.into_iter().filter(|head| self.doc.get_change_by_hash(head).is_some()).collect::<Vec<_>>();
        Ok(self.doc.save_after(&known))
    }

    fn import(&mut self, delta: &[u8]) -> Result<(), EngineError> {
        self.doc.load_incremental(delta).map(|_| ()).map_err(|e| failed("import", e))
    }

    fn content(&self) -> Result<serde_json::Value, EngineError> {
        serde_json::to_value(AutoSerde::from(&self.doc)).map_err(|e| failed("turn its content into JSON", e))
    }
}
