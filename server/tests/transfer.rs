//! Documents from the stores of other servers, written by the real packages (`data/import/make.mjs`).

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use yatta::updates::decoder::Decode;
use yatta::{Doc, GetString, Map, ReadTxn, Transact, Update};
use yatta_server::name::RoomName;
use yatta_server::store::sqlite::SqliteStore;
use yatta_server::store::{Durability, Store};
use yatta_server::transfer::{Outcome, Source, export, export_all, import};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/import").join(name)
}

fn all(store: &dyn Store, source: Source, path: &Path, merge: bool) -> BTreeMap<String, Outcome> {
    let mut told = BTreeMap::new();
    import(store, source, path, merge, |name, outcome| {
        assert!(told.insert(name.to_owned(), outcome).is_none(), "{name} is told of once");
    })
    .unwrap();
    told
}

fn document(store: &dyn Store, name: &str) -> Doc {
    let update = export(store, &RoomName::new(name).unwrap()).unwrap();
    let doc = Doc::new();
    doc.transact_mut().apply_update(Update::decode_v1(&update).unwrap()).unwrap();
    doc
}

fn text(doc: &Doc) -> String {
    doc.get_or_insert_text("text").get_string(&doc.transact())
}

fn open(folder: &Path) -> SqliteStore {
    SqliteStore::open(folder, Durability::Full).unwrap()
}

#[test]
fn from_hocuspocus() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let told = all(&store, Source::Hocuspocus, &data("hocuspocus.sqlite"), false);
    assert_eq!(told.keys().collect::<Vec<_>>(), ["one", "team/two é"]);
    assert!(told.values().all(|outcome| matches!(outcome, Outcome::Imported(_))), "{told:?}");
    assert_eq!(text(&document(&store, "one")), "hello from hocuspocus");
    assert_eq!(text(&document(&store, "team/two é")), "zwei ".repeat(2000));
    // Once more: nothing is done, unless it is asked for, and then nothing is doubled.
    let told = all(&store, Source::Hocuspocus, &data("hocuspocus.sqlite"), false);
    assert!(told.values().all(|outcome| *outcome == Outcome::Exists), "{told:?}");
    all(&store, Source::Hocuspocus, &data("hocuspocus.sqlite"), true);
    assert_eq!(text(&document(&store, "one")), "hello from hocuspocus");
}

#[test]
fn from_y_leveldb() {
    let folder = tempfile::tempdir().unwrap();
    let files = |path: &Path| -> BTreeMap<PathBuf, Vec<u8>> {
        let paths = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
        paths.map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
    };
    let before = files(&data("y-leveldb"));
    let store = open(folder.path());
    let told = all(&store, Source::YLeveldb, &data("y-leveldb"), false);
    assert_eq!(told.keys().collect::<Vec<_>>(), ["gap", "long", "team/two é"]);
    assert!(told.values().all(|outcome| matches!(outcome, Outcome::Imported(_))), "{told:?}");
    assert!(files(&data("y-leveldb")) == before, "the source is not touched");
    let long: String = (0..600).rev().map(|i| format!("{i} ")).collect();
    assert_eq!(text(&document(&store, "long")), long);
    let two = document(&store, "team/two é");
    let map = two.get_or_insert_map("map");
    assert_eq!(map.get(&two.transact(), "key 2").unwrap().to_string(&two.transact()), "ééé");
    // What waits for an update that is not there still waits.
    let gap = document(&store, "gap");
    assert_eq!(text(&gap), "a");
    assert!(gap.transact().has_missing_updates());
}

#[test]
fn out_to_a_folder_and_back() {
    let (from, files, to) =
        (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let store = open(from.path());
    all(&store, Source::YLeveldb, &data("y-leveldb"), false);
    let target = files.path().join("all");
    assert_eq!(export_all(&store, &target).unwrap(), (3, vec![]));
    // A document as many updates, one that is none, one with a bad name, and a file that has nothing to do with it.
    let parts = target.join("parts");
    std::fs::create_dir(&parts).unwrap();
    std::fs::rename(target.join("long.bin"), parts.join("1.bin")).unwrap();
    std::fs::copy(target.join("gap.bin"), parts.join("2.bin")).unwrap();
    std::fs::write(target.join("broken.bin"), [1, 2, 3]).unwrap();
    std::fs::write(target.join("a%00b.bin"), [0, 0]).unwrap();
    std::fs::write(target.join("readme.txt"), "no update").unwrap();
    let other = open(to.path());
    let told = all(&other, Source::Folder, &target, false);
    assert_eq!(told.keys().collect::<Vec<_>>(), ["a\0b", "broken", "gap", "parts", "team/two é"]);
    assert!(matches!(told["broken"], Outcome::Refused(_)) && matches!(told["a\0b"], Outcome::Refused(_)));
    for name in ["gap", "team/two é"] {
        let name = RoomName::new(name).unwrap();
        assert_eq!(export(&other, &name).unwrap(), export(&store, &name).unwrap());
    }
    assert!(text(&document(&other, "parts")).contains("599 598 597 "));
    assert!(export(&other, &RoomName::new("broken").unwrap()).is_err());
}

#[test]
fn what_is_no_source_is_said_so() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let nothing = folder.path().join("nothing");
    for source in [Source::Hocuspocus, Source::YLeveldb, Source::Folder] {
        let error = import(&store, source, &nothing, false, |_, _| ()).unwrap_err().to_string();
        assert!(error.contains("nothing"), "{error}");
    }
    assert!(!nothing.exists());
    // Damaged files are an error, not a part of the documents and not a panic.
    let damaged = folder.path().join("damaged");
    std::fs::create_dir(&damaged).unwrap();
    for entry in std::fs::read_dir(data("y-leveldb")).unwrap() {
        let entry = entry.unwrap();
        let mut bytes = std::fs::read(entry.path()).unwrap();
        if entry.path().extension().is_some_and(|extension| extension == "ldb") {
            bytes.truncate(6000);
        }
        std::fs::write(damaged.join(entry.file_name()), bytes).unwrap();
    }
    assert!(import(&store, Source::YLeveldb, &damaged, false, |_, _| ()).is_err());
}
