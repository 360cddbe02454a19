//! The document on y-octo.

use ::y_octo::{
    Any, Array, CrdtRead, CrdtWrite, Doc, Map, RawDecoder, RawEncoder, StateVector, Value as Shared,
};

use super::{Fields, Objects, Op, Place, Value, record_key};
use crate::engine::EngineError;

const NAME: &str = "y-octo";

/// The document.
pub struct YOcto {
    doc: Doc,
}

fn failed(action: &'static str, cause: impl std::fmt::Display) -> EngineError {
    EngineError { engine: NAME, action, cause: cause.to_string() }
}

fn any(value: &Value) -> Any {
    match value {
        Value::Int(number) => Any::from(*number),
        Value::Text(text) => Any::from(text.clone()),
        Value::Flag(flag) => Any::from(*flag),
    }
}

fn value(found: Shared) -> Option<Value> {
    match found.to_any()? {
        Any::Integer(number) => Some(Value::Int(number.into())),
        Any::BigInt64(number) => Some(Value::Int(number)),
        Any::Float64(number) => Some(Value::Int(number.into_inner() as i64)),
        Any::String(text) => Some(Value::Text(text)),
        Any::True => Some(Value::Flag(true)),
        Any::False => Some(Value::Flag(false)),
        _ => None,
    }
}

impl YOcto {
    fn root(&self, name: &str) -> Result<Map, EngineError> {
        self.doc.get_or_create_map(name).map_err(|e| failed("find a root", e))
    }

    fn items(&self) -> Result<Array, EngineError> {
        self.doc.get_or_create_array("items").map_err(|e| failed("find a root", e))
    }

    fn map(&self, place: Place) -> Option<Map> {
        match place {
            Place::Meta => self.root("meta").ok(),
            Place::Stats => self.root("nested").ok()?.get("stats")?.to_map(),
            Place::Item(index) => self.items().ok()?.get(u64::from(index))?.to_map(),
            Place::Record(id) => self.root("records").ok()?.get(&record_key(id))?.to_map(),
        }
    }

    fn made(&self) -> Result<Map, EngineError> {
        self.doc.create_map().map_err(|e| failed("make a map", e))
    }

    fn step(&mut self, op: &Op) -> Result<(), EngineError> {
        let place = |place| self.map(place).ok_or_else(|| failed("find a map", format!("{place:?}")));
        let set = |map: &mut Map, key: &str, value: &Value| {
            map.insert(key.to_owned(), any(value)).map_err(|e| failed("set a key", e))
        };
        let fill = |mut map: Map, fields: &Fields| {
            fields.iter().try_for_each(|(key, value)| set(&mut map, key, value))
        };
        match op {
            Op::Begin => {
                let stats = self.made()?;
                self.root("nested")?
                    .insert("stats".to_owned(), Shared::Map(stats))
                    .map_err(|e| failed("put a map", e))?;
            }
            Op::Set(at, key, value) => set(&mut place(*at)?, key, value)?,
            Op::Add(at, key, by) => {
                let mut map = place(*at)?;
                let Some(Value::Int(before)) = map.get(key).and_then(value) else {
                    return Err(failed("read a number", *key));
                };
                set(&mut map, key, &Value::Int(before + by))?;
            }
            Op::Append(fields) => {
                let map = self.made()?;
                self.items()?.push(Shared::Map(map.clone())).map_err(|e| failed("append a map", e))?;
                fill(map, fields)?;
            }
            Op::Put(id, fields) => {
                let map = self.made()?;
                self.root("records")?
                    .insert(record_key(*id), Shared::Map(map.clone()))
                    .map_err(|e| failed("put a map", e))?;
                fill(map, fields)?;
            }
        }
        Ok(())
    }
}

impl Objects for YOcto {
    const NAME: &'static str = NAME;

    fn new(peer: u64) -> Self {
        let this = Self { doc: Doc::with_client(peer) };
        // The roots: a second call finds them.
        let _ = (this.root("meta"), this.root("nested"), this.items(), this.root("records"));
        this
    }

    fn commit(&mut self, ops: &[Op]) -> Result<(), EngineError> {
        ops.iter().try_for_each(|op| self.step(op))
    }

    fn get(&self, place: Place, key: &str) -> Option<Value> {
        self.map(place)?.get(key).and_then(value)
    }

    fn export(&mut self) -> Result<Vec<u8>, EngineError> {
        self.doc.encode_update_v1().map_err(|e| failed("encode its state", e))
    }

    fn load(peer: u64, bytes: &[u8]) -> Result<Self, EngineError> {
        let mut this = Self::new(peer);
        this.import(bytes)?;
        Ok(this)
    }

    fn version(&mut self) -> Vec<u8> {
        let mut encoder = RawEncoder::default();
        // Writing to memory cannot fail.
        let _ = self.doc.get_state_vector().write(&mut encoder);
        encoder.into_inner()
    }

    fn delta(&mut self, version: &[u8]) -> Result<Vec<u8>, EngineError> {
        let version =
            StateVector::read(&mut RawDecoder::new(version)).map_err(|e| failed("decode a version", e))?;
        self.doc.encode_state_as_update_v1(&version).map_err(|e| failed("encode a diff", e))
    }

    fn import(&mut self, delta: &[u8]) -> Result<(), EngineError> {
        self.doc.apply_update_from_binary_v1(delta).map_err(|e| failed("apply an update", e))
    }

    fn content(&self) -> Result<serde_json::Value, EngineError> {
        let json = |made: serde_json::Result<serde_json::Value>| {
            made.map_err(|e| failed("turn its content into JSON", e))
        };
        Ok(serde_json::json!({
            "meta": json(serde_json::to_value(self.root("meta")?))?,
            "nested": json(serde_json::to_value(self.root("nested")?))?,
            "items": json(serde_json::to_value(self.items()?))?,
            "records": json(serde_json::to_value(self.root("records")?))?,
        }))
    }
}
