//! A transport of one's own: two threads speak the sync protocol over channels, as y-websocket does over the network.
//! `cargo run --example transport`

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use yatta::sync::{Awareness, Error, Message, Protocol, SyncMessage};
use yatta::updates::encoder::{Encode, Encoder, EncoderV1};
use yatta::{Doc, GetString, Text, Transact, Update};

/// Any way to send and receive frames of bytes.
struct Connection {
    to: Sender<Vec<u8>>,
    from: Receiver<Vec<u8>>,
}

/// The origin of what came over the connection: not to be sent back.
const REMOTE: &str = "remote";

/// Answers as everybody does, but marks what comes from the other side.
struct Peer;

impl Protocol for Peer {
    fn handle_sync_step2(&self, awareness: &mut Awareness, update: Update) -> Result<Option<Message>, Error> {
        awareness.doc().transact_mut_with(REMOTE).apply_update(update)?;
        Ok(None)
    }
}

/// Takes what comes until the other side hangs up, and answers.
fn serve(doc: Doc, connection: Connection, done: impl Fn(&Doc) -> bool) -> Result<(), Error> {
    let mut awareness = Awareness::new(doc.clone());
    let Connection { to, from } = connection;
    // What is changed here goes to the other side. Sending fails only if that has gone.
    let updates = to.clone();
    let subscribed = doc.observe_update_v1("connection", move |txn, event| {
        if txn.origin().is_none_or(|origin| *origin != REMOTE.into()) {
            let _ = updates.send(Message::Sync(SyncMessage::Update(event.update.clone())).encode_v1());
        }
    });
    subscribed.map_err(|error| Error::Other(Box::new(error)))?;

    // The first words: what is known here.
    let mut encoder = EncoderV1::new();
    Peer.start(&awareness, &mut encoder)?;
    let _ = to.send(encoder.to_vec());
    while !done(&doc) {
        let Ok(frame) = from.recv() else { break };
        for answer in Peer.handle(&mut awareness, &frame)? {
            let _ = to.send(answer.encode_v1());
        }
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let ((to_server, at_server), (to_client, at_client)) = (channel(), channel());
    let docs = [Doc::new(), Doc::new()];
    for (doc, words) in docs.iter().zip(["server ", "client "]) {
        doc.get_or_insert_text("chat").insert(&mut doc.transact_mut(), 0, words);
    }
    let text = |doc: &Doc| doc.get_or_insert_text("chat").get_string(&doc.transact());
    let complete = move |doc: &Doc| text(doc).len() == "server client ".len();
    let connections =
        [Connection { to: to_client, from: at_server }, Connection { to: to_server, from: at_client }];
    let threads: Vec<_> = (docs.iter().cloned().zip(connections))
        .map(|(doc, connection)| thread::spawn(move || serve(doc, connection, complete)))
        .collect();
    for thread in threads {
        thread.join().map_err(|_| "a thread panicked")??;
    }
    let [server, client] = docs.each_ref().map(text);
    assert_eq!(server, client);
    println!("both have: {server}");
    Ok(())
}
