//! The notation of the shared cases: values, state vectors and blocks, to and from that of the protocol.

use super::json::{Json, hex, unhex};
use super::steps::{Played, Stop};
use super::wire::{self, Content, Struct};
use sha2::{Digest, Sha256};

/// A step with the counter in place of `@i`.
pub(crate) fn counted(json: &Json, i: u32) -> Json {
    match json {
        Json::String(text) if text == "@i" => i.into(),
        Json::Array(items) => items.iter().map(|item| counted(item, i)).collect::<Vec<_>>().into(),
        Json::Object(entries) => {
            Json::Object(entries.iter().map(|(key, value)| (key.clone(), counted(value, i))).collect())
        }
        other => other.clone(),
    }
}

/// A value of a step in the notation of the protocol.
pub(crate) fn given(json: &Json) -> Played<Json> {
    let items = |json: &Json| Ok(Json::Array(json.items().iter().map(given).collect::<Played<Vec<_>>>()?));
    let Json::Object(entries) = json else {
        return if let Json::Array(_) = json { items(json) } else { Ok(json.clone()) };
    };
    let Some((tag, content)) = entries.first().filter(|(key, _)| key.starts_with('$')) else {
        let entries = entries.iter().map(|(key, value)| Ok((key.clone(), given(value)?)));
        return Ok(Json::Object(entries.collect::<Played<_>>()?));
    };
    let typed =
        |kind: &str, key: &str, value: Json| Json::tagged("type", [("kind", kind.into()), (key, value)]);
    Ok(match tag.as_str() {
        "$json" => content.clone(),
        "$bytes" => Json::tagged("bytes", [("hex", content.clone())]),
        "$bigint" => Json::tagged("bigint", [("v", content.clone())]),
        "$float" => Json::tagged("f64", [("v", content.clone())]),
        "$undefined" => Json::tagged("undefined", []),
        "$range" => {
            (0..content.as_u64().unwrap_or_default() as u32).map(Json::from).collect::<Vec<_>>().into()
        }
        "$utf16" => {
            let units: Vec<u16> =
                content.items().iter().filter_map(|u| u.as_u64().map(|u| u as u16)).collect();
            String::from_utf16_lossy(&units).into()
        }
        "$array" => typed("array", "init", items(content)?),
        "$frag" => typed("xmlfragment", "init", items(content)?),
        "$map" => {
            let pairs = content.entries().iter().map(|(k, v)| Ok(vec![k.as_str().into(), given(v)?].into()));
            typed("map", "init", pairs.collect::<Played<Vec<Json>>>()?.into())
        }
        "$text" | "$xmltext" => {
            let delta = match content.as_str() {
                Some("") => Vec::new().into(),
                Some(text) => vec![Json::object([("insert", text.into())])].into(),
                None => content.clone(),
            };
            let mut text = typed(&tag[1..], "delta", delta);
            if let Some(attrs) = json.find("attrs") {
                text.set("attrs", given(attrs)?);
            }
            text
        }
        "$el" => {
            let mut element = typed("xmlelement", "name", content.clone());
            element.set("attrs", given(json.get("attrs"))?);
            element.set("init", items(json.get("children"))?);
            element
        }
        "$hook" => typed("xmlhook", "name", content.clone()),
        "$doc" => {
            let mut doc = Json::tagged("doc", []);
            for (key, value) in content.entries() {
                doc.set(key, value.clone());
            }
            doc
        }
        _ => return Err(Stop::Unsupported(format!("value {tag}"))),
    })
}

/// A golden value as a Rust string can hold it: a lone surrogate is U+FFFD.
pub(crate) fn without_surrogates(json: &Json) -> Json {
    match json {
        Json::Array(items) => items.iter().map(without_surrogates).collect::<Vec<_>>().into(),
        Json::Object(_) if json.find("$utf16").is_some() => given(json).unwrap_or_default(),
        Json::Object(entries) => Json::Object(
            entries.iter().map(|(key, value)| (key.clone(), without_surrogates(value))).collect(),
        ),
        other => other.clone(),
    }
}

