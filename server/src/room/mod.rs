//! Rooms (layer 2): one document with its peers, in memory while somebody needs it.
//!
//! Everything a peer does goes through one lock a room, held for the time of the engine's work and of putting frames into
//! outboxes; no I/O happens under it. Invariants:
//!
//! - **R1** An update is stored and sent only after the engine took it.
//! - **R2** Appends reach the store in the order in which the engine took the updates (`order` is held around both).
//! - **R3** An acknowledgement goes out only after everything the update held is durable.
//! - **R4** After a failure of the store or the engine the room takes nothing more, all its peers are sent away, and the
//!   next one to come loads it anew.

pub mod compactor;
pub mod document;
mod fanout;
pub mod gather;
pub mod outbox;
pub mod presence;
pub mod registry;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use indexmap::IndexMap;
use parking_lot::Mutex;
use yatta::StateVector;

use self::compactor::Compactor;
use self::document::{Document, Refused};
use self::fanout::Fanout;
use self::gather::Gather;
use self::outbox::{Outbox, Slot};
use self::presence::{PeerId, Presence, PresenceLimits, TooMuch};
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::name::RoomName;
use crate::store::{Loaded, Log, Store, StoreError};
use crate::wire;
use crate::wire::close::Close;
use crate::wire::presence::Entry;

/// A compaction is due after so many updates (measured: a load reads 500 rows in about a millisecond) …
const COMPACT_UPDATES: usize = 500;
/// … or so many bytes, or a quarter of the snapshot if that is more, so that the work stays proportional.
const COMPACT_BYTES: usize = 256 << 10;
/// An update that changes nothing.
const EMPTY: &[u8] = &[0, 0];

/// What rooms share.
pub struct Shared {
    /// Where documents are kept.
    pub store: Arc<dyn Store>,
    /// The bounds.
    pub limits: Limits,
    /// The counters.
    pub metrics: Arc<Metrics>,
    /// Works off compactions.
    pub compactor: Compactor,
    /// Is told of each document that changed.
    pub changed: Box<dyn Fn(&RoomName) + Send + Sync>,
}

/// A peer as the room sees it.
struct Peer {
    outbox: Arc<Outbox>,
    slot: Slot,
    prefix: Bytes,
    /// The state up to which a slow peer was served; it gets one diff from there.
    lagging: Option<StateVector>,
}

struct State {
    document: Document,
    presence: Presence,
    peers: IndexMap<PeerId, Peer>,
    next_peer: PeerId,
    gather: Gather,
    /// The full state as a frame without a prefix, and the state it was made of.
    full: Option<(Bytes, Bytes)>,
    log_updates: usize,
    log_bytes: usize,
}

/// How an update's sender learns that it is durable.
pub enum Receipt {
    /// It does not.
    None,
    /// By this frame.
    Frame(Arc<Outbox>, Bytes),
    /// By the update itself, which comes back: y-websocket's servers echo, ours only after the fsync.
    Echo(Arc<Outbox>),
    /// By a call.
    Call(Box<dyn FnOnce(Result<(), StoreError>) + Send>),
}

/// A document with its peers.
pub struct Room {
    name: RoomName,
    shared: Arc<Shared>,
    log: Arc<Log>,
    order: Mutex<()>,
    state: Mutex<State>,
    /// Appends that were not answered yet.
    unsaved: AtomicUsize,
    failed: AtomicBool,
    /// Bytes of the document as stored, roughly.
    stored_bytes: AtomicUsize,
    snapshot_bytes: AtomicUsize,
    /// Those that keep the room in memory; raised only under the registry's lock.
    members: AtomicUsize,
    /// When somebody was last here, in milliseconds of the registry's clock.
    last_used: AtomicU64,
}

impl Room {
    /// Builds the room of what the store had.
    ///
    /// # Errors
    /// When that cannot be read.
    pub fn new(name: RoomName, shared: Arc<Shared>, loaded: Loaded) -> Result<Self, Refused> {
        let document = Document::load(&loaded.updates)?;
        let total: usize = loaded.updates.iter().map(Bytes::len).sum();
        let log_updates = loaded.updates.len() - usize::from(loaded.snapshot_bytes > 0);
        Ok(Self {
            name,
            shared,
            log: loaded.log,
            order: Mutex::default(),
            state: Mutex::new(State {
                document,
                presence: Presence::default(),
                peers: IndexMap::new(),
                next_peer: 1,
                gather: Gather::default(),
                full: None,
                log_updates,
                log_bytes: total - loaded.snapshot_bytes,
            }),
            unsaved: AtomicUsize::new(0),
            failed: AtomicBool::new(false),
            stored_bytes: AtomicUsize::new(total),
            snapshot_bytes: AtomicUsize::new(loaded.snapshot_bytes),
            members: AtomicUsize::new(0),
            last_used: AtomicU64::new(0),
        })
    }

