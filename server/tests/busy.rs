//! Busy rooms, and peers that ask or hold more than their share.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant, SystemTime};

use common::{Came, Client, Raw, eventually, server_with};
use yatta::updates::encoder::Encode;
use yatta::{Doc, ReadTxn, StateVector, Transact};
use yatta_server::Server;
use yatta_server::auth::{Access, Answer, Auth, Open, Request};
use yatta_server::limits::{GatherLimits, Limits};
use yatta_server::store::faulty::FaultyStore;
use yatta_server::store::memory::MemoryStore;
use yatta_server::store::{Durability, Store, sqlite::SqliteStore};
use yatta_server::wire::presence::{Entry, entries, write};
use yatta_server::wire::{self, Message};

fn gathering(window: u64) -> Limits {
    let gather = GatherLimits { window: Duration::from_millis(window), above: 0 };
    Limits { gather, messages_per_second: 0, ..Limits::default() }
}

async fn on_memory(limits: Limits) -> Server {
    server_with(limits, Arc::new(MemoryStore::new()), Arc::new(Open)).await
}

fn shows(client: u64, clock: u32, state: &str) -> bytes::Bytes {
    wire::awareness(&[], &write([Entry { client, clock, state }].into_iter()))
}

/// What comes within one window goes out as one update and one presence; writers get their own back only as acknowledgement.
#[tokio::test(flavor = "multi_thread")]
async fn a_busy_room_sends_at_once_what_came_within_a_window() {
    let store = Arc::new(FaultyStore::new(Arc::new(MemoryStore::new())));
    let server = server_with(gathering(300), Arc::clone(&store) as Arc<dyn Store>, Arc::new(Open)).await;
    let mut a = Client::join(&server, "room").await;
    let mut b = Client::join(&server, "room").await;
    let mut reader = Client::join(&server, "room").await;
    // The disk takes its time: no acknowledgement comes, whatever is sent.
    store.faults().hold.store(true, Ordering::SeqCst);
    for i in 0..5 {
        a.type_text(&format!("a{i} ")).await;
        b.type_text(&format!("b{i} ")).await;
        a.raw.send(shows(1, i + 1, &format!("\"at {i}\""))).await;
    }
    let begun = Instant::now();
    let (mut updates, mut shown) = (0, Vec::new());
    while begun.elapsed() < Duration::from_millis(900) {
        let Some(Came::Frame(frame)) = reader.raw.next_within(Duration::from_millis(100)).await else {
            continue;
        };
        match wire::read(&frame).unwrap() {
            Message::Update(update) => {
                updates += 1;
                reader.apply(update);
            }
            Message::Awareness(payload) => {
                shown.extend(
                    entries(payload).unwrap().iter().map(|entry| (entry.clock, entry.state.to_owned())),
                );
            }
            other => panic!("{other:?}"),
        }
    }
    assert!((1..=2).contains(&updates), "{updates} updates of ten");
    assert_eq!(shown.last(), Some(&(5, "\"at 4\"".to_owned())));
    assert!(shown.len() <= 2, "{shown:?}");
    for part in ["a0 ", "a4 ", "b0 ", "b4 "] {
        assert!(reader.text().contains(part), "{part}: {}", reader.text());
    }
    // The writers have each other's, and hear nothing of their own before the disk has it.
    for (writer, mark) in [(&mut a, b'a'), (&mut b, b'b')] {
        while let Some(Came::Frame(frame)) = writer.raw.next_within(Duration::from_millis(100)).await {
            if let Message::Update(update) = wire::read(&frame).unwrap() {
                assert!(
                    !update.windows(2).any(|part| part[0] == mark && part[1].is_ascii_digit()),
                    "its own"
                );
                writer.apply(update);
            }
        }
        assert_eq!(writer.text(), reader.text());
    }
    store.release();
    for (writer, mark) in [(&mut a, "a4 "), (&mut b, "b4 ")] {
        loop {
            let frame = writer.raw.frame().await;
            let own = |update: &[u8]| update.windows(3).any(|part| part == mark.as_bytes());
            if matches!(wire::read(&frame).unwrap(), Message::Update(update) if own(update)) {
                break;
            }
        }
    }
    assert!(server.stop().await);
}

