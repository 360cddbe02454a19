//! Bytes of peers that are broken or hostile: an error or a value, never a panic, never much memory.

mod common;

use common::{golden, hex, rewrite_v1, rewrite_v2, testdata, text, unhex};
use yatta_encoding::block::{Block, Content, UpdateReader};
use yatta_encoding::delete_set::read_delete_set;
use yatta_encoding::update::{
    convert_v1_to_v2, convert_v2_to_v1, decode_state_vector, diff_updates_v1, diff_updates_v2,
    encode_state_vector_from_update_v1, encode_state_vector_from_update_v2, merge_updates_v1,
    merge_updates_v2,
};
use yatta_encoding::{Cursor, DecoderV1, DecoderV2, Error};

/// Gives an update to everything that reads one; returns what the plain reader says.
fn read_all_ways(update: &[u8], format: &str) -> Result<Vec<u8>, Error> {
    let state = [1, 1, 2];
    if format == "v2" {
        let _ = merge_updates_v2(&[update, update]);
        let _ = diff_updates_v2(update, &state);
        let _ = encode_state_vector_from_update_v2(update);
        let _ = convert_v2_to_v1(update);
        rewrite_v2(update)
    } else {
        let _ = merge_updates_v1(&[update, update]);
        let _ = diff_updates_v1(update, &state);
        let _ = encode_state_vector_from_update_v1(update);
        let _ = convert_v1_to_v2(update);
        rewrite_v1(update)
    }
}

/// The most memory this process has used so far, in KiB. The kernel counts in batches a thread: a later reading may be a
/// little lower.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("VmHWM");
    line.split_whitespace().nth(1).expect("a number").parse().expect("a number")
}

#[test]
fn the_files() {
    // Accepted by Yjs and not by us: clocks and clients beyond our types.
    let refused = ["11-deleted-huge-length.hex", "19-client-2pow53.hex"];
    let index = golden("malformed/index.json");
    let before = peak_kib();
    let mut count = 0;
    for case in index.as_array().unwrap() {
        let (file, format) = (text(case, "file"), text(case, "format"));
        let bytes = unhex(&testdata(&format!("malformed/{file}")));
        let ok = match format {
            "v1" | "v2" => read_all_ways(&bytes, format).is_ok(),
            "sv" => decode_state_vector(&bytes).is_ok(),
            "snapshot" => {
                let mut decoder = DecoderV1::from(&bytes[..]);
                let deleted = read_delete_set(&mut decoder, |_| {});
                let rest = yatta_encoding::Decoder::read_to_end(&mut decoder).unwrap();
                deleted.is_ok() && decode_state_vector(rest).is_ok()
            }
            _ => continue, // messages of protocols: not of this crate
        };
        let expected = case["yjs"]["result"] == "ok" && !refused.contains(&file);
        assert_eq!(ok, expected, "{file}: {}", text(case, "what"));
        count += 1;
    }
    assert!(count > 40, "{count}");
    let grown = peak_kib().saturating_sub(before);
    assert!(grown < 32 << 10, "{grown} KiB for small inputs");
}

#[test]
fn what_yjs_writes_again() {
    // Of the files that Yjs accepts and integrates whole, our blocks are written as Yjs writes its own.
    let index = golden("malformed/index.json");
    let mut count = 0;
    for file in [
        "02-valid-v1.hex",
        "18-client-53-bit-max.hex",
        "22-any-int-beyond-2pow53.hex",
        "29-utf8-bom-and-nul.hex",
    ] {
        let case = index.as_array().unwrap().iter().find(|case| case["file"] == file).expect(file);
        let bytes = unhex(&testdata(&format!("malformed/{file}")));
        assert_eq!(hex(&rewrite_v1(&bytes).expect(file)), text(&case["yjs"]["doc"], "reencodeV1"), "{file}");
        count += 1;
    }
    assert_eq!(count, 4);
}

#[test]
fn every_prefix_and_every_changed_byte() {
    let vectors = golden("vectors/yjs-vectors.json");
    let mut rng = fastrand::Rng::with_seed(3);
    let mut errors = 0;
    for vector in vectors["vectors"].as_array().unwrap().iter().filter(|v| v["kind"] == "update") {
        for format in ["v1", "v2"] {
            let whole = unhex(text(vector, format));
            for len in 0..whole.len() {
                let prefix = read_all_ways(&whole[..len], format);
                assert!(prefix.is_err(), "{} cut at {len} in {format}", text(vector, "name"));
                errors += 1;
            }
            for at in 0..whole.len() {
                let mut changed = whole.clone();
                changed[at] = rng.u8(..);
                let _ = read_all_ways(&changed, format);
                changed[rng.usize(..whole.len())] ^= 0x80;
                let _ = read_all_ways(&changed, format);
            }
        }
    }
    assert!(errors > 5_000);
}