    /// Returns the name.
    pub fn name(&self) -> &RoomName {
        &self.name
    }

    /// Returns whether the room takes nothing more (R4).
    pub fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Acquire)
    }

    /// Counts peers.
    pub fn peers(&self) -> usize {
        self.state.lock().peers.len()
    }

    /// Counts clients that show presence.
    pub fn present(&self) -> usize {
        self.state.lock().presence.len()
    }

    /// Returns the bytes of the document as stored, roughly.
    pub fn stored_bytes(&self) -> usize {
        self.stored_bytes.load(Ordering::Relaxed)
    }

    /// Lets a peer in: from now on it gets what happens.
    ///
    /// # Errors
    /// Why it cannot come in.
    pub fn join(&self, outbox: &Arc<Outbox>, slot: Slot, prefix: Bytes) -> Result<PeerId, Close> {
        let mut state = self.state.lock();
        if self.has_failed() || state.peers.len() >= self.shared.limits.connections_per_document {
            return Err(Close::TryAgain);
        }
        let id = state.next_peer;
        state.next_peer += 1;
        state.peers.insert(id, Peer { outbox: Arc::clone(outbox), slot, prefix, lagging: None });
        Ok(id)
    }

    /// Lets a peer go, and those it spoke for.
    pub fn leave(&self, peer: PeerId) {
        let mut fanout = Fanout::default();
        let mut state = self.state.lock();
        state.peers.swap_remove(&peer);
        if let Some(gone) = state.presence.leave(peer, Instant::now()) {
            state.send_presence(&gone, &self.shared.metrics, &mut fanout);
        }
        drop(state);
        fanout.go(&self.shared.metrics);
    }

    /// Returns our state vector as a frame.
    pub fn step1(&self, prefix: &[u8]) -> Bytes {
        wire::step1(prefix, &self.state.lock().document.state_vector())
    }

    /// Answers a peer's state vector. Returns also how long that kept the room.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn step2(&self, prefix: &[u8], state_vector: &[u8]) -> Result<(Bytes, Duration), Refused> {
        let mut state = self.state.lock();
        let began = Instant::now();
        let diff = state.document.diff(state_vector)?;
        let frame = match &state.full {
            Some((of, frame)) if prefix.is_empty() && of.as_ptr() == diff.as_ptr() => frame.clone(),
            _ => wire::step2(prefix, &diff),
        };
        if prefix.is_empty() && state.document.is_full(&diff) {
            state.full = Some((diff, frame.clone()));
        }
        Ok((frame, began.elapsed()))
    }

    /// Takes an update in, stores it and sends it on. Returns whether the document now waits for others.
    ///
    /// # Errors
    /// When it cannot be read or is too large; nothing was changed, stored or sent (R1).
    pub fn update(
        self: &Arc<Self>,
        from: Option<PeerId>,
        update: &[u8],
        receipt: Receipt,
    ) -> Result<bool, Refused> {
        let taken = self.update_if(from, update, receipt, |_| true)?;
        Ok(taken.unwrap_or_default())
    }

    /// Takes an update in if the document is empty. Returns whether it was.
    ///
    /// # Errors
    /// As [`Self::update`].
    pub fn seed(self: &Arc<Self>, update: &[u8], receipt: Receipt) -> Result<bool, Refused> {
        Ok(self.update_if(None, update, receipt, Document::is_empty)?.is_some())
    }

    /// Takes an update in if the document is as wanted; else nothing happens, and there is no receipt.
    fn update_if(
        self: &Arc<Self>,
        from: Option<PeerId>,
        update: &[u8],
        receipt: Receipt,
        wanted: impl FnOnce(&Document) -> bool,
    ) -> Result<Option<bool>, Refused> {
        if self.stored_bytes() + update.len() > self.shared.limits.document_bytes {
            return Err(Refused::TooLarge);
        }
        let mut fanout = Fanout::default();
        let order = self.order.lock();
        let (record, echo, missing) = {
            let mut state = self.state.lock();
            if self.has_failed() {
                return Err(Refused::Broken);
            }
            if !wanted(&state.document) {
                return Ok(None);
            }
            let applied = state.document.apply(update).inspect_err(|refused| {
                if matches!(refused, Refused::Broken) {
                    self.fail_locked(&mut state, Close::Internal);
                }
            })?;
            let echo = applied.effect.as_ref().map(|effect| {
                self.shared.metrics.updates.inc();
                state.full = None;
                // What an update freed its sender lacks, too. An echo brings it, after the fsync (R3).
                let author = from.filter(|_| !applied.freed || matches!(receipt, Receipt::Echo(_)));
                self.send_or_gather(&mut state, author, effect, &mut fanout);
                matches!(receipt, Receipt::Echo(_)).then(|| wire::update(&[], effect))
            });
            if let Some(record) = &applied.record {
                state.log_updates += 1;
                state.log_bytes += record.len();
                self.stored_bytes.fetch_add(record.len(), Ordering::Relaxed);
            }
            self.request_compaction(&mut state);
            (applied.record, echo, applied.missing)
        };
        self.store(record, echo.flatten(), receipt);
        drop(order);
        fanout.go(&self.shared.metrics);
        Ok(Some(missing))
    }

    /// Sends an update at once, or with others if the room is busy.
    fn send_or_gather(
        self: &Arc<Self>,
        state: &mut State,
        from: Option<PeerId>,
        effect: &Bytes,
        fanout: &mut Fanout,
    ) {
        let peers = state.peers.len();
        let busy = state.gather.is_busy(peers, &self.shared.limits.gather, Instant::now());
        if !(busy && state.gather.update(from, effect) && self.schedule(state)) {
            state.send_update(from, effect, &self.shared.metrics, fanout);
        }
    }

    /// Sees to it that what is gathered goes out at the end of the window; `false` if nobody can.
    fn schedule(self: &Arc<Self>, state: &mut State) -> bool {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return false };
        if state.gather.schedule() {
            let room = Arc::clone(self);
            runtime.spawn(async move {
                tokio::time::sleep(room.shared.limits.gather.window).await;
                room.state.lock().gather.came();
                room.send_gathered();
            });
        }
        true
    }

    fn send_gathered(&self) {
        let mut fanout = Fanout::default();
        self.state.lock().send_gathered(&self.shared.metrics, &mut fanout);
        fanout.go(&self.shared.metrics);
    }

    /// Appends what is new and hands the receipt out when all is durable (R3).
    fn store(self: &Arc<Self>, record: Option<Bytes>, echo: Option<Bytes>, receipt: Receipt) {
        let record = match record {
            Some(record) => {
                (self.shared.changed)(&self.name);
                record
            }
            // Nothing new. But it may be a repetition of something that is still on its way to the disk, and then the
            // receipt has to come behind that.
            None if matches!(receipt, Receipt::None | Receipt::Echo(_)) => return,
            // In this order: an append that fails marks the room before it counts as answered.
            None if self.unsaved.load(Ordering::Acquire) == 0 => {
                let result = if self.has_failed() { Err(StoreError::Poisoned) } else { Ok(()) };
                return give(receipt, echo, result);
            }
            None => Bytes::from_static(EMPTY),
        };
        self.unsaved.fetch_add(1, Ordering::AcqRel);
        let room = Arc::clone(self);
        let asked = Instant::now();
        let done = Box::new(move |result: Result<(), StoreError>| {
            match &result {
                Ok(()) => room.shared.metrics.store_seconds.observe(asked.elapsed().as_secs_f64()),
                Err(error) => {
                    room.shared.metrics.store_errors.inc();
                    *room.shared.metrics.store_failed.lock() = Some(Instant::now());
                    room.fail(Close::TryAgain);
                    tracing::error!(room = %room.name, %error, "an update could not be stored; the room is closed");
                }
            }
            give(receipt, echo, result);
            room.unsaved.fetch_sub(1, Ordering::AcqRel);
        });
        self.shared.store.append(&self.log, record, done);
    }

    /// Hands the receipt out when everything that was taken so far is durable (R3).
    ///
    /// # Errors
    /// When the room has failed.
    pub fn when_stored(self: &Arc<Self>, receipt: Receipt) -> Result<(), Refused> {
        let _order = self.order.lock();
        if self.has_failed() {
            return Err(Refused::Broken);
        }
        self.store(None, None, receipt);
        Ok(())
    }

    /// Returns whether an update holds nothing new, and how long that kept the room.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn contains(&self, update: &[u8]) -> Result<(bool, Duration), Refused> {
        let state = self.state.lock();
        let began = Instant::now();
        Ok((state.document.contains(update)?, began.elapsed()))
    }

    /// Takes presence in and sends it on, to the sender too: its watchdog wants to hear something.
    ///
    /// # Errors
    /// When it is beyond the limits.
    pub fn presence(self: &Arc<Self>, from: PeerId, entries: &[Entry<'_>]) -> Result<(), TooMuch> {
        let limits = PresenceLimits {
            clients_per_peer: self.shared.limits.presence_clients,
            state_bytes: self.shared.limits.presence_bytes,
        };
        let now = Instant::now();
        let mut fanout = Fanout::default();
        let mut state = self.state.lock();
        if let Some(news) = state.presence.apply(from, entries, &limits, now)? {
            let peers = state.peers.len();
            if state.gather.is_busy(peers, &self.shared.limits.gather, now) && self.schedule(&mut state) {
                state.gather.present(entries.iter().map(|entry| entry.client));
            } else {
                state.send_presence(&news, &self.shared.metrics, &mut fanout);
            }
        }
        drop(state);
        fanout.go(&self.shared.metrics);
        Ok(())
    }

    /// Returns who is there as a frame, if anybody is.
    pub fn everybody(&self, prefix: &[u8]) -> Option<Bytes> {
        self.state.lock().presence.everybody(false).map(|states| wire::awareness(prefix, &states))
    }

    /// Takes out who is silent.
    pub fn sweep_presence(&self) {
        let mut fanout = Fanout::default();
        let mut state = self.state.lock();
        if let Some(gone) = state.presence.sweep(Instant::now()) {
            state.send_presence(&gone, &self.shared.metrics, &mut fanout);
        }
        drop(state);
        fanout.go(&self.shared.metrics);
    }

    /// Returns the frames that bring a slow peer up to date.
    ///
    /// # Errors
    /// Only [`Refused::Broken`].
    pub fn catch_up(&self, peer: PeerId) -> Result<Vec<Bytes>, Refused> {
        let mut state = self.state.lock();
        let State { document, presence, peers, .. } = &mut *state;
        let Some(peer) = peers.get_mut(&peer) else { return Ok(Vec::new()) };
        let Some(known) = peer.lagging.take() else { return Ok(Vec::new()) };
        let mut frames = vec![wire::update(&peer.prefix, &document.diff_from(&known)?)];
        frames.extend(presence.everybody(true).map(|states| wire::awareness(&peer.prefix, &states)));
        Ok(frames)
    }

    /// Reads the document.
    pub fn read<T>(&self, f: impl FnOnce(&yatta::Doc) -> T) -> T {
        f(self.state.lock().document.doc())
    }

    /// Takes nothing more and sends all peers away (R4).
    pub fn fail(&self, close: Close) {
        self.fail_locked(&mut self.state.lock(), close);
    }

    fn fail_locked(&self, state: &mut State, close: Close) {
        self.failed.store(true, Ordering::Release);
        self.log.poison();
        for peer in state.peers.values() {
            peer.outbox.close(close);
        }
    }

    /// Sends all peers away; what they sent is still stored.
    pub fn dismiss(&self, close: Close) {
        self.send_gathered();
        for peer in self.state.lock().peers.values() {
            peer.outbox.close(close);
        }
    }

    fn request_compaction(self: &Arc<Self>, state: &mut State) {
        let bytes = COMPACT_BYTES.max(self.snapshot_bytes.load(Ordering::Relaxed) / 4);
        if state.log_updates < COMPACT_UPDATES && state.log_bytes < bytes {
            return;
        }
        state.log_updates = 0;
        state.log_bytes = 0;
        self.shared.compactor.request(&self.name, Some(self));
    }

    /// Takes note of the size that a compaction left.
    pub(crate) fn compacted(&self, snapshot_bytes: usize) {
        self.snapshot_bytes.store(snapshot_bytes, Ordering::Relaxed);
        let behind = self.state.lock().log_bytes;
        self.stored_bytes.store(snapshot_bytes + behind, Ordering::Relaxed);
    }

    /// Whether the log holds something that a compaction could take.
    pub(crate) fn has_log(&self) -> bool {
        self.state.lock().log_updates > 0
    }
}

fn give(receipt: Receipt, echo: Option<Bytes>, result: Result<(), StoreError>) {
    match (receipt, result) {
        (Receipt::Frame(outbox, frame), Ok(())) => outbox.push(frame),
        (Receipt::Echo(outbox), Ok(())) => {
            if let Some(frame) = echo {
                outbox.push(frame);
            }
        }
        (Receipt::Call(call), result) => call(result),
        (Receipt::None | Receipt::Frame(..) | Receipt::Echo(_), _) => {}
    }
}
