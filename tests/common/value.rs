//! Random values for scripts, in TJSON.

use super::json::Json;
use rand::Rng;

/// Which values an engine pair writes in the same bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Values {
    /// Everything Yjs can hold.
    Yjs,
    /// Everything JSON can hold: an embed in V1 is JSON text, which loses bytes, NaN, the infinities and -0.
    Json,
    /// Without what yrs writes otherwise: bytes (departure 10), whole floats (11), objects of several keys (12).
    Yrs,
}

/// A random piece of text of 1 to `longest` characters: ASCII, Chinese, accents and emoji outside the BMP.
pub(crate) fn text(rng: &mut impl Rng, longest: usize) -> String {
    const CHARS: [char; 16] =
        ['a', 'b', 'c', 'd', 'e', 'f', ' ', '\n', '"', 'é', '中', '文', '字', '😀', '👾', '\u{2028}'];
    let len = rng.random_range(1..=longest);
    let plain = rng.random_bool(0.7);
    (0..len).map(|_| CHARS[rng.random_range(0..if plain { 7 } else { CHARS.len() })]).collect()
}

/// A random plain value.
pub(crate) fn plain(rng: &mut impl Rng, values: Values, depth: u32) -> Json {
    const NUMBERS: [f64; 14] = [
        0.0,
        1.0,
        -1.0,
        63.0,
        64.0,
        -64.0,
        8192.0,
        2_147_483_647.0,
        -2_147_483_647.0,
        0.5,
        0.1,
        -2.25,
        1e-7,
        123_456.789,
    ];
    let nested = if depth > 0 { 2 } else { 0 };
    let more = if values == Values::Yjs { 3 } else { 0 };
    match rng.random_range(0..6 + nested + more) {
        0 => Json::Null,
        1 => rng.random_bool(0.5).into(),
        2 | 3 => text(rng, 6).into(),
        4 | 5 => Json::Number(NUMBERS[rng.random_range(0..NUMBERS.len())]),
        n if n < 6 + nested => {
            if n == 6 {
                (0..rng.random_range(0..3)).map(|_| plain(rng, values, depth - 1)).collect::<Vec<_>>().into()
            } else {
                object(rng, values, depth - 1)
            }
        }
        n => match n - 6 - nested {
            0 => Json::tagged("bytes", [("hex", "00ff10".into())]),
            1 => Json::Number([2_147_483_648.0, 1e10, 9_007_199_254_740_991.0, 1e21][rng.random_range(0..4)]),
            _ => Json::tagged(
                "f64",
                [("v", ["NaN", "Infinity", "-Infinity", "-0"][rng.random_range(0..4)].into())],
            ),
        },
    }
}

/// A random object, with integer-like keys among the others where their order is defined.
pub(crate) fn object(rng: &mut impl Rng, values: Values, depth: u32) -> Json {
    const KEYS: [&str; 7] = ["x", "10", "y", "2", "-1", "01", "z"];
    let count = if values != Values::Yrs { rng.random_range(0..4) } else { rng.random_range(0..2) };
    let mut object = Json::Object(Vec::new());
    for _ in 0..count {
        let key = KEYS[rng.random_range(0..KEYS.len())];
        object.set(key, plain(rng, values, depth));
    }
    object
}

/// A random shared type with random content, two levels deep at most.
pub(crate) fn shared(rng: &mut impl Rng, values: Values, depth: u32) -> Json {
    match rng.random_range(0..3) {
        0 => Json::tagged("type", [("kind", "array".into()), ("init", list(rng, values, depth).into())]),
        1 => {
            let mut entries: Vec<Json> = Vec::new();
            // yrs integrates the entries of a new map in the order of a hash (departure 12)
            let count = if values == Values::Yjs { rng.random_range(0..3) } else { rng.random_range(0..2) };
            for key in ["k", "l", "m"].iter().take(count) {
                entries.push(vec![(*key).into(), element(rng, values, depth)].into());
            }
            Json::tagged("type", [("kind", "map".into()), ("init", entries.into())])
        }
        _ if rng.random_bool(0.3) => Json::tagged("type", [("kind", "text".into())]),
        _ => {
            let delta = vec![Json::object([("insert", text(rng, 5).into())])];
            Json::tagged("type", [("kind", "text".into()), ("delta", delta.into())])
        }
    }
}

/// A random sub-document; few guids, so that one can stand in two places.
pub(crate) fn subdoc(rng: &mut impl Rng) -> Json {
    let mut doc = Json::tagged("doc", [("guid", format!("sub-{}", rng.random_range(0..6)).into())]);
    if rng.random_bool(0.3) {
        doc.set("autoLoad", true.into());
    }
    if rng.random_bool(0.2) {
        doc.set("gc", false.into());
    }
    doc
}

/// A random XML element or text with attributes and, above the last level, children.
pub(crate) fn node(rng: &mut impl Rng, depth: u32) -> Json {
    let mut attrs = Json::Object(Vec::new());
    for key in ["class", "id"] {
        if rng.random_bool(0.3) {
            attrs.set(key, text(rng, 2).into());
        }
    }
    let mut new = if rng.random_bool(0.4) {
        let delta = vec![Json::object([("insert", text(rng, 4).into())])];
        Json::tagged("type", [("kind", "xmltext".into()), ("delta", delta.into())])
    } else {
        let count = if depth > 0 { rng.random_range(0..3) } else { 0 };
        let children: Vec<Json> = (0..count).map(|_| node(rng, depth.saturating_sub(1))).collect();
        let name = ["p", "b", "Item"][rng.random_range(0..3)];
        Json::tagged(
            "type",
            [("kind", "xmlelement".into()), ("name", name.into()), ("init", children.into())],
        )
    };
    new.set("attrs", attrs);
    new
}

/// A plain value or, above the last level, a shared type.
pub(crate) fn element(rng: &mut impl Rng, values: Values, depth: u32) -> Json {
    if depth > 0 && rng.random_bool(0.4) { shared(rng, values, depth - 1) } else { plain(rng, values, 1) }
}

fn list(rng: &mut impl Rng, values: Values, depth: u32) -> Vec<Json> {
    (0..rng.random_range(0..3)).map(|_| element(rng, values, depth)).collect()
}
