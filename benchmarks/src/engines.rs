//! The two engines. yatta has the API of yrs, so one macro body serves both.

macro_rules! engine {
    ($(#[$doc:meta])* $type:ident, $krate:ident, $name:literal, descending: $descending:literal) => {
        $(#[$doc])*
        pub struct $type {
            doc: $krate::Doc,
            text: $krate::TextRef,
            array: $krate::ArrayRef,
            map: $krate::MapRef,
        }

        const _: () = {
            use std::collections::HashMap;

            use $krate::types::ToJson;
            use $krate::updates::decoder::Decode;
            use $krate::updates::encoder::Encode;
            use $krate::{
                Any, Array, ClientID, Doc, GetString, Map, OffsetKind, Options, ReadTxn, StateVector, Text,
                Transact, TransactionMut, Update,
            };

            use crate::edit::{Edit, Scalar};
            use crate::engine::{Engine, EngineError, Format};
            use crate::log::SharedLog;

            fn failed(action: &'static str, cause: impl std::fmt::Display) -> EngineError {
                EngineError { engine: $name, action, cause: cause.to_string() }
            }

            fn decode(format: Format, bytes: &[u8]) -> Result<Update, EngineError> {
                let decoded = match format {
                    Format::V1 => Update::decode_v1(bytes),
                    Format::V2 => Update::decode_v2(bytes),
                };
                decoded.map_err(|e| failed("decode an update", e))
            }

            fn any(value: &Scalar) -> Any {
                match value {
                    Scalar::Number(number) => Any::from(*number),
                    Scalar::Text(text) => Any::from(text.as_str()),
                    Scalar::Person(name) => {
                        let entries = [("name", name.as_str()), ("address", "here")];
                        Any::from(HashMap::from(entries.map(|(key, value)| (key.to_owned(), value))))
                    }
                }
            }

            impl $type {
                fn perform(&self, txn: &mut TransactionMut<'_>, edit: &Edit) {
                    match edit {
                        Edit::Insert { at, text } => self.text.insert(txn, *at, text),
                        Edit::Remove { at, len } => self.text.remove_range(txn, *at, *len),
                        Edit::ArrayInsert { at, value } => {
                            self.array.insert(txn, *at, any(value));
                        }
                        Edit::ArrayExtend { at, numbers } => {
                            self.array.insert_range(txn, *at, numbers.iter().copied());
                        }
                        Edit::MapSet { value } => {
                            self.map.insert(txn, "v", any(value));
                        }
                    }
                }
            }

            impl Engine for $type {
                const NAME: &'static str = $name;
                const DESCENDING: bool = $descending;

                fn new(client: u64) -> Self {
                    let doc = Doc::with_options(Options {
                        client_id: ClientID::new(client),
                        offset_kind: OffsetKind::Utf16,
                        ..Options::default()
                    });
                    let text = doc.get_or_insert_text("text");
                    let array = doc.get_or_insert_array("array");
                    let map = doc.get_or_insert_map("map");
                    Self { doc, text, array, map }
                }

                fn edit(&mut self, edits: &[Edit]) {
                    let mut txn = self.doc.transact_mut();
                    for edit in edits {
                        self.perform(&mut txn, edit);
                    }
                }

                fn record(&self, log: &SharedLog) -> Result<(), EngineError> {
                    let log = log.clone();
                    let listen = move |_: &TransactionMut<'_>, event: &$krate::UpdateEvent| {
                        log.lock().push(&event.update);
                    };
                    self.doc.observe_update_v1("log", listen).map_err(|e| failed("listen to updates", e))
                }

                fn stop_recording(&self) -> Result<(), EngineError> {
                    let stopped = self.doc.unobserve_update_v1("log");
                    stopped.map(|_| ()).map_err(|e| failed("stop listening to updates", e))
                }

                fn apply(&mut self, format: Format, update: &[u8]) -> Result<(), EngineError> {
                    let update = decode(format, update)?;
                    let mut txn = self.doc.transact_mut();
                    txn.apply_update(update).map_err(|e| failed("apply an update", e))
                }

                fn apply_all<'u>(
                    &mut self,
                    updates: impl Iterator<Item = &'u [u8]>,
                ) -> Result<(), EngineError> {
                    let mut txn = self.doc.transact_mut();
                    for update in updates {
                        let update = decode(Format::V1, update)?;
                        txn.apply_update(update).map_err(|e| failed("apply an update", e))?;
                    }
                    Ok(())
                }

                fn state(&self, format: Format) -> Vec<u8> {
                    let txn = self.doc.transact();
                    match format {
                        Format::V1 => txn.encode_state_as_update_v1(&StateVector::default()),
                        Format::V2 => txn.encode_state_as_update_v2(&StateVector::default()),
                    }
                }

                fn delete_set(&self) -> Vec<u8> {
                    self.doc.transact().snapshot().delete_set.encode_v1()
                }

                fn text(&self) -> String {
                    self.text.get_string(&self.doc.transact())
                }

                fn content(&self) -> Result<serde_json::Value, EngineError> {
                    let txn = self.doc.transact();
                    let json = |any: Any| {
                        serde_json::to_value(any).map_err(|e| failed("turn its content into JSON", e))
                    };
                    Ok(serde_json::json!({
                        "text": self.text.get_string(&txn),
                        "array": json(self.array.to_json(&txn))?,
                        "map": json(self.map.to_json(&txn))?,
                    }))
                }

                fn merge(updates: &[&[u8]]) -> Result<Vec<u8>, EngineError> {
                    $krate::merge_updates_v1(updates).map_err(|e| failed("merge updates", e))
                }
            }
        };
    };
}

engine!(
    /// The engine of this repository.
    Yatta, yatta, "yatta", descending: true
);
engine!(
    /// The engine that it is measured against.
    Yrs, yrs, "yrs", descending: false
);
