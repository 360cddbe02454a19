//! A store that forgets when the process ends: for tests, and for servers of ephemeral rooms. Durable means: inserted.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use parking_lot::Mutex;

use super::{Compaction, DocumentInfo, Done, Loaded, Log, Merge, Store, StoreError, Version};
use crate::name::RoomName;

#[derive(Default)]
struct Document {
    snapshot: Option<Bytes>,
    generation: u64,
    log: Vec<Bytes>,
    versions: Vec<(Version, Bytes)>,
}

#[derive(Default)]
struct State {
    documents: BTreeMap<RoomName, Document>,
    last_version: i64,
    last_generation: u64,
}

/// Documents in memory.
#[derive(Default)]
pub struct MemoryStore {
    state: Mutex<State>,
    closed: AtomicBool,
}

impl MemoryStore {
    /// Makes an empty store.
    pub fn new() -> Self {
        Self::default()
    }
}

fn info(name: &RoomName, document: &Document) -> DocumentInfo {
    DocumentInfo {
        name: name.as_str().to_owned(),
        snapshot_bytes: document.snapshot.as_ref().map_or(0, |bytes| bytes.len() as u64),
        log_updates: document.log.len() as u64,
        log_bytes: document.log.iter().map(|update| update.len() as u64).sum(),
    }
}

/// Now, in seconds since 1970.
pub(crate) fn unix_time() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_secs()).unwrap_or(i64::MAX)
}

impl Store for MemoryStore {
    fn load(&self, name: &RoomName) -> Result<Loaded, StoreError> {
        let state = self.state.lock();
        let log = Log::new(name.clone(), 0);
        let Some(document) = state.documents.get(name) else {
            return Ok(Loaded { updates: Vec::new(), snapshot_bytes: 0, log });
        };
        let updates: Vec<Bytes> = document.snapshot.iter().chain(&document.log).cloned().collect();
        Ok(Loaded { updates, snapshot_bytes: document.snapshot.as_ref().map_or(0, Bytes::len), log })
    }

    fn append(&self, log: &Arc<Log>, update: Bytes, done: Done) {
        let result = if log.is_poisoned() {
            Err(StoreError::Poisoned)
        } else if self.closed.load(Ordering::Acquire) {
            Err(StoreError::Closed)
        } else {
            self.state.lock().documents.entry(log.name().clone()).or_default().log.push(update);
            Ok(())
        };
        if result.is_err() {
            log.poison();
        }
        done(result);
    }

    fn backlog(&self) -> usize {
        0
    }

    fn compact(&self, name: &RoomName, merge: Merge<'_>) -> Result<Compaction, StoreError> {
        let (updates, generation, count) = {
            let state = self.state.lock();
            let Some(document) = state.documents.get(name) else { return Ok(Compaction::Nothing) };
            if document.log.is_empty() {
                return Ok(Compaction::Nothing);
            }
            let updates: Vec<Bytes> = document.snapshot.iter().chain(&document.log).cloned().collect();
            (updates, document.generation, document.log.len())
        };
        let snapshot = merge(&updates).map_err(StoreError::failed)?;
        let mut state = self.state.lock();
        state.last_generation += 1;
        let next = state.last_generation;
        match state.documents.get_mut(name) {
            Some(document) if document.generation == generation => {
                document.snapshot = Some(snapshot.into());
                document.generation = next;
                document.log.drain(..count);
                Ok(Compaction::Done(count))
            }
            _ => Ok(Compaction::Overtaken),
        }
    }

    fn remove(&self, name: &RoomName) -> Result<bool, StoreError> {
        Ok(self.state.lock().documents.remove(name).is_some())
    }

    fn list(&self, after: Option<&str>, limit: usize) -> Result<Vec<DocumentInfo>, StoreError> {
        let state = self.state.lock();
        let after = after.and_then(|name| RoomName::new(name).ok());
        let from = after.as_ref().map_or(Bound::Unbounded, Bound::Excluded);
        let found = state.documents.range::<RoomName, _>((from, Bound::Unbounded)).take(limit);
        Ok(found.map(|(name, document)| info(name, document)).collect())
    }

    fn info(&self, name: &RoomName) -> Result<Option<DocumentInfo>, StoreError> {
        Ok(self.state.lock().documents.get(name).map(|document| info(name, document)))
    }

    fn add_version(&self, name: &RoomName, label: &str, update: Bytes) -> Result<Version, StoreError> {
        let mut state = self.state.lock();
        state.last_version += 1;
        let id = state.last_version;
        let document = state.documents.get_mut(name).ok_or(StoreError::NotFound)?;
        let version =
            Version { id, label: label.to_owned(), created: unix_time(), bytes: update.len() as u64 };
        document.versions.push((version.clone(), update));
        Ok(version)
    }

    fn versions(&self, name: &RoomName) -> Result<Vec<Version>, StoreError> {
        let state = self.state.lock();
        let versions = state.documents.get(name).map(|document| &document.versions);
        Ok(versions.into_iter().flatten().map(|(version, _)| version.clone()).collect())
    }

    fn version(&self, name: &RoomName, id: i64) -> Result<Bytes, StoreError> {
        let state = self.state.lock();
        let document = state.documents.get(name).ok_or(StoreError::NotFound)?;
        let found = document.versions.iter().find(|(version, _)| version.id == id);
        found.map(|(_, update)| update.clone()).ok_or(StoreError::NotFound)
    }

    fn probe(&self) -> Result<(), StoreError> {
        if self.closed.load(Ordering::Acquire) { Err(StoreError::Closed) } else { Ok(()) }
    }

    fn close(&self) {
        self.closed.store(true, Ordering::Release);
    }
}
