//! The document of objects, written against the API that yatta and yrs share.

use super::{NAME, krate};
use crate::engine::EngineError;
use crate::objects::{Fields, Objects, Op, Place, Value, record_key};
use krate::types::ToJson;
use krate::updates::decoder::Decode;
use krate::updates::encoder::Encode;
use krate::{
    Any, Array, ArrayRef, ClientID, Doc, In, Map, MapPrelim, MapRef, Options, Out, ReadTxn, StateVector,
    Transact, TransactionMut, Update,
};

/// The document with handles to its containers.
pub struct YObjects {
    doc: Doc,
    meta: MapRef,
    nested: MapRef,
    stats: Option<MapRef>,
    items: ArrayRef,
    records: MapRef,
}

fn failed(action: &'static str, cause: impl std::fmt::Display) -> EngineError {
    EngineError { engine: NAME, action, cause: cause.to_string() }
}

fn any(value: &Value) -> Any {
    match value {
        Value::Int(number) => Any::from(*number),
        Value::Text(text) => Any::from(text.as_str()),
        Value::Flag(flag) => Any::from(*flag),
    }
}

fn value(out: Out) -> Option<Value> {
    match out {
        Out::Any(Any::Number(number)) => Some(Value::Int(number.as_f64()? as i64)),
        Out::Any(Any::String(text)) => Some(Value::Text(text.to_string())),
        Out::Any(Any::Bool(flag)) => Some(Value::Flag(flag)),
        _ => None,
    }
}

fn map_of(out: Option<Out>) -> Option<MapRef> {
    match out {
        Some(Out::YMap(map)) => Some(map),
        _ => None,
    }
}

fn prelim(fields: &Fields) -> MapPrelim {
    fields.iter().map(|(key, value)| (*key, In::Any(any(value)))).collect()
}

impl YObjects {
    fn map<T: ReadTxn>(&self, txn: &T, place: Place) -> Option<MapRef> {
        match place {
            Place::Meta => Some(self.meta.clone()),
            Place::Stats => self.stats.clone(),
            Place::Item(index) => map_of(self.items.get(txn, index)),
            Place::Record(id) => map_of(self.records.get(txn, &record_key(id))),
        }
    }

    fn step(&mut self, txn: &mut TransactionMut<'_>, op: &Op) -> Result<(), EngineError> {
        let place = |place, txn: &TransactionMut<'_>, this: &Self| {
            this.map(txn, place).ok_or_else(|| failed("find a map", format!("{place:?}")))
        };
        match op {
            Op::Begin => self.stats = Some(self.nested.insert(txn, "stats", MapPrelim::default())),
            Op::Set(at, key, value) => {
                place(*at, txn, self)?.insert(txn, *key, any(value));
            }
            Op::Add(at, key, by) => {
                let map = place(*at, txn, self)?;
                let Some(Value::Int(before)) = map.get(txn, key).and_then(value) else {
                    return Err(failed("read a number", *key));
                };
                map.insert(txn, *key, before + by);
            }
            Op::Append(fields) => {
                self.items.push_back(txn, prelim(fields));
            }
            Op::Put(id, fields) => {
                self.records.insert(txn, record_key(*id), prelim(fields));
            }
        }
        Ok(())
    }
}

impl Objects for YObjects {
    const NAME: &'static str = NAME;

    fn new(peer: u64) -> Self {
        let doc = Doc::with_options(Options { client_id: ClientID::new(peer), ..Options::default() });
        let (meta, nested) = (doc.get_or_insert_map("meta"), doc.get_or_insert_map("nested"));
        let (items, records) = (doc.get_or_insert_array("items"), doc.get_or_insert_map("records"));
        Self { doc, meta, nested, stats: None, items, records }
    }

    fn commit(&mut self, ops: &[Op]) -> Result<(), EngineError> {
        let doc = self.doc.clone();
        let mut txn = doc.transact_mut();
        ops.iter().try_for_each(|op| self.step(&mut txn, op))
    }

    fn get(&self, place: Place, key: &str) -> Option<Value> {
        let txn = self.doc.transact();
        self.map(&txn, place)?.get(&txn, key).and_then(value)
    }

    fn export(&mut self) -> Result<Vec<u8>, EngineError> {
        Ok(self.doc.transact().encode_state_as_update_v1(&StateVector::default()))
    }

    fn load(peer: u64, bytes: &[u8]) -> Result<Self, EngineError> {
        let mut doc = Self::new(peer);
        doc.import(bytes)?;
        doc.stats = map_of(doc.nested.get(&doc.doc.transact(), "stats"));
        Ok(doc)
    }

    fn version(&mut self) -> Vec<u8> {
        self.doc.transact().state_vector().encode_v1()
    }

    fn delta(&mut self, version: &[u8]) -> Result<Vec<u8>, EngineError> {
        let version = StateVector::decode_v1(version).map_err(|e| failed("decode a state vector", e))?;
        Ok(self.doc.transact().encode_state_as_update_v1(&version))
    }

    fn import(&mut self, delta: &[u8]) -> Result<(), EngineError> {
        let update = Update::decode_v1(delta).map_err(|e| failed("decode an update", e))?;
        self.doc.transact_mut().apply_update(update).map_err(|e| failed("apply an update", e))
    }

    fn content(&self) -> Result<serde_json::Value, EngineError> {
        let txn = self.doc.transact();
        let json = |any: Any| serde_json::to_value(any).map_err(|e| failed("turn its content into JSON", e));
        Ok(serde_json::json!({
            "meta": json(self.meta.to_json(&txn))?,
            "nested": json(self.nested.to_json(&txn))?,
            "items": json(self.items.to_json(&txn))?,
            "records": json(self.records.to_json(&txn))?,
        }))
    }
}
