//! Hostile bytes (testdata/malformed, and the folder `YATTA_MALFORMED_DIR`): no panic, bounded memory and time, and a
//! document that is as it was after an error.
//!
//! `index.json` says what Yjs does. Where Yjs accepts, so do we, with the same bytes; where it throws, we refuse the
//! whole input, also where Yjs had applied a part of it.

mod common;

use common::Host;
use common::heap;
use common::json::{Json, hex, unhex};
use common::on_yatta::engine::Decode;
use common::on_yatta::service::Service;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg32;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use yatta::{Assoc, Snapshot, StateVector, StickyIndex};

#[global_allocator]
static HEAP: heap::Counting = heap::Counting;

/// What an input may cost: bytes of memory a byte, and a constant.
const MEMORY_PER_BYTE: usize = 64;
const MEMORY_AT_LEAST: usize = 1 << 20;
/// Far more than linear work on 50 kB takes, also in a debug build.
const TIME: Duration = Duration::from_secs(5);

/// Inputs that we answer otherwise than Yjs on purpose: whether we accept them, and why.
const DIFFERENT: &[(&str, bool, &str)] = &[
    (
        "77-relpos-tag-9.hex",
        false,
        "a position that names no place; Yjs reads it and throws where it is used",
    ),
    ("71-awareness-proto.hex", true, "`__proto__` is a key like any other and is kept"),
    ("11-deleted-huge-length.hex", false, "clocks have 32 bits, as in yrs"),
    ("19-client-2pow53.hex", false, "2^53 is no safe integer: another peer could read it as 2^53 + 1"),
    (
        "76-sync-update-bad.hex",
        false,
        "the message is whole, the update within it is not: the caller is told",
    ),
    ("47-duplicate-keys-in-object.hex", true, "`__proto__` is a key like any other and is kept"),
];

fn own_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/malformed")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn index(folder: &Path) -> Vec<Json> {
    let path = folder.join("index.json");
    let json = Json::parse(&read(&path)).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    json.items().to_vec()
}

/// A document that already holds something.
fn service(filled: bool) -> Service {
    let mut service = Service::default();
    let mut requests = vec![Json::object([("op", "new".into()), ("clientID", 77.into())])];
    for (name, kind) in [("t", "text"), ("a", "array"), ("m", "map"), ("u", "text")] {
        requests.push(Json::object([("op", "root".into()), ("name", name.into()), ("kind", kind.into())]));
    }
    if filled {
        for text in ["held", "中😀"] {
            requests.push(Json::object([
                ("op", "text_insert".into()),
                ("h", "@t".into()),
                ("index", 2.into()),
                ("text", text.into()),
            ]));
        }
        let text = [("op", "text_delete".into()), ("h", "@t".into()), ("index", 1.into()), ("len", 2.into())];
        requests.push(Json::object(text));
    }
    for mut request in requests {
        request.set("doc", "d".into());
        let reply = service.call(&request);
        assert_eq!(reply.get("ok").as_bool(), Some(true), "{request} gave {reply}");
    }
    service
}

fn state(service: &mut Service) -> [String; 2] {
    [1_u32, 2].map(|enc| {
        let request = Json::object([("op", "encode".into()), ("doc", "d".into()), ("enc", enc.into())]);
        service.call(&request).get("r").as_str().unwrap_or_default().to_owned()
    })
}

/// Applies an input; returns whether it was accepted. Panics where a promise is broken.
fn apply(service: &mut Service, bytes: &[u8], v2: bool, what: &str) -> bool {
    let before = state(service);
    let enc: u32 = if v2 { 2 } else { 1 };
    let update = hex(bytes).into();
    let request = [("op", "apply".into()), ("doc", "d".into()), ("update", update), ("enc", enc.into())];
    let request = Json::object(request);
    let start = Instant::now();
    let (reply, peak) = heap::peak(|| service.call(&request));
    assert!(start.elapsed() < TIME, "{what}: took {:?}", start.elapsed());
    let bound = bound(bytes);
    assert!(
        peak <= bound,
        "{what}: {peak} bytes of memory for {} bytes of input, bound {bound}",
        bytes.len()
    );
    assert_ne!(reply.get("kind").as_str(), Some("panic"), "{what}: {reply}");
    service.check("d");
    let accepted = reply.get("ok").as_bool() == Some(true);
    if !accepted {
        assert_eq!(reply.get("kind").as_str(), Some("decode"), "{what}: {reply}");
        assert_eq!(reply.get("ev").items().len(), 0, "{what}: an error emits nothing: {reply}");
        assert_eq!(state(service), before, "{what}: the document is as it was after {reply}");
    }
    accepted
}

