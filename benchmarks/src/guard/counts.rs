//! The committed counts, and what it takes to fail.
//!
//! The file is tab-separated, a line a workload, so that a review shows what rose and by how much.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// How much a count may rise, in per cent. Instruction counts of one binary repeat exactly; another
/// inlining decision somewhere else in the crate moves them by less than this.
const MAY_RISE: u64 = 3;

/// What a workload costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Counts {
    /// Instructions, where they could be counted.
    pub(super) instructions: Option<u64>,
    /// Calls of the allocator.
    pub(super) allocations: u64,
    /// Bytes asked for.
    pub(super) bytes: u64,
}

/// The counts of all workloads, and what they were made with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Book {
    /// Compiler, C library and valgrind: another one of these gives other instruction counts.
    pub(super) made_with: String,
    /// By name of the workload.
    pub(super) counts: BTreeMap<String, Counts>,
}

const MADE_WITH: &str = "# made with: ";
const HEAD: &str =
    "# Guarded counts. Written by `cargo run --release -p yatta-benchmarks -- guard --accept REASON`.\n";

impl Book {
    /// Reads a file.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut book = Self::default();
        for line in text.lines() {
            if let Some(made_with) = line.strip_prefix(MADE_WITH) {
                made_with.clone_into(&mut book.made_with);
            } else if !line.starts_with('#') && !line.is_empty() && !line.starts_with("workload\t") {
                let (name, counts) = parse_line(line).ok_or_else(|| format!("no counts: `{line}`"))?;
                book.counts.insert(name, counts);
            }
        }
        Ok(book)
    }

    /// Writes a file.
    pub(super) fn to_text(&self) -> String {
        let mut out =
            format!("{HEAD}{MADE_WITH}{}\nworkload\tinstructions\tallocations\tbytes\n", self.made_with);
        for (name, counts) in &self.counts {
            let instructions = counts.instructions.map_or_else(|| "-".to_owned(), |n| n.to_string());
            // Writing to a string cannot fail.
            let _ = writeln!(out, "{name}\t{instructions}\t{}\t{}", counts.allocations, counts.bytes);
        }
        out
    }
}

fn parse_line(line: &str) -> Option<(String, Counts)> {
    let mut parts = line.split('\t');
    let name = parts.next()?.to_owned();
    let instructions = match parts.next()? {
        "-" => None,
        number => Some(number.parse().ok()?),
    };
    let (allocations, bytes) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    parts.next().is_none().then_some((name, Counts { instructions, allocations, bytes }))
}

/// What a comparison found.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Verdict {
    /// Rose by more than is allowed, or has no accepted count: each fails the check.
    pub(super) wrong: Vec<String>,
    /// Would have failed with the same compiler.
    pub(super) doubtful: Vec<String>,
    /// Fell by as much: worth accepting, or the gain can be lost again unnoticed.
    pub(super) better: Vec<String>,
}

/// Compares what was measured with what was accepted. `all`: whether every accepted workload was measured.
pub(super) fn compare(accepted: &Book, measured: &Book, all: bool) -> Verdict {
    let mut verdict = Verdict::default();
    let same_tools = accepted.made_with == measured.made_with;
    for (name, now) in &measured.counts {
        let Some(before) = accepted.counts.get(name) else {
            verdict.wrong.push(format!("{name}: no accepted counts"));
            continue;
        };
        let counts = [
            ("instructions", before.instructions.zip(now.instructions), same_tools),
            ("allocations", Some((before.allocations, now.allocations)), true),
            ("bytes", Some((before.bytes, now.bytes)), true),
        ];
        for (what, pair, sure) in counts {
            let Some((before, now)) = pair else { continue };
            let line = format!("{name}: {what} {before} -> {now} ({:+.1} %)", change(before, now));
            if now * 100 > before * (100 + MAY_RISE) {
                if sure { verdict.wrong.push(line) } else { verdict.doubtful.push(line) }
            } else if now * 100 < before * (100 - MAY_RISE) {
                verdict.better.push(line);
            }
        }
    }
    if all {
        let gone = accepted.counts.keys().filter(|name| !measured.counts.contains_key(*name));
        verdict.wrong.extend(gone.map(|name| format!("{name}: accepted, but there is no such workload")));
    }
    verdict
}

/// By how many per cent a count rose.
fn change(before: u64, now: u64) -> f64 {
    match (before, now) {
        (0, 0) => 0.0,
        (0, _) => f64::INFINITY,
        _ => (now as f64 / before as f64 - 1.0) * 100.0,
    }
}

#[cfg(test)]
mod tests {
    use super::{Book, Counts, compare};

    fn book(made_with: &str, lines: &[(&str, Option<u64>, u64, u64)]) -> Book {
        let counts = lines.iter().map(|(name, instructions, allocations, bytes)| {
            let counts = Counts { instructions: *instructions, allocations: *allocations, bytes: *bytes };
            ((*name).to_owned(), counts)
        });
        Book { made_with: made_with.to_owned(), counts: counts.collect() }
    }

    #[test]
    fn a_file_reads_back() {
        let book = book("rustc 1", &[("a b", Some(5), 6, 7), ("c", None, 0, 0)]);
        assert_eq!(Book::parse(&book.to_text()), Ok(book));
        assert!(Book::parse("a\t1\t2\n").is_err());
    }

    #[test]
    fn three_per_cent_pass_and_more_fails() {
        let accepted = book("rustc 1", &[("a", Some(1000), 100, 1000)]);
        let at = |instructions, allocations, bytes| {
            compare(&accepted, &book("rustc 1", &[("a", Some(instructions), allocations, bytes)]), true)
        };
        assert!(at(1030, 103, 1030).wrong.is_empty());
        assert_eq!(at(1031, 100, 1000).wrong, ["a: instructions 1000 -> 1031 (+3.1 %)"]);
        assert_eq!(at(1000, 104, 1000).wrong.len(), 1);
        assert_eq!(at(1000, 100, 1031).wrong.len(), 1);
        assert_eq!(at(900, 100, 1000).better.len(), 1);
    }

    #[test]
    fn with_another_compiler_only_instructions_are_forgiven() {
        let accepted = book("rustc 1", &[("a", Some(1000), 100, 1000)]);
        let verdict = compare(&accepted, &book("rustc 2", &[("a", Some(2000), 200, 1000)]), true);
        assert_eq!((verdict.doubtful.len(), verdict.wrong.len()), (1, 1));
    }

    #[test]
    fn without_instructions_allocations_still_count() {
        let accepted = book("rustc 1", &[("a", Some(1000), 100, 1000)]);
        assert_eq!(compare(&accepted, &book("rustc 1", &[("a", None, 200, 1000)]), true).wrong.len(), 1);
    }

    #[test]
    fn new_and_lost_workloads_fail() {
        let (one, other) = (book("", &[("a", None, 0, 0)]), book("", &[("b", None, 0, 0)]));
        assert_eq!(compare(&one, &other, true).wrong.len(), 2);
        assert_eq!(compare(&one, &other, false).wrong.len(), 1);
        let risen = compare(&one, &book("", &[("a", None, 1, 0)]), true);
        assert_eq!(risen.wrong, ["a: allocations 0 -> 1 (+inf %)"]);
    }
}
