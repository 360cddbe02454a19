//! What an [`Update`] holds: questions that are answered without a document. Each costs O(blocks).

use std::fmt;

use crate::block::item::Kind;
use crate::block::update::{Section, Update, UpdateBlock};
use crate::ids::{IdSet, StateVector};
use yatta_encoding::{ClientID, ID};

impl Update {
    fn section_client(&self, section: &Section) -> ClientID {
        self.clients[section.client as usize]
    }

    /// Returns whether a document in this state would learn something of the blocks: whether one of them begins at or
    /// before the next clock of its client and ends after it. Deletions are not looked at.
    pub fn extends(&self, state_vector: &StateVector) -> bool {
        self.sections.iter().any(|section| {
            let next = state_vector.get(&self.section_client(section));
            let news =
                |block: &UpdateBlock| block.clock <= next && block.end() > next && block.kind != Kind::Skip;
            self.blocks_of(section).iter().any(news)
        })
    }

    /// Returns the state that an empty document would have after this update: of each client the end of what begins at
    /// clock 0 and has no gap.
    pub fn state_vector(&self) -> StateVector {
        let end = |section: &Section| {
            let blocks = self.blocks_of(section);
            let mut end = 0;
            for block in blocks {
                if block.clock != end || block.kind == Kind::Skip {
                    break;
                }
                end = block.end();
            }
            (end > 0).then(|| (self.section_client(section), end))
        };
        self.sections.iter().filter_map(end).collect()
    }

    /// Returns of each client the clock of the first block.
    pub fn state_vector_lower(&self) -> StateVector {
        let mut state = StateVector::default();
        for section in &self.sections {
            let first = self.blocks_of(section).iter().find(|block| block.kind != Kind::Skip);
            if let Some(block) = first {
                state.set_max(self.section_client(section), block.clock);
            }
        }
        state
    }

    /// Returns what the blocks insert. With `include_deleted` also what was inserted and deleted again, be it collected
    /// or only without content.
    pub fn insertions(&self, include_deleted: bool) -> IdSet {
        let mut inserted = IdSet::default();
        for section in &self.sections {
            let client = self.section_client(section);
            for block in self.blocks_of(section) {
                let counts = match block.kind {
                    Kind::Skip => false,
                    Kind::Gc | Kind::Deleted => include_deleted,
                    _ => true,
                };
                if counts {
                    inserted.insert(ID { client, clock: block.clock }, block.len);
                }
            }
        }
        inserted
    }
}

/// Writes the blocks of each client with their clocks, then the deletions.
impl fmt::Display for Update {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        for section in &self.sections {
            write!(f, " {}: [", self.section_client(section))?;
            for (place, block) in self.blocks_of(section).iter().enumerate() {
                let comma = if place == 0 { "" } else { ", " };
                write!(f, "{comma}{:?} {}..{}", block.kind, block.clock, block.end())?;
                if block.kind == Kind::String {
                    let (start, end) = block.content;
                    write!(f, " {:?}", &self.text[start as usize..end as usize])?;
                }
            }
            f.write_str("]")?;
        }
        if !self.deletes.is_empty() {
            write!(f, " deleted: {}", self.deletes)?;
        }
        f.write_str(" }")
    }
}
