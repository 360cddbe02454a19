//! The report as one HTML page. Plots are inline SVG and the style stands in the page: it opens without a network.

use std::fmt::Write as _;

use yatta_benchmarks::units::digits;

use super::figure::{Figure, ratio, versus};
use super::plots::{Bar, Curve, bars, growth};
use super::{Failure, Report};

const STYLE: &str = "\
body{font:14px/1.45 system-ui,sans-serif;margin:2em auto;max-width:1100px;padding:0 1em;color:#1d1d1b;background:#fff}\
h1,h2{font-weight:600}table{border-collapse:collapse;margin:1em 0;display:block;overflow-x:auto}\
td,th{border-bottom:1px solid #ddd;padding:.25em .6em;text-align:left;vertical-align:top}\
td.slow{color:#a32020}td.none{color:#777}figure{display:inline-block;margin:0 .4em 1em 0;vertical-align:top}\
figcaption{font-size:12px;max-width:290px}.key span{display:inline-block;margin-right:1.2em}\
.key i{display:inline-block;width:.8em;height:.8em;margin-right:.4em}";

/// Writes the page.
pub(crate) fn page(report: &Report) -> Result<String, Failure> {
    let mut out = String::new();
    write!(
        out,
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width\"><title>yatta: benchmarks</title><style>{STYLE}</style>\
         <h1>yatta beside its peers</h1><ul>"
    )?;
    for line in report.machine.iter().chain(&report.notes) {
        write!(out, "<li>{}</li>", escape(line))?;
    }
    write!(
        out,
        "</ul><p>Written by <code>cargo run --release -p yatta-benchmarks -- report</code>. Runs of the engines \
         alternate; shown are medians, ± half the distance of the quartiles where that is more than 5 %. All engines \
         got the same operations, and their results were compared before anything was timed. What was not run or \
         failed says so and is in no plot.</p>"
    )?;
    suite_bars(&mut out, report)?;
    felt(&mut out, report)?;
    scaling(&mut out, report)?;
    engines(&mut out, report)?;
    memory(&mut out, report)?;
    Ok(out)
}

fn key(out: &mut String, engines: &[&str]) -> Result<(), Failure> {
    out.push_str("<p class=\"key\">");
    for engine in engines {
        let colour = super::plots::colour(engine);
        write!(
            out,
            "<span><i style=\"background:rgb({},{},{})\"></i>{engine}</span>",
            colour.0, colour.1, colour.2
        )?;
    }
    out.push_str("</p>");
    Ok(())
}

fn bar(label: String, engine: &str, figure: &Figure) -> Bar {
    let nanos = figure.value().ok_or_else(|| figure.text());
    Bar { label, engine: engine.to_owned(), nanos }
}

fn suite_bars(out: &mut String, report: &Report) -> Result<(), Failure> {
    if report.rows.is_empty() {
        return Ok(());
    }
    out.push_str("<h2>B1 to B4: the edits alone</h2>");
    key(out, &["yatta", "yrs"])?;
    let mut all = Vec::new();
    for row in &report.rows {
        let Some((ours, theirs)) = row.figures().into_iter().next() else { continue };
        all.push(bar(row.id.clone(), "yatta", &ours));
        all.push(bar(row.id.clone(), "yrs", &theirs));
    }
    out.push_str(&bars(&all)?);
    out.push_str("<table><tr><th>benchmark");
    super::table::COLUMNS.iter().for_each(|column| {
        let _ = write!(out, "<th>{column}");
    });
    for row in &report.rows {
        write!(out, "<tr><td><b>{}</b> {}", escape(&row.id), escape(&row.title))?;
        row.figures().iter().try_for_each(|(ours, theirs)| cell(out, ours, theirs))?;
    }
    out.push_str("</table>");
    Ok(())
}

/// A cell of two engines; red where we are slower, grey where one has no figure.
fn cell(out: &mut String, ours: &Figure, theirs: &Figure) -> Result<(), Failure> {
    let class = match ratio(ours, theirs) {
        Some(ratio) if ratio < 1.0 => " class=\"slow\"",
        Some(_) => "",
        None => " class=\"none\"",
    };
    write!(out, "<td{class}>{}</td>", escape(&versus(ours, theirs)))?;
    Ok(())
}

