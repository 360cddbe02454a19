//! The lock around a document, with the detection of a thread that waits for itself.
//!
//! The thread that holds the write lock is noted beside it, threads that hold read locks note that themselves. A
//! request that its own thread can never grant is refused instead of waiting for ever.

use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::{RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::change::ChangeSet;
use crate::store::Store;

/// What the lock protects.
pub(crate) struct DocState {
    pub(crate) store: Store,
    /// The change set of the last transaction, emptied: its memory is used again.
    pub(crate) spare: ChangeSet,
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
}

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
        Self { state: RwLock::new(state), writer: AtomicUsize::new(0) }
    }

    fn id(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    fn reads_here(&self) -> bool {
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
        self.writer.store(thread_token(), Ordering::Relaxed);
        Ok(WriteGuard { state, writer: &self.writer })
    }

    /// Locks for writing, after waiting for other threads if need be.
    #[inline]
    pub(crate) fn write(&self) -> Result<WriteGuard<'_>, Refused> {
        match self.try_write() {
            Err(Refused::Busy) => {
                let state = self.state.write();
                self.writer.store(thread_token(), Ordering::Relaxed);
                Ok(WriteGuard { state, writer: &self.writer })
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
            done => done,
        }
    }

    fn reading<'l>(&self, state: RwLockReadGuard<'l, DocState>) -> ReadGuard<'l> {
        READS.with(|reads| reads.borrow_mut().push(self.id()));
        ReadGuard { state, id: self.id() }
    }
}

/// Exclusive access to a document.
pub(crate) struct WriteGuard<'l> {
    pub(crate) state: RwLockWriteGuard<'l, DocState>,
    writer: &'l AtomicUsize,
}

impl Drop for WriteGuard<'_> {
    fn drop(&mut self) {
        self.writer.store(0, Ordering::Relaxed);
    }
}

/// Shared access to a document.
pub(crate) struct ReadGuard<'l> {
    pub(crate) state: RwLockReadGuard<'l, DocState>,
    id: usize,
}

impl Drop for ReadGuard<'_> {
    fn drop(&mut self) {
        READS.with(|reads| {
            let mut reads = reads.borrow_mut();
            if let Some(place) = reads.iter().rposition(|id| *id == self.id) {
                reads.swap_remove(place);
            }
        });
    }
}
