//! `PermanentUserData`: who wrote and who deleted what, kept in the document (Yjs: `PermanentUserData`).
//!
//! A map of the document (`users` by habit) holds for each user a map of two lists: `ids`, the client ids that the user
//! wrote under, and `ds`, the deletions, each an [`IdSet`] in V1. Client ids tell who wrote an item, but not who deleted it:
//! so each peer records its own deletions.
//!
//! Yjs writes them down from a timer after each transaction. There is no clock here: what was deleted waits until the
//! application calls [`PermanentUserData::flush`], whenever and as seldom as it likes. Refused: writing within the transaction
//! that deletes, which would put each of these into the update of the keystroke and into what undo takes back.
//!
//! What the map says is read when it is asked for, as far as it is new: asking costs O(users), and O(what a user's lists
//! hold) after they grew. What an object said that was replaced since stays known: of client ids as in Yjs, and of
//! deletions too, which Yjs forgets.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parking_lot::Mutex;
use yatta_encoding::{Any, ClientID, Decode, Encode, ID, Number};

use crate::doc::{Doc, TransactionAcqError};
use crate::ids::IdSet;
use crate::transaction::{BranchID, Origin, TransactionMut};
use crate::types::array::{Array, ArrayPrelim, ArrayRef};
use crate::types::map::{Map, MapPrelim, MapRef};
use crate::types::{In, Out, ReadTxn, SharedRef};

const IDS: &str = "ids";
const DELETIONS: &str = "ds";

/// Who wrote and who deleted what, as the document itself tells.
pub struct PermanentUserData {
    users: MapRef,
    /// The user of each client id: who was last said to have it.
    clients: BTreeMap<ClientID, Arc<str>>,
    known: BTreeMap<Arc<str>, User>,
    /// The users whose deletions this peer records, with the object that their data went to last.
    ours: BTreeMap<Arc<str>, BranchID>,
    recorded: Arc<Mutex<Recorded>>,
}

/// What each user deleted, in its order.
type Recorded = Vec<(Arc<str>, IdSet)>;

/// What is known of a user.
struct User {
    /// The object that says so; another peer may have put a new one in its place.
    branch: BranchID,
    /// The lengths of its lists when they were read.
    read: (u32, u32),
    /// The client ids that were read of this object: of one that is read again, only the others are new.
    seen: BTreeSet<ClientID>,
    deleted: IdSet,
}

impl PermanentUserData {
    /// Reads and writes the data of users in this map of the document; by habit of Yjs it is the root map `users`.
    pub fn new(users: MapRef) -> Self {
        Self {
            users,
            clients: BTreeMap::new(),
            known: BTreeMap::new(),
            ours: BTreeMap::new(),
            recorded: Arc::default(),
        }
    }

    /// Says that a client id is used by `user` (any name that tells users apart). Yjs: the first half of `setUserMapping`.
    /// Cost O(log n).
    pub fn set_user_mapping(&mut self, txn: &mut TransactionMut<'_>, client: ClientID, user: &str) {
        let object = match self.object(txn, user) {
            Some(object) => object,
            None => {
                let lists = [IDS, DELETIONS].map(|name| (name, In::from(ArrayPrelim::default())));
                self.users.insert(txn, user, MapPrelim::from_iter(lists))
            }
        };
        if let Some(ids) = list(txn, &object, IDS) {
            ids.push_back(txn, client_number(client));
        }
        // If there is an object already that what is known goes over from, the next flush sees to that.
        self.ours.entry(Arc::from(user)).or_insert_with(|| object.hook().id().clone());
        self.refresh(txn);
    }

