//! Clients that mean harm: raw sockets, lengths, floods, tricks. Each is held off, and the others notice nothing.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use common::{Came, Client, PATIENCE, Raw, eventually, server, server_with};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use yatta::Doc;
use yatta_server::Server;
use yatta_server::auth::token_file::TokenFile;
use yatta_server::auth::{Auth, Open};
use yatta_server::limits::Limits;
use yatta_server::store::memory::MemoryStore;
use yatta_server::wire::presence::{Entry, entries, write};
use yatta_server::wire::{self, Message};

/// The update "hi" of client 1.
const HI: &[u8] = &[1, 1, 1, 0, 4, 1, 1, 0x74, 2, 0x68, 0x69, 0];

fn shows(client: u64, clock: u32, state: &str) -> Bytes {
    wire::awareness(&[], &write([Entry { client, clock, state }].into_iter()))
}

/// A socket behind the upgrade, with nothing that would keep its bytes in form.
async fn upgraded(server: &Server, room: &str) -> TcpStream {
    let mut socket = TcpStream::connect(server.address()).await.unwrap();
    let head = format!(
        "GET /{room} HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    );
    socket.write_all(head.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") {
        answer.push(timeout(PATIENCE, socket.read_u8()).await.unwrap().unwrap());
    }
    assert!(answer.starts_with(b"HTTP/1.1 101"));
    socket
}

/// A masked frame; the mask is of zeros.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let len = u8::try_from(payload.len()).unwrap();
    assert!(len < 126);
    [&[first, 0x80 | len, 0, 0, 0, 0], payload].concat()
}

/// All that comes until the other side closes.
async fn rest(socket: &mut TcpStream) -> Vec<u8> {
    let mut all = Vec::new();
    // A reset is an end, too.
    let _ = timeout(PATIENCE, socket.read_to_end(&mut all)).await.expect("it is closed in time");
    all
}

