//! Runs a script on several engines in lockstep, and checks that they and all peers agree.
//!
//! Every peer of the script is one document on every host. The first host leads: the operations are chosen from its
//! documents and its updates are the messages. Every reply of the others, each emitted update in V1 and V2 included,
//! must equal the leader's. At the end all peers are synchronised and must hold the same document.

use super::Host;
use super::json::{Json, hex, unhex};
use super::mixed::{self, YrsPeers};
use super::script::{self, Action, Kind, Step, Taste};
use super::wire;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg32;
use std::fmt::Write as _;

/// How the replies of a host are compared with the leader's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Judge {
    /// Byte for byte.
    Exact,
    /// After delete sets and state vectors were brought into Yjs's order (departures 5 and 6 of yrs). A host that
    /// departs is left out for the rest of the script.
    Yrs,
}

/// A host beside the leader.
pub(crate) struct Follower<'a> {
    pub(crate) name: &'static str,
    pub(crate) host: &'a mut dyn Host,
    pub(crate) judge: Judge,
}

/// Requests with the leader's replies, in order.
pub(crate) type Trace = Vec<(Json, Json)>;

/// What came of a script on which all exact hosts agreed.
pub(crate) struct Outcome {
    /// The first difference of a host judged as yrs.
    pub(crate) departure: Option<Departure>,
    pub(crate) trace: Trace,
    /// How often a peer that is yrs departed, by number.
    pub(crate) accounts: mixed::Accounts,
}

/// Where and how yrs departed.
pub(crate) struct Departure {
    pub(crate) request: Json,
    pub(crate) leader: Json,
    pub(crate) other: Json,
}

/// What is kept of each operation for a failure message.
struct Message {
    v1: Json,
    v2: Json,
}

struct Network<'a, 'b> {
    leader: &'a mut dyn Host,
    /// The peers that are yrs and nothing else.
    yrs: YrsPeers<'a>,
    /// Whether peers undo.
    undo: bool,
    followers: &'a mut [Follower<'b>],
    taste: Taste,
    peers: usize,
    clients: [u64; 5],
    waiting: Vec<Vec<Message>>,
    trace: Trace,
    departure: Option<Departure>,
}

/// The client ids of the peers: neither in the order of the peers nor all of one varint length.
pub(crate) const CLIENTS: [u64; 5] = [300, 7, 4_000_000_000, 90, 130_000];

/// Runs a script.
///
/// # Errors
/// What differed, with the two replies.
pub(crate) fn run(
    taste: Taste,
    steps: &[Step],
    peers: usize,
    leader: &mut dyn Host,
    followers: &mut [Follower<'_>],
) -> Result<Outcome, String> {
    run_mixed(taste, steps, peers, leader, followers, YrsPeers::none(), false)
}

/// Runs a script in which some peers are yrs; with `undo` the others have undo managers.
///
/// # Errors
/// As [`run`], and where yrs departed in a way that no number explains.
pub(crate) fn run_mixed<'a>(
    taste: Taste,
    steps: &[Step],
    peers: usize,
    leader: &'a mut dyn Host,
    followers: &'a mut [Follower<'_>],
    yrs: YrsPeers<'a>,
    undo: bool,
) -> Result<Outcome, String> {
    let waiting = (0..peers).map(|_| Vec::new()).collect();
    let mut network = Network {
        leader,
        followers,
        yrs,
        undo,
        taste,
        peers,
        clients: CLIENTS,
        waiting,
        trace: Vec::new(),
        departure: None,
    };
    let result = network.script(steps);
    network.free();
    if let Err(error) = result {
        return Err(format!("{}{error}", case_text(&network.trace)));
    }
    Ok(Outcome { departure: network.departure, trace: network.trace, accounts: network.yrs.accounts })
}

