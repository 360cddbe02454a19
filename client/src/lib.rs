//! A client of the y-websocket protocol: keeps a [`Doc`] and an [`Awareness`] in sync with a server, through reconnects
//! and times offline.
//!
//! ```no_run
//! use yatta::{Doc, Text, Transact};
//! use yatta_client::Client;
//!
//! # async fn example() {
//! let doc = Doc::new();
//! let client = Client::connect("ws://127.0.0.1:1234", "my-document", doc.clone());
//! client.synced().await;
//! doc.get_or_insert_text("text").insert(&mut doc.transact_mut(), 0, "hello");
//! # }
//! ```

#![forbid(unsafe_code)]

mod backoff;
mod task;

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::{mpsc, watch};
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
    /// are kept: `wss://example.com?token=…`.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn connect(url: &str, room: &str, doc: Doc) -> Self {
        let (outgoing, inbox) = mpsc::unbounded_channel();
        let (told, status) = watch::channel(Status::Connecting);
        let awareness = Arc::new(Mutex::new(Awareness::new(doc.clone())));
        let key = format!("yatta-client {:x}", fastrand::u64(..));
        subscribe(&doc, &awareness, &outgoing, &key);
        let task =
            Task::new(address(url, room), doc.clone(), Arc::clone(&awareness), inbox, told, key.clone());
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

    /// Goes offline until [`Self::go_online`]; edits go on and are sent then.
    pub fn go_offline(&self) {
        self.send(Outgoing::Online(false));
    }

    /// Ends [`Self::go_offline`].
    pub fn go_online(&self) {
        self.send(Outgoing::Online(true));
    }

    fn send(&self, outgoing: Outgoing) {
        // The task has ended: then there is nothing to tell it.
        let _ = self.outgoing.send(outgoing);
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.send(Outgoing::Close);
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
    let (send, own) = (outgoing.clone(), yatta::Origin::from(key));
    awareness.lock().on_update(key, move |_, event, origin| {
        if origin != Some(&own) {
            let _ = send.send(Outgoing::Presence(event.all_changes()));
        }
    });
}

/// The URL of a room: its name becomes the path, before the query.
fn address(url: &str, room: &str) -> String {
    let (base, query) = url.split_once('?').map_or((url, None), |(base, query)| (base, Some(query)));
    let mut address = base.trim_end_matches('/').to_owned();
    address.push('/');
    for byte in room.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            address.push(char::from(byte));
        } else {
            address.push_str(&format!("%{byte:02X}"));
        }
    }
    if let Some(query) = query {
        address.push('?');
        address.push_str(query);
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        assert_eq!(address("ws://a:1/", "b c/é"), "ws://a:1/b%20c%2F%C3%A9");
        assert_eq!(address("ws://a:1?token=x", "b"), "ws://a:1/b?token=x");
    }
}
