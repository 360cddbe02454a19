//! What waits to be written to one connection: bounded, filled by rooms, emptied by whoever can write.
//!
//! Broadcasts of a room count against the bound. When they go beyond it the room's part is thrown out and replaced by one
//! [`Out::CatchUp`], which becomes one diff when the connection takes writes again: a slow peer costs a bounded amount of
//! memory and never silently misses anything. Cost O(1) a frame.
//!
//! Whoever made a broadcast writes it to the sockets itself, right after it gave up the room's lock ([`Outbox::send`]): waking
//! the connection's task for it costs as much again as the kernel's work. The task is woken only for what does not go at once.
//! Invariants, all under the one lock:
//!
//! - **O1** Bytes reach the socket in the order of the queue; of the front entry `written` bytes are on their way, and it is
//!   not thrown out any more.
//! - **O2** The WebSocket's own control frames go between our frames, never into one: while it is within one (`foreign`) we
//!   write nothing, while we are within one it writes nothing.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::io::{self, ErrorKind, IoSlice};
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use bytes::Bytes;
use parking_lot::{Mutex, MutexGuard};

use crate::wire::close::Close;

/// Names one of the rooms of a connection (a hocuspocus socket has several).
pub type Slot = u32;

/// Something to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Out {
    /// A message that was asked for, or an acknowledgement: never thrown out.
    Frame(Bytes),
    /// An update for all, as a message; the payload begins at this offset.
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

    fn message(&self) -> Option<&Bytes> {
        match self {
            Self::Frame(frame) | Self::Update(_, frame, _) | Self::Presence(_, frame) => Some(frame),
            Self::CatchUp(_) => None,
        }
    }

    /// What it counts against the bound.
    fn weight(&self) -> usize {
        match self {
            Self::Update(_, frame, _) | Self::Presence(_, frame) => frame.len() + OVERHEAD,
            Self::Frame(_) | Self::CatchUp(_) => 0,
        }
    }
}

/// A socket that anybody may write to, without waiting.
pub trait Sink: Send + Sync {
    /// Writes what the socket takes at once; `WouldBlock` if that is nothing.
    ///
    /// # Errors
    /// As the socket says.
    fn try_write(&self, parts: &[IoSlice<'_>]) -> io::Result<usize>;
}

/// How far writing came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// All is written; then it may be time to close.
    Done(Option<Close>),
    /// The socket takes no more, or took a lot at once.
    Blocked,
    /// The WebSocket has to end its own frame first (O2).
    Foreign,
    /// The next thing to write has to be worked out: see [`Outbox::caught_up`].
    CatchUp(Slot),
}

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wrote {
    /// Messages that are out.
    pub messages: u64,
    /// Bytes, with the heads of frames.
    pub bytes: u64,
}

struct State {
    queue: VecDeque<Out>,
    /// Bytes of broadcasts in the queue.
    bytes: usize,
    /// Bytes of the front entry, with the head of its frame, that are written.
    written: usize,
    foreign: bool,
    close: Option<Close>,
    /// The connection ends: nothing is taken any more.
    ended: bool,
    /// When something was last written.
    last: Instant,
    /// Where others than the connection's task may write to; TLS has none.
    sink: Option<Box<dyn Sink>>,
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
/// Messages that are written by one call.
const AT_ONCE: usize = 16;
/// After so many bytes the lock is given up for a moment, so that whoever fills the queue does not wait for a fast reader.
const HOLD: u64 = 512 << 10;
/// What is below this in all is copied into one piece: cheaper than a call with many.
const SMALL: usize = 1024;
/// Bytes of the head of a frame.
const HEAD: usize = 10;

impl Outbox {
    /// Makes an empty queue that holds this many bytes of broadcasts.
    pub fn new(limit: usize) -> Self {
        let state = State {
            queue: VecDeque::new(),
            bytes: 0,
            written: 0,
            foreign: false,
            close: None,
            ended: false,
            last: Instant::now(),
            sink: None,
            waiting: None,
        };
        Self { state: Mutex::new(state), limit }
    }

    /// Lets others than the connection's task write, too.
    pub fn open(&self, sink: Box<dyn Sink>) {
        self.state.lock().sink = Some(sink);
    }

    /// Adds what may not be lost, for the connection's task to write.
    pub fn push(&self, frame: Bytes) {
        let mut state = self.state.lock();
        if !state.ended {
            state.queue.push_back(Out::Frame(frame));
            wake(state);
        }
    }

