//! The cases of testdata/cases that are sentences about a server, each under its name. The others stand where their matter
//! is tested; tests/cases.rs of the root says where.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use common::{Client, Raw, eventually, server, server_on, server_with};
use yatta::Doc;
use yatta_server::auth::Open;
use yatta_server::limits::{GatherLimits, Limits};
use yatta_server::name::RoomName;
use yatta_server::room::Receipt;
use yatta_server::room::document::Document;
use yatta_server::room::outbox::{Outbox, Progress};
use yatta_server::store::faulty::FaultyStore;
use yatta_server::store::memory::MemoryStore;
use yatta_server::store::{Durability, Store, sqlite::SqliteStore};
use yatta_server::wire::presence::{Entry, write};
use yatta_server::wire::{self, Message};

fn presence(client: u64, state: &str) -> Bytes {
    wire::awareness(&[], &write([Entry { client, clock: 1, state }].into_iter()))
}

/// A document that is loaded again and again without an edit is not written to.
#[tokio::test(flavor = "multi_thread")]
async fn srv_008_loading_writes_nothing() {
    let store = Arc::new(FaultyStore::new(Arc::new(MemoryStore::new())));
    let limits = Limits { idle_room: Duration::ZERO, ..Limits::default() };
    let server = server_with(limits, Arc::clone(&store) as Arc<dyn Store>, Arc::new(Open)).await;
    let mut first = Client::join(&server, "room").await;
    first.type_text("written once").await;
    eventually("it is written", || store.faults().appends.load(Ordering::SeqCst) == 1).await;
    drop(first);
    for _ in 0..10 {
        eventually("the room is unloaded", || server.rooms().list().is_empty()).await;
        let client = Client::join(&server, "room").await;
        assert_eq!(client.text(), "written once");
    }
    server.stop().await;
    assert!(store.faults().loads.load(Ordering::SeqCst) > 10, "each visit loads");
    assert_eq!(store.faults().appends.load(Ordering::SeqCst), 1, "and none writes");
}

/// An update of a megabyte is stored and found again, and so is what is typed behind it.
#[tokio::test(flavor = "multi_thread")]
async fn srv_009_a_large_update_is_stored() {
    let folder = tempfile::tempdir().unwrap();
    let open = || Arc::new(SqliteStore::open(folder.path(), Durability::Full).unwrap()) as Arc<dyn Store>;
    let large = "0123456789abcdef".repeat(1 << 16);
    let server = server_on(open()).await;
    let mut client = Client::join(&server, "room").await;
    for text in [&large[..], " and more"] {
        client.type_text(text).await;
        // the echo says that it is stored
        while !matches!(wire::read(&client.raw.frame().await).unwrap(), Message::Update(_)) {}
    }
    drop(client);
    server.stop().await;
    let server = server_on(open()).await;
    let client = Client::join(&server, "room").await;
    assert_eq!(client.text(), large + " and more");
    server.stop().await;
}

/// Names are names, not paths: what looks like one leads to a document of its own, and nothing else.
#[tokio::test(flavor = "multi_thread")]
async fn srv_014_names_of_rooms_are_names() {
    let server = server().await;
    for path in ["a/b", "a%20b", "%C3%A9", "%252e%252e", "room/", "room"] {
        let mut client = Client::join(&server, path).await;
        assert_eq!(client.text(), "", "{path} is a document of its own");
        client.type_text(path).await;
        eventually("it is known by its name", || {
            let name = RoomName::from_path(path).unwrap();
            server.rooms().list().iter().any(|room| room.name.as_str() == name.as_str())
        })
        .await;
    }
    assert_eq!(server.rooms().list().len(), 6);
    for path in ["%00", &"x".repeat(300)] {
        let mut client = Raw::connect(&server, path).await;
        client.send(&[0, 0, 1, 0][..]).await;
        assert_eq!(client.close_code().await, 4400, "{path}");
    }
    server.stop().await;
}

