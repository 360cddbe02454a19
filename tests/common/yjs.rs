//! Real Yjs, in a Node process that speaks the adapter's protocol (interop/yjs-peer.mjs).

use super::Host;
use super::json::Json;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A running Node process; it ends with this value.
pub(crate) struct Yjs {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Yjs {
    /// Starts Node. `None`, with a loud word, if Node or its packages are missing.
    ///
    /// # Panics
    /// Where `CI` is set and Node is missing: there the judge must not be absent. Also if Node does not answer.
    pub(crate) fn start() -> Option<Self> {
        Self::started(Self::try_start("yjs-peer.mjs", "yjs", "13.6.33"))
    }

    fn started(result: Result<Self, String>) -> Option<Self> {
        match result {
            Ok(yjs) => Some(yjs),
            Err(reason) => {
                let advice = "Yjs does NOT judge this run: run interop/setup.sh (it needs Node 20 and npm)";
                assert!(std::env::var_os("CI").is_none(), "{reason}. {advice}");
                eprintln!("\n!!!! {reason}\n!!!! {advice}\n");
                None
            }
        }
    }

    /// Starts clients on @y/y 14 (interop/y14-peer.mjs), under the same conditions.
    pub(crate) fn start_14() -> Option<Self> {
        Self::started(Self::try_start("y14-peer.mjs", "y14", "14.0.0-rc.7"))
    }

    fn try_start(script: &str, name: &str, version: &str) -> Result<Self, String> {
        let folder = folder();
        if !folder.join("node_modules/yjs").exists() {
            return Err(format!("{} has no node_modules", folder.display()));
        }
        let mut child = Command::new("node")
            .arg(folder.join(script))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("node cannot be started: {error}"))?;
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("stdout is piped"));
        let mut yjs = Self { child, input, output };
        let hello = yjs.call(&Json::object([("op", "hello".into())]));
        assert_eq!(hello.get("r").get("name").as_str(), Some(name), "node answered {hello}");
        assert_eq!(hello.get("r").get("version").as_str(), Some(version), "the pinned Yjs");
        Ok(yjs)
    }

    /// Sends many requests as one line and returns their replies.
    pub(crate) fn batch(&mut self, requests: Vec<Json>) -> Vec<Json> {
        let reply = self.call(&Json::object([("op", "batch".into()), ("reqs", requests.into())]));
        reply.get("r").items().to_vec()
    }
}

/// The Node project, also from a scratch workspace that names it in `YATTA_INTEROP_DIR`.
pub(crate) fn folder() -> PathBuf {
    std::env::var_os("YATTA_INTEROP_DIR")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("interop"), PathBuf::from)
}

impl Host for Yjs {
    fn call(&mut self, request: &Json) -> Json {
        let mut line = request.to_string();
        line.push('\n');
        let input = self.input.as_mut().expect("open until dropped");
        input.write_all(line.as_bytes()).and_then(|()| input.flush()).expect("node reads");
        let mut reply = String::new();
        self.output.read_line(&mut reply).expect("node writes");
        Json::parse(&reply)
            .unwrap_or_else(|error| panic!("{error} in the reply of node to {request}: {reply:?}"))
    }
}

impl Drop for Yjs {
    fn drop(&mut self) {
        // end of input is its order to leave
        self.input = None;
        if self.child.wait().is_err() {
            eprintln!("node did not end by itself");
        }
    }
}
