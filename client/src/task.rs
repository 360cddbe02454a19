//! The task of a client: connects, talks, and connects again.
//!
//! What is edited without a connection is not queued: when the server says what it has, the answer holds all it lacks.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{sleep, timeout};
use tokio_tungstenite::connect_async_with_config;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use yatta::Doc;
use yatta::block::ClientID;
use yatta::sync::Awareness;

use crate::Status;
use crate::backoff::Backoff;
use crate::connection::End;

/// A try to connect may take so long.
const PATIENCE: Duration = Duration::from_secs(10);
/// A connection that lasted so long was a success: the next wait is short again.
const LASTING: Duration = Duration::from_secs(5);
/// A whole document comes as one message; servers bound documents, so this bounds only a server that has gone mad.
const MESSAGE: usize = 512 << 20;

/// What the handle and the observers ask for.
pub(crate) enum Outgoing {
    Update(Vec<u8>),
    /// The own state has changed.
    Presence,
    /// To be answered when all that was asked for before is durable.
    AskStored(oneshot::Sender<bool>),
    Online(bool),
    Close,
}

/// Who waits for edits to be durable, and the number that was asked with.
pub(crate) struct Waiting {
    pub(crate) token: u64,
    pub(crate) answer: oneshot::Sender<bool>,
}

pub(crate) struct Task {
    url: String,
    pub(crate) doc: Doc,
    pub(crate) awareness: Arc<Mutex<Awareness>>,
    pub(crate) inbox: mpsc::UnboundedReceiver<Outgoing>,
    pub(crate) status: watch::Sender<Status>,
    /// The origin of what comes from the server.
    pub(crate) key: String,
    backoff: Backoff,
    /// Survive connections: the next one asks again.
    pub(crate) waiting: VecDeque<Waiting>,
    next_token: u64,
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
        let (backoff, waiting) = (Backoff::default(), VecDeque::new());
        Self { url, doc, awareness, inbox, status, key, backoff, waiting, next_token: 1 }
    }

    pub(crate) async fn run(mut self) {
        let config = WebSocketConfig::default().max_message_size(Some(MESSAGE)).max_frame_size(Some(MESSAGE));
        loop {
            self.status.send_replace(Status::Connecting);
            let connecting = connect_async_with_config(self.url.as_str(), Some(config), true);
            let end = match timeout(PATIENCE, connecting).await {
                Ok(Ok((socket, _))) => {
                    let begun = Instant::now();
                    let end = self.talk(socket).await;
                    if begun.elapsed() >= LASTING {
                        self.backoff.reset();
                    }
                    end
                }
                Ok(Err(_)) | Err(_) => End::Lost,
            };
            self.forget_others();
            let stay = match end {
                End::Lost => {
                    self.status.send_replace(Status::Connecting);
                    let time = self.backoff.next();
                    self.wait(Some(time)).await
                }
                End::Offline => {
                    self.status.send_replace(Status::Offline);
                    self.backoff.reset();
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
                    Some(Outgoing::Online(now)) => {
                        online = now;
                        self.status.send_replace(if now { Status::Connecting } else { Status::Offline });
                    }
                    Some(Outgoing::AskStored(answer)) => drop(self.enlist(answer)),
                    // The next connection brings all.
                    Some(Outgoing::Update(_) | Outgoing::Presence) => {}
                },
            }
        }
    }

    /// Takes note of somebody who waits; returns the number to ask with.
    pub(crate) fn enlist(&mut self, answer: oneshot::Sender<bool>) -> u64 {
        let token = self.next_token;
        self.next_token += 1;
        self.waiting.retain(|waiting| !waiting.answer.is_closed());
        self.waiting.push_back(Waiting { token, answer });
        token
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
}
