//! B4 of the canonical suite: the LaTeX trace, once and ten times.

mod common;

use std::process::ExitCode;

use yatta_benchmarks::compare;
use yatta_benchmarks::engines::{Yatta, Yrs};
use yatta_benchmarks::suite::{b4, b4_times};
use yatta_benchmarks::trace;

fn main() -> ExitCode {
    let dir = trace::default_dir();
    let (once, ten_times) = match b4(&dir).and_then(|once| Ok((once, b4_times(&dir, 10)?))) {
        Ok(scripts) => scripts,
        Err(error) => {
            eprintln!("B4 cannot run: {error}");
            // On a developer's machine the other benchmarks are still worth their time.
            return if std::env::var_os("CI").is_some() { ExitCode::FAILURE } else { ExitCode::SUCCESS };
        }
    };
    let mut c = common::criterion();
    common::scripts(&mut c, &[once]);

    // yrs would need minutes a run for the edits; it reads and writes what yatta made.
    let outcome = compare::one::<Yatta>(&ten_times).unwrap_or_else(|difference| panic!("{difference}"));
    let mut group = common::group(&mut c, &ten_times.id);
    common::edit_figures::<Yatta>(&mut group, &ten_times, &outcome);
    common::codec_figures::<Yatta>(&mut group, &outcome);
    common::codec_figures::<Yrs>(&mut group, &outcome);
    group.finish();
    c.final_summary();
    ExitCode::SUCCESS
}
