//! Starting transactions without blocking the thread: `AsyncTransact`.
//!
//! The futures are woken when a transaction ends, and try again. They wait also for a transaction that the same thread
//! has open: on an executor of one thread that is one of another task. They run on any executor.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::Doc;
use crate::transaction::{Origin, Transaction, TransactionMut};

/// Starts transactions without blocking the thread.
pub trait AsyncTransact<'doc> {
    /// Waits for a read-only transaction.
    type Read: Future<Output = Transaction<'doc>>;
    /// Waits for a read-write transaction.
    type Write: Future<Output = TransactionMut<'doc>>;

    /// Starts a read-only transaction once no writer is left.
    fn transact(&'doc self) -> Self::Read;

    /// Starts a read-write transaction once no other transaction is left.
    fn transact_mut(&'doc self) -> Self::Write;

    /// As [`Self::transact_mut`], with an origin that observers and undo managers see.
    fn transact_mut_with<T>(&'doc self, origin: T) -> Self::Write
    where
        T: Into<Origin>;
}

impl<'doc> AsyncTransact<'doc> for Doc {
    type Read = AcquireTransaction<'doc>;
    type Write = AcquireTransactionMut<'doc>;

    fn transact(&'doc self) -> Self::Read {
        AcquireTransaction { doc: self }
    }

    fn transact_mut(&'doc self) -> Self::Write {
        AcquireTransactionMut { doc: self, origin: None }
    }

    fn transact_mut_with<T>(&'doc self, origin: T) -> Self::Write
    where
        T: Into<Origin>,
    {
        AcquireTransactionMut { doc: self, origin: Some(origin.into()) }
    }
}

/// Waits for a read-only transaction.
#[derive(Debug)]
#[must_use = "futures do nothing unless they are awaited"]
pub struct AcquireTransaction<'doc> {
    doc: &'doc Doc,
}

impl<'doc> Future for AcquireTransaction<'doc> {
    type Output = Transaction<'doc>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.doc.inner().lock.poll_read(context.waker()).map(Transaction::new)
    }
}

/// Waits for a read-write transaction.
#[derive(Debug)]
#[must_use = "futures do nothing unless they are awaited"]
pub struct AcquireTransactionMut<'doc> {
    doc: &'doc Doc,
    origin: Option<Origin>,
}

impl<'doc> Future for AcquireTransactionMut<'doc> {
    type Output = TransactionMut<'doc>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let guard = self.doc.inner().lock.poll_write(context.waker());
        guard.map(|guard| TransactionMut::new(self.doc, guard, self.origin.take()))
    }
}
