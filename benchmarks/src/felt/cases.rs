//! The list of workloads.

use std::sync::Arc;

use super::{Material, Outcome, Task, ours, start, theirs};
use crate::clock::Clock;
use crate::engine::EngineError;
use Amount::{Ops, Whole};

/// Runs a workload on one engine.
pub type Run = fn(&Task, &mut dyn Clock) -> Result<Outcome, EngineError>;

/// How much is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// So many operations, or as many of the first of them as an engine can do in its time.
    Ops(u32),
    /// As much as the size says, all of it; yrs only up to the size given here, where more takes it minutes.
    Whole(u32),
}

/// A workload.
#[derive(Clone, Copy)]
pub struct Case {
    /// Its identifier.
    pub id: &'static str,
    /// What is done, in words.
    pub title: &'static str,
    /// What the figures are for.
    pub unit: &'static str,
    /// The sizes at which it is measured.
    pub sizes: [u32; 3],
    /// How much is done at each.
    pub amount: Amount,
    /// Whether it replays the LaTeX trace.
    pub replays: bool,
    /// On yatta.
    pub ours: Run,
    /// On yrs.
    pub theirs: Run,
    start: fn(u32) -> Vec<u8>,
}

impl std::fmt::Debug for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Case").field("id", &self.id).field("sizes", &self.sizes).finish_non_exhaustive()
    }
}

impl Case {
    /// Makes the task of one size. Costs as much as it takes yatta to write the start state.
    pub fn task(&self, size: u32, material: &Material) -> Task {
        let ops = match self.amount {
            Ops(ops) => ops,
            Whole(_) => 0,
        };
        let material = if self.replays { material.clone() } else { Material::default() };
        Task { id: self.id, size, ops, start: Arc::new((self.start)(size)), material }
    }

    /// Tells whether yrs does this size within about half a minute.
    pub fn yrs_can(&self, size: u32) -> bool {
        match self.amount {
            Ops(_) => true,
            Whole(limit) => size <= limit,
        }
    }
}

macro_rules! case {
    ($id:literal, $title:literal, $unit:literal, $module:ident::$run:ident, $sizes:ident, $amount:expr, $start:ident) => {
        Case {
            id: $id,
            title: $title,
            unit: $unit,
            sizes: $sizes,
            amount: $amount,
            replays: false,
            ours: ours::body::$module::$run,
            theirs: theirs::body::$module::$run,
            start: start::$start,
        }
    };
}

/// Format marks.
const MARKS: [u32; 3] = [100, 1_000, 10_000];
/// Elements, keys, items.
const MANY: [u32; 3] = [1_000, 10_000, 100_000];
/// Children of one node, undo steps.
const SOME: [u32; 3] = [100, 1_000, 10_000];
/// Levels of a tree.
const DEPTHS: [u32; 3] = [2, 20, 200];
/// Clients of a document.
const WRITERS: [u32; 3] = [20, 200, 2_000];
/// Clients in a room.
const READERS: [u32; 3] = [10, 100, 1_000];
/// Bytes of a text.
const BYTES: [u32; 3] = [100_000, 1_000_000, 10_000_000];
/// Edits of the LaTeX trace.
const KEYS: [u32; 3] = [26_000, 78_000, 259_778];

const ANY: Amount = Whole(u32::MAX);