async fn still_serves(server: &Server, good: &mut Client, mark: &str) {
    good.type_text(mark).await;
    let mut late = Client::join(server, "good").await;
    late.until(mark).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn frames_that_are_no_frames() {
    let server = server().await;
    let mut good = Client::join(&server, "good").await;
    let step1 = frame(0x82, &[0, 0, 1, 0]);
    let bad: &[(&str, Vec<u8>)] = &[
        ("no mask", vec![0x82, 4, 0, 0, 1, 0]),
        ("reserved bits", frame(0xf2, &[0, 0, 1, 0])),
        ("a reserved kind", frame(0x83, &[])),
        ("a control frame in parts", frame(0x09, &[])),
        ("a long ping", [&[0x89, 0x80 | 126, 0, 126, 0, 0, 0, 0][..], &[0; 126]].concat()),
        ("a continuation of nothing", frame(0x80, &[])),
        ("a new message within one", [frame(0x02, &[0]), frame(0x82, &[0])].concat()),
        ("a close of one byte", frame(0x88, &[3])),
        ("a close with a code that does not exist", frame(0x88, &[0, 5])),
        ("text that is none", frame(0x81, &[0xff, 0xfe])),
        ("all ones", vec![0xff; 400]),
    ];
    for (what, bytes) in bad {
        for first in [&step1[..], &[]] {
            let mut socket = upgraded(&server, "good").await;
            // It may be closed before all is sent.
            let _ = socket.write_all(&[first, bytes].concat()).await;
            let said = rest(&mut socket).await;
            let closes = said.windows(2).any(|pair| pair[0] == 0x88);
            println!("{what}: {} bytes came, a close among them: {closes}", said.len());
        }
        still_serves(&server, &mut good, &format!("after {what}. ")).await;
    }
    eventually("all are gone", || server.rooms().list()[0].peers == 1).await;
    assert!(server.stop().await);
}

/// A length is believed only after admission, and then only below the bound of a message.
#[tokio::test(flavor = "multi_thread")]
async fn lengths_that_nobody_means() {
    let server = server().await;
    let mut good = Client::join(&server, "good").await;
    let claims = |len: u64| [&[0x82, 0x80 | 127][..], &len.to_be_bytes(), &[0; 4]].concat();
    for len in [(256 << 10) + 1, 64 << 20, 1 << 40, u64::MAX >> 1, u64::MAX] {
        // Before admission a frame of more than what may come is refused by its head.
        let mut socket = upgraded(&server, "good").await;
        socket.write_all(&claims(len)).await.unwrap();
        let said = rest(&mut socket).await;
        assert!(said.windows(2).any(|pair| pair == 4413u16.to_be_bytes()), "{len}: {said:?}");
    }
    for len in [(64 << 20) + 1, 1 << 40, u64::MAX] {
        let mut socket = upgraded(&server, "good").await;
        socket.write_all(&frame(0x82, &[0, 0, 1, 0])).await.unwrap();
        socket.read_u8().await.unwrap();
        socket.write_all(&claims(len)).await.unwrap();
        rest(&mut socket).await;
    }
    still_serves(&server, &mut good, "after lengths").await;
    // Lengths within messages, both dialects.
    for message in [
        &[0, 2, 0xff, 0xff, 0xff, 0xff, 0x0f][..],
        &[0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1],
        &[1, 0xff, 0xff, 0xff, 0xff, 0x0f],
        &[8, 0xff, 0xff, 0x7f],
        &[0xff, 0xff, 0xff, 0xff, 0x0f, 0],
        &[0, 2, 5, 0xff, 0xff, 0xff, 0xff, 0x0f],
    ] {
        let mut client = Raw::connect(&server, "good").await;
        if message[0] < 0x80 {
            client.send(&[0, 0, 1, 0][..]).await;
        }
        client.send(Bytes::from_static(message)).await;
        assert_eq!(client.close_code().await, 4400, "{message:?}");
    }
    assert!(server.stop().await);
}

/// A proxy may put what admits and a large update after it into one piece: it is taken. What is large without admission is not.
#[tokio::test(flavor = "multi_thread")]
async fn a_large_update_right_behind_the_first_message() {
    let server = server().await;
    let doc = Doc::new();
    let text = doc.get_or_insert_text("text");
    let long = "x".repeat(400_000);
    let update = {
        let mut txn = yatta::Transact::transact_mut(&doc);
        yatta::Text::insert(&text, &mut txn, 0, &long);
        wire::update(&[], &txn.encode_update_v1())
    };
    let large = [&[0x82, 0x80 | 127][..], &(update.len() as u64).to_be_bytes(), &[0; 4], &update].concat();
    let head = frame(0x82, &[0, 0, 1, 0]);
    let mut socket = upgraded(&server, "good").await;
    socket.write_all(&[&head[..], &large].concat()).await.unwrap();
    let mut late = Client::join(&server, "good").await;
    late.until(&long).await;
    for first in [frame(0x89, b"ping"), frame(0x02, &[0, 0]), Vec::new()] {
        let mut socket = upgraded(&server, "good").await;
        let _ = socket.write_all(&[&first[..], &large[..2000]].concat()).await;
        let said = rest(&mut socket).await;
        assert!(said.windows(2).any(|pair| pair == 4413u16.to_be_bytes()), "{first:?}: {said:?}");
    }
    assert!(server.stop().await);
}

/// Who connects and does not ask, or asks a byte at a time, is not waited for.
#[tokio::test(flavor = "multi_thread")]
async fn slow_requests_are_given_up() {
    let server = server().await;
    let mut good = Client::join(&server, "good").await;
    let mut silent = Vec::new();
    for part in ["", "G", "GET /room HTTP/1.1\r\nhost: x\r\n"] {
        for _ in 0..20 {
            let mut socket = TcpStream::connect(server.address()).await.unwrap();
            socket.write_all(part.as_bytes()).await.unwrap();
            silent.push(socket);
        }
    }
    let mut drip = TcpStream::connect(server.address()).await.unwrap();
    let begun = Instant::now();
    let dripping = tokio::spawn(async move {
        drip.write_all(b"GET /room HTTP/1.1\r\nx: ").await.unwrap();
        while drip.write_all(b"y").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    });
    for mut socket in silent {
        let mut all = Vec::new();
        let _ = timeout(Duration::from_secs(20), socket.read_to_end(&mut all)).await.expect("it is given up");
    }
    timeout(Duration::from_secs(20), dripping).await.expect("it is given up").unwrap();
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(20), "{took:?}");
    still_serves(&server, &mut good, "after silence").await;
    assert!(server.stop().await);
}