/// A script as a case: lines for a file testdata/adapter/network-NAME.jsonl, which tests/adapter.rs replays.
fn case_text(trace: &Trace) -> String {
    let mut text = "a case, one line of testdata/adapter/network-NAME.jsonl each:\n".to_owned();
    for (request, reply) in trace {
        let _ = writeln!(text, "{}", Json::object([("q", request.clone()), ("a", reply.clone())]));
    }
    text
}

/// The requests of a script that do something, one a line.
pub(crate) fn script_text<'a>(requests: impl Iterator<Item = &'a Json>) -> String {
    const READS: [&str; 6] = ["root", "toJSON", "toDelta", "len", "sv", "encode"];
    let does = |request: &&Json| !READS.contains(&request.get("op").as_str().unwrap_or_default());
    requests.filter(does).fold(String::new(), |mut text, request| {
        let _ = writeln!(text, "  {request}");
        text
    })
}

/// Runs a script again and again with steps taken out, as long as it fails, and returns the shortest failure.
pub(crate) fn shrink(
    steps: &[Step],
    first: String,
    mut fails: impl FnMut(&[Step]) -> Option<String>,
) -> String {
    let mut steps = steps.to_vec();
    let mut error = first;
    let mut size = steps.len() / 2;
    while size > 0 {
        let mut at = 0;
        while at < steps.len() {
            let mut fewer = steps.clone();
            fewer.drain(at..(at + size).min(steps.len()));
            match fails(&fewer) {
                Some(next) => {
                    steps = fewer;
                    error = next;
                }
                None => at += size,
            }
        }
        size /= 2;
    }
    error
}

/// A value without what each peer decides for itself: whether it loads a sub-document.
fn shared(json: &Json) -> Json {
    match json {
        Json::Array(items) => items.iter().map(shared).collect::<Vec<_>>().into(),
        Json::Object(entries) => {
            let kept = entries.iter().filter(|(key, _)| key != "shouldLoad");
            Json::Object(kept.map(|(key, value)| (key.clone(), shared(value))).collect())
        }
        other => other.clone(),
    }
}

/// The requests for everything observable of a peer: values, deltas; then the state vector and the state in both formats.
pub(crate) fn state_requests(kind: Kind, peer: usize) -> Vec<Json> {
    let mut requests = Vec::new();
    for (root, of) in kind.roots() {
        let h = Json::from(format!("@{root}"));
        let ops: &[&str] = match (kind, *of) {
            // JSON has no word for a sub-document
            (Kind::Subdocs, "array") => &["list_values"],
            (Kind::Subdocs, _) => &["map_entries"],
            (_, "text") => &["toJSON", "toDelta", "len"],
            _ => &["toJSON"],
        };
        let request = |op: &&str| Json::object([("op", (*op).into()), ("doc", name(peer)), ("h", h.clone())]);
        requests.extend(ops.iter().map(request));
    }
    requests.push(Json::object([("op", "sv".into()), ("doc", name(peer))]));
    for enc in [1_u32, 2] {
        requests.push(Json::object([("op", "encode".into()), ("doc", name(peer)), ("enc", enc.into())]));
    }
    requests
}

fn name(peer: usize) -> Json {
    format!("d{peer}").into()
}

impl Network<'_, '_> {
    fn script(&mut self, steps: &[Step]) -> Result<(), String> {
        for peer in 0..self.peers {
            self.open(peer)?;
        }
        for step in steps {
            self.step(*step)?;
        }
        self.settle()
    }

    fn open(&mut self, peer: usize) -> Result<(), String> {
        self.all(Json::object([
            ("op", "new".into()),
            ("doc", name(peer)),
            ("clientID", Json::Number(self.clients[peer] as f64)),
            ("gc", true.into()),
            ("guid", "g".into()),
        ]))?;
        for (root, kind) in self.taste.kind.roots() {
            let root = Json::from(*root);
            let request =
                [("op", "root".into()), ("doc", name(peer)), ("name", root), ("kind", (*kind).into())];
            self.all(Json::object(request))?;
        }
        if self.undo {
            let scope: Vec<Json> =
                self.taste.kind.roots().iter().map(|(root, _)| format!("@{root}").into()).collect();
            self.all(Json::object([
                ("op", "undo_new".into()),
                ("doc", name(peer)),
                ("um", "u".into()),
                ("scope", scope.into()),
                ("captureTimeout", 0.into()),
            ]))?;
        }
        Ok(())
    }

