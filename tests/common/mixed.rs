//! Peers of a network that are yrs and nothing else. What they emit goes to the others; where they depart from Yjs, the
//! departure is put down to its number in docs/FORMAT.md, or the script fails.

use super::Host;
use super::json::{Json, unhex};
use super::network::{normalised, state_requests, state_text};
use super::script::{Kind, Taste};
use super::wire::{self, Content, Struct};
use std::collections::BTreeMap;

/// How often yrs departed, by number.
pub(crate) type Accounts = BTreeMap<&'static str, u32>;

/// The peers that are yrs.
pub(crate) struct YrsPeers<'a> {
    pub(crate) host: Option<&'a mut dyn Host>,
    is_peer: Vec<bool>,
    /// Peers whose yrs has panicked or refused an update: they are out of the script.
    is_lost: Vec<bool>,
    pub(crate) accounts: Accounts,
    /// What peers were asked, for the words of a failure.
    asked: Vec<(usize, String)>,
}

impl<'a> YrsPeers<'a> {
    /// No peer is yrs.
    pub(crate) fn none() -> Self {
        Self {
            host: None,
            is_peer: Vec::new(),
            is_lost: Vec::new(),
            accounts: Accounts::new(),
            asked: Vec::new(),
        }
    }

    /// These peers are yrs.
    pub(crate) fn new(host: &'a mut dyn Host, is_peer: Vec<bool>) -> Self {
        let is_lost = vec![false; is_peer.len()];
        Self { host: Some(host), is_peer, is_lost, accounts: Accounts::new(), asked: Vec::new() }
    }

    pub(crate) fn is_peer(&self, peer: usize) -> bool {
        self.is_peer.get(peer) == Some(&true)
    }

    pub(crate) fn is_lost(&self, peer: usize) -> bool {
        self.is_lost.get(peer) == Some(&true)
    }

    /// Puts a departure down to its number.
    pub(crate) fn note(&mut self, account: &'static str) {
        *self.accounts.entry(account).or_default() += 1;
    }

    /// The peer whose document a request names, if it is yrs.
    pub(crate) fn peer_of(&self, request: &Json) -> Option<usize> {
        let peer = request.get("doc").as_str()?.strip_prefix('d')?.parse().ok()?;
        self.is_peer(peer).then_some(peer)
    }

    /// Asks a peer. One that panics or refuses is lost, if a number explains that.
    pub(crate) fn ask(&mut self, peer: usize, request: &Json) -> Result<Json, String> {
        let nothing = || Json::object([("ok", true.into()), ("r", Json::Null), ("ev", Vec::new().into())]);
        let Some(host) = self.host.as_mut().filter(|_| !self.is_lost[peer]) else { return Ok(nothing()) };
        let reply = host.call(request);
        self.asked.push((peer, format!("{request}\n    {reply}")));
        if reply.get("ok").as_bool() == Some(true) {
            return Ok(reply);
        }
        let account = refusal(request, &reply).ok_or_else(|| format!("yrs: {request} gave {reply}"))?;
        self.note(account);
        self.is_lost[peer] = true;
        Ok(nothing())
    }

    /// Whether all peers that are left hold what a peer of Yjs holds. In the end a difference must have a number.
    pub(crate) fn agree(&mut self, yjs: &[Json], taste: Taste, is_last: bool) -> Result<bool, String> {
        for peer in 0..self.is_peer.len() {
            if !self.is_peer(peer) || self.is_lost(peer) {
                continue;
            }
            let mut state = Vec::new();
            for request in state_requests(taste.kind, peer) {
                let reply = match &mut self.host {
                    Some(host) => host.call(&request),
                    None => Json::Null,
                };
                state.push(normalised(&request, &reply).get("r").clone());
            }
            match differing(taste.kind, yjs, &state) {
                None => {}
                Some(_) if !is_last => return Ok(false),
                Some(Ok(account)) => self.note(account),
                Some(Err(what)) => {
                    let (yjs, yrs) = (state_text(yjs), state_text(&state));
                    let asked: String = (self.asked.iter().filter(|asked| asked.0 == peer))
                        .map(|(_, asked)| format!("{asked}\n"))
                        .collect();
                    return Err(format!(
                        "{what} of peer {peer}, which is yrs\nYjs: {yjs}\nyrs: {yrs}\n{asked}"
                    ));
                }
            }
        }
        Ok(true)
    }
}

