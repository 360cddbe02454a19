//! Rooms come and go by the thousand; the memory of the server does not grow with them.
//!
//! `ROOMS=10000 cargo test -p yatta-tools --test serve memory` for as many as the promise says.

use std::time::Duration;

use yatta::Doc;
use yatta_server::wire::{self, Message};

use crate::common::{Came, Client};
use crate::process::Process;

/// Enters a new room, writes a kilobyte, shows presence, waits until it is stored, and leaves.
async fn visit(process: &Process, room: usize) {
    let mut client = Client::join_at(process.address, &format!("room{room}"), Doc::new()).await;
    let state = format!("{{\"name\":\"{room}\"}}");
    let states = wire::presence::write(
        [wire::presence::Entry { client: room as u64 + 1, clock: 1, state: &state }].into_iter(),
    );
    client.raw.send(wire::awareness(&[], &states)).await;
    client.type_text(&"x".repeat(1000)).await;
    loop {
        match client.raw.next().await {
            Came::Frame(frame) if matches!(wire::read(&frame), Ok(Message::Update(_))) => break,
            Came::Frame(_) => {}
            other => panic!("{other:?}"),
        }
    }
    client.raw.socket.close(None).await.unwrap();
}

async fn churn(process: &std::sync::Arc<Process>, rooms: std::ops::Range<usize>) {
    let mut visits = tokio::task::JoinSet::new();
    for room in rooms {
        if visits.len() >= 20 {
            visits.join_next().await.unwrap().unwrap();
        }
        let process = std::sync::Arc::clone(process);
        visits.spawn(async move { visit(&process, room).await });
    }
    visits.join_all().await;
    // The last of them are unloaded by the next tick.
    tokio::time::sleep(Duration::from_millis(1500)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn churned_rooms_leave_no_memory_behind() {
    let rooms: usize = std::env::var("ROOMS").map_or(1500, |rooms| rooms.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["--idle-room", "0", "--durability", "relaxed"];
    let process = std::sync::Arc::new(Process::start_with(folder.path(), &arguments));
    let start = process.memory();
    // The first third warms up: threads, caches of the store, arenas of the allocator.
    churn(&process, 0..rooms / 3).await;
    let warm = process.memory();
    churn(&process, rooms / 3..rooms).await;
    let end = process.memory();
    let metrics = process.get("/metrics");
    let of = |name: &str| {
        let line = metrics
            .lines()
            .find(|line| line.starts_with(name))
            .unwrap_or_else(|| panic!("{name}: {metrics}"));
        line.rsplit(' ').next().unwrap().parse::<f64>().unwrap()
    };
    println!(
        "{rooms} rooms: {} KB at the start, {} KB after a third, {} KB after all",
        start >> 10,
        warm >> 10,
        end >> 10
    );
    assert_eq!(of("yatta_rooms"), 0.0, "all are unloaded");
    assert!(of("yatta_loads_total") >= rooms as f64);
    // The allocator keeps a few megabytes more or less. A room that stayed would be some 20 KB.
    let growth = end.saturating_sub(warm);
    assert!(growth < 8 << 20, "{growth} bytes for {} rooms", rooms - rooms / 3);
}
