//! The lock around a document, with the detection of a thread that waits for itself.
//!
//! The thread that holds the write lock is noted beside it, threads that hold read locks note that themselves. A
//! request that its own thread can never grant is refused instead of waiting for ever.
//!
//! Guards may be sent to other threads; then they still count as of the thread that took them. So a blocking request that
//! seems to wait for its own thread is given a moment before it is refused.
//!
//! Tasks wait by leaving a waker, and are woken after each unlocking. While no task waits, that costs one load.

use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize, Ordering, compiler_fence};
use std::task::{Poll, Waker};
use std::time::Duration;

use parking_lot::{Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::registry::Listeners;
use crate::change::ChangeSet;
use crate::doc::UpdateCallback;
use crate::store::Store;

/// What the lock protects.
pub(crate) struct DocState {
    pub(crate) store: Store,
    /// What the open transaction did; empty between transactions, its memory is used again.
    pub(crate) changes: ChangeSet,
    /// Memory for the update events: listeners only borrow their bytes.
    pub(crate) update: Vec<u8>,
    /// Those who listened to updates last.
    pub(crate) listeners: Listeners<UpdateCallback>,
}

/// Why a lock was not granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// Another thread holds it.
    Busy,
    /// This very thread holds it: waiting would never end.
    Ours,
}

pub(crate) struct DocLock {
    state: RwLock<DocState>,
    /// The thread that writes, 0 if none does.
    writer: AtomicUsize,
    waiting: Waiting,
}

/// How long a blocking request waits for a lock that its own thread took: the guard may live on another thread by now.
const PATIENCE: Duration = Duration::from_secs(1);

/// Where there is one thread only, and no clock to wait by, it is refused at once.
const ONE_THREAD: bool = cfg!(target_family = "wasm");

/// Read locks that were given up on another thread than the one that took them: its token, and the lock's address. Each
/// waits for its thread to come by.
static STRAYS: Mutex<Vec<(usize, usize)>> = Mutex::new(Vec::new());
static STRAYS_LEN: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// The locks that this thread holds for reading, by address.
    static READS: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
    static TOKEN: u8 = const { 0 };
}

/// A number that no other living thread has, never 0.
#[inline]
pub(super) fn thread_token() -> usize {
    TOKEN.with(|token| std::ptr::from_ref(token).addr())
}

impl DocLock {
    pub(crate) const fn new(state: DocState) -> Self {
        Self { state: RwLock::new(state), writer: AtomicUsize::new(0), waiting: Waiting::new() }
    }

    fn id(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    fn reads_here(&self) -> bool {
        collect_strays();
        READS.with(|reads| reads.borrow().contains(&self.id()))
    }

    /// Whether this thread holds the write lock.
    pub(crate) fn writes_here(&self) -> bool {
        self.writer.load(Ordering::Relaxed) == thread_token()
    }

    /// Locks for writing if that needs no waiting.
    #[inline]
    pub(crate) fn try_write(&self) -> Result<WriteGuard<'_>, Refused> {
        let Some(state) = self.state.try_write() else {
            let ours = self.writes_here() || self.reads_here();
            return Err(if ours { Refused::Ours } else { Refused::Busy });
        };
        Ok(self.writing(state))
    }

    /// Locks for writing, after waiting for other threads if need be.
    #[inline]
    pub(crate) fn write(&self) -> Result<WriteGuard<'_>, Refused> {
        match self.try_write() {
            Err(Refused::Busy) => Ok(self.writing(self.state.write())),
            Err(Refused::Ours) if !ONE_THREAD => {
                self.state.try_write_for(PATIENCE).map(|state| self.writing(state)).ok_or(Refused::Ours)
            }
            done => done,
        }
    }

    /// Locks for reading if that needs no waiting.
    pub(crate) fn try_read(&self) -> Result<ReadGuard<'_>, Refused> {
        match self.state.try_read_recursive() {
            Some(state) => Ok(self.reading(state)),
            None if self.writes_here() => Err(Refused::Ours),
            None => Err(Refused::Busy),
        }
    }

    /// Locks for reading, after waiting for other threads if need be.
    pub(crate) fn read(&self) -> Result<ReadGuard<'_>, Refused> {
        match self.try_read() {
            Err(Refused::Busy) => Ok(self.reading(self.state.read_recursive())),
            Err(Refused::Ours) if !ONE_THREAD => self
                .state
                .try_read_recursive_for(PATIENCE)
                .map(|state| self.reading(state))
                .ok_or(Refused::Ours),
            done => done,
        }
    }

    /// Locks for writing, or sees to it that `waker` is woken when it may be tried again. Whoever holds the lock on this
    /// thread is another task, so this waits for it too.
    pub(crate) fn poll_write(&self, waker: &Waker) -> Poll<WriteGuard<'_>> {
        self.waiting.poll(waker, || self.try_write().ok())
    }

    /// Locks for reading, or sees to it that `waker` is woken when it may be tried again.
    pub(crate) fn poll_read(&self, waker: &Waker) -> Poll<ReadGuard<'_>> {
        self.waiting.poll(waker, || self.try_read().ok())
    }

    #[inline]
    fn writing<'l>(&'l self, state: RwLockWriteGuard<'l, DocState>) -> WriteGuard<'l> {
        self.writer.store(thread_token(), Ordering::Relaxed);
        WriteGuard { state, wake: Wake(self) }
    }

    fn reading<'l>(&'l self, state: RwLockReadGuard<'l, DocState>) -> ReadGuard<'l> {
        collect_strays();
        READS.with(|reads| reads.borrow_mut().push(self.id()));
        ReadGuard { thread: thread_token(), state, wake: Wake(self) }
    }
}

