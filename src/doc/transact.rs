//! Starting transactions.

use super::Doc;
use crate::transaction::lock::Refused;
use crate::transaction::{Origin, Transaction, TransactionMut};

/// A transaction could not be started.
#[derive(Debug, thiserror::Error)]
pub enum TransactionAcqError {
    /// A write transaction is open.
    #[error("failed to acquire read-only transaction: a read-write transaction is open")]
    SharedAcqFailed,
    /// Another transaction is open.
    #[error("failed to acquire read-write transaction: another transaction is open")]
    ExclusiveAcqFailed,
    /// The document is gone.
    #[error("all references to the document have been dropped")]
    DocumentDropped,
}

/// Starts transactions.
pub trait Transact {
    /// Starts a read-only transaction if that needs no waiting.
    ///
    /// # Errors
    /// [`TransactionAcqError::SharedAcqFailed`] while a write transaction is open.
    fn try_transact(&self) -> Result<Transaction<'_>, TransactionAcqError>;

    /// Starts a read-write transaction if that needs no waiting.
    ///
    /// # Errors
    /// [`TransactionAcqError::ExclusiveAcqFailed`] while any other transaction is open.
    fn try_transact_mut(&self) -> Result<TransactionMut<'_>, TransactionAcqError>;

    /// As [`Self::try_transact_mut`], with an origin that observers and undo managers see.
    ///
    /// # Errors
    /// [`TransactionAcqError::ExclusiveAcqFailed`] while any other transaction is open.
    fn try_transact_mut_with<T>(&self, origin: T) -> Result<TransactionMut<'_>, TransactionAcqError>
    where
        T: Into<Origin>;

    /// Starts a read-write transaction with an origin, after waiting for other threads.
    ///
    /// # Panics
    /// When this very thread has a transaction of this document open and keeps it for a second: waiting would never end.
    fn transact_mut_with<T>(&self, origin: T) -> TransactionMut<'_>
    where
        T: Into<Origin>;

    /// Starts a read-only transaction, after waiting for writers of other threads.
    ///
    /// # Panics
    /// When this very thread has a write transaction of this document open and keeps it for a second: waiting would never
    /// end.
    fn transact(&self) -> Transaction<'_>;

    /// Starts a read-write transaction, after waiting for other threads.
    ///
    /// # Panics
    /// When this very thread has a transaction of this document open and keeps it for a second: waiting would never end.
    fn transact_mut(&self) -> TransactionMut<'_>;
}

#[cold]
fn refuse(what: &str) -> ! {
    panic!(
        "cannot start a {what} transaction: this thread has one of the same document open and would wait for itself; \
         end it first, or use the transaction that is open"
    )
}

impl Transact for Doc {
    fn try_transact(&self) -> Result<Transaction<'_>, TransactionAcqError> {
        let guard = self.inner().lock.try_read();
        guard.map(Transaction::new).map_err(|_: Refused| TransactionAcqError::SharedAcqFailed)
    }

    fn try_transact_mut(&self) -> Result<TransactionMut<'_>, TransactionAcqError> {
        let guard = self.inner().lock.try_write();
        let guard = guard.map_err(|_: Refused| TransactionAcqError::ExclusiveAcqFailed)?;
        Ok(TransactionMut::new(self, guard, None))
    }

    fn try_transact_mut_with<T>(&self, origin: T) -> Result<TransactionMut<'_>, TransactionAcqError>
    where
        T: Into<Origin>,
    {
        let guard = self.inner().lock.try_write();
        let guard = guard.map_err(|_: Refused| TransactionAcqError::ExclusiveAcqFailed)?;
        Ok(TransactionMut::new(self, guard, Some(origin.into())))
    }

    fn transact_mut_with<T>(&self, origin: T) -> TransactionMut<'_>
    where
        T: Into<Origin>,
    {
        match self.inner().lock.write() {
            Ok(guard) => TransactionMut::new(self, guard, Some(origin.into())),
            Err(_) => refuse("read-write"),
        }
    }

    fn transact(&self) -> Transaction<'_> {
        match self.inner().lock.read() {
            Ok(guard) => Transaction::new(guard),
            Err(_) => refuse("read-only"),
        }
    }

    fn transact_mut(&self) -> TransactionMut<'_> {
        match self.inner().lock.write() {
            Ok(guard) => TransactionMut::new(self, guard, None),
            Err(_) => refuse("read-write"),
        }
    }
}
