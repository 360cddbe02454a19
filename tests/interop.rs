//! yatta in lockstep with real Yjs (a Node process): three to five peers, random delivery, everything equal.
//!
//! Every peer of a script is one document in yatta and one in Yjs with the same client id, fed the same operations and
//! updates. After every request each emitted update (V1 and V2), each reply, each merge and each difference must be
//! equal byte for byte; in the end all values, deltas, state vectors and states in both formats. A failing script is
//! shortened and printed as requests of the adapter's protocol.
//!
//! `YATTA_INTEROP_SCRIPTS=n` runs n scripts a kind (200 without it), `YATTA_SEED=n` one.

mod common;

use common::network::{self, Follower, Judge};
use common::on_yatta::service::Service;
use common::script::{self, Delivery, Kind, Step, Taste};
use common::value::Values;
use common::yjs::Yjs;
use common::{plain, seeds};

fn lockstep(test: &str, kind: Kind) {
    let Some(mut yjs) = Yjs::start() else { return };
    let scripts = seeds::number("YATTA_INTEROP_SCRIPTS").unwrap_or(200);
    seeds::for_each(test, scripts, |seed| {
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
