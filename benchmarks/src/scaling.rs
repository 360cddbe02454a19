//! How the cost of an edit grows with the document, and what two peers pay who write at the same place.

use std::time::{Duration, Instant};

use crate::canonical::canonical;
use crate::edit::Edit;
use crate::engine::{Engine, EngineError, Format};
use crate::run;
use crate::script::{Finish, Script, Start};
use crate::suite::Random;

/// The sizes that are measured, in characters.
pub const SIZES: [u32; 3] = [6_000, 60_000, 600_000];

/// How a document grows or shrinks, one character and one transaction at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workload {
    /// N characters at the end.
    Append,
    /// N characters at the start.
    Prepend,
    /// N characters at random positions.
    RandomInsert,
    /// N characters, there from the start as one string, removed at random positions.
    RandomDelete,
}

impl Workload {
    /// All workloads.
    pub const ALL: [Self; 4] = [Self::Append, Self::Prepend, Self::RandomInsert, Self::RandomDelete];

    /// Returns a word for tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Append => "append",
            Self::Prepend => "prepend",
            Self::RandomInsert => "random insert",
            Self::RandomDelete => "random delete",
        }
    }

    /// Tells whether yrs does it in less than about twenty seconds. It walks the list for each index, so
    /// random edits are quadratic: two minutes at 60,000 characters, a day at 600,000.
    pub fn yrs_can(self, n: u32) -> bool {
        match self {
            Self::Append | Self::Prepend => true,
            Self::RandomInsert | Self::RandomDelete => n <= 6_000,
        }
    }

    /// Builds the script for `n` characters.
    pub fn script(self, n: u32) -> Script {
        let id = format!("{} {}", self.name(), count(n));
        let random = &mut Random::for_benchmark(&id);
        let mut script = Script::new(id, "one transaction a character", 1, Finish::Second);
        if self == Self::RandomDelete {
            script.start = Start::Edits(vec![Edit::insert(0, random.word(n, n))]);
        }
        for done in 0..n {
            let edit = match self {
                Self::Append => Edit::insert(done, random.word(1, 1)),
                Self::Prepend => Edit::insert(0, random.word(1, 1)),
                Self::RandomInsert => Edit::insert(random.between(0, done), random.word(1, 1)),
                Self::RandomDelete => Edit::Remove { at: random.between(0, n - done - 1), len: 1 },
            };
            script.turn(0, [edit]);
        }
        script
    }
}

/// Writes 60000 as 60k.
pub fn count(n: u32) -> String {
    if n >= 1000 && n.is_multiple_of(1000) { format!("{}k", n / 1000) } else { n.to_string() }
}

/// Random single edits on a document that already holds N characters, each an item of its own.
pub struct AtSize {
    /// Characters in the document at first.
    pub size: u32,
    state: Vec<u8>,
    edits: Vec<Edit>,
}

/// Edits before the clock starts: an engine may build its index at the first one.
const WARM_UP: usize = 4;

impl AtSize {
    /// Makes a document of `size` characters at random positions with the engine `E`, and up to `edits`
    /// edits of it, inserts and deletes in turn.
    pub fn build<E: Engine>(size: u32, edits: u32) -> Self {
        let script = Workload::RandomInsert.script(size);
        let mut doc = E::new(run::client_of(0));
        doc_edits(&mut doc, script.edits());
        let random = &mut Random::for_benchmark(&format!("random edit at {size}"));
        let edits = (0..edits).map(|i| match i % 2 {
            0 => Edit::insert(random.between(0, size), random.word(1, 1)),
            _ => Edit::Remove { at: random.between(0, size), len: 1 },
        });
        Self { size, state: doc.state(Format::V1), edits: edits.collect() }
    }

