//! A store that fails when it is told to, around another one: for tests of what a server does then.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use parking_lot::Mutex;

use super::{Compaction, DocumentInfo, Done, Loaded, Log, Merge, Store, StoreError, Version};
use crate::name::RoomName;

/// Which calls fail. All may be changed at any time.
#[derive(Default)]
pub struct Faults {
    /// Loads fail.
    pub load: AtomicBool,
    /// Appends fail.
    pub append: AtomicBool,
    /// Compactions fail.
    pub compact: AtomicBool,
    /// Milliseconds that a load takes.
    pub slow_load: AtomicUsize,
    /// Appends are held back, neither done nor failed, until this is false and another append or load comes.
    pub hold: AtomicBool,
    /// How often a document was loaded.
    pub loads: AtomicUsize,
    /// How often an append was tried.
    pub appends: AtomicUsize,
}

type Held = (Arc<Log>, Bytes, Done);

/// A store that fails when it is told to.
pub struct FaultyStore {
    inner: Arc<dyn Store>,
    faults: Arc<Faults>,
    held: Mutex<Vec<Held>>,
}

impl FaultyStore {
    /// Wraps a store; nothing fails yet.
    pub fn new(inner: Arc<dyn Store>) -> Self {
        Self { inner, faults: Arc::default(), held: Mutex::default() }
    }

    /// Returns the switches.
    pub fn faults(&self) -> Arc<Faults> {
        Arc::clone(&self.faults)
    }

    /// Lets appends through that were held back.
    pub fn release(&self) {
        self.faults.hold.store(false, Ordering::SeqCst);
        for (log, update, done) in std::mem::take(&mut *self.held.lock()) {
            self.inner.append(&log, update, done);
        }
    }

    fn injected(flag: &AtomicBool) -> Result<(), StoreError> {
        if flag.load(Ordering::SeqCst) { Err(StoreError::failed("injected fault")) } else { Ok(()) }
    }
}

impl Store for FaultyStore {
    fn load(&self, name: &RoomName) -> Result<Loaded, StoreError> {
        self.faults.loads.fetch_add(1, Ordering::SeqCst);
        let slow = self.faults.slow_load.load(Ordering::SeqCst);
        if slow > 0 {
            std::thread::sleep(Duration::from_millis(slow as u64));
        }
        Self::injected(&self.faults.load)?;
        self.inner.load(name)
    }

    fn append(&self, log: &Arc<Log>, update: Bytes, done: Done) {
        self.faults.appends.fetch_add(1, Ordering::SeqCst);
        if let Err(error) = Self::injected(&self.faults.append) {
            log.poison();
            return done(Err(error));
        }
        if self.faults.hold.load(Ordering::SeqCst) {
            return self.held.lock().push((Arc::clone(log), update, done));
        }
        self.inner.append(log, update, done);
    }

    fn backlog(&self) -> usize {
        self.inner.backlog()
    }

    fn compact(&self, name: &RoomName, merge: Merge<'_>) -> Result<Compaction, StoreError> {
        Self::injected(&self.faults.compact)?;
        self.inner.compact(name, merge)
    }

    fn remove(&self, name: &RoomName) -> Result<bool, StoreError> {
        self.inner.remove(name)
    }

    fn list(&self, after: Option<&str>, limit: usize) -> Result<Vec<DocumentInfo>, StoreError> {
        self.inner.list(after, limit)
    }

    fn info(&self, name: &RoomName) -> Result<Option<DocumentInfo>, StoreError> {
        self.inner.info(name)
    }

    fn add_version(&self, name: &RoomName, label: &str, update: Bytes) -> Result<Version, StoreError> {
        self.inner.add_version(name, label, update)
    }

    fn versions(&self, name: &RoomName) -> Result<Vec<Version>, StoreError> {
        self.inner.versions(name)
    }

    fn version(&self, name: &RoomName, id: i64) -> Result<Bytes, StoreError> {
        self.inner.version(name, id)
    }

    fn probe(&self) -> Result<(), StoreError> {
        Self::injected(&self.faults.append)?;
        self.inner.probe()
    }

    fn close(&self) {
        self.inner.close();
    }
}
