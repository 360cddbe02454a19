//! The report in Markdown.

use std::fmt::Write as _;

use yatta_benchmarks::measure::Pair;
use yatta_benchmarks::units::{bytes, digits};

use super::Report;
use super::figure::{Figure, versus};

/// One benchmark.
pub(crate) struct Row {
    pub(crate) id: String,
    pub(crate) title: String,
    /// ops, ops with updates, time, encode V1, encode V2, parse V1, parse V2; or only the first.
    pub(crate) cells: Vec<Pair>,
    /// Bytes of the document in V1 and V2.
    pub(crate) document: Option<(usize, usize)>,
    /// Number and bytes of the updates.
    pub(crate) updates: Option<(usize, usize)>,
}

impl Row {
    /// A row with one figure.
    pub(crate) fn single(id: String, title: String, cell: Pair) -> Self {
        Self { id, title, cells: vec![cell], document: None, updates: None }
    }

    /// The figures of both engines, column by column.
    pub(crate) fn figures(&self) -> Vec<(Figure, Figure)> {
        let theirs = |pair: &Pair| {
            pair.yrs.as_ref().map_or(Figure::NotRun("minutes"), |timing| Figure::of(timing, 1.0))
        };
        self.cells.iter().map(|pair| (Figure::of(&pair.yatta, 1.0), theirs(pair))).collect()
    }
}

/// A figure in bytes.
pub(crate) struct Memory {
    pub(crate) what: String,
    pub(crate) yatta: f64,
    pub(crate) yrs: f64,
}

pub(crate) const COLUMNS: [&str; 7] =
    ["ops", "ops_updates", "time", "encode_v1", "encode_v2", "parse_v1", "parse_v2"];

const HEAD: &str = "\
# Results

Written by `cargo run --release -p yatta-benchmarks -- report`; do not edit.
";

const LEGEND: &str = "\
Each cell is yatta / yrs (how often faster yatta is), the median of alternating runs in one process; ± is half the distance
of the quartiles, told where it is more than 5 %. `ops`: the edits alone. `ops_updates`: the edits with every update kept (V1).
`time`: these, and every update applied to a second document; in B2 to the other client, in B3 to the first client in one
transaction. `encode`, `parse`: the whole document. Content, state bytes (V1 and V2) and updates of both engines were compared
before anything was timed. `not run (minutes)`: it would take yrs minutes (`--full` runs some of it).
";

const FELT: &str = "\
## What users feel
A cell is the cost of one unit (the second column), yatta / yrs, in a document of that size. Growth: the cost at the last size
by that at the first. yrs makes as many of the operations as it can within 0.2 s; those are the first of the ones that yatta
makes, and on them the results were compared. Edits are a transaction each; four are made before the clock starts.
";

const SUITES: &str = "\
A cell is the median of 25 sample averages after 5 warm-ups, (95th percentile), and the bytes sent or written. Every engine was
held against plain JSON before it was timed. An engine that was not built in (feature `compare`) has no column.
";

impl Report {
    pub(crate) fn to_markdown(&self) -> String {
        let mut out = String::from(HEAD);
        out.push('\n');
        for line in self.machine.iter().chain(&self.notes) {
            line_of(&mut out, format_args!("- {line}"));
        }
        if !self.rows.is_empty() || !self.memory.is_empty() {
            self.canonical(&mut out);
        }
        if !self.felt.is_empty() {
            self.felt(&mut out);
        }
        for suite in &self.suites {
            let names = suite.engines();
            line_of(&mut out, format_args!("\n## {}\n{SUITES}", suite.name));
            line_of(&mut out, format_args!("| scenario | {} |", names.join(" | ")));
            line_of(&mut out, format_args!("|---|{}", "---|".repeat(names.len())));
            for row in &suite.rows {
                let cells: Vec<_> = names.iter().map(|name| row.text(name)).collect();
                line_of(&mut out, format_args!("| {} | {} |", row.scenario, cells.join(" | ")));
            }
        }
        out
    }

