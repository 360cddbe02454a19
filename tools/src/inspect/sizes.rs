//! What takes how much in an update: by client, and by what the blocks hold.

use indexmap::IndexMap;
use yatta::ClientID;
use yatta::updates::encoder::{Encoder, EncoderV1};
use yatta::updates::tools::{Block, Content, DecodedUpdate};
use yatta_encoding::block::write_block;

/// What some blocks take.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) blocks: u64,
    /// Clock units: UTF-16 units of text, elements of lists.
    pub(super) units: u64,
    /// Bytes in the first format, whatever the format of the update.
    pub(super) bytes: u64,
}

/// What one client has in an update.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct OfClient {
    /// The first clock, and the one after the last.
    pub(super) clocks: (u32, u32),
    pub(super) size: Size,
    /// How many units the delete set names, of this update or of others.
    pub(super) deleted: u64,
}

/// The sizes of an update.
#[derive(Debug, Default)]
pub(super) struct Sizes {
    pub(super) clients: IndexMap<ClientID, OfClient>,
    pub(super) contents: IndexMap<String, Size>,
}

impl Sizes {
    /// Measures an update.
    pub(super) fn of(update: &DecodedUpdate<'_>) -> Self {
        let mut sizes = Self::default();
        for block in &update.blocks {
            let mut encoder = EncoderV1::new();
            write_block(&mut encoder, block, 0);
            let one = Size { blocks: 1, units: block.len().into(), bytes: encoder.to_vec().len() as u64 };
            let id = block.id();
            let client = sizes
                .clients
                .entry(id.client)
                .or_insert_with(|| OfClient { clocks: (id.clock, id.clock), ..OfClient::default() });
            client.clocks.1 = block.clock_end();
            client.size.add(one);
            sizes.contents.entry(content(block)).or_default().add(one);
        }
        for range in &update.delete_set {
            sizes.clients.entry(range.client).or_default().deleted += u64::from(range.len);
        }
        sizes.contents.sort_by(|_, left, _, right| right.bytes.cmp(&left.bytes));
        sizes
    }
}

impl Size {
    fn add(&mut self, other: Self) {
        self.blocks += other.blocks;
        self.units += other.units;
        self.bytes += other.bytes;
    }
}

/// Names what a block holds.
pub(super) fn content(block: &Block<'_>) -> String {
    let name = match block {
        Block::Gc { .. } => "collected",
        Block::Skip { .. } => "missing",
        Block::Item(item) => match &item.content {
            Content::Deleted(_) => "deleted",
            Content::Json(_) => "json",
            Content::Binary(_) => "binary",
            Content::String(_) => "text",
            Content::Embed(_) => "embed",
            Content::Format(..) => "format",
            Content::Type(_) => "type",
            Content::Any(_) => "values",
            Content::Doc { .. } => "document",
        },
    };
    name.to_owned()
}
