//! It is killed, or told to end, under load: whatever it acknowledged is there afterwards.
//!
//! `ROUNDS=50 cargo test -p yatta-tools --test serve` for more rounds than CI has time for.

use std::collections::{HashSet, VecDeque};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use yatta::updates::decoder::Decode;
use yatta::updates::encoder::Encode;
use yatta::{Doc, ReadTxn, Transact};
use yatta_server::wire::{self, Message};

use crate::common::{Came, Client, PATIENCE, Raw};
use crate::process::Process;

/// A writer in the dialect of hocuspocus, with a document that lives through crashes.
struct Writer {
    name: String,
    doc: Doc,
    next: usize,
    acknowledged: Vec<String>,
}

impl Writer {
    /// Writes until the server is gone; at most `window` updates are on their way.
    async fn write(&mut self, address: SocketAddr, window: usize, total: &AtomicUsize) {
        let prefix = wire::address_prefix(&self.name);
        let mut raw = Raw::connect_to(address, "").await;
        let auth = [&prefix[..], &[2, 0, 0]].concat();
        raw.send(auth).await;
        let state_vector = self.doc.transact().state_vector().encode_v1();
        raw.send(wire::step1(&prefix, &state_vector)).await;
        // What is on its way: the mark of each, none for the step 2.
        let mut waiting: VecDeque<Option<String>> = VecDeque::new();
        let mut synced = false;
        loop {
            while synced && waiting.len() < window {
                let mark = format!("<{}:{}>", self.name, self.next);
                self.next += 1;
                let root = self.doc.get_or_insert_text("text");
                let update = {
                    let mut txn = self.doc.transact_mut();
                    yatta::Text::insert(&root, &mut txn, 0, &mark);
                    txn.encode_update_v1()
                };
                waiting.push_back(Some(mark));
                if !raw.try_send(wire::update(&prefix, &update)).await {
                    return;
                }
            }
            let Came::Frame(frame) = raw.next().await else { return };
            let (_, body) = wire::split_address(&frame).unwrap();
            if body == [8, 1] {
                if let Some(mark) = waiting.pop_front().expect("acknowledgements are for something") {
                    self.acknowledged.push(mark);
                    total.fetch_add(1, Ordering::Relaxed);
                }
                continue;
            }
            match wire::read(body) {
                Ok(Message::Step1(theirs)) => {
                    let theirs = yatta::StateVector::decode_v1(theirs).unwrap();
                    let diff = self.doc.transact().encode_state_as_update_v1(&theirs);
                    waiting.push_back(None);
                    if !raw.try_send(wire::step2(&prefix, &diff)).await {
                        return;
                    }
                    synced = true;
                }
                Ok(Message::Step2(update) | Message::Update(update)) => {
                    let update = yatta::Update::decode_v1(update).unwrap();
                    self.doc.transact_mut().apply_update(update).unwrap();
                }
                _ => {}
            }
        }
    }
}

async fn check(address: SocketAddr, writers: &[Writer]) {
    for writer in writers {
        let client = Client::join_at(address, &writer.name.replace(' ', "%20"), Doc::new()).await;
        let text = client.text();
        let there: HashSet<&str> = text.split_inclusive('>').collect();
        for mark in &writer.acknowledged {
            assert!(there.contains(mark.as_str()), "{mark} was acknowledged and is lost");
        }
    }
}

fn writers() -> Vec<Writer> {
    // Two write to one document.
    let names = ["alone", "large rooms", "both", "both"];
    let writer = |(i, name): (usize, &&str)| Writer {
        name: (*name).to_owned(),
        doc: Doc::new(),
        next: i * 1_000_000,
        acknowledged: Vec::new(),
    };
    names.iter().enumerate().map(writer).collect()
}

/// Lets all write for a while, then ends the server by a signal.
async fn round(process: Process, mut writers: Vec<Writer>, time: Duration, signal: &str) -> Vec<Writer> {
    let total = Arc::new(AtomicUsize::new(0));
    let address = process.address;
    let tasks: Vec<_> = writers
        .drain(..)
        .enumerate()
        .map(|(i, mut writer)| {
            let total = Arc::clone(&total);
            tokio::spawn(async move {
                writer.write(address, [1, 200, 20, 3][i], &total).await;
                writer
            })
        })
        .collect();
    // Not before something was acknowledged, or the round says nothing.
    let end = Instant::now() + PATIENCE;
    while total.load(Ordering::Relaxed) == 0 && Instant::now() < end {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    tokio::time::sleep(time).await;
    process.signal(signal);
    let mut back = Vec::new();
    for task in tasks {
        back.push(tokio::time::timeout(PATIENCE, task).await.expect("writers see the end").unwrap());
    }
    let well = tokio::task::spawn_blocking(move || process.end()).await.unwrap();
    assert_eq!(well, signal == "-TERM", "{signal}");
    assert!(total.load(Ordering::Relaxed) > 0, "something was acknowledged");
    back
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_acknowledged_is_lost_when_it_is_killed() {
    let rounds: u64 = std::env::var("ROUNDS").map_or(6, |rounds| rounds.parse().unwrap());
    let seed: u64 = std::env::var("SEED").map_or_else(|_| rand::random(), |seed| seed.parse().unwrap());
    println!("SEED={seed}");
    let mut random = Pcg64::seed_from_u64(seed);
    let folder = tempfile::tempdir().unwrap();
    let mut writers = writers();
    for _ in 0..rounds {
        let process = Process::start(folder.path());
        check(process.address, &writers).await;
        let time = Duration::from_millis(random.random_range(0..400));
        writers = round(process, writers, time, "-KILL").await;
    }
    let process = Process::start(folder.path());
    check(process.address, &writers).await;
    let acknowledged: usize = writers.iter().map(|writer| writer.acknowledged.len()).sum();
    println!("{acknowledged} acknowledged in {rounds} rounds, none lost");
}

/// SIGTERM under load: it ends well and in time, and what it acknowledged is there.
#[tokio::test(flavor = "multi_thread")]
async fn it_drains_when_it_is_told_to_end() {
    let folder = tempfile::tempdir().unwrap();
    let mut writers = writers();
    for _ in 0..2 {
        let process = Process::start(folder.path());
        writers = round(process, writers, Duration::from_millis(300), "-TERM").await;
    }
    let process = Process::start(folder.path());
    check(process.address, &writers).await;
}
