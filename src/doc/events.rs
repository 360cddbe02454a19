//! Subscriptions to a document as a whole. They live outside the lock: subscribing needs no transaction.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::{Mutex, RwLock};

use super::{Doc, TransactionAcqError};
use crate::block::index::ItemIdx;
use crate::store::Store;
use crate::transaction::registry::Registry;
use crate::transaction::{Origin, SubdocsEvent, TransactionCleanupEvent, TransactionMut, UpdateEvent};

pub(crate) type UpdateCallback = dyn FnMut(&TransactionMut<'_>, &UpdateEvent) + Send;
type CleanupCallback = dyn FnMut(&TransactionMut<'_>, &TransactionCleanupEvent) + Send;
type SubdocsCallback = dyn FnMut(&TransactionMut<'_>, &SubdocsEvent) + Send;
type DestroyCallback = dyn FnMut(&TransactionMut<'_>, &Doc) + Send;
type BeforeCallback = dyn FnMut(&TransactionMut<'_>) + Send;
pub(crate) type GcFilter = dyn Fn(&Store, ItemIdx) -> bool + Send + Sync;
type AfterCallback = dyn FnMut(&mut TransactionMut<'_>) + Send;

/// Who listens to the transactions of a document, as one word: a bit for each registry that is not empty and for the
/// filter, and above them the number of subscriptions to types. A transaction looks at it when it begins and when it
/// commits.
#[derive(Clone, Copy)]
pub(crate) struct Listening(u64);

impl Listening {
    const UPDATE_V1: u64 = 1;
    const UPDATE_V2: u64 = 1 << 1;
    const CLEANUP: u64 = 1 << 2;
    const BEFORE_OBSERVERS: u64 = 1 << 3;
    const AFTER_TRANSACTION: u64 = 1 << 4;
    const BEFORE_TRANSACTION: u64 = 1 << 5;
    const BEFORE_ALL: u64 = 1 << 6;
    const AFTER_ALL: u64 = 1 << 7;
    const FILTER: u64 = 1 << 8;
    /// One subscription to a type.
    const TYPE: u64 = 1 << 16;
    const TYPES: u64 = !(Self::TYPE - 1);

    #[inline]
    const fn has(self, bits: u64) -> bool {
        self.0 & bits != 0
    }

    /// Whether there are subscriptions to types.
    #[inline]
    pub(crate) const fn types(self) -> bool {
        self.has(Self::TYPES)
    }

    /// Whether somebody may look at deleted content before it is collected.
    #[inline]
    pub(crate) const fn hold_content(self) -> bool {
        self.has(Self::TYPES | Self::AFTER_TRANSACTION | Self::BEFORE_OBSERVERS | Self::FILTER)
    }

    /// Whether nobody wants to hear that a transaction begins.
    #[inline]
    pub(crate) const fn nobody_before(self) -> bool {
        !self.has(Self::BEFORE_TRANSACTION | Self::BEFORE_ALL)
    }

    /// Whether nobody wants to hear of a transaction that did nothing.
    #[inline]
    pub(crate) const fn nobody_after(self) -> bool {
        !self.has(Self::BEFORE_OBSERVERS | Self::AFTER_TRANSACTION | Self::CLEANUP)
    }

    /// Whether nobody listens while a transaction commits, but to its update.
    #[inline]
    pub(crate) const fn only_updates(self) -> bool {
        !self.has(!(Self::UPDATE_V1 | Self::UPDATE_V2))
    }

    /// Whether somebody wants to have the update.
    #[inline]
    pub(crate) const fn updates(self) -> bool {
        self.has(Self::UPDATE_V1 | Self::UPDATE_V2)
    }
}

/// All subscriptions of a document; made with [`Doc::observe_update_v1`] and its like.
#[derive(Default)]
pub struct StoreEvents {
    pub(crate) update_v1: Registry<UpdateCallback>,
    pub(crate) update_v2: Registry<UpdateCallback>,
    pub(crate) cleanup: Registry<CleanupCallback>,
    pub(crate) before_observers: Registry<BeforeCallback>,
    pub(crate) after_transaction: Registry<AfterCallback>,
    pub(crate) before_transaction: Registry<BeforeCallback>,
    pub(crate) before_all: Registry<BeforeCallback>,
    pub(crate) after_all: Registry<BeforeCallback>,
    pub(crate) subdocs: Registry<SubdocsCallback>,
    pub(crate) destroy: Registry<DestroyCallback>,
    /// Decides whether a deleted item may be collected.
    gc_filter: RwLock<Option<Arc<GcFilter>>>,
    /// See [`Listening`]. The low bits are written under `noting`.
    listening: AtomicU64,
    noting: Mutex<()>,
}

impl std::fmt::Debug for StoreEvents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StoreEvents")
            .field("update_v1", &self.update_v1)
            .field("update_v2", &self.update_v2)
            .finish_non_exhaustive()
    }
}

impl StoreEvents {
    /// Returns whether somebody wants to hear of updates, in either format.
    pub fn has_update_subscribers(&self) -> bool {
        !self.update_v1.is_empty() || !self.update_v2.is_empty()
    }

    /// Who listens.
    #[inline]
    pub(crate) fn listening(&self) -> Listening {
        Listening(self.listening.load(Ordering::Acquire))
    }

    /// Sets what decides whether a deleted item may be collected.
    pub(crate) fn set_gc_filter(&self, filter: Option<Arc<GcFilter>>) {
        *self.gc_filter.write() = filter;
        self.note();
    }

    /// What decides whether a deleted item may be collected.
    pub(crate) fn gc_filter(&self) -> Option<Arc<GcFilter>> {
        if self.listening().has(Listening::FILTER) { self.gc_filter.read().clone() } else { None }
    }

    /// The bit of [`Listening`] of each kind, and whether nobody listens.
    fn bits(&self) -> [(u64, bool); 9] {
        [
            (Listening::UPDATE_V1, self.update_v1.is_empty()),
            (Listening::UPDATE_V2, self.update_v2.is_empty()),
            (Listening::CLEANUP, self.cleanup.is_empty()),
            (Listening::BEFORE_OBSERVERS, self.before_observers.is_empty()),
            (Listening::AFTER_TRANSACTION, self.after_transaction.is_empty()),
            (Listening::BEFORE_TRANSACTION, self.before_transaction.is_empty()),
            (Listening::BEFORE_ALL, self.before_all.is_empty()),
            (Listening::AFTER_ALL, self.after_all.is_empty()),
            (Listening::FILTER, self.gc_filter.read().is_none()),
        ]
    }

    /// Stops if [`Listening`] says something else than the registries.
    pub(crate) fn check(&self) {
        let _alone = self.noting.lock();
        for (bit, nobody) in self.bits() {
            assert_eq!(self.listening().has(bit), !nobody, "bit {bit:#x} of {:#x}", self.listening().0);
        }
    }

    /// Renews the bits of [`Listening`], after a change.
    fn note(&self) {
        let _alone = self.noting.lock();
        for (bit, nobody) in self.bits() {
            if nobody {
                self.listening.fetch_and(!bit, Ordering::AcqRel);
            } else {
                self.listening.fetch_or(bit, Ordering::AcqRel);
            }
        }
    }

    /// Ends all subscriptions to the document.
    pub(crate) fn clear(&self) {
        self.update_v1.clear();
        self.update_v2.clear();
        self.cleanup.clear();
        self.before_observers.clear();
        self.after_transaction.clear();
        self.before_transaction.clear();
        self.before_all.clear();
        self.after_all.clear();
        self.subdocs.clear();
        self.destroy.clear();
        self.note();
    }

    /// Counts a subscription to a type.
    pub(crate) fn count_type(&self, added: bool) {
        if added {
            self.listening.fetch_add(Listening::TYPE, Ordering::AcqRel);
        } else {
            self.listening.fetch_sub(Listening::TYPE, Ordering::AcqRel);
        }
    }
}

macro_rules! subscriptions {
    ($($(#[$doc:meta])* $observe:ident, $unobserve:ident, $field:ident, ($($argument:ty),*);)*) => {
        impl Doc {
            $(
                $(#[$doc])*
                ///
                /// Callbacks are called in the order of their subscription; one of the same key is replaced.
                ///
                /// # Errors
                /// Never: subscribing needs no transaction. The type is yrs's.
                pub fn $observe<K, F>(&self, key: K, f: F) -> Result<(), TransactionAcqError>
                where
                    K: Into<Origin>,
                    F: FnMut($($argument),*) + Send + 'static,
                {
                    let events = &self.inner().events;
                    events.$field.subscribe(key.into(), Box::new(f));
                    events.note();
                    Ok(())
                }

                /// Ends a subscription. Returns whether there was one of this key.
                ///
                /// # Errors
                /// Never: unsubscribing needs no transaction. The type is yrs's.
                pub fn $unobserve<K: Into<Origin>>(&self, key: K) -> Result<bool, TransactionAcqError> {
                    let events = &self.inner().events;
                    let known = events.$field.unsubscribe(&key.into());
                    events.note();
                    Ok(known)
                }
            )*
        }

        impl TransactionMut<'_> {
            $(
                $(#[$doc])*
                ///
                /// Callbacks are called in the order of their subscription; one of the same key is replaced.
                pub fn $observe<K, F>(&mut self, key: K, f: F)
                where
                    K: Into<Origin>,
                    F: FnMut($($argument),*) + Send + 'static,
                {
                    let events = &self.doc().inner().events;
                    events.$field.subscribe(key.into(), Box::new(f));
                    events.note();
                }

                /// Ends a subscription. Returns whether there was one of this key.
                pub fn $unobserve<K: Into<Origin>>(&self, key: K) -> bool {
                    let events = &self.doc().inner().events;
                    let known = events.$field.unsubscribe(&key.into());
                    events.note();
                    known
                }
            )*
        }
    };
}

subscriptions! {
    /// Calls back with the V1 update of each transaction that changed something.
    observe_update_v1, unobserve_update_v1, update_v1, (&TransactionMut<'_>, &UpdateEvent);
    /// Calls back with the V2 update of each transaction that changed something.
    observe_update_v2, unobserve_update_v2, update_v2, (&TransactionMut<'_>, &UpdateEvent);
    /// Calls back after a transaction has been tidied up.
    observe_transaction_cleanup, unobserve_transaction_cleanup, cleanup,
        (&TransactionMut<'_>, &TransactionCleanupEvent);
    /// Calls back after the observers of a transaction, before deleted content is collected.
    observe_after_transaction, unobserve_after_transaction, after_transaction, (&mut TransactionMut<'_>);
    /// Calls back before the observers of types.
    observe_before_observer_calls, unobserve_before_observer_calls, before_observers, (&TransactionMut<'_>);
    /// Calls back, last of all, with the sub-documents that a transaction added, removed, or asked to load.
    observe_subdocs, unobserve_subdocs, subdocs, (&TransactionMut<'_>, &SubdocsEvent);
    /// Calls back when this document is destroyed: see [`Doc::destroy`].
    observe_destroy, unobserve_destroy, destroy, (&TransactionMut<'_>, &Doc);
    /// Calls back when a read-write transaction begins, the one that removes needless formatting included.
    observe_before_transaction, unobserve_before_transaction, before_transaction, (&TransactionMut<'_>);
    /// Calls back when a read-write transaction begins, before [`Self::observe_before_transaction`], and not for
    /// transactions that follow from it.
    observe_before_all_transactions, unobserve_before_all_transactions, before_all, (&TransactionMut<'_>);
    /// Calls back when a read-write transaction and those that follow from it are complete.
    observe_after_all_transactions, unobserve_after_all_transactions, after_all, (&TransactionMut<'_>);
}
