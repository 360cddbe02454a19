//! Says where and with what the figures were made.

use std::process::Command;

/// The version of yrs in the workspace manifest; a test holds the two together.
const YRS: &str = "0.28.1";

/// The versions in the manifest; a test holds the two together.
#[cfg(feature = "compare")]
const PEERS: &str = ", automerge 0.12, cola 0.5, diamond-types 1.0, loro 1.17, y-octo 0.1";
#[cfg(not(feature = "compare"))]
const PEERS: &str = "; no other peers were built in (feature `compare`)";

/// Lines for the head of the table.
pub(crate) fn describe() -> Vec<String> {
    let cpu = first_of("/proc/cpuinfo", "model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    let memory = first_of("/proc/meminfo", "MemTotal").unwrap_or_else(|| "unknown".to_owned());
    let commit = output("git", &["-C", env!("CARGO_MANIFEST_DIR"), "rev-parse", "--short", "HEAD"]);
    vec![
        format!("machine: {cpu}, {cores} cores, memory {memory}, {}", std::env::consts::OS),
        format!("compiler: {}", output("rustc", &["--version"])),
        format!("engines: yatta {} at commit {commit}, yrs {YRS}{PEERS}", env!("CARGO_PKG_VERSION")),
        load("at the start"),
    ]
}

/// How busy the machine was; a load beyond its cores makes every time doubtful, and ratios of short runs, too.
pub(crate) fn load(when: &str) -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let averages: Vec<_> = text.split_whitespace().take(3).collect();
    if averages.len() < 3 {
        return format!("load of the machine {when}: unknown");
    }
    format!("load of the machine {when} (1, 5, 15 minutes): {}", averages.join(", "))
}

fn first_of(path: &str, field: &str) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    let line = text.lines().find(|line| line.starts_with(field))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn output(program: &str, arguments: &[&str]) -> String {
    let ran = Command::new(program).args(arguments).output().ok().filter(|ran| ran.status.success());
    ran.map_or_else(|| "unknown".to_owned(), |ran| String::from_utf8_lossy(&ran.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_the_version_of_the_manifest() {
        let manifest = include_str!("../../../Cargo.toml");
        assert!(manifest.contains(&format!("yrs = {{ version = \"={}\"", super::YRS)));
        let manifest = include_str!("../../Cargo.toml");
        for peer in ", automerge 0.12, cola 0.5, diamond-types 1.0, loro 1.17, y-octo 0.1".split(", ").skip(1)
        {
            let (name, version) = peer.split_once(' ').expect("a name and a version");
            assert!(manifest.contains(&format!("{name} = {{ version = \"{version}\"")), "{peer}");
        }
    }
}