/// Runs one input of the index.
fn run(folder: &Path, entry: &Json) {
    let file = entry.get("file").as_str().unwrap_or_default();
    let bytes = unhex(read(&folder.join(file)).trim()).unwrap_or_else(|error| panic!("{file}: {error}"));
    let yjs = entry.get("yjs");
    let different = DIFFERENT.iter().find(|(name, ..)| *name == file);
    let wanted = different.map_or(yjs.get("result").as_str() == Some("ok"), |(_, accept, _)| *accept);
    let format = entry.get("format").as_str().unwrap_or_default();
    match format {
        "v1" | "v2" => {
            for filled in [true, false] {
                let mut service = service(filled);
                let accepted = apply(&mut service, &bytes, format == "v2", file);
                assert_eq!(accepted, wanted, "{file}: {} (Yjs: {yjs})", entry.get("what"));
                let reencoded = yjs.get("doc").get("reencodeV1").as_str().unwrap_or_default();
                // long ones are given by their length only
                if accepted && !filled && different.is_none() && !reencoded.contains(' ') {
                    assert_eq!(state(&mut service)[0], reencoded, "{file}: {}", entry.get("what"));
                }
            }
        }
        "sv" => bounded(file, &bytes, wanted, |bytes| StateVector::decode_v1(bytes).is_ok()),
        "snapshot" => bounded(file, &bytes, wanted, |bytes| Snapshot::decode_v1(bytes).is_ok()),
        "relpos" => {
            bounded(file, &bytes, wanted, |bytes| StickyIndex::decode_v1(bytes).is_ok());
            let described = yjs.get("value");
            if let Ok(position) = StickyIndex::decode_v1(&bytes) {
                let assoc = if described.get("assoc").as_f64().unwrap_or_default() < 0.0 {
                    Assoc::Before
                } else {
                    Assoc::After
                };
                assert_eq!(position.assoc, assoc, "{file}: {}", entry.get("what"));
            }
        }
        "sync" => sync(file, &bytes, wanted, entry),
        "awareness" => presence(file, &bytes, wanted, different.is_none().then(|| yjs.get("states"))),
        other => panic!("{file}: unknown format {other}"),
    }
}

/// Handles a sync message (without the outer type) on a document that holds something.
fn sync(file: &str, bytes: &[u8], wanted: bool, entry: &Json) {
    let mut service = service(true);
    let before = state(&mut service);
    let request =
        Json::object([("op", "sync_handle".into()), ("doc", "d".into()), ("bytes", hex(bytes).into())]);
    let (reply, peak) = heap::peak(|| service.call(&request));
    assert!(peak <= bound(bytes), "{file}: {peak} bytes of memory for {} bytes of input", bytes.len());
    assert_ne!(reply.get("kind").as_str(), Some("panic"), "{file}: {reply}");
    service.check("d");
    assert_eq!(reply.get("ok").as_bool(), Some(wanted), "{file}: {} gave {reply}", entry.get("what"));
    if !wanted {
        assert_eq!(reply.get("kind").as_str(), Some("decode"), "{file}: {reply}");
        assert_eq!(state(&mut service), before, "{file}: the document is as it was after {reply}");
    }
}

/// Applies an awareness update (without the outer length) to an awareness of client 1; `states` are those of Yjs.
fn presence(file: &str, bytes: &[u8], wanted: bool, states: Option<&Json>) {
    let mut service = Service::default();
    let mut ask = |op: &str, mut request: Json| {
        request.set("op", op.into());
        request.set("aw", "a".into());
        service.call(&request)
    };
    ask("aw_new", Json::object([("clientID", 1.into())]));
    let before = ask("aw_read", Json::object([]));
    let update = Json::object([("update", hex(bytes).into())]);
    let (reply, peak) = heap::peak(|| ask("aw_apply", update));
    assert!(peak <= bound(bytes), "{file}: {peak} bytes of memory for {} bytes of input", bytes.len());
    assert_eq!(reply.get("ok").as_bool(), Some(wanted), "{file}: {reply}");
    let after = ask("aw_read", Json::object([]));
    if wanted {
        let states = states.filter(|states| !states.is_null()).cloned();
        let found = after.get("r").get("states");
        assert_eq!(Some(found.clone()), states.or_else(|| Some(found.clone())), "{file}");
    } else {
        assert_eq!(reply.get("kind").as_str(), Some("decode"), "{file}: {reply}");
        assert_eq!(after, before, "{file}: the states are as they were after {reply}");
    }
}

