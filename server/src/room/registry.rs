//! All rooms (the top of layer 2): who is loaded, who comes in, who goes.
//!
//! One lock holds the map. Invariants:
//!
//! - **G1** There is at most one room of a name, and one load of it at a time; all who come meanwhile wait for that.
//! - **G2** A room leaves the map only under the lock, when it has no members and nothing unsaved, or when it failed. So
//!   nobody enters a room that is going, and a room that is loaded again finds everything its predecessor stored.
//! - **G3** While a document is removed nobody enters; all wait.
//!
//! Cost of entering: a look into the map; of a load O(document).

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::{Semaphore, watch};

use super::{Room, Shared};
use crate::name::RoomName;
use crate::store::StoreError;
use crate::wire::close::Close;

/// Loads at once: more would only make each slower.
const LOADS: usize = 16;

/// How a load or removal ended, for those who waited for it.
type Outcome = Option<Result<(), Close>>;

enum Entry {
    /// Somebody loads or removes it.
    Busy(watch::Receiver<Outcome>),
    Live(Arc<Room>),
}

/// All rooms.
pub struct Rooms {
    shared: Arc<Shared>,
    map: Mutex<HashMap<RoomName, Entry>>,
    loads: Semaphore,
    draining: AtomicBool,
    started: Instant,
}

/// The right to be in a room: it stays in memory as long as this lives.
pub struct Membership {
    room: Arc<Room>,
    rooms: Arc<Rooms>,
}

impl std::ops::Deref for Membership {
    type Target = Arc<Room>;

    fn deref(&self) -> &Arc<Room> {
        &self.room
    }
}

impl Drop for Membership {
    fn drop(&mut self) {
        self.room.last_used.store(self.rooms.now(), Ordering::Relaxed);
        self.room.members.fetch_sub(1, Ordering::AcqRel);
    }
}

/// A room as operators see it.
#[derive(Clone, Debug, serde::Serialize)]
pub struct RoomInfo {
    /// The name.
    pub name: String,
    /// Peers.
    pub peers: usize,
    /// Clients that show presence.
    pub present: usize,
    /// Bytes of the document as stored, roughly.
    pub bytes: usize,
}

impl Rooms {
    /// Makes the empty map.
    pub fn new(shared: Arc<Shared>) -> Arc<Self> {
        Arc::new(Self {
            shared,
            map: Mutex::default(),
            loads: Semaphore::new(LOADS),
            draining: AtomicBool::new(false),
            started: Instant::now(),
        })
    }

