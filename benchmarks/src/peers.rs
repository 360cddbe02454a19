//! B4 on the other engines that know text, with the feature `compare`: the same edits, the text compared.
//!
//! The LaTeX trace is ASCII, so an index is the same in bytes, characters and UTF-16 units.

use std::time::Duration;

use crate::edit::Edit;
use crate::engine::EngineError;
use crate::measure::timed;

/// Plays edits on an engine; returns the time of the edits alone and the text, if the engine keeps one.
pub type Play = fn(&[Edit]) -> Result<(Duration, Option<String>), EngineError>;

/// The engines by name.
pub const PEERS: [(&str, Play); 5] = [
    ("diamond-types", diamond_types),
    ("cola (no text kept)", cola),
    ("loro", loro),
    ("automerge", automerge),
    ("y-octo", y_octo),
];

fn refused(engine: &'static str, cause: impl std::fmt::Display) -> EngineError {
    EngineError { engine, action: "edit its text", cause: cause.to_string() }
}

fn diamond_types(edits: &[Edit]) -> Result<(Duration, Option<String>), EngineError> {
    let (elapsed, doc) = timed(|| {
        let mut doc = diamond_types::list::ListCRDT::new();
        let agent = doc.get_or_create_agent_id("writer");
        for edit in edits {
            match edit {
                Edit::Insert { at, text } => {
                    doc.insert(agent, *at as usize, text);
                }
                Edit::Remove { at, len } => {
                    doc.delete_without_content(agent, *at as usize..(*at + *len) as usize);
                }
                _ => {}
            }
        }
        doc
    });
    Ok((elapsed, Some(doc.branch.content().to_string())))
}

fn cola(edits: &[Edit]) -> Result<(Duration, Option<String>), EngineError> {
    let (elapsed, doc) = timed(|| {
        let mut doc = cola::Replica::new(1, 0);
        for edit in edits {
            match edit {
                Edit::Insert { at, text } => {
                    std::hint::black_box(doc.inserted(*at as usize, text.len()));
                }
                Edit::Remove { at, len } => {
                    std::hint::black_box(doc.deleted(*at as usize..(*at + *len) as usize));
                }
                _ => {}
            }
        }
        doc
    });
    drop(doc);
    Ok((elapsed, None))
}

fn loro(edits: &[Edit]) -> Result<(Duration, Option<String>), EngineError> {
    let doc = loro::LoroDoc::new();
    let text = doc.get_text("text");
    let (elapsed, done) = timed(|| {
        edits.iter().try_for_each(|edit| {
            let done = match edit {
                Edit::Insert { at, text: new } => text.insert_utf16(*at as usize, new),
                Edit::Remove { at, len } => text.delete_utf16(*at as usize, *len as usize),
                _ => Ok(()),
            };
            doc.commit();
            done
        })
    });
    done.map_err(|e| refused("loro", e))?;
    Ok((elapsed, Some(text.to_string())))
}

fn automerge(edits: &[Edit]) -> Result<(Duration, Option<String>), EngineError> {
    use automerge::transaction::Transactable;
    use automerge::{AutoCommit, ObjType, ROOT, ReadDoc};
    let mut doc = AutoCommit::new();
    let text = doc.put_object(ROOT, "text", ObjType::Text).map_err(|e| refused("automerge", e))?;
    let (elapsed, done) = timed(|| {
        edits.iter().try_for_each(|edit| {
            let done = match edit {
                Edit::Insert { at, text: new } => doc.splice_text(&text, *at as usize, 0, new),
                Edit::Remove { at, len } => doc.splice_text(&text, *at as usize, *len as isize, ""),
                _ => Ok(()),
            };
            doc.commit();
            done
        })
    });
    done.map_err(|e| refused("automerge", e))?;
    Ok((elapsed, Some(doc.text(&text).map_err(|e| refused("automerge", e))?)))
}

fn y_octo(edits: &[Edit]) -> Result<(Duration, Option<String>), EngineError> {
    let doc = y_octo::Doc::with_client(1);
    let mut text = doc.get_or_create_text("text").map_err(|e| refused("y-octo", e))?;
    let (elapsed, done) = timed(|| {
        edits.iter().try_for_each(|edit| match edit {
            Edit::Insert { at, text: new } => text.insert(u64::from(*at), new),
            Edit::Remove { at, len } => text.remove(u64::from(*at), u64::from(*len)),
            _ => Ok(()),
        })
    });
    done.map_err(|e| refused("y-octo", e))?;
    Ok((elapsed, Some(text.to_string())))
}
