//! Laws of `IdRanges`, `IdSet` and `IdMap` against plain sets and maps of single ids, with random
//! inputs; and their bytes against those that Yjs wrote.

use crate::ids::id_ranges::IdRanges;
use crate::ids::{
    AttrRange, BlockRange, ContentAttribute, ContentAttributes, Diff, IdMap, IdSet, Snapshot, StateVector,
};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher, RandomState};
use yatta_encoding::{ClientID, Decode, Encode, ID};

const SEEDS: u64 = 300;
const CLOCKS: u32 = 40;

type SetModel = BTreeSet<(u64, u32)>;
type MapModel = BTreeMap<(u64, u32), BTreeSet<u8>>;

fn client(id: u64) -> ClientID {
    ClientID::new(id)
}

fn id(client_id: u64, clock: u32) -> ID {
    ID::new(client(client_id), clock)
}

/// A few ranges (client, clock, len), some of them empty, in any order.
fn random_ranges(rng: &mut Pcg64Mcg) -> Vec<(u64, u32, u32)> {
    let clients = rng.random_range(1..6);
    (0..rng.random_range(0..25))
        .map(|_| (rng.random_range(0..clients), rng.random_range(0..CLOCKS), rng.random_range(0..6)))
        .collect()
}

fn ids(ranges: &[(u64, u32, u32)]) -> SetModel {
    ranges.iter().flat_map(|&(client, clock, len)| (clock..clock + len).map(move |at| (client, at))).collect()
}

fn set_of(ranges: &[(u64, u32, u32)]) -> IdSet {
    let mut set = IdSet::new();
    for &(client, clock, len) in ranges {
        set.insert(id(client, clock), len);
        assert_eq!(set.check(), Ok(()), "{ranges:?}");
    }
    set
}

/// What the set says by iteration; checks everything else that it says against that.
fn read_set(set: &IdSet, context: &str) -> SetModel {
    assert_eq!(set.check(), Ok(()), "{context}");
    let model: SetModel = set
        .iter()
        .flat_map(|(client, ranges)| ranges.into_iter().map(move |range| (client.get(), range.clone())))
        .flat_map(|(client, range)| range.map(move |clock| (client, clock)))
        .collect();
    for client_id in 0..6 {
        for clock in 0..CLOCKS + 6 {
            let known = model.contains(&(client_id, clock));
            assert_eq!(set.contains(&id(client_id, clock)), known, "{context}: {client_id}:{clock}");
        }
        let flat = set.ranges(client(client_id)).iter().flat_map(|(range, ())| range.clone());
        assert!(flat.eq(model.iter().filter(|(owner, _)| *owner == client_id).map(|(_, clock)| *clock)));
    }
    let clients: BTreeSet<u64> = model.iter().map(|(client, _)| *client).collect();
    assert!(set.client_ids().map(|client| client.get()).eq(clients.iter().copied()), "{context}");
    assert!(set.iter().rev().map(|(client, _)| client.get()).eq(clients.iter().rev().copied()));
    assert_eq!(set.len(), clients.len(), "{context}");
    assert_eq!(set.is_empty(), model.is_empty(), "{context}");
    model
}

