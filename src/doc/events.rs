//! Subscriptions to a document as a whole. They live outside the lock: subscribing needs no transaction.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use parking_lot::RwLock;

use super::{Doc, TransactionAcqError};
use crate::block::index::ItemIdx;
use crate::store::Store;
use crate::transaction::registry::Registry;
use crate::transaction::{Origin, SubdocsEvent, TransactionCleanupEvent, TransactionMut, UpdateEvent};

type UpdateCallback = dyn FnMut(&TransactionMut<'_>, &UpdateEvent) + Send;
type CleanupCallback = dyn FnMut(&TransactionMut<'_>, &TransactionCleanupEvent) + Send;
type SubdocsCallback = dyn FnMut(&TransactionMut<'_>, &SubdocsEvent) + Send;
type DestroyCallback = dyn FnMut(&TransactionMut<'_>, &Doc) + Send;
type BeforeCallback = dyn FnMut(&TransactionMut<'_>) + Send;
pub(crate) type GcFilter = dyn Fn(&Store, ItemIdx) -> bool + Send + Sync;
type AfterCallback = dyn FnMut(&mut TransactionMut<'_>) + Send;

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
    filtering: AtomicBool,
    /// How many subscriptions to types there are; while there are none, the commit looks for none.
    types: AtomicUsize,
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

    /// Whether somebody may look at deleted content before it is collected.
    #[inline]
    pub(crate) fn hold_content(&self) -> bool {
        self.observing_types()
            || !self.after_transaction.is_empty()
            || !self.before_observers.is_empty()
            || self.filtering.load(Ordering::Acquire)
    }

    /// Sets what decides whether a deleted item may be collected.
    pub(crate) fn set_gc_filter(&self, filter: Option<Arc<GcFilter>>) {
        let mut place = self.gc_filter.write();
        self.filtering.store(filter.is_some(), Ordering::Release);
        *place = filter;
    }

    /// What decides whether a deleted item may be collected.
    pub(crate) fn gc_filter(&self) -> Option<Arc<GcFilter>> {
        if self.filtering.load(Ordering::Acquire) { self.gc_filter.read().clone() } else { None }
    }

    /// Whether there are subscriptions to types.
    #[inline]
    pub(crate) fn observing_types(&self) -> bool {
        self.types.load(Ordering::Acquire) > 0
    }

    /// Whether nobody wants to hear that a transaction begins.
    #[inline]
    pub(crate) fn nobody_before(&self) -> bool {
        self.before_transaction.is_empty() && self.before_all.is_empty()
    }

    /// Whether nobody wants to hear of a transaction that did nothing.
    #[inline]
    pub(crate) fn nobody_after(&self) -> bool {
        self.before_observers.is_empty() && self.after_transaction.is_empty() && self.cleanup.is_empty()
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
    }

    /// Counts a subscription to a type.
    pub(crate) fn count_type(&self, added: bool) {
        if added {
            self.types.fetch_add(1, Ordering::AcqRel);
        } else {
            self.types.fetch_sub(1, Ordering::AcqRel);
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
                    self.inner().events.$field.subscribe(key.into(), Box::new(f));
                    Ok(())
                }

                /// Ends a subscription. Returns whether there was one of this key.
                ///
                /// # Errors
                /// Never: unsubscribing needs no transaction. The type is yrs's.
                pub fn $unobserve<K: Into<Origin>>(&self, key: K) -> Result<bool, TransactionAcqError> {
                    Ok(self.inner().events.$field.unsubscribe(&key.into()))
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
                    self.doc().inner().events.$field.subscribe(key.into(), Box::new(f));
                }

                /// Ends a subscription. Returns whether there was one of this key.
                pub fn $unobserve<K: Into<Origin>>(&self, key: K) -> bool {
                    self.doc().inner().events.$field.unsubscribe(&key.into())
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
