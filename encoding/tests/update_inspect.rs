//! Looking into updates and obfuscating them: compared with what real Yjs made (interop/inspect-vectors.mjs).

mod common;

use common::{golden, hex, text, unhex};
use serde_json::Value as Json;
use yatta_encoding::ID;
use yatta_encoding::block::{Block, Content, Parent};
use yatta_encoding::update::{
    DecodedUpdate, ObfuscateOptions, UpdateMeta, convert_v1_to_v2, decode_update_v1, decode_update_v2,
    obfuscate_update_v1, obfuscate_update_v2, parse_update_meta_v1, parse_update_meta_v2,
};

/// Updates in both formats, and what Yjs makes of them.
fn cases() -> Vec<Json> {
    let file = golden("vectors/update-inspect.json");
    let cases = file["cases"].as_array().expect("cases").clone();
    assert!(cases.len() >= 150);
    cases
}

fn pairs(meta: &UpdateMeta) -> Json {
    let list = |clocks: &indexmap::IndexMap<yatta_encoding::ClientID, u32>| -> Json {
        clocks.iter().map(|(client, clock)| Json::from(vec![client.get(), u64::from(*clock)])).collect()
    };
    serde_json::json!({ "from": list(&meta.from), "to": list(&meta.to) })
}

#[test]
fn obfuscated_as_yjs_does() {
    let off = ObfuscateOptions { formatting: false, subdocs: false, yxml: false };
    for case in cases() {
        let name = text(&case, "name");
        let (v1, v2) = (unhex(text(&case, "v1")), unhex(text(&case, "v2")));
        let all = ObfuscateOptions::default();
        assert_eq!(hex(&obfuscate_update_v1(&v1, all).unwrap()), text(&case, "obfuscatedV1"), "{name}");
        assert_eq!(hex(&obfuscate_update_v2(&v2, all).unwrap()), text(&case, "obfuscatedV2"), "{name}");
        assert_eq!(hex(&obfuscate_update_v1(&v1, off).unwrap()), text(&case, "keptV1"), "{name}");
        assert_eq!(hex(&obfuscate_update_v2(&v2, off).unwrap()), text(&case, "keptV2"), "{name}");
    }
}

#[test]
fn clocks_as_yjs_tells_them() {
    for case in cases() {
        let name = text(&case, "name");
        let (v1, v2) = (unhex(text(&case, "v1")), unhex(text(&case, "v2")));
        assert_eq!(pairs(&parse_update_meta_v1(&v1).unwrap()), case["meta"], "{name}");
        assert_eq!(pairs(&parse_update_meta_v2(&v2).unwrap()), case["metaV2"], "{name}");
    }
}

/// A block in one line, with the names of Yjs.
fn line(block: &Block<'_>) -> String {
    let id = |id: Option<ID>| id.map_or("-".to_owned(), |id| format!("{}:{}", id.client.get(), id.clock));
    let head = |kind: &str| format!("{}+{} {kind}", id(Some(block.id())), block.len());
    let item = match block {
        Block::Item(item) => item,
        Block::Gc { .. } => return head("GC"),
        Block::Skip { .. } => return head("Skip"),
    };
    let content = match item.content {
        Content::Deleted(_) => "Deleted",
        Content::Json(_) => "JSON",
        Content::Binary(_) => "Binary",
        Content::String(_) => "String",
        Content::Embed(_) => "Embed",
        Content::Format(..) => "Format",
        Content::Type(_) => "Type",
        Content::Any(_) => "Any",
        Content::Doc { .. } => "Doc",
    };
    let parent = match &item.parent {
        Parent::Inherit => "-".to_owned(),
        Parent::Root(name) => format!("root {name}"),
        Parent::Branch(parent) => id(Some(*parent)),
    };
    let sub = item.parent_sub.as_deref().unwrap_or("null");
    let (origin, right_origin) = (id(item.origin), id(item.right_origin));
    format!("{} Content{content} {origin} {right_origin} {parent} {sub}", head("Item"))
}

/// As `decodeUpdate` of Yjs gives it: each block with its ids, and the deletions.
fn decoded(update: &DecodedUpdate<'_>) -> Json {
    let structs: Vec<String> = update.blocks.iter().map(line).collect();
    let mut ds: Vec<(u64, Vec<(u32, u32)>)> = Vec::new();
    for range in &update.delete_set {
        let client = range.client.get();
        let pair = (range.clock, range.len);
        match ds.iter_mut().find(|of_client| of_client.0 == client) {
            Some(of_client) => of_client.1.push(pair),
            None => ds.push((client, vec![pair])),
        }
    }
    serde_json::json!({ "structs": structs, "ds": ds })
}

#[test]
fn decoded_as_yjs_does() {
    for case in cases() {
        let name = text(&case, "name");
        let (v1, v2) = (unhex(text(&case, "v1")), unhex(text(&case, "v2")));
        assert_eq!(decoded(&decode_update_v1(&v1).unwrap()), case["decoded"], "{name}");
        assert_eq!(decoded(&decode_update_v2(&v2).unwrap()), case["decodedV2"], "{name}");
    }
}

#[test]
fn both_formats_decode_to_the_same_blocks() {
    for case in cases() {
        let name = text(&case, "name");
        let v1 = unhex(text(&case, "v1"));
        let v2 = convert_v1_to_v2(&v1).unwrap();
        let (one, two) = (decode_update_v1(&v1).unwrap(), decode_update_v2(&v2).unwrap());
        // What the conversion forgets is not part of a block's place or content.
        let brief = |update: &DecodedUpdate<'_>| update.to_string().replace(" of a key", "");
        assert_eq!(brief(&one), brief(&two), "{name}");
        assert_eq!(one.blocks.len(), one.to_string().lines().filter(|l| !l.starts_with("deleted ")).count());
        let meta = parse_update_meta_v1(&v1).unwrap();
        for block in &one.blocks {
            assert!(meta.from[&block.id().client] <= block.id().clock, "{name}");
        }
    }
}

#[test]
fn a_log_says_where_things_go() {
    // "abc" in the root "t", its middle deleted; "k" of the root map "m"; a format; a gap.
    let update = unhex(
        "02 03 02 00 04 01 01 74 03 61 62 63 0a 05 c6 02 02 02 01 04 62 6f 6c 64 04 74 72 75 65 \
                        01 01 00 28 01 01 6d 01 6b 01 7d 07 01 02 01 01 01"
            .replace(' ', "")
            .as_str(),
    );
    let log = decode_update_v1(&update).unwrap().to_string();
    let lines = [
        "2:0..3 text \"abc\" in root \"t\"",
        "2:3..8 missing",
        "2:8..9 format \"bold\"=true after 2:2 before 2:1",
        "1:0..1 values [7] in root \"m\" key \"k\"",
        "deleted 2: 1..2",
        "",
    ];
    assert_eq!(log, lines.join("\n"));
}

#[test]
fn bad_bytes_are_errors() {
    let whole = unhex(text(&cases()[1], "v1"));
    let all = ObfuscateOptions::default();
    for len in 0..whole.len() {
        let cut = &whole[..len];
        assert!(decode_update_v1(cut).is_err(), "{len}");
        assert!(obfuscate_update_v1(cut, all).is_err(), "{len}");
    }
    let whole = unhex(text(&cases()[1], "v2"));
    for len in 0..whole.len() {
        assert!(decode_update_v2(&whole[..len]).is_err(), "{len}");
        assert!(obfuscate_update_v2(&whole[..len], all).is_err(), "{len}");
        assert!(parse_update_meta_v2(&whole[..len]).is_err() || len > 2, "{len}");
    }
}
