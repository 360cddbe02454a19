//! A TCP socket that its connection's task reads and writes, and that others may write to ([`Sink`]).

use std::io::{self, ErrorKind, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use crate::room::outbox::Sink;

/// A stream under a connection.
pub trait Transport: AsyncRead + AsyncWrite + Unpin {
    /// Where others may write to, if bytes go to the socket as they are.
    fn sink(&self) -> Option<Box<dyn Sink>>;
}

/// A shared TCP socket.
#[derive(Clone)]
pub struct Pipe(Arc<TcpStream>);

impl Pipe {
    /// Shares a socket.
    pub fn new(stream: TcpStream) -> Self {
        Self(Arc::new(stream))
    }
}

impl Transport for Pipe {
    fn sink(&self) -> Option<Box<dyn Sink>> {
        Some(Box::new(self.clone()))
    }
}

impl Sink for Pipe {
    fn try_write(&self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        match parts {
            [part] => self.0.try_write(part),
            parts => self.0.try_write_vectored(parts),
        }
    }
}

impl AsyncRead for Pipe {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        loop {
            ready!(self.0.poll_read_ready(cx))?;
            match self.0.try_read(buf.initialize_unfilled()) {
                Ok(read) => {
                    buf.advance(read);
                    return Poll::Ready(Ok(()));
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}

impl AsyncWrite for Pipe {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(buf)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.0.poll_write_ready(cx))?;
            match self.try_write(parts) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                done => return Poll::Ready(done),
            }
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    /// Ends our half, so that the other side sees the end though somebody may still hold the socket to write to.
    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        let socket = socket2::SockRef::from(&*self.0);
        Poll::Ready(socket.shutdown(std::net::Shutdown::Write))
    }
}