#[test]
fn set_algebra_agrees_with_plain_sets() {
    for seed in 0..SEEDS {
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        let (x, y) = (random_ranges(&mut rng), random_ranges(&mut rng));
        let (a, b) = (set_of(&x), set_of(&y));
        let (m, n) = (ids(&x), ids(&y));
        let context = format!("seed {seed}");
        assert_eq!(read_set(&a, &context), m, "{context}");

        let tuples = x.iter().map(|&(owner, clock, len)| (client(owner), clock, len)).collect();
        assert_eq!(IdSet::from_ranges(tuples), a, "{context}");
        let lists = x.iter().map(|&(owner, clock, len)| (client(owner), std::iter::once(clock..clock + len)));
        assert_eq!(IdSet::from_iter(lists), a, "{context}");

        assert_eq!(read_set(&a.merge(&b), &context), &m | &n, "{context}");
        assert_eq!(read_set(&a.diff(&b), &context), &m - &n, "{context}");
        assert_eq!(read_set(&a.intersect(&b), &context), &m & &n, "{context}");
        let mut union = a.clone();
        union.merge_with(b.clone());
        assert_eq!(union, b.merge(&a), "{context}");
        assert_eq!(a.diff(&b).merge(&a.intersect(&b)), a, "{context}");

        let mut rest = a.clone();
        let mut model = m.clone();
        for &(owner, clock, len) in &y {
            rest.remove_range(&BlockRange::new(id(owner, clock), len));
            model.retain(|at| at.0 != owner || at.1 < clock || at.1 >= clock + len);
            assert_eq!(read_set(&rest, &context), model, "{context}");
        }
        assert_eq!(rest, a.diff(&b), "{context}");

        for &(owner, clock, len) in &y {
            let all = (clock..clock + len).all(|at| m.contains(&(owner, at)));
            let held = a
                .get(&id(owner, clock).client)
                .is_some_and(|ranges| ranges.contains_range(clock..clock + len));
            assert_eq!(held || len == 0, all, "{context}");
        }
    }
}

#[test]
fn equal_sets_hash_alike_and_an_empty_entry_counts_for_nothing() {
    let mut a = set_of(&[(1, 0, 3), (2, 5, 1)]);
    let b = a.clone();
    assert!(a.range_mut(client(9)).is_empty());
    assert_eq!(a, b);
    assert_eq!(a.len(), 2);
    assert_eq!(a.get(&client(9)), None);
    assert_eq!(a.encode_v1(), b.encode_v1());
    let state = RandomState::new();
    assert_eq!(state.hash_one(&a), state.hash_one(&b));
    a.range_mut(client(9)).insert(4..5);
    assert_ne!(a, b);

    let mut empty = IdSet::new();
    empty.range_mut(client(1));
    empty.insert(id(2, 7), 0);
    empty.insert_range(client(3), IdRanges::new());
    assert!(empty.is_empty());
    assert_eq!(empty, IdSet::new());
    assert_eq!(format!("{:?} {b}", IdSet::new()), "{} {1: [[0..3)], 2: [[5..6)]}");
}

#[test]
fn subset_agrees_with_intersection() {
    for seed in 0..SEEDS {
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        let mut list = || {
            let count = rng.random_range(0..6);
            IdRanges::from_ranges((0..count).map(|_| {
                let start = rng.random_range(0..20);
                start..start + rng.random_range(0..9)
            }))
        };
        let (a, b) = (list(), list());
        let mut common = a.clone();
        common.intersect(&b);
        assert_eq!(a.subset_of(&b), common == a, "seed {seed}: {a} in {b}");
        assert!(common.subset_of(&a) && common.subset_of(&b), "seed {seed}");
    }
}

#[test]
fn ranges_at_the_end_of_all_clocks() {
    let mut set = IdSet::new();
    set.insert(id(1, u32::MAX - 2), 9);
    assert!(set.contains(&id(1, u32::MAX - 1)));
    set.insert(id(1, u32::MAX - 4), 2);
    assert_eq!(set.ranges(client(1)), [(u32::MAX - 4..u32::MAX, ())]);
    for bytes in [set.encode_v1(), set.encode_v2()] {
        assert!(!bytes.is_empty());
    }
    assert_eq!(IdSet::decode_v2(&set.encode_v2()).unwrap(), set);
    assert_eq!(IdSet::decode_v1(&set.encode_v1()).unwrap(), set);
}

fn attr(value: u8) -> ContentAttribute<u8> {
    ContentAttribute::new(if value.is_multiple_of(2) { "even" } else { "odd" }, value)
}

fn random_map(rng: &mut Pcg64Mcg) -> (IdMap<u8>, MapModel) {
    let mut map = IdMap::new();
    let mut model = MapModel::new();
    for (owner, clock, len) in random_ranges(rng) {
        let values: Vec<u8> = (0..rng.random_range(0..3)).map(|_| rng.random_range(0..4)).collect();
        map.insert(BlockRange::new(id(owner, clock), len), values.iter().map(|value| attr(*value)).collect());
        assert_eq!(map.check(), Ok(()));
        if !values.is_empty() {
            for at in clock..clock + len {
                model.entry((owner, at)).or_default().extend(&values);
            }
        }
    }
    (map, model)
}