#[test]
fn random_bytes() {
    let mut rng = fastrand::Rng::with_seed(4);
    for _ in 0..20_000 {
        let len = rng.usize(..60);
        let bytes: Vec<u8> = (0..len).map(|_| if rng.bool() { rng.u8(..12) } else { rng.u8(..) }).collect();
        let _ = read_all_ways(&bytes, "v1");
        let _ = read_all_ways(&bytes, "v2");
        let _ = yatta_encoding::Any::decode(&mut Cursor::new(&bytes));
        let _ = yatta_encoding::Value::decode(&mut Cursor::new(&bytes));
        let _ = decode_state_vector(&bytes);
    }
}

#[test]
fn twenty_five_bytes_that_claim_three_million_blocks() {
    let update = unhex("0000010100000100010000000541be8db70101c08db7010000");
    let error = rewrite_v2(&update).unwrap_err();
    assert!(error.to_string().contains("more blocks"), "{error}");
    // The same with as many as are allowed is only slow to walk, and the walk holds nothing.
    let allowed = unhex("000001010000010001000000 0441fefe03 01 80ff03 01 00 00".replace(' ', "").as_str());
    let mut reader = UpdateReader::new(DecoderV2::new(Cursor::new(&allowed)).unwrap()).unwrap();
    let before = peak_kib();
    let mut count = 0;
    while let Some(block) = reader.next_block().unwrap() {
        assert!(matches!(block, Block::Gc { len: 1, .. }));
        count += 1;
    }
    assert_eq!(count, 65_408);
    assert!(peak_kib().saturating_sub(before) < 8 << 10);
}

#[test]
fn clocks_end_at_the_last() {
    // A text of 3 units that would end beyond 2^32-1, a GC block and a deleted range that would too.
    for update in [
        "0101 01 feffffff0f 04 01 01 74 03 616263 00",
        "0101 01 01 00 ffffffff0f 00",
        "00 01 01 01 ffffffff0f 01",
    ] {
        let error = rewrite_v1(&unhex(&update.replace(' ', ""))).unwrap_err();
        assert!(error.to_string().contains("beyond the last clock"), "{error}");
    }
    let error = rewrite_v1(&unhex("0101018080808010 00 01 00".replace(' ', "").as_str())).unwrap_err();
    assert!(matches!(error, Error::InvalidVarInt), "{error}");
}

#[test]
fn what_yjs_tolerates() {
    // Zero-length text, a GC block of nothing, an overlong length, trailing bytes.
    let update = unhex("0103 01 00 04 01 01 74 8000 00 00 84 02 00 01 61 00 ffff".replace(' ', "").as_str());
    let mut reader = UpdateReader::new(DecoderV1::from(&update[..])).unwrap();
    let blocks: Vec<_> = std::iter::from_fn(|| reader.next_block().unwrap()).collect();
    assert_eq!(blocks.iter().map(Block::len).collect::<Vec<_>>(), [0, 0, 1]);
    assert!(reader.delete_set().unwrap().is_empty());
    // yrs reads one string too many in this legacy content.
    let legacy = unhex("0101010002010161020131077b2262223a327d00");
    let mut reader = UpdateReader::new(DecoderV1::from(&legacy[..])).unwrap();
    let Some(Block::Item(item)) = reader.next_block().unwrap() else { panic!("an item") };
    assert_eq!(item.content, Content::Json(vec!["1".into(), r#"{"b":2}"#.into()]));
}

#[test]
fn a_key_that_is_cached_is_honoured() {
    use yatta_encoding::column::IntDiffOptRleWriter;
    use yatta_encoding::{Any, Decoder, Encoder, EncoderV2, Read, UpdateDecoder, Write};

    let mut encoder = EncoderV2::new();
    for key in ["bold", "bold", "em"] {
        encoder.write_key(key);
    }
    encoder.write_any(&Any::Null);
    let written = encoder.to_vec();
    // The same keys, but the second by the number of the first, as a later Yjs might write it.
    let mut key_clock = IntDiffOptRleWriter::new();
    for clock in [0, 0, 1] {
        key_clock.write(clock);
    }
    let mut cached = vec![0];
    cached.write_buf(key_clock.finish());
    [0; 4].iter().for_each(|len| cached.push(*len)); // client, left clock, right clock, info
    cached.write_buf([6, b'b', b'o', b'l', b'd', b'e', b'm', 4, 2]);
    cached.extend([0, 0, 0]); // parent info, type ref, len
    for (bytes, rest) in [(&written, 1), (&cached, 0)] {
        let mut decoder = DecoderV2::new(Cursor::new(bytes)).unwrap();
        assert_eq!(decoder.take_key().unwrap(), "bold");
        assert_eq!(decoder.read_key().unwrap().as_ref(), "bold");
        assert_eq!(decoder.take_key().unwrap(), "em");
        assert!(decoder.take_key().is_err());
        assert_eq!(decoder.remaining(), rest);
        assert_eq!(decoder.read_u8().is_ok(), rest == 1);
    }
}