    fn step(&mut self, step: Step) -> Result<(), String> {
        let mut rng = Pcg32::seed_from_u64(step.seed);
        let peer = step.peer;
        if self.yrs.is_lost(peer) {
            return Ok(());
        }
        match step.action {
            Action::Edit => {
                let operation = self.choose(peer, |taste, shape| script::operation(taste, &mut rng, shape));
                self.edit(peer, operation)
            }
            Action::Burst => {
                let run = self.choose(peer, |taste, shape| script::burst(taste, &mut rng, shape));
                run.into_iter().try_for_each(|operation| self.edit(peer, operation))
            }
            Action::Transact => self.transact(peer, &mut rng),
            Action::Deliver => self.deliver(peer, &mut rng),
            Action::Merge => self.merge(peer, &mut rng),
            Action::Sync => {
                let from = (peer + rng.random_range(1..self.peers)) % self.peers;
                self.sync(from, peer, rng.random_range(1..=2))
            }
            Action::Diff => self.diff(peer, &mut rng),
            Action::Part => self.part(peer, &mut rng),
            Action::Undo => self.undo(peer, &mut rng),
            Action::Reload => self.reload(peer, rng.random_range(1..=2)),
        }
    }

    fn choose<T>(
        &mut self,
        peer: usize,
        choose: impl FnOnce(Taste, &mut dyn FnMut(&Json) -> Json) -> T,
    ) -> T {
        let mut taste = self.taste;
        let is_yrs = self.yrs.is_peer(peer);
        if is_yrs {
            // Several attributes at once come out of yrs in the order of a hash (12): a seed would not repeat.
            taste.kind = if taste.kind == Kind::Rich { Kind::Formatted } else { taste.kind };
            taste.values = super::value::Values::Yrs;
        }
        let leader = match &mut self.yrs.host {
            Some(yrs) if is_yrs => &mut **yrs,
            _ => &mut *self.leader,
        };
        choose(taste, &mut |path| {
            let request = Json::object([("op", "shape".into()), ("doc", name(peer)), ("h", path.clone())]);
            let reply = leader.call(&request);
            assert_eq!(reply.get("ok").as_bool(), Some(true), "{request} gave {reply}");
            reply.get("r").clone()
        })
    }

    fn edit(&mut self, peer: usize, mut operation: Json) -> Result<(), String> {
        operation.set("doc", name(peer));
        let reply = self.all(operation)?;
        self.broadcast(peer, &reply);
        Ok(())
    }

    /// The operations of one transaction are chosen from the shape before it, so each must be valid after the others.
    fn transact(&mut self, peer: usize, rng: &mut Pcg32) -> Result<(), String> {
        let mut ops = Vec::new();
        let first = self.choose(peer, |taste, shape| script::operation(taste, rng, shape));
        ops.push(first.clone());
        if rng.random_bool(0.5) {
            ops.extend(follow_up(&first, rng));
        }
        for _ in 0..rng.random_range(1..4) {
            let next = self.choose(peer, |taste, shape| script::operation(taste, rng, shape));
            if is_safe_after(&ops, &next) {
                ops.push(next);
            }
        }
        for operation in &mut ops {
            operation.set("doc", name(peer));
        }
        self.edit(peer, Json::object([("op", "transact".into()), ("ops", ops.into())]))
    }

    fn broadcast(&mut self, from: usize, reply: &Json) {
        let updates =
            reply.get("ev").items().iter().filter(|event| event.get("t").as_str() == Some("update"));
        for event in updates {
            for to in (0..self.peers).filter(|to| *to != from) {
                self.waiting[to].push(Message { v1: event.get("v1").clone(), v2: event.get("v2").clone() });
            }
        }
    }

