//! One suite for every store: what `yatta_server::store` promises (S1-S5).

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::channel;
use std::time::Duration;

use bytes::Bytes;
use yatta_server::name::RoomName;
use yatta_server::store::faulty::FaultyStore;
use yatta_server::store::memory::MemoryStore;
use yatta_server::store::sqlite::SqliteStore;
use yatta_server::store::{Compaction, Durability, Log, Store, StoreError};

fn name(text: &str) -> RoomName {
    RoomName::new(text).unwrap()
}

/// Appends and waits until it is done.
fn append(store: &dyn Store, log: &Arc<Log>, update: &str) -> Result<(), StoreError> {
    let (send, wait) = channel();
    store.append(log, Bytes::from(update.to_owned()), Box::new(move |result| send.send(result).unwrap()));
    wait.recv_timeout(Duration::from_secs(10)).expect("every append is answered")
}

/// For these tests an update is text, and merging is joining.
fn merge(updates: &[Bytes]) -> Result<Vec<u8>, String> {
    Ok(updates.concat())
}

fn text(store: &dyn Store, of: &RoomName) -> String {
    String::from_utf8(store.load(of).unwrap().updates.concat()).unwrap()
}

fn conformance(store: &dyn Store) {
    order_and_separation(store);
    compaction(store);
    poison(store);
    listing(store);
    versions(store);
    removal(store);
    store.probe().unwrap();
    store.close();
    let log = Log::new(name("late"), 0);
    assert!(append(store, &log, "x").is_err(), "a closed store takes nothing");
}

fn order_and_separation(store: &dyn Store) {
    let (a, b) = (name("order/a"), name("order/b"));
    let (log_a, log_b) = (store.load(&a).unwrap().log, store.load(&b).unwrap().log);
    for i in 0..20 {
        append(store, &log_a, &format!("{i},")).unwrap();
        append(store, &log_b, "b").unwrap();
    }
    let want: String = (0..20).map(|i| format!("{i},")).collect();
    assert_eq!(text(store, &a), want, "S2");
    assert_eq!(text(store, &b), "b".repeat(20), "S2");
    assert_eq!(text(store, &name("never written")), "");
    // A second log, as after a reload, goes on where the first ended.
    let again = store.load(&a).unwrap().log;
    append(store, &again, "end").unwrap();
    assert_eq!(text(store, &a), want + "end");
}

fn compaction(store: &dyn Store) {
    let doc = name("compact");
    assert_eq!(store.compact(&doc, &merge).unwrap(), Compaction::Nothing);
    let log = store.load(&doc).unwrap().log;
    for _ in 0..10 {
        append(store, &log, "x").unwrap();
    }
    // S4: what comes while the merge runs stays behind the snapshot.
    let during = |updates: &[Bytes]| {
        append(store, &log, "late").unwrap();
        merge(updates)
    };
    assert_eq!(store.compact(&doc, &during).unwrap(), Compaction::Done(10));
    let info = store.info(&doc).unwrap().unwrap();
    assert_eq!((info.snapshot_bytes, info.log_updates, info.log_bytes), (10, 1, 4));
    assert_eq!(text(store, &doc), "x".repeat(10) + "late");
    // Of two at once the second is overtaken.
    let other = |updates: &[Bytes]| {
        assert_eq!(store.compact(&doc, &merge).unwrap(), Compaction::Done(1));
        merge(updates)
    };
    assert_eq!(store.compact(&doc, &other).unwrap(), Compaction::Overtaken);
    assert_eq!(text(store, &doc), "x".repeat(10) + "late");
    // A merge that fails changes nothing.
    append(store, &log, "more").unwrap();
    let before = store.info(&doc).unwrap();
    assert!(store.compact(&doc, &|_| Err("no".to_owned())).is_err());
    assert_eq!(store.info(&doc).unwrap(), before);
    // More than one part.
    let big = "y".repeat(3 << 20);
    append(store, &log, &big).unwrap();
    assert_eq!(store.compact(&doc, &merge).unwrap(), Compaction::Done(2));
    assert_eq!(text(store, &doc), "x".repeat(10) + "latemore" + &big);
    assert_eq!(store.compact(&doc, &merge).unwrap(), Compaction::Nothing);
}