/// A value of a reply in the notation of the cases.
pub(crate) fn notation(json: &Json) -> Json {
    match json {
        Json::Array(items) => items.iter().map(notation).collect::<Vec<_>>().into(),
        Json::Object(entries) => match json.get("$").as_str() {
            Some("undefined") => Json::object([("$undefined", true.into())]),
            Some("bytes") => Json::object([("$bytes", json.get("hex").clone())]),
            Some("bigint") => Json::object([("$bigint", json.get("v").clone())]),
            Some("f64") => Json::object([("$float", json.get("v").clone())]),
            Some("doc") => Json::object([("$doc", json.get("guid").clone())]),
            _ => Json::Object(entries.iter().map(|(key, value)| (key.clone(), notation(value))).collect()),
        },
        other => other.clone(),
    }
}

/// A state vector (hex) as an object.
pub(crate) fn state_vector(sv: &Json) -> Played<Json> {
    let bytes = unhex(sv.as_str().unwrap_or_default()).map_err(Stop::Failed)?;
    let mut out = Json::Object(Vec::new());
    for (client, clock) in wire::state_vector(&bytes).map_err(Stop::Failed)? {
        out.set(&client.to_string(), Json::Number(clock as f64));
    }
    Ok(out)
}

/// The SHA-256 of bytes, in hex.
pub(crate) fn sha(bytes: &[u8]) -> Json {
    hex(&Sha256::digest(bytes)).into()
}

/// The map key of an item: written, or that of the item it was inserted beside.
pub(crate) fn key_of<'s>(structs: &'s [Struct], s: &'s Struct) -> Option<&'s str> {
    let mut at = s;
    for _ in 0..structs.len() {
        if at.key.is_some() || at.parent.is_some() {
            return at.key.as_deref();
        }
        let beside = at.origin.or(at.right_origin)?;
        at =
            structs.iter().find(|o| o.id.0 == beside.0 && o.id.1 <= beside.1 && beside.1 < o.id.1 + o.len)?;
    }
    None
}

/// A block in the notation of the cases, without key and deletion.
pub(crate) fn block(s: &Struct) -> Played<Json> {
    let id = |(client, clock): (u64, u64)| -> Json {
        vec![Json::Number(client as f64), Json::Number(clock as f64)].into()
    };
    let mut json = Json::object([("id", id(s.id)), ("len", Json::Number(s.len as f64))]);
    match s.content {
        Content::Gc => json.set("gc", true.into()),
        Content::Skip => json.set("skip", true.into()),
        _ => {
            json.set("origin", s.origin.map_or(Json::Null, id));
            json.set("rightOrigin", s.right_origin.map_or(Json::Null, id));
            json.set("content", content(&s.content, s.len)?);
        }
    }
    Ok(json)
}

fn content(content: &Content, len: u64) -> Played<Json> {
    let parsed = |text: &String| match text.as_str() {
        "undefined" => Ok(Json::object([("$undefined", true.into())])),
        text => Json::parse(text).map_err(Stop::Failed),
    };
    let (key, value) = match content {
        Content::Deleted => ("deleted", Json::Number(len as f64)),
        Content::Json(values) => ("json", values.iter().map(parsed).collect::<Played<Vec<_>>>()?.into()),
        Content::Binary(bytes) => ("binary", hex(bytes).into()),
        Content::String(text) => ("string", text.as_str().into()),
        Content::Embed(text) => ("embed", parsed(text)?),
        Content::Format(key, value) => {
            ("format", Json::object([("key", key.as_str().into()), ("value", parsed(value)?)]))
        }
        Content::Type(kind, name) => {
            const CLASSES: [&str; 7] =
                ["YArray", "YMap", "YText", "YXmlElement", "YXmlFragment", "YXmlHook", "YXmlText"];
            let class = CLASSES.get(*kind as usize).copied().unwrap_or("?");
            let name =
                name.as_ref().filter(|_| *kind == 3).map(|name| format!(":{name}")).unwrap_or_default();
            ("type", format!("{class}{name}").into())
        }
        Content::Any(values) => {
            let values: Result<Vec<_>, _> = values.iter().map(|bytes| wire::any_json(bytes)).collect();
            ("any", values.map_err(Stop::Failed)?.into())
        }
        Content::Doc(guid, _) => ("doc", guid.as_str().into()),
        Content::Gc | Content::Skip => ("none", Json::Null),
    };
    Ok(Json::object([(key, value)]))
}
