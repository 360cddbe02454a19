//! Random scripts: a list of steps that mean something on any document, so that a failing one can be shortened.
//!
//! A step holds no index and no key, only a seed. What it does is decided when it runs, from that seed and the shape
//! of the document, so taking steps out of a script leaves a valid script.

use super::json::Json;
use super::value::{self, Values};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg32;

/// What a script is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Plain text.
    Text,
    /// Text with one attribute at a time, and plain embeds.
    Formatted,
    /// Text with several attributes, embeds of values and types, deltas.
    Rich,
    /// Values in an array.
    Array,
    /// Values under few keys.
    Map,
    /// Types in types.
    Nested,
    /// All of these in one document.
    Mixed,
    /// Elements and texts of XML with attributes.
    Xml,
    /// Sub-documents in an array and a map, among values and types.
    Subdocs,
}

impl Kind {
    /// The roots that a document of this kind has: name and kind.
    pub(crate) fn roots(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Text | Self::Formatted | Self::Rich => &[("t", "text")],
            Self::Array => &[("a", "array")],
            Self::Map => &[("m", "map")],
            Self::Nested | Self::Subdocs => &[("a", "array"), ("m", "map")],
            Self::Mixed => &[("t", "text"), ("a", "array"), ("m", "map")],
            Self::Xml => &[("x", "xmlfragment")],
        }
    }
}

/// One step of a script.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    pub(crate) peer: usize,
    pub(crate) action: Action,
    pub(crate) seed: u64,
}

/// What a step does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// One operation in its own transaction.
    Edit,
    /// Several single characters typed or deleted one after the other, each its own transaction.
    Burst,
    /// Several operations in one transaction.
    Transact,
    /// A random waiting message arrives, perhaps not for the last time.
    Deliver,
    /// Several waiting messages arrive merged into one update.
    Merge,
    /// All that another peer has and this one lacks arrives.
    Sync,
    /// A waiting message arrives without what the peer has, perhaps in the other format.
    Diff,
    /// A part of what another peer has arrives: what a third peer lacks, or everything.
    Part,
    /// The peer undoes, redoes, or ends a step.
    Undo,
    /// The peer saves its document and loads it again.
    Reload,
}

/// How updates travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Delivery {
    /// In any order, some twice, some merged.
    Random,
    /// Only as differences of state vectors, which never leave a gap.
    Orderly,
    /// As `Random`, and also cut down, in parts, in the other format; peers undo and redo.
    Network,
}

/// Makes the script of a seed.
pub(crate) fn generate(seed: u64, peers: usize, len: usize, delivery: Delivery) -> Vec<Step> {
    let mut rng = Pcg32::seed_from_u64(seed);
    let mut step = |action| Step { peer: rng.random_range(0..peers), action, seed: rng.random() };
    let mut steps = Vec::with_capacity(len);
    let mut dice = Pcg32::seed_from_u64(seed ^ 0x5EED);
    for _ in 0..len {
        let dice = dice.random_range(0..100);
        if delivery == Delivery::Network {
            steps.push(step(network_action(dice)));
            continue;
        }
        steps.push(step(match dice {
            0..40 => Action::Edit,
            40..50 => Action::Burst,
            50..60 => Action::Transact,
            60..84 if peers > 1 && delivery == Delivery::Random => Action::Deliver,
            84..90 if peers > 1 && delivery == Delivery::Random => Action::Merge,
            72..98 if peers > 1 => Action::Sync,
            98.. => Action::Reload,
            _ => Action::Edit,
        }));
    }
    steps
}

fn network_action(dice: u32) -> Action {
    match dice {
        0..34 => Action::Edit,
        34..42 => Action::Burst,
        42..50 => Action::Transact,
        50..66 => Action::Deliver,
        66..72 => Action::Merge,
        72..78 => Action::Diff,
        78..84 => Action::Sync,
        84..88 => Action::Part,
        88..97 => Action::Undo,
        _ => Action::Reload,
    }
}

/// How operations are chosen.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Taste {
    pub(crate) kind: Kind,
    pub(crate) values: Values,
    /// Whether an index may fall between the halves of a surrogate pair.
    pub(crate) surrogates: bool,
}