    /// Records from now on what local transactions of `doc` delete as done by `user`, if `filter` allows. It waits for
    /// [`Self::flush`]. Yjs: the second half of `setUserMapping`.
    ///
    /// The subscription is one of [`Doc::observe_transaction_cleanup`] with this `key`; it does nothing any more once this
    /// object is dropped.
    ///
    /// # Errors
    /// None today. The type is yrs's.
    pub fn record<K, F>(
        &self,
        doc: &Doc,
        key: K,
        user: &str,
        mut filter: F,
    ) -> Result<(), TransactionAcqError>
    where
        K: Into<Origin>,
        F: FnMut(&TransactionMut<'_>) -> bool + Send + 'static,
    {
        let user: Arc<str> = Arc::from(user);
        let recorded = Arc::downgrade(&self.recorded);
        doc.observe_transaction_cleanup(key, move |txn, event| {
            if let Some(recorded) = recorded.upgrade()
                && txn.is_local()
                && !event.delete_set.is_empty()
                && filter(txn)
            {
                recorded.lock().push((Arc::clone(&user), event.delete_set.clone()));
            }
        })
    }

    /// Returns whether deletions wait to be written by [`Self::flush`].
    pub fn has_recorded(&self) -> bool {
        !self.recorded.lock().is_empty()
    }

    /// Writes down what was recorded; what is of a user who has no object in the map goes on waiting. Where another peer put a new object in place of that of a user of ours, first brings
    /// over what was known. Cost O(what is recorded).
    pub fn flush(&mut self, txn: &mut TransactionMut<'_>) {
        self.refresh(txn);
        for (user, last) in &mut self.ours {
            let Some(Out::YMap(object)) = self.users.get(txn, user) else { continue };
            let id = object.hook().id().clone();
            if id == *last {
                continue;
            }
            *last = id;
            let Some(known) = self.known.get(user) else { continue };
            if let Some(ids) = list(txn, &object, IDS) {
                for (client, _) in self.clients.iter().filter(|(_, name)| *name == user) {
                    ids.push_back(txn, client_number(*client));
                }
            }
            if let Some(deletions) = list(txn, &object, DELETIONS)
                && !known.deleted.is_empty()
            {
                deletions.push_back(txn, known.deleted.encode_v1());
            }
        }
        let recorded = std::mem::take(&mut *self.recorded.lock());
        for (user, deleted) in recorded {
            match self.object(txn, &user).and_then(|object| list(txn, &object, DELETIONS)) {
                Some(deletions) => {
                    deletions.push_back(txn, deleted.encode_v1());
                }
                None => self.recorded.lock().push((user, deleted)),
            }
        }
        // What is written now must be known should the object be replaced before somebody asks.
        self.refresh(txn);
    }

    /// Returns the user who writes, or wrote, under a client id. Cost O(users) if nothing new came.
    #[doc(alias = "getUserByClientId")]
    pub fn user_by_client_id<T: ReadTxn>(&mut self, txn: &T, client: ClientID) -> Option<&str> {
        self.refresh(txn);
        self.clients.get(&client).map(AsRef::as_ref)
    }

    /// Returns the user who deleted the element of this id, if somebody recorded that. Cost O(users) if nothing new came.
    #[doc(alias = "getUserByDeletedId")]
    pub fn user_by_deleted_id<T: ReadTxn>(&mut self, txn: &T, id: &ID) -> Option<&str> {
        self.refresh(txn);
        let mut users = self.known.iter();
        users.find(|(_, user)| user.deleted.contains(id)).map(|(name, _)| name.as_ref())
    }

    fn object<T: ReadTxn>(&self, txn: &T, user: &str) -> Option<MapRef> {
        match self.users.get(txn, user) {
            Some(Out::YMap(object)) => Some(object),
            _ => None,
        }
    }

    /// Reads what changed. Entries that make no sense are left out.
    fn refresh<T: ReadTxn>(&mut self, txn: &T) {
        for (name, value) in self.users.iter(txn) {
            let Out::YMap(object) = value else { continue };
            let (Some(ids), Some(deletions)) = (list(txn, &object, IDS), list(txn, &object, DELETIONS))
            else {
                continue;
            };
            let branch = object.hook().id().clone();
            let read = (ids.len(txn), deletions.len(txn));
            let name: Arc<str> = Arc::from(name);
            let known = self.known.entry(Arc::clone(&name)).or_insert_with(|| User {
                branch: branch.clone(),
                read: (0, 0),
                seen: BTreeSet::new(),
                deleted: IdSet::new(),
            });
            if known.branch == branch && known.read == read {
                continue;
            }
            if known.branch != branch {
                known.seen.clear();
            }
            (known.branch, known.read) = (branch, read);
            for client in ids.iter(txn).filter_map(|value| client_of(&value)) {
                if known.seen.insert(client) {
                    self.clients.insert(client, Arc::clone(&name));
                }
            }
            for value in deletions.iter(txn) {
                if let Out::Any(Any::Buffer(bytes)) = value
                    && let Ok(deleted) = IdSet::decode_v1(&bytes)
                {
                    known.deleted.merge_with(deleted);
                }
            }
        }
    }
}

impl std::fmt::Debug for PermanentUserData {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PermanentUserData").field("users", &self.known.keys()).finish_non_exhaustive()
    }
}

fn list<T: ReadTxn>(txn: &T, object: &MapRef, name: &str) -> Option<ArrayRef> {
    match object.get(txn, name) {
        Some(Out::YArray(list)) => Some(list),
        _ => None,
    }
}

/// A client id as JavaScript writes it.
fn client_number(client: ClientID) -> Any {
    i64::try_from(client.get()).map_or(Any::Null, |id| Any::Number(Number::Int(id)))
}

/// A client id as it was written, if it is one.
fn client_of(value: &Out) -> Option<ClientID> {
    let Out::Any(Any::Number(number)) = value else { return None };
    let id = match number {
        Number::Int(id) => u64::try_from(*id).ok()?,
        Number::Float(id) if *id >= 0.0 && id.fract() == 0.0 && *id < 2f64.powi(53) => *id as u64,
        Number::Float(_) => return None,
    };
    (id < 1 << 53).then(|| ClientID::new(id))
}