fn poison(store: &dyn Store) {
    let doc = name("poison");
    let log = store.load(&doc).unwrap().log;
    append(store, &log, "kept").unwrap();
    log.poison();
    assert!(matches!(append(store, &log, "behind a hole"), Err(StoreError::Poisoned)), "S3");
    assert_eq!(text(store, &doc), "kept");
    let log = store.load(&doc).unwrap().log;
    append(store, &log, ", more").unwrap();
    assert_eq!(text(store, &doc), "kept, more");
}

fn listing(store: &dyn Store) {
    for i in 0..5 {
        let log = store.load(&name(&format!("list/{i}"))).unwrap().log;
        append(store, &log, "x").unwrap();
    }
    let names = |after, limit| -> Vec<String> {
        store.list(after, limit).unwrap().into_iter().map(|info| info.name).collect()
    };
    assert_eq!(names(Some("list/"), 3), ["list/0", "list/1", "list/2"]);
    assert_eq!(names(Some("list/2"), 2), ["list/3", "list/4"]);
    assert_eq!(names(Some("zzz"), 2), [""; 0]);
    assert_eq!(names(None, 1), ["compact"]);
}

fn versions(store: &dyn Store) {
    let doc = name("versions");
    assert!(matches!(store.add_version(&doc, "v", Bytes::new()), Err(StoreError::NotFound)));
    let log = store.load(&doc).unwrap().log;
    append(store, &log, "x").unwrap();
    let big = Bytes::from(vec![7; (1 << 20) + 1]);
    let first = store.add_version(&doc, "first", big.clone()).unwrap();
    let second = store.add_version(&doc, "second", Bytes::from_static(b"2")).unwrap();
    assert_eq!(store.versions(&doc).unwrap(), [first.clone(), second.clone()]);
    assert_eq!(store.version(&doc, first.id).unwrap(), big);
    assert_eq!(store.version(&doc, second.id).unwrap(), "2");
    assert!(matches!(store.version(&doc, second.id + 1), Err(StoreError::NotFound)));
    let log = store.load(&name("versions, other")).unwrap().log;
    append(store, &log, "x").unwrap();
    assert!(matches!(store.version(&name("versions, other"), first.id), Err(StoreError::NotFound)));
}

fn removal(store: &dyn Store) {
    let doc = name("versions");
    assert!(store.remove(&doc).unwrap());
    assert!(!store.remove(&doc).unwrap());
    assert_eq!(text(store, &doc), "");
    assert_eq!(store.versions(&doc).unwrap(), []);
    let log = store.load(&doc).unwrap().log;
    append(store, &log, "new").unwrap();
    assert_eq!(text(store, &doc), "new");
}

#[test]
fn memory_conforms() {
    conformance(&MemoryStore::new());
}

#[test]
fn sqlite_conforms() {
    let folder = tempfile::tempdir().unwrap();
    conformance(&SqliteStore::open(folder.path(), Durability::Full).unwrap());
}

#[test]
fn sqlite_with_a_commit_window_conforms() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path(), Durability::Full).unwrap();
    store.set_commit_window(Duration::from_millis(5));
    conformance(&store);
}

#[test]
fn relaxed_sqlite_conforms() {
    let folder = tempfile::tempdir().unwrap();
    conformance(&SqliteStore::open(folder.path(), Durability::Relaxed).unwrap());
}

#[test]
fn faulty_conforms_while_nothing_fails() {
    conformance(&FaultyStore::new(Arc::new(MemoryStore::new())));
}

#[test]
fn faults_are_errors() {
    let store = FaultyStore::new(Arc::new(MemoryStore::new()));
    let faults = store.faults();
    let doc = name("a");
    let log = store.load(&doc).unwrap().log;
    append(&store, &log, "1").unwrap();
    faults.load.store(true, Ordering::SeqCst);
    assert!(store.load(&doc).is_err(), "S5");
    faults.load.store(false, Ordering::SeqCst);
    faults.append.store(true, Ordering::SeqCst);
    assert!(append(&store, &log, "2").is_err());
    faults.append.store(false, Ordering::SeqCst);
    assert!(append(&store, &log, "3").is_err(), "S3");
    assert_eq!(text(&store, &doc), "1");
}

