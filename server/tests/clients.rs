//! Real clients in Node (y-websocket 3.1 and 2.1, hocuspocus 4): `clients/clients.mjs` has the scenarios.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::process::Stdio;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use common::{server_on, server_with, settings};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;
use yatta_server::Server;
use yatta_server::auth::token_file::TokenFile;
use yatta_server::auth::{Auth, Open};
use yatta_server::limits::Limits;
use yatta_server::store::memory::MemoryStore;
use yatta_server::store::sqlite::SqliteStore;
use yatta_server::store::{Durability, Store};

const CLIENTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/clients");

/// Installs the clients, once a process.
fn install() {
    static INSTALLED: OnceLock<()> = OnceLock::new();
    INSTALLED.get_or_init(|| {
        let done = std::process::Command::new("sh").arg("setup.sh").current_dir(CLIENTS).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    });
}

fn node(scenario: &str, server: &Server, argument: &str) -> Child {
    install();
    Command::new("node")
        .args(["clients.mjs", scenario, &format!("ws://{}", server.address()), argument])
        .current_dir(CLIENTS)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("Node is there")
}

async fn run(scenario: &str, server: Server, argument: &str, patience: u64) {
    let child = node(scenario, &server, argument);
    let output = timeout(Duration::from_secs(patience), child.wait_with_output()).await;
    let output = output.expect("the scenario ends in time").unwrap();
    assert!(output.status.success(), "{scenario}: {}", String::from_utf8_lossy(&output.stdout));
    assert!(server.stop().await, "all is stored at the end");
}

async fn scenario(name: &str) {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(SqliteStore::open(folder.path(), Durability::Full).unwrap());
    let server = server_on(store).await;
    run(name, server, "", 60).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn y_websocket_clients_sync() {
    scenario("sync").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn offline_edits_meet() {
    scenario("offline").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hocuspocus_clients_sync_and_are_acknowledged() {
    scenario("hocuspocus").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn many_documents_on_one_socket() {
    scenario("multiplex").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn large_documents() {
    scenario("large").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn y_websocket_clients_ask_what_is_stored() {
    scenario("stored").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tabs_relay_presence() {
    scenario("broadcast").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_and_readers() {
    let tokens = r#"
        [[token]]
        token = "writer-token"
        rooms = ["doc"]
        access = "read-write"
        [[token]]
        token = "reader-token"
        rooms = ["*"]
    "#;
    let auth: Arc<dyn Auth> = Arc::new(TokenFile::parse(tokens).unwrap());
    let server = server_with(Limits::default(), Arc::new(MemoryStore::new()), auth).await;
    run("auth", server, "", 60).await;
}

/// Three seconds here, with the keep-alive turned down in proportion; the 120 s of the promise are run by hand (below).
#[tokio::test(flavor = "multi_thread")]
async fn idle_clients_stay() {
    let limits = Limits {
        keep_alive: Duration::from_millis(400),
        silence: Duration::from_millis(1800),
        ..Limits::default()
    };
    let server = server_with(limits, Arc::new(MemoryStore::new()), Arc::new(Open)).await;
    run("idle", server, "3", 60).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "two minutes: cargo test -p yatta-server --test clients -- --ignored"]
async fn idle_clients_stay_for_two_minutes() {
    let server = server_with(Limits::default(), Arc::new(MemoryStore::new()), Arc::new(Open)).await;
    run("idle", server, "120", 180).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_come_back_to_a_restarted_server() {
    let folder = tempfile::tempdir().unwrap();
    let store =
        || -> Arc<dyn Store> { Arc::new(SqliteStore::open(folder.path(), Durability::Full).unwrap()) };
    let server = server_on(store()).await;
    let address = server.address();
    let mut child = node("reconnect", &server, "");
    let mut said = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut input = child.stdin.take().unwrap();
    let soon = Duration::from_secs(30);
    assert_eq!(timeout(soon, said.next_line()).await.unwrap().unwrap().as_deref(), Some("ready"));
    assert!(server.stop().await);
    input.write_all(b"ended\n").await.unwrap();
    assert_eq!(timeout(soon, said.next_line()).await.unwrap().unwrap().as_deref(), Some("edited"));
    let again = yatta_server::Config { listen: Some(address), ..settings() };
    let server = Server::with(again, Limits::default(), store(), Arc::new(Open)).await.unwrap();
    input.write_all(b"back\n").await.unwrap();
    let status = timeout(soon, child.wait()).await.unwrap().unwrap();
    assert!(status.success());
    assert!(server.stop().await);
}
