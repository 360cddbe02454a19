//! The durable store: one SQLite file with a shared append log (layer 1).
//!
//! One thread writes (`writer`), several connections read. A load costs one look at `docs` and one read a row; an append
//! a share of an fsync. Invariant: the index in memory and the file change together, under the index's lock held for
//! writing; a reader takes its snapshot of the file under that lock held for reading, so both are of one moment.

mod index;
mod schema;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use bytes::Bytes;
use parking_lot::{Mutex, RwLock};
use rusqlite::{Connection, OptionalExtension, Transaction, params};

use self::index::{LogIndex, Row};
use self::writer::{Append, Command};
use super::memory::unix_time;
use super::{Compaction, DocumentInfo, Done, Durability, Loaded, Log, Merge, Store, StoreError, Version};
use crate::name::RoomName;

/// A snapshot lies in rows of this size: SQLite handles a few large blobs worse than many of middling size, and no row
/// comes near its limit of 1 GB.
const PART: usize = 1 << 20;
/// Idle connections for reading that are kept.
const READERS: usize = 4;

/// Documents in an SQLite file.
pub struct SqliteStore {
    path: PathBuf,
    index: Arc<RwLock<LogIndex>>,
    readers: Mutex<Vec<Connection>>,
    commands: Sender<Command>,
    backlog: Arc<AtomicUsize>,
    /// Milliseconds.
    window: Arc<AtomicU64>,
    writer: Mutex<Option<JoinHandle<()>>>,
    /// Holds the lock on the folder until the store is closed.
    lock: Mutex<Option<Connection>>,
    closed: AtomicBool,
}

/// The head of a document as a reader finds it.
struct Head {
    id: i64,
    generation: i64,
    snapshot_bytes: i64,
}

impl SqliteStore {
    /// Opens the file `yatta.db` in a folder; both are made if they are missing. Cost O(log).
    ///
    /// # Errors
    /// When the folder cannot be made, another process uses it, or the file is damaged, of another program or of a
    /// later version.
    pub fn open(folder: &Path, durability: Durability) -> Result<Self, StoreError> {
        Self::open_bounded(folder, durability, None)
    }