/// An update that waits for what never comes: what waits is bounded like the document, others go on, and are not asked for it.
#[tokio::test(flavor = "multi_thread")]
async fn updates_that_never_resolve() {
    let limits = Limits { document_bytes: 300_000, messages_per_second: 0, ..Limits::default() };
    let server = server_with(limits, Arc::new(MemoryStore::new()), Arc::new(Open)).await;
    let mut a = Client::join(&server, "good").await;
    let mut b = Client::join(&server, "good").await;
    let begun = Instant::now();
    let mut bad = Raw::connect(&server, "good").await;
    bad.send(&[0, 0, 1, 0][..]).await;
    let mut sent = 0u32;
    let code = loop {
        // One client, one block each, at a clock that nothing leads up to.
        let mut update = vec![1, 1];
        let doc = Doc::with_client_id(u64::from(1_000_000 + sent));
        yatta_encoding::Write::write_var(&mut update, doc.client_id().get());
        yatta_encoding::Write::write_var(&mut update, 5_000u32);
        update.extend([4, 1, 1, 0x74, 100]);
        update.extend([0x79; 100]);
        update.push(0);
        if !bad.try_send(wire::update(&[], &update)).await {
            break bad.close_code().await;
        }
        sent += 1;
        if sent > 5_000 {
            panic!("all of {sent} were taken");
        }
        match bad.next_within(Duration::ZERO).await {
            Some(Came::Closed(code)) => break code,
            Some(Came::Gone) => panic!("gone without a code"),
            _ => {}
        }
    };
    println!("{sent} that wait in {:?}", begun.elapsed());
    assert_eq!(code, 4413, "the document would be too large");
    let mut questions = 0;
    let asked = Instant::now();
    a.type_text("small").await;
    b.until("small").await;
    assert!(asked.elapsed() < Duration::from_secs(2), "{:?}", asked.elapsed());
    while let Some(Came::Frame(frame)) = a.raw.next_within(Duration::from_millis(200)).await {
        questions += usize::from(matches!(wire::read(&frame), Ok(Message::Step1(_))));
    }
    assert_eq!(questions, 0, "what a typed lacks nothing");
    assert!(server.stop().await);
}

/// A client shows a clock that the real one can never reach: it is passed over, and the real one goes on.
#[tokio::test(flavor = "multi_thread")]
async fn clock_tricks_in_presence() {
    let server = server().await;
    let mut victim = Raw::connect(&server, "room").await;
    let mut thief = Raw::connect(&server, "room").await;
    for client in [&mut victim, &mut thief] {
        client.send(&[0, 0, 1, 0][..]).await;
        client.frame().await;
        client.frame().await;
    }
    victim.send(shows(7, 1, "\"me\"")).await;
    assert_eq!(victim.frame().await, shows(7, 1, "\"me\""));
    thief.frame().await;
    for clock in [u64::from(u32::MAX), u64::from(u32::MAX) + 1, 1 << 53, u64::MAX] {
        let mut payload = vec![1, 7];
        yatta_encoding::Write::write_var(&mut payload, clock);
        yatta_encoding::Write::write_string(&mut payload, "\"stolen\"");
        thief.send(wire::awareness(&[], &payload)).await;
    }
    thief.send(&[3][..]).await;
    assert_eq!(thief.frame().await, shows(7, 1, "\"me\""), "and nothing before it");
    victim.send(shows(7, 2, "\"still me\"")).await;
    assert_eq!(victim.frame().await, shows(7, 2, "\"still me\""));
    drop(thief);
    assert!(server.stop().await);
}

