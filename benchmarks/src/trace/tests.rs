use super::{Edit, Grouping, Kind, Source, Trace};
use crate::compare;

fn trace(kind: Kind, json: &str) -> Trace {
    let source = Source { name: "made up", kind, sha256: "" };
    Trace { source, file: serde_json::from_str(json).expect("the test writes a trace") }
}

#[test]
fn counts_astral_characters_twice() {
    let trace = trace(
        Kind::Sequential,
        r#"{"startContent": "a😀b", "endContent": "a😀😀",
            "txns": [{"patches": [[2, 0, "😀"]]}, {"patches": [[3, 1, ""]]}]}"#,
    );
    let script = trace.script(Grouping::PerEdit).expect("it can be replayed");
    assert_eq!(script.edits(), [Edit::insert(3, "😀"), Edit::Remove { at: 5, len: 1 }]);
    compare::both(&script).expect("both engines agree");
}

/// Agents 0 and 1 both go on from `ab`, neither knowing of the other, then agent 1 merges.
const FORK: &str = r#"{"kind": "concurrent", "endContent": "0ab1!", "txns": [
    {"parents": [], "agent": 0, "patches": [[0, 0, "a"]]},
    {"parents": [0], "agent": 0, "patches": [[1, 0, "b"]]},
    {"parents": [1], "agent": 0, "patches": [[0, 0, "0"]]},
    {"parents": [1], "agent": 1, "patches": [[2, 0, "1"]]},
    {"parents": [2, 3], "agent": 1, "patches": [[4, 0, "!"]]}]}"#;

#[test]
fn a_fork_is_heard_as_its_parents_say() {
    let fork = trace(Kind::Concurrent, FORK);
    let script = fork.script(Grouping::PerEdit).expect("it can be replayed");
    let hears: Vec<_> = script.turns().map(|turn| (turn.peer, turn.hears.to_vec())).collect();
    assert_eq!(hears, [(0, vec![]), (0, vec![]), (0, vec![]), (1, vec![0, 1]), (1, vec![2])]);
    compare::both(&script).expect("both engines agree");
}

#[test]
fn stretches_end_where_another_branches_off() {
    let fork = trace(Kind::Concurrent, FORK);
    let script = fork.script(Grouping::Single).expect("it can be replayed");
    let turns: Vec<_> =
        script.turns().map(|turn| (turn.peer, turn.hears.to_vec(), turn.edits.len())).collect();
    assert_eq!(turns, [(0, vec![], 2), (0, vec![], 1), (1, vec![0], 1), (1, vec![1], 1)]);
    compare::both(&script).expect("both engines agree");
}

#[test]
fn refuses_an_agent_in_two_places() {
    let json = r#"{"txns": [{"parents": [], "patches": []}, {"parents": [], "patches": []}]}"#;
    let error = trace(Kind::Concurrent, json).script(Grouping::PerEdit).expect_err("two roots of one agent");
    assert_eq!(
        error.to_string(),
        "the trace made up cannot be replayed: transaction 1: its agent worked on two versions at once"
    );
}