    /// As [`Self::open`]; the file does not grow beyond so many bytes: what does not fit fails as on a full disk. Its journal
    /// is not counted; it has 64 MiB at most when nothing runs for long.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_bounded(
        folder: &Path,
        durability: Durability,
        max_bytes: Option<u64>,
    ) -> Result<Self, StoreError> {
        std::fs::create_dir_all(folder)
            .map_err(|error| StoreError::failed(format!("{}: {error}", folder.display())))?;
        let path = folder.join("yatta.db");
        let lock = schema::lock_folder(&path)?;
        let connection = schema::open_writer(&path, durability, max_bytes)?;
        let index = Arc::new(RwLock::new(LogIndex::scan(&connection)?));
        let backlog = Arc::new(AtomicUsize::new(0));
        let window = Arc::new(AtomicU64::new(0));
        let (commands, inbox) = channel();
        let writer = {
            let (index, backlog, window) = (Arc::clone(&index), Arc::clone(&backlog), Arc::clone(&window));
            std::thread::Builder::new()
                .name("store".to_owned())
                .spawn(move || writer::run(connection, &index, &inbox, &backlog, &window))
                .map_err(StoreError::failed)?
        };
        Ok(Self {
            path,
            index,
            readers: Mutex::default(),
            commands,
            backlog,
            window,
            writer: Mutex::new(Some(writer)),
            lock: Mutex::new(Some(lock)),
            closed: AtomicBool::new(false),
        })
    }

    /// Lets an append wait for others, so long at most, to share its commit with them. Without it only what came while the last
    /// commit went on shares one.
    pub fn set_commit_window(&self, window: Duration) {
        self.window.store(u64::try_from(window.as_millis()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Reads in one snapshot of the file and the index.
    fn read<T>(
        &self,
        name: &RoomName,
        f: impl FnOnce(&Transaction<'_>, Option<(Head, Vec<Row>)>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let pooled = self.readers.lock().pop();
        let mut connection = pooled.map_or_else(|| self.open_reader(), Ok)?;
        let result = {
            let index = self.index.read();
            let transaction = connection.transaction()?;
            // The first query takes the snapshot.
            let head = head(&transaction, name)?;
            let found = head.map(|head| {
                let rows = index.of(head.id).to_vec();
                (head, rows)
            });
            drop(index);
            f(&transaction, found)
        };
        let mut readers = self.readers.lock();
        if readers.len() < READERS && !self.closed.load(Ordering::Acquire) {
            readers.push(connection);
        }
        result
    }

    /// Somebody else may own the folder after the store is closed: then nothing of it is read.
    fn open_reader(&self) -> Result<Connection, StoreError> {
        if self.closed.load(Ordering::Acquire) {
            return Err(StoreError::Closed);
        }
        schema::open_reader(&self.path)
    }

    /// Has the writer do something and waits for it.
    fn call<T: Send + 'static>(
        &self,
        f: impl FnOnce(&mut Connection, &RwLock<LogIndex>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (answer, wait) = channel();
        let call = Box::new(move |connection: &mut Connection, index: &RwLock<LogIndex>| {
            // Nobody waits any more: that is no concern of the writer.
            let _ = answer.send(f(connection, index));
        });
        self.commands.send(Command::Call(call)).map_err(|_| StoreError::Closed)?;
        wait.recv().map_err(|_| StoreError::Closed)?
    }
}

fn head(connection: &Connection, name: &RoomName) -> Result<Option<Head>, StoreError> {
    let mut find =
        connection.prepare_cached("SELECT id, generation, snapshot_bytes FROM docs WHERE name = ?1")?;
    let head = find.query_row([name.as_str()], |row| {
        Ok(Head { id: row.get(0)?, generation: row.get(1)?, snapshot_bytes: row.get(2)? })
    });
    Ok(head.optional()?)
}

/// Reads the parts of a snapshot or version; they must make up the length that is recorded (S5).
fn read_parts(connection: &Connection, sql: &str, id: i64, bytes: i64) -> Result<Bytes, StoreError> {
    let mut data = Vec::with_capacity(usize::try_from(bytes).map_err(StoreError::failed)?.min(1 << 30));
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([id])?;
    while let Some(row) = rows.next()? {
        data.extend_from_slice(row.get_ref(0)?.as_blob().map_err(StoreError::failed)?);
    }
    if data.len() as i64 != bytes {
        return Err(StoreError::failed(format!("a snapshot has {} bytes of {bytes}", data.len())));
    }
    Ok(data.into())
}

fn write_parts(connection: &Connection, sql: &str, id: i64, data: &[u8]) -> Result<(), StoreError> {
    let mut insert = connection.prepare_cached(sql)?;
    for (part, data) in data.chunks(PART).enumerate() {
        insert.execute(params![id, part as i64, data])?;
    }
    Ok(())
}

/// Reads the snapshot and the log of a document.
fn read_updates(transaction: &Transaction<'_>, head: &Head, rows: &[Row]) -> Result<Vec<Bytes>, StoreError> {
    let mut updates = Vec::with_capacity(rows.len() + 1);
    if head.snapshot_bytes > 0 {
        let sql = "SELECT data FROM snapshot_parts WHERE doc = ?1 ORDER BY part";
        updates.push(read_parts(transaction, sql, head.id, head.snapshot_bytes)?);
    }
    let mut find = transaction.prepare_cached("SELECT data FROM log WHERE seq = ?1 AND doc = ?2")?;
    for row in rows {
        let data: Vec<u8> = find.query_row([row.seq, head.id], |row| row.get(0))?;
        updates.push(data.into());
    }
    Ok(updates)
}

fn info(name: String, snapshot_bytes: i64, rows: &[Row]) -> DocumentInfo {
    DocumentInfo {
        name,
        snapshot_bytes: u64::try_from(snapshot_bytes).unwrap_or_default(),
        log_updates: rows.len() as u64,
        log_bytes: rows.iter().map(|row| u64::from(row.len)).sum(),
    }
}

impl Store for SqliteStore {
    fn load(&self, name: &RoomName) -> Result<Loaded, StoreError> {
        self.read(name, |transaction, found| {
            let Some((head, rows)) = found else {
                return Ok(Loaded { updates: Vec::new(), snapshot_bytes: 0, log: Log::new(name.clone(), 0) });
            };
            Ok(Loaded {
                updates: read_updates(transaction, &head, &rows)?,
                snapshot_bytes: usize::try_from(head.snapshot_bytes).unwrap_or_default(),
                log: Log::new(name.clone(), head.id),
            })
        })
    }

    fn append(&self, log: &Arc<Log>, update: Bytes, done: Done) {
        let len = update.len();
        self.backlog.fetch_add(len, Ordering::Relaxed);
        let append = Append { log: Arc::clone(log), update, done };
        if let Err(refused) = self.commands.send(Command::Append(append)) {
            self.backlog.fetch_sub(len, Ordering::Relaxed);
            log.poison();
            if let Command::Append(append) = refused.0 {
                (append.done)(Err(StoreError::Closed));
            }
        }
    }

    fn backlog(&self) -> usize {
        self.backlog.load(Ordering::Relaxed)
    }

    fn compact(&self, name: &RoomName, merge: Merge<'_>) -> Result<Compaction, StoreError> {
        let read = self.read(name, |transaction, found| match found {
            Some((head, rows)) if !rows.is_empty() => {
                let updates = read_updates(transaction, &head, &rows)?;
                Ok(Some((head, rows, updates)))
            }
            _ => Ok(None),
        })?;
        let Some((head, rows, updates)) = read else { return Ok(Compaction::Nothing) };
        let snapshot = merge(&updates).map_err(StoreError::failed)?;
        self.call(move |connection, index| {
            let transaction = connection.transaction()?;
            let same = transaction
                .prepare_cached(
                    "UPDATE docs SET generation = generation + 1, snapshot_bytes = ?3 WHERE id = ?1 AND generation = ?2",
                )?
                .execute(params![head.id, head.generation, snapshot.len() as i64])?;
            if same == 0 {
                return Ok(Compaction::Overtaken);
            }
            transaction.prepare_cached("DELETE FROM snapshot_parts WHERE doc = ?1")?.execute([head.id])?;
            let sql = "INSERT INTO snapshot_parts (doc, part, data) VALUES (?1, ?2, ?3)";
            write_parts(&transaction, sql, head.id, &snapshot)?;
            {
                let mut delete = transaction.prepare_cached("DELETE FROM log WHERE seq = ?1")?;
                for row in &rows {
                    delete.execute([row.seq])?;
                }
            }
            let mut index = index.write();
            transaction.commit()?;
            index.forget_first(head.id, rows.len());
            Ok(Compaction::Done(rows.len()))
        })
    }

    fn remove(&self, name: &RoomName) -> Result<bool, StoreError> {
        let name = name.clone();
        self.call(move |connection, index| {
            let transaction = connection.transaction()?;
            let Some(Head { id, .. }) = head(&transaction, &name)? else { return Ok(false) };
            for sql in [
                "DELETE FROM docs WHERE id = ?1",
                "DELETE FROM snapshot_parts WHERE doc = ?1",
                "DELETE FROM version_parts WHERE version IN (SELECT id FROM versions WHERE doc = ?1)",
                "DELETE FROM versions WHERE doc = ?1",
            ] {
                transaction.execute(sql, [id])?;
            }
            let mut index = index.write();
            {
                let mut delete = transaction.prepare_cached("DELETE FROM log WHERE seq = ?1")?;
                for row in index.of(id) {
                    delete.execute([row.seq])?;
                }
            }
            transaction.commit()?;
            index.forget(id);
            Ok(true)
        })
    }

    fn list(&self, after: Option<&str>, limit: usize) -> Result<Vec<DocumentInfo>, StoreError> {
        let after = after.unwrap_or_default().to_owned();
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let connection = self.open_reader()?;
        let index = self.index.read();
        let mut statement = connection
            .prepare("SELECT id, name, snapshot_bytes FROM docs WHERE name > ?1 ORDER BY name LIMIT ?2")?;
        let found = statement.query_map(params![after, limit], |row| {
            Ok(info(row.get(1)?, row.get(2)?, index.of(row.get(0)?)))
        })?;
        Ok(found.collect::<Result<_, _>>()?)
    }

    fn info(&self, name: &RoomName) -> Result<Option<DocumentInfo>, StoreError> {
        self.read(name, |_, found| {
            Ok(found.map(|(head, rows)| info(name.as_str().to_owned(), head.snapshot_bytes, &rows)))
        })
    }

    fn add_version(&self, name: &RoomName, label: &str, update: Bytes) -> Result<Version, StoreError> {
        let (name, label) = (name.clone(), label.to_owned());
        self.call(move |connection, _| {
            let transaction = connection.transaction()?;
            let Head { id: doc, .. } = head(&transaction, &name)?.ok_or(StoreError::NotFound)?;
            let (created, bytes) = (unix_time(), update.len() as i64);
            transaction.execute(
                "INSERT INTO versions (doc, label, created, bytes) VALUES (?1, ?2, ?3, ?4)",
                params![doc, label, created, bytes],
            )?;
            let id = transaction.last_insert_rowid();
            let sql = "INSERT INTO version_parts (version, part, data) VALUES (?1, ?2, ?3)";
            write_parts(&transaction, sql, id, &update)?;
            transaction.commit()?;
            Ok(Version { id, label, created, bytes: update.len() as u64 })
        })
    }

    fn versions(&self, name: &RoomName) -> Result<Vec<Version>, StoreError> {
        self.read(name, |transaction, found| {
            let Some((head, _)) = found else { return Ok(Vec::new()) };
            let mut statement = transaction.prepare_cached(
                "SELECT id, label, created, bytes FROM versions WHERE doc = ?1 ORDER BY id",
            )?;
            let found = statement.query_map([head.id], |row| {
                let bytes: i64 = row.get(3)?;
                Ok(Version {
                    id: row.get(0)?,
                    label: row.get(1)?,
                    created: row.get(2)?,
                    bytes: u64::try_from(bytes).unwrap_or_default(),
                })
            })?;
            Ok(found.collect::<Result<_, _>>()?)
        })
    }

    fn version(&self, name: &RoomName, id: i64) -> Result<Bytes, StoreError> {
        self.read(name, |transaction, found| {
            let (head, _) = found.ok_or(StoreError::NotFound)?;
            let mut find =
                transaction.prepare_cached("SELECT bytes FROM versions WHERE id = ?1 AND doc = ?2")?;
            let bytes: i64 =
                find.query_row([id, head.id], |row| row.get(0)).optional()?.ok_or(StoreError::NotFound)?;
            let sql = "SELECT data FROM version_parts WHERE version = ?1 ORDER BY part";
            read_parts(transaction, sql, id, bytes)
        })
    }

    fn probe(&self) -> Result<(), StoreError> {
        self.call(|connection, _| {
            let sql = "INSERT INTO probe (id, at) VALUES (1, ?1) ON CONFLICT (id) DO UPDATE SET at = ?1";
            connection.execute(sql, [unix_time()])?;
            Ok(())
        })
    }

    fn close(&self) {
        let Some(writer) = self.writer.lock().take() else { return };
        // An error means that the thread has ended already.
        let _ = self.commands.send(Command::Close);
        if writer.join().is_err() {
            tracing::error!("the thread that writes the store ended by a panic");
        }
        // Now, not when the last who knows the store is gone: a peer that does not read may hold it for a while.
        self.closed.store(true, Ordering::Release);
        self.readers.lock().clear();
        *self.lock.lock() = None;
    }
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        self.close();
    }
}
