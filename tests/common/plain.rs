//! A plain model of a document: strings, vectors and maps that do what one replica should do, and nothing more.

use super::Host;
use super::json::Json;
use super::script::{self, Taste};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg32;
use std::collections::BTreeMap;

type Attributes = BTreeMap<String, Json>;

/// A place in a text: one UTF-16 unit or one embed.
#[derive(Debug, Clone)]
struct Cell {
    content: Unit,
    attributes: Attributes,
}

#[derive(Debug, Clone)]
enum Unit {
    Char(u16),
    Embed(Plain),
}

/// A plain value or a shared type without any history.
#[derive(Debug, Clone)]
enum Plain {
    Value(Json),
    Text(Vec<Cell>),
    Array(Vec<Self>),
    Map(BTreeMap<String, Self>),
}

/// A document: its roots by handle.
#[derive(Debug, Default)]
pub(crate) struct Model {
    roots: BTreeMap<String, Plain>,
}

impl Model {
    /// A document with these roots (name and kind).
    pub(crate) fn new(roots: &[(&str, &str)]) -> Self {
        Self { roots: roots.iter().map(|(name, kind)| (format!("@{name}"), Plain::empty(kind))).collect() }
    }

    /// Does what a request of the protocol asks for.
    pub(crate) fn apply(&mut self, request: &Json) {
        if request.get("op").as_str() == Some("transact") {
            return request.get("ops").items().iter().for_each(|request| self.apply(request));
        }
        let h = request.get("h");
        let (root, path) = match h.items() {
            [] => (h, &[][..]),
            items => (&items[0], &items[1..]),
        };
        let root = self.roots.get_mut(root.as_str().unwrap_or_default()).expect("a root of the model");
        path.iter().fold(root, Plain::child).apply(request);
    }

    /// The value of a root as `toJSON` gives it.
    pub(crate) fn json(&self, root: &str) -> Json {
        self.roots[root].json()
    }

    /// The delta of a root text, neighbours of equal attributes joined.
    pub(crate) fn delta(&self, root: &str) -> Json {
        match &self.roots[root] {
            Plain::Text(cells) => delta(cells),
            other => panic!("{other:?} has no delta"),
        }
    }
}

/// Runs one replica and its model through the same operations and compares them after each.
pub(crate) fn compare(taste: Taste, host: &mut dyn Host, seed: u64) {
    let mut rng = Pcg32::seed_from_u64(seed);
    let mut model = Model::new(taste.kind.roots());
    let mut ask = |mut request: Json| {
        request.set("doc", "d".into());
        let reply = host.call(&request);
        assert_eq!(reply.get("ok").as_bool(), Some(true), "{request} gave {reply}");
        host.check("d");
        reply.get("r").clone()
    };
    ask(Json::object([("op", "new".into()), ("clientID", Json::from(rng.random::<u32>()))]));
    for (name, kind) in taste.kind.roots() {
        ask(Json::object([("op", "root".into()), ("name", (*name).into()), ("kind", (*kind).into())]));
    }
    for _ in 0..40 {
        let mut shape = |path: &Json| ask(Json::object([("op", "shape".into()), ("h", path.clone())]));
        let operations = if rng.random_bool(0.3) {
            script::burst(taste, &mut rng, &mut shape)
        } else {
            vec![script::operation(taste, &mut rng, &mut shape)]
        };
        for operation in operations {
            model.apply(&operation);
            ask(operation.clone());
            for (name, root_kind) in taste.kind.roots() {
                let h = format!("@{name}");
                let json = ask(Json::object([("op", "toJSON".into()), ("h", h.as_str().into())]));
                assert_eq!(json, model.json(&h), "{h} after {operation}");
                if *root_kind == "text" {
                    let delta = ask(Json::object([("op", "toDelta".into()), ("h", h.as_str().into())]));
                    assert_eq!(joined(&delta), joined(&model.delta(&h)), "{h} after {operation}");
                }
            }
        }
    }
}

