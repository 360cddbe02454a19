//! A document in a file: each change is appended, and now and then the log is made short. `cargo run --example persistence`

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use yatta::updates::decoder::Decode;
use yatta::{Doc, GetString, ReadTxn, Text, Transact, Update, merge_updates_v1};

/// Updates one after the other, each behind its length (four bytes).
fn read_log(path: &Path) -> io::Result<Vec<Vec<u8>>> {
    let bytes = match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        read => read?,
    };
    let (mut updates, mut rest) = (Vec::new(), &bytes[..]);
    while let Some((len, tail)) = rest.split_first_chunk::<4>() {
        // A crash can leave half a record at the end: it was never confirmed.
        let Some((update, tail)) = tail.split_at_checked(u32::from_le_bytes(*len) as usize) else { break };
        updates.push(update.to_vec());
        rest = tail;
    }
    Ok(updates)
}

fn append(mut log: &File, update: &[u8]) -> io::Result<()> {
    let record = [&(update.len() as u32).to_le_bytes(), update].concat();
    log.write_all(&record)?;
    log.sync_data()
}

/// Opens the document: what the log says, and from now on each change into the log.
fn open(path: &Path) -> Result<Doc, Box<dyn std::error::Error>> {
    let doc = Doc::new();
    for update in read_log(path)? {
        doc.transact_mut().apply_update(Update::decode_v1(&update)?)?;
    }
    let log = Arc::new(OpenOptions::new().create(true).append(true).open(path)?);
    doc.observe_update_v1("log", move |_, event| {
        append(&log, &event.update).expect("a real server would stop taking changes here");
    })?;
    Ok(doc)
}

/// Replaces the log by one update: written beside it first, so that a crash leaves the old one or the new one.
fn compact(path: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let merged = merge_updates_v1(read_log(path)?)?;
    let fresh: PathBuf = path.with_extension("new");
    append(&File::create(&fresh)?, &merged)?;
    Ok(fs::rename(fresh, path)?)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::temp_dir().join(format!("yatta-example-{}.log", std::process::id()));
    let doc = open(&path)?;
    let text = doc.get_or_insert_text("diary");
    for word in ["It ", "was ", "a ", "dark ", "and ", "stormy ", "night."] {
        text.push(&mut doc.transact_mut(), word);
    }
    drop(doc);
    let before = fs::metadata(&path)?.len();
    compact(&path)?;
    assert!(fs::metadata(&path)?.len() < before && read_log(&path)?.len() == 1);

    let doc = open(&path)?;
    let text = doc.get_or_insert_text("diary");
    assert_eq!(text.get_string(&doc.transact()), "It was a dark and stormy night.");
    assert!(!doc.transact().has_missing_updates());
    fs::remove_file(&path)?;
    println!("{}", text.get_string(&doc.transact()));
    Ok(())
}