fn open(folder: &Path) -> Result<SqliteStore, StoreError> {
    SqliteStore::open(folder, Durability::Full)
}

#[test]
fn sqlite_finds_everything_again() {
    let folder = tempfile::tempdir().unwrap();
    let doc = name("日本 / ..");
    {
        let store = open(folder.path()).unwrap();
        let log = store.load(&doc).unwrap().log;
        append(&store, &log, "a").unwrap();
        store.compact(&doc, &merge).unwrap();
        append(&store, &log, "b").unwrap();
        append(&store, &log, "c").unwrap();
    }
    let store = open(folder.path()).unwrap();
    assert_eq!(text(&store, &doc), "abc");
    assert_eq!(store.info(&doc).unwrap().unwrap().log_updates, 2);
}

#[test]
fn one_server_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let first = open(folder.path()).unwrap();
    assert!(open(folder.path()).is_err_and(|error| error.to_string().contains("another server")));
    drop(first);
    open(folder.path()).unwrap();
}

#[test]
fn files_of_others_and_of_later_versions_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("yatta.db");
    drop(open(folder.path()).unwrap());
    let db = rusqlite::Connection::open(&path).unwrap();
    db.pragma_update(None, "user_version", 2).unwrap();
    assert!(open(folder.path()).is_err_and(|error| error.to_string().contains("schema version 2")));
    db.pragma_update(None, "user_version", 1).unwrap();
    open(folder.path()).unwrap();
    db.pragma_update(None, "application_id", 5).unwrap();
    assert!(open(folder.path()).is_err_and(|error| error.to_string().contains("another program")));
}

/// No room: appends fail, what was stored stays, also when the process ends then; with room it goes on.
#[test]
fn a_full_file_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let doc = name("a");
    let mut stored = 0;
    {
        let store = SqliteStore::open_bounded(folder.path(), Durability::Full, Some(200_000)).unwrap();
        let mut log = store.load(&doc).unwrap().log;
        let mut failures = 0;
        while failures < 5 {
            match append(&store, &log, &"x".repeat(1000)) {
                Ok(()) => stored += 1,
                Err(error) => {
                    assert!(
                        error.to_string().contains("full") || matches!(error, StoreError::Poisoned),
                        "{error}"
                    );
                    failures += 1;
                    log = store.load(&doc).unwrap().log;
                }
            }
        }
        assert!(stored > 50, "{stored}");
        assert!(store.probe().is_err() || append(&store, &log, &"x".repeat(10_000)).is_err());
        assert_eq!(text(&store, &doc).len(), stored * 1000);
        // The snapshot does not fit either: the document is as it was.
        assert!(store.compact(&doc, &|updates| Ok(updates.concat().repeat(2))).is_err());
        assert_eq!(text(&store, &doc).len(), stored * 1000);
    }
    let store = open(folder.path()).unwrap();
    assert_eq!(text(&store, &doc).len(), stored * 1000);
    let log = store.load(&doc).unwrap().log;
    append(&store, &log, "more").unwrap();
    assert!(text(&store, &doc).ends_with("xmore"));
}

/// A torn or overwritten file is an error at open or load (S5), never an empty document.
#[test]
fn damaged_files_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("yatta.db");
    let doc = name("a");
    {
        let store = open(folder.path()).unwrap();
        let log = store.load(&doc).unwrap().log;
        for _ in 0..50 {
            append(&store, &log, &"x".repeat(1000)).unwrap();
        }
    }
    let good = std::fs::read(&path).unwrap();
    let mut refused = 0;
    for cut in [good.len() / 4, good.len() / 2, good.len() - 100] {
        for keep_length in [false, true] {
            let mut bad = good[..cut].to_vec();
            if keep_length {
                bad.resize(good.len(), 0xee);
            }
            std::fs::write(&path, &bad).unwrap();
            let text = open(folder.path()).and_then(|store| Ok(store.load(&doc)?.updates.concat()));
            match text {
                Err(_) => refused += 1,
                Ok(text) => assert_eq!(text.len(), 50_000, "cut at {cut}: part of a document"),
            }
        }
    }
    assert!(refused >= 4, "{refused}");
    std::fs::write(&path, &good).unwrap();
    assert_eq!(text(&open(folder.path()).unwrap(), &doc).len(), 50_000);
}
