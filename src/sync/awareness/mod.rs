//! `Awareness`: what each client says of itself (name, cursor, …), shared but never stored.
//!
//! Each client counts what it says; a state is taken if its clock is higher than the one that is known, and a removal
//! also if the clocks are equal. An unknown client counts as clock 0. The clock of a client that is gone is kept, so
//! that late messages do not bring it back. Invariant: only this client changes its own state; a peer that removes it
//! makes its clock rise. All calls cost O(states named) and the JSON text of these.

mod event;
mod timeout;
mod update;

use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use yatta_encoding::{Any, ClientID};

use crate::clock::{Clock, SystemClock, Timestamp};
use crate::doc::Doc;
use crate::transaction::Origin;
use crate::transaction::registry::Registry;
use update::{NULL, is_null};

pub use event::{AwarenessUpdateSummary, Event};
pub use timeout::{CHECK_INTERVAL, OUTDATED_TIMEOUT};
pub use update::{AwarenessUpdate, AwarenessUpdateEntry};

type Callback = dyn FnMut(&Awareness, &Event, Option<&Origin>) + Send;

/// Something that an [`Awareness`] could not do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nothing is known of a client.
    #[error("client {0} not found")]
    ClientNotFound(ClientID),
    /// A state is not JSON, or a value has no JSON form.
    #[error("the state is not JSON: {0}")]
    Serde(#[from] serde_json::Error),
}

/// What is known of a client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientState {
    /// The clock of the last thing that the client said.
    pub clock: u32,
    /// When that arrived here, in milliseconds.
    pub last_updated: Timestamp,
    /// The state as JSON text; `None` if the client is gone.
    pub data: Option<Arc<str>>,
}

/// The states of all clients of a document.
///
/// ```
/// use yatta::Doc;
/// use yatta::sync::Awareness;
///
/// let mut alice = Awareness::new(Doc::with_client_id(1));
/// let mut bob = Awareness::new(Doc::with_client_id(2));
/// alice.set_local_state_raw(r#"{"name":"Alice"}"#);
/// bob.apply_update(alice.update()?)?;
/// assert_eq!(bob.state::<serde_json::Value>(alice.client_id()).unwrap()["name"], "Alice");
/// # Ok::<(), yatta::sync::awareness::Error>(())
/// ```
pub struct Awareness {
    doc: Doc,
    clock: Arc<dyn Clock>,
    /// In the order in which their states came: a state that comes back goes to the end, as in a JavaScript `Map`.
    states: IndexMap<ClientID, ClientState, FxBuildHasher>,
    on_update: Registry<Callback>,
    on_change: Registry<Callback>,
}

impl Awareness {
    /// Makes the awareness of a document, with the time of the system.
    pub fn new(doc: Doc) -> Self {
        Self::with_clock(doc, SystemClock)
    }

    /// Makes the awareness of a document, with another source of time.
    pub fn with_clock<C>(doc: Doc, clock: C) -> Self
    where
        C: Clock + 'static,
    {
        Self {
            doc,
            clock: Arc::new(clock),
            states: IndexMap::default(),
            on_update: Registry::default(),
            on_change: Registry::default(),
        }
    }

    /// Calls back whenever a client says something, be it the same as before. What an event names must be sent to
    /// peers. Callbacks are called in the order of their subscription; one of the same key is replaced.
    pub fn on_update<K, F>(&mut self, key: K, f: F)
    where
        K: Into<Origin>,
        F: FnMut(&Self, &Event, Option<&Origin>) + Send + 'static,
    {
        self.on_update.subscribe(key.into(), Box::new(f));
    }

    /// Ends a subscription. Returns whether there was one of this key.
    pub fn unobserve_update<K>(&mut self, key: K) -> bool
    where
        K: Into<Origin>,
    {
        self.on_update.unsubscribe(&key.into())
    }