    fn deliver(&mut self, peer: usize, rng: &mut Pcg32) -> Result<(), String> {
        if self.waiting[peer].is_empty() {
            return Ok(());
        }
        let at = rng.random_range(0..self.waiting[peer].len());
        let enc = rng.random_range(1..=2);
        let message = &self.waiting[peer][at];
        let update = if enc == 1 { message.v1.clone() } else { message.v2.clone() };
        if rng.random_bool(0.85) {
            self.waiting[peer].swap_remove(at);
        }
        self.apply(peer, update, enc)
    }

    fn merge(&mut self, peer: usize, rng: &mut Pcg32) -> Result<(), String> {
        let enc = rng.random_range(1..=2_u32);
        let mut updates = Vec::new();
        for _ in 0..rng.random_range(2..5).min(self.waiting[peer].len()) {
            let at = rng.random_range(0..self.waiting[peer].len());
            let message = self.waiting[peer].swap_remove(at);
            updates.push(if enc == 1 { message.v1 } else { message.v2 });
        }
        if updates.is_empty() {
            return Ok(());
        }
        let request =
            Json::object([("op", "merge".into()), ("updates", updates.into()), ("enc", enc.into())]);
        let merged = self.bytes(request)?;
        self.apply(peer, merged, enc)
    }

    /// A waiting message, cut down to what the peer lacks and perhaps rewritten in the other format.
    fn diff(&mut self, peer: usize, rng: &mut Pcg32) -> Result<(), String> {
        if self.waiting[peer].is_empty() {
            return Ok(());
        }
        let at = rng.random_range(0..self.waiting[peer].len());
        let mut enc = rng.random_range(1..=2_u32);
        let message = &self.waiting[peer][at];
        let update = if enc == 1 { message.v1.clone() } else { message.v2.clone() };
        let sv = self.all(Json::object([("op", "sv".into()), ("doc", name(peer))]))?.get("r").clone();
        let request = [("op", "diff".into()), ("update", update), ("sv", sv), ("enc", enc.into())];
        let mut cut = self.bytes(Json::object(request))?;
        if rng.random_bool(0.5) {
            enc = 3 - enc;
            cut =
                self.bytes(Json::object([("op", "convert".into()), ("update", cut), ("to", enc.into())]))?;
        }
        self.apply(peer, cut, enc)
    }

    /// What a third peer lacks of another's document, or all of that.
    fn part(&mut self, peer: usize, rng: &mut Pcg32) -> Result<(), String> {
        let from = (peer + rng.random_range(1..self.peers)) % self.peers;
        let third = rng.random_range(0..self.peers);
        if self.yrs.is_lost(from) || self.yrs.is_lost(third) {
            return Ok(());
        }
        let sv = if rng.random_bool(0.3) {
            Json::Null
        } else {
            self.all(Json::object([("op", "sv".into()), ("doc", name(third))]))?.get("r").clone()
        };
        let (update, enc) = self.encode(from, rng.random_range(1..=2), sv)?;
        self.apply(peer, update, enc)
    }

    fn undo(&mut self, peer: usize, rng: &mut Pcg32) -> Result<(), String> {
        if !self.undo {
            return Ok(());
        }
        let op = match rng.random_range(0..10) {
            0..5 => "undo",
            5..8 => "redo",
            8 => "undo_stop",
            _ => "undo_clear",
        };
        let request = |op: &str| Json::object([("op", op.into()), ("doc", name(peer)), ("um", "u".into())]);
        let reply = self.all(request(op))?;
        self.broadcast(peer, &reply);
        self.all(request("undo_read")).map(|_| ())
    }

    fn sync(&mut self, from: usize, to: usize, enc: u32) -> Result<(), String> {
        if self.yrs.is_lost(from) || self.yrs.is_lost(to) {
            return Ok(());
        }
        let sv = self.all(Json::object([("op", "sv".into()), ("doc", name(to))]))?;
        let (diff, enc) = self.encode(from, enc, sv.get("r").clone())?;
        self.apply(to, diff, enc)
    }

