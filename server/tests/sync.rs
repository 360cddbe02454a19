//! The dialect of y-websocket, seen from raw clients.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use common::{Came, Client, Raw, eventually, server, server_on, server_with};
use yatta::Doc;
use yatta_server::Server;
use yatta_server::auth::Open;
use yatta_server::limits::Limits;
use yatta_server::name::RoomName;
use yatta_server::store::faulty::FaultyStore;
use yatta_server::store::memory::MemoryStore;
use yatta_server::store::{Durability, Store, sqlite::SqliteStore};
use yatta_server::wire;
use yatta_server::wire::presence::{Entry, entries, write};

/// The update "hi" of client 1 (see the reference).
const HI: &[u8] = &[0, 2, 0x0c, 1, 1, 1, 0, 4, 1, 1, 0x74, 2, 0x68, 0x69, 0];

fn awareness(client: u64, clock: u32, state: &str) -> bytes::Bytes {
    wire::awareness(&[], &write([Entry { client, clock, state }].into_iter()))
}

fn patient_store() -> (Arc<FaultyStore>, Arc<MemoryStore>) {
    let memory = Arc::new(MemoryStore::new());
    (Arc::new(FaultyStore::new(Arc::clone(&memory) as Arc<dyn Store>)), memory)
}

/// Frame by frame what the original says.
#[tokio::test(flavor = "multi_thread")]
async fn the_frames_of_the_original() {
    let server = server().await;
    let mut a = Raw::connect(&server, "room").await;
    a.send(&[0, 0, 1, 0][..]).await;
    assert_eq!(a.frame().await[..], [0, 0, 1, 0], "the server's own step 1");
    assert_eq!(a.frame().await[..], [0, 1, 2, 0, 0], "step 2 of an empty document");
    a.send(HI).await;
    assert_eq!(a.frame().await[..], *HI, "the update comes back");
    a.send(awareness(5, 1, "{}")).await;
    assert_eq!(a.frame().await, awareness(5, 1, "{}"), "presence comes back");
    let mut b = Raw::connect(&server, "room").await;
    b.send(&[0, 0, 1, 0][..]).await;
    assert_eq!(b.frame().await[..], [0, 0, 3, 1, 1, 2]);
    assert_eq!(b.frame().await, awareness(5, 1, "{}"), "who is there");
    assert_eq!(b.frame().await[..], [&[0, 1][..], &HI[2..]].concat());
    a.send(HI).await;
    b.send(&[3][..]).await;
    assert_eq!(
        b.frame().await,
        awareness(5, 1, "{}"),
        "nothing came of the repetition; the question is answered"
    );
    assert!(server.stop().await);
    assert_eq!(a.close_code().await, 1001);
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_converge_and_late_and_offline_ones_too() {
    let server = server().await;
    let mut a = Client::join(&server, "doc").await;
    let mut b = Client::join(&server, "doc").await;
    a.type_text("from a. ").await;
    b.until("from a. ").await;
    b.type_text("from b. ").await;
    a.until("from b. ").await;
    // Offline: edits of both sides meet when it comes back.
    drop(b.raw.socket);
    a.type_text("meanwhile a. ").await;
    let doc = b.doc;
    let offline = Client { raw: a.raw, doc: doc.clone() };
    offline.edit("offline b. ");
    a.raw = offline.raw;
    let mut b = Client::join_with(&server, "doc", doc).await;
    b.until("meanwhile a. ").await;
    a.until("offline b. ").await;
    let late = Client::join(&server, "doc").await;
    assert_eq!(late.text(), a.text());
    let other = Client::join(&server, "other%20doc").await;
    assert_eq!(other.text(), "");
    server.stop().await;
}

/// What an update refers to is missing: the server asks for it.
#[tokio::test(flavor = "multi_thread")]
async fn a_gap_is_asked_for() {
    let server = server().await;
    let mut a = Client::join(&server, "doc").await;
    let mut b = Client::join(&server, "doc").await;
    a.edit("lost on the way, ");
    a.type_text("and what follows").await;
    loop {
        // The greeting's step 1 came before the client was synced: this one is the question.
        if matches!(wire::read(&a.raw.frame().await).unwrap(), wire::Message::Step1(_)) {
            let txn = yatta::Transact::transact(&a.doc);
            let state = yatta::ReadTxn::encode_state_as_update_v1(&txn, &yatta::StateVector::default());
            drop(txn);
            a.raw.send(wire::step2(&[], &state)).await;
            break;
        }
    }
    b.until("lost on the way, and what follows").await;
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn presence_leaves_with_its_owner_only() {
    let server = server().await;
    let mut a = Raw::connect(&server, "room").await;
    let mut b = Raw::connect(&server, "room").await;
    for client in [&mut a, &mut b] {
        client.send(&[0, 0, 1, 0][..]).await;
        client.frame().await;
        client.frame().await;
    }
    // A speaks for two tabs; B refreshes one of them later.
    a.send(awareness(10, 1, "{\"n\":1}")).await;
    a.send(awareness(11, 1, "{\"n\":2}")).await;
    b.frame().await;
    b.frame().await;
    b.send(awareness(11, 2, "{\"n\":3}")).await;
    assert_eq!(b.frame().await, awareness(11, 2, "{\"n\":3}"));
    a.socket.close(None).await.unwrap();
    let gone = b.frame().await;
    let wire::Message::Awareness(payload) = wire::read(&gone).unwrap() else { panic!("{gone:?}") };
    assert_eq!(entries(payload).unwrap(), [Entry { client: 10, clock: 2, state: "null" }]);
    server.stop().await;
}

/// The echo is the acknowledgement: it comes when the update is durable, the broadcast at once.
#[tokio::test(flavor = "multi_thread")]
async fn the_echo_waits_for_the_disk() {
    let (store, _) = patient_store();
    let server = server_on(Arc::clone(&store) as Arc<dyn Store>).await;
    let mut a = Raw::connect(&server, "room").await;
    let mut b = Raw::connect(&server, "room").await;
    for client in [&mut a, &mut b] {
        client.send(&[0, 0, 1, 0][..]).await;
        client.frame().await;
        client.frame().await;
    }
    store.faults().hold.store(true, Ordering::SeqCst);
    a.send(HI).await;
    assert_eq!(b.frame().await[..], *HI);
    assert_eq!(a.next_within(Duration::from_millis(200)).await, None);
    store.release();
    assert_eq!(a.frame().await[..], *HI);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn malformed_frames_close_their_sender_only() {
    let server = server().await;
    let mut good = Client::join(&server, "room").await;
    good.type_text("before. ").await;
    let mut bad: Vec<Vec<u8>> = vec![
        vec![0],
        vec![0, 0],
        vec![0, 9, 0],
        vec![0, 2, 5, 1],
        vec![0, 2, 1, 0xff],
        vec![0, 0, 1, 0x80],
        vec![1, 1, 5],
        vec![1, 5, 1, 1, 1, 1, 0x7b],
        vec![0, 2, 10, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1],
    ];
    // Inputs that every decoder of this project has to refuse or survive.
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/malformed");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let hex: Vec<u8> = std::fs::read(path).unwrap();
        let hex: Vec<u8> = hex.into_iter().filter(u8::is_ascii_hexdigit).collect();
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
        let input: Vec<u8> = hex.chunks_exact(2).map(byte).collect();
        bad.push(wire::update(&[], &input).to_vec());
        bad.push(wire::step2(&[], &input).to_vec());
        bad.push(wire::step1(&[], &input).to_vec());
        bad.push(wire::awareness(&[], &input).to_vec());
        bad.push(input);
    }
    assert!(bad.len() > 100, "the shared inputs are there");
    for frame in &bad {
        let mut sender = Raw::connect(&server, "room").await;
        sender.send(&[0, 0, 1, 0][..]).await;
        sender.send(frame.clone()).await;
        // Some of the shared inputs are fine: then the socket stays.
        sender.send(&[3][..]).await;
        loop {
            match sender.next().await {
                Came::Closed(code) => break assert_eq!(code, 4400, "{frame:?}"),
                Came::Gone => panic!("{frame:?}: gone without a code"),
                Came::Frame(frame) if frame[0] == 1 => break,
                Came::Frame(_) => {}
            }
        }
    }
    for frame in &bad[..9] {
        let mut sender = Raw::connect(&server, "room").await;
        sender.send(&[0, 0, 1, 0][..]).await;
        sender.send(frame.clone()).await;
        assert_eq!(sender.close_code().await, 4400, "{frame:?}");
    }
    let mut text = Raw::connect(&server, "room").await;
    futures_util::SinkExt::send(&mut text.socket, "no text".into()).await.unwrap();
    assert_eq!(text.close_code().await, 4400);
    good.type_text("after.").await;
    let mut late = Client::join(&server, "room").await;
    late.until("before. ").await;
    late.until("after.").await;
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_load_refuses_and_writes_nothing() {
    let (store, memory) = patient_store();
    let name = RoomName::new("room").unwrap();
    let log = memory.load(&name).unwrap().log;
    memory.append(&log, bytes::Bytes::copy_from_slice(&HI[3..]), Box::new(|result| result.unwrap()));
    let server = server_on(Arc::clone(&store) as Arc<dyn Store>).await;
    store.faults().load.store(true, Ordering::SeqCst);
    for _ in 0..3 {
        let mut client = Raw::connect(&server, "room").await;
        client.send(&[0, 0, 1, 0][..]).await;
        client.send(HI).await;
        assert_eq!(client.close_code().await, 1011);
    }
    assert_eq!(store.faults().appends.load(Ordering::SeqCst), 0);
    store.faults().load.store(false, Ordering::SeqCst);
    let client = Raw::connect(&server, "room").await;
    let mut client = Client { raw: client, doc: Doc::new() };
    client.raw.send(&[0, 0, 1, 0][..]).await;
    while !client.take().await {}
    let root = client.doc.get_or_insert_text("t");
    assert_eq!(yatta::GetString::get_string(&root, &yatta::Transact::transact(&client.doc)), "hi");
    server.stop().await;
}

/// A document whose stored bytes cannot be read is not served as an empty one.
#[tokio::test(flavor = "multi_thread")]
async fn damaged_bytes_in_the_store_are_a_failed_load() {
    let (store, memory) = patient_store();
    let log = memory.load(&RoomName::new("room").unwrap()).unwrap().log;
    memory.append(&log, bytes::Bytes::from_static(&[1, 2, 3]), Box::new(|result| result.unwrap()));
    let server = server_on(store).await;
    let mut client = Raw::connect(&server, "room").await;
    client.send(&[0, 0, 1, 0][..]).await;
    assert_eq!(client.close_code().await, 1011);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_write_sends_all_away_and_nothing_is_acknowledged() {
    let (store, _) = patient_store();
    let server = server_on(Arc::clone(&store) as Arc<dyn Store>).await;
    let mut a = Client::join(&server, "room").await;
    let mut b = Client::join(&server, "room").await;
    a.type_text("kept. ").await;
    b.until("kept. ").await;
    store.faults().append.store(true, Ordering::SeqCst);
    a.type_text("not stored. ").await;
    assert_eq!(a.raw.close_code().await, 1013);
    assert_eq!(b.raw.close_code().await, 1013);
    store.faults().append.store(false, Ordering::SeqCst);
    // The room is loaded anew; a brings along what was not stored.
    let fresh = Client::join(&server, "room").await;
    assert_eq!(fresh.text(), "kept. ");
    let mut a = Client::join_with(&server, "room", a.doc).await;
    let mut c = Client::join(&server, "room").await;
    c.until("kept. not stored. ").await;
    a.type_text("more").await;
    c.until("more").await;
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_first_joins_load_once() {
    let (store, memory) = patient_store();
    let log = memory.load(&RoomName::new("room").unwrap()).unwrap().log;
    memory.append(&log, bytes::Bytes::copy_from_slice(&HI[3..]), Box::new(|result| result.unwrap()));
    store.faults().slow_load.store(100, Ordering::SeqCst);
    let server = server_on(Arc::clone(&store) as Arc<dyn Store>).await;
    let server = Arc::new(server);
    let mut joins = tokio::task::JoinSet::new();
    for _ in 0..200 {
        let server = Arc::clone(&server);
        joins.spawn(async move {
            let mut client = Raw::connect(&server, "room").await;
            client.send(&[0, 0, 1, 0][..]).await;
            client.frame().await;
            assert_eq!(client.frame().await[..], [&[0, 1][..], &HI[2..]].concat());
            client
        });
    }
    let clients = joins.join_all().await;
    assert_eq!(clients.len(), 200);
    assert_eq!(store.faults().loads.load(Ordering::SeqCst), 1);
    assert_eq!(server.rooms().list()[0].peers, 200);
    drop(clients);
    eventually("all left", || server.rooms().list()[0].peers == 0).await;
    Arc::into_inner(server).unwrap().stop().await;
}

/// Joins as real clients do: comes back when it is told to try again.
async fn patient_join(server: &Server, room: &str) -> Client {
    loop {
        let mut raw = Raw::connect(server, room).await;
        raw.send(&[0, 0, 1, 0][..]).await;
        let doc = Doc::new();
        loop {
            match raw.next().await {
                Came::Frame(frame) => {
                    if let Ok(wire::Message::Step2(update)) = wire::read(&frame) {
                        let update = yatta::updates::decoder::Decode::decode_v1(update).unwrap();
                        yatta::Transact::transact_mut(&doc).apply_update(update).unwrap();
                        return Client { raw, doc };
                    }
                }
                Came::Closed(1013) => break,
                other => panic!("{other:?}"),
            }
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Rooms come, go and come again while others do: never two of a name, never one that is empty.
#[tokio::test(flavor = "multi_thread")]
async fn churn() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(SqliteStore::open(folder.path(), Durability::Relaxed).unwrap());
    let limits = Limits { rooms: 4, idle_room: Duration::ZERO, ..Limits::default() };
    let server = Arc::new(server_with(limits, store, Arc::new(Open)).await);
    let mut tasks = tokio::task::JoinSet::new();
    for worker in 0..4 {
        let server = Arc::clone(&server);
        tasks.spawn(async move {
            for round in 0..40 {
                let room = format!("room{}", (worker + round) % 6);
                let mark = format!("{worker}.{round};");
                let mut client = patient_join(&server, &room).await;
                client.type_text(&mark).await;
                // The echo: it is stored. Leave at once.
                let mut echoed = false;
                while !echoed {
                    let frame = client.raw.frame().await;
                    if let Ok(wire::Message::Update(update)) = wire::read(&frame) {
                        echoed = update.windows(mark.len()).any(|part| part == mark.as_bytes());
                    }
                }
            }
        });
    }
    tasks.join_all().await;
    for room in 0..6 {
        let client = patient_join(&server, &format!("room{room}")).await;
        for worker in 0..4 {
            for round in (0..40).filter(|round| (worker + round) % 6 == room) {
                let mark = format!("{worker}.{round};");
                assert!(client.text().contains(&mark), "room{room} lost {mark}");
            }
        }
    }
    eventually("idle rooms are unloaded", || server.rooms().list().is_empty()).await;
    Arc::into_inner(server).unwrap().stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_peer_catches_up_by_a_diff() {
    let limits = Limits { outbox_bytes: 20_000, messages_per_second: 0, ..Limits::default() };
    let server = server_with(limits, Arc::new(MemoryStore::new()), Arc::new(Open)).await;
    let mut writer = Client::join(&server, "room").await;
    let mut slow = Client::join(&server, "room").await;
    // More than the buffers of both kernels hold, while the slow one does not read.
    let text = "x".repeat(100_000);
    for i in 0..200 {
        writer.type_text(&format!("{text}{i};")).await;
        writer.until(&format!("{i};")).await;
        while writer.raw.next_within(Duration::ZERO).await.is_some() {}
    }
    let metrics = &server.rooms().shared().metrics;
    assert!(metrics.catch_ups.get() > 0, "the queue was bounded");
    slow.until("199;").await;
    assert_eq!(slow.text(), writer.text());
    // And it is a normal peer again.
    writer.type_text("the end").await;
    slow.until("the end").await;
    server.stop().await;
}

/// A peer that takes nothing any more holds a bounded amount of memory for a bounded time; the others notice nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_stalled_peer_is_given_up() {
    let limits = Limits {
        outbox_bytes: 20_000,
        messages_per_second: 0,
        write_stall: Duration::from_millis(300),
        ..Limits::default()
    };
    let server = server_with(limits, Arc::new(MemoryStore::new()), Arc::new(Open)).await;
    let mut writer = Client::join(&server, "room").await;
    let mut other = Client::join(&server, "room").await;
    let stalled = Client::join(&server, "room").await;
    let text = "x".repeat(100_000);
    let mut i = 0;
    let mut slowest = Duration::ZERO;
    while server.rooms().list()[0].peers == 3 {
        assert!(i < 2000, "200 MB went into the buffers of a peer that does not read");
        let begun = std::time::Instant::now();
        writer.type_text(&format!("{text}{i};")).await;
        other.until(&format!("{i};")).await;
        slowest = slowest.max(begun.elapsed());
        while writer.raw.next_within(Duration::ZERO).await.is_some() {}
        i += 1;
    }
    assert_eq!(server.rooms().list()[0].peers, 2);
    assert!(slowest < Duration::from_secs(2), "others waited {slowest:?}");
    let closed = &server.rooms().shared().metrics.closed;
    let by_code = || closed.get_or_create(&yatta_server::metrics::CloseLabel { code: 1013 }).get();
    eventually("it was closed with 1013", || by_code() == 1).await;
    // It comes back with what it has and misses nothing.
    let mut back = Client::join_with(&server, "room", stalled.doc).await;
    back.until(&format!("{};", i - 1)).await;
    assert_eq!(back.text(), writer.text());
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn idle_clients_hear_something() {
    let limits = Limits { keep_alive: Duration::from_millis(100), ..Limits::default() };
    let server = server_with(limits, Arc::new(MemoryStore::new()), Arc::new(Open)).await;
    let mut client = Raw::connect(&server, "room").await;
    client.send(&[0, 0, 1, 0][..]).await;
    client.frame().await;
    client.frame().await;
    for _ in 0..3 {
        assert_eq!(client.frame().await[..], *wire::KEEP_ALIVE);
    }
    server.stop().await;
}

/// Who only listens to a busy room is asked whether it is there, and stays.
#[tokio::test(flavor = "multi_thread")]
async fn listeners_of_a_busy_room_stay() {
    let limits = Limits {
        keep_alive: Duration::from_millis(100),
        silence: Duration::from_millis(600),
        messages_per_second: 0,
        ..Limits::default()
    };
    let server = server_with(limits, Arc::new(MemoryStore::new()), Arc::new(Open)).await;
    let mut writer = Client::join(&server, "room").await;
    let mut listener = Client::join(&server, "room").await;
    for i in 0..60 {
        writer.type_text(&format!("{i};")).await;
        writer.until(&format!("{i};")).await;
        listener.until(&format!("{i};")).await;
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
    assert_eq!(server.rooms().list()[0].peers, 2);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn half_open_peers_are_given_up() {
    let limits = Limits {
        keep_alive: Duration::from_millis(100),
        silence: Duration::from_millis(400),
        ..Limits::default()
    };
    let server = server_with(limits, Arc::new(MemoryStore::new()), Arc::new(Open)).await;
    let mut client = Raw::connect(&server, "room").await;
    client.send(&[0, 0, 1, 0][..]).await;
    client.send(awareness(5, 1, "{}")).await;
    let mut answering = Raw::connect(&server, "room").await;
    answering.send(&[0, 0, 1, 0][..]).await;
    eventually("both are in", || server.rooms().list().first().is_some_and(|room| room.peers == 2)).await;
    // The first is not polled any more, so it answers no ping.
    let end = tokio::time::Instant::now() + Duration::from_secs(1);
    while tokio::time::Instant::now() < end {
        answering.next_within(Duration::from_millis(50)).await;
    }
    let rooms = server.rooms().list();
    assert_eq!((rooms[0].peers, rooms[0].present), (1, 0));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn limits() {
    let limits = Limits {
        message_bytes: 10_000,
        document_bytes: 20_000,
        connections_per_document: 2,
        presence_bytes: 100,
        unauthenticated_bytes: 1_000,
        unauthenticated_time: Duration::from_millis(200),
        ..Limits::default()
    };
    let server = server_with(limits, Arc::new(MemoryStore::new()), Arc::new(Open)).await;
    let mut big = Client::join(&server, "room").await;
    big.type_text(&"x".repeat(10_001)).await;
    assert_eq!(big.raw.close_code().await, 4413, "a message");
    let mut big = Client::join(&server, "room2").await;
    for _ in 0..3 {
        let update = big.edit(&"x".repeat(9_000));
        futures_util::SinkExt::send(
            &mut big.raw.socket,
            tokio_tungstenite::tungstenite::Message::Binary(wire::update(&[], &update)),
        )
        .await
        .ok();
    }
    assert_eq!(big.raw.close_code().await, 4413, "a document");
    let mut proud = Client::join(&server, "room3").await;
    proud.raw.send(awareness(1, 1, &format!("\"{}\"", "x".repeat(100)))).await;
    assert_eq!(proud.raw.close_code().await, 4413, "presence");
    let _a = Client::join(&server, "room4").await;
    let _b = Client::join(&server, "room4").await;
    let mut c = Raw::connect(&server, "room4").await;
    c.send(&[0, 0, 1, 0][..]).await;
    assert_eq!(c.close_code().await, 1013, "connections of a document");
    let mut silent = Raw::connect(&server, "room").await;
    assert_eq!(silent.close_code().await, 4408);
    let mut early = Raw::connect(&server, "room").await;
    early.send(vec![4; 2_000]).await;
    assert_eq!(early.close_code().await, 4413, "bytes before admission");
    let mut bad = Raw::connect(&server, "a%00b").await;
    bad.send(&[0, 0, 1, 0][..]).await;
    assert_eq!(bad.close_code().await, 4400, "a bad name");
    let mut long = Raw::connect(&server, "").await;
    let session = wire::address_prefix(&format!("room\0{}", "s".repeat(600)));
    long.send([&session[..], &[3]].concat()).await;
    assert_eq!(long.close_code().await, 4400, "a session that is no session");
    server.stop().await;
}

/// More than the rate is read later, and nothing is lost.
#[tokio::test(flavor = "multi_thread")]
async fn too_many_messages_are_read_later() {
    let limits = Limits { messages_per_second: 100, ..Limits::default() };
    let server = server_with(limits, Arc::new(MemoryStore::new()), Arc::new(Open)).await;
    let mut client = Client::join(&server, "room").await;
    let mut peer = Client::join(&server, "room").await;
    let start = std::time::Instant::now();
    for i in 0..150 {
        client.type_text(&format!("{i};")).await;
    }
    peer.until("149;").await;
    let took = start.elapsed();
    assert!(took > Duration::from_millis(900), "{took:?}");
    let want: String = (0..150).map(|i| format!("{i};")).collect();
    assert_eq!(peer.text(), want);
    server.stop().await;
}
