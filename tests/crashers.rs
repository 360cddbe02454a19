//! The fuzz targets without a fuzzer: every target on its seeds (fuzz/seeds), on what once broke it
//! (testdata/crashers/TARGET/NAME), and on random mutations of both.
//!
//! `YATTA_FUZZ_ROUNDS=n` runs n mutations a target. A failing input is printed in hex; put it into the folder of
//! crashers under a short name. How to fuzz for hours: CONTRIBUTING.md.

#[path = "common/hex.rs"]
mod hex;

use hex::unhex;

#[path = "../fuzz/src/targets/mod.rs"]
#[allow(unreachable_pub, reason = "the fuzzers are a crate that uses this module from outside")]
mod targets;

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg32;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use targets::{ALL, Body};

/// Mutations of a target in CI: a few seconds.
const ROUNDS: u64 = 1_500;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn seeds(target: &str) -> Vec<Vec<u8>> {
    let path = root().join("fuzz/seeds").join(format!("{target}.hex"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines().map(unhex).collect()
}

/// What once broke a target: name and bytes.
fn crashers(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let Ok(folder) = std::fs::read_dir(root().join("testdata/crashers").join(target)) else {
        return Vec::new();
    };
    let files = folder.map(|file| file.expect("the folder can be read").path());
    files.map(|path| (path.clone(), std::fs::read(path).expect("a crasher can be read"))).collect()
}

fn run(target: &str, body: Body, what: &str, data: &[u8]) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| body(data))) {
        let hex: String = data.iter().map(|byte| format!("{byte:02x}")).collect();
        eprintln!("target {target} fails on {what}: {hex}");
        std::panic::resume_unwind(panic);
    }
}

fn mutate(rng: &mut Pcg32, all: &[Vec<u8>]) -> Vec<u8> {
    let mut data = all[rng.random_range(0..all.len())].clone();
    if rng.random_bool(0.1) {
        // the front of one and the end of another
        let other = &all[rng.random_range(0..all.len())];
        data.truncate(rng.random_range(0..=data.len()));
        data.extend_from_slice(&other[rng.random_range(0..=other.len())..]);
    }
    for _ in 0..rng.random_range(1..5) {
        let at = rng.random_range(0..=data.len());
        match rng.random_range(0..6) {
            0 if at < data.len() => data[at] ^= 1 << rng.random_range(0..8),
            1 if at < data.len() => data[at] = [0, 1, 0x3F, 0x40, 0x7F, 0x80, 0xFF][rng.random_range(0..7)],
            2 if at < data.len() => drop(data.remove(at)),
            3 if at < data.len() => {
                let end = (at + rng.random_range(1..9)).min(data.len());
                let copy = data[at..end].to_vec();
                data.splice(at..at, copy);
            }
            4 if at < data.len() => data[at] = data[at].wrapping_add(rng.random_range(0..4)),
            _ => data.insert(at, rng.random()),
        }
    }
    data
}

fn rounds() -> u64 {
    std::env::var("YATTA_FUZZ_ROUNDS")
        .map_or(ROUNDS, |text| text.parse().expect("YATTA_FUZZ_ROUNDS is a number"))
}

fn fuzz(target: &str) {
    let (_, body) = ALL.iter().find(|(name, _)| *name == target).expect("a target of the list");
    let mut all = seeds(target);
    assert!(!all.is_empty(), "{target} has seeds");
    for data in &all {
        run(target, *body, "a seed", data);
    }
    for (path, data) in crashers(target) {
        run(target, *body, &path.display().to_string(), &data);
        all.push(data);
    }
    let mut rng = Pcg32::seed_from_u64(0xFEED);
    for round in 0..rounds() {
        let data = mutate(&mut rng, &all);
        run(target, *body, &format!("mutation {round}"), &data);
    }
}

macro_rules! targets {
    ($($name:ident),*) => {
        $(
            #[test]
            fn $name() {
                fuzz(stringify!($name));
            }
        )*

        #[test]
        fn every_target_is_run() {
            assert_eq!(ALL.map(|(name, _)| name), [$(stringify!($name)),*]);
        }
    };
}

targets!(
    primitives, decode_v1, decode_v2, apply_v1, apply_v2, merge, diff, convert, awareness, sync, positions,
    replicas
);

#[test]
fn every_crasher_belongs_to_a_target() {
    let Ok(folder) = std::fs::read_dir(root().join("testdata/crashers")) else { return };
    for entry in folder {
        let name = entry.expect("the folder can be read").file_name().to_string_lossy().into_owned();
        assert!(ALL.iter().any(|(target, _)| *target == name), "{name} is no target");
    }
}
