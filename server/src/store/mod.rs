//! Where documents are kept (layer 1: names and bytes; it knows nothing of what an update means).
//!
//! A document is a snapshot and a log of updates behind it. What every store promises, and `tests/stores.rs` holds each
//! to:
//!
//! - **S1** `done` of an append is called with `Ok` only when the update survives a crash of the process or machine
//!   (with [`Durability::Relaxed`]: of the process).
//! - **S2** A load returns every update whose append was reported, in the order of the appends.
//! - **S3** After a failed append all later ones through the same [`Log`] fail: nothing is kept behind a hole.
//! - **S4** Compaction replaces what it read and nothing else; what is appended meanwhile stays.
//! - **S5** An error is an error: a document that cannot be read is never reported as empty.

pub mod faulty;
pub mod memory;
pub mod sqlite;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use bytes::Bytes;
use serde::Serialize;

use crate::name::RoomName;

/// A store could not do what it was asked to.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    /// The medium failed, or holds something that it should not.
    #[error("{0}")]
    Failed(Arc<str>),
    /// An earlier append of the same document failed (S3).
    #[error("an earlier update of this document could not be stored")]
    Poisoned,
    /// The store is shut down.
    #[error("the store is closed")]
    Closed,
    /// There is no such document or version.
    #[error("there is no such document or version")]
    NotFound,
}

impl StoreError {
    /// Makes the error of a medium.
    pub fn failed(why: impl std::fmt::Display) -> Self {
        Self::Failed(why.to_string().into())
    }
}

/// What is called when an append is durable or has failed. It runs on the store's thread: it must be quick.
pub type Done = Box<dyn FnOnce(Result<(), StoreError>) + Send>;

/// Makes one update of many; given by the layer that knows what an update is. An error leaves the document as it is.
pub type Merge<'a> = &'a dyn Fn(&[Bytes]) -> Result<Vec<u8>, String>;

/// The right to append to one document, from a load to the next failure.
pub struct Log {
    name: RoomName,
    poisoned: AtomicBool,
    /// The store's own number of the document; 0 until it has one.
    key: AtomicI64,
}

impl Log {
    /// Makes the log of a document.
    pub fn new(name: RoomName, key: i64) -> Arc<Self> {
        Arc::new(Self { name, poisoned: AtomicBool::new(false), key: AtomicI64::new(key) })
    }

    /// Returns the name of the document.
    pub fn name(&self) -> &RoomName {
        &self.name
    }

    /// Makes all later appends fail (S3).
    pub fn poison(&self) {
        self.poisoned.store(true, Ordering::Release);
    }

    /// Returns whether an append failed.
    pub fn is_poisoned(&self) -> bool {
        self.poisoned.load(Ordering::Acquire)
    }

    pub(crate) fn key(&self) -> i64 {
        self.key.load(Ordering::Acquire)
    }

    pub(crate) fn set_key(&self, key: i64) {
        self.key.store(key, Ordering::Release);
    }
}

/// A document as it was read.
pub struct Loaded {
    /// The snapshot, if there is one, then the log in order.
    pub updates: Vec<Bytes>,
    /// How many bytes of that are the snapshot.
    pub snapshot_bytes: usize,
    /// Takes the appends that follow.
    pub log: Arc<Log>,
}

/// What the store knows of a document without reading it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DocumentInfo {
    /// The name.
    pub name: String,
    /// Bytes of the snapshot.
    pub snapshot_bytes: u64,
    /// Updates behind the snapshot.
    pub log_updates: u64,
    /// Bytes of them.
    pub log_bytes: u64,
}

/// A named copy of a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Version {
    /// Its number, unique in the store.
    pub id: i64,
    /// What its maker called it.
    pub label: String,
    /// When it was made, in seconds since 1970.
    pub created: i64,
    /// Bytes of it.
    pub bytes: u64,
}

/// What a compaction did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compaction {
    /// The log was empty.
    Nothing,
    /// This many updates became part of the snapshot.
    Done(usize),
    /// Another compaction or a removal came first.
    Overtaken,
}

/// When an append is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Durability {
    /// When the medium has it (fsync): the default.
    #[default]
    Full,
    /// When the operating system has it: a crash of the machine may lose the last moments.
    Relaxed,
}

/// Keeps documents. All calls but [`Self::append`] and [`Self::backlog`] block and belong on a thread that may.
pub trait Store: Send + Sync + 'static {
    /// Reads a document; one that was never written is empty.
    ///
    /// # Errors
    /// When the medium fails (S5).
    fn load(&self, name: &RoomName) -> Result<Loaded, StoreError>;

    /// Adds an update behind all earlier ones of this log. Never blocks; `done` says when it is durable.
    fn append(&self, log: &Arc<Log>, update: Bytes, done: Done);

    /// Returns how many bytes wait to be written. Above a bound callers should wait before they append more.
    fn backlog(&self) -> usize;

    /// Makes the log part of the snapshot.
    ///
    /// # Errors
    /// When the medium fails or `merge` does; the document is as it was.
    fn compact(&self, name: &RoomName, merge: Merge<'_>) -> Result<Compaction, StoreError>;

    /// Removes a document with its versions; returns whether there was one.
    ///
    /// # Errors
    /// When the medium fails.
    fn remove(&self, name: &RoomName) -> Result<bool, StoreError>;

    /// Returns documents in the order of their names, from behind `after`.
    ///
    /// # Errors
    /// When the medium fails.
    fn list(&self, after: Option<&str>, limit: usize) -> Result<Vec<DocumentInfo>, StoreError>;

    /// Returns what is known of a document.
    ///
    /// # Errors
    /// When the medium fails.
    fn info(&self, name: &RoomName) -> Result<Option<DocumentInfo>, StoreError>;

    /// Keeps a copy of a document; returns it with its number.
    ///
    /// # Errors
    /// When the medium fails, or the document was never written.
    fn add_version(&self, name: &RoomName, label: &str, update: Bytes) -> Result<Version, StoreError>;

    /// Returns the versions of a document, oldest first.
    ///
    /// # Errors
    /// When the medium fails.
    fn versions(&self, name: &RoomName) -> Result<Vec<Version>, StoreError>;

    /// Returns the bytes of a version.
    ///
    /// # Errors
    /// When the medium fails, or there is no such version of this document.
    fn version(&self, name: &RoomName, id: i64) -> Result<Bytes, StoreError>;

    /// Checks that the medium takes writes.
    ///
    /// # Errors
    /// When it does not.
    fn probe(&self) -> Result<(), StoreError>;

    /// Writes all that waits and ends; later appends fail.
    fn close(&self);
}
