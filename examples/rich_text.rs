//! Formatted text as deltas, the form in which editors (Quill and others) speak. `cargo run --example rich_text`

use yatta::types::text::YChange;
use yatta::types::{Attrs, Delta};
use yatta::updates::decoder::Decode;
use yatta::{Any, Doc, In, Observable, OffsetKind, Options, ReadTxn, Text, Transact, Update};

fn bold(on: bool) -> Attrs {
    // `null` ends a format.
    Attrs::from_iter([("bold".into(), if on { Any::from(true) } else { Any::Null })])
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // JavaScript counts UTF-16 units, and so should a document whose indices come from a browser.
    let options = Options { offset_kind: OffsetKind::Utf16, ..Options::default() };
    let doc = Doc::with_options(options.clone());
    let text = doc.get_or_insert_text("note");

    text.apply_delta(
        &mut doc.transact_mut(),
        [
            Delta::Inserted(In::from("Hello "), None),
            Delta::Inserted(In::from("world"), Some(Box::new(bold(true)))),
            Delta::Inserted(In::from(yatta::any!({ "image": "cat.png" })), None),
        ],
    );
    text.format(&mut doc.transact_mut(), 6, 2, bold(false));
    // An insert takes on the format at its place; one with attributes of its own does not.
    text.insert(&mut doc.transact_mut(), 11, "!");

    let runs = text.diff(&doc.transact(), YChange::identity);
    let shown: Vec<String> = runs
        .iter()
        .map(|run| {
            let bold = run.attributes.as_ref().is_some_and(|attributes| attributes.contains_key("bold"));
            format!("{}{}", run.insert.clone().to_string(&doc.transact()), if bold { " (bold)" } else { "" })
        })
        .collect();
    assert_eq!(shown, ["Hello wo", "rld! (bold)", "{image: cat.png}"]);

    // A peer hears of a change as a delta, too.
    let peer = Doc::with_options(options);
    let copy = peer.get_or_insert_text("note");
    let state = doc.transact().encode_state_as_update_v1(&Default::default());
    peer.transact_mut().apply_update(Update::decode_v1(&state)?)?;
    let (sender, deltas) = std::sync::mpsc::channel();
    copy.observe("editor", move |txn, event| {
        sender.send(event.delta(txn).to_vec()).expect("the receiver is there");
    });
    text.remove_range(&mut doc.transact_mut(), 0, 6);
    let update = doc.transact().encode_diff_v1(&peer.transact().state_vector());
    peer.transact_mut().apply_update(Update::decode_v1(&update)?)?;
    assert_eq!(deltas.recv()?, [Delta::Deleted(6)]);
    println!("{shown:?}");
    Ok(())
}
