//! Which kind each root of a document is. The bytes do not say it: a root is what the application takes it for. It is
//! told by what stands in it.

use std::collections::HashMap;

use indexmap::IndexMap;
use yatta::ClientID;
use yatta::ID;
use yatta::updates::tools::{Block, Content, DecodedUpdate, Item, Parent};
use yatta_encoding::block::{
    TYPE_REFS_XML_ELEMENT, TYPE_REFS_XML_FRAGMENT, TYPE_REFS_XML_HOOK, TYPE_REFS_XML_TEXT,
};

/// What a root looks like. Later kinds win over earlier ones: text that has attributes is text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RootKind {
    /// All in it is deleted.
    Unknown,
    Array,
    Map,
    Xml,
    Text,
}

/// Where a block belongs.
#[derive(Clone, Copy)]
enum Owner<'a> {
    Root(&'a str),
    Nested,
    /// Where the block with this id belongs.
    AsOf(ID),
}

/// Blocks of a client in clock order: first clock and owner.
type Owners<'a> = HashMap<ClientID, Vec<(u32, Owner<'a>)>>;

/// Looks at all blocks of a document and tells the kinds of its roots. Cost O(blocks log blocks).
pub(crate) fn kinds(state: &DecodedUpdate<'_>) -> IndexMap<String, RootKind> {
    let mut owners: Owners<'_> = HashMap::new();
    for block in &state.blocks {
        if let Block::Item(item) = block {
            owners.entry(item.id.client).or_default().push((item.id.clock, owner(item)));
        }
    }
    for of_client in owners.values_mut() {
        of_client.sort_by_key(|(clock, _)| *clock);
    }
    let mut kinds = IndexMap::new();
    for block in &state.blocks {
        let Block::Item(item) = block else { continue };
        if let Some(name) = root_of(&mut owners, item.id, state.blocks.len()) {
            let kind = kinds.entry(name.to_owned()).or_insert(RootKind::Unknown);
            *kind = RootKind::max(*kind, looks_like(item));
        }
    }
    kinds
}

fn owner<'a>(item: &'a Item<'_>) -> Owner<'a> {
    match (&item.parent, item.origin.or(item.right_origin)) {
        (Parent::Root(name), _) => Owner::Root(name),
        (Parent::Inherit, Some(id)) => Owner::AsOf(id),
        _ => Owner::Nested,
    }
}

/// Follows neighbours to a block that says where it belongs, and notes the answer at all that were passed.
fn root_of<'a>(owners: &mut Owners<'a>, id: ID, blocks: usize) -> Option<&'a str> {
    let place = |owners: &Owners<'a>, id: ID| {
        let of_client = owners.get(&id.client)?;
        of_client.partition_point(|(clock, _)| *clock <= id.clock).checked_sub(1)
    };
    let mut passed = Vec::new();
    let mut at = id;
    // A neighbour that is collected says nothing. No way is longer than the number of blocks.
    let found = loop {
        let Some(index) = place(owners, at) else { break Owner::Nested };
        let known = owners.get(&at.client).and_then(|of_client| of_client.get(index));
        match known {
            Some((_, Owner::AsOf(next))) if passed.len() <= blocks => {
                passed.push((at.client, index));
                at = *next;
            }
            Some((_, owner @ (Owner::Root(_) | Owner::Nested))) => break *owner,
            _ => break Owner::Nested,
        }
    };
    for (client, index) in passed {
        if let Some(known) = owners.get_mut(&client).and_then(|of_client| of_client.get_mut(index)) {
            known.1 = found;
        }
    }
    match found {
        Owner::Root(name) => Some(name),
        _ => None,
    }
}

fn looks_like(item: &Item<'_>) -> RootKind {
    match &item.content {
        Content::Deleted(_) => RootKind::Unknown,
        _ if item.has_parent_sub => RootKind::Map,
        Content::String(_) | Content::Format(..) | Content::Embed(_) => RootKind::Text,
        Content::Type(tag) => match tag.kind {
            TYPE_REFS_XML_ELEMENT | TYPE_REFS_XML_FRAGMENT | TYPE_REFS_XML_HOOK | TYPE_REFS_XML_TEXT => {
                RootKind::Xml
            }
            _ => RootKind::Array,
        },
        Content::Json(_) | Content::Binary(_) | Content::Any(_) | Content::Doc { .. } => RootKind::Array,
    }
}
