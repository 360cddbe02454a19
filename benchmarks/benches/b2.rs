//! B2 of the canonical suite; see `yatta_benchmarks::suite`.

mod common;

use yatta_benchmarks::suite::{N, b2};

fn main() {
    let mut c = common::criterion();
    common::scripts(&mut c, &b2(N));
    c.final_summary();
}
