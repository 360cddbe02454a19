//! The file of `@hocuspocus/extension-sqlite`: a table `documents` with `name` and `data`, an update each.

use std::path::Path;

use bytes::Bytes;
use rusqlite::{Connection, OpenFlags};

use super::{Each, TransferError};

pub(super) fn read(path: &Path, each: Each<'_>) -> Result<(), TransferError> {
    let broken = |error: rusqlite::Error| TransferError::file(path, error);
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(broken)?;
    let mut documents =
        connection.prepare("SELECT name, data FROM documents ORDER BY name").map_err(broken)?;
    let mut rows = documents.query([]).map_err(broken)?;
    while let Some(row) = rows.next().map_err(broken)? {
        let name: String = row.get(0).map_err(broken)?;
        let data: Vec<u8> = row.get(1).map_err(broken)?;
        each(&name, &[Bytes::from(data)])?;
    }
    Ok(())
}