/// A flood of presence is read at the rate of the bound; who reads slowly gets the latest, not all.
#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_presence() {
    let limits = Limits { messages_per_second: 200, outbox_bytes: 100_000, ..Limits::default() };
    let server = server_with(limits, Arc::new(MemoryStore::new()), Arc::new(Open)).await;
    let mut good = Client::join(&server, "good").await;
    let mut reader = Client::join(&server, "good").await;
    let mut flood = Raw::connect(&server, "good").await;
    flood.send(&[0, 0, 1, 0][..]).await;
    let (mut sink, mut stream) = futures_util::StreamExt::split(flood.socket);
    let flooding = tokio::spawn(async move {
        let state = format!("\"{}\"", "x".repeat(10_000));
        for clock in 1..100_000 {
            let message = tokio_tungstenite::tungstenite::Message::Binary(shows(7, clock, &state));
            if futures_util::SinkExt::send(&mut sink, message).await.is_err() {
                return;
            }
        }
    });
    let reading =
        tokio::spawn(async move { while futures_util::StreamExt::next(&mut stream).await.is_some() {} });
    let begun = Instant::now();
    let mut slowest = Duration::ZERO;
    for i in 0..20 {
        let asked = Instant::now();
        good.type_text(&format!("{i};")).await;
        reader.until(&format!("{i};")).await;
        slowest = slowest.max(asked.elapsed());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let metrics = &server.rooms().shared().metrics;
    let rate = metrics.messages_in.get() as f64 / begun.elapsed().as_secs_f64();
    println!("{rate:.0} messages a second, others waited {slowest:?} at most");
    assert!(rate < 900.0, "{rate}: the bound and what is saved up");
    assert!(slowest < Duration::from_secs(2), "{slowest:?}");
    flooding.abort();
    reading.abort();
    assert!(server.stop().await);
}

