//! Runs a script on both engines and demands the same result, before anything is timed.

use std::fmt;
use std::time::Duration;

use crate::canonical::canonical;
use crate::edit;
use crate::engine::{Engine, EngineError, Format};
use crate::engines::{Yatta, Yrs};
use crate::log::Log;
use crate::run::{self, Finished, client_of};
use crate::script::{Bytes, Finish, Script, Start};

/// Two documents that should be alike are not.
#[derive(Debug)]
pub enum Disagreement {
    /// An engine refused something.
    Engine(EngineError),
    /// Something differs.
    Differs {
        /// The benchmark.
        id: String,
        /// What differs, between what.
        what: String,
    },
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Engine(error) => error.fmt(f),
            Self::Differs { id, what } => write!(f, "{id}: {what}"),
        }
    }
}

impl std::error::Error for Disagreement {}

impl From<EngineError> for Disagreement {
    fn from(error: EngineError) -> Self {
        Self::Engine(error)
    }
}

/// What one engine made of a script.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The content of the first document.
    pub content: serde_json::Value,
    /// Its state in V1, delete set in the order of Yjs.
    pub v1: Vec<u8>,
    /// Its state in V2, delete set in the order of Yjs.
    pub v2: Vec<u8>,
    /// The updates, one a turn.
    pub log: Log,
    /// Time of the edits with updates kept and delivered.
    pub elapsed: Duration,
}

/// Runs a script on both engines and checks that all documents agree: content, state bytes in V1 and V2, and
/// updates. Returns what yatta made.
///
/// # Errors
/// On the first difference, with its place.
pub fn both(script: &Script) -> Result<Outcome, Disagreement> {
    let (ours, theirs) = (one::<Yatta>(script)?, one::<Yrs>(script)?);
    same_outcome(script, &ours, &theirs)?;
    Ok(ours)
}

/// Checks that two engines made the same of a script.
///
/// # Errors
/// On the first difference, with its place.
pub fn same_outcome(script: &Script, ours: &Outcome, theirs: &Outcome) -> Result<(), Disagreement> {
    let names = format!("between {} and {}", Yatta::NAME, Yrs::NAME);
    if ours.content != theirs.content {
        return Err(differs(script, format!("the content differs {names}")));
    }
    same_bytes(script, &format!("state bytes V1 {names}"), &ours.v1, &theirs.v1)?;
    same_bytes(script, &format!("state bytes V2 {names}"), &ours.v2, &theirs.v2)?;
    if ours.log.len() != theirs.log.len() {
        return Err(differs(script, format!("the number of updates differs {names}")));
    }
    for (turn, (a, b)) in ours.log.iter().zip(theirs.log.iter()).enumerate() {
        let what = format!("update of turn {turn} {names}");
        if script.peers == 1 {
            same_bytes(script, &what, a, b)?;
        } else if a.len() != b.len() {
            // Deletes of two clients in one update stand in another order, which keeps the length.
            return Err(differs(script, format!("{what}: {} and {} bytes", a.len(), b.len())));
        }
    }
    Ok(())
}

/// Runs a script on one engine and checks what can be checked without another: the expected text, the other
/// documents, and that both encodings can be read back.
///
/// # Errors
/// On the first difference, with its place.
pub fn one<E: Engine>(script: &Script) -> Result<Outcome, Disagreement> {
    let finished = run::with_updates::<E>(script)?;
    let first = &finished.peers[0];
    let content = first.content()?;
    check_text(script, E::NAME, first.text())?;

    let others: Vec<&E> = match script.finish {
        Finish::Second => finished.second.iter().collect(),
        Finish::Everyone => finished.peers[1..].iter().collect(),
        // Only the first peer heard of everything.
        Finish::Gather => Vec::new(),
    };
    for (number, other) in (2..).zip(others) {
        if other.content()? != content {
            let name = E::NAME;
            return Err(differs(
                script,
                format!("{name}: document {number} holds something else than the first"),
            ));
        }
    }
    let (v1, v2) = (ordered_state(script, first, Format::V1)?, ordered_state(script, first, Format::V2)?);
    reads_back::<E>(script, &finished, &content)?;
    Ok(Outcome { content, v1, v2, log: finished.log, elapsed: finished.elapsed })
}

