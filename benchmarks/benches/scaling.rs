//! How the cost of an edit grows with the document; yrs where it ends within seconds.

mod common;

use yatta_benchmarks::engine::Engine;
use yatta_benchmarks::engines::{Yatta, Yrs};
use yatta_benchmarks::log::Log;
use yatta_benchmarks::run;
use yatta_benchmarks::scaling::{AtSize, Prepends, SIZES, Workload, count};

fn main() {
    let mut c = common::criterion();
    let nobody = Log::default();
    for workload in Workload::ALL {
        let mut group = common::group(&mut c, workload.name());
        for n in SIZES {
            let script = workload.script(n);
            let size = count(n);
            common::figure(&mut group, &size, Yatta::NAME, || {
                Ok(run::edits_only::<Yatta>(&script, &nobody)?.elapsed)
            });
            if workload.yrs_can(n) {
                common::figure(&mut group, &size, Yrs::NAME, || {
                    Ok(run::edits_only::<Yrs>(&script, &nobody)?.elapsed)
                });
            }
        }
        group.finish();
    }

    // At the largest size ten samples of yrs would take minutes; the report runs it.
    let mut group = common::group(&mut c, "random edit at");
    for n in SIZES {
        let at = AtSize::build::<Yatta>(n, 1000);
        let few = at.edits_for_yrs().min(100);
        let total = |mean: std::time::Duration, edits: usize| mean * u32::try_from(edits).unwrap_or(1);
        common::figure(&mut group, &format!("{}, 1000 edits", count(n)), Yatta::NAME, || {
            Ok(total(at.run::<Yatta>(at.edits())?.0, at.edits()))
        });
        if n < 600_000 {
            common::figure(&mut group, &format!("{}, {few} edits", count(n)), Yrs::NAME, || {
                Ok(total(at.run::<Yrs>(few)?.0, few))
            });
        }
    }
    group.finish();

    let mut group = common::group(&mut c, "two peers prepend");
    for n in [6_000, 60_000] {
        let prepends = Prepends::build::<Yatta>(n);
        for (peer, which) in [(0, "smaller"), (1, "larger")] {
            let what = format!("{}, into the {which} client", count(n));
            common::figure(&mut group, &what, Yatta::NAME, || Ok(prepends.run::<Yatta>(peer)?.0));
            if n == 6_000 {
                common::figure(&mut group, &what, Yrs::NAME, || Ok(prepends.run::<Yrs>(peer)?.0));
            }
        }
    }
    group.finish();
    c.final_summary();
}