/// A version is there after a restart, though what it holds was deleted and collected since.
#[tokio::test(flavor = "multi_thread")]
async fn srv_017_versions_outlive_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let open = || SqliteStore::open(folder.path(), Durability::Full).unwrap();
    let name = RoomName::new("room").unwrap();
    let id = {
        let store = open();
        let log = store.load(&name).unwrap().log;
        let (done, written) = std::sync::mpsc::channel();
        store.append(&log, Bytes::from_static(&[0, 0]), Box::new(move |result| done.send(result).unwrap()));
        written.recv().unwrap().unwrap();
        let version = store.add_version(&name, "before", Bytes::from_static(b"the old state")).unwrap();
        store.compact(&name, &|_| Ok(vec![0, 0])).unwrap();
        version.id
    };
    let store = open();
    assert_eq!(store.versions(&name).unwrap().len(), 1);
    assert_eq!(store.version(&name, id).unwrap(), "the old state");
}

/// A question for presence is answered; messages of unknown types are passed over; an empty frame ends its sender only.
#[tokio::test(flavor = "multi_thread")]
async fn sync_008_messages_of_other_types() {
    let server = server().await;
    let mut client = Raw::connect(&server, "room").await;
    client.send(&[0, 0, 1, 0][..]).await;
    client.frame().await;
    client.frame().await;
    client.send(presence(5, "{}")).await;
    assert_eq!(client.frame().await, presence(5, "{}"));
    client.send(&[9, 3, 1, 2, 3][..]).await;
    client.send(&[3][..]).await;
    assert_eq!(client.frame().await, presence(5, "{}"), "it is served on");
    let mut other = Raw::connect(&server, "room").await;
    other.send(&[0, 0, 1, 0][..]).await;
    other.send(Bytes::new()).await;
    assert_eq!(other.close_code().await, 4400);
    client.send(&[3][..]).await;
    assert_eq!(client.frame().await, presence(5, "{}"));
    server.stop().await;
}

/// What a client typed comes to each other client once, and makes nobody send a whole document.
#[tokio::test(flavor = "multi_thread")]
async fn sync_009_an_update_comes_once() {
    let server = server().await;
    let mut a = Client::join(&server, "room").await;
    let mut b = Raw::connect(&server, "room").await;
    b.send(&[0, 0, 1, 0][..]).await;
    b.frame().await;
    b.frame().await;
    let update = a.edit("x");
    a.raw.send(wire::update(&[], &update)).await;
    assert_eq!(a.raw.frame().await, wire::update(&[], &update), "the acknowledgement");
    assert_eq!(b.frame().await, wire::update(&[], &update));
    for client in [&mut a.raw, &mut b] {
        assert_eq!(client.next_within(Duration::from_millis(300)).await, None);
    }
    server.stop().await;
}

