//! A node of the position tree: up to `N` lanes, each an item or a kid, with running sums of their widths.
//!
//! Leaves and inner nodes are the same structure, so there is one copy of the code that shifts lanes about.
//!
//! Kept here: lanes `len..` hold `EMPTY` and end at the total of the node, so that every scan can run over all
//! `N` lanes without a branch, which the compiler turns into vector code. Running sums (not widths) make the
//! search a count of the ends that are not beyond the index, and the place of a lane a single load; the price
//! is that a change of width adds to all lanes after it, again one vector loop.

use std::hint::black_box;

/// Stands for "no node" and "no lane".
pub(super) const EMPTY: u32 = u32::MAX;

/// No bits, then all bits: seen from `32 - slot` on, a mask of the lanes from `slot` on.
const FROM: [u32; 64] = {
    let mut masks = [0; 64];
    let mut at = 32;
    while at < 64 {
        masks[at] = u32::MAX;
        at += 1;
    }
    masks
};

/// The slots, counted from 1.
static SLOTS: [u32; 32] = {
    let mut slots = [0; 32];
    let mut at = 0;
    while at < 32 {
        slots[at] = at as u32 + 1;
        at += 1;
    }
    slots
};

/// `N` lanes: an item or kid each, and where it ends, counted from the start of the node.
#[derive(Debug, Clone)]
pub(super) struct Node<const N: usize> {
    /// The inner node above, `EMPTY` for the root; the next free node while on a free list.
    pub(super) parent: u32,
    /// A bit for each lane that is, or contains, a live format mark.
    pub(super) marked: u32,
    len: u16,
    /// 0 for a leaf, else one more than that of the kids.
    pub(super) level: u16,
    lanes: [u32; N],
    ends: [u32; N],
}

impl<const N: usize> Node<N> {
    pub(super) const fn new(level: u16) -> Self {
        const { assert!(N > 1 && N <= 32, "`marked` has 32 bits") };
        Self { parent: EMPTY, marked: 0, len: 0, level, lanes: [EMPTY; N], ends: [0; N] }
    }

    #[inline]
    pub(super) const fn len(&self) -> usize {
        self.len as usize
    }

    #[inline]
    pub(super) const fn is_full(&self) -> bool {
        self.len as usize == N
    }

    /// The lanes in use.
    #[inline]
    pub(super) fn lanes(&self) -> &[u32] {
        &self.lanes[..self.len()]
    }

    #[inline]
    pub(super) const fn lane(&self, slot: usize) -> u32 {
        self.lanes[slot]
    }

    /// The sum of all widths.
    #[inline]
    pub(super) const fn total(&self) -> u32 {
        self.ends[N - 1]
    }

    /// The sum of the widths before `slot`.
    #[inline]
    pub(super) const fn start(&self, slot: usize) -> u32 {
        if slot == 0 { 0 } else { self.ends[slot - 1] }
    }

    #[inline]
    pub(super) const fn width(&self, slot: usize) -> u32 {
        self.ends[slot].wrapping_sub(self.start(slot))
    }

    /// The lane whose range contains `index`, which is below the total.
    #[inline]
    pub(super) fn slot_at(&self, index: u32) -> usize {
        // Constants that the compiler can see make it leave vector code half-way; so it does not see them.
        let one = black_box(1);
        self.ends.iter().map(|&end| if end <= index { one } else { 0_u32 }).sum::<u32>() as usize
    }

    /// The slot of a lane that is known to be here.
    ///
    /// # Panics
    /// If it is not: a back-pointer is wrong.
    #[inline]
    pub(super) fn slot_of(&self, lane: u32) -> usize {
        let slots = black_box(&SLOTS); // See `slot_at`.
        let mut found = 0;
        for (&it, slot) in self.lanes.iter().zip(slots) {
            found |= slot & u32::from(it == lane).wrapping_neg();
        }
        assert!(found != 0, "I3: #{lane} is not in the node that it points at");
        found as usize - 1
    }

