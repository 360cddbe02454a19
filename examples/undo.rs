//! Undo takes back what one did oneself and leaves what others did. `cargo run --example undo`

use yatta::undo::Options;
use yatta::updates::decoder::Decode;
use yatta::{Doc, GetString, ReadTxn, Text, Transact, UndoManager, Update};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let doc = Doc::new();
    let text = doc.get_or_insert_text("article");
    // Changes within 500 milliseconds of each other make one step; here each is a step of its own.
    let mut undo = UndoManager::with_options(Options { capture_timeout_millis: 0, ..Options::default() });
    undo.expand_scope(&doc, &text);

    text.insert(&mut doc.transact_mut(), 0, "The fox");
    text.insert(&mut doc.transact_mut(), 3, " quick");
    assert_eq!(text.get_string(&doc.transact()), "The quick fox");

    // Somebody else writes too.
    let other = Doc::new();
    let theirs = other.get_or_insert_text("article");
    let state = doc.transact().encode_state_as_update_v1(&Default::default());
    other.transact_mut().apply_update(Update::decode_v1(&state)?)?;
    theirs.push(&mut other.transact_mut(), " jumps");
    let update = other.transact().encode_diff_v1(&doc.transact().state_vector());
    // The origin says that this change is not one's own: only those without an origin are captured.
    doc.transact_mut_with("remote").apply_update(Update::decode_v1(&update)?)?;
    assert_eq!(text.get_string(&doc.transact()), "The quick fox jumps");

    assert!(undo.undo_blocking());
    assert_eq!(text.get_string(&doc.transact()), "The fox jumps");
    assert!(undo.undo_blocking());
    assert_eq!(text.get_string(&doc.transact()), " jumps");
    assert!(!undo.undo_blocking(), "nothing of one's own is left");

    assert!(undo.redo_blocking());
    assert!(undo.redo_blocking());
    assert_eq!(text.get_string(&doc.transact()), "The quick fox jumps");
    println!("{}", text.get_string(&doc.transact()));
    Ok(())
}
