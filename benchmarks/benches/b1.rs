//! B1 of the canonical suite; see `yatta_benchmarks::suite`.

mod common;

use yatta_benchmarks::suite::{N, b1};

fn main() {
    let mut c = common::criterion();
    common::scripts(&mut c, &b1(N));
    c.final_summary();
}
