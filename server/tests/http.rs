//! The REST API, its description, health, metrics, webhooks, origins, TLS.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use common::{Came, Client, Raw, eventually, server_on, settings};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use yatta::{Doc, Map, ReadTxn, StateVector, Text, Transact, XmlFragment};
use yatta_server::auth::Open;
use yatta_server::http::api::{OPENAPI, ROUTES};
use yatta_server::http::webhook::signature;
use yatta_server::limits::Limits;
use yatta_server::name::RoomName;
use yatta_server::room::Receipt;
use yatta_server::store::Store;
use yatta_server::store::faulty::FaultyStore;
use yatta_server::store::memory::MemoryStore;
use yatta_server::{Config, Server};

const TOKEN: &str = "a token of the API";

async fn start(config: Config) -> Server {
    let store = Arc::new(MemoryStore::new());
    Server::with(config, Limits::default(), store, Arc::new(Open)).await.unwrap()
}

async fn with_api() -> (Server, Api) {
    let server = start(Config { api_token: Some(TOKEN.to_owned()), ..settings() }).await;
    let api = Api { base: format!("http://{}/api/v1", server.address()), client: reqwest::Client::new() };
    (server, api)
}

struct Api {
    base: String,
    client: reqwest::Client,
}

impl Api {
    async fn call(
        &self,
        method: Method,
        path: &str,
        body: impl Into<reqwest::Body>,
    ) -> (StatusCode, Vec<u8>) {
        let request =
            self.client.request(method, format!("{}{path}", self.base)).bearer_auth(TOKEN).body(body);
        let answer = request.send().await.unwrap();
        (answer.status(), answer.bytes().await.unwrap().to_vec())
    }

    async fn json(&self, path: &str) -> Value {
        let (status, body) = self.call(Method::GET, path, "").await;
        assert_eq!(status, 200, "{path}");
        serde_json::from_slice(&body).unwrap()
    }
}

/// The state of a document with one text.
fn state(text: &str) -> Vec<u8> {
    let doc = Doc::new();
    doc.get_or_insert_text("text").insert(&mut doc.transact_mut(), 0, text);
    doc.transact().encode_state_as_update_v1(&StateVector::default())
}