/// Presence of one room is not seen in another.
#[tokio::test(flavor = "multi_thread")]
async fn aw_011_presence_stays_in_its_room() {
    let server = server().await;
    let mut clients = Vec::new();
    for room in ["one", "two"] {
        let mut client = Raw::connect(&server, room).await;
        client.send(&[0, 0, 1, 0][..]).await;
        client.frame().await;
        client.frame().await;
        clients.push(client);
    }
    clients[0].send(presence(5, r#"{"in":"one"}"#)).await;
    assert_eq!(clients[0].frame().await, presence(5, r#"{"in":"one"}"#));
    assert_eq!(clients[1].next_within(Duration::from_millis(300)).await, None);
    clients[1].send(presence(6, r#"{"in":"two"}"#)).await;
    assert_eq!(clients[1].frame().await, presence(6, r#"{"in":"two"}"#));
    clients[1].send(&[3][..]).await;
    assert_eq!(clients[1].frame().await, presence(6, r#"{"in":"two"}"#), "and nobody else");
    assert_eq!(clients[0].next_within(Duration::from_millis(100)).await, None);
    server.stop().await;
}

/// Who asks gets the answer, alone; a peer that was away since before others wrote and deleted takes nothing away and brings
/// nothing back.
#[tokio::test(flavor = "multi_thread")]
async fn a_stale_peer_deletes_nothing() {
    let server = server().await;
    let mut a = Client::join(&server, "room").await;
    a.type_text("old, deleted later. ").await;
    let mut stale = Client::join(&server, "room").await;
    stale.until("old").await;
    let doc = stale.doc.clone();
    drop(stale.raw);
    let deleted = {
        let text = a.doc.get_or_insert_text("text");
        let mut txn = yatta::Transact::transact_mut(&a.doc);
        yatta::Text::remove_range(&text, &mut txn, 3, 15);
        txn.encode_update_v1()
    };
    a.raw.send(wire::update(&[], &deleted)).await;
    a.type_text("new. ").await;
    let mut b = Client::join(&server, "room").await;
    b.until("new. ").await;
    while b.raw.next_within(Duration::from_millis(100)).await.is_some() {}
    let mut back = Client::join_with(&server, "room", doc).await;
    back.until("new. ").await;
    assert_eq!(back.text(), a.text());
    assert_eq!(b.raw.next_within(Duration::from_millis(300)).await, None, "nobody else hears of its step 2");
    assert_eq!(Client::join(&server, "room").await.text(), a.text());
    server.stop().await;
}

/// A hook that writes right after a document was loaded: it is stored though nobody else was ever there.
#[tokio::test(flavor = "multi_thread")]
async fn srv_005_edits_right_after_loading_are_stored() {
    let store = Arc::new(MemoryStore::new());
    let name = RoomName::new("room").unwrap();
    let write = |text: &str| {
        let doc = Doc::new();
        let root = doc.get_or_insert_text("text");
        let mut txn = yatta::Transact::transact_mut(&doc);
        yatta::Text::insert(&root, &mut txn, 0, text);
        txn.encode_update_v1()
    };
    let log = store.load(&name).unwrap().log;
    store.append(&log, write("before").into(), Box::new(|result| result.unwrap()));
    let limits = Limits { idle_room: Duration::ZERO, ..Limits::default() };
    let server = server_with(limits, Arc::clone(&store) as Arc<dyn Store>, Arc::new(Open)).await;
    let room = server.rooms().enter(&name).await.unwrap();
    room.update(None, &write("by the hook"), Receipt::None).unwrap();
    drop(room);
    eventually("it is unloaded", || server.rooms().list().is_empty()).await;
    let document = Document::load(&store.load(&name).unwrap().updates).unwrap();
    let text = document.doc().get_or_insert_text("text");
    let text = yatta::GetString::get_string(&text, &yatta::Transact::transact(document.doc()));
    assert!(text.contains("before") && text.contains("by the hook"), "{text}");
    server.stop().await;
}

/// One buffer for a message to all, however many they are.
#[tokio::test(flavor = "multi_thread")]
async fn perf_009_a_broadcast_is_one_buffer() {
    let limits = Limits { gather: GatherLimits { window: Duration::ZERO, above: 0 }, ..Limits::default() };
    let server = server_with(limits, Arc::new(MemoryStore::new()), Arc::new(Open)).await;
    let room = server.rooms().enter(&RoomName::new("room").unwrap()).await.unwrap();
    let outboxes: Vec<_> = (0..100).map(|_| Arc::new(Outbox::new(100 << 20))).collect();
    for outbox in &outboxes {
        room.join(outbox, 0, Bytes::new()).unwrap();
    }
    let writer = Doc::new();
    let text = writer.get_or_insert_text("text");
    let mut frames = Vec::new();
    for _ in 0..200 {
        let update = {
            let mut txn = yatta::Transact::transact_mut(&writer);
            // Small ones are copied into the buffer of one write; these are seen as they are.
            yatta::Text::insert(&text, &mut txn, 0, &"x".repeat(2000));
            txn.encode_update_v1()
        };
        room.update(None, &update, Receipt::None).unwrap();
        frames.push(wire::update(&[], &update));
    }
    let sent = |outbox: &Outbox| {
        let mut sent = Vec::new();
        let mut write = |parts: &[std::io::IoSlice<'_>]| {
            // Heads and messages in turn.
            sent.extend(parts.iter().skip(1).step_by(2).map(|part| (part.as_ptr(), part.to_vec())));
            Ok(parts.iter().map(|part| part.len()).sum())
        };
        while !matches!(outbox.write(std::time::Instant::now(), &mut write).1.unwrap(), Progress::Done(_)) {}
        sent
    };
    let first = sent(&outboxes[0]);
    assert!(first.iter().map(|(_, bytes)| bytes).eq(&frames), "all of them, in order");
    for outbox in &outboxes[1..] {
        assert!(sent(outbox) == first, "the same bytes at the same place");
    }
    drop(room);
    server.stop().await;
}

/// What an update frees (somebody else's, which waited for it) comes to its sender in both dialects.
#[tokio::test(flavor = "multi_thread")]
async fn what_an_update_frees_comes_to_its_sender() {
    for addressed in [true, false] {
        let server = server().await;
        let prefix = if addressed { wire::address_prefix("room") } else { Bytes::new() };
        let (mine, other) = (Doc::new(), Doc::new());
        let append = |doc: &Doc, part: &str| {
            let text = doc.get_or_insert_text("text");
            let mut txn = yatta::Transact::transact_mut(doc);
            let end = yatta::Text::len(&text, &txn);
            yatta::Text::insert(&text, &mut txn, end, part);
            txn.encode_update_v1()
        };
        let first = append(&mine, "first ");
        let known = yatta::updates::decoder::Decode::decode_v1(&first).unwrap();
        yatta::Transact::transact_mut(&other).apply_update(known).unwrap();
        let second = append(&other, "second");
        let mut early = Raw::connect(&server, "room").await;
        early.send(&[0, 0, 1, 0][..]).await;
        early.send(wire::update(&[], &second)).await;
        // The greeting, the answer, and the question for what is missing.
        for _ in 0..3 {
            early.frame().await;
        }
        let mut sender = Raw::connect(&server, if addressed { "" } else { "room" }).await;
        if addressed {
            sender.send([&prefix[..], &[2, 0, 0]].concat()).await;
        } else {
            sender.send(&[0, 0, 1, 0][..]).await;
        }
        sender.send(wire::update(&prefix, &first)).await;
        let text = mine.get_or_insert_text("text");
        while yatta::GetString::get_string(&text, &yatta::Transact::transact(&mine)) != "first second" {
            let frame = sender.frame().await;
            let body = if addressed { wire::split_address(&frame).unwrap().1 } else { &frame };
            if let Ok(Message::Update(update)) = wire::read(body) {
                let update = yatta::updates::decoder::Decode::decode_v1(update).unwrap();
                yatta::Transact::transact_mut(&mine).apply_update(update).unwrap();
            }
        }
        server.stop().await;
    }
}

/// However many join, the full state is made once and its bytes are shared.
#[tokio::test(flavor = "multi_thread")]
async fn a_full_state_is_encoded_once() {
    let server = server().await;
    let mut client = Client::join(&server, "room").await;
    client.type_text("some text").await;
    Client::join(&server, "room").await.until("some text").await;
    let room = server.rooms().enter(&RoomName::new("room").unwrap()).await.unwrap();
    let (first, _) = room.step2(&[], &[0]).unwrap();
    let (again, _) = room.step2(&[], &[0]).unwrap();
    assert_eq!(first.as_ptr(), again.as_ptr());
    client.type_text("more").await;
    Client::join(&server, "room").await.until("more").await;
    let (later, _) = room.step2(&[], &[0]).unwrap();
    assert!(later.len() > first.len(), "and made anew after a change");
    drop(room);
    server.stop().await;
}
