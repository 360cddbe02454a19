//! `yatta adapter` as a process: a recorded trace of Yjs's own tests, one request a line, one reply a line, in order.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value as Json, json};

struct Adapter {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Adapter {
    fn start() -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_yatta"))
            .arg("adapter")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the command starts");
        let input = child.stdin.take().expect("stdin is piped");
        let output = BufReader::new(child.stdout.take().expect("stdout is piped"));
        Self { child, input, output }
    }

    /// Sends a request and waits for its reply: none may be held back until the next request.
    fn call(&mut self, request: &Json) -> Json {
        writeln!(self.input, "{request}").expect("the adapter reads");
        let mut reply = String::new();
        self.output.read_line(&mut reply).expect("the adapter writes");
        serde_json::from_str(&reply)
            .unwrap_or_else(|error| panic!("{error} in the reply to {request}: {reply}"))
    }

    /// The end of the input ends the process, and nothing more is written.
    fn end(self) {
        let Self { mut child, input, mut output } = self;
        drop(input);
        let mut rest = String::new();
        output.read_line(&mut rest).expect("the adapter writes");
        assert_eq!(rest, "", "nothing is written unasked");
        assert!(child.wait().expect("the process ends").success(), "the end of the input is no error");
    }
}

#[test]
fn a_recorded_trace_is_answered_like_yjs() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/adapter/deterministic.jsonl");
    let trace = std::fs::read_to_string(path).expect("the trace");
    let mut adapter = Adapter::start();
    let mut count = 0;
    for line in trace.lines() {
        let pair: Json = serde_json::from_str(line).expect("JSON");
        let (mut request, expected) = (pair["q"].clone(), &pair["a"]);
        request["id"] = json!(count);
        let reply = adapter.call(&request);
        assert_eq!(reply["id"], json!(count), "{request}");
        for key in ["ok", "r", "err", "kind"] {
            assert_eq!(reply[key], expected[key], "{key} of {request}");
        }
        let events = |reply: &Json| reply["ev"].as_array().cloned().unwrap_or_default();
        assert_eq!(events(&reply), events(expected), "events of {request}");
        count += 1;
    }
    assert_eq!(count, 430, "the whole trace");
    adapter.end();
}

#[test]
fn undo_positions_and_snapshots_are_served() {
    let mut adapter = Adapter::start();
    let mut ask = |request: Json| {
        let reply = adapter.call(&request);
        assert_eq!(reply["ok"], json!(true), "{request} gave {reply}");
        reply
    };
    assert_eq!(ask(json!({"op": "hello"}))["r"]["protocol"], json!(1));
    ask(json!({"op": "new", "doc": "d", "clientID": 1, "gc": false, "guid": "g"}));
    ask(json!({"op": "root", "doc": "d", "name": "t", "kind": "text"}));
    ask(json!({"op": "observe", "doc": "d", "h": "@t", "as": "o", "deep": false}));
    ask(json!({"op": "undo_new", "doc": "d", "um": "u", "scope": ["@t"], "captureTimeout": 0}));
    let told = ask(json!({"op": "text_insert", "doc": "d", "h": "@t", "index": 0, "text": "abc"}));
    let event = told["ev"].as_array().and_then(|all| all.iter().find(|event| event["t"] == "event")).cloned();
    assert_eq!(event.map(|event| event["event"]["delta"].clone()), Some(json!([{"insert": "abc"}])));
    let snapshot = ask(json!({"op": "snapshot", "doc": "d"}))["r"].clone();
    let position = ask(json!({"op": "relpos_new", "doc": "d", "h": "@t", "index": 2, "assoc": 0}));
    ask(json!({"op": "text_insert", "doc": "d", "h": "@t", "index": 0, "text": "xy"}));
    let at = ask(json!({"op": "relpos_abs", "doc": "d", "bytes": position["r"]["hex"]}));
    assert_eq!(at["r"]["index"], json!(4));
    assert_eq!(ask(json!({"op": "undo", "doc": "d", "um": "u"}))["r"], json!(true));
    assert_eq!(ask(json!({"op": "toString", "doc": "d", "h": "@t"}))["r"], json!("abc"));
    assert_eq!(ask(json!({"op": "redo", "doc": "d", "um": "u"}))["r"], json!(true));
    assert_eq!(ask(json!({"op": "toString", "doc": "d", "h": "@t"}))["r"], json!("xyabc"));
    let restored = ask(json!({"op": "snapshot_restore", "doc": "d", "snapshot": snapshot}))["r"].clone();
    ask(json!({"op": "new", "doc": "e", "clientID": 2, "gc": true, "guid": "g"}));
    ask(json!({"op": "root", "doc": "e", "name": "t", "kind": "text"}));
    ask(json!({"op": "apply", "doc": "e", "update": restored, "enc": 1, "origin": "remote"}));
    assert_eq!(ask(json!({"op": "toString", "doc": "e", "h": "@t"}))["r"], json!("abc"));
    for op in ["undo_stop", "undo_clear"] {
        ask(json!({"op": op, "doc": "d", "um": "u"}));
    }
    assert_eq!(ask(json!({"op": "undo", "doc": "d", "um": "u"}))["r"], json!(false));
    adapter.end();
}
