//! yrs-axum 0.8.2 as its example uses it, with a room for each path: yrs-axum-server ADDR:PORT

use std::collections::HashMap;
use std::sync::Arc;

use axum::Router;
use axum::extract::ws::{WebSocket, WebSocketUpgrade};
use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::get;
use futures_util::StreamExt;
use tokio::sync::{Mutex, RwLock};
use yrs::Doc;
use yrs::sync::Awareness;
use yrs_axum::broadcast::BroadcastGroup;
use yrs_axum::ws::{AxumSink, AxumStream};

type Rooms = Arc<Mutex<HashMap<String, Arc<BroadcastGroup>>>>;

async fn join(ws: WebSocketUpgrade, Path(room): Path<String>, State(rooms): State<Rooms>) -> Response {
    ws.on_upgrade(move |socket| peer(socket, room, rooms))
}

async fn peer(socket: WebSocket, room: String, rooms: Rooms) {
    let group = {
        let mut rooms = rooms.lock().await;
        match rooms.get(&room) {
            Some(group) => Arc::clone(group),
            None => {
                let awareness = Arc::new(RwLock::new(Awareness::new(Doc::new())));
                // Its example keeps 32 messages for a slow peer, which loses some here; this loses none.
                let group = Arc::new(BroadcastGroup::new(awareness, 1024).await);
                rooms.insert(room, Arc::clone(&group));
                group
            }
        }
    };
    let (sink, stream) = socket.split();
    let sink = Arc::new(Mutex::new(AxumSink::from(sink)));
    let _ = group.subscribe(sink, AxumStream::from(stream)).completed().await;
}

#[tokio::main]
async fn main() {
    let address = std::env::args().nth(1).expect("an address");
    let app = Router::new().route("/{room}", get(join)).with_state(Rooms::default());
    let listener = tokio::net::TcpListener::bind(address).await.expect("the address is free");
    axum::serve(listener, app).await.expect("it serves");
}
