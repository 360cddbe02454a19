//! Merging 20,000 updates without a document.

mod common;

use yatta_benchmarks::engine::Engine;
use yatta_benchmarks::engines::{Yatta, Yrs};
use yatta_benchmarks::merge::{UPDATES, check, merge, updates};

fn main() {
    let log = updates::<Yatta>(UPDATES).unwrap_or_else(|error| panic!("{error}"));
    check::<Yatta, Yrs>(&log).unwrap_or_else(|error| panic!("{error}"));
    let mut c = common::criterion();
    let mut group = common::group(&mut c, "merge");
    common::figure(&mut group, "20k updates", Yatta::NAME, || Ok(merge::<Yatta>(&log)?.0));
    common::figure(&mut group, "20k updates", Yrs::NAME, || Ok(merge::<Yrs>(&log)?.0));
    group.finish();
    c.final_summary();
}
