//! The client against the server of this project.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use tokio::time::timeout;
use yatta::{Doc, GetString, Text, Transact};
use yatta_client::{Client, NotStored, Status};
use yatta_server::auth::token_file::TokenFile;
use yatta_server::auth::{Auth, Open};
use yatta_server::limits::Limits;
use yatta_server::store::Store;
use yatta_server::store::faulty::FaultyStore;
use yatta_server::store::memory::MemoryStore;
use yatta_server::{Config, Server};

const PATIENCE: Duration = Duration::from_secs(20);

async fn start(address: &str, store: Arc<dyn Store>, auth: Arc<dyn Auth>) -> Server {
    let config = Config { listen: Some(address.parse().unwrap()), drain: Some(5), ..Config::default() };
    Server::with(config, Limits::default(), store, auth).await.unwrap()
}

async fn open_server() -> (Server, String) {
    let server = start("127.0.0.1:0", Arc::new(MemoryStore::new()), Arc::new(Open)).await;
    let url = format!("ws://{}", server.address());
    (server, url)
}

async fn eventually(what: &str, mut is: impl FnMut() -> bool) {
    let end = tokio::time::Instant::now() + PATIENCE;
    while !is() {
        assert!(tokio::time::Instant::now() < end, "in time: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn synced(client: &Client) {
    assert!(timeout(PATIENCE, client.synced()).await.unwrap());
}

async fn stored(client: &Client) -> Result<(), NotStored> {
    timeout(PATIENCE, client.stored()).await.expect("the server answers")
}

fn text(client: &Client) -> String {
    client.doc().get_or_insert_text("text").get_string(&client.doc().transact())
}

fn append(client: &Client, what: &str) {
    let root = client.doc().get_or_insert_text("text");
    let mut txn = client.doc().transact_mut();
    let end = root.len(&txn);
    root.insert(&mut txn, end, what);
}

/// Whether `viewer` sees the client of this id.
fn sees(viewer: &Client, id: yatta::block::ClientID) -> bool {
    let awareness = viewer.awareness().lock();
    awareness.iter().any(|(client, state)| client == id && state.data.is_some())
}

#[tokio::test(flavor = "multi_thread")]
async fn syncs_reconnects_and_keeps_offline_edits() {
    let (server, url) = open_server().await;
    let address = server.address().to_string();
    let connect = || Client::connect(&url, "a room/é", Doc::new());
    let (a, b) = (connect(), connect());
    synced(&a).await;
    synced(&b).await;
    append(&a, "from a. ");
    eventually("b has it", || text(&b) == "from a. ").await;
    a.awareness().lock().set_local_state_raw(r#"{"name":"Ada"}"#);
    let id = a.doc().client_id();
    eventually("presence", || sees(&b, id)).await;
    // Offline by wish.
    a.go_offline();
    eventually("a left", || !sees(&b, id)).await;
    append(&a, "offline a. ");
    append(&b, "meanwhile b. ");
    a.go_online();
    eventually("both have both", || text(&a) == text(&b) && text(&a).len() == 32).await;
    eventually("presence comes back", || sees(&b, id)).await;
    // Offline by a restart, without what was stored: the clients bring it.
    assert!(server.stop().await);
    append(&b, "during the restart. ");
    let mut status = a.status();
    timeout(PATIENCE, status.wait_for(|status| *status != Status::Synced)).await.unwrap().unwrap();
    let server = start(&address, Arc::new(MemoryStore::new()), Arc::new(Open)).await;
    eventually("all is there again", || text(&a) == text(&b) && text(&a).ends_with("restart. ")).await;
    let late = connect();
    synced(&late).await;
    eventually("late has all", || text(&late) == text(&a)).await;
    eventually("presence is shown again", || sees(&late, id)).await;
    drop(a);
    eventually("presence ends", || !sees(&b, id)).await;
    let status = late.status();
    timeout(PATIENCE, late.close()).await.unwrap();
    assert_eq!(*status.borrow(), Status::Closed);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_is_for_ever() {
    let auth =
        TokenFile::parse("[[token]]\ntoken = 'the-right-one'\nrooms = ['*']\naccess = 'read-write'").unwrap();
    let server = start("127.0.0.1:0", Arc::new(MemoryStore::new()), Arc::new(auth)).await;
    let url = |token| format!("ws://{}?token={token}", server.address());
    let client = Client::connect(&url("wrong"), "doc", Doc::new());
    let waiting = client.stored();
    assert!(!timeout(PATIENCE, client.synced()).await.unwrap());
    assert!(matches!(&*client.status().borrow(), Status::Refused { code: 4401, .. }));
    assert_eq!(timeout(PATIENCE, waiting).await.unwrap(), Err(NotStored::Ended));
    let client = Client::connect(&url("the-right-one"), "doc", Doc::new());
    synced(&client).await;
    server.stop().await;
}

/// The answer waits for the disk, and survives a reconnect and a failed write.
#[tokio::test(flavor = "multi_thread")]
async fn stored_means_durable() {
    let store = Arc::new(FaultyStore::new(Arc::new(MemoryStore::new())));
    let server = start("127.0.0.1:0", Arc::clone(&store) as Arc<dyn Store>, Arc::new(Open)).await;
    let client = Client::connect(&format!("ws://{}", server.address()), "doc", Doc::new());
    // Asked before there is a connection, and with nothing to store.
    assert_eq!(stored(&client).await, Ok(()));
    let faults = store.faults();
    faults.hold.store(true, Ordering::SeqCst);
    append(&client, "held. ");
    assert!(timeout(Duration::from_millis(200), client.stored()).await.is_err(), "the disk does not have it");
    store.release();
    assert_eq!(stored(&client).await, Ok(()));
    // The write fails: the server sends all away, the client comes back with what is missing and asks again.
    faults.append.store(true, Ordering::SeqCst);
    append(&client, "failed at first. ");
    let refused = timeout(Duration::from_millis(300), client.stored()).await;
    assert!(refused.is_err(), "{refused:?}");
    let patient = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        faults.append.store(false, Ordering::SeqCst);
    };
    let (answer, ()) = tokio::join!(stored(&client), patient);
    assert_eq!(answer, Ok(()));
    let loaded = store.load(&yatta_server::name::RoomName::new("doc").unwrap()).unwrap().updates.concat();
    let is_there = |what: &str| loaded.windows(what.len()).any(|part| part == what.as_bytes());
    assert!(is_there("held. ") && is_there("failed at first. "));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_is_told_that_nothing_is_stored() {
    let auth = TokenFile::parse("[[token]]\ntoken = 'reader-token'\nrooms = ['*']").unwrap();
    let server = start("127.0.0.1:0", Arc::new(MemoryStore::new()), Arc::new(auth)).await;
    let client = Client::connect(&format!("ws://{}?token=reader-token", server.address()), "doc", Doc::new());
    assert_eq!(stored(&client).await, Ok(()), "it wrote nothing");
    append(&client, "scribbled");
    assert_eq!(stored(&client).await, Err(NotStored::ReadOnly));
    server.stop().await;
}

/// More than the buffers between them hold, in both directions at once: neither waits for the other to read.
#[tokio::test(flavor = "multi_thread")]
async fn much_to_say_on_both_sides() {
    let (server, url) = open_server().await;
    let connect = |doc| Client::connect(&url, "much", doc);
    let (a, b) = (connect(Doc::new()), connect(Doc::new()));
    synced(&a).await;
    synced(&b).await;
    a.go_offline();
    eventually("offline", || *a.status().borrow() == Status::Offline).await;
    let much = "abcdefgh".repeat(2 << 20);
    append(&a, &much);
    append(&b, &much);
    assert_eq!(stored(&b).await, Ok(()));
    a.go_online();
    eventually("both have both", || text(&a).len() == 32 << 20 && text(&b).len() == 32 << 20).await;
    server.stop().await;
}

/// Whoever holds a transaction over an await on the only thread makes the client wait, not fail.
#[tokio::test(flavor = "current_thread")]
async fn a_long_transaction_is_waited_for() {
    let (server, url) = open_server().await;
    let (a, b) = (Client::connect(&url, "doc", Doc::new()), Client::connect(&url, "doc", Doc::new()));
    synced(&a).await;
    synced(&b).await;
    append(&b, "from b. ");
    {
        let _reading = a.doc().transact();
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    eventually("a has it", || text(&a) == "from b. ").await;
    assert_eq!(*a.status().borrow(), Status::Synced);
    server.stop().await;
}

/// A server that accepts, answers nothing, and later talks nonsense: the client comes again, later each time.
#[tokio::test(flavor = "multi_thread")]
async fn comes_again_after_nonsense() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let nonsense = tokio::spawn(async move {
        let mut came = Vec::new();
        for _ in 0..4 {
            let (socket, _) = listener.accept().await.unwrap();
            came.push(tokio::time::Instant::now());
            let mut socket = tokio_tungstenite::accept_async(socket).await.unwrap();
            // It greets with its state vector.
            let first = socket.next().await.unwrap().unwrap().into_data();
            assert_eq!(first[..2], [0, 0]);
            socket.send(vec![0, 2, 9, 9].into()).await.unwrap();
            while let Some(Ok(_)) = socket.next().await {}
        }
        came
    });
    let client = Client::connect(&format!("ws://{address}"), "doc", Doc::new());
    let came = timeout(PATIENCE, nonsense).await.unwrap().unwrap();
    let waits: Vec<Duration> = came.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(waits[0] >= Duration::from_millis(50) && waits[2] >= Duration::from_millis(200), "{waits:?}");
    assert_eq!(*client.status().borrow(), Status::Connecting);
}