/// A delta of an engine with neighbours of equal attributes joined, and types without their handles.
pub(crate) fn joined(delta: &Json) -> Json {
    let mut parts: Vec<Json> = Vec::new();
    for part in delta.items() {
        let mut part = part.clone();
        if part.get("insert").get("$").as_str() == Some("type") {
            part.set("insert", Json::tagged("type", [("kind", part.get("insert").get("kind").clone())]));
        }
        match (parts.last_mut(), part.get("insert").as_str()) {
            (Some(last), Some(text))
                if last.get("insert").as_str().is_some()
                    && last.get("attributes") == part.get("attributes") =>
            {
                let text = format!("{}{text}", last.get("insert").as_str().unwrap_or_default());
                last.set("insert", text.into());
            }
            _ => parts.push(part),
        }
    }
    parts.into()
}

fn delta(cells: &[Cell]) -> Json {
    let mut parts = Vec::new();
    let mut at = 0;
    while at < cells.len() {
        let attributes = &cells[at].attributes;
        let mut units = Vec::new();
        while let Some(Cell { content: Unit::Char(unit), attributes: a }) = cells.get(at)
            && a == attributes
        {
            units.push(*unit);
            at += 1;
        }
        let insert = if units.is_empty() {
            let Unit::Embed(embed) = &cells[at].content else {
                unreachable!("the loop above stops at an embed")
            };
            at += 1;
            match embed {
                Plain::Value(value) => value.clone(),
                Plain::Text(_) => Json::tagged("type", [("kind", "text".into())]),
                Plain::Array(_) => Json::tagged("type", [("kind", "array".into())]),
                Plain::Map(_) => Json::tagged("type", [("kind", "map".into())]),
            }
        } else {
            String::from_utf16_lossy(&units).into()
        };
        let mut part = Json::object([("insert", insert)]);
        if !attributes.is_empty() {
            part.set("attributes", Json::Object(attributes.clone().into_iter().collect()));
        }
        parts.push(part);
    }
    parts.into()
}

impl Plain {
    fn empty(kind: &str) -> Self {
        match kind {
            "text" => Self::Text(Vec::new()),
            "array" => Self::Array(Vec::new()),
            "map" => Self::Map(BTreeMap::new()),
            _ => panic!("the model has no {kind}"),
        }
    }

    /// What a value of a request becomes.
    fn new(value: &Json) -> Self {
        if value.get("$").as_str() != Some("type") {
            return Self::Value(value.clone());
        }
        let mut new = Self::empty(value.get("kind").as_str().unwrap_or_default());
        match &mut new {
            Self::Array(items) => items.extend(value.get("init").items().iter().map(Self::new)),
            Self::Map(entries) => {
                for entry in value.get("init").items() {
                    let key = entry.items()[0].as_str().unwrap_or_default();
                    entries.insert(key.to_owned(), Self::new(&entry.items()[1]));
                }
            }
            Self::Text(cells) => apply_delta(cells, value.get("delta")),
            Self::Value(_) => {}
        }
        new
    }

    fn child(&mut self, segment: &Json) -> &mut Self {
        let found = match (self, segment) {
            (Self::Array(items), Json::Number(index)) => items.get_mut(*index as usize),
            (Self::Map(entries), Json::String(key)) => entries.get_mut(key),
            (Self::Text(cells), segment) => cells
                .iter_mut()
                .filter_map(|cell| match &mut cell.content {
                    Unit::Embed(embed) if !matches!(embed, Self::Value(_)) => Some(embed),
                    _ => None,
                })
                .nth(segment.get("embed").as_u64().unwrap_or_default() as usize),
            _ => None,
        };
        found.unwrap_or_else(|| panic!("the model has nothing at {segment}"))
    }

