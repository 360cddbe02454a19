//! The one thread that writes: group commit.
//!
//! While a commit waits for the disk, appends queue; the next batch takes them all. So a lone append costs one fsync, and
//! a thousand at once cost one too. A window, if one is set, lets a batch wait for more: fewer commits, later acknowledgements.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use bytes::Bytes;
use parking_lot::RwLock;
use rusqlite::{Connection, OptionalExtension, params};

use super::index::{LogIndex, Row};
use crate::name::RoomName;
use crate::store::memory::unix_time;
use crate::store::{Done, Log, StoreError};

/// A batch ends here even if more waits, so that the first of it is not kept waiting.
const BATCH_UPDATES: usize = 4096;
const BATCH_BYTES: usize = 16 << 20;

/// Something else to do with the connection and the index.
pub(super) type Call = Box<dyn FnOnce(&mut Connection, &RwLock<LogIndex>) + Send>;

/// What the thread is asked to do.
pub(super) enum Command {
    Append(Append),
    /// A transaction of its own: compaction, removal, a version.
    Call(Call),
    Close,
}

pub(super) struct Append {
    pub(super) log: Arc<Log>,
    pub(super) update: Bytes,
    pub(super) done: Done,
}

/// Works until it is told to close or nobody can ask any more.
pub(super) fn run(
    mut connection: Connection,
    index: &RwLock<LogIndex>,
    commands: &Receiver<Command>,
    backlog: &AtomicUsize,
    window: &AtomicU64,
) {
    let mut next = commands.recv().ok();
    while let Some(command) = next.take() {
        match command {
            Command::Close => break,
            Command::Call(call) => call(&mut connection, index),
            Command::Append(first) => {
                let mut batch = vec![first];
                let window = Duration::from_millis(window.load(Ordering::Relaxed));
                let end = Instant::now() + window;
                let mut bytes = 0;
                while batch.len() < BATCH_UPDATES && bytes < BATCH_BYTES {
                    let left =
                        if window.is_zero() { window } else { end.saturating_duration_since(Instant::now()) };
                    let more = if left.is_zero() {
                        commands.try_recv().ok()
                    } else {
                        commands.recv_timeout(left).ok()
                    };
                    match more {
                        Some(Command::Append(append)) => {
                            bytes += append.update.len();
                            batch.push(append);
                        }
                        Some(other) => {
                            next = Some(other);
                            break;
                        }
                        None => break,
                    }
                }
                write_batch(&mut connection, index, batch, backlog);
            }
        }
        if next.is_none() {
            next = commands.recv().ok();
        }
    }
    // Whoever asked too late hears of it: senders may outlive this thread.
    while let Ok(command) = commands.try_recv() {
        if let Command::Append(Append { log, done, .. }) = command {
            log.poison();
            done(Err(StoreError::Closed));
        }
    }
    if let Err(error) = connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)") {
        tracing::warn!(%error, "the journal could not be folded in at the end; the next start does it");
    }
}

fn write_batch(
    connection: &mut Connection,
    index: &RwLock<LogIndex>,
    batch: Vec<Append>,
    backlog: &AtomicUsize,
) {
    let (batch, poisoned): (Vec<Append>, Vec<Append>) =
        batch.into_iter().partition(|append| !append.log.is_poisoned());
    let written = if batch.is_empty() { Ok(HashMap::new()) } else { commit(connection, index, &batch) };
    for Append { update, done, .. } in poisoned {
        backlog.fetch_sub(update.len(), Ordering::Relaxed);
        done(Err(StoreError::Poisoned));
    }
    if let Err(error) = &written {
        tracing::error!(%error, updates = batch.len(), "updates could not be stored");
    }
    // All logs first: a `done` may append again.
    for Append { log, .. } in &batch {
        match &written {
            Ok(keys) => {
                if let Some(key) = keys.get(log.name()) {
                    log.set_key(*key);
                }
            }
            Err(_) => log.poison(),
        }
    }
    for Append { update, done, .. } in batch {
        backlog.fetch_sub(update.len(), Ordering::Relaxed);
        done(written.as_ref().map(|_| ()).map_err(Clone::clone));
    }
}

/// Writes a batch in one transaction; returns the numbers of documents that had none before.
fn commit(
    connection: &mut Connection,
    index: &RwLock<LogIndex>,
    batch: &[Append],
) -> Result<HashMap<RoomName, i64>, StoreError> {
    let mut keys: HashMap<RoomName, i64> = HashMap::new();
    let mut rows = Vec::with_capacity(batch.len());
    let transaction = connection.transaction()?;
    {
        // Nothing is inserted for a document that was removed meanwhile.
        let mut insert = transaction
            .prepare_cached("INSERT INTO log (doc, data) SELECT id, ?2 FROM docs WHERE id = ?1")?;
        for Append { log, update, .. } in batch {
            let doc = match (log.key(), keys.get(log.name())) {
                (0, Some(key)) => *key,
                (0, None) => {
                    let key = document_key(&transaction, log.name())?;
                    keys.insert(log.name().clone(), key);
                    key
                }
                (key, _) => key,
            };
            if insert.execute(params![doc, update.as_ref()])? == 0 {
                return Err(StoreError::failed(format!("{:?} was removed while it was open", log.name())));
            }
            let len = u32::try_from(update.len()).map_err(StoreError::failed)?;
            rows.push((doc, Row { seq: transaction.last_insert_rowid(), len }));
        }
    }
    let mut index = index.write();
    transaction.commit()?;
    for (doc, row) in rows {
        index.push(doc, row);
    }
    Ok(keys)
}

/// The number of a document, which gets one if it has none.
fn document_key(connection: &Connection, name: &RoomName) -> Result<i64, StoreError> {
    let mut find = connection.prepare_cached("SELECT id FROM docs WHERE name = ?1")?;
    if let Some(id) = find.query_row([name.as_str()], |row| row.get(0)).optional()? {
        return Ok(id);
    }
    connection
        .prepare_cached("INSERT INTO docs (name, created) VALUES (?1, ?2)")?
        .execute(params![name.as_str(), unix_time()])?;
    Ok(connection.last_insert_rowid())
}
