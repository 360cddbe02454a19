//! One step of a benchmark, said without naming an engine.

/// A change to one of the three roots of a benchmark document (`text`, `array`, `map`).
///
/// Indices and lengths are in UTF-16 units for the text and in elements for the array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// Inserts `text` at index `at` of the text.
    Insert {
        /// Index, in UTF-16 units.
        at: u32,
        /// What to insert.
        text: String,
    },
    /// Removes `len` units from index `at` of the text.
    Remove {
        /// Index of the first unit that goes.
        at: u32,
        /// How many UTF-16 units go.
        len: u32,
    },
    /// Inserts one value at index `at` of the array.
    ArrayInsert {
        /// Index, in elements.
        at: u32,
        /// What to insert.
        value: Scalar,
    },
    /// Inserts several numbers at index `at` of the array, in one call.
    ArrayExtend {
        /// Index, in elements.
        at: u32,
        /// What to insert.
        numbers: Vec<i64>,
    },
    /// Sets the key `v` of the map.
    MapSet {
        /// The new value.
        value: Scalar,
    },
}

/// A value in an array or a map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scalar {
    /// A whole number.
    Number(i64),
    /// A string.
    Text(String),
    /// The object `{name, address: "here"}` of B3.2.
    Person(String),
}

impl Edit {
    /// Builds a text insertion.
    pub fn insert(at: u32, text: impl Into<String>) -> Self {
        Self::Insert { at, text: text.into() }
    }
}

/// Plays text edits on a plain ASCII string, the model that every single-writer benchmark is held against.
///
/// Returns `None` if an edit is not about the text, or out of range. Costs O(length of the text) an edit.
pub fn play_on_string<'e>(start: &str, edits: impl Iterator<Item = &'e Edit>) -> Option<String> {
    let mut text = start.as_bytes().to_vec();
    for edit in edits {
        match edit {
            Edit::Insert { at, text: new } if *at as usize <= text.len() => {
                let at = *at as usize;
                text.splice(at..at, new.bytes());
            }
            Edit::Remove { at, len } if *at as usize + *len as usize <= text.len() => {
                text.drain(*at as usize..*at as usize + *len as usize);
            }
            _ => return None,
        }
    }
    String::from_utf8(text).ok()
}
