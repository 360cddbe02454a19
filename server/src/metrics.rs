//! What the server counts (layer 0): atomics, read by `/metrics`. Cost of counting: one atomic addition.

use std::sync::atomic::AtomicU64;
use std::time::Instant;

use parking_lot::Mutex;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

/// Names a close code.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub struct CloseLabel {
    /// The code on the wire.
    pub code: u32,
}

/// All counters.
pub struct Metrics {
    /// Open sockets.
    pub connections: Gauge,
    /// Documents in memory.
    pub rooms: Gauge,
    /// Messages that came.
    pub messages_in: Counter,
    /// Bytes of them.
    pub bytes_in: Counter,
    /// Frames that went out.
    pub messages_out: Counter,
    /// Bytes of them.
    pub bytes_out: Counter,
    /// Updates that changed a document.
    pub updates: Counter,
    /// Edits of read-only clients that were not taken.
    pub refused_writes: Counter,
    /// Times that a slow peer had to catch up.
    pub catch_ups: Counter,
    /// Documents read from the store.
    pub loads: Counter,
    /// Documents that could not be read.
    pub load_errors: Counter,
    /// Updates that could not be stored.
    pub store_errors: Counter,
    /// Compactions that did something.
    pub compactions: Counter,
    /// Webhooks that were delivered.
    pub webhooks: Counter,
    /// Webhooks that were given up.
    pub webhook_errors: Counter,
    /// Connections that the server closed.
    pub closed: Family<CloseLabel, Counter>,
    /// From an update to its durability, in seconds.
    pub store_seconds: Histogram,
    /// When that was last so.
    pub store_failed: Mutex<Option<Instant>>,
    registry: Registry,
    /// Numbers connections in logs.
    pub next_connection: AtomicU64,
}

impl Metrics {
    /// Makes counters that stand at zero.
    pub fn new() -> Self {
        let mut registry = Registry::with_prefix("yatta");
        let buckets = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0];
        let store_seconds = Histogram::new(buckets);
        registry.register("store_seconds", "From an update to its durability", store_seconds.clone());
        let closed = Family::<CloseLabel, Counter>::default();
        registry.register("closed", "Connections that the server closed, by code", closed.clone());
        let mut gauge = |name, help| {
            let gauge: Gauge = Gauge::default();
            registry.register(name, help, gauge.clone());
            gauge
        };
        let connections = gauge("connections", "Open sockets");
        let rooms = gauge("rooms", "Documents in memory");
        let mut counter = |name, help| {
            let counter: Counter = Counter::default();
            registry.register(name, help, counter.clone());
            counter
        };
        Self {
            connections,
            rooms,
            messages_in: counter("messages_in", "Messages that came"),
            bytes_in: counter("bytes_in", "Bytes that came"),
            messages_out: counter("messages_out", "Frames that went out"),
            bytes_out: counter("bytes_out", "Bytes that went out"),
            updates: counter("updates", "Updates that changed a document"),
            refused_writes: counter("refused_writes", "Edits of read-only clients that were not taken"),
            catch_ups: counter("catch_ups", "Times that a slow peer had to catch up"),
            loads: counter("loads", "Documents read from the store"),
            load_errors: counter("load_errors", "Documents that could not be read"),
            store_errors: counter("store_errors", "Updates that could not be stored"),
            compactions: counter("compactions", "Compactions that did something"),
            webhooks: counter("webhooks", "Webhooks that were delivered"),
            webhook_errors: counter("webhook_errors", "Webhooks that were given up"),
            closed,
            store_seconds,
            store_failed: Mutex::default(),
            registry,
            next_connection: AtomicU64::new(1),
        }
    }

    /// Writes all in the text format of OpenMetrics, which Prometheus reads.
    pub fn text(&self) -> String {
        let mut text = String::new();
        if prometheus_client::encoding::text::encode(&mut text, &self.registry).is_err() {
            tracing::error!("the metrics could not be written");
        }
        text
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}
