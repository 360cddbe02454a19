//! The table in Markdown.

use std::fmt::Write as _;

use yatta_benchmarks::measure::Pair;
use yatta_benchmarks::units::{bytes, digits, duration};

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
}

struct Memory {
    what: String,
    yatta: f64,
    yrs: f64,
}

/// Everything that was measured.
#[derive(Default)]
pub(crate) struct Table {
    rows: Vec<Row>,
    memory: Vec<Memory>,
    notes: Vec<String>,
}

const COLUMNS: [&str; 7] = ["ops", "ops_updates", "time", "encode_v1", "encode_v2", "parse_v1", "parse_v2"];

const HEAD: &str = "\
# Results

Written by `cargo run --release -p yatta-benchmarks -- report`; do not edit.
";

const LEGEND: &str = "\
Each cell is yatta / yrs (how often faster yatta is), the median of alternating runs in one process. `ops`:
the edits alone. `ops_updates`: the edits with every update kept (V1). `time`: these, and every update applied
to a second document; in B2 to the other client, in B3 to the first client in one transaction. `encode`, `parse`: the whole document.
Content, state bytes (V1 and V2) and updates of both engines were compared before anything was timed.
`not run`: it would take yrs minutes (`--full` runs some of it).
";

impl Table {
    pub(crate) fn add(&mut self, row: Row) {
        self.rows.push(row);
    }

    pub(crate) fn memory(&mut self, what: String, yatta: f64, yrs: f64) {
        self.memory.push(Memory { what, yatta, yrs });
    }

    pub(crate) fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    pub(crate) fn to_markdown(&self, machine: &[String]) -> String {
        let mut out = String::from(HEAD);
        out.push('\n');
        for line in machine.iter().chain(&self.notes) {
            line_of(&mut out, format_args!("- {line}"));
        }
        out.push('\n');
        out.push_str(LEGEND);
        out.push('\n');
        line_of(
            &mut out,
            format_args!("| benchmark | {} | document V1 / V2 | updates |", COLUMNS.join(" | ")),
        );
        line_of(&mut out, format_args!("|---|{}---|---|", "---|".repeat(COLUMNS.len())));
        for row in &self.rows {
            self.row(&mut out, row);
        }
        for memory in &self.memory {
            let cell = format!(
                "{} / {} ({:.2} of it)",
                bytes(memory.yatta),
                bytes(memory.yrs),
                memory.yatta / memory.yrs
            );
            let rest = "| ".repeat(COLUMNS.len() + 1);
            line_of(&mut out, format_args!("| memory: {} | {cell} {rest}|", memory.what));
        }
        out
    }

    fn row(&self, out: &mut String, row: &Row) {
        let mut cells: Vec<String> = row.cells.iter().map(cell).collect();
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
}

fn line_of(out: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{line}");
}

fn cell(pair: &Pair) -> String {
    match (pair.yrs, pair.ratio()) {
        (Some(yrs), Some(ratio)) => {
            format!("{} / {} ({}x)", duration(pair.yatta), duration(yrs), digits(ratio))
        }
        _ => format!("{} / not run", duration(pair.yatta)),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Pair, Row, Table};

    #[test]
    fn writes_a_row_with_ratio_and_one_without() {
        let mut table = Table::default();
        let pair = |yrs| Pair { yatta: Duration::from_micros(12), yrs };
        let both = pair(Some(Duration::from_millis(3)));
        table.add(Row::single("A".to_owned(), "both".to_owned(), both));
        table.add(Row::single("B".to_owned(), "one".to_owned(), pair(None)));
        table.memory("heap".to_owned(), 500.0, 20_000.0);
        let text = table.to_markdown(&["a machine".to_owned()]);
        assert!(text.contains("- a machine\n"), "{text}");
        assert!(text.contains("| **A** both | 12.0 us / 3.00 ms (250x) |  |"), "{text}");
        assert!(text.contains("| **B** one | 12.0 us / not run |  |"), "{text}");
        assert!(text.contains("| memory: heap | 500 B / 20.0 kB (0.03 of it) |"), "{text}");
        let widths: Vec<_> =
            text.lines().filter(|line| line.starts_with('|')).map(|l| l.matches('|').count()).collect();
        assert_eq!(widths, [11; 5], "every row has ten columns\n{text}");
    }
}
