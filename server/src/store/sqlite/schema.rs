//! The tables, their version, and how a file is opened.
//!
//! The log has no index: it is scanned once when the store opens, and an index in memory says afterwards which rows are
//! whose. With an index on disk a durable append of 512 updates writes five times as much (docs/SERVER.md has the table).

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use crate::store::{Durability, StoreError};

/// "yatt": tells our files from those of other programs.
const APPLICATION_ID: i64 = 0x7961_7474;
/// Goes up with each change of the tables; files of a later version are refused.
const SCHEMA_VERSION: i64 = 1;

const TABLES: &str = "
CREATE TABLE docs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    generation INTEGER NOT NULL DEFAULT 0,
    snapshot_bytes INTEGER NOT NULL DEFAULT 0,
    created INTEGER NOT NULL
);
CREATE TABLE log (
    seq INTEGER PRIMARY KEY,
    doc INTEGER NOT NULL,
    data BLOB NOT NULL
);
CREATE TABLE snapshot_parts (
    doc INTEGER NOT NULL,
    part INTEGER NOT NULL,
    data BLOB NOT NULL
);
CREATE UNIQUE INDEX snapshot_parts_of ON snapshot_parts (doc, part);
CREATE TABLE versions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    doc INTEGER NOT NULL,
    label TEXT NOT NULL,
    created INTEGER NOT NULL,
    bytes INTEGER NOT NULL
);
CREATE INDEX versions_of ON versions (doc);
CREATE TABLE version_parts (
    version INTEGER NOT NULL,
    part INTEGER NOT NULL,
    data BLOB NOT NULL
);
CREATE UNIQUE INDEX version_parts_of ON version_parts (version, part);
CREATE TABLE probe (id INTEGER PRIMARY KEY, at INTEGER NOT NULL);
";

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        Self::failed(error)
    }
}

/// Opens the connection that writes, and makes or checks the tables.
pub(super) fn open_writer(
    path: &Path,
    durability: Durability,
    max_bytes: Option<u64>,
) -> Result<Connection, StoreError> {
    let mut connection = Connection::open(path)?;
    connection.busy_timeout(Duration::from_secs(5))?;
    connection.set_prepared_statement_cache_capacity(32);
    check_version(&mut connection)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    let synchronous = match durability {
        Durability::Full => "FULL",
        Durability::Relaxed => "NORMAL",
    };
    connection.pragma_update(None, "synchronous", synchronous)?;
    if let Some(bytes) = max_bytes {
        let page: i64 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
        let pages = i64::try_from(bytes).unwrap_or(i64::MAX) / page.max(1);
        connection.pragma_update(None, "max_page_count", pages.clamp(1, i64::from(u32::MAX) - 1))?;
    }
    // After a large compaction the journal shrinks again.
    connection.pragma_update(None, "journal_size_limit", 64 << 20)?;
    Ok(connection)
}

/// Opens a connection that reads.
pub(super) fn open_reader(path: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(Duration::from_secs(5))?;
    Ok(connection)
}

/// Takes the folder for this process. Two servers on one file would each have an index in memory that misses what the
/// other writes.
pub(super) fn lock_folder(path: &Path) -> Result<Connection, StoreError> {
    let connection = Connection::open(path.with_extension("lock"))?;
    connection.busy_timeout(Duration::from_millis(200))?;
    connection
        .execute_batch("BEGIN EXCLUSIVE")
        .map_err(|error| StoreError::failed(format!("another server uses {}: {error}", path.display())))?;
    Ok(connection)
}

fn check_version(connection: &mut Connection) -> Result<(), StoreError> {
    let number = |connection: &Connection, name: &str| -> Result<i64, rusqlite::Error> {
        connection.pragma_query_value(None, name, |row| row.get(0))
    };
    let application = number(connection, "application_id")?;
    let version = number(connection, "user_version")?;
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if tables == 0 {
        let transaction = connection.transaction()?;
        transaction.execute_batch(TABLES)?;
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", SCHEMA_VERSION)?;
        return Ok(transaction.commit()?);
    }
    if application != APPLICATION_ID {
        return Err(StoreError::failed("the file belongs to another program"));
    }
    if version != SCHEMA_VERSION {
        return Err(StoreError::failed(format!(
            "the file has schema version {version}, this server knows {SCHEMA_VERSION}"
        )));
    }
    Ok(())
}