#[tokio::test(flavor = "multi_thread")]
async fn documents() {
    let (server, api) = with_api().await;
    assert_eq!(api.call(Method::GET, "/documents/a", "").await.0, 404);
    assert_eq!(api.call(Method::POST, "/documents/a", state("hello")).await.0, 204);
    // A client sees what the API wrote, and the other way round.
    let mut client = Client::join(&server, "a").await;
    assert_eq!(client.text(), "hello");
    client.type_text(" world").await;
    eventually("the edit is there", || server.rooms().shared().metrics.updates.get() == 2).await;
    assert_eq!(api.json("/documents/a?format=json").await, json!({ "text": "hello world" }));
    assert_eq!(api.call(Method::GET, "/documents/a?format=text", "").await.1, b"hello world");
    assert_eq!(api.call(Method::POST, "/documents/a", state("more, ")).await.0, 204);
    client.until("more, ").await;
    let (_, update) = api.call(Method::GET, "/documents/a", "").await;
    let copy = Doc::new();
    copy.transact_mut().apply_update(yatta::updates::decoder::Decode::decode_v1(&update).unwrap()).unwrap();
    let text = copy.get_or_insert_text("text");
    assert_eq!(yatta::GetString::get_string(&text, &copy.transact()), client.text());
    // Names and bytes that are not right.
    assert_eq!(api.call(Method::POST, "/documents/a%00b", state("x")).await.0, 400);
    assert_eq!(api.call(Method::POST, "/documents/a", vec![1, 2, 3]).await.0, 400);
    assert_eq!(api.call(Method::GET, "/documents/a?format=xml", "").await.0, 400);
    // A slash in a name, and pages.
    for name in ["b%2Fc", "d", "e"] {
        assert_eq!(api.call(Method::POST, &format!("/documents/{name}"), state("x")).await.0, 204);
    }
    let page = api.json("/documents?limit=2").await;
    assert_eq!(page["documents"][1]["name"], "b/c");
    assert_eq!(page["next"], "b/c");
    let page = api.json("/documents?limit=5&after=b/c").await;
    assert_eq!((page["documents"].as_array().unwrap().len(), &page["next"]), (2, &Value::Null));
    assert_eq!(api.json("/rooms").await["rooms"][0]["peers"], 1);
    // Closing sends peers away; the document stays. Removing removes it.
    assert_eq!(api.call(Method::POST, "/rooms/a/close", "").await.0, 204);
    assert_eq!(client.raw.close_code().await, 4205);
    assert_eq!(api.call(Method::POST, "/rooms/nobody/close", "").await.0, 404);
    assert_eq!(api.call(Method::GET, "/documents/a", "").await.0, 200);
    let mut client = Client::join(&server, "a").await;
    assert_eq!(api.call(Method::DELETE, "/documents/a", "").await.0, 204);
    assert_eq!(client.raw.close_code().await, 4205);
    assert_eq!(api.call(Method::DELETE, "/documents/a", "").await.0, 404);
    assert_eq!(Client::join(&server, "a").await.text(), "");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn kinds_of_roots() {
    let (server, api) = with_api().await;
    let doc = Doc::new();
    doc.get_or_insert_map("map").insert(&mut doc.transact_mut(), "a", 1);
    let xml = doc.get_or_insert_xml_fragment("xml");
    xml.push_back(&mut doc.transact_mut(), yatta::XmlElementPrelim::empty("p"));
    let update = doc.transact().encode_state_as_update_v1(&StateVector::default());
    api.call(Method::POST, "/documents/a", update).await;
    let all = json!({ "map": { "a": 1 }, "xml": "<p></p>" });
    assert_eq!(api.json("/documents/a?format=json").await, all);
    assert_eq!(api.json("/documents/a?format=json&root=map&kind=map").await, json!({ "a": 1 }));
    assert_eq!(api.call(Method::GET, "/documents/a?format=text&root=xml&kind=xml", "").await.1, b"<p></p>");
    server.stop().await;
}

/// Of many who bring the first content of a document, one wins: content is never doubled.
#[tokio::test(flavor = "multi_thread")]
async fn one_seed_wins() {
    let (server, api) = with_api().await;
    let api = Arc::new(api);
    let mut tries = tokio::task::JoinSet::new();
    for _ in 0..30 {
        let api = Arc::clone(&api);
        tries
            .spawn(async move { api.call(Method::PUT, "/documents/seeded", state("seed")).await.0.as_u16() });
    }
    let mut answers = tries.join_all().await;
    answers.sort_unstable();
    assert_eq!(answers[0], 201);
    assert!(answers[1..].iter().all(|answer| *answer == 409), "{answers:?}");
    assert_eq!(api.call(Method::GET, "/documents/seeded?format=text", "").await.1, b"seed");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn versions() {
    let (server, api) = with_api().await;
    assert_eq!(api.call(Method::POST, "/documents/a", state("first")).await.0, 204);
    let label = async |label: &str| {
        let request = api.client.post(format!("{}/documents/a/versions", api.base)).bearer_auth(TOKEN);
        let answer = request
            .header("content-type", "application/json")
            .body(json!({ "label": label }).to_string())
            .send()
            .await
            .unwrap();
        assert_eq!(answer.status(), 201);
        serde_json::from_slice::<Value>(&answer.bytes().await.unwrap()).unwrap()
    };
    let version = label("one").await;
    let mut client = Client::join(&server, "a").await;
    {
        let root = client.doc.get_or_insert_text("text");
        let update = {
            let mut txn = client.doc.transact_mut();
            root.remove_range(&mut txn, 0, 5);
            root.insert(&mut txn, 0, "second");
            txn.encode_update_v1()
        };
        client.raw.send(yatta_server::wire::update(&[], &update)).await;
    }
    eventually("the edit is there", || server.rooms().shared().metrics.updates.get() == 2).await;
    label("two").await;
    let listed = api.json("/documents/a/versions").await;
    assert_eq!(listed["versions"][0], version);
    assert_eq!(listed["versions"][1]["label"], "two");
    let path = format!("/documents/a/versions/{}", version["id"]);
    assert_eq!(api.call(Method::GET, &path, "").await.1.len() as u64, version["bytes"].as_u64().unwrap());
    assert_eq!(api.call(Method::POST, &format!("{path}/restore"), "").await.0, 204);
    while client.text() != "first" {
        client.take().await;
    }
    assert_eq!(api.call(Method::GET, "/documents/a?format=text", "").await.1, b"first");
    assert_eq!(api.call(Method::POST, "/documents/a/versions/99/restore", "").await.0, 404);
    server.stop().await;
}

/// Every path and method of the description is there and asks for the token; nothing that is there is undescribed.
#[tokio::test(flavor = "multi_thread")]
async fn the_description_is_true() {
    let described: Value = serde_json::from_str(OPENAPI).unwrap();
    let methods = ["get", "put", "post", "delete"];
    let mut listed = BTreeSet::new();
    for (path, item) in described["paths"].as_object().unwrap() {
        for method in item.as_object().unwrap().keys().filter(|key| methods.contains(&key.as_str())) {
            listed.insert((path.as_str(), method.as_str()));
        }
    }
    let there: BTreeSet<_> =
        ROUTES.iter().flat_map(|(path, methods)| methods.iter().map(|method| (*path, *method))).collect();
    assert_eq!(listed, there);
    let (server, api) = with_api().await;
    for (path, method) in there {
        let url = format!("{}{}", api.base, path.replace("{name}", "a").replace("{id}", "1"));
        let verb = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
        let without = api.client.request(verb.clone(), &url).send().await.unwrap().status().as_u16();
        assert_eq!(without, if path == "/openapi.json" { 200 } else { 401 }, "{method} {path}");
        let answer = api.client.request(verb, &url).bearer_auth(TOKEN).send().await.unwrap();
        let status = answer.status().as_u16();
        assert_ne!(status, 405, "{method} {path}");
        let responses = &described["paths"][path][method]["responses"];
        let ours = responses.get(status.to_string()).is_some();
        // Bodies that are no JSON or of no content type are refused before our code sees them.
        assert!(ours || matches!(status, 415 | 422), "{method} {path} answers {status}, undescribed");
        if status >= 400 && ours {
            let error: Value = serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap();
            assert!(error["error"].is_string(), "{method} {path}: {error}");
        }
    }
    for method in ["PATCH", "PUT"] {
        let verb = Method::from_bytes(method.as_bytes()).unwrap();
        assert_eq!(api.call(verb, "/documents", "").await.0, 405);
    }
    assert_eq!(api.call(Method::GET, "/nothing", "").await.0, 404);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_api_is_off_without_a_token_and_open_on_demand() {
    let server = start(settings()).await;
    let url = format!("http://{}/api/v1/rooms", server.address());
    let client = reqwest::Client::new();
    for token in ["", "x"] {
        assert_eq!(client.get(&url).bearer_auth(token).send().await.unwrap().status(), 401);
    }
    server.stop().await;
    let server = start(Config { api_open: Some(true), ..settings() }).await;
    let url = format!("http://{}/api/v1/rooms", server.address());
    assert_eq!(client.get(&url).send().await.unwrap().status(), 200);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn health_and_metrics() {
    let store = Arc::new(FaultyStore::new(Arc::new(MemoryStore::new())));
    let server = server_on(Arc::clone(&store) as Arc<dyn Store>).await;
    let get = async |path: &str| {
        let answer = reqwest::get(format!("http://{}{path}", server.address())).await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    };
    store.faults().append.store(true, Ordering::SeqCst);
    assert_eq!(get("/readyz").await.0, 503);
    assert_eq!(get("/healthz").await, (200, "ok\n".to_owned()));
    store.faults().append.store(false, Ordering::SeqCst);
    tokio::time::sleep(Duration::from_millis(2100)).await;
    assert_eq!(get("/readyz").await.0, 200);
    let mut client = Client::join(&server, "a").await;
    client.type_text("x").await;
    eventually("it counts", || server.rooms().shared().metrics.updates.get() == 1).await;
    let text = get("/metrics").await.1;
    for line in
        ["yatta_connections 1", "yatta_rooms 1", "yatta_updates_total 1", "yatta_store_seconds_count 1"]
    {
        assert!(text.lines().any(|found| found == line), "{line}: {text}");
    }
    assert_eq!(get("/").await.0, 200);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_other_origins_are_refused() {
    let server = start(Config { origins: Some(vec!["https://good.example".to_owned()]), ..settings() }).await;
    let connect = async |origin: &'static str| {
        let mut request = format!("ws://{}/room", server.address()).into_client_request().unwrap();
        request.headers_mut().insert("origin", origin.parse().unwrap());
        let (socket, _) = tokio_tungstenite::connect_async(request).await.unwrap();
        Raw { socket }
    };
    let mut bad = connect("https://bad.example").await;
    assert_eq!(bad.frame().await[..2], [2, 0], "old clients are told in words");
    assert_eq!(bad.close_code().await, 4403);
    let mut good = connect("https://good.example").await;
    good.send(&[0, 0, 1, 0][..]).await;
    assert!(matches!(good.next().await, Came::Frame(_)));
    Client::join(&server, "room").await;
    server.stop().await;
}

/// The receiver of webhooks: answers each request with the next status, and keeps what came.
async fn receiver(statuses: Vec<u16>) -> (String, tokio::sync::mpsc::UnboundedReceiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    let (told, hooks) = tokio::sync::mpsc::unbounded_channel();
    tokio::spawn(async move {
        let mut statuses = statuses.into_iter();
        while let Ok((mut socket, _)) = listener.accept().await {
            let mut request = Vec::new();
            let mut buffer = [0; 4096];
            while !request.ends_with(b"}") {
                let n = socket.read(&mut buffer).await.unwrap();
                request.extend_from_slice(&buffer[..n]);
            }
            let status = statuses.next().unwrap_or(200);
            let answer = format!("HTTP/1.1 {status} X\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
            socket.write_all(answer.as_bytes()).await.unwrap();
            if told.send(String::from_utf8(request).unwrap()).is_err() {
                return;
            }
        }
    });
    (url, hooks)
}

#[tokio::test(flavor = "multi_thread")]
async fn webhooks() {
    let (url, mut hooks) = receiver(vec![500]).await;
    let server = start(Config {
        webhook_url: Some(url),
        webhook_secret: Some("secret".to_owned()),
        webhook_debounce: Some(200),
        ..settings()
    })
    .await;
    let mut client = Client::join(&server, "doc").await;
    for _ in 0..10 {
        client.type_text("x").await;
    }
    let first = tokio::time::timeout(common::PATIENCE, hooks.recv()).await.unwrap().unwrap();
    let second = tokio::time::timeout(common::PATIENCE, hooks.recv()).await.unwrap().unwrap();
    let body = second.split_once("\r\n\r\n").unwrap().1;
    assert!(first.ends_with(body), "a refused hook is sent again");
    let told: Value = serde_json::from_str(body).unwrap();
    assert_eq!((&told["event"], &told["document"]), (&json!("change"), &json!("doc")));
    let signed = format!("x-yatta-signature: {}\r\n", signature("secret", body.as_bytes()));
    assert!(second.to_lowercase().contains(&signed), "{second}");
    eventually("it is counted", || server.rooms().shared().metrics.webhooks.get() == 1).await;
    assert!(
        tokio::time::timeout(Duration::from_millis(500), hooks.recv()).await.is_err(),
        "ten edits, one hook"
    );
    // What is not told yet when the server ends is told then.
    client.type_text("last").await;
    eventually("the edit is there", || server.rooms().shared().metrics.updates.get() == 11).await;
    server.stop().await;
    assert!(tokio::time::timeout(common::PATIENCE, hooks.recv()).await.unwrap().is_some());
}

/// The receiver is down when the server ends: what it was not told it hears after the next start.
#[tokio::test(flavor = "multi_thread")]
async fn webhooks_outlive_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let config = |url: String, debounce| Config {
        webhook_url: Some(url),
        webhook_debounce: Some(debounce),
        data_dir: Some(folder.path().to_owned()),
        ..settings()
    };
    let (down, mut refused) = receiver(vec![500; 100]).await;
    let server = Server::start(config(down, 20)).await.unwrap();
    let mut tried = Client::join(&server, "tried-in-vain").await;
    tried.type_text("x").await;
    assert!(tokio::time::timeout(common::PATIENCE, refused.recv()).await.unwrap().is_some());
    let mut late = Client::join(&server, "at-the-end").await;
    late.type_text("x").await;
    eventually("the edits are there", || server.rooms().shared().metrics.updates.get() == 2).await;
    assert!(server.stop().await);
    let (up, mut hooks) = receiver(Vec::new()).await;
    let server = Server::start(config(up, 20)).await.unwrap();
    let mut told = Vec::new();
    for _ in 0..2 {
        let hook = tokio::time::timeout(common::PATIENCE, hooks.recv()).await.unwrap().unwrap();
        let body: Value = serde_json::from_str(hook.split_once("\r\n\r\n").unwrap().1).unwrap();
        told.push(body["document"].as_str().unwrap().to_owned());
    }
    told.sort();
    assert_eq!(told, ["at-the-end", "tried-in-vain"]);
    assert!(server.stop().await);
    assert!(!folder.path().join("webhooks.json").exists(), "all are told");
}

fn key(name: &str) -> std::path::PathBuf {
    std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/keys")).join(name)
}

/// Makes TLS connections to a server with the certificate of the tests.
fn connector() -> TlsConnector {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(key("tls.pem")).unwrap()).unwrap();
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let client = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    TlsConnector::from(Arc::new(client))
}

/// A peer behind TLS that does not read does not hold up the end, though its last bytes lie in the buffer of TLS.
#[tokio::test(flavor = "multi_thread")]
async fn the_end_does_not_wait_for_tls() {
    use futures_util::{SinkExt, StreamExt};

    let config = Config {
        tls_cert: Some(key("tls.pem")),
        tls_key: Some(key("tls.key.pem")),
        memory: Some(true),
        gather: Some(0),
        ..settings()
    };
    let server = start(config).await;
    let socket = tokio::net::TcpStream::connect(server.address()).await.unwrap();
    let stream = connector().connect(ServerName::try_from("localhost").unwrap(), socket).await.unwrap();
    let url = format!("wss://localhost:{}/room", server.address().port());
    let (mut stalled, _) = tokio_tungstenite::client_async(&url, stream).await.unwrap();
    stalled.send(vec![0, 0, 1, 0].into()).await.unwrap();
    stalled.next().await.unwrap().unwrap();
    stalled.next().await.unwrap().unwrap();
    let room = server.rooms().enter(&RoomName::new("room").unwrap()).await.unwrap();
    let doc = Doc::new();
    let text = doc.get_or_insert_text("text");
    // More than all buffers hold, piece by piece: each is flushed.
    let part = "x".repeat(20_000);
    for _ in 0..1_000 {
        let update = {
            let mut txn = doc.transact_mut();
            text.insert(&mut txn, 0, &part);
            txn.encode_update_v1()
        };
        room.update(None, &update, Receipt::None).unwrap();
        tokio::time::sleep(Duration::from_micros(500)).await;
    }
    drop(room);
    let begun = std::time::Instant::now();
    assert!(server.stop().await);
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(4), "{took:?}");
    drop(stalled);
}

/// With a certificate everything is encrypted: documents, pages, the API; who speaks plainly is not answered.
#[tokio::test(flavor = "multi_thread")]
async fn tls() {
    use futures_util::{SinkExt, StreamExt};

    let config = Config { tls_cert: Some(key("tls.pem")), tls_key: Some(key("tls.key.pem")), ..settings() };
    let server = start(config.clone()).await;
    let connector = connector();
    let connect = async || {
        let socket = tokio::net::TcpStream::connect(server.address()).await.unwrap();
        connector.connect(ServerName::try_from("localhost").unwrap(), socket).await.unwrap()
    };
    let url = format!("wss://localhost:{}/room", server.address().port());
    let (mut socket, _) = tokio_tungstenite::client_async(&url, connect().await).await.unwrap();
    socket.send(vec![0, 0, 1, 0].into()).await.unwrap();
    let first = socket.next().await.unwrap().unwrap().into_data();
    assert_eq!(first[..], [0, 0, 1, 0]);
    // More than a record of TLS holds.
    let doc = Doc::new();
    let text = doc.get_or_insert_text("text");
    text.insert(&mut doc.transact_mut(), 0, &"x".repeat(300_000));
    let state = doc.transact().encode_state_as_update_v1(&StateVector::default());
    socket.send(yatta_server::wire::update(&[], &state).into()).await.unwrap();
    while socket.next().await.unwrap().unwrap().into_data().len() < 300_000 {}
    let mut page = connect().await;
    page.write_all(b"GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    page.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(tokio_tungstenite::connect_async(format!("ws://{}/room", server.address())).await.is_err());
    drop(socket);
    server.stop().await;
    // A key that is none is said at the start.
    let wrong = Config { tls_key: Some(key("tls.pem")), ..config };
    let refused = Server::with(wrong, Limits::default(), Arc::new(MemoryStore::new()), Arc::new(Open)).await;
    assert!(refused.err().is_some_and(|error| error.contains("tls.pem")));
}