    /// What a peer has beyond a state vector, and its format.
    fn encode(&mut self, from: usize, enc: u32, sv: Json) -> Result<(Json, u32), String> {
        let request = |enc: u32| {
            let request =
                [("op", "encode".into()), ("doc", name(from)), ("enc", enc.into()), ("sv", sv.clone())];
            Json::object(request)
        };
        if enc == 2 && self.yrs.is_peer(from) {
            let v1 = self.all(request(1))?.get("r").clone();
            if mixed::has_skip(&v1) {
                self.yrs.note("1: the length of a Skip in V2");
                return Ok((v1, 1));
            }
        }
        Ok((self.all(request(enc))?.get("r").clone(), enc))
    }

    fn apply(&mut self, peer: usize, update: Json, enc: u32) -> Result<(), String> {
        let (mut update, mut enc) = (update, enc);
        if self.yrs.is_lost(peer) || update.is_null() {
            return Ok(());
        }
        if enc == 2 && self.yrs.is_peer(peer) {
            let convert = [("op", "convert".into()), ("update", update.clone()), ("to", 1.into())];
            let v1 = self.leader.call(&Json::object(convert)).get("r").clone();
            if mixed::has_skip(&v1) {
                self.yrs.note("1: the length of a Skip in V2");
                (update, enc) = (v1, 1);
            }
        }
        let reply = self.all(Json::object([
            ("op", "apply".into()),
            ("doc", name(peer)),
            ("update", update),
            ("enc", enc.into()),
            ("origin", "remote".into()),
        ]))?;
        // what the clean-up of formats emits is news to the others
        let news: Vec<_> =
            reply.get("ev").items().iter().filter(|ev| ev.get("origin").is_null()).cloned().collect();
        self.broadcast(peer, &Json::object([("ev", news.into())]));
        Ok(())
    }

    fn reload(&mut self, peer: usize, enc: u32) -> Result<(), String> {
        let (state, enc) = self.encode(peer, enc, Json::Null)?;
        self.all(Json::object([("op", "free".into()), ("doc", name(peer))]))?;
        // a session never reuses the client id of an earlier one
        self.clients[peer] += 10;
        self.open(peer)?;
        self.apply(peer, state, enc)
    }

    /// Synchronises until nothing is left to say, then compares all peers.
    fn settle(&mut self) -> Result<(), String> {
        for round in 0..6 {
            for from in 0..self.peers {
                for to in (0..self.peers).filter(|to| *to != from) {
                    self.sync(from, to, 1 + ((from + to + round) % 2) as u32)?;
                }
            }
            let like_yjs = (0..self.peers).filter(|peer| !self.yrs.is_peer(*peer)).collect::<Vec<_>>();
            let states: Result<Vec<_>, _> = like_yjs.iter().map(|peer| self.state(*peer)).collect();
            let states = states?;
            let is_last = round == 5;
            let equal_bytes = states.iter().all(|state| *state == states[0]);
            if !self.yrs.agree(states[0].as_slice(), self.taste, is_last)? {
                continue;
            }
            if equal_bytes || (self.undo && states.iter().all(|s| same_document(s, &states[0], true))) {
                return Ok(());
            }
            // where an index has cut a surrogate pair, peers of Yjs differ for ever: only who split there has U+FFFD
            if is_last
                && !self.taste.surrogates
                && !states.iter().all(|s| same_document(s, &states[0], self.undo))
            {
                let states: Vec<_> = states.iter().map(|state| state_text(state)).collect();
                return Err(format!("the peers do not converge:\n{}", states.join("\n")));
            }
        }
        Ok(())
    }

    /// Everything observable of a peer: values, deltas, state vector and state in both formats.
    fn state(&mut self, peer: usize) -> Result<Vec<Json>, String> {
        let requests = state_requests(self.taste.kind, peer);
        requests.into_iter().map(|request| Ok(shared(self.all(request)?.get("r")))).collect()
    }

