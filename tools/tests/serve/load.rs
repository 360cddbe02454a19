//! `yatta load` against `yatta serve`.

use std::net::SocketAddr;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::process::Process;

/// `yatta load` loses nothing against a server, and says at once who does not answer.
#[test]
fn load_counts_and_does_not_wait_for_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let process = Process::start(folder.path());
    let load = |address: SocketAddr| {
        Command::new(env!("CARGO_BIN_EXE_yatta"))
            .args(["load", "--json", "--duration", "1", "--connections", "3", "--url"])
            .arg(format!("ws://{address}"))
            .output()
            .unwrap()
    };
    let done = load(process.address);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let report: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(report["lost"], 0, "{report}");
    assert!(report["delivered"].as_u64() > Some(0), "{report}");
    let address = process.address;
    drop(process);
    let begun = Instant::now();
    let refused = load(address);
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && said.contains(&address.to_string()), "{said}");
    assert!(begun.elapsed() < Duration::from_secs(20), "it waits for connections that ended");
}

/// With a token, readers that come and go, presence, and figures of the server's process.
#[test]
fn load_with_a_token_and_churn() {
    let folder = tempfile::tempdir().unwrap();
    let tokens = folder.path().join("tokens.toml");
    let token = "a token+with/odd=letters";
    std::fs::write(&tokens, format!("[[token]]\ntoken = '{token}'\nrooms = ['*']\naccess = 'read-write'\n"))
        .unwrap();
    let process = Process::start_with(folder.path(), &["--tokens", tokens.to_str().unwrap()]);
    let pid = process.pid().to_string();
    let load = |dialect: &str, token: &str| {
        Command::new(env!("CARGO_BIN_EXE_yatta"))
            .args(["load", "--json", "--duration", "2", "--connections", "5", "--writers", "2"])
            .args([
                "--churn",
                "300",
                "--presence",
                "200",
                "--pid",
                &pid,
                "--dialect",
                dialect,
                "--token",
                token,
            ])
            .args(["--url", &format!("ws://{}", process.address)])
            .output()
            .unwrap()
    };
    for dialect in ["ywebsocket", "hocuspocus"] {
        let done = load(dialect, token);
        assert!(done.status.success(), "{dialect}: {}", String::from_utf8_lossy(&done.stderr));
        let report: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
        assert_eq!((&report["lost"], &report["sent"]), (&0.into(), &40.into()), "{report}");
        assert!(report["rejoined"].as_u64() >= Some(9), "{report}");
        assert!(report["cpu_ms"].as_u64() > Some(0), "{report}");
        assert!(report["memory_per_connection"].as_f64().is_some(), "{report}");
    }
    assert!(!load("ywebsocket", "wrong").status.success());
}