/// Encodes a document, with its delete set in the order of Yjs.
///
/// # Errors
/// If the delete set of the state is not the one that the document reports, or an engine that claims to write
/// it as Yjs does not.
pub fn ordered_state<E: Engine>(script: &Script, doc: &E, format: Format) -> Result<Vec<u8>, Disagreement> {
    let state = doc.state(format);
    let Some(ordered) = canonical(&state, format, &doc.delete_set()) else {
        let what = format!("{}: the {format} state does not end in the document's delete set", E::NAME);
        return Err(differs(script, what));
    };
    if E::DESCENDING && ordered != state {
        let what = format!("{}: the {format} state has its delete set in another order than Yjs", E::NAME);
        return Err(differs(script, what));
    }
    Ok(ordered)
}

fn reads_back<E: Engine>(
    script: &Script,
    finished: &Finished<E>,
    content: &serde_json::Value,
) -> Result<(), Disagreement> {
    for format in Format::BOTH {
        let state = finished.peers[0].state(format);
        let loaded = E::load(client_of(script.peers + 1), format, &state)?;
        if loaded.content()? != *content {
            return Err(differs(
                script,
                format!("{}: the {format} state reads back as something else", E::NAME),
            ));
        }
        let again = loaded.state(format);
        same_bytes(
            script,
            &format!("{format} state of {}, written, read and written", E::NAME),
            &state,
            &again,
        )?;
    }
    Ok(())
}

/// Longest script, in edits, that is played on a plain string: that model costs O(text) an edit.
const MODEL_LIMIT: usize = 20_000;

fn check_text(script: &Script, engine: &str, text: String) -> Result<(), Disagreement> {
    let modelled = || {
        if script.peers > 1 || script.times > 1 || script.edits().len() > MODEL_LIMIT {
            return None;
        }
        let before = match &script.start {
            Start::Empty => String::new(),
            Start::Edits(edits) => edit::play_on_string("", edits.iter())?,
            Start::State(_) => return None,
        };
        edit::play_on_string(&before, script.edits().iter())
    };
    match script.expected.clone().or_else(modelled) {
        Some(expected) if expected != text => {
            let at = expected.bytes().zip(text.bytes()).take_while(|(a, b)| a == b).count();
            let lens = (expected.len(), text.len());
            Err(differs(script, format!("{engine}: the text is wrong from byte {at} (lengths {lens:?})")))
        }
        _ => Ok(()),
    }
}

fn same_bytes(script: &Script, what: &str, a: &[u8], b: &[u8]) -> Result<(), Disagreement> {
    let same = match script.bytes {
        Bytes::Equal => a == b,
        Bytes::SameLength => a.len() == b.len(),
    };
    if same {
        return Ok(());
    }
    let at = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    Err(differs(script, format!("{what}: differ from byte {at} on ({} and {} bytes)", a.len(), b.len())))
}

fn differs(script: &Script, what: String) -> Disagreement {
    Disagreement::Differs { id: script.id.clone(), what }
}

#[cfg(test)]
mod tests {
    use super::{Outcome, one, same_outcome};
    use crate::edit::Edit;
    use crate::engines::Yrs;
    use crate::log::Log;
    use crate::script::{Finish, Script};

    fn script() -> Script {
        let mut script = Script::new("test", "type and delete", 1, Finish::Second);
        script.turn(0, [Edit::insert(0, "abc")]);
        script.turn(0, [Edit::Remove { at: 1, len: 1 }]);
        script
    }

    #[test]
    fn tells_each_difference() {
        let script = script();
        let same = one::<Yrs>(&script).expect("yrs can do this");
        same_outcome(&script, &same, &same).expect("nothing differs from itself");

        let mut other_log = Log::default();
        same.log.iter().for_each(|update| other_log.push(&[update, b"x"].concat()));
        let cases = [
            ("content", Outcome { content: serde_json::Value::Null, ..same.clone() }),
            ("state bytes V1", Outcome { v1: vec![0; same.v1.len()], ..same.clone() }),
            ("state bytes V2", Outcome { v2: Vec::new(), ..same.clone() }),
            ("the number of updates", Outcome { log: Log::default(), ..same.clone() }),
            ("update of turn 0", Outcome { log: other_log, ..same.clone() }),
        ];
        for (what, other) in cases {
            let told = same_outcome(&script, &same, &other).expect_err(what).to_string();
            assert!(told.contains(what), "{told}");
        }
    }

    #[test]
    fn tells_a_wrong_text() {
        let mut script = script();
        script.expected = Some("abx".to_owned());
        let told = one::<Yrs>(&script).expect_err("the text is `ac`").to_string();
        assert_eq!(told, "test: yrs: the text is wrong from byte 1 (lengths (3, 2))");
    }
}
