//! XML as text, exactly as `toString` of Yjs writes it.
//!
//! Names of elements are in lower case, attributes sorted by UTF-16 units, values as JavaScript turns them into strings,
//! nothing is escaped. The formats of an XML text are tags around each run, sorted by name. Types of no XML kind are
//! `[object Object]`, except for texts.
//!
//! Nodes are walked with an explicit stack: a peer may nest them as deep as it likes. Cost O(size).

use std::borrow::Cow;

use yatta_encoding::block::{
    TYPE_REFS_TEXT, TYPE_REFS_XML_ELEMENT, TYPE_REFS_XML_FRAGMENT, TYPE_REFS_XML_TEXT,
};
use yatta_encoding::{Any, Number};

use crate::block::index::{BranchIdx, ItemIdx};
use crate::block::item::Kind;
use crate::engine::format::{Attributes, set_attribute};
use crate::store::Store;
use crate::transaction::Branch;
use crate::types::Out;
use crate::types::text::text_of_node;

/// What JavaScript makes of an object.
const OBJECT: &str = "[object Object]";

/// The text of a type, taken as one of this kind.
pub(crate) fn string_of(store: &Store, branch: &Branch, kind: u8) -> String {
    let Some(branch) = branch.resolve(store) else { return String::new() };
    let mut writer = Writer { store, out: String::new(), open: Vec::new(), part: None };
    writer.node(branch, kind);
    writer.finish()
}

/// The text of a range of an XML text, with the formats that are in force there.
#[cfg(feature = "weak")]
pub(crate) fn range_string(store: &Store, mut range: crate::engine::link::Pieces) -> String {
    let Some(first) = range.first().some() else { return String::new() };
    let text = store.items[first].parent;
    let mut pieces = rustc_hash::FxHashMap::default();
    while let Some((slot, from, to)) = range.next(store) {
        pieces.insert(slot, (from, to));
    }
    let part = Some(Part { text, pieces });
    let mut writer = Writer { store, out: String::new(), open: Vec::new(), part };
    writer.text(store.branches[text].start, Attributes::new());
    writer.finish()
}

/// The text of a value, as JavaScript makes it.
pub(crate) fn value_string(store: &Store, value: &Out) -> String {
    match value {
        Out::Any(any) => {
            let mut out = String::new();
            js_string(any, &mut out);
            out
        }
        other => match other.branch().and_then(|branch| branch.resolve(store)) {
            Some(branch) => {
                Writer { store, out: String::new(), open: vec![Step::Node(branch)], part: None }.finish()
            }
            None => OBJECT.to_owned(),
        },
    }
}

/// What is still to be written.
enum Step {
    Literal(Cow<'static, str>),
    /// A node of whatever kind.
    Node(BranchIdx),
    /// The items of a list from here on.
    List(ItemIdx),
    /// The items of an XML text from here on, with the attributes in force.
    Text(ItemIdx, Attributes),
    /// The value of an item.
    Value(ItemIdx),
}

struct Writer<'s> {
    store: &'s Store,
    out: String,
    /// The next step is the last.
    open: Vec<Step>,
    /// Of one text only these pieces of items.
    part: Option<Part>,
}

/// Pieces of the items of a text.
struct Part {
    text: BranchIdx,
    pieces: rustc_hash::FxHashMap<ItemIdx, (u32, u32)>,
}

impl<'s> Writer<'s> {
    /// Whether an item of a text is to be written.
    fn is_within(&self, slot: ItemIdx) -> bool {
        let part = self.part.as_ref().filter(|part| part.text == self.store.items[slot].parent);
        part.is_none_or(|part| part.pieces.contains_key(&slot))
    }