    fn apply(&mut self, request: &Json) {
        let number = |key| request.get(key).as_u64().unwrap_or_default() as usize;
        let (index, len) = (number("index"), number("len"));
        let key = request.get("key").as_str().unwrap_or_default();
        match (self, request.get("op").as_str().unwrap_or_default()) {
            (Self::Array(items), "list_insert") => {
                items.splice(index..index, request.get("content").items().iter().map(Self::new));
            }
            (Self::Array(items), "list_push") => {
                items.extend(request.get("content").items().iter().map(Self::new))
            }
            (Self::Array(items), "list_delete") => drop(items.drain(index..index + len)),
            (Self::Map(entries), "map_set") => {
                entries.insert(key.to_owned(), Self::new(request.get("value")));
            }
            (Self::Map(entries), "map_delete") => drop(entries.remove(key)),
            (Self::Map(entries), "map_clear") => entries.clear(),
            (Self::Text(cells), "text_insert") => {
                let attributes = match request.find("attrs") {
                    Some(attrs) => given(attrs),
                    None => {
                        index.checked_sub(1).map(|left| cells[left].attributes.clone()).unwrap_or_default()
                    }
                };
                insert(cells, index, request.get("text").as_str().unwrap_or_default(), &attributes);
            }
            (Self::Text(cells), "text_embed") => {
                let content = Unit::Embed(Self::new(request.get("value")));
                cells.insert(index, Cell { content, attributes: given(request.get("attrs")) });
            }
            (Self::Text(cells), "text_delete") => drop(cells.drain(index..index + len)),
            (Self::Text(cells), "text_format") => {
                format(&mut cells[index..index + len], request.get("attrs"))
            }
            (Self::Text(cells), "text_delta") => apply_delta(cells, request.get("delta")),
            (this, op) => panic!("the model cannot do {op} on {this:?}"),
        }
    }

    fn json(&self) -> Json {
        match self {
            Self::Value(value) => value.clone(),
            Self::Array(items) => items.iter().map(Self::json).collect::<Vec<_>>().into(),
            Self::Map(entries) => {
                Json::Object(entries.iter().map(|(key, value)| (key.clone(), value.json())).collect())
            }
            Self::Text(cells) => {
                let units: Vec<u16> = cells
                    .iter()
                    .filter_map(|cell| match cell.content {
                        Unit::Char(unit) => Some(unit),
                        Unit::Embed(_) => None,
                    })
                    .collect();
                String::from_utf16_lossy(&units).into()
            }
        }
    }
}

/// Attributes of an insertion: null is the same as absent.
fn given(attrs: &Json) -> Attributes {
    attrs.entries().iter().filter(|(_, value)| !value.is_null()).cloned().collect()
}

fn insert(cells: &mut Vec<Cell>, index: usize, text: &str, attributes: &Attributes) {
    let new =
        text.encode_utf16().map(|unit| Cell { content: Unit::Char(unit), attributes: attributes.clone() });
    cells.splice(index..index, new);
}

fn format(cells: &mut [Cell], attrs: &Json) {
    for cell in cells {
        for (key, value) in attrs.entries() {
            if value.is_null() {
                cell.attributes.remove(key);
            } else {
                cell.attributes.insert(key.clone(), value.clone());
            }
        }
    }
}

fn apply_delta(cells: &mut Vec<Cell>, delta: &Json) {
    let mut at = 0;
    for part in delta.items() {
        let attrs = part.get("attributes");
        if let Some(content) = part.find("insert") {
            if let Some(text) = content.as_str() {
                insert(cells, at, text, &given(attrs));
                at += text.encode_utf16().count();
            } else {
                let content = Unit::Embed(Plain::new(content));
                cells.insert(at, Cell { content, attributes: given(attrs) });
                at += 1;
            }
        } else if let Some(len) = part.get("delete").as_u64() {
            drop(cells.drain(at..at + len as usize));
        } else {
            let len = part.get("retain").as_u64().unwrap_or_default() as usize;
            format(&mut cells[at..at + len], attrs);
            at += len;
        }
    }
}