    /// Calls back whenever a state is another than before. Callbacks are called in the order of their subscription;
    /// one of the same key is replaced.
    pub fn on_change<K, F>(&mut self, key: K, f: F)
    where
        K: Into<Origin>,
        F: FnMut(&Self, &Event, Option<&Origin>) + Send + 'static,
    {
        self.on_change.subscribe(key.into(), Box::new(f));
    }

    /// Ends a subscription. Returns whether there was one of this key.
    pub fn unobserve_change<K>(&mut self, key: K) -> bool
    where
        K: Into<Origin>,
    {
        self.on_change.unsubscribe(&key.into())
    }

    /// Returns the document.
    pub fn doc(&self) -> &Doc {
        &self.doc
    }

    /// Returns the document.
    pub fn doc_mut(&mut self) -> &mut Doc {
        &mut self.doc
    }

    /// Returns the client id of the document, under which the local state is known.
    pub fn client_id(&self) -> ClientID {
        self.doc.client_id()
    }

    /// Walks all clients that are known, those that are gone included.
    pub fn iter(&self) -> AwarenessIter<'_> {
        AwarenessIter(self.states.iter())
    }

    /// Returns the local state; `None` if there is none or it is not an `S`.
    pub fn local_state<S: DeserializeOwned>(&self) -> Option<S> {
        self.state(self.client_id())
    }

    /// Returns the local state as JSON text.
    pub fn local_state_raw(&self) -> Option<Arc<str>> {
        self.states.get(&self.client_id())?.data.clone()
    }

    /// Returns the state of a client; `None` if there is none or it is not a `D`.
    pub fn state<D: DeserializeOwned>(&self, client_id: ClientID) -> Option<D> {
        let json = self.states.get(&client_id)?.data.as_deref()?;
        serde_json::from_str(json).ok()
    }

    /// Returns the clock of a client and when it was last heard of, in milliseconds.
    pub fn meta(&self, client_id: ClientID) -> Option<(u32, Timestamp)> {
        self.states.get(&client_id).map(|state| (state.clock, state.last_updated))
    }

    /// Gives this client an empty state at clock 0, if nothing was said of it yet: so begins each awareness of Yjs. Peers
    /// that do not know this client take no notice of it before the first real state, whose clock is 1. No observer is
    /// called.
    pub fn begin_with_empty_state(&mut self) {
        let now = self.clock.now();
        let empty = || ClientState { clock: 0, last_updated: now, data: Some("{}".into()) };
        self.states.entry(self.doc.client_id()).or_insert_with(empty);
    }

    /// Sets the local state.
    ///
    /// # Errors
    /// [`Error::Serde`] when `state` has no JSON form.
    pub fn set_local_state<S: Serialize>(&mut self, state: S) -> Result<(), Error> {
        let json = serde_json::to_string(&state)?;
        self.set_local_state_raw(json);
        Ok(())
    }

    /// Sets the local state to a JSON text, which is sent as it is; `null` removes the state. Peers refuse what is not
    /// JSON.
    pub fn set_local_state_raw<S: Into<Arc<str>>>(&mut self, json: S) {
        let now = self.clock.now();
        self.set_local(json.into(), now);
    }

    /// Removes the local state: peers see this client leave.
    pub fn clean_local_state(&mut self) {
        let now = self.clock.now();
        self.remove_local(now);
    }

    /// Removes the state of a client.
    ///
    /// Differs from yrs, as Yjs: the clock of another client stays what it was, or what that client says next would
    /// be taken for old; and a client without a state stays as it is.
    pub fn remove_state(&mut self, client_id: ClientID) {
        if client_id == self.client_id() {
            self.clean_local_state();
        } else {
            self.remove_states([client_id], None);
        }
    }

    /// Returns the states of all clients that have one.
    ///
    /// # Errors
    /// Never. The type is yrs's.
    pub fn update(&self) -> Result<AwarenessUpdate, Error> {
        let present = self.states.iter().filter(|(_, state)| state.data.is_some());
        self.update_with_clients(present.map(|(client, _)| *client))
    }

    /// Returns the states of these clients; of those that are gone, that they are.
    ///
    /// # Errors
    /// [`Error::ClientNotFound`] when nothing is known of one of them.
    pub fn update_with_clients<I: IntoIterator<Item = ClientID>>(
        &self,
        clients: I,
    ) -> Result<AwarenessUpdate, Error> {
        let entry = |client| {
            let state = self.states.get(&client).ok_or(Error::ClientNotFound(client))?;
            let json = state.data.clone().unwrap_or_else(|| NULL.into());
            Ok((client, AwarenessUpdateEntry { clock: state.clock, json }))
        };
        Ok(AwarenessUpdate { clients: clients.into_iter().map(entry).collect::<Result<_, Error>>()? })
    }

    /// Takes in what a peer says.
    ///
    /// # Errors
    /// [`Error::Serde`] when a state is not JSON; then nothing is taken in.
    pub fn apply_update(&mut self, update: AwarenessUpdate) -> Result<(), Error> {
        self.apply(&update, None).map(|_| ())
    }

    /// Takes in what a peer says, with an origin that observers see.
    ///
    /// # Errors
    /// [`Error::Serde`] when a state is not JSON; then nothing is taken in.
    pub fn apply_update_with<O: Into<Origin>>(
        &mut self,
        update: AwarenessUpdate,
        origin: O,
    ) -> Result<(), Error> {
        self.apply(&update, Some(origin.into())).map(|_| ())
    }

    /// Takes in what a peer says and returns what changed by it, if anything did.
    ///
    /// # Errors
    /// [`Error::Serde`] when a state is not JSON; then nothing is taken in.
    pub fn apply_update_summary(
        &mut self,
        update: AwarenessUpdate,
    ) -> Result<Option<AwarenessUpdateSummary>, Error> {
        self.apply(&update, None)
    }

    /// As [`Self::apply_update_summary`], with an origin that observers see.
    ///
    /// # Errors
    /// [`Error::Serde`] when a state is not JSON; then nothing is taken in.
    pub fn apply_update_summary_with<O: Into<Origin>>(
        &mut self,
        update: AwarenessUpdate,
        origin: O,
    ) -> Result<Option<AwarenessUpdateSummary>, Error> {
        self.apply(&update, Some(origin.into()))
    }
}

