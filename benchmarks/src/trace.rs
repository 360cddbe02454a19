//! Real editing histories, from josephg/editing-traces.
//!
//! A sequential trace is one writer's edits. A concurrent trace is a graph: each transaction names its
//! parents, and must be made on exactly what they and their ancestors wrote. Each agent gets a document of
//! its own and hears what it lacks right before it edits.

use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use serde::Deserialize;

use crate::edit::Edit;
use crate::script::{Finish, Script, Start};

/// Whether a trace has one writer or several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One writer.
    Sequential,
    /// Several writers who did not always know of one another.
    Concurrent,
}

/// A trace that the tools know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// Its name.
    pub name: &'static str,
    /// One writer or several.
    pub kind: Kind,
    /// SHA-256 of the compressed file, in hexadecimal.
    pub sha256: &'static str,
}

/// All traces that the tools know.
pub const SOURCES: [Source; 6] = [
    Source {
        name: "automerge-paper",
        kind: Kind::Sequential,
        sha256: "42c0ff1720c0cad77077e190e36135c9cab9f7bbc266351c0a7fe4981c6a1546",
    },
    Source {
        name: "rustcode",
        kind: Kind::Sequential,
        sha256: "a13d472b5641dcad18d52882eff8c2d68ecbc27aa0f1e5a17eeb42f0f3130f38",
    },
    Source {
        name: "seph-blog1",
        kind: Kind::Sequential,
        sha256: "43b5d326ca8c9094cd94e28ab66cd2f3073ce2893db959a0388c53f0aed8156d",
    },
    Source {
        name: "sveltecomponent",
        kind: Kind::Sequential,
        sha256: "0393353a1ff0281f4a2adad080b0843bffa7988f9a4869ed04faf0984f78a234",
    },
    Source {
        name: "friendsforever",
        kind: Kind::Concurrent,
        sha256: "c80f9ee71bb2f063d58d1db8513d60145f0f7e209f6c72c8600b22eee73a2769",
    },
    Source {
        name: "clownschool",
        kind: Kind::Concurrent,
        sha256: "b53866c8ab53233755a7b6ad60698a66cad041607e95c07056b036f464240b94",
    },
];

impl Source {
    /// Finds a trace by its name.
    pub fn named(name: &str) -> Option<Self> {
        SOURCES.into_iter().find(|source| source.name == name)
    }

    /// Returns the name of its file.
    pub fn file_name(&self) -> String {
        format!("{}.json.gz", self.name)
    }

    /// Returns the path of its file in the public repository.
    pub fn published_path(&self) -> String {
        let folder = match self.kind {
            Kind::Sequential => "sequential_traces",
            Kind::Concurrent => "concurrent_traces",
        };
        format!("{folder}/{}", self.file_name())
    }
}

/// Returns the folder where traces are kept: `testdata/traces` of the nearest folder above the current one
/// that has a `testdata`, else of the repository that this program was built from.
pub fn default_dir() -> PathBuf {
    let built_from = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let here = std::env::current_dir().unwrap_or_default();
    let root = here.ancestors().find(|dir| dir.join("testdata").is_dir()).unwrap_or(&built_from);
    root.join("testdata").join("traces")
}

/// A trace cannot be used.
#[derive(Debug)]
#[non_exhaustive]
pub enum TraceError {
    /// No trace of that name is known.
    Unknown(String),
    /// The file is not there.
    Missing(PathBuf, &'static str),
    /// The file cannot be read or is no such trace.
    Unreadable(PathBuf, io::Error),
    /// The history cannot be replayed; says where and why.
    Unplayable(&'static str, String),
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(name) => {
                let known: Vec<_> = SOURCES.iter().map(|source| source.name).collect();
                write!(f, "there is no trace `{name}`; known are {}", known.join(", "))
            }
            Self::Missing(path, name) => write!(
                f,
                "the trace {name} is not at {}; fetch it with `cargo run --release --bin yatta -- fetch-traces {name}`",
                path.display()
            ),
            Self::Unreadable(path, cause) => write!(
                f,
                "the trace at {} cannot be read: {cause}; delete it and fetch it again",
                path.display()
            ),
            Self::Unplayable(name, why) => write!(f, "the trace {name} cannot be replayed: {why}"),
        }
    }
}

impl std::error::Error for TraceError {}

/// How edits are put into transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grouping {
    /// One transaction for each transaction of the trace.
    PerEdit,
    /// As few as the history allows: one for a sequential trace; for a concurrent one, one for each stretch
    /// that an agent wrote without another one branching off it or being heard within it.
    Single,
}

