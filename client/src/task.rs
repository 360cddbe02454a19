//! The task of a client: connects, talks, and connects again.
//!
//! What is edited without a connection is not queued: when the server says what it has, the answer holds all it lacks.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::{SinkExt, StreamExt};
use parking_lot::Mutex;
use tokio::net::TcpStream;
use tokio::sync::{mpsc, watch};
use tokio::time::{interval, sleep, timeout};
use tokio_tungstenite::tungstenite::Message as WsMessage;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};
use yatta::block::ClientID;
use yatta::sync::{Awareness, Message, MessageReader, SyncMessage};
use yatta::updates::decoder::{Decode, DecoderV1};
use yatta::updates::encoder::Encode;
use yatta::{Doc, ReadTxn, Transact, Update};

use crate::Status;
use crate::backoff::Backoff;

/// A try to connect may take so long.
const PATIENCE: Duration = Duration::from_secs(10);
/// As in y-websocket: who hears nothing for so long connects anew …
const WATCHDOG: Duration = Duration::from_secs(30);
/// … and presence is refreshed twice as often, which makes the server say something.
const REFRESH: Duration = Duration::from_secs(15);

/// What the handle and the observers ask for.
pub(crate) enum Outgoing {
    Update(Vec<u8>),
    Presence(Vec<ClientID>),
    Online(bool),
    Close,
}

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// Why a connection ended.
enum End {
    /// Try again.
    Lost,
    /// Wait until asked.
    Offline,
    Refused(u16, String),
    Closed,
}

pub(crate) struct Task {
    url: String,
    doc: Doc,
    awareness: Arc<Mutex<Awareness>>,
    inbox: mpsc::UnboundedReceiver<Outgoing>,
    status: watch::Sender<Status>,
    /// The origin of what comes from the server.
    key: String,
    backoff: Backoff,
}

impl Task {
    pub(crate) fn new(
        url: String,
        doc: Doc,
        awareness: Arc<Mutex<Awareness>>,
        inbox: mpsc::UnboundedReceiver<Outgoing>,
        status: watch::Sender<Status>,
        key: String,
    ) -> Self {
        Self { url, doc, awareness, inbox, status, key, backoff: Backoff::default() }
    }

    pub(crate) async fn run(mut self) {
        loop {
            self.status.send_replace(Status::Connecting);
            let end = match timeout(PATIENCE, connect_async(self.url.as_str())).await {
                Ok(Ok((socket, _))) => self.talk(socket).await,
                Ok(Err(_)) | Err(_) => End::Lost,
            };
            self.forget_others();
            let stay = match end {
                End::Lost => {
                    let time = self.backoff.next();
                    self.wait(Some(time)).await
                }
                End::Offline => {
                    self.status.send_replace(Status::Connecting);
                    self.wait(None).await
                }
                End::Refused(code, reason) => {
                    self.status.send_replace(Status::Refused { code, reason });
                    return;
                }
                End::Closed => false,
            };
            if !stay {
                self.status.send_replace(Status::Closed);
                return;
            }
        }
    }

    /// Waits for the time, or without one until it may go online; returns false when the client is closed.
    async fn wait(&mut self, time: Option<Duration>) -> bool {
        let mut online = time.is_some();
        let wake = sleep(time.unwrap_or_default());
        tokio::pin!(wake);
        loop {
            tokio::select! {
                () = &mut wake, if online => return true,
                outgoing = self.inbox.recv() => match outgoing {
                    None | Some(Outgoing::Close) => return false,
                    Some(Outgoing::Online(true)) if !online => return true,
                    Some(Outgoing::Online(now)) => online = now,
                    // The next connection brings all.
                    Some(Outgoing::Update(_) | Outgoing::Presence(_)) => {}
                },
            }
        }
    }