    /// Adds a broadcast; [`Self::send`] has to follow. If it does not fit, all of the slot's broadcasts are thrown out, this
    /// one too, and their updates are returned: the peer has to catch up.
    #[must_use]
    pub fn broadcast(&self, slot: Slot, out: Out) -> Option<Vec<Bytes>> {
        let Some(len) = out.droppable(slot) else {
            debug_assert!(false, "{out:?} is no broadcast");
            return None;
        };
        let mut state = self.state.lock();
        if state.ended {
            return None;
        }
        if state.bytes + len + OVERHEAD <= self.limit || state.queue.is_empty() {
            state.bytes += len + OVERHEAD;
            state.queue.push_back(out);
            return None;
        }
        let mut dropped = Vec::new();
        let mut queue = std::mem::take(&mut state.queue);
        if state.written > 0 {
            // O1
            state.queue.extend(queue.pop_front());
        }
        for out in queue.into_iter().chain([out]) {
            match (out.droppable(slot), out) {
                (None, out) => state.queue.push_back(out),
                (Some(_), Out::Update(_, frame, payload)) => {
                    dropped.push(frame.slice(payload.min(frame.len())..));
                }
                (Some(_), _) => {}
            }
        }
        state.bytes = state.queue.iter().map(Out::weight).sum();
        state.queue.push_back(Out::CatchUp(slot));
        Some(dropped)
    }

    /// Writes what the socket takes at once; the rest is the task's.
    pub fn send(&self, now: Instant) -> Wrote {
        let mut state = self.state.lock();
        let Some(sink) = state.sink.take() else {
            wake(state);
            return Wrote::default();
        };
        let (wrote, progress) = state.write(now, |parts| sink.try_write(parts));
        state.sink = Some(sink);
        // An error, too, is the task's: it ends the connection.
        if !matches!(progress, Ok(Progress::Done(None))) {
            wake(state);
        }
        wrote
    }

    /// Has the task write.
    pub fn wake(&self) {
        wake(self.state.lock());
    }