/// A history in memory.
#[derive(Clone, Debug)]
pub struct Trace {
    source: Source,
    file: TraceFile,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct TraceFile {
    #[serde(default)]
    start_content: String,
    end_content: Option<String>,
    txns: Vec<Txn>,
}

#[derive(Clone, Debug, Deserialize)]
struct Txn {
    #[serde(default)]
    parents: Vec<usize>,
    #[serde(default)]
    agent: usize,
    /// Position and number of deleted characters in Unicode code points, and what is inserted.
    patches: Vec<(u32, u32, String)>,
}

impl Trace {
    /// Loads a trace by its name.
    ///
    /// # Errors
    /// If the name is unknown, or the file is missing or not such a trace.
    pub fn load_named(dir: &Path, name: &str) -> Result<Self, TraceError> {
        let source = Source::named(name).ok_or_else(|| TraceError::Unknown(name.to_owned()))?;
        Self::load(dir, source)
    }

    /// Loads a trace.
    ///
    /// # Errors
    /// If the file is missing or not such a trace.
    pub fn load(dir: &Path, source: Source) -> Result<Self, TraceError> {
        let path = dir.join(source.file_name());
        let file = File::open(&path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => TraceError::Missing(path.clone(), source.name),
            _ => TraceError::Unreadable(path.clone(), error),
        })?;
        Self::read(source, file).map_err(|error| TraceError::Unreadable(path, error))
    }

    fn read(source: Source, compressed: impl Read) -> io::Result<Self> {
        let mut json = Vec::new();
        GzDecoder::new(BufReader::new(compressed)).read_to_end(&mut json)?;
        Ok(Self { source, file: serde_json::from_slice(&json)? })
    }

    /// Returns what the trace is.
    pub fn source(&self) -> Source {
        self.source
    }

    /// Returns the number of transactions in the trace.
    pub fn len(&self) -> usize {
        self.file.txns.len()
    }

    /// Tells whether nothing happens in it.
    pub fn is_empty(&self) -> bool {
        self.file.txns.is_empty()
    }

    /// Cuts the trace after its first `len` transactions; what comes out then is no longer known.
    pub fn truncate(&mut self, len: usize) {
        if len < self.len() {
            self.file.txns.truncate(len);
            self.file.end_content = None;
        }
    }

    /// Makes a script of the trace, with all positions in UTF-16 units.
    ///
    /// # Errors
    /// If a position is out of range, a parent stands after its child, or an agent worked on two versions at
    /// once.
    pub fn script(&self, grouping: Grouping) -> Result<Script, TraceError> {
        let mut script = match self.source.kind {
            Kind::Sequential => self.sequential(grouping)?,
            Kind::Concurrent => self.concurrent(grouping)?,
        };
        script.expected = self.file.end_content.clone();
        Ok(script)
    }

    fn sequential(&self, grouping: Grouping) -> Result<Script, TraceError> {
        let mut script = Script::new(self.source.name, self.source.name, 1, Finish::Second);
        if !self.file.start_content.is_empty() {
            script.start = Start::Edits(vec![Edit::insert(0, self.file.start_content.clone())]);
        }
        let mut model = self.has_astral().then(|| self.file.start_content.chars().collect::<Vec<char>>());
        let mut whole = Vec::new();
        for (index, txn) in self.file.txns.iter().enumerate() {
            let first = whole.len();
            for patch in &txn.patches {
                match &mut model {
                    None => push_patch(&mut whole, patch.0, patch.1, &patch.2),
                    Some(model) => push_astral(&mut whole, model, patch)
                        .ok_or_else(|| self.unplayable(index, "a position is beyond the end"))?,
                }
            }
            if grouping == Grouping::PerEdit && whole.len() > first {
                script.turn(0, whole.drain(..));
            }
        }
        if grouping == Grouping::Single && !whole.is_empty() {
            script.turn(0, whole);
        }
        Ok(script)
    }

