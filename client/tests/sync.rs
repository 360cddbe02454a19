//! The client against the server of this project.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;
use yatta::{Doc, GetString, Text, Transact};
use yatta_client::{Client, Status};
use yatta_server::auth::token_file::TokenFile;
use yatta_server::auth::{Auth, Open};
use yatta_server::limits::Limits;
use yatta_server::store::Store;
use yatta_server::store::memory::MemoryStore;
use yatta_server::{Config, Server};

const PATIENCE: Duration = Duration::from_secs(20);

async fn start(address: &str, store: Arc<dyn Store>, auth: Arc<dyn Auth>) -> Server {
    let config = Config { listen: Some(address.parse().unwrap()), drain: Some(5), ..Config::default() };
    Server::with(config, Limits::default(), store, auth).await.unwrap()
}

async fn eventually(what: &str, mut is: impl FnMut() -> bool) {
    let end = tokio::time::Instant::now() + PATIENCE;
    while !is() {
        assert!(tokio::time::Instant::now() < end, "in time: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
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

#[tokio::test(flavor = "multi_thread")]
async fn syncs_reconnects_and_keeps_offline_edits() {
    let store = Arc::new(MemoryStore::new());
    let server = start("127.0.0.1:0", store, Arc::new(Open)).await;
    let address = server.address().to_string();
    let url = format!("ws://{address}");
    let connect = || Client::connect(&url, "a room/é", Doc::new());
    let (a, b) = (connect(), connect());
    assert!(timeout(PATIENCE, a.synced()).await.unwrap() && timeout(PATIENCE, b.synced()).await.unwrap());
    append(&a, "from a. ");
    eventually("b has it", || text(&b) == "from a. ").await;
    a.awareness().lock().set_local_state_raw(r#"{"name":"Ada"}"#);
    let id = a.awareness().lock().client_id();
    let sees = |client: &Client| {
        client.awareness().lock().meta(id).is_some()
            && client.awareness().lock().iter().any(|(client, state)| client == id && state.data.is_some())
    };
    eventually("presence", || sees(&b)).await;
    // Offline by wish.
    a.go_offline();
    eventually("a left", || !sees(&b)).await;
    append(&a, "offline a. ");
    append(&b, "meanwhile b. ");
    a.go_online();
    eventually("both have both", || text(&a) == text(&b) && text(&a).len() == 32).await;
    eventually("presence comes back", || sees(&b)).await;
    // Offline by a restart, without what was stored: the clients bring it.
    assert!(server.stop().await);
    append(&b, "during the restart. ");
    let mut status = a.status();
    timeout(PATIENCE, status.wait_for(|status| *status != Status::Synced)).await.unwrap().unwrap();
    let server = start(&address, Arc::new(MemoryStore::new()), Arc::new(Open)).await;
    eventually("all is there again", || text(&a) == text(&b) && text(&a).ends_with("restart. ")).await;
    let late = connect();
    assert!(timeout(PATIENCE, late.synced()).await.unwrap());
    eventually("late has all", || text(&late) == text(&a)).await;
    drop(a);
    eventually("presence ends", || !sees(&b)).await;
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_is_for_ever() {
    let auth =
        TokenFile::parse("[[token]]\ntoken = 'the-right-one'\nrooms = ['*']\naccess = 'read-write'").unwrap();
    let server = start("127.0.0.1:0", Arc::new(MemoryStore::new()), Arc::new(auth)).await;
    let url = |token| format!("ws://{}?token={token}", server.address());
    let client = Client::connect(&url("wrong"), "doc", Doc::new());
    assert!(!timeout(PATIENCE, client.synced()).await.unwrap());
    assert!(matches!(&*client.status().borrow(), Status::Refused { code: 4401, .. }));
    let client = Client::connect(&url("the-right-one"), "doc", Doc::new());
    assert!(timeout(PATIENCE, client.synced()).await.unwrap());
    server.stop().await;
}