/// The tasks that wait for a lock.
struct Waiting {
    wakers: Mutex<Vec<Waker>>,
    /// How many there are.
    len: AtomicUsize,
}

impl Waiting {
    const fn new() -> Self {
        Self { wakers: Mutex::new(Vec::new()), len: AtomicUsize::new(0) }
    }

    /// Tries to lock; on failure leaves the waker and tries once more, as the lock may have been given up before there
    /// was anybody to wake.
    fn poll<G>(&self, waker: &Waker, mut lock: impl FnMut() -> Option<G>) -> Poll<G> {
        if let Some(guard) = lock() {
            return Poll::Ready(guard);
        }
        {
            let mut wakers = self.wakers.lock();
            if !wakers.iter().any(|known| known.will_wake(waker)) {
                wakers.push(waker.clone());
            }
            self.len.swap(wakers.len(), Ordering::AcqRel);
        }
        lock().map_or(Poll::Pending, Poll::Ready)
    }

    /// Whether somebody may be waiting, asked after the lock was given up.
    ///
    /// Either the waiter's second try sees the lock free or this sees the waiter, if giving up the lock cannot be
    /// overtaken by the load here. On x86 it was a locked instruction, which nothing overtakes; elsewhere the load is a
    /// read-modify-write, which the waiter's own is ordered with.
    #[inline]
    fn any(&self) -> bool {
        if cfg!(any(target_arch = "x86", target_arch = "x86_64")) {
            compiler_fence(Ordering::SeqCst);
            self.len.load(Ordering::Relaxed) > 0
        } else {
            self.len.fetch_add(0, Ordering::AcqRel) > 0
        }
    }

    #[cold]
    fn wake(&self) {
        let wakers = {
            let mut wakers = self.wakers.lock();
            self.len.store(0, Ordering::Relaxed);
            std::mem::take(&mut *wakers)
        };
        wakers.into_iter().for_each(Waker::wake);
    }
}

/// Wakes who waits when it is dropped. A field of a guard behind that of the lock, so that this comes after it.
struct Wake<'l>(&'l DocLock);

impl Drop for Wake<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.0.waiting.any() {
            self.0.waiting.wake();
        }
    }
}

/// Exclusive access to a document. Two words, so that it is handed on in registers.
pub(crate) struct WriteGuard<'l> {
    // the order of these two matters: fields are dropped from first to last
    pub(crate) state: RwLockWriteGuard<'l, DocState>,
    wake: Wake<'l>,
}

impl Drop for WriteGuard<'_> {
    #[inline]
    fn drop(&mut self) {
        self.wake.0.writer.store(0, Ordering::Relaxed);
    }
}

/// Shared access to a document.
pub(crate) struct ReadGuard<'l> {
    /// The thread that took it.
    thread: usize,
    // the order of these two matters: fields are dropped from first to last
    pub(crate) state: RwLockReadGuard<'l, DocState>,
    wake: Wake<'l>,
}

impl Drop for ReadGuard<'_> {
    fn drop(&mut self) {
        let id = self.wake.0.id();
        if self.thread == thread_token() {
            forget_read(id);
        } else {
            let mut strays = STRAYS.lock();
            strays.push((self.thread, id));
            STRAYS_LEN.store(strays.len(), Ordering::Relaxed);
        }
    }
}

fn forget_read(id: usize) {
    READS.with(|reads| {
        let mut reads = reads.borrow_mut();
        if let Some(place) = reads.iter().rposition(|known| *known == id) {
            reads.swap_remove(place);
        }
    });
}

/// Forgets the read locks of this thread that were given up elsewhere. Costs one load if there are none.
#[inline]
fn collect_strays() {
    #[cold]
    fn collect() {
        let here = thread_token();
        let mut strays = STRAYS.lock();
        strays.retain(|(thread, id)| {
            let ours = *thread == here;
            if ours {
                forget_read(*id);
            }
            !ours
        });
        STRAYS_LEN.store(strays.len(), Ordering::Relaxed);
    }
    if STRAYS_LEN.load(Ordering::Relaxed) > 0 {
        collect();
    }
}
