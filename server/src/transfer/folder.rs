//! A folder of files: `NAME.bin` is a document in one update, the files in `NAME/` are updates of one, in the order of
//! their names. In `NAME` a `%` and two digits stand for a byte, as a document's name may hold what no file's name may.

use std::path::{Path, PathBuf};

use bytes::Bytes;
use percent_encoding::percent_decode_str;

use super::{Each, TransferError};

/// Longest name of a file on most systems.
const LONGEST: usize = 255;

/// The name of the file of a document: what a system may not allow in one is encoded. `None` if it would be too long.
pub(super) fn file_name(name: &str) -> Option<PathBuf> {
    let mut encoded = String::with_capacity(name.len() + 8);
    for (place, char) in name.char_indices() {
        if "/\\%:*?\"<>|".contains(char) || (char == '.' && place == 0) {
            encoded.push_str(&format!("%{:02X}", u32::from(char)));
        } else {
            encoded.push(char);
        }
    }
    encoded.push_str(".bin");
    (encoded.len() <= LONGEST).then(|| encoded.into())
}

pub(super) fn read(path: &Path, each: Each<'_>) -> Result<(), TransferError> {
    for entry in sorted(path)? {
        let name = entry.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if entry.is_dir() {
            let name = entry.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let mut updates = Vec::new();
            for file in sorted(&entry)? {
                updates.push(contents(&file)?);
            }
            each(&decoded(&name), &updates)?;
        } else if entry.extension().is_some_and(|extension| extension == "bin") {
            each(&decoded(&name), &[contents(&entry)?])?;
        }
    }
    Ok(())
}

fn decoded(name: &str) -> String {
    percent_decode_str(name).decode_utf8_lossy().into_owned()
}

fn contents(path: &Path) -> Result<Bytes, TransferError> {
    std::fs::read(path).map(Bytes::from).map_err(|error| TransferError::file(path, error))
}

fn sorted(folder: &Path) -> Result<Vec<PathBuf>, TransferError> {
    let entries = std::fs::read_dir(folder).map_err(|error| TransferError::file(folder, error))?;
    let mut paths = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| TransferError::file(folder, error))?;
    paths.sort_unstable();
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files() {
        for name in ["a", "team/two é", "..", ".hidden", "100%", "a.b", "%2F", "日本 / .."] {
            let file = file_name(name).unwrap();
            assert_eq!(file.components().count(), 1, "{name}");
            let stem = file.file_stem().unwrap().to_string_lossy().into_owned();
            assert_eq!(decoded(&stem), name);
        }
        assert_eq!(file_name(&"/".repeat(200)), None);
    }
}