/// What happened to the states, as it is collected.
#[derive(Default)]
struct Changes {
    added: Vec<ClientID>,
    updated: Vec<ClientID>,
    /// The part of `updated` whose state is another than before.
    changed: Vec<ClientID>,
    removed: Vec<ClientID>,
}

impl Awareness {
    /// Yjs: applyAwarenessUpdate.
    fn apply(
        &mut self,
        update: &AwarenessUpdate,
        origin: Option<Origin>,
    ) -> Result<Option<AwarenessUpdateSummary>, Error> {
        for entry in update.clients.values() {
            serde_json::from_str::<IgnoredAny>(&entry.json)?;
        }
        let now = self.clock.now();
        let mut changes = Changes::default();
        for (client, entry) in &update.clients {
            self.apply_entry(*client, entry, now, &mut changes);
        }
        Ok(self.notify(changes, origin))
    }

    fn apply_entry(
        &mut self,
        client: ClientID,
        entry: &AwarenessUpdateEntry,
        now: Timestamp,
        changes: &mut Changes,
    ) {
        let data = (!entry.is_null()).then(|| Arc::clone(&entry.json));
        let own = client == self.client_id();
        let Some(known) = self.states.get_mut(&client) else {
            // an unknown client counts as clock 0
            if entry.clock > 0 {
                if data.is_some() {
                    changes.added.push(client);
                }
                self.states.insert(client, ClientState { clock: entry.clock, last_updated: now, data });
            }
            return;
        };
        let removes = entry.clock == known.clock && data.is_none() && known.data.is_some();
        if entry.clock <= known.clock && !removes {
            return;
        }
        known.last_updated = now;
        known.clock = entry.clock;
        match data {
            None => {
                if own && known.data.is_some() {
                    // No peer removes the local state: with a higher clock it will be told that it is still here.
                    known.clock = known.clock.saturating_add(1);
                } else {
                    known.data = None;
                }
                changes.removed.push(client);
            }
            Some(json) => {
                changes.updated.push(client);
                if self.replace(client, json) {
                    changes.changed.push(client);
                }
            }
        }
    }

