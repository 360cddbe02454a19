//! Documents against plain models: one replica against strings, vectors and maps, three replicas against each other.
//!
//! The scripts of three replicas deliver every update in random order, some of them twice, some merged, some as the
//! difference of state vectors, in V1 and V2; in the end all replicas must hold the same values, the same state vector
//! and the same state, block by block, but for the pieces into which a run of collected ranges is cut (peers of Yjs cut
//! them differently too). `Doc::check` runs after every request. YATTA_SEED=n repeats one script, YATTA_SCRIPTS=n runs
//! more.

mod common;

use common::network;
use common::on_yatta::service::Service;
use common::plain;
use common::script::{self, Delivery, Kind, Step, Taste};
use common::seeds;
use common::value::Values;

fn taste(kind: Kind) -> Taste {
    Taste { kind, values: Values::Yjs, surrogates: false }
}

fn one_replica(test: &str, kind: Kind, scripts: u64) {
    seeds::for_each(test, scripts, |seed| plain::compare(taste(kind), &mut Service::default(), seed));
}

fn three_replicas(test: &str, kind: Kind, scripts: u64) {
    seeds::for_each(test, scripts, |seed| {
        let run = |steps: &[Step]| network::run(taste(kind), steps, 3, &mut Service::default(), &mut []);
        let steps = script::generate(seed, 3, 50, Delivery::Random);
        if let Err(error) = run(&steps) {
            panic!("{}", network::shrink(&steps, error, |steps| run(steps).err()));
        }
    });
}

#[test]
fn text_is_a_string() {
    one_replica("text_is_a_string", Kind::Text, 300);
}

#[test]
fn formatted_text_is_characters_with_attributes() {
    one_replica("formatted_text_is_characters_with_attributes", Kind::Formatted, 300);
}

#[test]
fn rich_text_is_characters_and_embeds_with_attributes() {
    one_replica("rich_text_is_characters_and_embeds_with_attributes", Kind::Rich, 300);
}

#[test]
fn array_is_a_vector() {
    one_replica("array_is_a_vector", Kind::Array, 300);
}

#[test]
fn map_is_a_map() {
    one_replica("map_is_a_map", Kind::Map, 300);
}

#[test]
fn nested_types_are_a_tree() {
    one_replica("nested_types_are_a_tree", Kind::Nested, 300);
}

#[test]
fn mixed_types_are_a_tree() {
    one_replica("mixed_types_are_a_tree", Kind::Mixed, 300);
}

#[test]
fn text_converges() {
    three_replicas("text_converges", Kind::Text, 400);
}

#[test]
fn formatted_text_converges() {
    three_replicas("formatted_text_converges", Kind::Formatted, 300);
}

#[test]
fn rich_text_converges() {
    three_replicas("rich_text_converges", Kind::Rich, 300);
}

#[test]
fn arrays_converge() {
    three_replicas("arrays_converge", Kind::Array, 400);
}

#[test]
fn maps_converge() {
    three_replicas("maps_converge", Kind::Map, 400);
}

#[test]
fn nested_types_converge() {
    three_replicas("nested_types_converge", Kind::Nested, 400);
}

#[test]
fn mixed_types_converge() {
    three_replicas("mixed_types_converge", Kind::Mixed, 300);
}

#[test]
fn xml_converges() {
    three_replicas("xml_converges", Kind::Xml, 300);
}
