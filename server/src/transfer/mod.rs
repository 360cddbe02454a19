//! Documents from other servers' stores into ours, and out of ours into files (beside `http`: above store and rooms).
//!
//! A source hands out names with updates; nothing is written before the engine took all updates of a document, and waiting
//! ones are carried along. A document that is there already is left alone unless the caller asks to merge. Memory: one
//! document at a time. The server must not run on the same folder: the store sees to that.

mod folder;
mod hocuspocus;
mod y_leveldb;

use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;

use bytes::Bytes;

use crate::name::RoomName;
use crate::room::document::merge;
use crate::store::{Store, StoreError};

/// Why a transfer ended.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// The source or the target cannot be read or written.
    #[error("{}: {why}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// Our own store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl TransferError {
    fn file(path: &Path, why: impl std::fmt::Display) -> Self {
        Self::File { path: path.to_owned(), why: why.to_string() }
    }
}

/// Where documents come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Source {
    /// The file of hocuspocus's SQLite extension
    Hocuspocus,
    /// The folder of y-leveldb (y-websocket's YPERSISTENCE); it is copied first, never changed
    YLeveldb,
    /// A folder of updates: `NAME.bin` is a document, `NAME/*.bin` the updates of one; names are percent-encoded
    Folder,
}

/// What became of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was stored: so many bytes.
    Imported(usize),
    /// There is one of this name already; nothing was done.
    Exists,
    /// It cannot be read, or its name is none; nothing was done.
    Refused(String),
}

/// Imports all documents of a source and tells of each.
///
/// # Errors
/// When the source cannot be read or the store fails; documents told of before are stored.
pub fn import(
    store: &dyn Store,
    source: Source,
    path: &Path,
    merge_existing: bool,
    mut tell: impl FnMut(&str, Outcome),
) -> Result<(), TransferError> {
    let mut each = |name: &str, updates: &[Bytes]| {
        let outcome = import_one(store, name, updates, merge_existing)?;
        tell(name, outcome);
        Ok(())
    };
    match source {
        Source::Hocuspocus => hocuspocus::read(path, &mut each),
        Source::YLeveldb => y_leveldb::read(path, &mut each),
        Source::Folder => folder::read(path, &mut each),
    }
}

/// Takes a document of a source.
type Each<'a> = &'a mut dyn FnMut(&str, &[Bytes]) -> Result<(), TransferError>;

fn import_one(
    store: &dyn Store,
    name: &str,
    updates: &[Bytes],
    merge_existing: bool,
) -> Result<Outcome, TransferError> {
    let name = match RoomName::new(name) {
        Ok(name) => name,
        Err(bad) => return Ok(Outcome::Refused(bad.to_string())),
    };
    let merged = match merge(updates) {
        Ok(merged) => merged,
        Err(error) => return Ok(Outcome::Refused(error)),
    };
    let loaded = store.load(&name)?;
    if !loaded.updates.is_empty() && !merge_existing {
        return Ok(Outcome::Exists);
    }
    let bytes = merged.len();
    let (done, wait) = channel();
    // Nobody can have stopped to listen: it is waited for below.
    store.append(&loaded.log, merged.into(), Box::new(move |result| drop(done.send(result))));
    wait.recv().map_err(|_| StoreError::Closed)??;
    // Else the log of the store, which is read whole at each start, would hold all that was imported.
    store.compact(&name, &merge)?;
    Ok(Outcome::Imported(bytes))
}

/// Returns a document as one update (V1), with what waits in it.
///
/// # Errors
/// When there is no such document, or it cannot be read.
pub fn export(store: &dyn Store, name: &RoomName) -> Result<Vec<u8>, TransferError> {
    let loaded = store.load(name)?;
    if loaded.updates.is_empty() {
        return Err(StoreError::NotFound.into());
    }
    Ok(merge(&loaded.updates).map_err(StoreError::failed)?)
}

/// Exports all documents into a folder, in the layout of [`Source::Folder`]; returns how many, and the names that are too
/// long for a file's.
///
/// # Errors
/// When one cannot be read or written; those before it are there.
pub fn export_all(store: &dyn Store, target: &Path) -> Result<(usize, Vec<String>), TransferError> {
    std::fs::create_dir_all(target).map_err(|error| TransferError::file(target, error))?;
    let (mut count, mut left_out) = (0, Vec::new());
    let mut after: Option<String> = None;
    loop {
        let page = store.list(after.as_deref(), 100)?;
        let Some(last) = page.last() else { return Ok((count, left_out)) };
        after = Some(last.name.clone());
        for info in &page {
            let name = RoomName::new(&info.name).map_err(StoreError::failed)?;
            let Some(file) = folder::file_name(&info.name) else {
                left_out.push(info.name.clone());
                continue;
            };
            let path = target.join(file);
            let update = export(store, &name)?;
            std::fs::write(&path, update).map_err(|error| TransferError::file(&path, error))?;
            count += 1;
        }
    }
}