/// Returns all workloads.
#[expect(clippy::too_many_lines, reason = "a table")]
pub fn cases() -> Vec<Case> {
    let mut cases = vec![
        case!(
            "marks/insert",
            "a character into a text with format marks",
            "edit",
            text::insert,
            MARKS,
            Ops(2_000),
            marked_text
        ),
        case!(
            "marks/format",
            "seven characters of it become bold",
            "edit",
            text::format,
            MARKS,
            Ops(2_000),
            marked_text
        ),
        case!(
            "marks/event",
            "a character into it, an observer reads the delta",
            "edit",
            text::event_delta,
            MARKS,
            Ops(2_000),
            marked_text
        ),
        case!("marks/delta", "the whole of it as a delta", "mark", text::delta, MARKS, ANY, marked_text),
        case!(
            "observer",
            "a character into a text, an observer reads the delta",
            "edit",
            text::event_delta,
            MANY,
            Ops(2_000),
            typed_text
        ),
        case!("array/get", "an element at a random index", "read", array::get, MANY, Ops(2_000), array),
        case!("array/insert", "an element at a random index", "edit", array::insert, MANY, Ops(2_000), array),
        case!("array/remove", "an element at a random index", "edit", array::remove, MANY, Ops(400), array),
        case!("array/iterate", "all elements", "element", array::iterate, MANY, ANY, array),
        case!("map/get", "a random key", "read", map::get, MANY, Ops(2_000), map),
        case!("map/set", "a random key anew", "edit", map::set, MANY, Ops(2_000), map),
        case!("map/iterate", "all keys", "key", map::iterate, MANY, ANY, map),
        case!("map/fill", "every key once", "edit", map::fill, MANY, ANY, nothing),
        case!("map/one key", "one key again and again", "edit", map::one_key, MANY, ANY, nothing),
        case!(
            "map/one key, load",
            "the document that this leaves",
            "former value",
            map::one_key_load,
            MANY,
            ANY,
            nothing
        ),
        case!("xml wide/get", "a child at a random index", "read", xml::get, SOME, Ops(2_000), wide_tree),
        case!(
            "xml wide/insert",
            "a child at a random index",
            "edit",
            xml::insert,
            SOME,
            Ops(2_000),
            wide_tree
        ),
        case!(
            "xml wide/attribute",
            "of a child at a random index",
            "edit",
            xml::attribute,
            SOME,
            Ops(2_000),
            wide_tree
        ),
        case!("xml wide/write", "the tree as text", "child", xml::write, SOME, ANY, wide_tree),
        case!("xml deep/nest", "an element inside the last one", "edit", xml::nest, DEPTHS, ANY, nothing),
        case!(
            "xml deep/type",
            "a character at the bottom",
            "edit",
            xml::type_deep,
            DEPTHS,
            Ops(2_000),
            deep_tree
        ),
        case!(
            "xml deep/observe",
            "the same, an observer at the root reads the path",
            "edit",
            xml::observe_deep,
            DEPTHS,
            Ops(2_000),
            deep_tree
        ),
        case!("xml deep/write", "the tree as text", "level", xml::write, DEPTHS, ANY, deep_tree),
        case!(
            "clients/keystroke",
            "a character and its update, by number of clients",
            "edit",
            clients::keystroke,
            WRITERS,
            Ops(2_000),
            clients
        ),
        case!(
            "clients/empty diff",
            "the update for a peer that lacks nothing",
            "diff",
            clients::empty_diff,
            WRITERS,
            Ops(200),
            clients
        ),
        case!(
            "clients/last diff",
            "the update for a peer that lacks one character",
            "diff",
            clients::last_diff,
            WRITERS,
            Ops(200),
            clients
        ),
        case!(
            "clients/state vector",
            "encoded",
            "state vector",
            clients::state_vector,
            WRITERS,
            Ops(200),
            clients
        ),
        case!(
            "blocks/keystroke",
            "a character and its update, by number of blocks",
            "edit",
            clients::keystroke,
            MANY,
            Ops(2_000),
            typed_text
        ),
        case!(
            "blocks/empty diff",
            "the update for a peer that lacks nothing",
            "diff",
            clients::empty_diff,
            MANY,
            Ops(200),
            typed_text
        ),
        case!(
            "blocks/last diff",
            "the update for a peer that lacks one character",
            "diff",
            clients::last_diff,
            MANY,
            Ops(200),
            typed_text
        ),
        case!(
            "blocks/state vector",
            "encoded",
            "state vector",
            clients::state_vector,
            MANY,
            Ops(200),
            typed_text
        ),
        case!("large/load", "a document of chunks of 100 bytes", "byte", large::load, BYTES, ANY, large),
        case!("large/read", "its text", "byte", large::read, BYTES, ANY, large),
        case!("large/key", "one key of a map beside the text", "read", large::key, BYTES, Ops(2_000), large),
        case!(
            "undo/record",
            "typing at random places, a step each",
            "edit",
            undo::record,
            SOME,
            ANY,
            nothing
        ),
        case!("undo/undo", "all steps", "step", undo::undo, SOME, Whole(1_000), nothing),
        case!("undo/redo", "all steps", "step", undo::redo, SOME, Whole(1_000), nothing),
        case!(
            "awareness/own",
            "the client moves its cursor, and tells",
            "change",
            presence::own,
            READERS,
            Ops(1_000),
            nothing
        ),
        case!(
            "awareness/other",
            "another client moves its cursor",
            "change",
            presence::other,
            READERS,
            Ops(1_000),
            nothing
        ),
        case!(
            "awareness/all",
            "the presence of everybody to a newcomer",
            "client",
            presence::all,
            READERS,
            ANY,
            nothing
        ),
        case!("sticky/create", "at a random place", "index", sticky::create, MANY, Ops(1_000), typed_text),
        case!(
            "sticky/typing",
            "a character, then one of 1,000 cursors is asked for",
            "edit",
            sticky::typing,
            MANY,
            Ops(1_000),
            typed_text
        ),
    ];
    cases.extend(
        [
            case!(
                "B4 updates/apart",
                "updates of B4, a transaction each",
                "update",
                updates::apart,
                KEYS,
                ANY,
                nothing
            ),
            case!(
                "B4 updates/together",
                "updates of B4 within one transaction",
                "update",
                updates::together,
                KEYS,
                ANY,
                nothing
            ),
            case!(
                "B4 single",
                "edits of B4 within one transaction",
                "edit",
                updates::one_transaction,
                KEYS,
                Whole(26_000),
                nothing
            ),
        ]
        .map(|case| Case { replays: true, ..case }),
    );
    cases
}
