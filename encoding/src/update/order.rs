//! Updates whose sections are out of order, which no peer of today writes.
//!
//! Reading an update as a whole, the later of two sections of one client replaces the earlier (as in Yjs). The tools walk
//! the blocks once; what they wrote of such an update would say something else, so they walk what is written here
//! instead. Costs O(bytes); a block is held as a whole meanwhile.

use super::section_writer::SectionWriter;
use crate::block::{Block, UpdateReader};
use crate::codec::{UpdateDecoder, UpdateEncoder};
use crate::error::Error;
use crate::id::ClientID;
use std::cmp::Reverse;
use std::collections::HashMap;

/// Writes an update without the sections that later ones replace; `None` if there are none.
pub(super) fn without_replaced<'a, D: UpdateDecoder<'a>, E: UpdateEncoder>(
    decoder: D,
    enc: E,
) -> Result<Option<Vec<u8>>, Error> {
    let (mut reader, sections) = sections(decoder)?;
    let kept = sections.iter().filter(|section| section.is_some()).count();
    if kept == sections.len() {
        return Ok(None);
    }
    write(&mut reader, sections, enc).map(Some)
}

/// Writes an update without the sections that later ones replace, the clients descending.
pub(super) fn in_order<'a, D: UpdateDecoder<'a>, E: UpdateEncoder>(
    decoder: D,
    enc: E,
) -> Result<Vec<u8>, Error> {
    let (mut reader, mut sections) = sections(decoder)?;
    sections.sort_by_key(|section| section.as_ref().map(|(client, _)| Reverse(*client)));
    write(&mut reader, sections, enc)
}

/// A section, or `None` in the place of one that was replaced.
type Section<'a> = Option<(ClientID, Vec<Block<'a>>)>;

fn sections<'a, D: UpdateDecoder<'a>>(decoder: D) -> Result<(UpdateReader<'a, D>, Vec<Section<'a>>), Error> {
    let mut reader = UpdateReader::new(decoder)?;
    let mut sections: Vec<Section<'a>> = Vec::new();
    let mut places: HashMap<ClientID, usize> = HashMap::new();
    while let Some(section) = reader.next_section()? {
        let mut blocks = Vec::new();
        while let Some(block) = reader.next_in_section()? {
            blocks.push(block);
        }
        let replaced = places.insert(section.client, sections.len());
        if let Some(earlier) = replaced.and_then(|place| sections.get_mut(place)) {
            *earlier = None;
        }
        sections.push(Some((section.client, blocks)));
    }
    Ok((reader, sections))
}

fn write<'a, D: UpdateDecoder<'a>, E: UpdateEncoder>(
    reader: &mut UpdateReader<'a, D>,
    sections: Vec<Section<'a>>,
    enc: E,
) -> Result<Vec<u8>, Error> {
    let mut writer = SectionWriter::new(enc);
    for (_, blocks) in sections.into_iter().flatten() {
        for block in blocks {
            writer.write(&block, 0);
        }
    }
    writer.finish_with(reader)
}
