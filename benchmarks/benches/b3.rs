//! B3 of the canonical suite; see `yatta_benchmarks::suite`.

mod common;

use yatta_benchmarks::suite::{N, b3};

fn main() {
    let mut c = common::criterion();
    common::scripts(&mut c, &b3(N));
    c.final_summary();
}
