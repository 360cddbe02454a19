//! Counts what somebody sends before being admitted, below the WebSocket: a message is cut off while it arrives, not after
//! it lies in memory. And keeps the control frames of the WebSocket and our own frames apart.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Instant;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::room::outbox::{Outbox, Progress, Wrote};

/// How much may still come; shared by the gate and the one who admits.
pub struct Allowance {
    left: AtomicUsize,
    open: AtomicBool,
    exceeded: AtomicBool,
}

impl Allowance {
    /// Allows this many bytes.
    pub fn new(bytes: usize) -> Self {
        Self { left: AtomicUsize::new(bytes), open: AtomicBool::new(false), exceeded: AtomicBool::new(false) }
    }

    /// Ends the counting: it was admitted.
    pub fn open(&self) {
        self.open.store(true, Ordering::Relaxed);
    }

    /// Returns whether more came than was allowed.
    pub fn is_exceeded(&self) -> bool {
        self.exceeded.load(Ordering::Relaxed)
    }
}

/// A stream that is read through an [`Allowance`], and written to between the frames of an [`Outbox`].
pub struct Gate<S> {
    inner: S,
    allowance: Arc<Allowance>,
    outbox: Arc<Outbox>,
    heads: Heads,
    /// What came from the head of a frame on that is too long before admission: handed on if what came before it admits.
    held: Vec<u8>,
}

impl<S> Gate<S> {
    /// Puts the gate before a stream.
    pub fn new(inner: S, allowance: Arc<Allowance>, outbox: Arc<Outbox>) -> Self {
        Self { inner, allowance, outbox, heads: Heads::default(), held: Vec::new() }
    }
}

/// The heads of a client's frames (RFC 6455), as far as their lengths go: the WebSocket makes room for a frame as soon as it
/// knows its length, so a length has to be looked at before.
#[derive(Default)]
struct Heads {
    head: [u8; 10],
    have: usize,
    /// Bytes of mask and payload that are still to come.
    rest: u64,
}

impl Heads {
    /// Looks through what came; returns where the first frame begins (0 if before) that is of more than so many bytes. Nothing
    /// may be looked through after it.
    fn first_above(&mut self, came: &[u8], bound: usize) -> Option<usize> {
        let mut bytes = came;
        let mut begins = 0;
        while let [first, tail @ ..] = bytes {
            if self.rest > 0 {
                let skip = usize::try_from(self.rest).unwrap_or(usize::MAX).min(bytes.len());
                self.rest -= skip as u64;
                bytes = bytes.get(skip..).unwrap_or_default();
                continue;
            }
            if self.have == 0 {
                begins = came.len() - bytes.len();
            }
            bytes = tail;
            if let Some(place) = self.head.get_mut(self.have) {
                *place = *first;
            }
            self.have += 1;
            let [_, short, a, b, rest @ ..] = self.head;
            let len = match (short & 0x7f, self.have) {
                (len @ 0..126, 2) => u64::from(len),
                (126, 4) => u64::from(u16::from_be_bytes([a, b])),
                (127, 10) => {
                    let [c, d, e, f, g, h] = rest;
                    u64::from_be_bytes([a, b, c, d, e, f, g, h])
                }
                _ => continue,
            };
            if len > bound as u64 {
                return Some(begins);
            }
            self.have = 0;
            self.rest = len + if short & 0x80 == 0 { 0 } else { 4 };
        }
        None
    }
}

impl<S> Gate<S> {
    fn exceeded(&self) -> io::Result<()> {
        self.allowance.exceeded.store(true, Ordering::Relaxed);
        Err(io::Error::other("too much before admission"))
    }
}

impl<S: AsyncWrite + Unpin> Gate<S> {
    /// Writes what waits in the outbox until the socket takes no more; ready when something was written or nothing is to be.
    pub(super) fn poll_outbox(&mut self, cx: &mut Context<'_>) -> Poll<(Wrote, io::Result<Progress>)> {
        let inner = &mut self.inner;
        let write = |parts: &[IoSlice<'_>]| match Pin::new(&mut *inner).poll_write_vectored(cx, parts) {
            Poll::Ready(done) => done,
            Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
        };
        match self.outbox.write(Instant::now(), write) {
            (Wrote { bytes: 0, .. }, Ok(Progress::Blocked)) => Poll::Pending,
            done => Poll::Ready(done),
        }
    }

    /// Flushes the stream itself: TLS has a buffer of its own.
    pub(super) fn poll_flush_stream(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Gate<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let open = self.allowance.open.load(Ordering::Relaxed);
        if !self.held.is_empty() {
            if !open {
                return Poll::Ready(self.exceeded());
            }
            let some = self.held.len().min(buf.remaining());
            buf.put_slice(self.held.get(..some).unwrap_or_default());
            self.held.drain(..some);
            return Poll::Ready(Ok(()));
        }
        let before = buf.filled().len();
        let polled = Pin::new(&mut self.inner).poll_read(cx, buf);
        if !open && matches!(polled, Poll::Ready(Ok(()))) {
            let bytes = buf.filled().get(before..).unwrap_or_default();
            let mut came = bytes.len();
            let left = self.allowance.left.load(Ordering::Relaxed);
            match self.heads.first_above(bytes, left) {
                // All that came before was acted on, and did not admit.
                Some(0) => return Poll::Ready(self.exceeded()),
                Some(place) => {
                    self.held = bytes.get(place..).unwrap_or_default().to_vec();
                    buf.set_filled(before + place);
                    came = place;
                }
                None => {}
            }
            if came > left {
                return Poll::Ready(self.exceeded());
            }
            self.allowance.left.store(left - came, Ordering::Relaxed);
        }
        polled
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Gate<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        let inner = &mut this.inner;
        this.outbox.write_foreign(buf, |parts| Pin::new(&mut *inner).poll_write_vectored(cx, parts))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_seen_in_parts_and_all_forms() {
        let mut frames = Vec::new();
        for len in [0usize, 5, 125, 126, 300, 65_535, 65_536] {
            frames.push(0x82);
            match len {
                0..126 => frames.push(0x80 | len as u8),
                126..65_536 => frames.extend([0x80 | 126].into_iter().chain((len as u16).to_be_bytes())),
                _ => frames.extend([0x80 | 127].into_iter().chain((len as u64).to_be_bytes())),
            }
            frames.extend([0xfe; 4]);
            frames.extend(vec![0xff; len]);
        }
        for part in [1, 3, 1000, frames.len()] {
            let mut heads = Heads::default();
            assert!(frames.chunks(part).all(|part| heads.first_above(part, 65_536).is_none()), "{part}");
            assert_eq!((heads.have, heads.rest), (0, 0));
            let mut heads = Heads::default();
            let mut places = frames.chunks(part).map(|part| heads.first_above(part, 65_535));
            let found = places.position(|place| place.is_some());
            assert!(found.is_some(), "{part}");
            if part == frames.len() {
                let mut heads = Heads::default();
                assert_eq!(heads.first_above(&frames, 65_535), Some(frames.len() - 65_536 - 14));
            }
        }
    }
}
