//! The same edits in another script: each ASCII character becomes a Chinese one, an emoji or a letter with an accent.

use crate::edit::{Edit, play_on_string};
use crate::script::{Script, Start};

/// What stands for an ASCII character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alphabet {
    /// One UTF-16 unit, three bytes.
    Chinese,
    /// Two units (a surrogate pair), four bytes.
    Emoji,
    /// Two units, a letter and a combining accent, three bytes.
    Combining,
}

impl Alphabet {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Chinese, Self::Emoji, Self::Combining];

    /// A word for tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Chinese => "Chinese",
            Self::Emoji => "emoji",
            Self::Combining => "combining",
        }
    }

    /// UTF-16 units of what stands for one character.
    fn units(self) -> u32 {
        match self {
            Self::Chinese => 1,
            Self::Emoji | Self::Combining => 2,
        }
    }

    fn text(self, ascii: &str) -> String {
        let mut out = String::new();
        for byte in ascii.bytes() {
            let offset = u32::from(byte & 0x7f);
            match self {
                Self::Chinese => out.extend(char::from_u32(0x4e00 + offset)),
                Self::Emoji => out.extend(char::from_u32(0x1f300 + offset)),
                Self::Combining => out.extend([char::from(byte & 0x7f), '\u{301}']),
            }
        }
        out
    }

    fn edit(self, edit: &Edit) -> Edit {
        let units = self.units();
        match edit {
            Edit::Insert { at, text } => Edit::insert(at * units, self.text(text)),
            Edit::Remove { at, len } => Edit::Remove { at: at * units, len: len * units },
            other => other.clone(),
        }
    }

    /// Writes a script of one peer in this alphabet.
    ///
    /// Returns `None` if the script has several peers, starts with something, or holds a text that is not ASCII.
    pub fn script(self, plain: &Script) -> Option<Script> {
        let ascii = plain.edits().iter().all(|edit| match edit {
            Edit::Insert { text, .. } => text.is_ascii(),
            _ => true,
        });
        if plain.peers != 1 || !matches!(plain.start, Start::Empty) || !ascii {
            return None;
        }
        let (id, title) =
            (format!("{} {}", plain.id, self.name()), format!("{}, {}", plain.title, self.name()));
        let mut script = Script::new(id, title, 1, plain.finish);
        for turn in plain.turns() {
            script.turn(0, turn.edits.iter().map(|edit| self.edit(edit)));
        }
        let expected = plain.expected.clone().or_else(|| play_on_string("", plain.edits().iter()))?;
        script.expected = Some(self.text(&expected));
        Some(script)
    }
}

#[cfg(test)]
mod tests {
    use super::Alphabet;
    use crate::compare;
    use crate::suite::b1;

    #[test]
    fn both_engines_write_all_alphabets() {
        for alphabet in Alphabet::ALL {
            for plain in b1(60).iter().filter(|script| ["B1.1", "B1.4", "B1.7"].contains(&script.id.as_str()))
            {
                let script = alphabet.script(plain).expect("it is ASCII, of one peer");
                let text = compare::both(&script).expect("the engines agree").content["text"].to_string();
                assert!(!text.is_ascii(), "{text}");
            }
        }
    }
}
