//! One connection: the handshake, then both directions at once.
//!
//! Writing has a queue of its own. Were it done between two reads, a client and a server that both have much to say would wait
//! for each other to read.

use std::time::{Duration, Instant};

use futures_util::stream::SplitSink;
use futures_util::{SinkExt, StreamExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::time::{interval, timeout};
use tokio_tungstenite::tungstenite::Message as WsMessage;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};
use yatta::encoding::read::{Cursor, Error, Read};
use yatta::encoding::write::Write;
use yatta::sync::{Message, MessageReader, SyncMessage};
use yatta::updates::decoder::{Decode, DecoderV1};
use yatta::updates::encoder::Encode;
use yatta::{AsyncTransact, ReadTxn, Update};

use crate::Status;
use crate::task::{Outgoing, Task};

/// As in y-websocket: who hears nothing for so long connects anew …
const WATCHDOG: Duration = Duration::from_secs(30);
/// … and presence is refreshed twice as often, which makes the server say something.
const REFRESH: Duration = Duration::from_secs(15);
/// A message that is not taken for so long ends the connection.
const STALL: Duration = Duration::from_secs(60);
/// A farewell may take so long.
const FAREWELL: Duration = Duration::from_secs(1);
/// The message that asks whether all is stored, and its answer (docs/SERVER.md).
const STORED: u8 = 8;

pub(crate) type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// Why a connection ended.
pub(crate) enum End {
    /// Try again.
    Lost,
    /// Wait until asked.
    Offline,
    Refused(u16, String),
    Closed,
}

/// The queue of what is to be written.
struct Queue(mpsc::UnboundedSender<WsMessage>);

impl Queue {
    fn push(&self, message: &Message) {
        // If the writer has ended, the connection is about to.
        let _ = self.0.send(WsMessage::Binary(message.encode_v1().into()));
    }

    fn ask_stored(&self, token: u64) {
        let mut question = Vec::new();
        question.write_var(token);
        self.push(&Message::Custom(STORED, question));
    }
}

/// Writes what is queued until the queue is closed and empty, then closes.
async fn write(mut sink: SplitSink<Socket, WsMessage>, mut queue: mpsc::UnboundedReceiver<WsMessage>) {
    while let Some(message) = queue.recv().await {
        if !matches!(timeout(STALL, sink.send(message)).await, Ok(Ok(()))) {
            return;
        }
    }
    // Whether the other side hears it does not matter any more.
    let _ = sink.close().await;
}

impl Task {
    pub(crate) async fn talk(&mut self, socket: Socket) -> End {
        self.status.send_replace(Status::Connected);
        let (sink, mut stream) = socket.split();
        let (queue, queued) = mpsc::unbounded_channel();
        let queue = Queue(queue);
        let writing = write(sink, queued);
        tokio::pin!(writing);
        let known = AsyncTransact::transact(&self.doc).await.state_vector();
        queue.push(&Message::Sync(SyncMessage::SyncStep1(known)));
        self.say_presence(&queue);
        let mut heard = Instant::now();
        let mut refresh = interval(REFRESH);
        refresh.reset();
        // Whether the server has been told all that it lacked.
        let mut told = false;
        let end = loop {
            tokio::select! {
                message = stream.next() => {
                    heard = Instant::now();
                    match message {
                        // An error: no server of this protocol, or not any more.
                        Some(Ok(WsMessage::Binary(frame))) => {
                            if self.take(&frame, &queue, &mut told).await.is_err() {
                                return End::Lost;
                            }
                        }
                        Some(Ok(WsMessage::Close(Some(CloseFrame { code, reason })))) if (4400..4500).contains(&u16::from(code)) => {
                            return End::Refused(code.into(), reason.to_string());
                        }
                        Some(Ok(WsMessage::Close(_)) | Err(_)) | None => return End::Lost,
                        Some(Ok(_)) => {}
                    }
                }
                outgoing = self.inbox.recv() => match outgoing {
                    None | Some(Outgoing::Close) => break End::Closed,
                    Some(Outgoing::Online(false)) => break End::Offline,
                    Some(Outgoing::Online(true)) => {}
                    Some(Outgoing::Update(update)) => queue.push(&Message::Sync(SyncMessage::Update(update))),
                    Some(Outgoing::Presence) => self.say_presence(&queue),
                    Some(Outgoing::AskStored(answer)) => {
                        let token = self.enlist(answer);
                        if told {
                            queue.ask_stored(token);
                        }
                    }
                },
                () = &mut writing => return End::Lost,
                _ = refresh.tick() => {
                    if heard.elapsed() > WATCHDOG {
                        return End::Lost;
                    }
                    self.refresh();
                }
            }
        };
        self.take_leave(&queue);
        drop(queue);
        // A server that does not take it sees the connection end.
        let _ = timeout(FAREWELL, writing).await;
        end
    }

