//! What the tests share: hexadecimal text, golden files, walking an update to the end.
#![allow(dead_code, reason = "each test file uses a part")]

use serde_json::Value as Json;
use yatta_encoding::block::{Block, UpdateReader, write_block};
use yatta_encoding::delete_set::DeleteSetBuilder;
use yatta_encoding::{
    Cursor, DecoderV1, DecoderV2, EncoderV1, EncoderV2, Error, UpdateDecoder, UpdateEncoder,
};

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn unhex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.trim().bytes().map(|c| (c as char).to_digit(16).expect("hex") as u8).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

pub(crate) fn testdata(path: &str) -> String {
    let path = format!("{}/../testdata/{path}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

pub(crate) fn golden(path: &str) -> Json {
    serde_json::from_str(&testdata(path)).expect("JSON")
}

pub(crate) fn text<'a>(json: &'a Json, key: &str) -> &'a str {
    json[key].as_str().unwrap_or_else(|| panic!("no {key} in {json}"))
}

/// Reads an update to its end and writes it again, block by block.
pub(crate) fn rewrite<'a, D: UpdateDecoder<'a>, E: UpdateEncoder>(
    decoder: D,
    mut enc: E,
) -> Result<Vec<u8>, Error> {
    let mut reader = UpdateReader::new(decoder)?;
    let mut sections: Vec<(u64, Vec<Block<'a>>)> = Vec::new();
    while let Some(section) = reader.next_section()? {
        let mut blocks = Vec::new();
        while let Some(block) = reader.next_in_section()? {
            blocks.push(block);
        }
        assert_eq!(section.blocks, blocks.len() as u64);
        sections.push((section.client.get(), blocks));
        if let Some((_, blocks)) = sections.last()
            && let Some(first) = blocks.first()
        {
            assert_eq!((first.id().client, first.id().clock), (section.client, section.clock));
        }
    }
    enc.write_var(sections.len());
    for (client, blocks) in &sections {
        enc.write_var(blocks.len());
        enc.write_client(yatta_encoding::ClientID::new(*client));
        enc.write_var(blocks.first().map_or(0, |block| block.id().clock));
        for block in blocks {
            write_block(&mut enc, block, 0);
        }
    }
    let mut deleted = DeleteSetBuilder::new();
    for range in reader.delete_set()? {
        deleted.push(range);
    }
    deleted.write(&mut enc);
    Ok(enc.to_vec())
}

pub(crate) fn rewrite_v1(update: &[u8]) -> Result<Vec<u8>, Error> {
    rewrite(DecoderV1::from(update), EncoderV1::new())
}

pub(crate) fn rewrite_v2(update: &[u8]) -> Result<Vec<u8>, Error> {
    rewrite(DecoderV2::new(Cursor::new(update))?, EncoderV2::new())
}