    fn free(&mut self) {
        for peer in 0..self.peers {
            let request = Json::object([("op", "free".into()), ("doc", name(peer))]);
            if let Some(yrs) = &mut self.yrs.host {
                yrs.call(&request);
            }
            self.leader.call(&request);
            for follower in &mut *self.followers {
                follower.host.call(&request);
            }
        }
    }

    /// Runs a request that only exact hosts are asked to repeat (yrs merges otherwise: departures 1 and 17).
    fn bytes(&mut self, request: Json) -> Result<Json, String> {
        let reply = self.compare(request, true)?;
        Ok(reply.get("r").clone())
    }

    fn all(&mut self, request: Json) -> Result<Json, String> {
        match self.yrs.peer_of(&request) {
            Some(peer) => self.yrs.ask(peer, &request),
            None => self.compare(request, false),
        }
    }

    fn compare(&mut self, request: Json, exact_only: bool) -> Result<Json, String> {
        let reply = self.leader.call(&request);
        if reply.get("ok").as_bool() != Some(true) {
            self.trace.push((request.clone(), reply.clone()));
            return Err(format!("{request} gave {reply}"));
        }
        if let Some(doc) = request.get("doc").as_str() {
            self.leader.check(doc);
        }
        for follower in &mut *self.followers {
            let as_yrs = follower.judge == Judge::Yrs;
            if as_yrs && (exact_only || self.departure.is_some()) {
                continue;
            }
            let mut other = follower.host.call(&request);
            if as_yrs {
                other = normalised(&request, &other);
            }
            if same(&reply, &other) {
                continue;
            }
            if as_yrs {
                let mut departure = Departure { request: request.clone(), leader: reply.clone(), other };
                let panicked = departure.other.get("kind").as_str() == Some("panic");
                if request.get("op").as_str() == Some("encode") && !panicked {
                    // V1 says more readably what differs
                    departure.request.set("enc", 1.into());
                    departure.leader = self.leader.call(&departure.request);
                    departure.other = normalised(&departure.request, &follower.host.call(&departure.request));
                }
                self.departure = Some(departure);
                continue;
            }
            self.trace.push((request.clone(), other.clone()));
            return Err(difference(follower.name, &request, &reply, &other));
        }
        self.trace.push((request, reply.clone()));
        Ok(reply)
    }
}

/// Whether an operation is valid after the earlier ones of its transaction, though it was chosen before them: it stands
/// wholly before their places, or needs no place.
fn is_safe_after(before: &[Json], next: &Json) -> bool {
    let is_root = |operation: &Json| operation.get("h").as_str().is_some();
    let place = |operation: &Json| operation.get("index").as_u64();
    let len = next.get("len").as_u64().unwrap_or_default();
    next.find("delta").is_none()
        && before.iter().all(|earlier| match (place(earlier), place(next)) {
            // an operation on another root cannot move or remove this type
            _ if earlier.get("h") != next.get("h") => is_root(earlier) && is_root(next),
            (Some(earlier), Some(next)) => next + len <= earlier,
            (None, Some(_)) => earlier.find("delta").is_none(),
            _ => true,
        })
}

/// An operation beside one just done: goes on typing, or takes back a part of what was typed.
fn follow_up(first: &Json, rng: &mut Pcg32) -> Option<Json> {
    let (index, h) = (first.get("index").as_u64()? as u32, first.get("h").clone());
    let (delete, len) = match first.get("op").as_str()? {
        "text_insert" => ("text_delete", first.get("text").as_str()?.encode_utf16().count() as u32),
        "list_insert" => ("list_delete", first.get("content").items().len() as u32),
        _ => return None,
    };
    if rng.random_bool(0.5) {
        let mut next = first.clone();
        next.set("index", (index + len).into());
        return Some(next);
    }
    // a whole insertion, so that no surrogate pair is cut
    Some(Json::object([("op", delete.into()), ("index", index.into()), ("len", len.into()), ("h", h)]))
}

