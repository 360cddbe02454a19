//! What the server grants (layer 0). Every bound has its default and its reason.

use std::time::Duration;

/// The bounds of a server. Zero of a rate means: no bound.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// Connections in all.
    pub connections: usize,
    /// Connections from one address. Behind a proxy all have its address: raise it there.
    pub connections_per_address: usize,
    /// Connections to one document.
    pub connections_per_document: usize,
    /// Documents in memory; the least recently used idle one makes room.
    pub rooms: usize,
    /// Documents that one hocuspocus socket opens.
    pub documents_per_connection: usize,
    /// Bytes of a message. A client that sends its whole document needs that much.
    pub message_bytes: usize,
    /// Bytes of a document, as stored.
    pub document_bytes: usize,
    /// Messages a second that a connection may go on sending; beyond it is read more slowly, never refused.
    pub messages_per_second: u32,
    /// Clients that a connection may speak for in presence.
    pub presence_clients: usize,
    /// Bytes of a presence state.
    pub presence_bytes: usize,
    /// Bytes that a connection may send before it is admitted.
    pub unauthenticated_bytes: usize,
    /// How long a connection may take to be admitted.
    pub unauthenticated_time: Duration,
    /// Bytes of broadcasts that may wait for a slow peer before it has to catch up by a diff.
    pub outbox_bytes: usize,
    /// How long a write may make no progress before the peer is given up.
    pub write_stall: Duration,
    /// How long a peer may be silent, pongs too, before it is given up.
    pub silence: Duration,
    /// Silence of ours after which a keep-alive goes out: half of what y-websocket clients bear.
    pub keep_alive: Duration,
    /// How long a room without peers stays in memory.
    pub idle_room: Duration,
    /// When a busy room collects what it sends.
    pub gather: GatherLimits,
    /// Bytes that may wait for the store before connections are read more slowly.
    pub backlog_bytes: usize,
}

/// When a busy room collects what it sends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GatherLimits {
    /// For how long; zero: never.
    pub window: Duration,
    /// Above how many deliveries a second (updates times peers).
    pub above: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 20_000,
            connections_per_address: 2_000,
            connections_per_document: 2_000,
            rooms: 10_000,
            documents_per_connection: 100,
            message_bytes: 64 << 20,
            document_bytes: 256 << 20,
            messages_per_second: 1_000,
            presence_clients: 100,
            presence_bytes: 64 << 10,
            unauthenticated_bytes: 256 << 10,
            unauthenticated_time: Duration::from_secs(10),
            outbox_bytes: 1 << 20,
            write_stall: Duration::from_secs(30),
            silence: Duration::from_secs(75),
            keep_alive: Duration::from_secs(15),
            idle_room: Duration::from_secs(30),
            gather: GatherLimits { window: Duration::from_millis(15), above: 4_000 },
            backlog_bytes: 128 << 20,
        }
    }
}
