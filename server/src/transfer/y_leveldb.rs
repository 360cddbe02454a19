//! The folder of y-leveldb: in LevelDB, under `["v1", NAME, "update", NUMBER]` an update each, in order.
//!
//! A key is its parts one after another: `0` and a string with its length, or `1` and four bytes, the highest first. What
//! lies under other keys (state vectors, an application's own values) says nothing that the updates do not.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use bytes::Bytes;
use rusty_leveldb::{DB, LdbIterator, Options};
use yatta_encoding::{Cursor, Read};

use super::{Each, TransferError};

pub(super) fn read(path: &Path, each: Each<'_>) -> Result<(), TransferError> {
    if !path.join("CURRENT").is_file() {
        return Err(TransferError::file(path, "no LevelDB: there is no file CURRENT"));
    }
    // Opening a LevelDB writes into it, and another process may have it open: work on a copy.
    let copy = Copy::of(path)?;
    // Its files are trusted by whoever wrote this reader: damaged ones may end in a panic, which is an error here.
    let read = catch_unwind(AssertUnwindSafe(|| read_open(path, &copy.0, each)));
    read.unwrap_or_else(|_| Err(TransferError::file(path, "the LevelDB is damaged")))
}

fn read_open(path: &Path, copy: &Path, each: Each<'_>) -> Result<(), TransferError> {
    let broken = |error: rusty_leveldb::Status| TransferError::file(path, error);
    let options = Options { create_if_missing: false, paranoid_checks: true, ..Options::default() };
    let mut database = DB::open(copy, options).map_err(broken)?;
    let mut entries = database.new_iter().map_err(broken)?;
    let mut name: Option<String> = None;
    let mut updates: Vec<Bytes> = Vec::new();
    while entries.advance() {
        let Some((key, value)) = entries.current() else { break };
        let Some(of) = document_of(&key) else { continue };
        if name.as_deref() != Some(of)
            && let Some(name) = name.replace(of.to_owned())
        {
            each(&name, &std::mem::take(&mut updates))?;
        }
        updates.push(Bytes::copy_from_slice(&value));
    }
    name.map_or(Ok(()), |name| each(&name, &updates))
}

/// The document whose update lies under a key, if one does.
fn document_of(key: &[u8]) -> Option<&str> {
    let mut cursor = Cursor::new(key);
    let mut text = || if cursor.read_u8().ok()? == 0 { cursor.take_str().ok() } else { None };
    let (version, name, kind) = (text()?, text()?, text()?);
    (version == "v1" && kind == "update").then_some(name)
}

/// A copy of a folder that is gone with this.
struct Copy(std::path::PathBuf);

impl Copy {
    fn of(path: &Path) -> Result<Self, TransferError> {
        let broken = |error: std::io::Error| TransferError::file(path, error);
        let name = format!("yatta-import-{}-{:x}", std::process::id(), fastrand::u64(..));
        let copy = Self(std::env::temp_dir().join(name));
        std::fs::create_dir(&copy.0).map_err(broken)?;
        for entry in std::fs::read_dir(path).map_err(broken)? {
            let entry = entry.map_err(broken)?;
            if entry.file_type().map_err(broken)?.is_file() {
                std::fs::copy(entry.path(), copy.0.join(entry.file_name())).map_err(broken)?;
            }
        }
        Ok(copy)
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        // In the folder for what may go anyway.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys() {
        let key = |parts: &[&str]| {
            let part = |text: &&str| [&[0, text.len() as u8], text.as_bytes()].concat();
            parts.iter().flat_map(part).collect::<Vec<u8>>()
        };
        let update = [key(&["v1", "a é", "update"]), vec![1, 0, 0, 0, 7]].concat();
        assert_eq!(document_of(&update), Some("a é"));
        assert_eq!(document_of(&key(&["v1", "a", "meta", "k"])), None);
        assert_eq!(document_of(&key(&["v1_sv", "a"])), None);
        assert_eq!(document_of(&[0, 200]), None);
        assert_eq!(document_of(&[]), None);
    }
}