fn values(attrs: &ContentAttributes<u8>) -> BTreeSet<u8> {
    let distinct: BTreeSet<u8> = attrs.iter().map(|attr| *attr.value()).collect();
    assert_eq!(distinct.len(), attrs.len(), "{attrs:?}");
    distinct
}

fn read_map(map: &IdMap<u8>, context: &str) -> MapModel {
    assert_eq!(map.check(), Ok(()), "{context}");
    let mut model = MapModel::new();
    for (client, AttrRange { range, attrs }) in map.iter() {
        for clock in range {
            let before = model.insert((client.get(), clock), values(&attrs));
            assert_eq!(before, None, "{context}: {client}:{clock} twice");
        }
    }
    for owner in 0..6 {
        let mut at = 3;
        for piece in map.attributions(&BlockRange::new(id(owner, 3), CLOCKS)) {
            assert_eq!(piece.range.start, at, "{context}: a gap");
            at = piece.range.end;
            for clock in piece.range {
                let known = model.get(&(owner, clock)).cloned().unwrap_or_default();
                assert_eq!(values(&piece.attrs), known, "{context}: {owner}:{clock}");
            }
        }
        assert_eq!(at, 3 + CLOCKS, "{context}");
    }
    assert_eq!(map.is_empty(), model.is_empty(), "{context}");
    model
}

#[test]
fn map_algebra_agrees_with_plain_maps() {
    for seed in 0..SEEDS {
        let context = format!("seed {seed}");
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        let ((a, m), (b, n)) = (random_map(&mut rng), random_map(&mut rng));
        let ranges = random_ranges(&mut rng);
        let (set, keys) = (set_of(&ranges), ids(&ranges));
        assert_eq!(read_map(&a, &context), m, "{context}");

        let mut union = m.clone();
        for (at, values) in &n {
            union.entry(*at).or_default().extend(values);
        }
        let mut both = a.clone();
        both.merge_with(b.clone());
        assert_eq!(read_map(&both, &context), union, "{context}");
        assert_eq!(IdMap::merge_many(&[b.clone(), a.clone()]), both, "{context}");

        let mut common = a.clone();
        common.intersect_with(&b);
        union.retain(|at, _| m.contains_key(at) && n.contains_key(at));
        assert_eq!(read_map(&common, &context), union, "{context}");

        let mut rest = a.clone();
        rest.diff_with(&b);
        let mut model = m.clone();
        model.retain(|at, _| !n.contains_key(at));
        assert_eq!(read_map(&rest, &context), model, "{context}");

        let mut rest = a.clone();
        rest.diff_with(&set);
        model.clone_from(&m);
        model.retain(|at, _| !keys.contains(at));
        assert_eq!(read_map(&rest, &context), model, "{context}");
        let mut removed = a.clone();
        for &(owner, clock, len) in &ranges {
            removed.remove(&BlockRange::new(id(owner, clock), len));
        }
        assert_eq!(removed, rest, "{context}");

        model.clone_from(&m);
        model.retain(|_, values| values.contains(&1));
        let filtered = a.filter(|attrs| attrs.contains(&attr(1)));
        assert_eq!(read_map(&filtered, &context), model, "{context}");

        assert_eq!(read_set(&a.as_id_set(), &context), m.keys().copied().collect(), "{context}");
        assert_eq!(IdSet::from(a.clone()), a.as_id_set(), "{context}");
        let painted = IdMap::from_set(set.clone(), vec![attr(1), attr(2), attr(1)]);
        let expected = keys.iter().map(|at| (*at, BTreeSet::from([1, 2]))).collect::<MapModel>();
        assert_eq!(read_map(&painted, &context), expected, "{context}");

        assert_eq!(IdMap::decode_v1(&a.encode_v1()).unwrap(), a, "{context}");
        assert_eq!(IdMap::decode_v2(&a.encode_v2()).unwrap(), a, "{context}");
    }
}

