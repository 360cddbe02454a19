//! Versions of a document: snapshots cost a few bytes each, and any of them can be read. `cargo run --example history`

use yatta::types::text::YChange;
use yatta::updates::decoder::Decode;
use yatta::updates::encoder::Encode;
use yatta::{Doc, GetString, Options, ReadTxn, Snapshot, Text, Transact};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // History needs what was deleted: it must not be collected.
    let doc = Doc::with_options(Options { skip_gc: true, ..Options::default() });
    let text = doc.get_or_insert_text("article");
    let mut versions: Vec<Vec<u8>> = Vec::new();
    let mut save = || versions.push(doc.transact().snapshot().encode_v1());

    text.insert(&mut doc.transact_mut(), 0, "A first draft");
    save();
    text.remove_range(&mut doc.transact_mut(), 2, 5);
    text.insert(&mut doc.transact_mut(), 2, "second");
    save();
    text.push(&mut doc.transact_mut(), ", nearly done");
    save();

    let mut read = Vec::new();
    for version in &versions {
        let snapshot = Snapshot::decode_v1(version)?;
        let old = snapshot.create_doc(&doc.transact())?;
        read.push(old.get_or_insert_text("article").get_string(&old.transact()));
        assert!(version.len() < 20);
    }
    assert_eq!(read, ["A first draft", "A second draft", "A second draft, nearly done"]);

    // What changed between two versions, and by whom.
    let (first, second) = (Snapshot::decode_v1(&versions[0])?, Snapshot::decode_v1(&versions[1])?);
    let runs = text.diff_range(&mut doc.transact_mut(), Some(&second), Some(&first), YChange::identity);
    let mut shown = String::new();
    for run in runs {
        let words = run.insert.to_string(&doc.transact());
        shown += &match run.ychange.map(|change| change.kind) {
            None => words,
            Some(yatta::types::text::ChangeKind::Added) => format!("[+{words}]"),
            Some(yatta::types::text::ChangeKind::Removed) => format!("[-{words}]"),
        };
    }
    assert_eq!(shown, "A [-first][+second] draft");
    println!("{shown}");
    Ok(())
}
