//! Clients on @y/y 14 (a release candidate) whose documents we relay, store, merge and cut: no error, nothing lost.
//!
//! Its types are all of one kind, with children and attributes at once, which no type of Yjs 13 is. A document here must
//! carry them all the same: equal state vectors, structs and deletions, and every update comes back in its own bytes.
//! YATTA_SEED=n runs one script, YATTA_SCRIPTS=n more.

mod common;

use common::Host;
use common::json::{Json, hex, unhex};
use common::seeds;
use common::wire;
use common::yjs::Yjs;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg32;
use yatta::updates::decoder::Decode;
use yatta::updates::encoder::Encode;
use yatta::{Doc, ReadTxn, StateVector, Transact, Update};

const CLIENTS: [u64; 3] = [300, 7, 4_000_000_000];
const STEPS: usize = 40;

fn ask<const N: usize>(host: &mut Yjs, entries: [(&str, Json); N]) -> Json {
    let request = Json::object(entries);
    let reply = host.call(&request);
    assert_eq!(reply.get("ok").as_bool(), Some(true), "{request} gave {reply}");
    reply
}

fn bytes(json: &Json) -> Vec<u8> {
    unhex(json.as_str().expect("hex")).expect("hex")
}

fn name(client: usize) -> Json {
    format!("c{client}").into()
}

/// An update as it was emitted: read and written again it is the same, in both formats.
fn relayed(event: &Json) -> (Vec<u8>, Vec<u8>) {
    let (v1, v2) = (bytes(event.get("v1")), bytes(event.get("v2")));
    let read = |update: Result<Update, _>| update.unwrap_or_else(|error| panic!("{error}: {event}"));
    assert_eq!(hex(&read(Update::decode_v1(&v1)).encode_v1()), hex(&v1), "V1 comes back");
    assert_eq!(hex(&read(Update::decode_v2(&v2)).encode_v2()), hex(&v2), "V2 comes back");
    (v1, v2)
}

fn apply(doc: &Doc, update: &[u8], v2: bool) {
    let update = if v2 { Update::decode_v2(update) } else { Update::decode_v1(update) };
    let update = update.expect("an update of @y/y 14 reads");
    doc.transact_mut_with("remote").apply_update(update).expect("an update of @y/y 14 applies");
    doc.check();
}

/// Structs and deletions of a state, however they are cut.
fn content(state: &[u8]) -> (Vec<wire::Struct>, wire::Deletes) {
    let update = wire::decode(state).expect("a state reads");
    (wire::squashed(&update.structs), wire::sorted(update.deletes))
}

fn script(host: &mut Yjs, seed: u64) {
    let mut rng = Pcg32::seed_from_u64(seed);
    let server = Doc::with_client_id(1);
    let mut stored: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
    for (client, id) in CLIENTS.iter().enumerate() {
        ask(host, [("op", "new".into()), ("doc", name(client)), ("clientID", Json::Number(*id as f64))]);
    }
    for _ in 0..STEPS {
        let client = rng.random_range(0..CLIENTS.len());
        if rng.random_bool(0.6) {
            let seed = Json::from(rng.random_range(0..u32::MAX));
            let reply = ask(host, [("op", "edit".into()), ("doc", name(client)), ("seed", seed)]);
            for event in reply.get("ev").items() {
                let update = relayed(event);
                // some come late, so that the document here has gaps meanwhile
                if rng.random_bool(0.7) {
                    let v2 = rng.random_bool(0.5);
                    apply(&server, if v2 { &update.1 } else { &update.0 }, v2);
                }
                stored.push(update);
            }
        } else {
            let sv = bytes(ask(host, [("op", "sv".into()), ("doc", name(client))]).get("r"));
            let update = if rng.random_bool(0.5) && stored.len() > 1 {
                let merged = yatta::merge_updates_v1(stored.iter().map(|(v1, _)| v1)).expect("they merge");
                yatta::diff_updates_v1(&merged, &sv).expect("it can be cut")
            } else {
                let state = StateVector::decode_v1(&sv).expect("a state vector reads");
                server.transact().encode_state_as_update_v1(&state)
            };
            stored.extend(deliver(host, client, &update, 1));
        }
    }
    settle(host, &server, stored);
}

/// Gives a client an update. Returns what it has to say to that: a clean-up of formats is an update of its own.
fn deliver(host: &mut Yjs, client: usize, update: &[u8], enc: u32) -> Vec<(Vec<u8>, Vec<u8>)> {
    let request =
        [("op", "apply".into()), ("doc", name(client)), ("update", hex(update).into()), ("enc", enc.into())];
    ask(host, request).get("ev").items().iter().skip(1).map(relayed).collect()
}

/// Everything stored goes to everybody, merged, in both formats, until nobody has anything to add; then all are equal.
fn settle(host: &mut Yjs, server: &Doc, mut stored: Vec<(Vec<u8>, Vec<u8>)>) {
    if stored.is_empty() {
        return;
    }
    let all = StateVector::default();
    for _ in 0..8 {
        let v2 = yatta::merge_updates_v2(stored.iter().map(|(_, v2)| v2)).expect("they merge");
        apply(server, &v2, true);
        let before = stored.len();
        for client in 0..CLIENTS.len() {
            stored.extend(deliver(host, client, &server.transact().encode_state_as_update_v1(&all), 1));
            stored.extend(deliver(host, client, &server.transact().encode_state_as_update_v2(&all), 2));
        }
        if stored.len() == before {
            break;
        }
    }
    assert!(!server.transact().has_missing_updates(), "all has come, so nothing waits");
    let v1 = yatta::merge_updates_v1(stored.iter().map(|(v1, _)| v1)).expect("they merge");
    let fresh = Doc::with_client_id(2);
    apply(&fresh, &v1, false);
    let ours = server.transact().encode_state_as_update_v1(&all);
    assert_eq!(
        content(&fresh.transact().encode_state_as_update_v1(&all)),
        content(&ours),
        "stored and relayed"
    );
    let sv = hex(&server.transact().state_vector().encode_v1());
    let mut values = Vec::new();
    for client in 0..CLIENTS.len() {
        let theirs = ask(host, [("op", "sv".into()), ("doc", name(client))]);
        assert_eq!(theirs.get("r").as_str(), Some(&*sv), "state vector of client {client}");
        let state =
            bytes(ask(host, [("op", "encode".into()), ("doc", name(client)), ("enc", 1.into())]).get("r"));
        assert_eq!(content(&state), content(&ours), "content of client {client}");
        values.push(ask(host, [("op", "json".into()), ("doc", name(client))]).get("r").clone());
    }
    assert!(values.iter().all(|value| *value == values[0]), "{values:?}");
    for client in 0..CLIENTS.len() {
        ask(host, [("op", "free".into()), ("doc", name(client))]);
    }
}

#[test]
fn clients_on_14_lose_nothing() {
    let Some(mut host) = Yjs::start_14() else { return };
    seeds::for_each("clients_on_14_lose_nothing", 60, |seed| script(&mut host, seed));
}
