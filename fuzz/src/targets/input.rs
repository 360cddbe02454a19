//! An input taken apart from its front; behind its end everything is 0.

/// What is left of an input.
pub(super) struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    pub(super) fn new(data: &'a [u8]) -> Self {
        Self(data)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The next byte.
    pub(super) fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    /// A number below `bound`, which is at least 1.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        let mut number = usize::from(self.byte());
        if bound > 256 {
            number |= usize::from(self.byte()) << 8;
        }
        number % bound
    }

    /// A part: two bytes of its length, and as many bytes as there are.
    pub(super) fn part(&mut self) -> &'a [u8] {
        let len = usize::from(self.byte()) | usize::from(self.byte()) << 8;
        let (part, rest) = self.0.split_at(len.min(self.0.len()));
        self.0 = rest;
        part
    }

    /// All that is left.
    pub(super) fn rest(self) -> &'a [u8] {
        self.0
    }
}
