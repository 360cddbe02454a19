//! Tells another server that documents changed: debounced, signed, tried again.
//!
//! A change is reported when a document was quiet for [`Options::debounce`], and at the latest after `LONGEST` of
//! going on. The body is JSON: `{"event":"change","document":…,"at":…}`; the header `x-yatta-signature` is
//! `sha256=` and the HMAC of the body with the shared secret, in hexadecimal. Hooks tell that something changed, not what: the
//! receiver asks the API. What is not delivered after all tries is counted and logged. What waits when the server ends is tried
//! once more, within the time that the end may take; what then is left is logged, and handed back to be kept for the next start.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hmac::{Hmac, Mac};
use parking_lot::Mutex;
use sha2::Sha256;
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinSet;

use crate::metrics::Metrics;
use crate::name::RoomName;
use crate::store::memory::unix_time;

/// A document that changes all the time is reported so often.
const LONGEST: Duration = Duration::from_secs(10);
/// Tries in all; with doubling waits they span about a minute.
const TRIES: u32 = 7;
/// The wait after the first try that failed.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// How long the receiver may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// Deliveries at once.
const AT_ONCE: usize = 8;
/// Documents that may wait to be reported; beyond it changes of further ones are dropped and counted.
const WAITING: usize = 100_000;

/// Where hooks go.
#[derive(Clone, Debug)]
pub struct Options {
    /// The URL.
    pub url: String,
    /// Signs, if set.
    pub secret: Option<String>,
    /// How long a document must be quiet.
    pub debounce: Duration,
}

struct Change {
    first: Instant,
    last: Instant,
}

/// Collects changes and reports them.
pub struct Webhooks {
    options: Options,
    client: reqwest::Client,
    changes: Mutex<HashMap<RoomName, Change>>,
    /// Reports that are on their way or wait for their next try, and how many of each.
    underway: Mutex<HashMap<RoomName, usize>>,
    wake: Notify,
    metrics: Arc<Metrics>,
}

/// Returns the value of the signature header for a body.
///
/// # Panics
/// Never: a key of HMAC has any length.
pub fn signature(secret: &str, body: &[u8]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("a key of HMAC has any length");
    mac.update(body);
    let digest = mac.finalize().into_bytes();
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256={hex}")
}

impl Webhooks {
    /// Makes the collector.
    ///
    /// # Errors
    /// When the HTTP client cannot be made; in words.
    pub fn new(options: Options, metrics: Arc<Metrics>) -> Result<Arc<Self>, String> {
        let client =
            reqwest::Client::builder().timeout(PATIENCE).build().map_err(|error| error.to_string())?;
        Ok(Arc::new(Self {
            options,
            client,
            changes: Mutex::default(),
            underway: Mutex::default(),
            wake: Notify::new(),
            metrics,
        }))
    }

    /// Takes note of a change. Cost O(1).
    pub fn changed(&self, name: &RoomName) {
        let now = Instant::now();
        let mut changes = self.changes.lock();
        if let Some(change) = changes.get_mut(name) {
            change.last = now;
            return;
        }
        if changes.len() >= WAITING {
            drop(changes);
            self.metrics.webhook_errors.inc();
            return;
        }
        changes.insert(name.clone(), Change { first: now, last: now });
        drop(changes);
        self.wake.notify_one();
    }

    fn due(&self, everything: bool) -> Vec<RoomName> {
        let now = Instant::now();
        let mut due = Vec::new();
        self.changes.lock().retain(|name, change| {
            let ripe = everything
                || now.duration_since(change.last) >= self.options.debounce
                || now.duration_since(change.first) >= LONGEST;
            if ripe {
                self.count_underway(name, true);
                due.push(name.clone());
            }
            !ripe
        });
        due
    }

    /// Reports until it is dropped.
    pub async fn run(self: Arc<Self>) {
        let places = Arc::new(Semaphore::new(AT_ONCE));
        let tick = (self.options.debounce / 4).clamp(Duration::from_millis(10), Duration::from_millis(500));
        loop {
            if self.changes.lock().is_empty() {
                self.wake.notified().await;
            }
            tokio::time::sleep(tick).await;
            for name in self.due(false) {
                let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
                let hooks = Arc::clone(&self);
                tokio::spawn(async move {
                    hooks.deliver(&name).await;
                    hooks.count_underway(&name, false);
                    drop(place);
                });
            }
        }
    }

    /// Returns of which documents nobody was told so far, in the order of names.
    pub fn waiting(&self) -> Vec<RoomName> {
        let mut waiting: BTreeSet<RoomName> = self.changes.lock().keys().cloned().collect();
        waiting.extend(self.underway.lock().keys().cloned());
        waiting.into_iter().collect()
    }

    /// Reports all that waits or was tried in vain so far, once each, for so long: the server ends. Returns what is left, in
    /// the order of names.
    pub async fn finish(self: &Arc<Self>, bound: Duration) -> Vec<RoomName> {
        let mut left: BTreeSet<RoomName> = self.due(true).into_iter().collect();
        left.extend(self.underway.lock().keys().cloned());
        let end = tokio::time::Instant::now() + bound;
        let places = Arc::new(Semaphore::new(AT_ONCE));
        let mut tries = JoinSet::new();
        for name in left.iter().cloned() {
            let (hooks, places) = (Arc::clone(self), Arc::clone(&places));
            tries.spawn(async move {
                let _place = places.acquire_owned().await;
                let done = hooks.attempt(&name, &hooks.body(&name)).await;
                done.map(|()| name)
            });
        }
        while let Ok(Some(done)) = tokio::time::timeout_at(end, tries.join_next()).await {
            if let Ok(Ok(name)) = done {
                left.remove(&name);
            }
        }
        left.into_iter().collect()
    }

    fn body(&self, name: &RoomName) -> String {
        serde_json::json!({ "event": "change", "document": name.as_str(), "at": unix_time() }).to_string()
    }

    /// Sends one report.
    async fn attempt(&self, name: &RoomName, body: &str) -> Result<(), reqwest::Error> {
        let mut request = self
            .client
            .post(&self.options.url)
            .header("content-type", "application/json")
            .body(body.to_owned());
        if let Some(secret) = &self.options.secret {
            request = request.header("x-yatta-signature", signature(secret, body.as_bytes()));
        }
        request.send().await.and_then(reqwest::Response::error_for_status)?;
        tracing::debug!(room = %name, "a webhook was delivered");
        self.metrics.webhooks.inc();
        Ok(())
    }

    async fn deliver(&self, name: &RoomName) {
        let body = self.body(name);
        let mut wait = FIRST_WAIT;
        for left in (0..TRIES).rev() {
            match self.attempt(name, &body).await {
                Ok(()) => return,
                Err(error) if left == 0 => {
                    self.metrics.webhook_errors.inc();
                    tracing::warn!(room = %name, %error, "a webhook was given up");
                }
                Err(_) => {
                    // Some of all waits at random, so that many do not come back at once.
                    let jitter = wait.mul_f64(fastrand::f64() / 2.0);
                    tokio::time::sleep(wait + jitter).await;
                    wait *= 2;
                }
            }
        }
    }

    /// Takes note that a report is on its way (or is not any more).
    fn count_underway(&self, name: &RoomName, more: bool) {
        let mut underway = self.underway.lock();
        let count = underway.entry(name.clone()).or_default();
        *count = if more { *count + 1 } else { count.saturating_sub(1) };
        if *count == 0 {
            underway.remove(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 4231, case 2.
    #[test]
    fn signatures() {
        let want = "sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        assert_eq!(signature("Jefe", b"what do ya want for nothing?"), want);
    }
}