/// Everything that could write, said by somebody who may only read, in both dialects: nothing of it is there afterwards.
#[tokio::test(flavor = "multi_thread")]
async fn readers_cannot_write_by_any_message() {
    let tokens = "[[token]]\ntoken = 'writer-token'\nrooms = ['*']\naccess = 'read-write'\n[[token]]\ntoken = 'reader-token'\nrooms = ['*']\n";
    let auth: Arc<dyn Auth> = Arc::new(TokenFile::parse(tokens).unwrap());
    let server = server_with(Limits::default(), Arc::new(MemoryStore::new()), auth).await;
    let mut owner = Client::join(&server, "room?token=writer-token").await;
    owner.type_text("of the owner").await;
    let waiting = [1, 1, 9, 50, 4, 1, 1, 0x74, 1, 0x79, 0];
    let deletes = {
        let state = yatta::Transact::transact(&owner.doc);
        let id = owner.doc.client_id().get();
        drop(state);
        let mut update = vec![0, 1];
        yatta_encoding::Write::write_var(&mut update, id);
        update.extend([1, 0, 5]);
        update
    };
    let mut messages = Vec::new();
    for update in [HI, &waiting, &deletes] {
        messages.push(wire::update(&[], update));
        messages.push(wire::step2(&[], update));
        // The reply of hocuspocus to a step 1, which holds a sync message, too.
        messages.push([&[4, 2][..], &wire::update(&[], update)[2..]].concat().into());
        messages.push([&[4, 1][..], &wire::update(&[], update)[2..]].concat().into());
    }
    let mut plain = Raw::connect(&server, "room?token=reader-token").await;
    plain.send(&[0, 0, 1, 0][..]).await;
    for message in &messages {
        plain.send(message.clone()).await;
    }
    plain.send(&[8, 1, 3][..]).await;
    while plain.frame().await[..] != [8, 2, 3, 0] {}
    let prefix = wire::address_prefix("room");
    let mut addressed = Raw::connect(&server, "").await;
    let mut token = [&prefix[..], &[2, 0]].concat();
    yatta_encoding::Write::write_string(&mut token, "reader-token");
    addressed.send(token).await;
    let mut refused = 0;
    for message in &messages {
        addressed.send([&prefix[..], message].concat()).await;
        loop {
            let frame = addressed.frame().await;
            let (_, body) = wire::split_address(&frame).unwrap();
            assert_ne!(body, [8, 1], "{message:?} was acknowledged");
            if body == [8, 0] {
                refused += 1;
                break;
            }
        }
    }
    assert_eq!(refused, messages.len());
    // A second token that is none does not help, nor does the address with a session.
    let mut other = Raw::connect(&server, "").await;
    let session = wire::address_prefix("room\0abc");
    let mut token = [&session[..], &[2, 0]].concat();
    yatta_encoding::Write::write_string(&mut token, "reader-token");
    other.send(token).await;
    other.send([&session[..], &messages[0]].concat()).await;
    loop {
        let frame = other.frame().await;
        if wire::split_address(&frame).unwrap().1 == [8, 0] {
            break;
        }
    }
    // Presence is what a reader may show.
    plain.send(shows(9, 1, "{}")).await;
    loop {
        if let Message::Awareness(payload) = wire::read(&plain.frame().await).unwrap() {
            assert_eq!(entries(payload).unwrap()[0].client, 9);
            break;
        }
    }
    let fresh = Client::join(&server, "room?token=writer-token").await;
    assert_eq!(fresh.text(), "of the owner");
    let hi = fresh.doc.get_or_insert_text("t");
    assert_eq!(yatta::GetString::get_string(&hi, &yatta::Transact::transact(&fresh.doc)), "");
    assert!(!yatta::ReadTxn::has_missing_updates(&yatta::Transact::transact(&fresh.doc)));
    assert_eq!(server.rooms().shared().metrics.refused_writes.get() as usize, 2 * messages.len() + 1);
    assert!(server.stop().await);
}

/// Connections that come and go in every state leave nothing behind.
#[tokio::test(flavor = "multi_thread")]
async fn connections_that_come_and_go() {
    let limits = Limits { idle_room: Duration::ZERO, ..Limits::default() };
    let server = Arc::new(server_with(limits, Arc::new(MemoryStore::new()), Arc::new(Open)).await);
    let mut tasks = tokio::task::JoinSet::new();
    for worker in 0..8 {
        let server = Arc::clone(&server);
        tasks.spawn(async move {
            for round in 0..60 {
                let room = format!("room{}", (worker * 60 + round) % 100);
                match round % 5 {
                    0 => drop(TcpStream::connect(server.address()).await.unwrap()),
                    1 => drop(upgraded(&server, &room).await),
                    2 => {
                        let mut socket = upgraded(&server, &room).await;
                        socket.write_all(&frame(0x82, &[0, 0, 1, 0])[..7]).await.unwrap();
                    }
                    3 => {
                        let mut socket = upgraded(&server, &room).await;
                        socket.write_all(&frame(0x82, &[0, 0, 1, 0])).await.unwrap();
                        socket.write_all(&frame(0x82, &shows(worker, 1, "{}"))).await.unwrap();
                    }
                    _ => {
                        let mut client = Client::join(&server, &room).await;
                        client.type_text("x").await;
                    }
                }
            }
        });
    }
    tasks.join_all().await;
    eventually("nobody is left", || server.rooms().shared().metrics.connections.get() == 0).await;
    eventually("no room is left", || server.rooms().list().is_empty()).await;
    assert!(Arc::into_inner(server).unwrap().stop().await);
}