    fn concurrent(&self, grouping: Grouping) -> Result<Script, TraceError> {
        if self.has_astral() {
            return Err(self.unplayable(0, "it is concurrent and holds characters beyond U+FFFF"));
        }
        let txns = &self.file.txns;
        let agents = txns.iter().map(|txn| txn.agent + 1).max().unwrap_or(1);
        let joins = self.joins_the_one_before(grouping);
        let mut script = Script::new(self.source.name, self.source.name, agents, Finish::Everyone);
        // versions[t]: how many transactions of each agent the state after t holds.
        let mut versions: Vec<Vec<usize>> = Vec::with_capacity(txns.len());
        let mut heard = vec![vec![0; agents]; agents];
        let mut turns_of: Vec<Vec<(usize, u32)>> = vec![Vec::new(); agents];
        let mut at = 0;
        while at < txns.len() {
            let agent = txns[at].agent;
            let version = self.version_before(at, agents, &versions)?;
            if version[agent] != heard[agent][agent] {
                return Err(self.unplayable(at, "its agent worked on two versions at once"));
            }
            let mut hears = Vec::new();
            for other in (0..agents).filter(|other| *other != agent) {
                let known = heard[agent][other];
                if version[other] < known {
                    return Err(self.unplayable(at, "its agent forgot what it had heard"));
                }
                // Both lists ascend, so what is new is a stretch of the other's turns.
                let place = |count: usize| turns_of[other].partition_point(|(upto, _)| *upto <= count);
                hears.extend(
                    turns_of[other][place(known)..place(version[other])].iter().map(|(_, turn)| *turn),
                );
            }
            hears.sort_unstable();
            heard[agent].clone_from(&version);

            let mut edits = Vec::new();
            let end = (at + 1..txns.len()).find(|next| !joins[*next]).unwrap_or(txns.len());
            for txn in &txns[at..end] {
                for (position, deleted, inserted) in &txn.patches {
                    push_patch(&mut edits, *position, *deleted, inserted);
                }
                heard[agent][agent] += 1;
                versions.push(heard[agent].clone());
            }
            let turn = u32::try_from(script.len()).map_err(|_| self.unplayable(at, "it is too long"))?;
            turns_of[agent].push((heard[agent][agent], turn));
            script.turn_after(agent, &hears, edits);
            at = end;
        }
        Ok(script)
    }

    /// The state before transaction `at`: the join of its parents'.
    fn version_before(
        &self,
        at: usize,
        agents: usize,
        versions: &[Vec<usize>],
    ) -> Result<Vec<usize>, TraceError> {
        let mut version = vec![0; agents];
        for parent in &self.file.txns[at].parents {
            let parent =
                versions.get(*parent).ok_or_else(|| self.unplayable(at, "a parent stands after it"))?;
            for (count, other) in version.iter_mut().zip(parent) {
                *count = (*count).max(*other);
            }
        }
        Ok(version)
    }

    /// Tells for each transaction whether it can share a transaction with the one before it.
    fn joins_the_one_before(&self, grouping: Grouping) -> Vec<bool> {
        let txns = &self.file.txns;
        let follows =
            |at: usize| at > 0 && txns[at].parents == [at - 1] && txns[at].agent == txns[at - 1].agent;
        let mut joins: Vec<bool> =
            (0..txns.len()).map(|at| grouping == Grouping::Single && follows(at)).collect();
        // A stretch ends where somebody else goes on from: only whole stretches can be heard.
        for (at, txn) in txns.iter().enumerate() {
            for parent in &txn.parents {
                if let Some(next) = joins.get_mut(parent + 1).filter(|_| parent + 1 != at) {
                    *next = false;
                }
            }
        }
        joins
    }

    /// Characters beyond U+FFFF take two UTF-16 units; without them positions are the same in both counts.
    fn has_astral(&self) -> bool {
        let texts = self.file.txns.iter().flat_map(|txn| &txn.patches).map(|patch| &patch.2);
        texts.chain([&self.file.start_content]).any(|text| text.chars().any(|c| c > '\u{ffff}'))
    }

    fn unplayable(&self, txn: usize, why: &str) -> TraceError {
        TraceError::Unplayable(self.source.name, format!("transaction {txn}: {why}"))
    }
}

fn push_patch(edits: &mut Vec<Edit>, at: u32, deleted: u32, inserted: &str) {
    if deleted > 0 {
        edits.push(Edit::Remove { at, len: deleted });
    }
    if !inserted.is_empty() {
        edits.push(Edit::insert(at, inserted));
    }
}

/// As [`push_patch`], with the text kept as characters to count units in. O(length of the text).
fn push_astral(edits: &mut Vec<Edit>, model: &mut Vec<char>, patch: &(u32, u32, String)) -> Option<()> {
    let (at, deleted, inserted) = patch;
    let (from, to) = (*at as usize, (*at as usize).checked_add(*deleted as usize)?);
    let units = |chars: &[char]| u32::try_from(chars.iter().map(|c| c.len_utf16()).sum::<usize>()).ok();
    push_patch(edits, units(model.get(..from)?)?, units(model.get(from..to)?)?, inserted);
    model.splice(from..to, inserted.chars());
    Some(())
}

#[cfg(test)]
mod tests;
