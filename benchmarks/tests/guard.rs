//! The guard as a command: it accepts, it passes, and it fails when a count rose.

#![expect(clippy::unwrap_used, reason = "a test stops where it fails")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn guard(folder: &Path, more: &[&str]) -> Output {
    // Workloads that need no trace. Without a trace there is a warning, and with CI set an error.
    Command::new(env!("CARGO_BIN_EXE_yatta-benchmarks"))
        .args(["guard", "--only", "array/get", "--only", "map/set"])
        .args(["--file", "guard.tsv", "--changelog", "CHANGELOG.md"])
        .args(more)
        .env_remove("CI")
        .current_dir(folder)
        .output()
        .unwrap()
}

fn said(ran: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr))
}

/// Rewrites one column of the line of `map/set`.
fn change(folder: &Path, column: usize, make: impl Fn(u64) -> u64) {
    let file = folder.join("guard.tsv");
    let text = std::fs::read_to_string(&file).unwrap();
    let lines = text.lines().map(|line| {
        let mut parts: Vec<String> = line.split('\t').map(str::to_owned).collect();
        if parts[0] == "map/set" {
            parts[column] = make(parts[column].parse().unwrap()).to_string();
        }
        parts.join("\t") + "\n"
    });
    std::fs::write(&file, lines.collect::<String>()).unwrap();
}

#[test]
fn fails_when_a_count_rose_and_not_before() {
    let folder = Folder(std::env::temp_dir().join(format!("yatta-guard-test-{}", std::process::id())));
    std::fs::create_dir_all(&folder.0).unwrap();
    std::fs::write(folder.0.join("CHANGELOG.md"), "# Changelog\n\n## Unreleased\n- a line\n").unwrap();
    let instructions = Command::new("valgrind").arg("--version").output().is_ok();

    let unknown = guard(&folder.0, &[]);
    assert!(!unknown.status.success() && said(&unknown).contains("no accepted counts"), "{}", said(&unknown));
    assert!(!guard(&folder.0, &["--accept", " "]).status.success(), "no reason, no new counts");
    let accepted = guard(&folder.0, &["--accept", "a test"]);
    assert!(accepted.status.success(), "{}", said(&accepted));
    let changelog = std::fs::read_to_string(folder.0.join("CHANGELOG.md")).unwrap();
    assert!(
        changelog.ends_with("- a line\n- Guarded counts accepted (2 workloads): a test.\n"),
        "{changelog}"
    );
    let same = guard(&folder.0, &[]);
    assert!(same.status.success(), "{}", said(&same));

    // What was accepted is made smaller than what is measured: the count has risen by 5 per cent.
    change(&folder.0, 2, |count| count * 20 / 21);
    for more in [&[][..], &["--no-valgrind"]] {
        let risen = guard(&folder.0, more);
        assert!(!risen.status.success(), "{}", said(&risen));
        assert!(said(&risen).contains("WORSE: map/set: allocations"), "{}", said(&risen));
    }
    assert!(said(&guard(&folder.0, &["--no-valgrind"])).contains("INSTRUCTIONS ARE NOT COUNTED"));

    assert!(guard(&folder.0, &["--accept", "back"]).status.success());
    let changelog = std::fs::read_to_string(folder.0.join("CHANGELOG.md")).unwrap();
    assert!(changelog.contains("accepted (2 workloads): back. map/set: allocations"), "{changelog}");
    if instructions {
        change(&folder.0, 1, |count| count * 20 / 21);
        let risen = guard(&folder.0, &[]);
        assert!(!risen.status.success(), "{}", said(&risen));
        assert!(said(&risen).contains("WORSE: map/set: instructions"), "{}", said(&risen));
    }
}