    /// Takes a frame in and queues what is to be answered.
    async fn take(&mut self, frame: &[u8], queue: &Queue, told: &mut bool) -> Result<(), Error> {
        let mut decoder = DecoderV1::from(frame);
        for message in MessageReader::new(&mut decoder) {
            match message? {
                Message::Sync(SyncMessage::SyncStep1(theirs)) => {
                    let lacks = AsyncTransact::transact(&self.doc).await.encode_state_as_update_v1(&theirs);
                    queue.push(&Message::Sync(SyncMessage::SyncStep2(lacks)));
                    if !std::mem::replace(told, true) {
                        for waiting in &self.waiting {
                            queue.ask_stored(waiting.token);
                        }
                    }
                }
                Message::Sync(SyncMessage::SyncStep2(update)) => {
                    self.apply(&update).await?;
                    self.status.send_replace(Status::Synced);
                }
                Message::Sync(SyncMessage::Update(update)) => self.apply(&update).await?,
                Message::Awareness(update) => {
                    // A state that is no JSON is the fault of another client, not a reason to leave.
                    let _ = self.awareness.lock().apply_update_with(update, self.key.as_str());
                }
                Message::AwarenessQuery => self.say_presence(queue),
                Message::Custom(STORED, answer) => self.stored(&answer)?,
                Message::Auth(_) | Message::Custom(..) => {}
            }
        }
        Ok(())
    }

    async fn apply(&self, update: &[u8]) -> Result<(), Error> {
        let update = Update::decode_v1(update)?;
        let mut txn = AsyncTransact::transact_mut_with(&self.doc, self.key.as_str()).await;
        txn.apply_update(update).map_err(|_| Error::UnexpectedValue)
    }

    /// All up to a number is stored, or may not be.
    fn stored(&mut self, answer: &[u8]) -> Result<(), Error> {
        let mut cursor = Cursor::new(answer);
        let token: u64 = cursor.read_var()?;
        let kept = cursor.read_u8()? == 1;
        let done = self.waiting.partition_point(|waiting| waiting.token <= token);
        for waiting in self.waiting.drain(..done) {
            // Nobody waits any more: fine.
            let _ = waiting.answer.send(kept);
        }
        Ok(())
    }

    fn say_presence(&self, queue: &Queue) {
        let awareness = self.awareness.lock();
        let own = awareness.client_id();
        // A client that was never shown is not known to the awareness.
        if let Ok(state) = awareness.update_with_clients([own]) {
            queue.push(&Message::Awareness(state));
        }
    }

    /// Says again what was said, which raises the clock; the observer sends it.
    fn refresh(&self) {
        let mut awareness = self.awareness.lock();
        if let Some(state) = awareness.local_state_raw() {
            awareness.set_local_state_raw(state);
        }
    }

    /// Says that this client leaves.
    fn take_leave(&self, queue: &Queue) {
        let state = self.awareness.lock().local_state_raw();
        let Some(state) = state else { return };
        self.awareness.lock().clean_local_state();
        self.say_presence(queue);
        // For the time when it comes back.
        self.awareness.lock().set_local_state_raw(state);
    }
}