#[test]
fn attributes_are_a_set() {
    let set = |values: &[u8]| ContentAttributes(values.iter().map(|value| attr(*value)).collect());
    assert_eq!(set(&[1, 2]), set(&[2, 1]));
    assert_ne!(set(&[1, 1]), set(&[1, 2]));
    assert_ne!(set(&[1, 2]), set(&[1, 1]));
    assert_ne!(set(&[1]), set(&[1, 2]));
    assert_eq!(attr(3).to_string(), "(\"odd\": 3)");
}

#[test]
fn id_map_bytes() {
    let mut map = IdMap::new();
    map.insert(BlockRange::new(id(5, 0), 3), vec![attr(1)]);
    map.insert(BlockRange::new(id(9, 4), 2), vec![attr(3), attr(1)]);
    // Clients 5 and 5+4; attribute 0 = name 0 "odd" 1; attribute 1 = name 0, 3; attribute 0 again.
    let bytes = [2, 5, 1, 0, 3, 1, 0, 0, 3, b'o', b'd', b'd', 125, 1, 4, 1, 4, 2, 2, 1, 0, 125, 3, 0];
    assert_eq!(map.encode_v1(), bytes);
    assert_eq!(IdMap::<u8>::decode_v1(&bytes).unwrap(), map);
    for end in 0..bytes.len() {
        assert!(IdMap::<u8>::decode_v1(&bytes[..end]).is_err(), "cut at {end}");
    }
    for (what, bytes) in [
        ("clients do not ascend", &[2, 5, 0, 0, 0][..]),
        ("ranges overlap", &[1, 5, 2, 0, 3, 0, 2, 3, 0]),
        ("attribute not given", &[1, 5, 1, 0, 3, 1, 1, 0, 0, 125, 1]),
        ("name not given", &[1, 5, 1, 0, 3, 1, 0, 1, 0, 125, 1]),
        ("clock overflow", &[1, 5, 1, 255, 255, 255, 255, 15, 1, 0]),
        ("too many attributes", &[1, 5, 1, 0, 3, 129, 2]),
        ("client id overflow", &[1, 255, 255, 255, 255, 255, 255, 255, 31, 0]),
    ] {
        assert!(IdMap::<u8>::decode_v1(bytes).is_err(), "{what}");
    }
}

#[test]
fn id_map_bytes_are_those_of_yrs() {
    use yrs::updates::{decoder::Decode as _, encoder::Encode as _};
    for seed in 0..SEEDS {
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        let mut ours = IdMap::new();
        let mut theirs = yrs::IdMap::new();
        for (owner, clock, len) in random_ranges(&mut rng) {
            let value = rng.random_range(0..4u8);
            ours.insert(BlockRange::new(id(owner, clock), len), vec![attr(value)]);
            let range = yrs::block::BlockRange::new(yrs::ID::new(yrs::ClientID::new(owner), clock), len);
            theirs.insert(range, vec![yrs::ContentAttribute::new(attr(value).name(), value)]);
        }
        assert_eq!(Encode::encode_v1(&ours), theirs.encode_v1(), "seed {seed}");
        assert_eq!(yrs::IdMap::decode_v2(&Encode::encode_v2(&ours)).unwrap(), theirs, "seed {seed}");
        assert_eq!(<IdMap<u8> as Decode>::decode_v2(&theirs.encode_v2()).unwrap(), ours, "seed {seed}");
    }
}

fn hex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

fn vectors() -> Vec<Json> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/vectors/yjs-vectors.json");
    let text = std::fs::read_to_string(path).unwrap();
    let file: Json = serde_json::from_str(&text).unwrap();
    file["vectors"].as_array().unwrap().clone()
}

