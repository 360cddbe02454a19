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
}

impl<S> Gate<S> {
    /// Puts the gate before a stream.
    pub fn new(inner: S, allowance: Arc<Allowance>, outbox: Arc<Outbox>) -> Self {
        Self { inner, allowance, outbox }
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
        let before = buf.filled().len();
        let polled = Pin::new(&mut self.inner).poll_read(cx, buf);
        if !self.allowance.open.load(Ordering::Relaxed) && matches!(polled, Poll::Ready(Ok(()))) {
            let came = buf.filled().len() - before;
            let left = self.allowance.left.load(Ordering::Relaxed);
            if came > left {
                self.allowance.exceeded.store(true, Ordering::Relaxed);
                return Poll::Ready(Err(io::Error::other("too much before admission")));
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
