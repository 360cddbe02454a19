//! Connections (layer 3): a WebSocket with one of two dialects, in one task.
//!
//! The task alternates: write what waits, then read one message and act on it. So a peer that does not read is not read
//! from either, answers cannot pile up, and all that can is bounded by the outbox. The first byte of the first message tells
//! the dialects apart: y-websocket begins with `00` (its state vector), hocuspocus with the length of a name.
//!
//! Memory of an idle connection: the task, two buffers of 4 KiB that begin empty, an outbox.

pub mod gate;
mod hocuspocus;
pub mod pipe;
mod ywebsocket;

use std::future::poll_fn;
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{self, Poll};
use std::time::{Duration, Instant, SystemTime};

use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use tokio::time::{Sleep, sleep_until, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::error::{Error as WsError, ProtocolError};
use tokio_tungstenite::tungstenite::protocol::frame::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::{Message as WsMessage, Role, WebSocketConfig};

use self::gate::{Allowance, Gate};
use self::hocuspocus::Hocuspocus;
use self::pipe::Transport;
use self::ywebsocket::YWebsocket;
use crate::auth::{Access, Auth, Denied, Request};
use crate::metrics::{CloseLabel, Metrics};
use crate::name::{BadName, RoomName};
use crate::room::document::Refused;
use crate::room::outbox::{Outbox, Progress, Slot, Wrote};
use crate::room::registry::Rooms;
use crate::wire;
use crate::wire::close::Close;

/// Buffers of a connection; the default of 128 KiB each would be most of its memory.
const BUFFER: usize = 4 << 10;
/// Updates above this are worked on while other tasks move to other threads.
const HEAVY: usize = 256 << 10;
/// A client that was told why it may not enter gets so long to read it (y-websocket shows only what came before).
const DENIAL: Duration = Duration::from_millis(500);
/// A diff that took less than this is free: a join does not wait for it.
const FREE: Duration = Duration::from_millis(2);
/// Who had a room work for longer is not read for so many times as long: one peer has a tenth of a room's time at most.
const SHARE: u32 = 9;
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// Below this a flush is no time in which the peer was not read.
const LONG_FLUSH: Duration = Duration::from_millis(100);
/// How long a closing handshake may take.
const GOODBYE: Duration = Duration::from_secs(1);

/// What all connections share.
pub struct Context {
    /// The rooms, and through them store and limits.
    pub rooms: Arc<Rooms>,
    /// Who may enter.
    pub auth: Arc<dyn Auth>,
}

impl Context {
    fn metrics(&self) -> &Metrics {
        &self.rooms.shared().metrics
    }
}

/// What is known of a connection from its HTTP request.
pub struct Opening {
    /// The room of the path: that of a y-websocket client.
    pub room: Result<RoomName, BadName>,
    /// The token of the URL or header.
    pub token: Option<String>,
    /// Where it comes from.
    pub address: IpAddr,
    /// Set if it may not come in at all: it is told so and closed.
    pub refused: Option<(Close, &'static str)>,
}

/// What a dialect works with.
struct Peer {
    context: Arc<Context>,
    outbox: Arc<Outbox>,
    opening: Opening,
    allowance: Arc<Allowance>,
    /// Microseconds for which it had its rooms work for it alone and has not waited yet.
    debt: AtomicU64,
}

impl Peer {
    /// Takes note of work that a question made.
    fn owes(&self, took: Duration) {
        self.debt.fetch_add(u64::try_from(took.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }
}

impl Peer {
    /// Asks whether it may enter.
    async fn authorize(&self, room: &RoomName, token: Option<&str>) -> Result<Access, Denied> {
        let request = Request { room, token, address: self.opening.address };
        let bound = self.context.rooms.shared().limits.unauthenticated_time;
        match timeout(bound, self.context.auth.authorize(request)).await {
            Ok(Ok(access)) if access.expires.is_some_and(|at| at <= SystemTime::now()) => {
                Err(Denied::Unauthorized("the token has expired".to_owned()))
            }
            Ok(answer) => answer,
            Err(_) => Err(Denied::Unavailable),
        }
    }
}

enum Dialect {
    Undecided,
    YWebsocket(YWebsocket),
    Hocuspocus(Hocuspocus),
}

impl Dialect {
    /// Returns when the first of its admissions ends.
    fn expires(&self) -> Option<SystemTime> {
        match self {
            Self::Undecided => None,
            Self::YWebsocket(dialect) => dialect.expires(),
            Self::Hocuspocus(dialect) => dialect.expires(),
        }
    }

    fn has_expired(&self) -> bool {
        self.expires().is_some_and(|at| at <= SystemTime::now())
    }
}

/// A connection.
struct Connection<S> {
    socket: WebSocketStream<Gate<S>>,
    peer: Peer,
    dialect: Dialect,
    opened: Instant,
    last_in: Instant,
    /// When a keep-alive last went out; what else did, the outbox knows.
    last_ping: Instant,
    /// Wakes for what is due. Deadlines move on with each message, the timer only when it fires: setting it anew for each would
    /// cost more than the message.
    timer: Pin<Box<Sleep>>,
    armed: Instant,
    /// Messages that may come before reading slows down, and when that was reckoned.
    credit: (f64, Instant),
    paused_until: Option<Instant>,
}

/// Serves a connection until it ends.
pub async fn serve<S: Transport>(stream: S, context: Arc<Context>, opening: Opening) {
    let limits = &context.rooms.shared().limits;
    let config = WebSocketConfig::default()
        .read_buffer_size(BUFFER)
        .write_buffer_size(BUFFER)
        .max_message_size(Some(limits.message_bytes))
        .max_frame_size(Some(limits.message_bytes));
    let allowance = Arc::new(Allowance::new(limits.unauthenticated_bytes));
    let outbox = Arc::new(Outbox::new(limits.outbox_bytes));
    if let Some(sink) = stream.sink() {
        outbox.open(sink);
    }
    let gate = Gate::new(stream, Arc::clone(&allowance), Arc::clone(&outbox));
    let socket = WebSocketStream::from_raw_socket(gate, Role::Server, Some(config)).await;
    let now = Instant::now();
    let connection = Connection {
        socket,
        peer: Peer { context, outbox, opening, allowance, debt: AtomicU64::new(0) },
        dialect: Dialect::Undecided,
        opened: now,
        last_in: now,
        last_ping: now,
        timer: Box::pin(sleep_until(now.into())),
        armed: now,
        credit: (0.0, now),
        paused_until: None,
    };
    connection.run().await;
}

/// How a connection ended.
enum End {
    /// The other side closed or is gone: there is nobody to say anything to.
    Gone,
    /// We close.
    Close(Close),
}

impl From<Close> for End {
    fn from(close: Close) -> Self {
        Self::Close(close)
    }
}

impl<S: Transport> Connection<S> {
    async fn run(mut self) {
        if let Some((close, reason)) = self.peer.opening.refused {
            self.deny(close, reason).await;
            return;
        }
        let end = loop {
            if let Err(end) = self.step().await {
                break end;
            }
        };
        // Leave before saying goodbye: others see it at once.
        self.dialect = Dialect::Undecided;
        if let End::Close(close) = end {
            let close = self.peer.outbox.end().unwrap_or(close);
            self.goodbye(close).await;
        }
        self.peer.outbox.end();
    }

    /// Writes what waits, then takes one message, or wakes for something else.
    async fn step(&mut self) -> Result<(), End> {
        self.flush().await?;
        let now = Instant::now();
        let reading = self.may_read(now);
        let deadline = self.deadline(now);
        if deadline < self.armed {
            self.arm(deadline);
        }
        tokio::select! {
            // The timer first: a peer that always has something to say is held to its time, too.
            biased;
            () = self.timer.as_mut() => {
                let done = self.on_time().await;
                let deadline = self.deadline(Instant::now());
                self.arm(deadline);
                done
            }
            () = self.peer.outbox.wait() => Ok(()),
            message = self.socket.next(), if reading => self.incoming(message).await,
        }
    }

    fn arm(&mut self, deadline: Instant) {
        self.armed = deadline;
        self.timer.as_mut().reset(deadline.into());
    }

    async fn incoming(&mut self, message: Option<Result<WsMessage, WsError>>) -> Result<(), End> {
        self.last_in = Instant::now();
        match message {
            Some(Ok(WsMessage::Binary(frame))) => {
                let metrics = self.peer.context.metrics();
                metrics.messages_in.inc();
                metrics.bytes_in.inc_by(frame.len() as u64);
                self.credit.0 -= 1.0;
                self.message(frame).await
            }
            // Both protocols are binary; a text is no client of ours.
            Some(Ok(WsMessage::Text(_))) => Err(Close::Malformed.into()),
            Some(Ok(WsMessage::Ping(_) | WsMessage::Pong(_) | WsMessage::Frame(_))) => {
                self.credit.0 -= 1.0;
                Ok(())
            }
            Some(Ok(WsMessage::Close(_))) | None => Err(End::Gone),
            Some(Err(WsError::Capacity(_))) => Err(Close::TooLarge.into()),
            Some(Err(WsError::Protocol(ProtocolError::ResetWithoutClosingHandshake))) => Err(End::Gone),
            Some(Err(WsError::Protocol(_) | WsError::Utf8(_))) => Err(Close::Malformed.into()),
            Some(Err(_)) if self.peer.allowance.is_exceeded() => Err(Close::TooLarge.into()),
            Some(Err(_)) => Err(End::Gone),
        }
    }

    async fn message(&mut self, frame: Bytes) -> Result<(), End> {
        if let Dialect::Undecided = self.dialect {
            match frame.first() {
                None => return Err(Close::Malformed.into()),
                Some(0) => match YWebsocket::open(&self.peer).await {
                    Ok(dialect) => self.dialect = Dialect::YWebsocket(dialect),
                    Err((close, reason)) => {
                        self.deny(close, &reason).await;
                        return Err(End::Gone);
                    }
                },
                Some(_) => self.dialect = Dialect::Hocuspocus(Hocuspocus::default()),
            }
        }
        match &mut self.dialect {
            Dialect::Undecided => {}
            Dialect::YWebsocket(dialect) => dialect.message(&self.peer, &frame)?,
            Dialect::Hocuspocus(dialect) => dialect.message(&self.peer, &frame).await?,
        }
        Ok(())
    }

    /// Writes all that waits in the outbox, and does what it asks for.
    async fn flush(&mut self) -> Result<(), End> {
        let mut wrote_any = false;
        let began = Instant::now();
        loop {
            let (wrote, progress) = self.write_outbox().await?;
            wrote_any |= wrote.bytes > 0;
            let metrics = self.peer.context.metrics();
            metrics.messages_out.inc_by(wrote.messages);
            metrics.bytes_out.inc_by(wrote.bytes);
            match progress {
                Progress::Done(close) => {
                    if wrote_any {
                        self.flush_stream().await?;
                    }
                    let now = Instant::now();
                    if now.duration_since(began) >= LONG_FLUSH {
                        // Somebody who was read late took what was written: no silence of the peer.
                        self.last_in = now;
                    }
                    return close.map_or(Ok(()), |close| Err(close.into()));
                }
                // Who reads more slowly than its rooms write never gets to the end.
                Progress::Blocked if self.dialect.has_expired() => return Err(Close::Unauthorized.into()),
                Progress::Blocked => {}
                Progress::Foreign => self.bounded_flush().await?,
                Progress::CatchUp(slot) => self.peer.outbox.caught_up(self.catch_up(slot)?),
            }
        }
    }

    /// Waits for the socket: within the time that a write may make no progress, which is short when we are to close, and no
    /// longer than the peer is admitted.
    async fn patiently<T>(
        &mut self,
        mut poll: impl FnMut(&mut WebSocketStream<Gate<S>>, &mut task::Context<'_>) -> Poll<T>,
    ) -> Result<T, End> {
        let Self { socket, peer, dialect, .. } = self;
        let (outbox, stall) = (&peer.outbox, peer.context.rooms.shared().limits.write_stall);
        let mut closing = false;
        loop {
            let began = Instant::now();
            let patience = if closing { GOODBYE.min(stall) } else { stall };
            let bound = || match dialect.expires() {
                Some(at) => patience.min(at.duration_since(SystemTime::now()).unwrap_or_default()),
                None => patience,
            };
            let attempt = poll_fn(|context| match poll(socket, context) {
                Poll::Ready(done) => Poll::Ready(Some(done)),
                Poll::Pending if !closing && outbox.is_closing(context) => Poll::Ready(None),
                Poll::Pending => Poll::Pending,
            });
            match within(bound, attempt).await {
                Some(Some(done)) => return Ok(done),
                Some(None) => closing = true,
                None if dialect.has_expired() => return Err(Close::Unauthorized.into()),
                // A broadcast made progress meanwhile, or the clock of the token is a little behind.
                None if outbox.last_write() > began || began.elapsed() < patience => {}
                None => return Err(Close::TryAgain.into()),
            }
        }
    }

    /// Writes until the socket takes no more, at least something.
    async fn write_outbox(&mut self) -> Result<(Wrote, Progress), End> {
        let (wrote, progress) =
            self.patiently(|socket, context| socket.get_mut().poll_outbox(context)).await?;
        Ok((wrote, progress.map_err(|_| End::Gone)?))
    }

    async fn flush_stream(&mut self) -> Result<(), End> {
        let flushed = self.patiently(|socket, context| socket.get_mut().poll_flush_stream(context)).await?;
        flushed.map_err(|_| End::Gone)
    }

    fn catch_up(&self, slot: Slot) -> Result<Vec<Bytes>, Close> {
        match &self.dialect {
            Dialect::Undecided => Ok(Vec::new()),
            Dialect::YWebsocket(dialect) => dialect.catch_up(),
            Dialect::Hocuspocus(dialect) => dialect.catch_up(slot),
        }
    }

    async fn bounded_feed(&mut self, message: WsMessage) -> Result<(), End> {
        self.patiently(|socket, context| socket.poll_ready_unpin(context)).await?.map_err(|_| End::Gone)?;
        self.socket.start_send_unpin(message).map_err(|_| End::Gone)
    }

    async fn bounded_flush(&mut self) -> Result<(), End> {
        let flushed = self.patiently(|socket, context| socket.poll_flush_unpin(context)).await?;
        flushed.map_err(|_| End::Gone)
    }

    /// Whether a message may be read now: within the rate, and while the store keeps up.
    fn may_read(&mut self, now: Instant) -> bool {
        if let Some(until) = self.paused_until {
            if now < until {
                return false;
            }
            self.paused_until = None;
            // Not reading is no silence of the peer.
            self.last_in = now;
        }
        let shared = self.peer.context.rooms.shared();
        let rate = f64::from(shared.limits.messages_per_second);
        let mut pause = None;
        if rate > 0.0 {
            let (credit, since) = self.credit;
            let earned = now.duration_since(since).as_secs_f64() * rate;
            // Saved up for two seconds at most.
            self.credit = ((credit + earned).min(2.0 * rate), now);
            if self.credit.0 < -1.0 {
                pause = Some(Duration::from_secs_f64((-self.credit.0 / rate).min(5.0)));
            }
        }
        // Little things add up.
        let debt = Duration::from_micros(self.peer.debt.load(Ordering::Relaxed));
        if debt > FREE {
            self.peer.debt.store(0, Ordering::Relaxed);
            pause = pause.max(Some((debt * SHARE).min(LONGEST_PAUSE)));
        }
        if shared.store.backlog() > shared.limits.backlog_bytes {
            pause = pause.max(Some(Duration::from_millis(20)));
        }
        self.paused_until = pause.map(|pause| now + pause);
        pause.is_none()
    }

    /// When something has to be done even if nothing comes.
    fn deadline(&self, now: Instant) -> Instant {
        let limits = &self.peer.context.rooms.shared().limits;
        let mut deadline = self.ping_due().min(self.last_in + limits.silence);
        if let Some(until) = self.paused_until {
            deadline = deadline.min(until);
        }
        if !self.is_admitted() {
            deadline = deadline.min(self.opened + limits.unauthenticated_time);
        }
        if let Some(expires) = self.dialect.expires() {
            let left = expires.duration_since(SystemTime::now()).unwrap_or_default();
            deadline = deadline.min(now + left);
        }
        deadline
    }

    async fn on_time(&mut self) -> Result<(), End> {
        let now = Instant::now();
        let limits = &self.peer.context.rooms.shared().limits;
        if self.dialect.has_expired() {
            return Err(Close::Unauthorized.into());
        }
        if !self.is_admitted() && now >= self.opened + limits.unauthenticated_time {
            return Err(Close::AuthTimeout.into());
        }
        if now >= self.last_in + limits.silence {
            return Err(End::Gone);
        }
        if now >= self.ping_due() {
            let frame = match &self.dialect {
                // It hears enough.
                _ if now < self.peer.outbox.last_write() + limits.keep_alive => None,
                Dialect::Undecided => None,
                Dialect::YWebsocket(_) => Some(wire::KEEP_ALIVE),
                Dialect::Hocuspocus(_) => Some(wire::APP_PING),
            };
            if let Some(frame) = frame {
                self.peer.outbox.push(Bytes::from_static(frame));
                self.flush().await?;
            }
            // A half-open peer does not answer this.
            self.bounded_feed(WsMessage::Ping(Bytes::new())).await?;
            self.bounded_flush().await?;
            self.last_ping = now;
        }
        Ok(())
    }

    /// When a ping has to go out: one or the other was silent for so long, and there was no ping meanwhile. A peer that only
    /// listens shows by the answers that it is there.
    fn ping_due(&self) -> Instant {
        let silent = self.peer.outbox.last_write().min(self.last_in);
        self.last_ping.max(silent) + self.peer.context.rooms.shared().limits.keep_alive
    }

    fn is_admitted(&self) -> bool {
        match &self.dialect {
            Dialect::Undecided => false,
            Dialect::YWebsocket(_) => true,
            Dialect::Hocuspocus(dialect) => dialect.is_admitted(),
        }
    }

    /// Says no in words that old clients understand, lets them read it, and closes with a code for new ones.
    async fn deny(&mut self, close: Close, reason: &str) {
        self.peer.outbox.push(wire::denied(reason));
        if self.flush().await.is_ok() {
            tokio::time::sleep(DENIAL).await;
            self.goodbye(close).await;
        }
    }

    /// Closes, and waits a moment for the answer.
    async fn goodbye(&mut self, close: Close) {
        let code = close.code();
        self.peer.context.metrics().closed.get_or_create(&CloseLabel { code: code.into() }).inc();
        let frame = CloseFrame { code: code.into(), reason: close.reason().into() };
        let farewell = async {
            if self.socket.close(Some(frame)).await.is_ok() {
                while let Some(Ok(_)) = self.socket.next().await {}
            }
        };
        // Whoever does not answer is left without.
        let _ = timeout(GOODBYE, farewell).await;
    }
}

/// Waits for a future within a bound. Mostly it is ready at once; then no timer is made.
async fn within<F: Future>(bound: impl FnOnce() -> Duration, future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    match poll_fn(|context| Poll::Ready(future.as_mut().poll(context))).await {
        Poll::Ready(output) => Some(output),
        Poll::Pending => timeout(bound(), future).await.ok(),
    }
}

/// Runs engine work for an update; a large one does not hold up the other tasks of this thread.
fn heavy<T>(bytes: usize, f: impl FnOnce() -> T) -> T {
    use tokio::runtime::{Handle, RuntimeFlavor};
    let many =
        || Handle::try_current().is_ok_and(|handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread);
    if bytes > HEAVY && many() { tokio::task::block_in_place(f) } else { f() }
}

fn refused(refused: &Refused) -> Close {
    match refused {
        Refused::Malformed(error) => {
            tracing::info!(%error, "a malformed update or state vector; the connection is closed");
            Close::Malformed
        }
        Refused::TooLarge => Close::TooLarge,
        Refused::Broken => Close::Internal,
    }
}

/// The close code and reason for somebody who may not enter.
fn denial(denied: Denied) -> (Close, String) {
    match denied {
        Denied::Unauthorized(reason) => (Close::Unauthorized, reason),
        Denied::Forbidden(reason) => (Close::Forbidden, reason),
        Denied::Unavailable => (Close::TryAgain, "it cannot be told now whether you may enter".to_owned()),
    }
}