    /// Writes as much as `write` takes, which says `WouldBlock` if that is nothing.
    ///
    /// # Errors
    /// That of `write`.
    pub fn write(
        &self,
        now: Instant,
        write: impl FnMut(&[IoSlice<'_>]) -> io::Result<usize>,
    ) -> (Wrote, io::Result<Progress>) {
        self.state.lock().write(now, write)
    }

    /// Writes for the WebSocket, between our frames (O2): what it hands over may be taken in parts.
    pub fn write_foreign(
        &self,
        bytes: &[u8],
        mut write: impl FnMut(&[IoSlice<'_>]) -> Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        let mut state = self.state.lock();
        while state.written > 0 {
            let Some(front) = state.queue.front().and_then(Out::message).cloned() else {
                state.written = 0;
                break;
            };
            match write(&[IoSlice::new(&remainder(&front, state.written))]) {
                Poll::Ready(Ok(taken)) => drop(state.advance(taken)),
                other => return other,
            }
        }
        let polled = write(&[IoSlice::new(bytes)]);
        if let Poll::Ready(Ok(taken)) = polled {
            state.foreign = taken < bytes.len();
        }
        polled
    }

    /// Puts what a slow peer missed in place of the [`Out::CatchUp`] at the front.
    pub fn caught_up(&self, messages: Vec<Bytes>) {
        let mut state = self.state.lock();
        if let Some(Out::CatchUp(_)) = state.queue.front() {
            state.queue.pop_front();
        }
        for message in messages.into_iter().rev() {
            state.queue.push_front(Out::Frame(message));
        }
    }

    /// Asks the connection to close; the first reason stands. What is in the queue is written before.
    pub fn close(&self, close: Close) {
        let mut state = self.state.lock();
        state.close.get_or_insert(close);
        wake(state);
    }

    /// Takes nothing more and forgets what waits, but for a frame that is begun (O1). Returns the reason to close that
    /// somebody gave.
    pub fn end(&self) -> Option<Close> {
        let mut state = self.state.lock();
        state.ended = true;
        state.sink = None;
        let begun = usize::from(state.written > 0);
        state.queue.truncate(begun);
        state.close
    }

    /// Returns when something was last written.
    pub fn last_write(&self) -> Instant {
        self.state.lock().last
    }

    /// Returns whether somebody asked to close; else the task is woken when somebody does, or there is more to write.
    pub fn is_closing(&self, context: &Context<'_>) -> bool {
        let mut state = self.state.lock();
        if state.close.is_none()
            && !state.waiting.as_ref().is_some_and(|waiting| waiting.will_wake(context.waker()))
        {
            state.waiting = Some(context.waker().clone());
        }
        state.close.is_some()
    }

    /// Waits until there is something to write or to close for. For one task at a time.
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

impl State {
    fn write(
        &mut self,
        now: Instant,
        mut write: impl FnMut(&[IoSlice<'_>]) -> io::Result<usize>,
    ) -> (Wrote, io::Result<Progress>) {
        let mut wrote = Wrote::default();
        let progress = loop {
            if self.foreign {
                break Ok(Progress::Foreign);
            }
            match self.queue.front() {
                None => break Ok(Progress::Done(self.close)),
                Some(Out::CatchUp(slot)) => break Ok(Progress::CatchUp(*slot)),
                Some(_) => {}
            }
            match self.write_some(&mut write) {
                Ok(0) => break Err(ErrorKind::WriteZero.into()),
                Ok(taken) => {
                    self.last = now;
                    wrote.bytes += taken as u64;
                    wrote.messages += self.advance(taken);
                    if wrote.bytes >= HOLD && !self.queue.is_empty() {
                        break Ok(Progress::Blocked);
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => break Ok(Progress::Blocked),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => break Err(error),
            }
        };
        (wrote, progress)
    }

    /// Hands the next messages over, as frames.
    #[expect(
        clippy::indexing_slicing,
        reason = "the total was compared with the buffer; O1: `written` lies within the front"
    )]
    fn write_some(&self, write: &mut impl FnMut(&[IoSlice<'_>]) -> io::Result<usize>) -> io::Result<usize> {
        let messages = self.queue.iter().map_while(Out::message).take(AT_ONCE);
        let total: usize = messages.clone().map(|message| HEAD + message.len()).sum();
        if total <= SMALL {
            let mut buffer = [0; SMALL];
            let mut len = 0;
            for message in messages {
                let head = head(message.len());
                for part in [&head.0[..head.1], message] {
                    buffer[len..len + part.len()].copy_from_slice(part);
                    len += part.len();
                }
            }
            return write(&[IoSlice::new(&buffer[self.written..len])]);
        }
        let heads: Vec<_> = messages.clone().map(|message| head(message.len())).collect();
        let parts = heads.iter().zip(messages).flat_map(|(head, message)| [&head.0[..head.1], &message[..]]);
        let mut skip = self.written;
        let slices: Vec<_> = parts
            .filter_map(|part| {
                let skipped = skip.min(part.len());
                skip -= skipped;
                (skipped < part.len()).then(|| IoSlice::new(&part[skipped..]))
            })
            .collect();
        write(&slices)
    }

    /// Takes what is written off the queue; returns how many messages that ends.
    fn advance(&mut self, taken: usize) -> u64 {
        let mut ended = 0;
        self.written += taken;
        while let Some(message) = self.queue.front().and_then(Out::message) {
            let whole = head(message.len()).1 + message.len();
            if self.written < whole {
                break;
            }
            self.written -= whole;
            ended += 1;
            if let Some(out) = self.queue.pop_front() {
                self.bytes = self.bytes.saturating_sub(out.weight());
            }
        }
        if self.queue.is_empty() && self.queue.capacity() > 4 {
            // A burst is over; an idle connection holds nothing.
            self.queue = VecDeque::new();
        }
        ended
    }
}

/// The head of a server's binary frame (RFC 6455): no mask, so it is the same for every peer.
fn head(len: usize) -> ([u8; HEAD], usize) {
    let mut head = [0; HEAD];
    head[0] = 0x82;
    let used = match u16::try_from(len) {
        Ok(len @ 0..126) => {
            head[1] = len as u8;
            2
        }
        Ok(len) => {
            head[1] = 126;
            head[2..4].copy_from_slice(&len.to_be_bytes());
            4
        }
        Err(_) => {
            head[1] = 127;
            head[2..].copy_from_slice(&(len as u64).to_be_bytes());
            HEAD
        }
    };
    (head, used)
}

/// What is left to write of a frame, or of its head.
fn remainder(message: &Bytes, written: usize) -> Bytes {
    let (head, used) = head(message.len());
    match head.get(written..used) {
        Some(rest) if !rest.is_empty() => Bytes::copy_from_slice(rest),
        _ => message.slice((written - used).min(message.len())..),
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

    /// All that waits, as messages, and what is to be done then.
    fn written(outbox: &Outbox) -> (Vec<u8>, Progress) {
        let mut all = Vec::new();
        let (_, progress) = outbox.write(Instant::now(), |parts| {
            Ok(parts.iter().map(|part| (all.extend_from_slice(part), part.len()).1).sum())
        });
        (all, progress.unwrap())
    }

    /// A reader that is faster than whoever writes does not hold the lock.
    #[test]
    fn much_is_written_in_parts() {
        let outbox = Outbox::new(0);
        (0..100).for_each(|byte| outbox.push(Bytes::from(vec![byte; 100_000])));
        let (mut parts, mut all) = (0, Vec::new());
        loop {
            let (some, progress) = written(&outbox);
            all.extend(some);
            parts += 1;
            match progress {
                Progress::Blocked => assert!(parts < 100, "it comes to an end"),
                progress => break assert_eq!(progress, Progress::Done(None)),
            }
        }
        assert!(parts > 3, "{parts}");
        assert_eq!(all.len(), 100 * (100_000 + HEAD));
    }

    #[test]
    fn what_does_not_fit_becomes_one_catch_up() {
        let outbox = Outbox::new(300);
        outbox.push(Bytes::from_static(b"asked for"));
        assert_eq!(outbox.broadcast(1, update(1, 100)), None);
        assert_eq!(outbox.broadcast(2, Out::Presence(2, Bytes::from_static(b"other room"))), None);
        let dropped = outbox.broadcast(1, update(2, 100)).unwrap();
        assert_eq!(dropped, [Bytes::from(vec![1; 98]), Bytes::from(vec![2; 98])]);
        assert_eq!(written(&outbox), (b"\x82\x09asked for\x82\x0aother room".to_vec(), Progress::CatchUp(1)));
        outbox.push(Bytes::from_static(b"later"));
        outbox.caught_up(vec![Bytes::from_static(b"a"), Bytes::from_static(b"b")]);
        assert_eq!(written(&outbox), (b"\x82\x01a\x82\x01b\x82\x05later".to_vec(), Progress::Done(None)));
    }

    #[test]
    fn a_lone_frame_always_fits() {
        let outbox = Outbox::new(10);
        assert_eq!(outbox.broadcast(1, update(1, 100)), None);
        assert!(outbox.broadcast(1, update(1, 100)).is_some());
        outbox.close(Close::Gone);
        outbox.close(Close::Normal);
        assert_eq!(written(&outbox).1, Progress::CatchUp(1));
        outbox.caught_up(Vec::new());
        assert_eq!(written(&outbox).1, Progress::Done(Some(Close::Gone)));
        assert_eq!(outbox.broadcast(1, update(1, 100)), None);
    }

    /// A socket that takes what it likes, in parts: the bytes are those of whole frames, whoever writes, and a frame that is
    /// begun is never thrown out (O1, O2).
    #[test]
    fn frames_stay_whole_in_parts() {
        for (step, len) in (1..40).flat_map(|step| [3, 125, 126, 2000, 70_000].map(|len| (step, len))) {
            let step = step * (1 + len / 100);
            let outbox = Outbox::new(100);
            let mut all = Vec::new();
            let mut take = |parts: &[IoSlice<'_>], room: &mut usize| {
                let flat: Vec<u8> = parts.iter().flat_map(|part| part.to_vec()).collect();
                let taken = flat.len().min(*room);
                *room -= taken;
                all.extend_from_slice(&flat[..taken]);
                if taken == 0 { Err(io::Error::from(ErrorKind::WouldBlock)) } else { Ok(taken) }
            };
            assert_eq!(outbox.broadcast(1, update(1, len)), None);
            let mut dropped = Vec::new();
            let mut ping = vec![0x89, 0];
            for round in 0.. {
                let mut room = step;
                let (_, progress) = outbox.write(Instant::now(), |parts| take(parts, &mut room));
                if round == 0 {
                    dropped = outbox.broadcast(1, update(2, 500)).unwrap_or_default();
                }
                match progress.unwrap() {
                    Progress::Done(_) if round > 0 => break,
                    Progress::CatchUp(_) => outbox.caught_up(vec![Bytes::from_static(b"diff")]),
                    _ => {}
                }
                let mut room = 1;
                if !ping.is_empty() {
                    let polled = outbox.write_foreign(&ping, |parts| match take(parts, &mut room) {
                        Ok(taken) => Poll::Ready(Ok(taken)),
                        Err(_) => Poll::Pending,
                    });
                    if let Poll::Ready(Ok(taken)) = polled {
                        ping.drain(..taken);
                    }
                }
            }
            let mut frames = Vec::new();
            let mut rest = &all[..];
            while let [kind, short, tail @ ..] = rest {
                let (body, skip) = match short {
                    126 => (usize::from(u16::from_be_bytes(tail[..2].try_into().unwrap())), 2),
                    127 => (u64::from_be_bytes(tail[..8].try_into().unwrap()) as usize, 8),
                    short => (usize::from(*short), 0),
                };
                frames.push((*kind, tail[skip..skip + body].to_vec()));
                rest = &tail[skip + body..];
            }
            let whole = |byte, len| (0x82, vec![byte; len]);
            let seen: Vec<_> = frames.into_iter().filter(|(kind, _)| *kind == 0x82).collect();
            match dropped.len() {
                0 => assert_eq!(seen, [whole(1, len), whole(2, 500)], "{step} {len}"),
                1 => assert_eq!(seen, [whole(1, len), (0x82, b"diff".to_vec())], "{step} {len}"),
                _ => panic!("the first was begun"),
            }
        }
    }
}
