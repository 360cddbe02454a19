//! The command `yatta` as a process: real bytes of Yjs in, text and bytes out, exit codes, pipes.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value as Json;

fn vectors() -> Vec<Json> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/vectors/yjs-vectors.json");
    let text = std::fs::read_to_string(path).expect("the golden vectors");
    let file: Json = serde_json::from_str(&text).expect("JSON");
    file["vectors"].as_array().expect("a list").clone()
}

fn vector(name: &str) -> Json {
    let found = vectors().into_iter().find(|vector| vector["name"] == name);
    found.unwrap_or_else(|| panic!("no vector {name}"))
}

fn text(vector: &Json, key: &str) -> String {
    vector[key].as_str().unwrap_or_else(|| panic!("no {key} in {vector}")).to_owned()
}

/// A file of its own for a test, removed at the end.
struct File(PathBuf);

impl File {
    fn new(name: &str, bytes: &[u8]) -> Self {
        let path = std::env::temp_dir().join(format!("yatta-command-{}-{name}", std::process::id()));
        std::fs::write(&path, bytes).expect("a file in the folder for temporary files");
        Self(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().expect("UTF-8")
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len() / 2).map(|n| u8::from_str_radix(&text[2 * n..2 * n + 2], 16).expect("hex")).collect()
}

fn start(args: &[&str]) -> Command {
    let mut command = Command::new(Path::new(env!("CARGO_BIN_EXE_yatta")));
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn run_with(args: &[&str], input: &[u8]) -> Output {
    let mut child = start(args).spawn().expect("the command starts");
    child.stdin.take().expect("piped").write_all(input).expect("the command reads");
    child.wait_with_output().expect("the command ends")
}

/// Runs, expects success and returns what was printed.
fn printed(args: &[&str]) -> String {
    let output = run_with(args, b"");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {stderr}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Runs, expects this exit code and returns what was said.
fn said(args: &[&str], code: i32) -> String {
    let output = run_with(args, b"");
    assert_eq!(output.status.code(), Some(code), "{args:?}");
    assert!(output.stdout.is_empty(), "{args:?} printed something");
    String::from_utf8(output.stderr).expect("UTF-8")
}

#[test]
fn every_kind_is_told_by_its_bytes() {
    let mut counts = std::collections::BTreeMap::new();
    for vector in vectors() {
        let kind = text(&vector, "kind");
        let (keys, expected): (&[&str], &[&str]) = match kind.as_str() {
            "update" => (&["v1", "v2"], &["update (V1)", "update (V2)"]),
            "snapshot" => (&["v1", "v2"], &["snapshot (V1)", "snapshot (V2)"]),
            "stateVector" => (&["hex"], &["state vector"]),
            "relativePosition" => (&["hex"], &["sticky index"]),
            "awareness" => (&["hex"], &["awareness"]),
            "sync" => (&["hex"], &["sync message"]),
            "ws" => (&["hex"], &["message"]),
            _ => continue,
        };
        for (key, expected) in keys.iter().zip(expected) {
            let hex = text(&vector, key);
            // The empty snapshot and the empty update are the same bytes.
            if hex == "0000" && kind == "snapshot" {
                continue;
            }
            let shown = printed(&["inspect", "--json", "--hex", &hex]);
            let shown: Json = serde_json::from_str(&shown).expect("JSON");
            assert_eq!(shown["kind"], *expected, "{}: {hex}", vector["name"]);
            assert_eq!(shown["bytes"], hex.len() / 2);
            *counts.entry(kind.clone()).or_insert(0) += 1;
        }
    }
    assert!(counts.len() == 7 && counts["update"] >= 100, "{counts:?}");
}

#[test]
fn inspect_shows_blocks_deletions_and_sizes() {
    let hex = text(&vector("text_delete_gc"), "v1");
    let shown = printed(&["inspect", "--hex", &hex]);
    assert!(
        shown.starts_with(&format!("update (V1), {} bytes\n\nclient  clocks  ", hex.len() / 2)),
        "{shown}"
    );
    assert!(shown.contains("\ndeleted 1: "), "{shown}");
    let sizes = printed(&["inspect", "--sizes", "--hex", &hex]);
    assert!(shown.starts_with(&sizes) && !sizes.contains("deleted 1:"), "{sizes}");

    let shown = printed(&["inspect", "--json", "--hex", &text(&vector("map_set"), "v2")]);
    let shown: Json = serde_json::from_str(&shown).expect("JSON");
    let blocks = shown["blocks"].as_array().expect("blocks");
    assert!(
        blocks.iter().any(|block| block["key"].is_string() && block["parent"]["root"].is_string()),
        "{shown}"
    );
    let bytes: u64 = shown["contents"]
        .as_object()
        .expect("sizes")
        .values()
        .map(|of| of["bytesV1"].as_u64().unwrap())
        .sum();
    assert!(bytes > 0 && shown["deleted"].is_object(), "{shown}");
}

#[test]
fn files_standard_input_hexadecimal_and_base64_say_the_same() {
    let hex = text(&vector("text_insert"), "v1");
    let file = File::new("insert", &unhex(&hex));
    let expected = printed(&["inspect", file.path()]);
    assert!(expected.contains("1:0..3 text \"abc\" in root \"text\""), "{expected}");
    let base64 = printed(&["convert", file.path(), "--to", "v1", "--print", "base64"]);
    assert_eq!(printed(&["inspect", "--base64", base64.trim()]), expected);
    assert_eq!(printed(&["inspect", "--hex", &hex.to_uppercase()]), expected);
    let stdin = run_with(&["inspect"], &unhex(&hex));
    assert_eq!(String::from_utf8(stdin.stdout).unwrap(), expected);
    let stdin = run_with(&["inspect", "--hex", "-"], format!("{}\n{}\n", &hex[..6], &hex[6..]).as_bytes());
    assert_eq!(String::from_utf8(stdin.stdout).unwrap(), expected);
    // Where there is one input, none means standard input.
    for command in ["inspect", "text", "json", "convert", "state-vector", "obfuscate"] {
        let more: &[&str] = if command == "convert" { &["--to", "v2"] } else { &[] };
        let from_stdin = run_with(&[&[command], more].concat(), &unhex(&hex));
        let from_file = run_with(&[&[command, file.path()], more].concat(), b"");
        assert_eq!(from_stdin.status.code(), Some(0), "{command}");
        assert!(!from_file.stdout.is_empty() && from_stdin.stdout == from_file.stdout, "{command}");
    }
}

#[test]
fn replay_does_not_go_to_the_network_for_a_folder_that_it_is_given() {
    let words = said(&["replay", "--traces", "/nosuch"], 1);
    assert!(words.contains("/nosuch/automerge-paper.json.gz") && words.contains("fetch-traces"), "{words}");
    assert!(!words.contains("fetching"), "{words}");
}

#[test]
fn convert_goes_both_ways() {
    for vector in vectors().iter().filter(|vector| vector["conv_v1_to_v2_equal"] == true) {
        let (v1, v2) = (text(vector, "v1"), text(vector, "v2"));
        assert_eq!(
            printed(&["convert", "--print", "hex", "--v1", "--hex", &v1]).trim(),
            v2,
            "{}",
            vector["name"]
        );
    }
    let (v1, v2) = (text(&vector("text_insert"), "v1"), text(&vector("text_insert"), "v2"));
    assert_eq!(printed(&["convert", "--print", "hex", "--hex", &v2]).trim(), v1);
}

#[test]
fn merge_diff_and_state_vector_as_yjs_does() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/vectors/update-tools.json");
    let file: Json = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    for case in file["cases"].as_array().unwrap().iter().step_by(10) {
        let inputs: Vec<&str> =
            case["inputs"].as_array().unwrap().iter().map(|hex| hex.as_str().unwrap()).collect();
        if inputs.len() < 2 {
            continue;
        }
        let merge = ["merge", "--print", "hex", "--hex"];
        let merged = printed(&[&merge[..], &inputs[..]].concat());
        assert_eq!(merged.trim(), text(case, "merged"));
        let (state, merged) = (text(case, "state"), text(case, "merged"));
        let diff = printed(&["diff", "--print", "hex", "--hex", &merged, &state]);
        assert_eq!(diff.trim(), text(case, "diff"));
        let of_merged = printed(&["state-vector", "--print", "hex", "--hex", &merged]);
        assert_eq!(of_merged.trim(), text(case, "stateOfMerged"));
    }
}

#[test]
fn diff_against_a_document_and_mixed_formats() {
    let vector = vector("text_insert");
    let (v1, v2) = (text(&vector, "v1"), text(&vector, "v2"));
    assert_eq!(printed(&["diff", "--print", "hex", "--hex", &v1, &v2]).trim(), "0000");
    assert_eq!(printed(&["merge", "--print", "hex", "--hex", &v1, &v2]).trim(), v1);
    let merged = printed(&["merge", "--to", "v2", "--print", "hex", "--hex", &v1, &v2]);
    assert_eq!(merged.trim(), v2);
}

#[test]
fn obfuscated_documents_keep_their_shape() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/vectors/update-inspect.json");
    let file: Json = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let case =
        file["cases"].as_array().unwrap().iter().find(|case| case["name"] == "xml_tree").expect("xml_tree");
    let obfuscate = ["obfuscate", "--print", "hex", "--v1", "--hex"];
    assert_eq!(printed(&[&obfuscate[..], &[&text(case, "v1")]].concat()).trim(), text(case, "obfuscatedV1"));
    let keep = ["--keep-formatting", "--keep-subdocs", "--keep-xml"];
    let kept = printed(&[&obfuscate[..], &[&text(case, "v1")], &keep[..]].concat());
    assert_eq!(kept.trim(), text(case, "keptV1"));
}

#[test]
fn roots_are_printed_as_what_they_look_like() {
    let mut compared = 0;
    for vector in vectors().iter().filter(|vector| vector["kind"] == "update" && vector["base_v1"].is_null())
    {
        let hex = text(vector, "v1");
        let (Some(roots), Some(expected)) = (vector["roots"].as_object(), vector["expected"].as_object())
        else {
            continue;
        };
        for (name, kind) in roots.iter().filter(|(_, kind)| *kind == "text") {
            let Some(value) = expected[name]["json"].as_str().filter(|value| !value.is_empty()) else {
                continue;
            };
            // Lone halves of surrogate pairs have no UTF-8.
            if value.contains('\u{fffd}') {
                continue;
            }
            assert_eq!(
                printed(&["text", "--v1", "--hex", &hex, name]),
                format!("{value}\n"),
                "{kind} {vector}"
            );
            let json: Json = serde_json::from_str(&printed(&["json", "--v1", "--hex", &hex])).unwrap();
            assert_eq!(json[name], *value, "{vector}");
            compared += 1;
        }
    }
    assert!(compared >= 10, "{compared}");
    let map = text(&vector("map_set"), "v1");
    let whole = printed(&["json", "--hex", &map]);
    assert!(whole.starts_with("{\"") && whole.ends_with("}}\n"), "{whole}");
    let name = vector("map_set")["roots"].as_object().unwrap().keys().next().unwrap().clone();
    assert!(said(&["text", "--hex", &map, &name], 1).contains("no text"));
    assert!(
        said(&["text", "--hex", &map, "nowhere"], 1)
            .contains(&format!("no root `nowhere`; there are: {name}"))
    );
}

#[test]
fn bad_input_is_exit_code_1_and_names_file_and_place() {
    let cut = unhex(&text(&vector("text_insert"), "v1"));
    let file = File::new("cut", &cut[..cut.len() - 3]);
    for command in ["inspect", "convert", "state-vector", "obfuscate", "text", "json"] {
        let error = said(&[command, file.path(), "--v1"][..], 1);
        assert!(
            error.starts_with(&format!("yatta: {}: no update: at byte ", file.path())),
            "{command}: {error}"
        );
    }
    let error = said(&["inspect", file.path()], 1);
    assert!(error.contains("V1: at byte 12: ") && error.contains("; V2: "), "{error}");
    assert!(said(&["merge", file.path(), "/nowhere/at/all"], 1).contains("/nowhere/at/all: "));
    assert!(said(&["inspect", "--hex", "01zz"], 1).contains("`01zz`: at character 2: "));
    assert!(said(&["inspect", "--hex", "010"], 1).contains("half a byte"));
    assert!(said(&["inspect", "--base64", "AA=A"], 1).contains("not base64"));
    assert!(said(&["diff", "--hex", "0000", "00050100"], 1).contains("a sticky index; a state vector"));
}

#[test]
fn wrong_use_is_exit_code_2() {
    assert!(said(&["inspect", "--v1", "--v2", "x"], 2).contains("cannot be used with"));
    assert!(said(&["merge"], 2).contains("required"));
    assert!(said(&["merge", "-", "-"], 2).contains("once only"));
    assert!(said(&["nonsense"], 2).contains("unrecognized subcommand"));
}

#[test]
fn a_closed_pipe_is_no_error() {
    // Much more than a pipe holds.
    let list = format!("01 01 01 00 08 01 01 6c c0 9a 0c {} 00", "7d 01 ".repeat(200_000));
    let file = File::new("long", list.as_bytes());
    let mut child =
        start(&["inspect", "--hex", "-"]).stdin(std::fs::File::open(&file.0).unwrap()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
}

/// `script` gives the command a terminal.
#[cfg(target_os = "linux")]
#[test]
fn a_terminal_is_spared_bytes() {
    let command = format!("{} convert --hex 0000", env!("CARGO_BIN_EXE_yatta"));
    let Ok(output) =
        Command::new("script").args(["-qec", &command, "/dev/null"]).stdin(Stdio::null()).output()
    else {
        eprintln!("no command `script` here: not tested");
        return;
    };
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.code() == Some(2) && shown.contains("the result is binary"), "{shown}");
}
