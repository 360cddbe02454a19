//! What waits to be written to one connection: bounded, filled by rooms, emptied by the connection's task.
//!
//! Broadcasts of a room count against the bound. When they go beyond it the room's part is thrown out and replaced by one
//! [`Out::CatchUp`], which becomes one diff when the connection takes writes again: a slow peer costs a bounded amount of
//! memory and never silently misses anything. Cost O(1) a frame.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::task::{Poll, Waker};

use bytes::Bytes;
use parking_lot::{Mutex, MutexGuard};

use crate::wire::close::Close;

/// Names one of the rooms of a connection (a hocuspocus socket has several).
pub type Slot = u32;

/// Something to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Out {
    /// A frame that was asked for, or an acknowledgement: never thrown out.
    Frame(Bytes),
    /// An update for all, as a frame; the payload begins at this offset.
    Update(Slot, Bytes, usize),
    /// Presence for all.
    Presence(Slot, Bytes),
    /// What a slow peer missed has to be worked out.
    CatchUp(Slot),
}

impl Out {
    fn droppable(&self, slot: Slot) -> Option<usize> {
        match self {
            Self::Update(of, frame, _) | Self::Presence(of, frame) if *of == slot => Some(frame.len()),
            _ => None,
        }
    }
}

#[derive(Default)]
struct State {
    queue: VecDeque<Out>,
    /// Bytes of broadcasts in the queue.
    bytes: usize,
    close: Option<Close>,
    /// The connection's task, while it waits. Only one does, so this is all that waking needs.
    waiting: Option<Waker>,
}

/// The queue of a connection.
pub struct Outbox {
    state: Mutex<State>,
    limit: usize,
}

/// An entry of the queue costs this much beside its bytes, so that many tiny frames count too.
const OVERHEAD: usize = 64;

impl Outbox {
    /// Makes an empty queue that holds this many bytes of broadcasts.
    pub fn new(limit: usize) -> Self {
        Self { state: Mutex::default(), limit }
    }

    /// Adds what may not be lost.
    pub fn push(&self, frame: Bytes) {
        let mut state = self.state.lock();
        state.queue.push_back(Out::Frame(frame));
        wake(state);
    }

    /// Adds a broadcast. If it does not fit, all of the slot's broadcasts are thrown out, this one too, and their updates
    /// are returned: the peer has to catch up.
    #[must_use]
    pub fn broadcast(&self, slot: Slot, out: Out) -> Option<Vec<Bytes>> {
        let Some(len) = out.droppable(slot) else {
            debug_assert!(false, "{out:?} is no broadcast");
            return None;
        };
        let mut state = self.state.lock();
        if state.bytes + len + OVERHEAD <= self.limit || state.queue.is_empty() {
            state.bytes += len + OVERHEAD;
            state.queue.push_back(out);
            wake(state);
            return None;
        }
        let mut dropped = Vec::new();
        let mut freed = 0;
        let queue = std::mem::take(&mut state.queue);
        for out in queue.into_iter().chain([out]) {
            match out.droppable(slot) {
                None => state.queue.push_back(out),
                Some(len) => {
                    freed += len + OVERHEAD;
                    if let Out::Update(_, frame, payload) = out {
                        dropped.push(frame.slice(payload.min(frame.len())..));
                    }
                }
            }
        }
        state.bytes = (state.bytes + len + OVERHEAD).saturating_sub(freed);
        state.queue.push_back(Out::CatchUp(slot));
        wake(state);
        Some(dropped)
    }

    /// Asks the connection to close; the first reason stands. What is in the queue is written before.
    pub fn close(&self, close: Close) {
        let mut state = self.state.lock();
        state.close.get_or_insert(close);
        wake(state);
    }

    /// Takes all that waits.
    pub fn take(&self) -> (VecDeque<Out>, Option<Close>) {
        let mut state = self.state.lock();
        state.bytes = 0;
        (std::mem::take(&mut state.queue), state.close)
    }

    /// Waits until there is something to take. For one task at a time.
    pub async fn wait(&self) {
        poll_fn(|context| {
            let mut state = self.state.lock();
            if !state.queue.is_empty() || state.close.is_some() {
                return Poll::Ready(());
            }
            if !state.waiting.as_ref().is_some_and(|waiting| waiting.will_wake(context.waker())) {
                state.waiting = Some(context.waker().clone());
            }
            Poll::Pending
        })
        .await;
    }
}

/// Wakes the task that waits, after the lock is given up.
fn wake(mut state: MutexGuard<'_, State>) {
    let waiting = state.waiting.take();
    drop(state);
    if let Some(waiting) = waiting {
        waiting.wake();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn update(byte: u8, len: usize) -> Out {
        Out::Update(1, Bytes::from(vec![byte; len]), 2)
    }

    #[test]
    fn what_does_not_fit_becomes_one_catch_up() {
        let outbox = Outbox::new(300);
        outbox.push(Bytes::from_static(b"asked for"));
        assert_eq!(outbox.broadcast(1, update(1, 100)), None);
        assert_eq!(outbox.broadcast(2, Out::Presence(2, Bytes::from_static(b"other room"))), None);
        let dropped = outbox.broadcast(1, update(2, 100)).unwrap();
        assert_eq!(dropped, [Bytes::from(vec![1; 98]), Bytes::from(vec![2; 98])]);
        let (queue, close) = outbox.take();
        let other = Out::Presence(2, Bytes::from_static(b"other room"));
        assert_eq!(queue, [Out::Frame(Bytes::from_static(b"asked for")), other, Out::CatchUp(1)]);
        assert_eq!(close, None);
    }

    #[test]
    fn a_lone_frame_always_fits() {
        let outbox = Outbox::new(10);
        assert_eq!(outbox.broadcast(1, update(1, 100)), None);
        assert!(outbox.broadcast(1, update(1, 100)).is_some());
        outbox.close(Close::Gone);
        outbox.close(Close::Normal);
        assert_eq!(outbox.take().1, Some(Close::Gone));
        assert_eq!(outbox.broadcast(1, update(1, 100)), None);
    }
}