/// The memory that an input may take.
fn bound(bytes: &[u8]) -> usize {
    MEMORY_PER_BYTE * bytes.len() + MEMORY_AT_LEAST
}

fn bounded(what: &str, bytes: &[u8], wanted: bool, decode: impl Fn(&[u8]) -> bool) {
    let (accepted, peak) = heap::peak(|| decode(bytes));
    assert_eq!(accepted, wanted, "{what}");
    assert!(peak <= bound(bytes), "{what}: {peak} bytes of memory for {} bytes of input", bytes.len());
}

#[test]
fn malformed_input_is_refused_whole() {
    let entries = index(&own_folder());
    assert!(entries.len() >= 53, "all malformed inputs are here, not {}", entries.len());
    entries.iter().for_each(|entry| run(&own_folder(), entry));
    for (file, ..) in DIFFERENT {
        assert!(
            entries.iter().any(|entry| entry.get("file").as_str() == Some(file)),
            "{file} is in the index"
        );
    }
}

#[test]
fn further_malformed_input_is_refused_whole() {
    let Some(folder) = std::env::var_os("YATTA_MALFORMED_DIR") else { return };
    let entries = index(Path::new(&folder));
    assert!(!entries.is_empty(), "YATTA_MALFORMED_DIR={} holds inputs", folder.display());
    for entry in entries {
        run(Path::new(&folder), &entry);
    }
}

/// Valid updates to be cut and bent: the golden vectors.
fn vectors() -> Vec<(String, Vec<u8>, bool)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/vectors/yjs-vectors.json");
    let file = Json::parse(&read(&path)).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let updates =
        file.get("vectors").items().iter().filter(|vector| vector.get("kind").as_str() == Some("update"));
    updates
        .flat_map(|vector| {
            [("v1", false), ("v2", true)].map(|(key, v2)| {
                let name = format!("{} {key}", vector.get("name").as_str().unwrap_or_default());
                let bytes = unhex(vector.get(key).as_str().unwrap_or_default());
                (name, bytes.unwrap_or_else(|error| panic!("{error}")), v2)
            })
        })
        .collect()
}

#[test]
fn every_prefix_of_an_update_is_an_error() {
    for (name, bytes, v2) in vectors() {
        let mut service = service(true);
        let before = state(&mut service);
        for len in 0..bytes.len() {
            let what = format!("{name}, the first {len} bytes");
            let accepted = apply(&mut service, &bytes[..len], v2, &what);
            // a cut V2 update can be complete where its last column is empty; then it must have said nothing
            assert!(!accepted || state(&mut service) == before, "{what}: {}", hex(&bytes[..len]));
        }
    }
}

/// Bent bytes are refused or give a document that can be saved and loaded again.
#[test]
fn bent_updates_break_nothing() {
    let vectors = vectors();
    common::seeds::for_each("bent_updates_break_nothing", 4_000, |seed| {
        let mut rng = Pcg32::seed_from_u64(seed);
        let (name, mut bytes, v2) = vectors[rng.random_range(0..vectors.len())].clone();
        for _ in 0..rng.random_range(1..4) {
            let at = rng.random_range(0..bytes.len());
            match rng.random_range(0..4) {
                0 => bytes[at] ^= 1 << rng.random_range(0..8),
                1 => bytes[at] = [0, 1, 0x7F, 0x80, 0xFF][rng.random_range(0..5)],
                2 => bytes.insert(at, rng.random()),
                _ if bytes.len() > 1 => drop(bytes.remove(at)),
                _ => {}
            }
        }
        let what = format!("{name} bent to {}", hex(&bytes));
        let mut first = service(true);
        if apply(&mut first, &bytes, v2, &what) {
            let saved = state(&mut first);
            let mut second = service(false);
            let loads = apply(&mut second, &unhex(&saved[0]).expect("hex"), false, &what);
            assert!(loads, "{what}: the state it gives can be loaded: {}", saved[0]);
        }
    });
}