    /// Returns what rooms share.
    pub fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    fn now(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Enters a room, which is loaded if it is not there.
    ///
    /// # Errors
    /// The close code for whoever wanted in: the load failed, there are too many rooms, or the server shuts down.
    pub async fn enter(self: &Arc<Self>, name: &RoomName) -> Result<Membership, Close> {
        loop {
            let mut wait = {
                let mut map = self.map.lock();
                if self.draining.load(Ordering::Acquire) {
                    return Err(Close::GoingAway);
                }
                match map.get(name) {
                    Some(Entry::Live(room)) if !room.has_failed() => {
                        room.members.fetch_add(1, Ordering::AcqRel);
                        return Ok(Membership { room: Arc::clone(room), rooms: Arc::clone(self) });
                    }
                    // A failed room is replaced only when the store has answered for all it was given: an append that
                    // is still on its way must not land behind the load (G2).
                    Some(Entry::Live(room)) if room.unsaved.load(Ordering::Acquire) > 0 => {
                        return Err(Close::TryAgain);
                    }
                    Some(Entry::Busy(wait)) => wait.clone(),
                    Some(Entry::Live(_)) | None => {
                        if map.len() >= self.shared.limits.rooms && !self.evict_one(&mut map) {
                            return Err(Close::TryAgain);
                        }
                        let (done, wait) = watch::channel(None);
                        map.insert(name.clone(), Entry::Busy(wait.clone()));
                        self.count(&map);
                        self.start_load(name.clone(), done);
                        wait
                    }
                }
            };
            let outcome = wait.wait_for(Option::is_some).await.map(|outcome| *outcome);
            outcome.map_err(|_| Close::Internal)?.unwrap_or(Err(Close::Internal))?;
        }
    }

    /// Loads in a task of its own: whoever asked first may be gone before it ends.
    fn start_load(self: &Arc<Self>, name: RoomName, done: watch::Sender<Outcome>) {
        let rooms = Arc::clone(self);
        tokio::spawn(async move {
            let loaded = rooms.load(&name).await;
            let mut map = rooms.map.lock();
            let outcome = match loaded {
                Ok(room) => {
                    room.last_used.store(rooms.now(), Ordering::Relaxed);
                    map.insert(name, Entry::Live(Arc::new(room)));
                    Ok(())
                }
                Err(close) => {
                    map.remove(&name);
                    Err(close)
                }
            };
            rooms.count(&map);
            drop(map);
            done.send_replace(Some(outcome));
        });
    }

    async fn load(&self, name: &RoomName) -> Result<Room, Close> {
        let _permit = self.loads.acquire().await.map_err(|_| Close::GoingAway)?;
        let (shared, key) = (Arc::clone(&self.shared), name.clone());
        let loaded = tokio::task::spawn_blocking(move || {
            shared.metrics.loads.inc();
            let loaded = shared.store.load(&key).map_err(|error| error.to_string())?;
            Room::new(key, Arc::clone(&shared), loaded).map_err(|error| error.to_string())
        });
        match loaded.await {
            Ok(Ok(room)) => Ok(room),
            Ok(Err(error)) => {
                self.shared.metrics.load_errors.inc();
                tracing::error!(room = %name, %error, "a document could not be loaded; nothing is written to it");
                Err(Close::Internal)
            }
            Err(error) => {
                self.shared.metrics.load_errors.inc();
                tracing::error!(room = %name, %error, "a load ended by a panic");
                Err(Close::Internal)
            }
        }
    }

    fn count(&self, map: &HashMap<RoomName, Entry>) {
        self.shared.metrics.rooms.set(i64::try_from(map.len()).unwrap_or(i64::MAX));
    }

    fn may_go(room: &Room) -> bool {
        room.members.load(Ordering::Acquire) == 0 && room.unsaved.load(Ordering::Acquire) == 0
    }

    /// Makes place: the room that was not used for the longest time goes.
    fn evict_one(&self, map: &mut HashMap<RoomName, Entry>) -> bool {
        let idle = map.values().filter_map(|entry| match entry {
            Entry::Live(room) if Self::may_go(room) => Some(room),
            _ => None,
        });
        let Some(room) = idle.min_by_key(|room| room.last_used.load(Ordering::Relaxed)).cloned() else {
            return false;
        };
        self.evict(map, &room);
        true
    }

    fn evict(&self, map: &mut HashMap<RoomName, Entry>, room: &Arc<Room>) {
        map.remove(room.name());
        if room.has_log() {
            self.shared.compactor.request(room.name(), None);
        }
    }

    /// Unloads idle rooms, takes failed ones out and sweeps presence. To be called every few seconds; cost O(rooms).
    pub fn tick(&self) {
        let idle = u64::try_from(self.shared.limits.idle_room.as_millis()).unwrap_or(u64::MAX);
        let mut live = Vec::new();
        {
            let mut map = self.map.lock();
            let now = self.now();
            let mut going = Vec::new();
            for entry in map.values() {
                let Entry::Live(room) = entry else { continue };
                let stale = now.saturating_sub(room.last_used.load(Ordering::Relaxed)) >= idle;
                if Self::may_go(room) && (stale || room.has_failed()) {
                    going.push(Arc::clone(room));
                } else {
                    live.push(Arc::clone(room));
                }
            }
            for room in going {
                self.evict(&mut map, &room);
            }
            self.count(&map);
        }
        for room in live {
            room.sweep_presence();
        }
    }

    /// Returns the rooms in memory.
    pub fn list(&self) -> Vec<RoomInfo> {
        let live: Vec<Arc<Room>> = self
            .map
            .lock()
            .values()
            .filter_map(|entry| match entry {
                Entry::Live(room) => Some(Arc::clone(room)),
                Entry::Busy(_) => None,
            })
            .collect();
        let info = |room: &Arc<Room>| RoomInfo {
            name: room.name().to_string(),
            peers: room.peers(),
            present: room.present(),
            bytes: room.stored_bytes(),
        };
        let mut rooms: Vec<RoomInfo> = live.iter().map(info).collect();
        rooms.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        rooms
    }

    /// Sends all peers of a room away and unloads it; returns whether it was in memory.
    pub fn close(&self, name: &RoomName) -> bool {
        let live = match self.map.lock().get(name) {
            Some(Entry::Live(room)) => Some(Arc::clone(room)),
            _ => None,
        };
        let Some(room) = live else { return false };
        room.dismiss(Close::Gone);
        // Due at the next tick, however short ago it was used.
        room.last_used.store(0, Ordering::Relaxed);
        true
    }

    /// Removes a document for good: sends its peers away, waits for what is unsaved, removes it from the store (G3).
    /// Returns whether there was one.
    ///
    /// # Errors
    /// When the store fails, or somebody else loads or removes it and does not come to an end.
    pub async fn remove(self: &Arc<Self>, name: &RoomName) -> Result<bool, StoreError> {
        let (done, room) = loop {
            let mut wait = {
                let mut map = self.map.lock();
                match map.get(name) {
                    Some(Entry::Busy(wait)) => wait.clone(),
                    other => {
                        let room = match other {
                            Some(Entry::Live(room)) => Some(Arc::clone(room)),
                            _ => None,
                        };
                        let (done, wait) = watch::channel(None);
                        map.insert(name.clone(), Entry::Busy(wait));
                        break (done, room);
                    }
                }
            };
            // Its outcome is of no interest, only that it ended.
            let _ = wait.wait_for(Option::is_some).await;
        };
        // In a task, so that the entry does not stay busy if the caller gives up.
        let (rooms, name) = (Arc::clone(self), name.clone());
        let removal = tokio::spawn(async move {
            if let Some(room) = room {
                room.fail(Close::Gone);
                while room.unsaved.load(Ordering::Acquire) > 0 {
                    tokio::time::sleep(Duration::from_millis(2)).await;
                }
            }
            let (store, key) = (Arc::clone(&rooms.shared), name.clone());
            let removed = tokio::task::spawn_blocking(move || store.store.remove(&key)).await;
            let mut map = rooms.map.lock();
            map.remove(&name);
            rooms.count(&map);
            drop(map);
            done.send_replace(Some(Ok(())));
            removed.unwrap_or_else(|error| Err(StoreError::failed(error)))
        });
        removal.await.unwrap_or_else(|error| Err(StoreError::failed(error)))
    }

    /// Lets nobody in any more, sends all peers away and waits until all they sent is stored, within a bound. Returns
    /// whether it is.
    pub async fn drain(&self, bound: Duration) -> bool {
        let live: Vec<Arc<Room>> = {
            let map = self.map.lock();
            self.draining.store(true, Ordering::Release);
            map.values()
                .filter_map(|entry| if let Entry::Live(room) = entry { Some(Arc::clone(room)) } else { None })
                .collect()
        };
        for room in &live {
            room.dismiss(Close::GoingAway);
        }
        let end = Instant::now() + bound;
        loop {
            if live.iter().all(|room| Self::may_go(room)) {
                return true;
            }
            if Instant::now() >= end {
                return live.iter().all(|room| room.unsaved.load(Ordering::Acquire) == 0);
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}
