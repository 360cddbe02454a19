//! The shared cases: public bug reports as steps, with golden answers from real Yjs (testdata/cases/README.md).
//!
//! Every file `*.json` in testdata/cases runs, and those in the folder `YATTA_CASES_DIR`. What cannot run yet is
//! listed here and must really not run, so the lists can only shrink.

mod common;

use common::json::Json;
use common::on_yatta::service::Service;
use common::steps::{Player, Stop, without_surrogates};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What stops cases for now: operations, and kinds of types, that the engine or the player cannot do yet.
const UNSUPPORTED: &[&str] = &[
    "aw.new",
    "client",
    "list_insert: the kind of root x is not supported",
    "map_set: a small bigint, for which the API has no value, is not supported",
    "map_set: a value of kind doc here is not supported",
    "map_set: the kind of root r is not supported",
    "observe: observe is not supported",
    "observer that acts",
    "read pending",
    "rel.create",
    "snap.take",
    "sp.handle",
    "sp.step1",
    "text_delta: text_delta without sanitizing is not supported",
    "text_delta: the kind of root t is not supported",
    "text_insert: the kind of root t is not supported",
    "um.new",
];

/// Answers that differ from Yjs on purpose: case, name of the answer, our answer (JSON), reason.
const DIFFERENT: &[(&str, &str, &str, &str)] = &[
    ("mal-005", "r5", "\"ok\"", "an empty string column is read as one without strings"),
    ("mal-011", "client2pow53", "\"throws\"", "2^53 is no safe integer: another peer could read it as 2^53 + 1"),
    ("mal-011", "s", "\"\"", "the text was to come from client 2^53"),
    ("mal-011", "clockMax", "\"throws\"", "clocks have 32 bits, as in yrs"),
    (
        "mal-013",
        "u",
        "\"010205002801016d0b636f6e7374727563746f72017d012801016d016b017601095f5f70726f746f5f5f7d0700\"",
        "`__proto__` is a key like any other and is kept",
    ),
];

/// Cases whose steps are sentences, and the test that stands for each; an empty name is one that waits.
const SENTENCES: &[(&str, &str)] = &[
    ("perf-007", ""),
    ("perf-008", ""),
    ("perf-009", ""),
    ("perf-010", ""),
    ("api-001", ""),
    ("api-002", ""),
    ("api-008", ""),
    ("api-009", ""),
    ("api-010", ""),
    ("api-011", ""),
    ("srv-002", ""),
    ("srv-004", ""),
    ("srv-005", ""),
    ("srv-007", ""),
    ("srv-008", ""),
    ("srv-009", ""),
    ("srv-011", ""),
    ("srv-012", ""),
    ("srv-013", ""),
    ("srv-014", ""),
    ("srv-017", ""),
    ("sync-007", ""),
    ("sync-008", ""),
    ("sync-009", ""),
    ("aw-011", ""),
    ("aw-013", ""),
    ("weak-002", ""),
    ("weak-003", ""),
    ("weak-004", ""),
    ("mal-015", ""),
    ("mal-016", ""),
    ("sub-006", ""),
];

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<_> = entries
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    files.sort();
    files
}

fn load(path: &Path) -> Vec<Json> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let json = Json::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    json.items().to_vec()
}

fn own_cases() -> Vec<Json> {
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/cases")).iter().flat_map(|path| load(path)).collect()
}

fn id(case: &Json) -> &str {
    case.get("id").as_str().unwrap_or("a case without id")
}

fn is_sentences(case: &Json) -> bool {
    case.get("steps").items().first().is_some_and(|step| step.as_str().is_some())
}

/// Plays a case and compares all that its golden part names.
fn play(case: &Json) -> Result<(), Stop> {
    let mut service = Service::default();
    let mut player = Player::new(&mut service);
    for step in case.get("steps").items() {
        player.step(step)?;
    }
    let mut wrong = Vec::new();
    let id = id(case);
    let golden = without_surrogates(case.get("golden"));
    for (name, wanted) in golden.entries().iter().filter(|(name, _)| name != "final") {
        let ours = DIFFERENT.iter().find(|(case, answer, ..)| *case == id && answer == name);
        let ours = ours.map(|(_, _, ours, _)| Json::parse(ours).expect("JSON in the list"));
        let wanted = ours.as_ref().unwrap_or(wanted);
        match player.golden.get(name) {
            Some(found) if found == wanted => {}
            found => wrong.push(format!("{name}: {}\n   wanted {wanted}", found.unwrap_or(&Json::Null))),
        }
    }
    for (doc, wanted) in golden.get("final").entries() {
        let found = player.outcome(doc, case.get("roots").items())?;
        for key in ["roots", "sv", "updateV1", "updateV2"] {
            if wanted.find(key).is_some_and(|wanted| found.get(key) != wanted) {
                wrong.push(format!("{doc}.{key}: {}\n   wanted {}", found.get(key), wanted.get(key)));
            }
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(Stop::Failed(wrong.join("\n  "))) }
}

/// Plays cases and reports what failed; returns how often each unsupported operation stopped one.
fn play_all(cases: &[Json]) -> BTreeMap<String, Vec<String>> {
    let mut unsupported: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut failed = Vec::new();
    let mut passed = 0;
    for case in cases.iter().filter(|case| !is_sentences(case)) {
        match play(case) {
            Ok(()) => passed += 1,
            Err(Stop::Unsupported(op)) => unsupported.entry(op).or_default().push(id(case).to_owned()),
            Err(Stop::Failed(what)) => {
                failed.push(format!("{} ({})\n  {what}", id(case), case.get("title").as_str().unwrap_or_default()));
            }
        }
    }
    eprintln!("{passed} cases pass; {} cannot run:", unsupported.values().map(Vec::len).sum::<usize>());
    for (op, cases) in &unsupported {
        eprintln!("  {op}: {} ({})", cases.len(), cases.join(" "));
    }
    assert!(failed.is_empty(), "{} cases fail:\n{}", failed.len(), failed.join("\n"));
    unsupported
}

#[test]
fn cases_give_the_golden_answers() {
    let cases = own_cases();
    assert!(cases.len() >= 177, "all shared cases are here, not {}", cases.len());
    let unsupported = play_all(&cases);
    let found: BTreeSet<&str> = unsupported.keys().map(String::as_str).collect();
    let listed: BTreeSet<&str> = UNSUPPORTED.iter().copied().collect();
    assert_eq!(found, listed, "what cannot run is what is listed");
}

#[test]
fn further_cases_give_the_golden_answers() {
    let Some(folder) = std::env::var_os("YATTA_CASES_DIR") else { return };
    let cases: Vec<_> = files(Path::new(&folder)).iter().flat_map(|path| load(path)).collect();
    assert!(!cases.is_empty(), "YATTA_CASES_DIR={} holds cases", folder.display());
    play_all(&cases);
}

#[test]
fn cases_of_sentences_are_accounted_for() {
    let cases = own_cases();
    let found: BTreeSet<&str> = cases.iter().filter(|case| is_sentences(case)).map(id).collect();
    let listed: BTreeSet<&str> = SENTENCES.iter().map(|(id, _)| *id).collect();
    assert_eq!(found, listed);
    let waiting: Vec<_> = SENTENCES.iter().filter(|(_, test)| test.is_empty()).map(|(id, _)| *id).collect();
    eprintln!("{} cases of sentences wait for their test: {}", waiting.len(), waiting.join(" "));
}
