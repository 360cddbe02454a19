//! What the tests of a running server share: one in this process, and clients that speak the raw protocol.
#![allow(dead_code, unreachable_pub, reason = "each test file uses some of it, in a crate of its own")]
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message as WsMessage;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};
use yatta::updates::decoder::Decode;
use yatta::updates::encoder::Encode;
use yatta::{Doc, GetString, ReadTxn, Text, Transact, Update};
use yatta_server::auth::{Auth, Open};
use yatta_server::limits::Limits;
use yatta_server::store::Store;
use yatta_server::store::memory::MemoryStore;
use yatta_server::wire::{self, Message};
use yatta_server::{Config, Server};

/// Nothing a test waits for takes longer.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// Settings for a test: a free port.
pub fn settings() -> Config {
    Config { listen: Some("127.0.0.1:0".parse().unwrap()), drain: Some(5), ..Config::default() }
}

pub async fn server_with(limits: Limits, store: Arc<dyn Store>, auth: Arc<dyn Auth>) -> Server {
    Server::with(settings(), limits, store, auth).await.unwrap()
}

/// A server that keeps its documents in `store` and admits everybody.
pub async fn server_on(store: Arc<dyn Store>) -> Server {
    server_with(Limits::default(), store, Arc::new(Open)).await
}

pub async fn server() -> Server {
    server_on(Arc::new(MemoryStore::new())).await
}

/// A client that speaks frames.
pub struct Raw {
    pub socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
}

/// What came.
#[derive(Debug, PartialEq, Eq)]
pub enum Came {
    Frame(Bytes),
    Closed(u16),
    Gone,
}

impl Raw {
    pub async fn connect(server: &Server, path: &str) -> Self {
        Self::connect_to(server.address(), path).await
    }

    pub async fn connect_to(address: SocketAddr, path: &str) -> Self {
        let (socket, _) = connect_async(format!("ws://{address}/{path}")).await.unwrap();
        Self { socket }
    }

    /// Sends if somebody is there.
    pub async fn try_send(&mut self, frame: Bytes) -> bool {
        self.socket.send(WsMessage::Binary(frame)).await.is_ok()
    }

    pub async fn send(&mut self, frame: impl Into<Bytes>) {
        self.socket.send(WsMessage::Binary(frame.into())).await.unwrap();
    }

    /// The next frame or the end; fails if neither comes.
    pub async fn next(&mut self) -> Came {
        timeout(PATIENCE, self.next_ever()).await.expect("something comes in time")
    }

    /// The next frame, if one comes within the time.
    pub async fn next_within(&mut self, time: Duration) -> Option<Came> {
        timeout(time, self.next_ever()).await.ok()
    }

    async fn next_ever(&mut self) -> Came {
        loop {
            match self.socket.next().await {
                Some(Ok(WsMessage::Binary(frame))) => return Came::Frame(frame),
                Some(Ok(WsMessage::Close(Some(frame)))) => return Came::Closed(frame.code.into()),
                Some(Ok(WsMessage::Close(None)) | Err(_)) | None => return Came::Gone,
                Some(Ok(_)) => {}
            }
        }
    }

    pub async fn frame(&mut self) -> Bytes {
        match self.next().await {
            Came::Frame(frame) => frame,
            other => panic!("a frame was due, {other:?} came"),
        }
    }

    /// The code that the server closes with; frames before it are skipped.
    pub async fn close_code(&mut self) -> u16 {
        loop {
            match self.next().await {
                Came::Frame(_) => {}
                Came::Closed(code) => return code,
                Came::Gone => panic!("gone without a code"),
            }
        }
    }
}

/// A y-websocket client with a document of one text.
pub struct Client {
    pub raw: Raw,
    pub doc: Doc,
}

impl Client {
    /// Connects and syncs.
    pub async fn join(server: &Server, path: &str) -> Self {
        Self::join_with(server, path, Doc::new()).await
    }

    pub async fn join_with(server: &Server, path: &str, doc: Doc) -> Self {
        Self::join_at(server.address(), path, doc).await
    }

    pub async fn join_at(address: SocketAddr, path: &str, doc: Doc) -> Self {
        let mut raw = Raw::connect_to(address, path).await;
        let state_vector = doc.transact().state_vector().encode_v1();
        raw.send(wire::step1(&[], &state_vector)).await;
        let mut client = Self { raw, doc };
        while !client.take().await {}
        client
    }

    /// Takes one frame in; returns whether it was a step 2.
    pub async fn take(&mut self) -> bool {
        let frame = self.raw.frame().await;
        match wire::read(&frame).unwrap() {
            Message::Step1(state_vector) => {
                let known = yatta::StateVector::decode_v1(state_vector).unwrap();
                let diff = self.doc.transact().encode_state_as_update_v1(&known);
                self.raw.send(wire::step2(&[], &diff)).await;
                false
            }
            Message::Step2(update) => {
                self.apply(update);
                true
            }
            Message::Update(update) => {
                self.apply(update);
                false
            }
            _ => false,
        }
    }

    pub fn apply(&self, update: &[u8]) {
        self.doc.transact_mut().apply_update(Update::decode_v1(update).unwrap()).unwrap();
    }

    /// Appends a text here and sends it.
    pub async fn type_text(&mut self, text: &str) {
        let update = self.edit(text);
        self.raw.send(wire::update(&[], &update)).await;
    }

    /// Appends a text here, sends nothing.
    pub fn edit(&self, text: &str) -> Vec<u8> {
        let root = self.doc.get_or_insert_text("text");
        let mut txn = self.doc.transact_mut();
        let end = root.len(&txn);
        root.insert(&mut txn, end, text);
        txn.encode_update_v1()
    }

    pub fn text(&self) -> String {
        self.doc.get_or_insert_text("text").get_string(&self.doc.transact())
    }

    /// Takes frames in until the text holds this.
    pub async fn until(&mut self, part: &str) {
        while !self.text().contains(part) {
            self.take().await;
        }
    }
}

/// Waits until something is so.
pub async fn eventually(what: &str, mut is: impl FnMut() -> bool) {
    let end = tokio::time::Instant::now() + PATIENCE;
    while !is() {
        assert!(tokio::time::Instant::now() < end, "in time: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