fn felt(out: &mut String, report: &Report) -> Result<(), Failure> {
    if report.felt.is_empty() {
        return Ok(());
    }
    out.push_str("<h2>What users feel: the cost of one unit as the document grows</h2>");
    key(out, &["yatta", "yrs"])?;
    for row in &report.felt {
        let points = |figure: fn(&super::felt::FeltCell) -> &Figure| {
            let cells = row.cells.iter();
            cells.filter_map(|cell| Some((f64::from(cell.size), figure(cell).value()?))).collect::<Vec<_>>()
        };
        let curves = [("yatta", points(|cell| &cell.ours)), ("yrs", points(|cell| &cell.theirs))]
            .map(|(engine, points)| Curve { engine: engine.to_owned(), points });
        write!(
            out,
            "<figure>{}<figcaption><b>{}</b> {}, per {}</figcaption></figure>",
            growth(&curves)?,
            escape(row.id),
            escape(row.title),
            escape(row.unit)
        )?;
    }
    out.push_str("<table><tr><th>workload<th>per<th>small<th>middle<th>large<th>growth yatta<th>growth yrs");
    for row in &report.felt {
        write!(out, "<tr><td><b>{}</b> {}<td>{}", escape(row.id), escape(row.title), escape(row.unit))?;
        row.cells.iter().try_for_each(|felt| cell(out, &felt.ours, &felt.theirs))?;
        for growth in [row.growth(|cell| &cell.ours), row.growth(|cell| &cell.theirs)] {
            write!(
                out,
                "<td>{}",
                growth.map_or_else(|| "-".to_owned(), |times| format!("{}x", digits(times)))
            )?;
        }
    }
    out.push_str("</table>");
    Ok(())
}

/// Rows `scaling: KIND SIZE`, as curves by kind.
fn scaling(out: &mut String, report: &Report) -> Result<(), Failure> {
    let mut kinds: Vec<(&str, [Curve; 2])> = Vec::new();
    for row in &report.rows {
        let Some((kind, size)) = row.id.strip_prefix("scaling: ").and_then(|id| id.rsplit_once(' ')) else {
            continue;
        };
        let Some(size) = size.strip_suffix('k').and_then(|number| number.parse::<f64>().ok()) else {
            continue;
        };
        let at = kinds.iter().position(|(known, _)| *known == kind).unwrap_or_else(|| {
            let curve = |engine: &str| Curve { engine: engine.to_owned(), points: Vec::new() };
            kinds.push((kind, [curve("yatta"), curve("yrs")]));
            kinds.len() - 1
        });
        if let Some((ours, theirs)) = row.figures().into_iter().next() {
            for (curve, figure) in kinds[at].1.iter_mut().zip([ours, theirs]) {
                curve.points.extend(figure.value().map(|nanos| (size * 1000.0, nanos)));
            }
        }
    }
    if !kinds.is_empty() {
        out.push_str("<h2>Scaling</h2>");
        key(out, &["yatta", "yrs"])?;
    }
    for (kind, curves) in &kinds {
        write!(out, "<figure>{}<figcaption>{}</figcaption></figure>", growth(curves)?, escape(kind))?;
    }
    Ok(())
}

fn engines(out: &mut String, report: &Report) -> Result<(), Failure> {
    for suite in &report.suites {
        write!(out, "<h2>{}</h2><p>Median and 95th percentile of sample averages.</p>", escape(suite.name))?;
        let mut all = Vec::new();
        for row in &suite.rows {
            for (engine, figure, _) in &row.engines {
                all.push(bar(row.scenario.clone(), engine, figure));
            }
        }
        out.push_str(&bars(&all)?);
        let names = suite.engines();
        write!(out, "<table><tr><th>scenario<th>{}", names.join("<th>"))?;
        for row in &suite.rows {
            write!(out, "<tr><td>{}", escape(&row.scenario))?;
            for name in &names {
                write!(out, "<td>{}", escape(&row.text(name)))?;
            }
        }
        out.push_str("</table>");
    }
    Ok(())
}

fn memory(out: &mut String, report: &Report) -> Result<(), Failure> {
    if report.memory.is_empty() {
        return Ok(());
    }
    out.push_str("<h2>Memory</h2><table><tr><th>what<th>yatta<th>yrs<th>of it");
    for row in &report.memory {
        let bytes = yatta_benchmarks::units::bytes;
        write!(
            out,
            "<tr><td>{}<td>{}<td>{}<td>{:.2}",
            escape(&row.what),
            bytes(row.yatta),
            bytes(row.yrs),
            row.yatta / row.yrs
        )?;
    }
    out.push_str("</table>");
    Ok(())
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::super::Report;
    use super::super::felt::{FeltCell, FeltRow};
    use super::super::figure::Figure;
    use super::page;

    #[test]
    fn a_page_needs_no_network_and_counts_nothing_missing_as_zero() {
        let cell = |size, theirs| FeltCell {
            size,
            ours: Figure::Measured { median: 5.0, low: 5.0, high: 5.0 },
            theirs,
        };
        let cells = vec![
            cell(10, Figure::Measured { median: 50.0, low: 50.0, high: 50.0 }),
            cell(100, Figure::NotRun("minutes")),
            cell(1000, Figure::Failed("it <panics>".to_owned())),
        ];
        let row = FeltRow { id: "x", title: "y", unit: "edit", cells };
        let report = Report { felt: vec![row], ..Report::default() };
        let html = page(&report).expect("it is written");
        for part in ["not run (minutes)", "failed: it &lt;panics&gt;", "<svg", "10.0x"] {
            assert!(html.contains(part), "{part}: {html}");
        }
        // The name of the SVG namespace is the only address.
        let addresses = html.matches("http").count();
        assert_eq!(addresses, html.matches("xmlns=\"http://www.w3.org/2000/svg\"").count(), "{html}");
        assert!(html.contains("<td>-"), "no growth without both ends");
    }
}