    /// As much of the text of a string item as is to be written.
    fn text_within(&self, slot: ItemIdx) -> &'s str {
        let item = &self.store.items[slot];
        #[cfg(feature = "weak")]
        if let Some(part) = self.part.as_ref().filter(|part| part.text == item.parent) {
            let (from, to) = part.pieces.get(&slot).copied().unwrap_or_default();
            return self.store.text_part(item, from, to);
        }
        self.store.text(item)
    }

    fn finish(mut self) -> String {
        while let Some(step) = self.open.pop() {
            match step {
                Step::Literal(text) => self.out.push_str(&text),
                Step::Node(branch) => self.node(branch, self.store.branches[branch].tag.kind),
                Step::List(at) => self.list(at),
                Step::Text(at, attributes) => self.text(at, attributes),
                Step::Value(slot) => self.value(slot),
            }
        }
        self.out
    }

    fn node(&mut self, branch: BranchIdx, kind: u8) {
        let node = &self.store.branches[branch];
        match kind {
            TYPE_REFS_XML_ELEMENT => self.element(branch),
            TYPE_REFS_XML_FRAGMENT => self.list(node.start),
            TYPE_REFS_XML_TEXT => self.text(node.start, Attributes::new()),
            TYPE_REFS_TEXT => self.out.push_str(&text_of_node(self.store, node)),
            _ => self.out.push_str(OBJECT),
        }
    }

    fn element(&mut self, branch: BranchIdx) {
        let store = self.store;
        let node = &store.branches[branch];
        let name = node.tag.name.as_deref().unwrap_or("UNDEFINED").to_lowercase();
        self.out.push('<');
        self.out.push_str(&name);
        let live = node.map.iter().filter(|(_, slot)| !store.items[*slot].is_deleted());
        let mut attributes: Vec<(&str, ItemIdx)> =
            live.map(|(key, slot)| (&**store.key(key), slot)).collect();
        attributes.sort_unstable_by(|a, b| a.0.encode_utf16().cmp(b.0.encode_utf16()));
        let first_type = attributes.iter().position(|(_, slot)| store.items[*slot].kind() == Kind::Type);
        let (plain, rest) = attributes.split_at(first_type.unwrap_or(attributes.len()));
        for (key, slot) in plain {
            self.out.extend([" ", key, "=\""]);
            self.value(*slot);
            self.out.push('"');
        }
        let close = Step::Literal(format!("</{name}>").into());
        if rest.is_empty() {
            self.out.push('>');
            self.open.extend([close, Step::List(node.start)]);
            return;
        }
        self.open.extend([close, Step::List(node.start), Step::Literal(">".into())]);
        for (key, slot) in rest.iter().rev() {
            let open = Step::Literal(format!(" {key}=\"").into());
            self.open.extend([Step::Literal("\"".into()), Step::Value(*slot), open]);
        }
    }

    fn list(&mut self, mut at: ItemIdx) {
        while let Some(slot) = at.some() {
            let item = &self.store.items[slot];
            at = item.right;
            if !item.is_visible() {
                continue;
            }
            if let Some(branch) = self.store.held_type(&self.store.items[slot]) {
                self.open.extend([Step::List(at), Step::Node(branch)]);
                return;
            }
            for offset in 0..if item.kind() == Kind::String { 1 } else { item.len } {
                if let Some(value) = Out::element(self.store, item, offset) {
                    self.plain(&value);
                }
            }
        }
    }

    /// The last element of an item.
    fn value(&mut self, slot: ItemIdx) {
        if let Some(branch) = self.store.held_type(&self.store.items[slot]) {
            self.open.push(Step::Node(branch));
        } else if let Some(value) = Out::last_of(self.store, slot) {
            self.plain(&value);
        }
    }

    fn plain(&mut self, value: &Out) {
        match value {
            Out::Any(any) => js_string(any, &mut self.out),
            _ => self.out.push_str(OBJECT),
        }
    }

    fn text(&mut self, mut at: ItemIdx, mut attributes: Attributes) {
        let store = self.store;
        let mut tags: Option<Tags> = None;
        while let Some(slot) = at.some() {
            let item = &store.items[slot];
            at = item.right;
            if item.is_deleted() || (item.kind() != Kind::Format && !self.is_within(slot)) {
                continue;
            }
            match item.kind() {
                Kind::String if !self.text_within(slot).is_empty() => {
                    if tags.is_none() {
                        tags = Some(self.open_tags(&attributes));
                    }
                    let text = self.text_within(slot);
                    self.out.push_str(text);
                }
                Kind::Format => {
                    self.close_tags(tags.take());
                    if let Some((key, value)) = store.format(item) {
                        set_attribute(&mut attributes, key, value);
                    }
                }
                Kind::Type => {
                    self.close_tags(tags.take());
                    let tags = self.open_tags(&attributes);
                    self.open.extend([Step::Text(at, attributes), Step::Literal(tags.close.into())]);
                    self.value(slot);
                    return;
                }
                Kind::Embed => {
                    self.close_tags(tags.take());
                    let tags = self.open_tags(&attributes);
                    self.value(slot);
                    self.close_tags(Some(tags));
                }
                _ => {}
            }
        }
        self.close_tags(tags);
    }

    /// Writes the opening tags of a run.
    fn open_tags(&mut self, attributes: &Attributes) -> Tags {
        let mut sorted: Vec<(&str, &Any)> =
            attributes.iter().map(|(key, value)| (&**self.store.key(*key), value.any())).collect();
        sorted.sort_unstable_by(|a, b| a.0.encode_utf16().cmp(b.0.encode_utf16()));
        let mut close = String::new();
        for (name, value) in &sorted {
            self.out.extend(["<", name]);
            let mut entries = entries_of(value);
            entries.sort_by(|a, b| a.0.encode_utf16().cmp(b.0.encode_utf16()));
            for (key, value) in entries {
                self.out.extend([" ", &key, "=\"", &value, "\""]);
            }
            self.out.push('>');
        }
        for (name, _) in sorted.iter().rev() {
            close.extend(["</", name, ">"]);
        }
        Tags { close }
    }

    fn close_tags(&mut self, tags: Option<Tags>) {
        if let Some(tags) = tags {
            self.out.push_str(&tags.close);
        }
    }
}