/// A peer that is slow in a busy room misses nothing, whether it only reads or writes, too.
#[tokio::test(flavor = "multi_thread")]
async fn a_slow_peer_of_a_busy_room_catches_up() {
    let limits = Limits { outbox_bytes: 20_000, ..gathering(5) };
    let server = on_memory(limits).await;
    let mut writer = Client::join(&server, "room").await;
    let mut other = Client::join(&server, "room").await;
    let mut slow = Client::join(&server, "room").await;
    let text = "x".repeat(30_000);
    for i in 0..300 {
        writer.type_text(&format!("{text}{i};")).await;
        other.type_text(&format!("o{i};")).await;
        if i % 50 == 0 {
            slow.type_text(&format!("s{i};")).await;
        }
        if i % 20 == 19 {
            other.until(&format!("{i};")).await;
            writer.until(&format!("o{i};")).await;
        }
        for client in [&mut writer, &mut other] {
            while let Some(Came::Frame(frame)) = client.raw.next_within(Duration::from_micros(100)).await {
                if let Ok(Message::Update(update)) = wire::read(&frame) {
                    client.apply(update);
                }
            }
        }
    }
    assert!(server.rooms().shared().metrics.catch_ups.get() > 0, "the queue was bounded");
    // The slow one first: it is not read from either before it reads.
    for client in [&mut slow, &mut writer, &mut other] {
        for part in ["x299;", "o299;", "s250;"] {
            client.until(part).await;
        }
    }
    let late = Client::join(&server, "room").await;
    for client in [&writer, &other, &slow] {
        assert!(client.text() == late.text(), "{} of {}", client.text().len(), late.text().len());
    }
    assert!(server.stop().await);
}

/// Who comes and goes within a window sees everything, and is seen to go.
#[tokio::test(flavor = "multi_thread")]
async fn comings_and_goings_within_a_window() {
    let server = on_memory(gathering(100)).await;
    let mut reader = Client::join(&server, "room").await;
    for i in 0..10 {
        let mut visitor = Client::join(&server, "room").await;
        visitor.type_text(&format!("visit {i};")).await;
        visitor.raw.send(shows(100 + i, 1, "{}")).await;
        let mut late = Client::join(&server, "room").await;
        late.until(&format!("visit {i};")).await;
        visitor.raw.socket.close(None).await.unwrap();
    }
    for i in 0..10 {
        reader.until(&format!("visit {i};")).await;
    }
    eventually("all are gone", || server.rooms().list()[0].present == 0).await;
    assert!(server.stop().await);
}

/// The server ends, and starts again on the same folder at once, though somebody does not read.
#[tokio::test(flavor = "multi_thread")]
async fn a_stalled_peer_does_not_hold_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let store = || Arc::new(SqliteStore::open(folder.path(), Durability::Full).unwrap());
    let limits = Limits { messages_per_second: 0, ..Limits::default() };
    let server = server_with(limits.clone(), store(), Arc::new(Open)).await;
    let mut writer = Client::join(&server, "room").await;
    writer.type_text(&"x".repeat(8 << 20)).await;
    writer.type_text("the end").await;
    // More than the buffers of both kernels hold; nothing of it is read.
    let mut stalled = Raw::connect(&server, "room").await;
    for _ in 0..4 {
        stalled.send(&[0, 0, 1, 0][..]).await;
    }
    while !matches!(wire::read(&writer.raw.frame().await), Ok(Message::Update(update)) if update.ends_with(b"the end\0"))
    {
    }
    let begun = Instant::now();
    assert!(server.stop().await);
    let server = server_with(limits, store(), Arc::new(Open)).await;
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(4), "{took:?}");
    let back = Client::join(&server, "room").await;
    assert!(back.text().ends_with("the end"));
    drop(stalled);
    assert!(server.stop().await);
}

