//! What a load found.

use std::fmt;
use std::fs;
use std::io;
use std::time::Duration;

use super::{Args, Seen};

/// The server's process, as Linux shows it.
pub(super) struct Process(pub(super) u32);

impl Process {
    /// Processor time so far, of all threads that live: a few that ended hardly matter, and it counts nanoseconds, where the
    /// sum of the process counts hundredths of a second.
    pub(super) fn cpu(&self) -> io::Result<Duration> {
        let mut nanos = 0;
        for thread in fs::read_dir(format!("/proc/{}/task", self.0))? {
            // A thread may end meanwhile.
            let Ok(stat) = fs::read_to_string(thread?.path().join("schedstat")) else { continue };
            nanos += stat.split_whitespace().next().and_then(|n| n.parse::<u64>().ok()).unwrap_or_default();
        }
        Ok(Duration::from_nanos(nanos))
    }

    /// Resident bytes.
    pub(super) fn memory(&self) -> io::Result<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.0))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kilobytes =
            line.and_then(|line| line.split_whitespace().next()).and_then(|n| n.parse::<u64>().ok());
        Ok(kilobytes.unwrap_or_default() * 1024)
    }
}

/// The figures.
#[derive(Debug, serde::Serialize)]
pub(super) struct Report {
    pub(super) connections: usize,
    /// Connections that the server closed.
    pub(super) dropped: usize,
    /// Times that connections left and came again.
    pub(super) rejoined: u64,
    pub(super) sent: u64,
    pub(super) delivered: u64,
    pub(super) lost: u64,
    pub(super) bytes_in: u64,
    /// From sending to seeing, in microseconds.
    pub(super) latency: Percentiles,
    /// From connecting to having the document, in microseconds.
    pub(super) join: Percentiles,
    /// The server's processor time a delivery, in microseconds.
    pub(super) cpu_per_delivery: Option<f64>,
    /// The server's processor time in all, in milliseconds.
    pub(super) cpu_ms: Option<u128>,
    /// The server's memory a connection, in bytes.
    pub(super) memory_per_connection: Option<f64>,
}

#[derive(Debug, serde::Serialize)]
pub(super) struct Percentiles {
    p50: u32,
    p99: u32,
    max: u32,
}

impl Percentiles {
    fn of(mut values: Vec<u32>) -> Self {
        values.sort_unstable();
        let at = |share: f64| {
            let place = (values.len() as f64 * share) as usize;
            values.get(place.min(values.len().saturating_sub(1))).copied().unwrap_or_default()
        };
        Self { p50: at(0.5), p99: at(0.99), max: at(1.0) }
    }
}

impl fmt::Display for Percentiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = |us: u32| f64::from(us) / 1000.0;
        write!(f, "p50 {:.2} ms, p99 {:.2} ms, max {:.2} ms", ms(self.p50), ms(self.p99), ms(self.max))
    }
}

impl Report {
    pub(super) fn of(args: &Args, seen: &[Seen], cpu: Option<Duration>, memory: Option<(u64, u64)>) -> Self {
        let sent: u64 = seen.iter().map(|one| one.sent).sum();
        let delivered: u64 = seen.iter().map(|one| one.marks).sum();
        let expected = sent * (args.connections as u64 - 1);
        Self {
            connections: seen.len(),
            rejoined: seen.iter().map(|one| one.rejoined).sum(),
            dropped: seen.iter().filter(|one| one.dropped).count(),
            sent,
            delivered,
            lost: expected.saturating_sub(delivered),
            bytes_in: seen.iter().map(|one| one.bytes).sum(),
            latency: Percentiles::of(seen.iter().flat_map(|one| one.latencies.iter().copied()).collect()),
            join: Percentiles::of(seen.iter().map(|one| one.joined).collect()),
            cpu_per_delivery: cpu
                .filter(|_| delivered > 0)
                .map(|cpu| cpu.as_secs_f64() * 1e6 / delivered as f64),
            cpu_ms: cpu.map(|cpu| cpu.as_millis()),
            memory_per_connection: memory
                .map(|(before, after)| after.saturating_sub(before) as f64 / seen.len().max(1) as f64),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "connections  {} ({} dropped)", self.connections, self.dropped)?;
        writeln!(f, "join         {}", self.join)?;
        if self.rejoined > 0 {
            writeln!(f, "churn        {} left and came again", self.rejoined)?;
        }
        writeln!(f, "updates      {} sent, {} delivered, {} lost", self.sent, self.delivered, self.lost)?;
        writeln!(f, "latency      {}", self.latency)?;
        if let Some(cpu) = self.cpu_per_delivery {
            writeln!(f, "server CPU   {cpu:.2} us a delivery")?;
        } else if let Some(cpu) = self.cpu_ms {
            writeln!(f, "server CPU   {cpu} ms")?;
        }
        if let Some(memory) = self.memory_per_connection {
            writeln!(f, "server RAM   {:.1} KB a connection", memory / 1024.0)?;
        }
        Ok(())
    }
}