    /// Adds `delta` (wrapping, so that it can be negative) to the width of `slot`.
    #[inline]
    pub(super) fn add(&mut self, slot: usize, delta: u32) {
        let from = &FROM[32 - slot..][..N];
        for (end, from) in self.ends.iter_mut().zip(from) {
            *end = end.wrapping_add(delta & from);
        }
    }

    /// Puts a lane before `slot`. The node is not full.
    #[inline]
    pub(super) fn insert(&mut self, slot: usize, lane: u32, width: u32, marked: bool) {
        debug_assert!(!self.is_full() && slot <= self.len(), "slot {slot} of {}", self.len());
        let start = self.start(slot);
        self.lanes.copy_within(slot..N - 1, slot + 1);
        self.ends.copy_within(slot..N - 1, slot + 1);
        self.lanes[slot] = lane;
        self.ends[slot] = start;
        self.len += 1;
        self.add(slot, width);
        let below = below(slot);
        self.marked = self.marked & below | (self.marked & !below) << 1 | u32::from(marked) << slot;
    }

    /// Takes a lane out.
    #[inline]
    pub(super) fn remove(&mut self, slot: usize) {
        debug_assert!(slot < self.len(), "slot {slot} of {}", self.len());
        let width = self.width(slot);
        self.lanes.copy_within(slot + 1.., slot);
        self.ends.copy_within(slot + 1.., slot);
        self.lanes[N - 1] = EMPTY;
        self.len -= 1;
        self.add(slot, width.wrapping_neg());
        let below = below(slot);
        self.marked = self.marked & below | self.marked >> 1 & !below;
    }

    /// Appends a lane while the node is built. It is not full.
    #[inline]
    pub(super) fn push(&mut self, lane: u32, width: u32, marked: bool) {
        let slot = self.len();
        self.lanes[slot] = lane;
        self.add(slot, width);
        self.len += 1;
        self.marked |= u32::from(marked) << slot;
    }

    /// Moves the lanes from `at` (above 0) on to a new node, which has no parent yet.
    pub(super) fn split_off(&mut self, at: usize) -> Self {
        let mut right = Self::new(self.level);
        let (base, moved) = (self.start(at), self.len() - at);
        right.lanes[..moved].copy_from_slice(&self.lanes[at..at + moved]);
        for (slot, end) in right.ends.iter_mut().enumerate() {
            *end = self.ends[(at + slot).min(N - 1)].wrapping_sub(base);
        }
        right.marked = self.marked >> at;
        right.len = self.len - at as u16;
        self.lanes[at..].fill(EMPTY);
        self.ends[at..].fill(base);
        self.marked &= below(at);
        self.len = at as u16;
        right
    }

    /// Moves all lanes of `other` in front of, or behind, those of this node. There is room.
    pub(super) fn absorb(&mut self, other: &Self, in_front: bool) {
        let at = if in_front { 0 } else { self.len() };
        for slot in 0..other.len() {
            let marked = other.marked >> slot & 1 != 0;
            self.insert(at + slot, other.lane(slot), other.width(slot), marked);
        }
    }

    /// Says whether `slot` is or contains a live mark.
    #[inline]
    pub(super) const fn set_marked(&mut self, slot: usize, marked: bool) {
        self.marked = self.marked & !(1 << slot) | (marked as u32) << slot;
    }

    /// Panics with the values if the lanes are not as the header of this file says.
    pub(super) fn check(&self) {
        let len = self.len();
        assert!((1..=N).contains(&len), "I3: a node of {len} lanes: {self:?}");
        for slot in 0..N {
            assert_eq!(self.lanes[slot] == EMPTY, slot >= len, "I3: lane {slot} of {len}: {self:?}");
            assert!(self.start(slot) <= self.ends[slot], "I3: lane {slot} has a negative width: {self:?}");
            assert!(slot < len || self.width(slot) == 0, "I3: empty lane {slot} has a width: {self:?}");
        }
        assert!(len == 32 || self.marked >> len == 0, "an empty lane has a mark: {self:?}");
    }
}

/// A mask of the slots before `slot`, which is at most 31.
#[inline]
pub(super) const fn below(slot: usize) -> u32 {
    (1 << slot) - 1
}
