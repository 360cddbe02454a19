//! Plots as SVG: bars by engine and growth curves, both on log axes.

use plotters::prelude::*;
use yatta_benchmarks::units::nanos;

use super::Failure;

/// Pixels of a plot.
const WIDTH: u32 = 900;
/// Height of one bar with its gap, in pixels.
const BAR: u32 = 16;

/// A bar: whose, and how long in nanoseconds. Without a time there is no bar, but a word.
pub(crate) struct Bar {
    pub(crate) label: String,
    pub(crate) engine: String,
    pub(crate) nanos: Result<f64, String>,
}

/// A curve: whose, and its points (size, nanoseconds).
pub(crate) struct Curve {
    pub(crate) engine: String,
    pub(crate) points: Vec<(f64, f64)>,
}

/// The colour of an engine, the same in all plots.
pub(crate) fn colour(engine: &str) -> RGBColor {
    match engine {
        "yatta" => RGBColor(0x1b, 0x7f, 0x5c),
        "yrs" => RGBColor(0xc8, 0x5a, 0x17),
        "loro" => RGBColor(0x5b, 0x4d, 0xb0),
        "automerge" => RGBColor(0xb8, 0x2e, 0x5a),
        "diamond-types" => RGBColor(0x2b, 0x6c, 0xb0),
        "y-octo" => RGBColor(0x80, 0x6a, 0x1d),
        _ => RGBColor(0x66, 0x66, 0x66),
    }
}

/// Draws horizontal bars on a log axis, the first on top.
pub(crate) fn bars(bars: &[Bar]) -> Result<String, Failure> {
    let times: Vec<f64> = bars.iter().filter_map(|bar| bar.nanos.as_ref().ok().copied()).collect();
    let Some((low, high)) = bounds(&times) else { return Ok(String::new()) };
    let mut svg = String::new();
    let count = i32::try_from(bars.len())?;
    {
        let height = BAR * u32::try_from(bars.len())? + 40;
        let root = SVGBackend::with_string(&mut svg, (WIDTH, height)).into_drawing_area();
        let mut chart = ChartBuilder::on(&root)
            .x_label_area_size(24)
            .y_label_area_size(250)
            .right_y_label_area_size(70)
            .build_cartesian_2d((low..high).log_scale(), 0..count)?;
        let name = |row: &i32| usize::try_from(count - 1 - row).ok().and_then(|at| bars.get(at));
        chart
            .configure_mesh()
            .disable_y_mesh()
            .y_labels(1)
            .y_label_formatter(&|_| String::new())
            .x_label_formatter(&|time| nanos(*time))
            .light_line_style(TRANSPARENT)
            .draw()?;
        for row in 0..count {
            let Some(bar) = name(&row) else { continue };
            let (x, y) = chart.plotting_area().map_coordinate(&(low, row));
            let text = ("sans-serif", 11).into_font().color(&BLACK);
            let step = i32::try_from(BAR)?;
            root.draw_text(&format!("{} {}", bar.label, bar.engine), &text, (x - 245, y - step + 2))?;
            match &bar.nanos {
                Ok(time) => {
                    let (end, _) = chart.plotting_area().map_coordinate(&(*time, row));
                    root.draw(&Rectangle::new(
                        [(x, y - step + 3), (end.max(x + 1), y - 2)],
                        colour(&bar.engine).filled(),
                    ))?;
                    root.draw_text(&nanos(*time), &text, (end.max(x) + 4, y - step + 2))?;
                }
                Err(why) => root.draw_text(why, &text, (x + 4, y - step + 2))?,
            }
        }
        root.present()?;
    }
    Ok(svg)
}

/// Draws curves on two log axes.
pub(crate) fn growth(curves: &[Curve]) -> Result<String, Failure> {
    let sizes: Vec<f64> = curves.iter().flat_map(|curve| curve.points.iter().map(|point| point.0)).collect();
    let times: Vec<f64> = curves.iter().flat_map(|curve| curve.points.iter().map(|point| point.1)).collect();
    let (Some((left, right)), Some((low, high))) = (bounds(&sizes), bounds(&times)) else {
        return Ok(String::new());
    };
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, (WIDTH / 3, 220)).into_drawing_area();
        let mut chart = ChartBuilder::on(&root)
            .margin(6)
            .x_label_area_size(24)
            .y_label_area_size(60)
            .build_cartesian_2d((left..right).log_scale(), (low..high).log_scale())?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .x_labels(4)
            .y_labels(6)
            .x_label_formatter(&|size| short(*size))
            .y_label_formatter(&|time| nanos(*time))
            .draw()?;
        for curve in curves {
            let colour = colour(&curve.engine);
            chart.draw_series(LineSeries::new(curve.points.iter().copied(), colour.stroke_width(2)))?;
            chart.draw_series(curve.points.iter().map(|point| Circle::new(*point, 3, colour.filled())))?;
        }
        root.present()?;
    }
    Ok(svg)
}

/// A range on a log axis that holds all values with some air.
fn bounds(values: &[f64]) -> Option<(f64, f64)> {
    let low = values.iter().copied().filter(|value| *value > 0.0).reduce(f64::min)?;
    let high = values.iter().copied().reduce(f64::max)?;
    Some((low / 1.6, high * 2.0))
}

fn short(size: f64) -> String {
    match size {
        s if s >= 1e6 => format!("{:.0}M", s / 1e6),
        s if s >= 1e3 => format!("{:.0}k", s / 1e3),
        s => format!("{s:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{Bar, Curve, bars, growth};

    #[test]
    fn draws_what_was_measured_and_says_what_was_not() {
        let bar = |engine: &str, nanos| Bar { label: "B1".to_owned(), engine: engine.to_owned(), nanos };
        let svg = bars(&[bar("yatta", Ok(1500.0)), bar("yrs", Err("not run".to_owned()))]).expect("it draws");
        assert!(svg.starts_with("<svg") && svg.contains("1.50 us") && svg.contains("not run"), "{svg}");
        assert_eq!(bars(&[bar("yrs", Err("failed".to_owned()))]).expect("nothing to draw"), "");
        let curve = Curve { engine: "yatta".to_owned(), points: vec![(10.0, 5.0), (1000.0, 50.0)] };
        assert!(growth(&[curve]).expect("it draws").contains("polyline"));
    }
}
