//! An allocator that counts what lives on the heap and what was asked of it, by thread.
//!
//! Counted are the bytes asked for, without the allocator's own overhead. Engines run on one thread here,
//! so a cell a thread does, and costs no locked instruction in what is timed.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    // Const and without a destructor: the first access may happen inside the allocator.
    static LIVE: Cell<isize> = const { Cell::new(0) };
    static ASKED: Cell<Asked> = const { Cell::new(Asked { allocations: 0, bytes: 0 }) };
}

/// What was asked of the allocator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// Calls that allocated, or made a block larger or smaller.
    pub allocations: u64,
    /// Bytes of new blocks, and bytes by which blocks grew.
    pub bytes: u64,
}

/// Returns what this thread has asked for since it began. All 0 where [`Counting`] is not the global allocator.
pub fn asked() -> Asked {
    ASKED.with(Cell::get)
}

/// The system allocator with a counter. A program registers it with `#[global_allocator]`.
#[derive(Clone, Copy, Debug)]
pub struct Counting;

/// Returns the bytes that this thread allocated and nobody freed on it. Always 0 where [`Counting`] is not
/// the global allocator.
pub fn live() -> isize {
    LIVE.with(Cell::get)
}

/// Runs `make` and returns its result with the bytes that it left on the heap.
pub fn held<T>(make: impl FnOnce() -> T) -> (T, usize) {
    let before = live();
    let made = make();
    (made, usize::try_from(live() - before).unwrap_or(0))
}

fn count(bytes: isize) {
    // A thread that is being torn down no longer counts.
    let _ = LIVE.try_with(|live| live.set(live.get() + bytes));
}

fn ask(bytes: isize) {
    count(bytes);
    let _ = ASKED.try_with(|asked| {
        let before = asked.get();
        let bytes = before.bytes + u64::try_from(bytes).unwrap_or(0);
        asked.set(Asked { allocations: before.allocations + 1, bytes });
    });
}

#[expect(clippy::cast_possible_wrap, reason = "a layout is never larger than isize::MAX")]
fn signed(bytes: usize) -> isize {
    bytes as isize
}

#[expect(unsafe_code, reason = "a global allocator is an unsafe trait; every call goes on to the system's")]
// SAFETY: each method forwards its arguments unchanged to `System`, which keeps the contract of the trait;
// counting neither allocates nor panics.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ask(signed(layout.size()));
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        ask(signed(layout.size()));
        // SAFETY: the caller keeps the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        count(-signed(layout.size()));
        // SAFETY: the caller keeps the contract of `dealloc`; the block came from `System`.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        ask(signed(new_size) - signed(layout.size()));
        // SAFETY: the caller keeps the contract of `realloc`; the block came from `System`.
        unsafe { System.realloc(block, layout, new_size) }
    }
}

#[cfg(test)]
mod tests {
    use super::{Counting, asked, held};

    #[global_allocator]
    static ALLOCATOR: Counting = Counting;

    #[test]
    fn counts_what_is_kept_and_not_what_is_freed() {
        let (kept, bytes) = held(|| {
            drop(vec![0_u8; 5000]);
            let mut grown = Vec::with_capacity(10);
            grown.resize(1000, 1_u8);
            grown.shrink_to_fit();
            grown
        });
        assert_eq!((kept.len(), bytes), (1000, 1000));
    }

    #[test]
    fn counts_what_is_asked_for() {
        let before = asked();
        let mut grown = Vec::<u8>::with_capacity(10);
        grown.reserve_exact(30);
        drop(grown);
        let after = asked();
        assert_eq!((after.allocations - before.allocations, after.bytes - before.bytes), (2, 30));
    }
}