/// The number that explains why yrs did not do something.
fn refusal(request: &Json, reply: &Json) -> Option<&'static str> {
    let message = reply.get("err").as_str().unwrap_or_default();
    match (request.get("op").as_str()?, reply.get("kind").as_str()?) {
        ("apply" | "encode", "panic")
            if message.starts_with("called `Result::unwrap()` on an `Err` value") =>
        {
            Some("1: yrs panics over the V2 update that it has parked")
        }
        // the same, where the wrong bytes are a range that ends beyond all clocks
        ("encode", "panic")
            if message == "attempt to add with overflow" && request.get("enc").as_u64() == Some(2) =>
        {
            Some("1: yrs panics over the V2 update that it has parked")
        }
        // only in a build that checks overflows
        ("apply", "panic") if message == "attempt to subtract with overflow" => {
            Some("22: yrs panics over a collected range that it has in part")
        }
        _ => None,
    }
}

/// What differs between the states of a peer of Yjs and one of yrs: a number, or words if there is none.
fn differing(kind: Kind, yjs: &[Json], yrs: &[Json]) -> Option<Result<&'static str, &'static str>> {
    let values = yjs.len() - 3;
    if yjs[values] != yrs[values] {
        return Some(Err("another state vector"));
    }
    if yjs[..values] != yrs[..values] {
        let plain: Vec<Json> = yjs[..values].iter().map(as_yrs_reads).collect();
        let other: Vec<Json> = yrs[..values].iter().map(as_yrs_reads).collect();
        let same_structs = || skeleton(&yjs[values + 1]) == skeleton(&yrs[values + 1]);
        return Some(match () {
            () if plain == other => Ok("4: BigInt and -0"),
            // the value of XML is a string, which yrs writes otherwise; what it is made of must be the same
            () if kind == Kind::Xml && same_structs() => Ok("12, 21, 23: the string of XML"),
            // what a peer lost before it was sent is missing for ever: here its successors wait, in yrs they are in place
            () if has_skip(&yjs[values + 1]) && same_structs() => Ok("17: the tail of a gap is integrated"),
            () => Err("other values"),
        });
    }
    let (ours, theirs) = (skeleton(&yjs[values + 1]), skeleton(&yrs[values + 1]));
    (ours.is_none() || ours != theirs).then_some(Err("other structs"))
}

/// A value as yrs reads it: a BigInt is a number, -0 is 0.
fn as_yrs_reads(json: &Json) -> Json {
    match json {
        Json::Array(items) => items.iter().map(as_yrs_reads).collect::<Vec<_>>().into(),
        Json::Object(entries) => match json.get("$").as_str() {
            Some("bigint") => {
                json.get("v").as_str().and_then(|v| v.parse().ok()).map_or(Json::Null, Json::Number)
            }
            Some("f64") if json.get("v").as_str() == Some("-0") => Json::Number(0.0),
            _ => {
                Json::Object(entries.iter().map(|(key, value)| (key.clone(), as_yrs_reads(value))).collect())
            }
        },
        other => other.clone(),
    }
}

/// The live structs of a state without the bytes of values, which yrs writes otherwise (4, 10, 11, 12), and its deletions.
fn skeleton(state: &Json) -> Option<(Vec<Struct>, wire::Deletes)> {
    let (mut structs, deletes) = live(state)?;
    for block in &mut structs {
        block.content = match &block.content {
            Content::Binary(_) | Content::Any(_) => Content::Any(Vec::new()),
            Content::Embed(_) => Content::Embed(String::new()),
            Content::Doc(guid, _) => Content::Doc(guid.clone(), Vec::new()),
            other => other.clone(),
        };
    }
    Some((wire::squashed(&structs), deletes))
}

/// The live structs of a state, and its deletions. What is left of deleted structs depends on the peer: an undo manager
/// keeps what it may bring back.
pub(crate) fn live(state: &Json) -> Option<(Vec<Struct>, wire::Deletes)> {
    let update = wire::decode(&unhex(state.as_str()?).ok()?).ok()?;
    let deletes = wire::sorted(update.deletes);
    let is_live = |block: &&Struct| {
        let (client, clock) = block.id;
        let ranges = deletes.iter().filter(|(other, _)| *other == client).flat_map(|(_, ranges)| ranges);
        !ranges.clone().any(|(from, len)| *from <= clock && clock < from + len)
    };
    let structs: Vec<Struct> = update.structs.iter().filter(is_live).cloned().collect();
    Some((wire::squashed(&structs), deletes))
}

/// Whether an update in V1 has a gap.
pub(crate) fn has_skip(v1: &Json) -> bool {
    let bytes = v1.as_str().and_then(|text| unhex(text).ok());
    let update = bytes.and_then(|bytes| wire::decode(&bytes).ok());
    update.is_some_and(|update| update.structs.iter().any(|block| block.content == Content::Skip))
}
