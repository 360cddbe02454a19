//! `yatta adapter`: drives the engine with JSON lines, so that tests written for Yjs can use it as a client.
//!
//! - `json`: requests and replies, in order of their keys.
//! - `engine`: which crate is driven, and the few things for which the public API of yrs has no word.
//! - `beyond`: what yatta has and yrs lacks.
//! - `extra`: XML and sub-documents.
//! - `more`: events of types, undo, positions and snapshots.
//! - `late`: sub-documents. `xml_events`: events in XML.
//! - `presence`: awareness and sync messages.
//! - `service`: the protocol. It sees only those above, so that the tests can mount the same
//!   files on another engine of the same API and run both from one script.
//!
//! The protocol is described in testdata/adapter/PROTOCOL.md.

pub(crate) mod beyond;
pub(crate) mod engine;
pub(crate) mod extra;
pub(crate) mod json;
pub(crate) mod late;
pub(crate) mod more;
pub(crate) mod presence;
pub(crate) mod service;
pub(crate) mod xml_events;

use std::io::{self, BufRead, Write};

/// Answers the requests on `input`, one JSON object a line, until it ends.
///
/// # Errors
/// Only those of `input` and `output`; a bad request is answered, not returned.
pub(crate) fn run(input: impl BufRead, mut output: impl Write) -> io::Result<()> {
    let mut failed = None;
    let mut lines = input.lines().map_while(|line| match line {
        Ok(line) => Some(line),
        Err(error) => {
            failed = Some(error);
            None
        }
    });
    let mut service = service::Service::default();
    let mut requests = std::iter::from_fn(|| lines.find(|line| !line.trim().is_empty()));
    service.serve(&mut requests, &mut |reply| {
        writeln!(output, "{reply}")?;
        output.flush()
    })?;
    failed.map_or(Ok(()), Err)
}