/// Bytes that Yjs wrote come out again as they went in.
#[test]
fn golden_state_vectors_and_snapshots() {
    let (mut vectors_seen, mut snapshots_seen) = (0, 0);
    for vector in vectors() {
        let name = vector["name"].as_str().unwrap();
        for key in ["hex", "state_vector"] {
            if key == "hex" && vector["kind"] != "stateVector" {
                continue;
            }
            let Some(bytes) = vector[key].as_str().map(hex) else { continue };
            let sv = StateVector::decode_v1(&bytes).unwrap();
            assert_eq!(sv.encode_v1(), bytes, "{name}");
            assert_eq!(sv.encode_v2(), bytes, "{name}");
            assert_eq!(StateVector::decode_v2(&bytes).unwrap(), sv, "{name}");
            assert_eq!(sv.check(), Ok(()), "{name}");
            if let Some(decoded) = vector["decoded"].as_object() {
                assert_eq!(sv.len(), decoded.len(), "{name}");
                for (owner, clock) in decoded {
                    let clock = u32::try_from(clock.as_u64().unwrap()).unwrap();
                    assert_eq!(sv.get(&client(owner.parse().unwrap())), clock, "{name}");
                }
            }
            vectors_seen += 1;
        }
        if vector["kind"] == "snapshot" {
            let (v1, v2) = (hex(vector["v1"].as_str().unwrap()), hex(vector["v2"].as_str().unwrap()));
            let snapshot = Snapshot::decode_v1(&v1).unwrap();
            assert_eq!(Snapshot::decode_v2(&v2).unwrap(), snapshot, "{name}");
            assert_eq!(snapshot.encode_v1(), v1, "{name}");
            assert_eq!(snapshot.encode_v2(), v2, "{name}");
            snapshots_seen += 1;
        }
    }
    assert!(vectors_seen >= 30, "{vectors_seen} state vectors");
    assert!(snapshots_seen >= 2, "{snapshots_seen} snapshots");
}

/// The delete set stands at the end of an update, in V1 and in V2: ours has the very same bytes.
#[test]
fn golden_delete_sets() {
    let mut seen = BTreeMap::new();
    for vector in vectors() {
        let name = vector["name"].as_str().unwrap();
        if vector["kind"] != "update" {
            continue;
        }
        let (v1, v2) = (hex(vector["v1"].as_str().unwrap()), hex(vector["v2"].as_str().unwrap()));
        // Content that yrs cannot read is the concern of the encoding crate.
        let Ok(update) = <yrs::Update as yrs::updates::decoder::Decode>::decode_v1(&v1) else { continue };
        let ranges = update.delete_set().iter().flat_map(|(owner, ranges)| {
            ranges.into_iter().map(|range| (client(owner.get()), range.start, range.end - range.start))
        });
        let set = IdSet::from_ranges(ranges.collect());
        let (ours_v1, ours_v2) = (set.encode_v1(), set.encode_v2());
        assert!(v1.ends_with(&ours_v1), "{name}: {ours_v1:?} in {v1:?}");
        assert!(v2.ends_with(&ours_v2), "{name}: {ours_v2:?} in {v2:?}");
        assert_eq!(IdSet::decode_v1(&v1[v1.len() - ours_v1.len()..]).unwrap(), set, "{name}");
        assert_eq!(IdSet::decode_v2(&v2[v2.len() - ours_v2.len()..]).unwrap(), set, "{name}");
        *seen.entry(set.len()).or_insert(0) += 1;
    }
    assert!(seen[&0] > 20 && seen[&1] > 10 && seen[&2] > 0, "updates by deleting clients: {seen:?}");
}

#[test]
fn clients_are_written_in_descending_order() {
    let set = set_of(&[(3, 2, 3), (300, 0, 1), (3, 7, 2)]);
    assert_eq!(set.encode_v1(), hex("02ac02010001030202030702"));
    assert_eq!(set.encode_v2(), hex("02ac02010000030202020201"));
    let sv = StateVector::from_iter([(client(3), 9), (client(300), 1)]);
    assert_eq!(sv.encode_v1(), hex("02ac02010309"));
}

