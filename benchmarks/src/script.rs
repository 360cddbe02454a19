//! A benchmark as data: who edits what, who hears of it when, and how it ends.
//!
//! The edits of all turns lie in one list, so that a trace of 260,000 turns is walked without a jump.

use crate::edit::Edit;

/// What every peer holds before the clock starts.
#[derive(Clone, Debug)]
pub enum Start {
    /// Nothing.
    Empty,
    /// What the first peer wrote in one transaction.
    Edits(Vec<Edit>),
    /// A state (V1).
    State(Vec<u8>),
}

/// What happens after the last turn, in a run that keeps updates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    /// A second document applies every update, one by one.
    Second,
    /// Every peer applies what it has not yet heard, one by one.
    Everyone,
    /// The first peer applies what the others did, in one transaction.
    Gather,
}

/// How much of the bytes two engines must have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bytes {
    /// All.
    Equal,
    /// The length. yrs keeps objects in a map with a random order, and writes their keys in it.
    SameLength,
}

#[derive(Clone, Copy, Debug)]
struct Mark {
    peer: u32,
    edits_end: u32,
    hears_end: u32,
}

/// One transaction of one peer.
#[derive(Clone, Copy, Debug)]
pub struct Turn<'s> {
    /// Number of the turn, also of the update that it emits.
    pub index: usize,
    /// Who edits, from 0. The client id of peer `n` is `n + 1`.
    pub peer: usize,
    /// The turns whose updates this peer applies first.
    pub hears: &'s [u32],
    /// What it does.
    pub edits: &'s [Edit],
}

/// One benchmark.
#[derive(Clone, Debug)]
pub struct Script {
    /// Identifier as in dmonad/crdt-benchmarks, for instance `B1.1`.
    pub id: String,
    /// What is done, in words.
    pub title: String,
    /// How many documents take part.
    pub peers: usize,
    /// What they hold at first.
    pub start: Start,
    /// How often all turns are gone through. More than once only if nobody hears anybody.
    pub times: u32,
    /// What happens after the last turn.
    pub finish: Finish,
    /// How alike the bytes of two engines must be.
    pub bytes: Bytes,
    /// The text that must come out, if it is known.
    pub expected: Option<String>,
    edits: Vec<Edit>,
    hears: Vec<u32>,
    turns: Vec<Mark>,
}

impl Script {
    /// Begins a script without turns.
    pub fn new(id: impl Into<String>, title: impl Into<String>, peers: usize, finish: Finish) -> Self {
        Self {
            id: id.into(),
            title: title.into(),
            peers,
            start: Start::Empty,
            times: 1,
            finish,
            bytes: Bytes::Equal,
            expected: None,
            edits: Vec::new(),
            hears: Vec::new(),
            turns: Vec::new(),
        }
    }

    /// Adds a transaction of `peer`.
    pub fn turn(&mut self, peer: usize, edits: impl IntoIterator<Item = Edit>) {
        self.turn_after(peer, &[], edits);
    }

    /// Adds a transaction of `peer`, who first applies the updates of the turns `hears`.
    ///
    /// # Panics
    /// If there is no such peer, or it hears of a turn that is still to come.
    pub fn turn_after(&mut self, peer: usize, hears: &[u32], edits: impl IntoIterator<Item = Edit>) {
        assert!(peer < self.peers, "peer {peer} of {}", self.peers);
        assert!(
            hears.iter().all(|turn| (*turn as usize) < self.turns.len()),
            "a turn cannot hear the future"
        );
        self.edits.extend(edits);
        self.hears.extend_from_slice(hears);
        let short = |len: usize| u32::try_from(len).expect("a script is far shorter than 2^32");
        self.turns.push(Mark {
            peer: short(peer),
            edits_end: short(self.edits.len()),
            hears_end: short(self.hears.len()),
        });
    }

    /// Returns the number of turns of one pass.
    pub fn len(&self) -> usize {
        self.turns.len()
    }

    /// Tells whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.turns.is_empty()
    }

    /// Tells whether a peer hears another one before the last turn.
    pub fn has_hearing(&self) -> bool {
        !self.hears.is_empty()
    }

    /// Returns all edits of one pass.
    pub fn edits(&self) -> &[Edit] {
        &self.edits
    }

    /// Walks the turns of one pass.
    pub fn turns(&self) -> impl Iterator<Item = Turn<'_>> {
        let (mut edits_from, mut hears_from) = (0, 0);
        self.turns.iter().enumerate().map(move |(index, mark)| {
            let (edits_end, hears_end) = (mark.edits_end as usize, mark.hears_end as usize);
            let turn = Turn {
                index,
                peer: mark.peer as usize,
                hears: &self.hears[hears_from..hears_end],
                edits: &self.edits[edits_from..edits_end],
            };
            (edits_from, hears_from) = (edits_end, hears_end);
            turn
        })
    }
}
