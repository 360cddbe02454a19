//! The document as plain JSON: the judge of all engines.

use serde_json::{Map, Value as Json, json};

use super::{Fields, Op, Place, Value, record_key};
use crate::engine::EngineError;

/// Plain JSON.
#[derive(Clone, Debug)]
pub struct Model(Json);

impl Default for Model {
    fn default() -> Self {
        Self(json!({ "meta": {}, "nested": {}, "items": [], "records": {} }))
    }
}

fn json_of(value: &Value) -> Json {
    match value {
        Value::Int(number) => json!(number),
        Value::Text(text) => json!(text),
        Value::Flag(flag) => json!(flag),
    }
}

fn object(fields: &Fields) -> Json {
    Json::Object(fields.iter().map(|(key, value)| ((*key).to_owned(), json_of(value))).collect())
}

impl Model {
    /// Does all steps.
    ///
    /// # Errors
    /// If a map is not there.
    pub fn commit(&mut self, ops: &[Op]) -> Result<(), EngineError> {
        ops.iter().try_for_each(|op| {
            self.step(op).ok_or_else(|| EngineError {
                engine: "the model",
                action: "do a step",
                cause: format!("{op:?}"),
            })
        })
    }

    fn step(&mut self, op: &Op) -> Option<()> {
        match op {
            Op::Begin => self.0["nested"]["stats"] = json!({}),
            Op::Set(place, key, value) => {
                self.map(*place)?.insert((*key).to_owned(), json_of(value));
            }
            Op::Add(place, key, by) => {
                let number = self.map(*place)?.get_mut(*key)?;
                *number = json!(number.as_i64()? + by);
            }
            Op::Append(fields) => self.0["items"].as_array_mut()?.push(object(fields)),
            Op::Put(id, fields) => self.0["records"][record_key(*id)] = object(fields),
        }
        Some(())
    }

    fn map(&mut self, place: Place) -> Option<&mut Map<String, Json>> {
        let found = match place {
            Place::Meta => self.0.get_mut("meta"),
            Place::Stats => self.0["nested"].get_mut("stats"),
            Place::Item(index) => self.0["items"].get_mut(index as usize),
            Place::Record(id) => self.0["records"].get_mut(record_key(id)),
        };
        found?.as_object_mut()
    }

    /// Returns the whole content.
    ///
    /// # Errors
    /// Never; the engines have the same signature.
    pub fn content(&self) -> Result<Json, EngineError> {
        Ok(self.0.clone())
    }
}
