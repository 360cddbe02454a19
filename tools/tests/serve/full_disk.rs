//! The disk is full, then there is room again: nothing acknowledged is lost, nothing that clients hold is, and it goes on by
//! itself.
//!
//! On a file system of its own where the test may mount one (as root; elsewhere it says that it did not), and everywhere on a
//! store that is bounded by `--max-store`.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use tokio::time::sleep;
use yatta::Doc;
use yatta_server::wire::{self, Message};

use crate::common::{Came, Client, PATIENCE, Raw};
use crate::process::Process;

struct Mount<'p>(&'p Path);

impl<'p> Mount<'p> {
    fn new(path: &'p Path) -> Option<Self> {
        mount(&["-t", "tmpfs", "-o", "size=2m", "tmpfs"], path).then_some(Self(path))
    }

    fn grow(&self) {
        assert!(mount(&["-o", "remount,size=64m"], self.0));
    }
}

impl Drop for Mount<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0).output();
    }
}

fn mount(arguments: &[&str], path: &Path) -> bool {
    Command::new("mount").args(arguments).arg(path).output().is_ok_and(|done| done.status.success())
}

/// Writes until the server sends it away; returns the marks that came back, which is after they were stored.
async fn fill(client: &mut Client) -> (Vec<String>, u16) {
    let mut stored = Vec::new();
    for i in 0..2000 {
        let mark = format!("<{i}:{}>", "x".repeat(8000));
        client.type_text(&mark).await;
        loop {
            match client.raw.next().await {
                Came::Frame(frame) => match wire::read(&frame) {
                    Ok(Message::Update(update)) if contains(update, &mark) => break,
                    _ => {}
                },
                Came::Closed(code) => return (stored, code),
                Came::Gone => panic!("gone without a code"),
            }
        }
        stored.push(mark);
    }
    panic!("16 MB fit on the disk");
}

fn contains(bytes: &[u8], mark: &str) -> bool {
    bytes.windows(mark.len()).any(|part| part == mark.as_bytes())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    match Mount::new(folder.path()) {
        Some(mounted) => fills_up(&folder, Some(mounted)).await,
        None => {
            println!("SKIPPED: no file system can be mounted here; a_full_store_loses_nothing stands for it")
        }
    }
}

/// The same without root.
#[tokio::test(flavor = "multi_thread")]
async fn a_full_store_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    fills_up(&folder, None).await;
}

async fn fills_up(folder: &tempfile::TempDir, mounted: Option<Mount<'_>>) {
    let bounded = ["--max-store", "2000000"];
    let process = Process::start_with(folder.path(), if mounted.is_some() { &[] } else { &bounded });
    let mut client = Client::join_at(process.address, "room", Doc::new()).await;
    let (stored, code) = fill(&mut client).await;
    println!("{} updates were stored; mounted: {}", stored.len(), mounted.is_some());
    assert!(stored.len() > 20, "{}", stored.len());
    assert_eq!(code, 1013, "come back later");
    assert!(process.get("/healthz").starts_with("HTTP/1.1 200"));
    assert!(process.get("/readyz").starts_with("HTTP/1.1 503"), "it takes no writes");
    // What is stored can still be read.
    let reader = Client::join_at(process.address, "room", Doc::new()).await;
    assert!(stored.iter().all(|mark| reader.text().contains(mark)));
    drop(reader);
    let process = match &mounted {
        Some(mount) => {
            mount.grow();
            process
        }
        None => {
            process.signal("-TERM");
            process.end();
            Process::start(folder.path())
        }
    };
    // The client returns with what was not stored; that is stored now.
    let doc = client.doc;
    let held = Client { raw: client.raw, doc: doc.clone() }.text();
    let back = tokio::time::timeout(PATIENCE, come_back(&process, doc)).await.unwrap();
    drop(back);
    process.signal("-KILL");
    process.end();
    let process = Process::start(folder.path());
    let late = Client::join_at(process.address, "room", Doc::new()).await;
    assert_eq!(late.text().len(), held.len());
    assert_eq!(late.text(), held);
    assert!(process.get("/readyz").starts_with("HTTP/1.1 200"));
    process.signal("-TERM");
    assert!(process.end());
}

/// Comes in and hears that all it has is stored, however often it is sent away before.
async fn come_back(process: &Process, doc: Doc) -> Client {
    loop {
        let raw = Raw::connect_to(process.address, "room").await;
        let mut client = Client { raw, doc: doc.clone() };
        let known = yatta::updates::encoder::Encode::encode_v1(&yatta::ReadTxn::state_vector(
            &yatta::Transact::transact(&client.doc),
        ));
        client.raw.send(wire::step1(&[], &known)).await;
        let mut greeted = false;
        loop {
            match client.raw.next().await {
                Came::Frame(frame) => match wire::read(&frame) {
                    Ok(Message::Step1(theirs)) if !greeted => {
                        greeted = true;
                        let theirs = yatta::updates::decoder::Decode::decode_v1(theirs).unwrap();
                        let txn = yatta::Transact::transact(&client.doc);
                        let lacks = yatta::ReadTxn::encode_state_as_update_v1(&txn, &theirs);
                        drop(txn);
                        client.raw.send(wire::step2(&[], &lacks)).await;
                        client.raw.send(&[8, 1, 7][..]).await;
                    }
                    _ if frame[..] == [8, 2, 7, 1] => return client,
                    _ => {}
                },
                Came::Closed(1013) => break,
                other => panic!("{other:?}"),
            }
        }
        sleep(Duration::from_millis(50)).await;
    }
}
