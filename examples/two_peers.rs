//! Two peers edit the same document at the same time and end with the same text. `cargo run --example two_peers`

use yatta::updates::decoder::Decode;
use yatta::{Array, Doc, GetString, Map, MapPrelim, ReadTxn, StateVector, Text, ToJson, Transact, Update};

/// Sends to `to` what it lacks of `from`. On a network the state vector goes one way and the update the other.
fn send(from: &Doc, to: &Doc) -> Result<(), Box<dyn std::error::Error>> {
    let known: StateVector = to.transact().state_vector();
    let update = from.transact().encode_state_as_update_v1(&known);
    to.transact_mut().apply_update(Update::decode_v1(&update)?)?;
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (alice, bob) = (Doc::new(), Doc::new());
    // Both name the same roots. That makes nothing that would have to be synced.
    let (title, copy) = (alice.get_or_insert_text("title"), bob.get_or_insert_text("title"));
    title.insert(&mut alice.transact_mut(), 0, "Hello world");
    send(&alice, &bob)?;

    // Now both type, apart from each other.
    title.insert(&mut alice.transact_mut(), 5, ",");
    let end = copy.len(&bob.transact());
    copy.insert(&mut bob.transact_mut(), end, "!");
    send(&alice, &bob)?;
    send(&bob, &alice)?;
    assert_eq!(title.get_string(&alice.transact()), "Hello, world!");
    assert_eq!(copy.get_string(&bob.transact()), "Hello, world!");

    // Lists and maps nest; what is inserted comes back as a handle.
    let (tasks, theirs) = (alice.get_or_insert_array("tasks"), bob.get_or_insert_array("tasks"));
    let task =
        tasks.push_back(&mut alice.transact_mut(), MapPrelim::from([("title", "write"), ("state", "open")]));
    send(&alice, &bob)?;
    task.insert(&mut alice.transact_mut(), "state", "done");
    theirs.push_back(&mut bob.transact_mut(), "a plain value");
    send(&alice, &bob)?;
    send(&bob, &alice)?;
    let both = tasks.to_json(&alice.transact());
    assert_eq!(both, theirs.to_json(&bob.transact()));
    assert_eq!(both, yatta::any!([{ "title": "write", "state": "done" }, "a plain value"]));

    // Nothing is left to send but the delete set, which is always sent whole.
    let known = bob.transact().state_vector();
    let rest = Update::decode_v1(&alice.transact().encode_diff_v1(&known))?;
    assert!(!rest.extends(&known));
    println!("{both}");
    Ok(())
}
