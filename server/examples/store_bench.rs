//! Measures the store alone: `cargo run --release -p yatta-server --example store_bench [SECONDS] [FOLDER]`.
//!
//! Real updates (a text that grows by a hundred characters each), the real merge, SQLite with an fsync before an append is
//! done. The folder decides what is measured: it has to be on the disk that will be used.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use bytes::Bytes;
use yatta::updates::decoder::Decode;
use yatta::{Doc, ReadTxn, StateVector, Text, Transact, Update};
use yatta_server::name::RoomName;
use yatta_server::room::document::merge;
use yatta_server::store::sqlite::SqliteStore;
use yatta_server::store::{Durability, Log, Store};

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// As many updates of a text of one client.
fn updates(count: usize) -> Vec<Bytes> {
    let doc = Doc::new();
    let text = doc.get_or_insert_text("text");
    let piece = "a hundred characters of text, more or less ".repeat(3);
    (0..count)
        .map(|_| {
            let mut txn = doc.transact_mut();
            let end = text.len(&txn);
            text.insert(&mut txn, end, piece.get(..100).unwrap_or(&piece));
            txn.encode_update_v1().into()
        })
        .collect()
}

fn append(store: &dyn Store, log: &Arc<Log>, update: Bytes) -> Outcome<()> {
    let (done, wait) = channel();
    store.append(log, update, Box::new(move |result| drop(done.send(result))));
    Ok(wait.recv()??)
}

/// Runs `work` on as many threads for the time; returns how often in a second.
fn rate<F>(threads: usize, time: Duration, work: F) -> Outcome<f64>
where
    F: Fn(usize, u64) -> Outcome<()> + Sync,
{
    let (over, count) = (AtomicBool::new(false), AtomicU64::new(0));
    let begun = Instant::now();
    std::thread::scope(|scope| {
        let run = |thread: usize| {
            let (over, count, work) = (&over, &count, &work);
            scope.spawn(move || -> Outcome<()> {
                let mut i = 0;
                while !over.load(Ordering::Relaxed) {
                    work(thread, i)?;
                    i += 1;
                    count.fetch_add(1, Ordering::Relaxed);
                }
                Ok(())
            })
        };
        let running: Vec<_> = (0..threads).map(run).collect();
        std::thread::sleep(time);
        over.store(true, Ordering::Relaxed);
        running.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a thread panicked")?)
    })?;
    Ok(count.load(Ordering::Relaxed) as f64 / begun.elapsed().as_secs_f64())
}

/// What a client with this state lacks.
fn diff(store: &dyn Store, name: &RoomName, known: &StateVector) -> Outcome<usize> {
    let doc = Doc::new();
    for update in store.load(name)?.updates {
        doc.transact_mut().apply_update(Update::decode_v1(&update)?)?;
    }
    Ok(doc.transact().encode_state_as_update_v1(known).len())
}

fn measure(store: &dyn Store, time: Duration) -> Outcome<()> {
    let say = |what: &str, rate: f64| println!("{what:<52} {rate:>10.0}/s  {:>10.1} us", 1e6 / rate);
    let history = updates(1000);
    let full = Bytes::from(merge(&updates(10_000))?);
    let name = |kind: &str, i: usize| RoomName::new(&format!("{kind} {i}"));
    let log = |name: &RoomName| -> Outcome<Arc<Log>> { Ok(store.load(name)?.log) };

    // The journal grows until it is folded in for the first time, and a commit that makes a file grow costs several times one
    // that writes over what is there. What counts is the latter.
    let warm = log(&name("warm", 0)?)?;
    for _ in 0..1_200 {
        append(store, &warm, history.first().cloned().unwrap_or_default())?;
    }
    for threads in [1, 16, 128] {
        let logs: Vec<_> = (0..threads).map(|i| log(&name("append", i)?)).collect::<Outcome<_>>()?;
        let cycled = |i: u64| history.get(i as usize % history.len()).cloned().unwrap_or_default();
        let work = |thread: usize, i| append(store, logs.get(thread).ok_or("a log")?, cycled(i));
        say(&format!("append 130 bytes, {threads} at once"), rate(threads, time, work)?);
    }
    let fulls = log(&name("full", 0)?)?;
    say(
        &format!("write a full document of {} KB", full.len() >> 10),
        rate(1, time, |_, _| append(store, &fulls, full.clone()))?,
    );
    let read = name("history", 0)?;
    let reading = log(&read)?;
    for update in &history {
        append(store, &reading, update.clone())?;
    }
    say(
        "read a history of 1000 updates",
        rate(1, time, |_, _| store.load(&read).map(drop).map_err(Into::into))?,
    );
    let behind = Doc::new();
    for update in history.iter().take(900) {
        behind.transact_mut().apply_update(Update::decode_v1(update)?)?;
    }
    let known = behind.transact().state_vector();
    say(
        "read the last 100 of it by a state vector",
        rate(1, time, |_, _| diff(store, &read, &known).map(drop))?,
    );
    // Of compactions only they are timed, not the appends between.
    let compacted = name("compact", 0)?;
    let compacting = log(&compacted)?;
    let (mut spent, mut rounds) = (Duration::ZERO, 0);
    while spent < time && rounds < 200 {
        for update in history.iter().take(500) {
            let (done, _) = channel::<()>();
            store.append(&compacting, update.clone(), Box::new(move |_| drop(done)));
        }
        append(store, &compacting, Bytes::from_static(&[0, 0]))?;
        let begun = Instant::now();
        store.compact(&compacted, &|updates| merge(updates))?;
        spent += begun.elapsed();
        rounds += 1;
    }
    say("compact 500 updates", f64::from(rounds) / spent.as_secs_f64());
    say(
        "compact where there is nothing to do",
        rate(1, time, |_, _| {
            store.compact(&compacted, &|updates| merge(updates)).map(|_| ()).map_err(Into::into)
        })?,
    );
    for threads in [16, 128] {
        let names: Vec<_> = (0..threads).map(|i| name("mix", i)).collect::<Result<_, _>>()?;
        let logs: Vec<_> = names.iter().map(&log).collect::<Outcome<_>>()?;
        let small = Bytes::from(merge(&history)?);
        let mix = |thread: usize, i: u64| -> Outcome<()> {
            let (name, log) = (names.get(thread).ok_or("a name")?, logs.get(thread).ok_or("a log")?);
            match (i * 7 + thread as u64) % 20 {
                0..9 => append(store, log, history.get(i as usize % 1000).cloned().unwrap_or_default()),
                9..14 => store.load(name).map(drop).map_err(Into::into),
                14..16 => diff(store, name, &known).map(drop),
                16..18 => append(store, log, small.clone()),
                _ => store.compact(name, &|updates| merge(updates)).map(|_| ()).map_err(Into::into),
            }
        };
        say(&format!("mix, {threads} clients"), rate(threads, time, mix)?);
    }
    println!("mix: 45% append, 25% read, 10% read by state vector, 10% write full (100 KB), 10% compact");
    Ok(())
}

fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    let seconds: f64 = arguments.next().map_or(Ok(3.0), |seconds| seconds.parse())?;
    let folder = arguments.next().unwrap_or_else(|| "target/store-bench".to_owned());
    // What an earlier run left would be read at the start.
    if Path::new(&folder).join("yatta.db").exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    let store = SqliteStore::open(Path::new(&folder), Durability::Full)?;
    measure(&store, Duration::from_secs_f64(seconds))
}
