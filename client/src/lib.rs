//! A client of the y-websocket protocol: keeps a [`Doc`] and an [`Awareness`] in sync with a server, through reconnects
//! and times offline.
//!
//! ```no_run
//! use yatta::{Doc, Text, Transact};
//! use yatta_client::Client;
//!
//! # async fn example() -> Result<(), yatta_client::NotStored> {
//! let doc = Doc::new();
//! let client = Client::connect("ws://127.0.0.1:1234", "my-document", doc.clone());
//! client.synced().await;
//! doc.get_or_insert_text("text").insert(&mut doc.transact_mut(), 0, "hello");
//! client.stored().await?; // The disk of the server has it.
//! # Ok(())
//! # }
//! ```
//!
//! It speaks to every server of that protocol; only [`Client::stored`] needs one of this project. Cost of an edit: its update
//! once encoded and sent. Memory: what was edited and is not sent yet waits as updates; what is edited without a connection
//! costs nothing beside the document, as the next connection begins with what the server lacks.

#![forbid(unsafe_code)]

mod address;
mod backoff;
mod connection;
mod task;

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot, watch};
use yatta::Doc;
use yatta::sync::Awareness;

use self::task::{Outgoing, Task};

/// Where a client stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// No connection yet, or not any more; it tries again by itself.
    Connecting,
    /// There is a connection; the document of the server has not come yet.
    Connected,
    /// The document is that of the server, and follows it.
    Synced,
    /// No connection, by wish.
    Offline,
    /// The server said that coming back is of no use (close codes 4400 to 4499). The client has ended.
    Refused {
        /// The code.
        code: u16,
        /// The reason.
        reason: String,
    },
    /// The client was closed.
    Closed,
}

/// Why it is not known that edits are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotStored {
    /// The server takes no edits from this client.
    #[error("the server takes no edits from this client")]
    ReadOnly,
    /// The client was closed or refused before the server answered.
    #[error("the client ended before the server answered")]
    Ended,
}

/// A connection that is kept. Dropping it closes it.
pub struct Client {
    doc: Doc,
    awareness: Arc<Mutex<Awareness>>,
    outgoing: mpsc::UnboundedSender<Outgoing>,
    status: watch::Receiver<Status>,
    key: String,
}

impl Client {
    /// Starts to keep a document in sync with a room of a server, as a task of the present tokio runtime.
    ///
    /// `url` is that of the server (`ws://…` or `wss://…`); the name of the room becomes its path. Query parameters of the URL
    /// are kept: `wss://example.com?token=…`. Tasks that hold a transaction over an `await` make this one wait, not block.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn connect(url: &str, room: &str, doc: Doc) -> Self {
        let (outgoing, inbox) = mpsc::unbounded_channel();
        let (told, status) = watch::channel(Status::Connecting);
        let awareness = Arc::new(Mutex::new(Awareness::new(doc.clone())));
        let key = format!("yatta-client {:x}", fastrand::u64(..));
        subscribe(&doc, &awareness, &outgoing, &key);
        let url = address::of_room(url, room);
        let task = Task::new(url, doc.clone(), Arc::clone(&awareness), inbox, told, key.clone());
        tokio::spawn(task.run());
        Self { doc, awareness, outgoing, status, key }
    }

    /// Returns the document.
    pub fn doc(&self) -> &Doc {
        &self.doc
    }

    /// Returns who is there, to be locked for a moment only: what comes from the server waits for it meanwhile.
    pub fn awareness(&self) -> &Arc<Mutex<Awareness>> {
        &self.awareness
    }

    /// Returns where the client stands, to be watched.
    pub fn status(&self) -> watch::Receiver<Status> {
        self.status.clone()
    }

    /// Waits until the document of the server has come. Returns false if it never will.
    pub async fn synced(&self) -> bool {
        let over =
            |status: &Status| matches!(status, Status::Synced | Status::Refused { .. } | Status::Closed);
        let mut status = self.status.clone();
        let end = status.wait_for(over).await;
        end.is_ok_and(|status| *status == Status::Synced)
    }

    /// Waits until everything that was edited before this call is on the disk of the server, through reconnects if need be.
    ///
    /// Servers of other projects do not answer that: there it never returns.
    ///
    /// # Errors
    /// When the server takes no edits from this client, or the client ends first.
    pub async fn stored(&self) -> Result<(), NotStored> {
        let (answer, wait) = oneshot::channel();
        self.send(Outgoing::AskStored(answer));
        match wait.await {
            Ok(true) => Ok(()),
            Ok(false) => Err(NotStored::ReadOnly),
            Err(_) => Err(NotStored::Ended),
        }
    }

    /// Goes offline until [`Self::go_online`]; edits go on and are sent then.
    pub fn go_offline(&self) {
        self.send(Outgoing::Online(false));
    }

    /// Ends [`Self::go_offline`].
    pub fn go_online(&self) {
        self.send(Outgoing::Online(true));
    }

    /// Says goodbye and waits until that is done, a second at most. What is not known to be stored ([`Self::stored`]) may
    /// be lost with the document.
    pub async fn close(self) {
        self.send(Outgoing::Close);
        let mut status = self.status.clone();
        // An error means that the task has ended, which is what is waited for.
        let _ = status.wait_for(|status| matches!(status, Status::Refused { .. } | Status::Closed)).await;
    }

    fn send(&self, outgoing: Outgoing) {
        // The task has ended: then there is nothing to tell it.
        let _ = self.outgoing.send(outgoing);
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.send(Outgoing::Close);
        // Refused while this thread has a transaction open: then the observer finds its channel closed.
        let _ = self.doc.unobserve_update_v1(self.key.as_str());
        // The lock may be held by whoever drops this.
        if let Some(mut awareness) = self.awareness.try_lock() {
            awareness.unobserve_update(self.key.as_str());
        }
    }
}

/// Has local changes sent. What the task itself applies carries its key as origin.
fn subscribe(doc: &Doc, awareness: &Mutex<Awareness>, outgoing: &mpsc::UnboundedSender<Outgoing>, key: &str) {
    let (send, own) = (outgoing.clone(), yatta::Origin::from(key));
    let subscribed = doc.observe_update_v1(key, move |txn, event| {
        if txn.origin() != Some(&own) {
            let _ = send.send(Outgoing::Update(event.update.clone()));
        }
    });
    debug_assert!(subscribed.is_ok(), "subscribing needs no transaction");
    let send = outgoing.clone();
    let own = doc.client_id();
    awareness.lock().on_update(key, move |_, event, _| {
        // Also when the server said that this client is gone, which it protests against.
        if event.all_changes().contains(&own) {
            let _ = send.send(Outgoing::Presence);
        }
    });
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
