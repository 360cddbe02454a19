//! The recorded traces of Yjs's own random tests, replayed without Node: every reply must be what real Yjs answered.
//!
//! A trace holds lines `{"q": request, "a": reply}` (testdata/adapter, the large ones gzipped). Replies are compared
//! apart from the order of keys in values; the bytes of updates, states and state vectors are compared as they are.

mod common;

use common::json::Json;
use common::on_yatta::service::Service;
use flate2::read::GzDecoder;
use std::io::Read;
use std::path::Path;

fn read(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/adapter").join(file);
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut text = String::new();
    if file.ends_with(".gz") {
        GzDecoder::new(&bytes[..]).read_to_string(&mut text).expect("gzipped UTF-8");
    } else {
        text = String::from_utf8(bytes).expect("UTF-8");
    }
    text
}

/// Replays a trace through the line interface and returns how many replies were equal.
fn replay(file: &str) -> usize {
    let text = read(file);
    let pairs: Vec<Json> = text
        .lines()
        .map(|line| Json::parse(line).unwrap_or_else(|error| panic!("{file}: {error}")))
        .collect();
    let mut lines = pairs.iter().map(|pair| pair.get("q").to_string());
    let mut equal = 0;
    let result: Result<(), String> = Service::default().serve(&mut lines, &mut |reply| {
        let pair = &pairs[equal];
        let (request, expected) = (pair.get("q"), pair.get("a"));
        let same = ["ok", "r", "err", "kind"].iter().all(|key| reply.get(key) == expected.get(key))
            && reply.get("ev").items() == expected.get("ev").items();
        if !same {
            return Err(format!("{file}, line {}: {request}\n  Yjs: {expected}\nyatta: {reply}", equal + 1));
        }
        equal += 1;
        Ok(())
    });
    if let Err(difference) = result {
        panic!("{difference}");
    }
    assert_eq!(equal, pairs.len(), "{file}: a reply for every request");
    equal
}

#[test]
fn deterministic_tests_are_answered_like_yjs() {
    assert_eq!(replay("deterministic.jsonl"), 430);
}

#[test]
fn random_text_changes_are_answered_like_yjs() {
    assert_eq!(replay("testRepeatGenerateTextChanges300.jsonl.gz"), 3068);
}

#[test]
fn random_array_changes_are_answered_like_yjs() {
    assert_eq!(replay("testRepeatGeneratingYarrayTests300.jsonl.gz"), 3500);
}

/// Scripts of the network (tests/interop.rs) that once failed, and scripts that somebody thought of, with the replies of Yjs.
#[test]
fn scripts_are_answered_like_yjs() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/adapter");
    for file in std::fs::read_dir(folder).expect("the folder can be read") {
        let name = file.expect("the folder can be read").file_name().to_string_lossy().into_owned();
        if name.starts_with("network-") || name.starts_with("script-") {
            assert!(replay(&name) > 0, "{name} holds a script");
        }
    }
}

/// What version 2 of the protocol adds, with the replies of Yjs (interop/record.mjs): the time of undo managers, what they
/// may not delete, snapshots, and the blocks themselves.
#[test]
fn version_2_is_answered_like_yjs() {
    assert_eq!(replay("version-2.jsonl"), 142);
}

#[test]
fn bad_requests_are_answered_not_fatal() {
    let lines = ["{", "{\"id\":7}", "{\"op\":\"sv\",\"doc\":\"none\"}", "{\"op\":\"hello\",\"id\":\"x\"}"];
    let mut replies = Vec::new();
    let mut input = lines.iter().map(|line| (*line).to_owned());
    let served: Result<(), String> = Service::default().serve(&mut input, &mut |reply| {
        replies.push(reply);
        Ok(())
    });
    assert_eq!(served, Ok(()));
    let ok: Vec<_> = replies.iter().map(|reply| reply.get("ok").as_bool()).collect();
    assert_eq!(ok, [Some(false), Some(false), Some(false), Some(true)]);
    assert_eq!(replies[1].get("id").as_u64(), Some(7));
    assert_eq!(replies[3].get("id").as_str(), Some("x"));
}