    fn canonical(&self, out: &mut String) {
        line_of(out, format_args!("\n## The B-suite\n{LEGEND}"));
        line_of(out, format_args!("| benchmark | {} | document V1 / V2 | updates |", COLUMNS.join(" | ")));
        line_of(out, format_args!("|---|{}---|---|", "---|".repeat(COLUMNS.len())));
        for row in &self.rows {
            canonical_row(out, row);
        }
        for memory in &self.memory {
            let cell = format!(
                "{} / {} ({:.2} of it)",
                bytes(memory.yatta),
                bytes(memory.yrs),
                memory.yatta / memory.yrs
            );
            let rest = "| ".repeat(COLUMNS.len() + 1);
            line_of(out, format_args!("| memory: {} | {cell} {rest}|", memory.what));
        }
    }

    fn felt(&self, out: &mut String) {
        line_of(out, format_args!("\n{FELT}"));
        line_of(
            out,
            format_args!("| workload | per | sizes | small | middle | large | growth yatta | growth yrs |"),
        );
        line_of(out, format_args!("|---|---|---|---|---|---|---|---|"));
        for row in &self.felt {
            let sizes: Vec<_> = row.cells.iter().map(|cell| cell.size.to_string()).collect();
            let cells: Vec<_> = row.cells.iter().map(|cell| versus(&cell.ours, &cell.theirs)).collect();
            let growth = |times: Option<f64>| {
                times.map_or_else(|| "-".to_owned(), |times| format!("{}x", digits(times)))
            };
            line_of(
                out,
                format_args!(
                    "| **{}** {} | {} | {} | {} | {} | {} |",
                    row.id,
                    row.title,
                    row.unit,
                    sizes.join(", "),
                    cells.join(" | "),
                    growth(row.growth(|cell| &cell.ours)),
                    growth(row.growth(|cell| &cell.theirs)),
                ),
            );
        }
    }
}

fn canonical_row(out: &mut String, row: &Row) {
    let mut cells: Vec<String> = row.figures().iter().map(|(ours, theirs)| versus(ours, theirs)).collect();
    cells.resize(COLUMNS.len(), String::new());
    cells.push(
        row.document
            .map_or_else(String::new, |(v1, v2)| format!("{} / {}", bytes(v1 as f64), bytes(v2 as f64))),
    );
    cells.push(
        row.updates.map_or_else(String::new, |(count, size)| format!("{count}, {}", bytes(size as f64))),
    );
    line_of(out, format_args!("| **{}** {} | {} |", row.id, row.title, cells.join(" | ")));
}

fn line_of(out: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{line}");
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use yatta_benchmarks::measure::Timing;

    use super::{Memory, Pair, Report, Row};

    #[test]
    fn writes_a_row_with_ratio_and_one_without() {
        let timing = |micros| {
            let time = Duration::from_micros(micros);
            Timing { median: time, low: time, high: time }
        };
        let single = |id: &str, what: &str, yrs| {
            Row::single(id.to_owned(), what.to_owned(), Pair { yatta: timing(12), yrs })
        };
        let report = Report {
            machine: vec!["a machine".to_owned()],
            rows: vec![single("A", "both", Some(timing(3000))), single("B", "one", None)],
            memory: vec![Memory { what: "heap".to_owned(), yatta: 500.0, yrs: 20_000.0 }],
            ..Report::default()
        };
        let text = report.to_markdown();
        assert!(text.contains("- a machine\n"), "{text}");
        assert!(text.contains("| **A** both | 12.0 us / 3.00 ms (250x) |  |"), "{text}");
        assert!(text.contains("| **B** one | 12.0 us / not run (minutes) |  |"), "{text}");
        assert!(text.contains("| memory: heap | 500 B / 20.0 kB (0.03 of it) |"), "{text}");
        let widths: Vec<_> =
            text.lines().filter(|line| line.starts_with('|')).map(|l| l.matches('|').count()).collect();
        assert_eq!(widths, [11; 5], "every row has ten columns\n{text}");
    }
}
