//! Which rows of the log are whose: built by one scan, then kept in step by the writer.

use std::collections::HashMap;

use rusqlite::Connection;

use crate::store::StoreError;

/// A row of the log.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) seq: i64,
    pub(super) len: u32,
}

/// The rows of each document that has some, in order. Changed only together with a commit, under the lock (see
/// `SqliteStore::read`).
#[derive(Default)]
pub(super) struct LogIndex {
    rows: HashMap<i64, Vec<Row>>,
}

impl LogIndex {
    /// Scans the log.
    pub(super) fn scan(connection: &Connection) -> Result<Self, StoreError> {
        let mut index = Self::default();
        let mut statement = connection.prepare("SELECT doc, seq, length(data) FROM log ORDER BY seq")?;
        let mut found = statement.query([])?;
        while let Some(row) = found.next()? {
            index.push(row.get(0)?, Row { seq: row.get(1)?, len: row.get(2)? });
        }
        Ok(index)
    }

    pub(super) fn push(&mut self, doc: i64, row: Row) {
        self.rows.entry(doc).or_default().push(row);
    }

    pub(super) fn of(&self, doc: i64) -> &[Row] {
        self.rows.get(&doc).map_or(&[], Vec::as_slice)
    }

    /// Forgets the first rows, which became part of the snapshot.
    pub(super) fn forget_first(&mut self, doc: i64, count: usize) {
        if let Some(rows) = self.rows.get_mut(&doc) {
            rows.drain(..count.min(rows.len()));
            if rows.is_empty() {
                self.rows.remove(&doc);
            }
        }
    }

    pub(super) fn forget(&mut self, doc: i64) {
        self.rows.remove(&doc);
    }
}