    /// Gives a known client a state. Returns whether it is another than before, if somebody wants to hear of that: it takes
    /// two readings of JSON to tell.
    fn replace(&mut self, client: ClientID, json: Arc<str>) -> bool {
        let Some((place, _, known)) = self.states.get_full_mut(&client) else { return false };
        let old = known.data.replace(json);
        let new = known.data.as_deref().unwrap_or(NULL);
        match old {
            Some(old) => !self.on_change.is_empty() && !same_json(&old, new),
            None => {
                self.states.move_index(place, self.states.len() - 1);
                true
            }
        }
    }

    /// Yjs: setLocalState.
    fn set_local(&mut self, json: Arc<str>, now: Timestamp) {
        if is_null(&json) {
            return self.remove_local(now);
        }
        let client = self.client_id();
        let had_state = self.states.get(&client).is_some_and(|state| state.data.is_some());
        self.touch_local(client, now);
        let changed = self.replace(client, json);
        let mut changes = Changes::default();
        if had_state {
            changes.updated.push(client);
            changes.changed.extend(changed.then_some(client));
        } else {
            changes.added.push(client);
        }
        self.notify(changes, None);
    }

    fn remove_local(&mut self, now: Timestamp) {
        let client = self.client_id();
        self.touch_local(client, now).data = None;
        self.notify(Changes { removed: vec![client], ..Changes::default() }, None);
    }

    /// Raises the clock of the local state. The first thing said has clock 1: peers ignore clock 0.
    fn touch_local(&mut self, client: ClientID, now: Timestamp) -> &mut ClientState {
        let state =
            self.states.entry(client).or_insert(ClientState { clock: 0, last_updated: now, data: None });
        state.clock = state.clock.saturating_add(1);
        state.last_updated = now;
        state
    }

    /// Removes states of other clients. Yjs: removeAwarenessStates.
    fn remove_states(&mut self, clients: impl IntoIterator<Item = ClientID>, origin: Option<Origin>) {
        let mut removed = Vec::new();
        for client in clients {
            if let Some(state) = self.states.get_mut(&client)
                && state.data.take().is_some()
            {
                removed.push(client);
            }
        }
        self.notify(Changes { removed, ..Changes::default() }, origin);
    }

    /// Tells observers and returns what there is to be told.
    fn notify(&self, changes: Changes, origin: Option<Origin>) -> Option<AwarenessUpdateSummary> {
        let Changes { added, updated, changed, removed } = changes;
        if !self.on_change.is_empty() {
            let event = Event::new(added.clone(), changed, removed.clone());
            if !event.summary().is_empty() {
                self.on_change.trigger(|callback| callback(self, &event, origin.as_ref()));
            }
        }
        let event = Event::new(added, updated, removed);
        if event.summary().is_empty() {
            return None;
        }
        self.on_update.trigger(|callback| callback(self, &event, origin.as_ref()));
        Some(event.into_summary())
    }
}

/// Whether two JSON texts say the same, whatever their key order and white space.
fn same_json(a: &str, b: &str) -> bool {
    a == b || matches!((Any::json_parse(a), Any::json_parse(b)), (Ok(a), Ok(b)) if a == b)
}

impl Default for Awareness {
    fn default() -> Self {
        Self::new(Doc::new())
    }
}

impl std::fmt::Debug for Awareness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Awareness").field("doc", &self.doc).field("states", &self.states).finish()
    }
}

/// Walks the clients of an [`Awareness`].
pub struct AwarenessIter<'a>(indexmap::map::Iter<'a, ClientID, ClientState>);

impl Iterator for AwarenessIter<'_> {
    type Item = (ClientID, ClientState);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(client, state)| (*client, state.clone()))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}
