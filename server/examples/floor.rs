//! What a delivery costs if a server does nothing: it reads a frame and writes the same bytes to every other socket of the
//! room, one `send` each, from one thread; no document, no store, no queue, no bound.
//!
//! `cargo run --release -p yatta-server --example floor 127.0.0.1:PORT` beside `yatta load`: no server with one socket a
//! client that sends updates one by one can be cheaper on that machine. See `server/bench/RESULTS.md`.

#![allow(clippy::expect_used, clippy::print_stdout, reason = "a program to measure with")]

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

type Peers = Vec<(usize, Rc<TcpStream>)>;
type Rooms = Rc<RefCell<HashMap<String, Peers>>>;

fn main() {
    let address = std::env::args().nth(1).expect("an address");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    tokio::task::LocalSet::new().block_on(&runtime, async {
        let listener = TcpListener::bind(&address).await.expect("it can listen");
        let rooms = Rooms::default();
        for number in 0.. {
            let (socket, _) = listener.accept().await.expect("it can accept");
            tokio::task::spawn_local(serve(socket, Rc::clone(&rooms), number));
        }
    });
}

/// Serves one client until anything is not as expected.
async fn serve(mut socket: TcpStream, rooms: Rooms, number: usize) -> Option<()> {
    socket.set_nodelay(true).ok()?;
    let mut buffer = vec![0; 4096];
    let mut len = 0;
    while !buffer.get(..len)?.ends_with(b"\r\n\r\n") {
        len += socket.read(buffer.get_mut(len..)?).await.ok().filter(|read| *read > 0)?;
    }
    let head = String::from_utf8_lossy(buffer.get(..len)?).into_owned();
    let room = head.split(' ').nth(1)?.to_owned();
    let key = head.lines().find_map(|line| line.strip_prefix("Sec-WebSocket-Key: "))?;
    let accept = derive_accept_key(key.as_bytes());
    let answer = format!(
        "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-accept: {accept}\r\n\r\n"
    );
    // And the step 2 of an empty document, which a client waits for.
    socket.write_all(answer.as_bytes()).await.ok()?;
    socket.write_all(&[0x82, 5, 0, 1, 2, 0, 0]).await.ok()?;
    let socket = Rc::new(socket);
    rooms.borrow_mut().entry(room.clone()).or_default().push((number, Rc::clone(&socket)));
    relay(&socket, &rooms, &room, number).await;
    rooms.borrow_mut().get_mut(&room)?.retain(|(other, _)| *other != number);
    Some(())
}

async fn relay(socket: &TcpStream, rooms: &Rooms, room: &str, number: usize) -> Option<()> {
    let mut bytes = vec![0; 4096];
    loop {
        socket.readable().await.ok()?;
        let read = match socket.try_read(&mut bytes) {
            Ok(0) => return None,
            Ok(read) => read,
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => continue,
            Err(_) => return None,
        };
        // The load sends short frames, one at a time: two bytes of head, four of mask.
        let [_, len, a, b, c, d, rest @ ..] = bytes.get_mut(..read)? else { continue };
        if *len & 0x7f > 125 || rest.first().is_none_or(|first| first ^ *a != 0) {
            continue;
        }
        let mask = [*a, *b, *c, *d];
        let mut frame = vec![0x82, *len & 0x7f];
        frame.extend(rest.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask));
        for (other, peer) in rooms.borrow().get(room)? {
            if *other != number {
                let _ = peer.try_write(&frame);
            }
        }
    }
}
