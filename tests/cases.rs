//! The shared cases: public bug reports as steps, with golden answers from real Yjs (testdata/cases/README.md).
//!
//! Every file `*.json` in testdata/cases runs, and those in the folder `YATTA_CASES_DIR`. What cannot run yet is
//! listed here and must really not run, so the lists can only shrink.

mod common;

use common::json::Json;
use common::notation::without_surrogates;
use common::on_yatta::service::Service;
use common::steps::{Player, Stop};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What stops cases: operations, and kinds of types, that the engine or the player cannot do.
const UNSUPPORTED: &[&str] = &[];

/// Cases that fail for a fault that is known and must be mended.
const FAULTS: &[(&str, &str)] = &[];

/// Why a write within an observer changes nothing.
const REFUSED: &str = "a write within an observer is refused with an error, and blocks nothing";

/// Answers that differ from Yjs on purpose: case, name of the answer, our answer (JSON), reason.
const DIFFERENT: &[(&str, &str, &str, &str)] = &[
    (
        "aw-010",
        "a",
        r#"{"states":{"1":{},"7":1},"clocks":{"1":0,"7":1},"change":[{"added":[7],"updated":[],"removed":[]}],"update":[{"added":[7],"updated":[],"removed":[]}]}"#,
        "a broken update is refused whole",
    ),
    ("api-003", "inside2", r#""a""#, REFUSED),
    ("api-003", "ev", r#"[{"path":[],"delta":[{"insert":"a"}]}]"#, REFUSED),
    ("api-003", "log", r#"[{"update":"0101010004010174016100","local":true}]"#, REFUSED),
    ("api-003", "A.roots", r#"{"text:t":{"string":"a","delta":[{"insert":"a"}]}}"#, REFUSED),
    ("api-003", "A.sv", r#"{"1":1}"#, REFUSED),
    ("api-003", "A.updateV1", r#""0101010004010174016100""#, REFUSED),
    ("api-003", "A.updateV2", r#""00000101000001040502746141000101000001010000""#, REFUSED),
    (
        "mal-014",
        "structs",
        r#"{"5":[{"id":[5,0],"len":1,"origin":null,"rightOrigin":null,"content":{"string":"a"}}]}"#,
        "a block without ids is read and dropped: it says nothing, and would be a second block of the same id",
    ),
    (
        "mal-011",
        "client2pow53",
        "\"throws\"",
        "2^53 is no safe integer: another peer could read it as 2^53 + 1",
    ),
    ("mal-011", "s", "\"\"", "the text was to come from client 2^53"),
    ("mal-011", "clockMax", "\"throws\"", "clocks have 32 bits, as in yrs"),
    (
        "mal-013",
        "u",
        "\"010205002801016d0b636f6e7374727563746f72017d012801016d016b017601095f5f70726f746f5f5f7d0700\"",
        "`__proto__` is a key like any other and is kept",
    ),
];

/// Cases whose steps are sentences, and the test that stands for each: its file and name.
const SENTENCES: &[(&str, &str)] = &[
    ("perf-007", "tests/reports.rs: perf_007_tombstones_cost_a_bounded_multiple"),
    ("perf-008", "tests/reports.rs: perf_008_replaced_containers_are_freed"),
    ("perf-009", "server/tests/reports.rs: perf_009_a_broadcast_is_one_buffer"),
    ("perf-010", "tests/reports.rs: perf_010_merging_is_about_linear"),
    ("api-001", "tests/reports.rs: api_001_a_root_within_a_transaction_does_not_block"),
    ("api-002", "tests/reports.rs: api_002_an_observer_writes_to_another_document"),
    ("api-008", "tests/reports.rs: api_008_reading_while_iterating_does_not_block"),
    ("api-009", "tests/reports.rs: api_009_merged_blocks_leave_no_references"),
    ("api-010", "tests/reports.rs: api_010_ids_are_random"),
    ("api-011", "tests/subdocs.rs: printing_does_not_recurse"),
    ("srv-002", "server/tests/sync.rs: two_hundred_first_joins_load_once"),
    ("srv-004", "server/tests/sync.rs: a_failed_write_sends_all_away_and_nothing_is_acknowledged"),
    ("srv-005", "server/tests/reports.rs: srv_005_edits_right_after_loading_are_stored"),
    ("srv-007", "tools/tests/serve/crashes.rs: it_drains_when_it_is_told_to_end"),
    ("srv-008", "server/tests/reports.rs: srv_008_loading_writes_nothing"),
    ("srv-009", "server/tests/reports.rs: srv_009_a_large_update_is_stored"),
    ("srv-011", "server/tests/sync.rs: churn"),
    ("srv-012", "server/tests/sync.rs: half_open_peers_are_given_up"),
    ("srv-013", "server/tests/sync.rs: a_slow_peer_catches_up_by_a_diff"),
    ("srv-014", "server/tests/reports.rs: srv_014_names_of_rooms_are_names"),
    ("srv-017", "server/tests/reports.rs: srv_017_versions_outlive_a_restart"),
    ("sync-007", "server/tests/clients.rs: tokens_and_readers"),
    ("sync-008", "server/tests/reports.rs: sync_008_messages_of_other_types"),
    ("sync-009", "server/tests/reports.rs: sync_009_an_update_comes_once"),
    ("aw-011", "server/tests/reports.rs: aw_011_presence_stays_in_its_room"),
    ("aw-013", "server/tests/sync.rs: limits"),
    ("weak-002", "tests/reports.rs: weak_002_a_link_outlives_its_ends"),
    ("weak-003", "tests/reports.rs: weak_003_open_ends_grow"),
    ("weak-004", "tests/reports.rs: weak_004_a_quote_opens_the_formats_at_its_start"),
    ("mal-015", "server/tests/http.rs: pages_of_other_origins_are_refused"),
    ("mal-016", "server/tests/sync.rs: limits"),
    ("sub-006", "tests/subdocs.rs: a_parent_frees_its_sub_documents"),
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
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/cases"))
        .iter()
        .flat_map(|path| load(path))
        .collect()
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
        for key in ["roots", "sv", "updateV1", "updateV2", "pendingMissing", "pendingDs"] {
            let name = format!("{doc}.{key}");
            let ours = DIFFERENT.iter().find(|(case, answer, ..)| *case == id && *answer == name);
            let ours = ours.map(|(_, _, ours, _)| Json::parse(ours).expect("JSON in the list"));
            if let Some(wanted) = ours.as_ref().or(wanted.find(key))
                && found.get(key) != wanted
            {
                wrong.push(format!("{name}: {}\n   wanted {wanted}", found.get(key)));
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
            Ok(()) if FAULTS.iter().any(|(known, _)| *known == id(case)) => {
                failed.push(format!("{} is listed as a fault, but passes", id(case)));
            }
            Ok(()) => passed += 1,
            Err(Stop::Unsupported(op)) => unsupported.entry(op).or_default().push(id(case).to_owned()),
            Err(Stop::Failed(what) | Stop::Panicked(what))
                if FAULTS.iter().any(|(known, _)| *known == id(case)) =>
            {
                eprintln!("{} fails, as is known: {what}", id(case));
            }
            Err(Stop::Failed(what) | Stop::Panicked(what)) => {
                failed.push(format!(
                    "{} ({})\n  {what}",
                    id(case),
                    case.get("title").as_str().unwrap_or_default()
                ));
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
    for (id, test) in SENTENCES {
        let (file, name) = test.split_once(": ").expect("a file and the name of a test");
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        let source = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert!(source.contains(&format!("fn {name}()")), "{id}: {file} has a test {name}");
    }
}