/// Chooses one operation. `shape` describes the type at a path.
pub(crate) fn operation(taste: Taste, rng: &mut Pcg32, shape: &mut dyn FnMut(&Json) -> Json) -> Json {
    let roots = taste.kind.roots();
    let mut path = vec![Json::from(format!("@{}", roots[rng.random_range(0..roots.len())].0))];
    let mut here = shape(&path.clone().into());
    while !here.get("types").items().is_empty() && rng.random_bool(0.6) {
        let types = here.get("types").items();
        path.push(types[rng.random_range(0..types.len())].clone());
        here = shape(&path.clone().into());
    }
    let depth = 4_u32.saturating_sub(path.len() as u32).min(2);
    let mut operation = match here.get("kind").as_str() {
        Some("text") => text(taste, rng, &here),
        Some("xmltext") if rng.random_bool(0.8) => text(taste, rng, &here),
        Some("xmltext") => attribute(rng),
        Some("xmlelement") if rng.random_bool(0.4) => attribute(rng),
        Some("xmlfragment" | "xmlelement") => xml(rng, &here, depth),
        Some("array") => array(taste, rng, &here, depth),
        Some("map") => map(taste, rng, depth),
        kind => panic!("no operation for a type of kind {kind:?} at {}", Json::from(path)),
    };
    operation.set("h", if path.len() == 1 { path[0].clone() } else { path.into() });
    operation
}

/// Chooses a run of single-character edits at one place of a text, or of single elements elsewhere.
pub(crate) fn burst(taste: Taste, rng: &mut Pcg32, shape: &mut dyn FnMut(&Json) -> Json) -> Vec<Json> {
    let first = operation(taste, rng, shape);
    let length = rng.random_range(2..6);
    let op = first.get("op").as_str().unwrap_or_default();
    let index = first.get("index").as_u64().unwrap_or_default() as u32;
    let mut run = Vec::new();
    match op {
        "text_insert" => {
            for i in 0..length {
                let mut next = first.clone();
                next.set("index", Json::from(index + i));
                next.set("text", ["a", "b", "中"][rng.random_range(0..3)].into());
                run.push(next);
            }
        }
        "list_insert" => {
            let backwards = rng.random_bool(0.5);
            for i in 0..length {
                let mut next = first.clone();
                next.set("index", Json::from(if backwards { index } else { index + i }));
                let element = if taste.kind == Kind::Xml { value::node(rng, 0) } else { i.into() };
                next.set("content", vec![element].into());
                run.push(next);
            }
        }
        "text_delete" | "list_delete" => {
            // backspace, as far as there is something before
            let surrogate_free = taste.surrogates || op == "list_delete";
            for i in 0..length.min(index).min(if surrogate_free { 9 } else { 0 }) {
                let mut next = first.clone();
                next.set("index", Json::from(index - i - 1));
                next.set("len", 1.into());
                run.push(next);
            }
        }
        _ => {}
    }
    if run.is_empty() { vec![first] } else { run }
}

fn text(taste: Taste, rng: &mut Pcg32, shape: &Json) -> Json {
    let boundaries = boundaries(taste, shape);
    let pick = |rng: &mut Pcg32| match rng.random_range(0..6) {
        0 => 0,
        1 | 2 => boundaries.len() - 1,
        _ => rng.random_range(0..boundaries.len()),
    };
    let formats = !matches!(taste.kind, Kind::Text | Kind::Nested | Kind::Mixed);
    let several = taste.kind == Kind::Rich;
    let start = pick(rng);
    let end = (start + rng.random_range(1..6)).min(boundaries.len() - 1);
    let range =
        [("index", Json::from(boundaries[start])), ("len", Json::from(boundaries[end] - boundaries[start]))];
    let [index, len] = range;
    let dice = rng.random_range(0..if formats { 100 } else { 70 });
    match dice {
        45..70 if end > start => Json::object([("op", "text_delete".into()), index, len]),
        0..70 => Json::object([("op", "text_insert".into()), index, ("text", value::text(rng, 5).into())]),
        70..80 => {
            let attrs = attributes(rng, several, false);
            let text = value::text(rng, 4).into();
            Json::object([("op", "text_insert".into()), index, ("text", text), ("attrs", attrs)])
        }
        80..94 if end > start => Json::object([
            ("op", "text_format".into()),
            index,
            len,
            ("attrs", attributes(rng, several, true)),
        ]),
        94..97 if several => Json::object([
            ("op", "text_delta".into()),
            ("delta", delta(rng, boundaries[start], boundaries[end] - boundaries[start])),
        ]),
        _ => {
            let content = match rng.random_range(0..3) {
                0 if several => value::shared(rng, taste.values, 0),
                _ if taste.values == Values::Yrs => value::object(rng, Values::Yrs, 1),
                _ => value::object(rng, Values::Json, 1),
            };
            let mut embed = Json::object([("op", "text_embed".into()), index, ("value", content)]);
            if rng.random_bool(0.5) {
                embed.set("attrs", attributes(rng, several, false));
            }
            embed
        }
    }
}

