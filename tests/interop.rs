//! yatta in lockstep with real Yjs (a Node process): three to five peers, random delivery, everything equal.
//!
//! Every peer of a script is one document in yatta and one in Yjs with the same client id, fed the same operations and
//! updates. After every request each emitted update (V1 and V2), each reply, each merge and each difference must be
//! equal byte for byte; in the end all values, deltas, state vectors and states in both formats. A failing script is
//! shortened and printed as requests of the adapter's protocol.
//!
//! The network is wilder: some of its peers are yrs, peers undo and redo, and updates also come cut down, in parts, in the
//! other format. What yrs does goes to the others as it is; where it departs in the end, a number of docs/FORMAT.md
//! explains it or the script fails. In release builds there is no yrs in networks of nested types.
//!
//! `YATTA_INTEROP_SCRIPTS=n` runs n scripts a kind (few without it, so that all take a minute), `YATTA_SEED=n` one,
//! `YATTA_FOREVER=1` goes on with new seeds until one fails. A failing script is shortened and printed as a case for
//! tests/adapter.rs.

mod common;

use common::mixed::{Accounts, YrsPeers};
use common::network::{self, Follower, Judge};
use common::on_yatta::service::Service;
use common::on_yrs;
use common::script::{self, Delivery, Kind, Step, Taste};
use common::value::Values;
use common::yjs::Yjs;
use common::{plain, seeds};

fn lockstep(test: &str, kind: Kind) {
    let Some(mut yjs) = Yjs::start() else { return };
    seeds::for_each(test, scripts(60), |seed| {
        let taste = Taste { kind, values: Values::Yjs, surrogates: seed % 4 == 3 };
        let peers = 3 + (seed % 3) as usize;
        let mut run = |steps: &[Step]| {
            let mut followers = [Follower { name: "Yjs", host: &mut yjs, judge: Judge::Exact }];
            network::run(taste, steps, peers, &mut Service::default(), &mut followers)
        };
        let steps = script::generate(seed, peers, 40, Delivery::Random);
        if let Err(error) = run(&steps) {
            panic!("{}", network::shrink(&steps, error, |steps| run(steps).err()));
        }
    });
}

/// How many scripts of a kind run.
fn scripts(default: u64) -> u64 {
    if seeds::number("YATTA_FOREVER").is_some() {
        return u64::MAX;
    }
    seeds::number("YATTA_INTEROP_SCRIPTS").unwrap_or(default)
}

/// Three to five peers: the first two follow Yjs, of the others about half are yrs.
fn mixed(test: &str, kind: Kind) {
    let Some(mut yjs) = Yjs::start() else { return };
    let mut accounts = Accounts::new();
    seeds::for_each(test, scripts(30), |seed| {
        // Without checks of overflows yrs goes on with a wrong number where it would panic (22), and nothing tells.
        let is_judged = cfg!(debug_assertions) || !matches!(kind, Kind::Nested | Kind::Mixed);
        let with_yrs = seed % 3 != 2 && kind != Kind::Subdocs && is_judged;
        // What yrs would write otherwise (4, 10, 11, 12) it must not relay: that would change it for everybody.
        let values = if with_yrs { Values::Yrs } else { Values::Yjs };
        let taste = Taste { kind, values, surrogates: false };
        let peers = 3 + (seed % 3) as usize;
        let mut run = |steps: &[Step]| {
            let mut yrs = on_yrs::service::Service::default();
            let is_yrs = (0..peers)
                .map(|peer| with_yrs && peer > 1 && (peer + seed as usize).is_multiple_of(2))
                .collect();
            let mut followers = [Follower { name: "Yjs", host: &mut yjs, judge: Judge::Exact }];
            let leader = &mut Service::default();
            network::run_mixed(
                taste,
                steps,
                peers,
                leader,
                &mut followers,
                YrsPeers::new(&mut yrs, is_yrs),
                true,
            )
        };
        let steps = script::generate(seed, peers, 50, Delivery::Network);
        match run(&steps) {
            Ok(outcome) => {
                for (account, times) in outcome.accounts {
                    *accounts.entry(account).or_default() += times;
                }
            }
            Err(error) => panic!("{}", network::shrink(&steps, error, |steps| run(steps).err())),
        }
    });
    eprintln!("{test}: yrs departed in {accounts:?}");
}

#[test]
fn network_of_text() {
    mixed("network_of_text", Kind::Text);
}

#[test]
fn network_of_formatted_text() {
    mixed("network_of_formatted_text", Kind::Formatted);
}

#[test]
fn network_of_rich_text() {
    mixed("network_of_rich_text", Kind::Rich);
}

#[test]
fn network_of_arrays() {
    mixed("network_of_arrays", Kind::Array);
}

#[test]
fn network_of_maps() {
    mixed("network_of_maps", Kind::Map);
}

#[test]
fn network_of_nested_types() {
    mixed("network_of_nested_types", Kind::Nested);
}

#[test]
fn network_of_mixed_types() {
    mixed("network_of_mixed_types", Kind::Mixed);
}

#[test]
fn network_of_xml() {
    mixed("network_of_xml", Kind::Xml);
}

#[test]
fn network_of_subdocs() {
    mixed("network_of_subdocs", Kind::Subdocs);
}

#[test]
fn text_is_in_lockstep_with_yjs() {
    lockstep("text_is_in_lockstep_with_yjs", Kind::Text);
}

#[test]
fn formatted_text_is_in_lockstep_with_yjs() {
    lockstep("formatted_text_is_in_lockstep_with_yjs", Kind::Formatted);
}

#[test]
fn rich_text_is_in_lockstep_with_yjs() {
    lockstep("rich_text_is_in_lockstep_with_yjs", Kind::Rich);
}

#[test]
fn arrays_are_in_lockstep_with_yjs() {
    lockstep("arrays_are_in_lockstep_with_yjs", Kind::Array);
}

#[test]
fn maps_are_in_lockstep_with_yjs() {
    lockstep("maps_are_in_lockstep_with_yjs", Kind::Map);
}

#[test]
fn nested_types_are_in_lockstep_with_yjs() {
    lockstep("nested_types_are_in_lockstep_with_yjs", Kind::Nested);
}

#[test]
fn mixed_types_are_in_lockstep_with_yjs() {
    lockstep("mixed_types_are_in_lockstep_with_yjs", Kind::Mixed);
}

#[test]
fn xml_is_in_lockstep_with_yjs() {
    lockstep("xml_is_in_lockstep_with_yjs", Kind::Xml);
}

/// The plain model that judges our documents in tests/model.rs must itself agree with Yjs.
#[test]
fn the_plain_model_agrees_with_yjs() {
    let Some(mut yjs) = Yjs::start() else { return };
    let kinds = [Kind::Text, Kind::Formatted, Kind::Rich, Kind::Array, Kind::Map, Kind::Nested, Kind::Mixed];
    for kind in kinds {
        let taste = Taste { kind, values: Values::Yjs, surrogates: false };
        seeds::for_each("the_plain_model_agrees_with_yjs", 20, |seed| plain::compare(taste, &mut yjs, seed));
    }
}
