//! Who is here, and where is their cursor? `cargo run --example awareness`

use std::sync::mpsc;

use serde::{Deserialize, Serialize};
use yatta::sync::Awareness;
use yatta::sync::awareness::{AwarenessUpdate, OUTDATED_TIMEOUT};
use yatta::updates::decoder::Decode;
use yatta::updates::encoder::Encode;
use yatta::{Assoc, Doc, IndexedSequence, StickyIndex, Text, Transact};

#[derive(Serialize, Deserialize, Debug, PartialEq)]
struct Presence {
    name: String,
    /// Sticks to its place while others type.
    cursor: Option<StickyIndex>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let doc = Doc::new();
    let text = doc.get_or_insert_text("article");
    text.insert(&mut doc.transact_mut(), 0, "some words");
    let mut alice = Awareness::new(doc.clone());
    // The time is passed in, so that tests need not wait. (`Awareness::new` takes the system's.)
    let mut bob = Awareness::with_clock(Doc::new(), || 1_000);

    // Bob hears of everybody who comes, changes or goes.
    let (sender, heard) = mpsc::channel();
    bob.on_change("list", move |_, event, _| {
        sender.send((event.added().to_vec(), event.removed().to_vec())).expect("the receiver is there");
    });

    let cursor = text.sticky_index(&doc.transact(), 5, Assoc::After);
    alice.set_local_state(Presence { name: "Alice".to_owned(), cursor })?;
    // On the wire: bytes, also for y-websocket and y-webrtc.
    let message = alice.update()?.encode_v1();
    bob.apply_update(AwarenessUpdate::decode_v1(&message)?)?;
    assert_eq!(heard.recv()?, (vec![alice.client_id()], vec![]));

    let presence: Presence = bob.state(alice.client_id()).ok_or("Alice is here")?;
    assert_eq!(presence.name, "Alice");

    // The cursor stays before "words", whatever comes before it.
    text.insert(&mut doc.transact_mut(), 0, "Only ");
    let offset =
        presence.cursor.and_then(|cursor| cursor.get_offset(&doc.transact())).ok_or("it is there")?;
    assert_eq!(offset.index, 10);

    // A peer that says nothing for 30 seconds is gone.
    assert!(bob.check_timeouts(1_000 + OUTDATED_TIMEOUT - 1).is_none());
    bob.check_timeouts(1_000 + OUTDATED_TIMEOUT).ok_or("Alice was silent for too long")?;
    assert_eq!(heard.recv()?, (vec![], vec![alice.client_id()]));
    assert!(bob.state::<Presence>(alice.client_id()).is_none());
    println!("{presence_name} came and went", presence_name = presence.name);
    Ok(())
}
