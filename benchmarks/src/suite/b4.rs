//! B4: the keystrokes of a LaTeX paper, one transaction an edit.

use std::path::Path;

use crate::script::Script;
use crate::trace::{Grouping, Trace, TraceError};

/// The trace that B4 replays.
const NAME: &str = "automerge-paper";

/// Builds B4 from the trace in `dir`.
///
/// # Errors
/// If the trace is missing or unreadable; the message says how to fetch it.
pub fn b4(dir: &Path) -> Result<Script, TraceError> {
    let mut script = Trace::load_named(dir, NAME)?.script(Grouping::PerEdit)?;
    "B4".clone_into(&mut script.id);
    "replay the LaTeX trace, one transaction an edit".clone_into(&mut script.title);
    Ok(script)
}

/// Builds B4 with the whole trace typed `times` times, each in front of the one before.
///
/// # Errors
/// As [`b4`].
pub fn b4_times(dir: &Path, times: u32) -> Result<Script, TraceError> {
    let mut script = b4(dir)?;
    script.id = format!("B4x{times}");
    script.title = format!("B4, {times} times in one document");
    script.times = times;
    script.expected = script.expected.map(|text| text.repeat(times as usize));
    Ok(script)
}
