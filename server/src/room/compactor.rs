//! Works off compactions on a thread of its own: reading, merging and encoding never hold a room up.
//!
//! A document is queued at most once; requests for one that waits are the same request.

use std::cell::Cell;
use std::collections::HashSet;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;

use parking_lot::Mutex;

use super::{Room, document};
use crate::metrics::Metrics;
use crate::name::RoomName;
use crate::store::{Compaction, Store};

struct Job {
    name: RoomName,
    room: Option<Weak<Room>>,
}

/// The queue and its thread.
pub struct Compactor {
    jobs: Mutex<Option<Sender<Job>>>,
    queued: Arc<Mutex<HashSet<RoomName>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Compactor {
    /// Starts the thread.
    ///
    /// # Errors
    /// When the system gives none.
    pub fn start(store: Arc<dyn Store>, metrics: Arc<Metrics>) -> std::io::Result<Self> {
        let (jobs, inbox) = channel::<Job>();
        let queued: Arc<Mutex<HashSet<RoomName>>> = Arc::default();
        let waiting = Arc::clone(&queued);
        let thread = std::thread::Builder::new().name("compactor".to_owned()).spawn(move || {
            for job in inbox {
                waiting.lock().remove(&job.name);
                run(&*store, &metrics, &job);
            }
        })?;
        Ok(Self { jobs: Mutex::new(Some(jobs)), queued, thread: Mutex::new(Some(thread)) })
    }

    /// Queues a document.
    pub fn request(&self, name: &RoomName, room: Option<&Arc<Room>>) {
        let jobs = self.jobs.lock();
        let Some(jobs) = jobs.as_ref() else { return };
        if self.queued.lock().insert(name.clone()) {
            let job = Job { name: name.clone(), room: room.map(Arc::downgrade) };
            if jobs.send(job).is_err() {
                tracing::error!("the compactor has ended");
            }
        }
    }

    /// Takes no more work, and waits for what is in hand; what is queued is left to the next start.
    pub fn stop(&self) {
        // The queue is emptied by dropping its end; the thread finishes the job it has.
        self.queued.lock().clear();
        drop(self.jobs.lock().take());
        if let Some(thread) = self.thread.lock().take()
            && thread.join().is_err()
        {
            tracing::error!("the compactor ended by a panic");
        }
    }
}

fn run(store: &dyn Store, metrics: &Metrics, job: &Job) {
    let size = Cell::new(0);
    let merge = |updates: &[bytes::Bytes]| {
        let merged = document::merge(updates)?;
        size.set(merged.len());
        Ok(merged)
    };
    match store.compact(&job.name, &merge) {
        Ok(Compaction::Done(updates)) => {
            metrics.compactions.inc();
            tracing::debug!(room = %job.name, updates, bytes = size.get(), "compacted");
            if let Some(room) = job.room.as_ref().and_then(Weak::upgrade) {
                room.compacted(size.get());
            }
        }
        Ok(Compaction::Nothing | Compaction::Overtaken) => {}
        Err(error) => tracing::warn!(room = %job.name, %error, "a document could not be compacted"),
    }
}
