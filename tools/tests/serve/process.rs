//! `yatta serve` as a process, and what can be seen of it from outside.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::PATIENCE;

/// `yatta serve` on a free port.
pub(crate) struct Process {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl Process {
    pub(crate) fn start(folder: &Path) -> Self {
        Self::start_with(folder, &[])
    }

    /// Starts it with further arguments.
    pub(crate) fn start_with(folder: &Path, further: &[&str]) -> Self {
        // An acknowledgement is worth something only with a rate that lets many be on their way.
        let mut child = Command::new(env!("CARGO_BIN_EXE_yatta"))
            .args(["serve", "--listen", "127.0.0.1:0", "--drain", "5", "--max-rate", "0", "--data-dir"])
            .arg(folder)
            .args(further)
            .env("NO_COLOR", "1")
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let address = loop {
            let line = lines.next().expect("the server starts").unwrap();
            if let Some((_, address)) = line.split_once("address=") {
                break address.split_whitespace().next().unwrap().parse().unwrap();
            }
        };
        // Whoever writes a log must find a reader.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, address }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&self, name: &str) {
        let done = Command::new("kill").args([name, &self.child.id().to_string()]).status().unwrap();
        assert!(done.success());
    }

    /// Resident bytes, as Linux shows them.
    pub(crate) fn memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.split_whitespace().next().unwrap().parse::<u64>().unwrap() * 1024
    }

    /// What it answers to a GET: the status and the rest.
    pub(crate) fn get(&self, path: &str) -> String {
        let mut socket = TcpStream::connect(self.address).unwrap();
        write!(socket, "GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).unwrap();
        answer
    }

    /// Waits for the end; returns whether it went well.
    pub(crate) fn end(mut self) -> bool {
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.success();
            }
            assert!(Instant::now() < end, "the server ends in time");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It has ended already, or the test failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