/// Equal values and state vectors, and equal bytes but for one thing: into how many pieces a run of collected ranges is
/// cut. Yjs joins them where a transaction touches them, so two of its peers can hold them in different pieces as well.
/// With `undo` each keeps of deleted structs what it may bring back, so only the live ones are compared.
fn same_document(a: &[Json], b: &[Json], undo: bool) -> bool {
    let structs = |state: &[Json]| {
        if undo {
            return mixed::live(&state[state.len() - 2]);
        }
        let bytes = state[state.len() - 2].as_str().and_then(|text| unhex(text).ok())?;
        let update = wire::decode(&bytes).ok()?;
        Some((wire::joined_ranges(&update.structs), update.deletes))
    };
    a[..a.len() - 2] == b[..b.len() - 2] && structs(a).is_some() && structs(a) == structs(b)
}

/// Equal, apart from the order of keys in values.
pub(crate) fn same(a: &Json, b: &Json) -> bool {
    let events = |reply: &Json| reply.get("ev").items().iter().map(sorted_subdocs).collect::<Vec<_>>();
    a.get("ok") == b.get("ok") && a.get("r") == b.get("r") && events(a) == events(b)
}

/// An event of sub-documents names sets: their order says nothing.
fn sorted_subdocs(event: &Json) -> Json {
    let mut event = event.clone();
    if event.get("t").as_str() == Some("subdocs") {
        for key in ["added", "removed", "loaded"] {
            let mut guids = event.get(key).items().to_vec();
            guids.sort_by_key(Json::to_string);
            event.set(key, guids.into());
        }
    }
    event
}

/// A reply of yrs with its delete sets and state vectors in Yjs's order.
pub(crate) fn normalised(request: &Json, reply: &Json) -> Json {
    let rewrite = |hex_text: &Json, v2: bool| -> Json {
        let bytes = hex_text.as_str().and_then(|text| unhex(text).ok());
        bytes
            .and_then(|bytes| wire::normalise(&bytes, v2).ok())
            .map_or_else(|| hex_text.clone(), |bytes| hex(&bytes).into())
    };
    let mut out = reply.clone();
    let events = reply.get("ev").items().iter().map(|event| {
        let mut event = event.clone();
        event.set("v1", rewrite(event.get("v1"), false));
        event.set("v2", rewrite(event.get("v2"), true));
        event
    });
    out.set("ev", events.collect::<Vec<_>>().into());
    match request.get("op").as_str() {
        Some("encode") => out.set("r", rewrite(reply.get("r"), request.get("enc").as_u64() == Some(2))),
        Some("sv") => {
            let bytes = unhex(reply.get("r").as_str().unwrap_or_default()).unwrap_or_default();
            out.set("r", wire::normalise_state_vector(&bytes).map_or(Json::Null, |bytes| hex(&bytes).into()));
        }
        _ => {}
    }
    out
}

/// A readable account of two replies that differ.
pub(crate) fn difference(name: &str, request: &Json, leader: &Json, other: &Json) -> String {
    let mut text = format!("after {request}\nyatta: {leader}\n{name}: {other}\n");
    for (who, reply) in [("yatta", leader), (name, other)] {
        for event in reply.get("ev").items() {
            let _ = writeln!(text, "{who} emitted\n{}", described(event.get("v1")));
        }
        if request.get("op").as_str() == Some("encode") && request.get("enc").as_u64() == Some(1) {
            let _ = writeln!(text, "{who} holds\n{}", described(reply.get("r")));
        }
    }
    text
}

fn described(hex_text: &Json) -> String {
    unhex(hex_text.as_str().unwrap_or_default()).map_or_else(|error| error, |bytes| wire::describe(&bytes))
}

pub(crate) fn state_text(state: &[Json]) -> String {
    let values: Vec<_> = state.iter().map(Json::to_string).collect();
    let v1 = &state[state.len() - 2];
    format!("{}\n{}", values.join(" "), described(v1))
}