/// Admits everybody for a second.
struct Briefly;

impl Auth for Briefly {
    fn authorize<'a>(&'a self, _: Request<'a>) -> Answer<'a> {
        let expires = Some(SystemTime::now() + Duration::from_secs(1));
        Box::pin(std::future::ready(Ok(Access { expires, ..Access::FULL })))
    }
}

/// A token ends for somebody who does not read, too, or reads more slowly than there is to write.
#[tokio::test(flavor = "multi_thread")]
async fn tokens_end_for_slow_readers() {
    let limits = Limits { messages_per_second: 0, ..Limits::default() };
    let server = server_with(limits, Arc::new(MemoryStore::new()), Arc::new(Briefly)).await;
    let mut writer = Client::join(&server, "room").await;
    writer.type_text(&"x".repeat(8 << 20)).await;
    writer.type_text("the end").await;
    writer.until("the end").await;
    let mut stalled = Raw::connect(&server, "room").await;
    for _ in 0..8 {
        stalled.send(&[0, 0, 1, 0][..]).await;
    }
    let begun = Instant::now();
    eventually("all are gone", || server.rooms().list().iter().all(|room| room.peers == 0)).await;
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(4), "{took:?}");
    drop(stalled);
    assert!(server.stop().await);
}

/// Who asks for diffs of a large document again and again is answered ever more slowly; the others are not.
#[tokio::test(flavor = "multi_thread")]
async fn many_diffs_do_not_occupy_a_room() {
    let server = on_memory(Limits { messages_per_second: 0, ..Limits::default() }).await;
    let mut owner = Client::join(&server, "room").await;
    // Many small items, so that a diff takes its time.
    let doc = Doc::new();
    let array = doc.get_or_insert_array("items");
    for i in 0..60_000u32 {
        let place = i / 2;
        yatta::Array::insert(&array, &mut doc.transact_mut(), place, i);
    }
    let state = doc.transact().encode_state_as_update_v1(&StateVector::default());
    owner.raw.send(wire::update(&[], &state)).await;
    owner.type_text("ready").await;
    let mut other = Client::join(&server, "room").await;
    other.until("ready").await;
    // A state that nobody has been in: each answer is worked out anew, and nearly all of the document.
    let mut known = StateVector::default();
    known.set_max(yatta::ClientID::new(1), 1);
    let question = wire::step1(&[], &known.encode_v1());
    let begun = Instant::now();
    (0..5).for_each(|_| drop(doc.transact().encode_state_as_update_v1(&known)));
    let one = begun.elapsed() / 5;
    let mut greedy = Raw::connect(&server, "room").await;
    for _ in 0..2000 {
        greedy.send(question.clone()).await;
    }
    let answers = tokio::spawn(async move {
        let mut answers = 0u32;
        while let Came::Frame(frame) = greedy.next().await {
            answers += u32::from(matches!(wire::read(&frame), Ok(Message::Step2(_))));
        }
        answers
    });
    let begun = Instant::now();
    let mut slowest = Duration::ZERO;
    for i in 0..20 {
        let asked = Instant::now();
        owner.type_text(&format!("{i};")).await;
        other.until(&format!("{i};")).await;
        slowest = slowest.max(asked.elapsed());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let passed = begun.elapsed();
    let peers = server.rooms().list()[0].peers;
    assert!(server.stop().await);
    let answers = answers.await.unwrap();
    println!("{answers} answers in {passed:?}, others waited {slowest:?} at most");
    assert_eq!(peers, 3, "it is served, slowly");
    // A tenth of the time, and some for the first questions and a machine that is busy.
    assert!(one * answers < passed / 2, "{answers} answers of {one:?} in {passed:?}");
}