/// The tags around the run that is being written.
struct Tags {
    close: String,
}

/// What `for (key in value)` sees in JavaScript, with the values as strings: the entries of an object, but also the
/// elements of an array, the units of a string and the bytes of a buffer.
fn entries_of(value: &Any) -> Vec<(String, String)> {
    let text = |any: &Any| {
        let mut out = String::new();
        js_string(any, &mut out);
        out
    };
    match value {
        Any::Map(entries) => entries.iter().map(|(key, any)| (key.to_string(), text(any))).collect(),
        Any::Array(values) => values.iter().enumerate().map(|(i, any)| (i.to_string(), text(any))).collect(),
        Any::String(string) => {
            let unit = |unit| String::from_utf16_lossy(&[unit]);
            string.encode_utf16().enumerate().map(|(i, u)| (i.to_string(), unit(u))).collect()
        }
        Any::Buffer(bytes) => bytes.iter().enumerate().map(|(i, b)| (i.to_string(), b.to_string())).collect(),
        _ => Vec::new(),
    }
}

/// Appends `String(value)` of JavaScript. Values are nested no deeper than the reader of the wire lets through.
fn js_string(value: &Any, out: &mut String) {
    match value {
        Any::Null => out.push_str("null"),
        Any::Undefined => out.push_str("undefined"),
        Any::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Any::Number(Number::Float(value)) if !value.is_finite() => out.push_str(if value.is_nan() {
            "NaN"
        } else if *value > 0.0 {
            "Infinity"
        } else {
            "-Infinity"
        }),
        Any::Number(_) => value.to_json(out),
        Any::String(value) => out.push_str(value),
        Any::Buffer(bytes) => {
            let bytes: Vec<String> = bytes.iter().map(u8::to_string).collect();
            out.push_str(&bytes.join(","));
        }
        Any::Array(values) => {
            for (i, value) in values.iter().enumerate() {
                out.push_str(if i == 0 { "" } else { "," });
                if !matches!(value, Any::Null | Any::Undefined) {
                    js_string(value, out);
                }
            }
        }
        Any::Map(_) => out.push_str(OBJECT),
    }
}