#[test]
fn random_sets_survive_both_codecs_in_any_order() {
    for seed in 0..SEEDS {
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        let ranges = random_ranges(&mut rng);
        let set = set_of(&ranges);
        assert_eq!(IdSet::decode_v1(&set.encode_v1()).unwrap(), set, "seed {seed}");
        assert_eq!(IdSet::decode_v2(&set.encode_v2()).unwrap(), set, "seed {seed}");
        let json = serde_json::to_string(&set).unwrap();
        assert_eq!(serde_json::from_str::<IdSet>(&json).unwrap(), set, "seed {seed}");

        // As a careless peer writes it: a client again for each range, overlapping, some empty.
        let mut careless = vec![u8::try_from(ranges.len()).unwrap()];
        for &(owner, clock, len) in &ranges {
            let (owner, clock, len) = (u8::try_from(owner).unwrap(), clock as u8, len as u8);
            careless.extend([owner, 2, clock, len, clock, len / 2]);
        }
        let read = IdSet::decode_v1(&careless).unwrap();
        assert_eq!(read.check(), Ok(()), "seed {seed}");
        assert_eq!(read, set, "seed {seed}");
    }
}

/// yrs puts the header of an update in front of a V2 snapshot and state vector; both are read.
#[test]
fn headers_of_yrs_are_read_in_v2() {
    use yrs::updates::{decoder::Decode as _, encoder::Encode as _};
    for v1 in [hex("0101020203070201010a"), hex("0000"), hex("00010101"), hex("02020100010101000100")] {
        let theirs = yrs::Snapshot::decode_v1(&v1).unwrap();
        let ours = <Snapshot as Decode>::decode_v1(&v1).unwrap();
        let read = <Snapshot as Decode>::decode_v2(&theirs.encode_v2()).unwrap();
        assert_eq!(read, ours, "{v1:?}");
        let read = <IdSet as Decode>::decode_v2(&theirs.delete_set.encode_v2()).unwrap();
        assert_eq!(read, ours.delete_set, "{v1:?}");
        let read = <StateVector as Decode>::decode_v2(&theirs.state_map.encode_v2()).unwrap();
        assert_eq!(read, ours.state_map, "{v1:?}");
    }
}

#[test]
fn bad_bytes_are_errors() {
    for (what, bytes) in [
        ("nothing", &[][..]),
        ("a count without entries", &[255, 255, 255, 255, 15]),
        ("a count of ranges without ranges", &[1, 1, 255, 255, 255, 255, 15]),
        ("a count beyond 32 bits", &[255, 255, 255, 255, 255, 1]),
        ("clock + len beyond 32 bits", &[1, 1, 1, 255, 255, 255, 255, 15, 255, 255, 255, 255, 15]),
        ("a clock beyond 32 bits", &[1, 1, 1, 128, 128, 128, 128, 16, 1]),
        ("a client id beyond 53 bits", &[1, 255, 255, 255, 255, 255, 255, 255, 31, 1, 1, 1]),
    ] {
        assert!(IdSet::decode_v1(bytes).is_err(), "V1: {what}");
        assert!(IdSet::decode_v2(bytes).is_err(), "V2: {what}");
        assert!(Snapshot::decode_v1(bytes).is_err(), "snapshot: {what}");
        assert!(Snapshot::decode_v2(bytes).is_err(), "snapshot V2: {what}");
    }
    assert!(StateVector::decode_v1(&[1, 255, 255, 255, 255, 255, 255, 255, 31, 1]).is_err());
    assert!(StateVector::decode_v1(&[2, 1, 1]).is_err());
    assert!(StateVector::decode_v1(&[1, 1, 128, 128, 128, 128, 16]).is_err());
    let full = hex("0101020203070201010a");
    for end in 0..full.len() {
        assert!(Snapshot::decode_v1(&full[..end]).is_err(), "cut at {end}");
    }
}

/// A message that would cost a naive reader quadratic time: one client, given again and again
/// with a range in front of all others.
#[test]
fn hostile_order_costs_no_more_than_a_sort() {
    let count: u32 = 100_000;
    let mut bytes = Vec::new();
    let var = |bytes: &mut Vec<u8>, mut value: u32| {
        while value >= 128 {
            bytes.push((value & 127) as u8 | 128);
            value >>= 7;
        }
        bytes.push(value as u8);
    };
    var(&mut bytes, count);
    for i in (0..count).rev() {
        bytes.extend([7, 1]);
        var(&mut bytes, 2 * i);
        bytes.push(1);
    }
    let start = std::time::Instant::now();
    let set = IdSet::decode_v1(&bytes).unwrap();
    assert_eq!(set.ranges(client(7)).len(), count as usize);
    assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
}