/// The places in a text where an index may stand.
fn boundaries(taste: Taste, shape: &Json) -> Vec<u32> {
    let mut at = 0;
    let mut all = vec![0];
    for piece in shape.get("pieces").items() {
        let Some(text) = piece.as_str() else {
            at += 1;
            all.push(at);
            continue;
        };
        for c in text.chars() {
            if taste.surrogates && c.len_utf16() == 2 {
                all.push(at + 1);
            }
            at += c.len_utf16() as u32;
            all.push(at);
        }
    }
    all
}

fn attributes(rng: &mut Pcg32, several: bool, may_end: bool) -> Json {
    let mut attrs = Json::Object(Vec::new());
    for _ in 0..if several { rng.random_range(0..4) } else { 1 } {
        let key = ["b", "i", "color"][rng.random_range(0..3)];
        let value = match rng.random_range(0..4) {
            0 if may_end => Json::Null,
            1 if key == "color" => "red".into(),
            _ if key == "color" => "blue".into(),
            _ => true.into(),
        };
        attrs.set(key, value);
    }
    attrs
}

fn delta(rng: &mut Pcg32, start: u32, len: u32) -> Json {
    let mut parts = Vec::new();
    if start > 0 {
        parts.push(Json::object([("retain", start.into())]));
    }
    if rng.random_bool(0.7) {
        let mut part = Json::object([("insert", value::text(rng, 3).into())]);
        if rng.random_bool(0.5) {
            part.set("attributes", attributes(rng, true, false));
        }
        parts.push(part);
    }
    if len > 0 {
        parts.push(if rng.random_bool(0.5) {
            Json::object([("delete", len.into())])
        } else {
            Json::object([("retain", len.into()), ("attributes", attributes(rng, true, true))])
        });
    }
    parts.into()
}

fn array(taste: Taste, rng: &mut Pcg32, shape: &Json, depth: u32) -> Json {
    let len = shape.get("len").as_u64().unwrap_or_default() as u32;
    let index = match rng.random_range(0..4) {
        0 => len,
        _ => rng.random_range(0..=len),
    };
    let depth = if taste.kind == Kind::Array { 0 } else { depth };
    let content: Vec<Json> = (0..rng.random_range(1..4)).map(|_| element(taste, rng, depth)).collect();
    match rng.random_range(0..10) {
        0..4 if index < len => {
            let count = rng.random_range(1..4).min(len - index);
            Json::object([("op", "list_delete".into()), ("index", index.into()), ("len", count.into())])
        }
        4..6 => Json::object([("op", "list_push".into()), ("content", content.into())]),
        _ => {
            Json::object([("op", "list_insert".into()), ("index", index.into()), ("content", content.into())])
        }
    }
}

fn element(taste: Taste, rng: &mut Pcg32, depth: u32) -> Json {
    if taste.kind == Kind::Subdocs && rng.random_bool(0.5) {
        return value::subdoc(rng);
    }
    value::element(rng, taste.values, depth)
}

fn xml(rng: &mut Pcg32, shape: &Json, depth: u32) -> Json {
    let len = shape.get("len").as_u64().unwrap_or_default() as u32;
    let index = rng.random_range(0..=len);
    if index < len && rng.random_bool(0.3) {
        let count = rng.random_range(1..3).min(len - index);
        return Json::object([("op", "list_delete".into()), ("index", index.into()), ("len", count.into())]);
    }
    let content: Vec<Json> = (0..rng.random_range(1..3)).map(|_| value::node(rng, depth)).collect();
    if rng.random_bool(0.2) {
        return Json::object([("op", "list_push".into()), ("content", content.into())]);
    }
    Json::object([("op", "list_insert".into()), ("index", index.into()), ("content", content.into())])
}

fn attribute(rng: &mut Pcg32) -> Json {
    let key = ["id", "class", "w"][rng.random_range(0..3)].into();
    if rng.random_bool(0.25) {
        return Json::object([("op", "map_delete".into()), ("key", key)]);
    }
    Json::object([("op", "map_set".into()), ("key", key), ("value", value::text(rng, 3).into())])
}

fn map(taste: Taste, rng: &mut Pcg32, depth: u32) -> Json {
    let key = ["a", "b", "c", "中", ""][rng.random_range(0..5)];
    let depth = if taste.kind == Kind::Map { 0 } else { depth };
    match rng.random_range(0..20) {
        0..4 => Json::object([("op", "map_delete".into()), ("key", key.into())]),
        4 => Json::object([("op", "map_clear".into())]),
        _ => {
            let value = element(taste, rng, depth);
            Json::object([("op", "map_set".into()), ("key", key.into()), ("value", value)])
        }
    }
}
