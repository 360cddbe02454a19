//! One connection of the load.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use tokio::net::TcpStream;
use tokio::sync::Barrier;
use tokio::time::{interval_at, timeout};
use tokio_tungstenite::tungstenite::{Error, Message, protocol::WebSocketConfig};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async_with_config};
use yatta_encoding::Write;

use super::frames::{Mark, filling, framed, presence, update};
use super::{Args, Dialect};

/// After the last write, so long is waited for what is still on its way.
const TAIL: Duration = Duration::from_secs(10);

/// What a connection saw.
#[derive(Default)]
pub(super) struct Seen {
    /// Updates it sent.
    pub(super) sent: u64,
    /// Marks of others that came, each counted once.
    pub(super) marks: u64,
    /// From sending to seeing, in microseconds.
    pub(super) latencies: Vec<u32>,
    /// From connecting to having the document, in microseconds.
    pub(super) joined: u32,
    pub(super) bytes: u64,
    /// Times it left and came again.
    pub(super) rejoined: u64,
    /// The server closed it.
    pub(super) dropped: bool,
}

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// A connection to be.
pub(super) struct Client {
    pub(super) args: Args,
    pub(super) room: String,
    pub(super) number: usize,
    pub(super) writes: bool,
    pub(super) ready: Arc<Barrier>,
    pub(super) start: Instant,
}

fn prefix(args: &Args, room: &str) -> Vec<u8> {
    let mut prefix = Vec::new();
    if args.dialect == Dialect::Hocuspocus {
        prefix.write_string(room);
    }
    prefix
}

/// Connects and asks for the document; returns when it is there, with its frame.
async fn join(args: &Args, room: &str) -> Result<(Socket, Bytes), Error> {
    let url = match args.dialect {
        Dialect::Ywebsocket if args.token.is_empty() => format!("{}/{room}", args.url),
        Dialect::Ywebsocket => format!("{}/{room}?token={}", args.url, query(&args.token)),
        Dialect::Hocuspocus => args.url.clone(),
    };
    let config =
        WebSocketConfig::default().read_buffer_size(4096).max_frame_size(None).max_message_size(None);
    let (mut socket, _) = connect_async_with_config(url, Some(config), true).await?;
    let prefix = prefix(args, room);
    if args.dialect == Dialect::Hocuspocus {
        let mut auth = [&prefix[..], &[2, 0]].concat();
        auth.write_string(&args.token);
        auth.write_string("4.8.0");
        socket.send(Message::Binary(auth.into())).await?;
    }
    socket.send(Message::Binary([&prefix[..], &[0, 0, 1, 0]].concat().into())).await?;
    while let Some(message) = socket.next().await {
        if let Message::Binary(frame) = message? {
            let body = frame.strip_prefix(&prefix[..]).unwrap_or_default();
            if body.starts_with(&[0, 1]) {
                return Ok((socket, frame));
            }
        }
    }
    Err(Error::ConnectionClosed)
}

/// A text as it stands in a query.
fn query(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'-' | b'.' | b'_' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(byte).collect()
}

/// Puts bytes into a room. What is returned has to be kept: some servers forget a room without peers.
pub(super) async fn fill(args: &Args, room: &str, bytes: usize) -> Result<Filler, Error> {
    let (mut socket, _) = join(args, room).await?;
    socket.send(Message::Binary(framed(&prefix(args, room), &filling(bytes)).into())).await?;
    // Another client that gets it tells that it is there.
    for _ in 0..100 {
        let (mut other, got) = join(args, room).await?;
        other.close(None).await?;
        if got.len() >= bytes {
            // It goes on reading, as a client does.
            return Ok(Filler(tokio::spawn(async move { while let Some(Ok(_)) = socket.next().await {} })));
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Err(Error::AlreadyClosed)
}

/// Keeps a room that was filled.
pub(super) struct Filler(tokio::task::JoinHandle<()>);

impl Drop for Filler {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Client {
    pub(super) async fn run(self) -> Result<Seen, Error> {
        let began = Instant::now();
        let (mut socket, _) = join(&self.args, &self.room).await?;
        let mut seen = Seen { joined: micros(began.elapsed()), ..Seen::default() };
        self.ready.wait().await;
        let prefix = prefix(&self.args, &self.room);
        let period = Duration::from_millis(self.args.interval.max(1));
        let now = tokio::time::Instant::now();
        let end = now + Duration::from_secs(self.args.duration);
        // Writers do not all write at the same moment.
        let spread = period.mul_f64((self.number as f64 * 0.618_034).fract());
        let mut writing = interval_at(now + spread, period);
        let showing_every = Duration::from_millis(self.args.presence.max(1));
        let mut showing =
            interval_at(now + showing_every.mul_f64((self.number as f64 * 0.618_034).fract()), showing_every);
        let churn_every = Duration::from_millis(self.args.churn.max(1));
        let mut churning =
            interval_at(now + churn_every.mul_f64((self.number as f64 * 0.618_034).fract()), churn_every);
        let mut known: HashSet<(u32, u32)> = HashSet::new();
        let expected = self.expected();
        let mut clock = 0;
        loop {
            let over = tokio::time::Instant::now() >= end;
            if over && (seen.marks >= expected || tokio::time::Instant::now() >= end + TAIL) {
                break;
            }
            tokio::select! {
                _ = writing.tick(), if self.writes && seen.sent < self.updates() => {
                    let number = u32::try_from(seen.sent).unwrap_or(u32::MAX);
                    let sent = u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX);
                    let writer = u32::try_from(self.number).unwrap_or(u32::MAX);
                    let frame = framed(&prefix, &update(Mark { writer, number, sent }));
                    socket.send(Message::Binary(frame.into())).await?;
                    seen.sent += 1;
                }
                _ = showing.tick(), if self.args.presence > 0 && !over => {
                    clock += 1;
                    socket.send(Message::Binary(presence(&prefix, self.number, clock).into())).await?;
                }
                _ = churning.tick(), if self.args.churn > 0 && !self.writes && !over => {
                    socket.close(None).await?;
                    let (back, document) = join(&self.args, &self.room).await?;
                    socket = back;
                    seen.rejoined += 1;
                    // What was written meanwhile came with the document; that says nothing about latency.
                    let latencies = seen.latencies.len();
                    self.take(&document, &mut known, &mut seen);
                    seen.latencies.truncate(latencies);
                }
                message = timeout(Duration::from_millis(200), socket.next()) => {
                    let Ok(message) = message else { continue };
                    let Some(Ok(message)) = message else {
                        seen.dropped = true;
                        break;
                    };
                    self.take(&message.into_data(), &mut known, &mut seen);
                }
            }
        }
        Ok(seen)
    }

    /// How many updates a writer sends.
    fn updates(&self) -> u64 {
        self.args.duration * 1000 / self.args.interval.max(1)
    }

    /// How many marks this connection will see.
    fn expected(&self) -> u64 {
        let others = self.args.writers - usize::from(self.writes);
        self.updates() * others as u64
    }

    fn take(&self, frame: &[u8], known: &mut HashSet<(u32, u32)>, seen: &mut Seen) {
        seen.bytes += frame.len() as u64;
        for mark in Mark::find(frame) {
            if mark.writer as usize == self.number || !known.insert((mark.writer, mark.number)) {
                continue;
            }
            seen.marks += 1;
            let now = u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX);
            seen.latencies.push(u32::try_from(now.saturating_sub(mark.sent) / 1000).unwrap_or(u32::MAX));
        }
    }
}

fn micros(time: Duration) -> u32 {
    u32::try_from(time.as_micros()).unwrap_or(u32::MAX)
}
