//! The content of items that does not fit into their slot, and the table that holds it.
//!
//! Strings are not here: they live in the text buffer of their client (see `text_buffer`).

use std::sync::{Arc, OnceLock};

use smallvec::SmallVec;
use yatta_encoding::{Any, Value};

use super::index::{BranchIdx, KeyIdx};

/// Boxed content. Lengths: as many elements as `Any` and `Json` hold, 1 for all others.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    Any(SmallVec<[Value; 1]>),
    /// JSON text of each element (legacy documents).
    Json(Vec<Arc<str>>),
    Binary(Arc<[u8]>),
    Embed(Value),
    Format(KeyIdx, Value),
    Type(BranchIdx),
    Doc(Arc<SubdocContent>),
    /// An unused slot.
    Free,
}

/// What the wire says of a sub-document; the document itself is made by the layer above when it is asked for. It is
/// shared with the change set, so that a document that is first asked for after its deletion is the same for all.
#[derive(Debug)]
pub(crate) struct SubdocContent {
    pub(crate) guid: Arc<str>,
    pub(crate) options: Any,
    /// It stands in for one that was destroyed: whatever the options say, it is not to be loaded.
    pub(crate) idle: bool,
    /// The live document (a `Doc` of a higher layer), once there is one.
    pub(crate) doc: OnceLock<SubdocLink>,
}

/// A `Doc` of a higher layer.
pub(crate) type SubdocLink = Arc<dyn std::any::Any + Send + Sync>;

impl SubdocContent {
    /// Content of which nobody has the document yet.
    pub(crate) fn new(guid: Arc<str>, options: Any) -> Arc<Self> {
        Arc::new(Self { guid, options, idle: false, doc: OnceLock::new() })
    }

    /// The same sub-document anew: another document of the same guid and options.
    pub(crate) fn fresh(&self, idle: bool) -> Arc<Self> {
        Arc::new(Self {
            guid: Arc::clone(&self.guid),
            options: self.options.clone(),
            idle,
            doc: OnceLock::new(),
        })
    }
}

/// The table of boxed content.
#[derive(Default)]
pub(crate) struct Contents {
    slots: Vec<Content>,
    free: Vec<u32>,
}

impl Contents {
    pub(crate) fn alloc(&mut self, content: Content) -> u32 {
        if let Some(slot) = self.free.pop() {
            self.slots[slot as usize] = content;
            return slot;
        }
        self.slots.push(content);
        self.slots.len() as u32 - 1
    }

    /// Takes the content out and frees its slot.
    pub(crate) fn take(&mut self, slot: u32) -> Content {
        let content = std::mem::replace(&mut self.slots[slot as usize], Content::Free);
        debug_assert!(!matches!(content, Content::Free), "I10: content {slot} freed twice");
        self.free.push(slot);
        content
    }

    #[inline]
    pub(crate) fn get(&self, slot: u32) -> &Content {
        &self.slots[slot as usize]
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, slot: u32) -> &mut Content {
        &mut self.slots[slot as usize]
    }
}
