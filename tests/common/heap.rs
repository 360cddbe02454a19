//! A global allocator that counts, so that a test can bound what an input may cost.
//!
//! Counts are kept per thread: tests that run side by side do not disturb each other.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static LIVE: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

/// The system's allocator, counted.
pub(crate) struct Counting;

fn count(change: isize) {
    // a thread that is ending has no counters any more
    let _ = LIVE.try_with(|live| {
        live.set(live.get() + change);
        let _ = PEAK.try_with(|peak| peak.set(peak.get().max(live.get())));
    });
}

#[expect(
    unsafe_code,
    reason = "the trait of global allocators is unsafe; every call goes to the system's allocator"
)]
// SAFETY: memory is handled by `System` alone, with the layouts that it was asked for; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller keeps the rules of `alloc`, which are those of `System`
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: the pointer came from `System` with this layout
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size as isize - layout.size() as isize);
        // SAFETY: the pointer came from `System` with this layout
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// Runs `f` and returns its result with the most memory it held at once, in bytes, on this thread.
pub(crate) fn peak<T>(f: impl FnOnce() -> T) -> (T, usize) {
    let before = LIVE.with(Cell::get);
    PEAK.with(|peak| peak.set(before));
    let result = f();
    let peak = PEAK.with(Cell::get) - before;
    (result, usize::try_from(peak).unwrap_or_default())
}

/// Runs `f` and returns how many bytes more this thread holds afterwards; 0 if it holds fewer.
pub(crate) fn kept<T>(f: impl FnOnce() -> T) -> usize {
    let before = LIVE.with(Cell::get);
    let result = f();
    let left = LIVE.with(Cell::get) - before;
    drop(result);
    usize::try_from(left).unwrap_or_default()
}