    /// Loads the document and performs the first `edits` edits; returns the mean time of one, and the
    /// document.
    ///
    /// # Errors
    /// If the engine refuses the document.
    pub fn run<E: Engine>(&self, edits: usize) -> Result<(Duration, E), EngineError> {
        let mut doc = E::load(run::client_of(1), Format::V1, &self.state)?;
        let edits = &self.edits[..edits.min(self.edits.len())];
        let (warm_up, timed) = edits.split_at(WARM_UP.min(edits.len()));
        doc_edits(&mut doc, warm_up);
        let start = Instant::now();
        doc_edits(&mut doc, timed);
        let elapsed = start.elapsed();
        Ok((elapsed / u32::try_from(timed.len()).unwrap_or(1).max(1), doc))
    }

    /// Checks that two engines make the same of the first `edits` edits.
    ///
    /// # Errors
    /// If an engine refuses the document, or the states differ.
    pub fn check<A: Engine, B: Engine>(&self, edits: usize) -> Result<(), EngineError> {
        let (ours, theirs) = (self.run::<A>(edits)?.1, self.run::<B>(edits)?.1);
        for format in Format::BOTH {
            // Two clients delete here, whose order differs.
            let ordered = canonical(&theirs.state(format), format, &theirs.delete_set());
            if Some(ours.state(format)) != ordered {
                let cause =
                    format!("the {format} state after random edits at {} is not {}'s", self.size, B::NAME);
                return Err(EngineError { engine: A::NAME, action: "end as the other engine does", cause });
            }
        }
        Ok(())
    }

    /// Returns the number of edits at hand.
    pub fn edits(&self) -> usize {
        self.edits.len()
    }

    /// Returns how many edits yrs can do here in a few seconds.
    pub fn edits_for_yrs(&self) -> usize {
        match self.size {
            0..=6_000 => 2_000,
            6_001..=60_000 => 300,
            _ => 14,
        }
    }

    /// Returns the document as V1.
    pub fn state(&self) -> &[u8] {
        &self.state
    }
}

/// One transaction an edit.
fn doc_edits<E: Engine>(doc: &mut E, edits: &[Edit]) {
    for edit in edits {
        doc.edit(std::slice::from_ref(edit));
    }
}

/// Two peers who each prepended N characters without hearing of the other.
pub struct Prepends {
    /// The state of the peer with the smaller client id, then of the other (V1).
    states: [Vec<u8>; 2],
}

impl Prepends {
    /// Lets both peers write with the engine `E`.
    pub fn build<E: Engine>(n: u32) -> Self {
        let states = [0, 1].map(|peer| {
            let random = &mut Random::for_benchmark(&format!("prepends of peer {peer}"));
            let mut doc = E::new(run::client_of(peer));
            for _ in 0..n {
                doc.edit(&[Edit::insert(0, random.word(1, 1))]);
            }
            doc.state(Format::V1)
        });
        Self { states }
    }

    /// Lets one peer (0 has the smaller client id) integrate what the other wrote.
    ///
    /// # Errors
    /// If the engine refuses a state.
    pub fn run<E: Engine>(&self, peer: usize) -> Result<(Duration, E), EngineError> {
        let (mine, theirs) = (&self.states[peer], &self.states[1 - peer]);
        let mut doc = E::load(run::client_of(peer), Format::V1, mine)?;
        let start = Instant::now();
        doc.apply(Format::V1, theirs)?;
        Ok((start.elapsed(), doc))
    }

    /// Checks that both peers and both engines end alike, to the byte.
    ///
    /// # Errors
    /// If an engine refuses a state, or two documents differ in a byte.
    pub fn check<A: Engine, B: Engine>(&self) -> Result<(), EngineError> {
        let expected = self.run::<A>(0)?.1.state(Format::V1);
        let others = [self.run::<A>(1)?.1.state(Format::V1), self.run::<B>(0)?.1.state(Format::V1)];
        if others.iter().any(|other| *other != expected) {
            let cause = format!("two peers who prepended differ, between {} and {}", A::NAME, B::NAME);
            return Err(EngineError { engine: A::NAME, action: "converge", cause });
        }
        Ok(())
    }
}