    async fn talk(&mut self, mut socket: Socket) -> End {
        self.status.send_replace(Status::Connected);
        let known = self.doc.transact().state_vector();
        let mut hello = vec![Message::Sync(SyncMessage::SyncStep1(known))];
        hello.extend(self.own_presence());
        for message in hello {
            if send(&mut socket, &message).await.is_err() {
                return End::Lost;
            }
        }
        let mut heard = Instant::now();
        let mut refresh = interval(REFRESH);
        refresh.reset();
        loop {
            let answers = tokio::select! {
                message = socket.next() => {
                    heard = Instant::now();
                    match message {
                        Some(Ok(WsMessage::Binary(frame))) => match self.take(&frame) {
                            Ok(answers) => answers,
                            // Not a server of this protocol, or not any more.
                            Err(_) => return End::Lost,
                        },
                        Some(Ok(WsMessage::Close(Some(CloseFrame { code, reason })))) if (4400..4500).contains(&u16::from(code)) => {
                            return End::Refused(code.into(), reason.to_string());
                        }
                        Some(Ok(WsMessage::Close(_)) | Err(_)) | None => return End::Lost,
                        Some(Ok(_)) => Vec::new(),
                    }
                }
                outgoing = self.inbox.recv() => match outgoing {
                    None | Some(Outgoing::Close) => {
                        self.leave(&mut socket).await;
                        return End::Closed;
                    }
                    Some(Outgoing::Online(false)) => {
                        self.leave(&mut socket).await;
                        return End::Offline;
                    }
                    Some(Outgoing::Online(true)) => Vec::new(),
                    Some(Outgoing::Update(update)) => vec![Message::Sync(SyncMessage::Update(update))],
                    Some(Outgoing::Presence(clients)) => self.presence(clients).into_iter().collect(),
                },
                _ = refresh.tick() => {
                    if heard.elapsed() > WATCHDOG {
                        return End::Lost;
                    }
                    self.refresh();
                    Vec::new()
                }
            };
            for answer in answers {
                if send(&mut socket, &answer).await.is_err() {
                    return End::Lost;
                }
            }
        }
    }

    /// Takes a frame in and returns what to answer.
    fn take(&mut self, frame: &[u8]) -> Result<Vec<Message>, yatta::encoding::read::Error> {
        let mut decoder = DecoderV1::from(frame);
        let mut answers = Vec::new();
        for message in MessageReader::new(&mut decoder) {
            match message? {
                Message::Sync(SyncMessage::SyncStep1(theirs)) => {
                    let lacks = self.doc.transact().encode_state_as_update_v1(&theirs);
                    answers.push(Message::Sync(SyncMessage::SyncStep2(lacks)));
                }
                Message::Sync(SyncMessage::SyncStep2(update)) => {
                    self.apply(&update)?;
                    self.backoff.reset();
                    self.status.send_replace(Status::Synced);
                }
                Message::Sync(SyncMessage::Update(update)) => self.apply(&update)?,
                Message::Awareness(update) => {
                    // A state that is no JSON is the fault of another client, not a reason to leave.
                    let _ = self.awareness.lock().apply_update_with(update, self.key.as_str());
                }
                Message::AwarenessQuery => {
                    let all = self.awareness.lock().update();
                    answers.extend(all.ok().map(Message::Awareness));
                }
                Message::Auth(_) | Message::Custom(..) => {}
            }
        }
        Ok(answers)
    }

    fn apply(&self, update: &[u8]) -> Result<(), yatta::encoding::read::Error> {
        let update = Update::decode_v1(update)?;
        let applied = self.doc.transact_mut_with(self.key.as_str()).apply_update(update);
        debug_assert!(applied.is_ok(), "a decoded update was checked whole");
        Ok(())
    }

    fn presence(&self, clients: Vec<ClientID>) -> Option<Message> {
        self.awareness.lock().update_with_clients(clients).ok().map(Message::Awareness)
    }

    fn own_presence(&self) -> Option<Message> {
        let awareness = self.awareness.lock();
        awareness.local_state_raw()?;
        let own = awareness.client_id();
        awareness.update_with_clients([own]).ok().map(Message::Awareness)
    }

    /// Says again what was said, which raises the clock; the observer sends it.
    fn refresh(&self) {
        let mut awareness = self.awareness.lock();
        if let Some(state) = awareness.local_state_raw() {
            awareness.set_local_state_raw(state);
        }
    }

    /// Without a connection nobody else is there.
    fn forget_others(&self) {
        let mut awareness = self.awareness.lock();
        let own = awareness.client_id();
        let others: Vec<ClientID> =
            awareness.iter().map(|(client, _)| client).filter(|client| *client != own).collect();
        for client in others {
            awareness.remove_state(client);
        }
    }

    /// Says that this client leaves.
    async fn leave(&self, socket: &mut Socket) {
        let gone = {
            let mut awareness = self.awareness.lock();
            let own = awareness.client_id();
            let state = awareness.local_state_raw();
            awareness.clean_local_state();
            let gone = awareness.update_with_clients([own]).ok();
            if let Some(state) = state {
                // For the time when it comes back.
                awareness.set_local_state_raw(state);
            }
            gone
        };
        let farewell = async {
            if let Some(gone) = gone {
                send(socket, &Message::Awareness(gone)).await?;
            }
            socket.close(None).await
        };
        let _ = timeout(Duration::from_secs(1), farewell).await;
    }
}

async fn send(socket: &mut Socket, message: &Message) -> Result<(), tokio_tungstenite::tungstenite::Error> {
    socket.send(WsMessage::Binary(message.encode_v1().into())).await
}
