//! `yatta load`: makes load for a sync server and measures it, in the raw protocol: no documents are built here, so that
//! the server is what is measured.
//!
//! Writers append marks of fixed length to a text of their room; everybody looks for marks in what comes. Counted are
//! unique marks, not frames: servers may merge updates. A mark holds when it was sent.

mod client;
mod frames;
mod report;

use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use tokio::sync::Barrier;
use tokio::time::timeout;

use self::client::{Client, Seen};
use self::report::{Process, Report};

/// What a server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Dialect {
    /// The room is the path.
    Ywebsocket,
    /// The room is in each frame.
    Hocuspocus,
}

/// How much load, and where.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    /// Server, as in ws://127.0.0.1:1234
    #[arg(long, default_value = "ws://127.0.0.1:1234")]
    url: String,
    /// What it speaks
    #[arg(long, value_enum, default_value_t = Dialect::Ywebsocket)]
    dialect: Dialect,
    /// Rooms
    #[arg(long, default_value_t = 1)]
    rooms: usize,
    /// Connections to each room
    #[arg(long, default_value_t = 10)]
    connections: usize,
    /// Connections of each room that write
    #[arg(long, default_value_t = 1)]
    writers: usize,
    /// Milliseconds between two updates of a writer
    #[arg(long, default_value_t = 100)]
    interval: u64,
    /// Seconds of writing
    #[arg(long, default_value_t = 10)]
    duration: u64,
    /// New connections a second; 0: all at once
    #[arg(long, default_value_t = 500)]
    connect_rate: u32,
    /// Bytes that are put into each room first, by one client
    #[arg(long, default_value_t = 0)]
    fill: usize,
    /// Each connection shows presence this often, in milliseconds; 0: never
    #[arg(long, default_value_t = 0)]
    presence: u64,
    /// Each connection that does not write leaves and comes again this often, in milliseconds; 0: never
    #[arg(long, default_value_t = 0)]
    churn: u64,
    /// Token to enter with
    #[arg(long, default_value = "", hide_default_value = true)]
    token: String,
    /// Process of the server, to measure its processor time and memory
    #[arg(long)]
    pid: Option<u32>,
    /// Begins the names of the rooms
    #[arg(long, default_value = "load")]
    prefix: String,
    /// Print one JSON object instead of a table
    #[arg(long)]
    json: bool,
}

/// Runs the load.
pub(crate) fn run(args: &Args) -> Result<(), Box<dyn std::error::Error>> {
    if args.writers > args.connections {
        return Err("there are more writers than connections".into());
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let report = runtime.block_on(load(args))?;
    if args.json {
        println!("{}", serde_json::to_string(&report)?);
    } else {
        print!("{report}");
    }
    if report.lost > 0 || report.dropped > 0 { Err("not everything arrived".into()) } else { Ok(()) }
}

async fn load(args: &Args) -> Result<Report, Box<dyn std::error::Error>> {
    let start = Instant::now();
    let process = args.pid.map(Process);
    let room = |i: usize| format!("{}-{}-{i}", args.prefix, std::process::id());
    let mut fillers = Vec::new();
    if args.fill > 0 {
        for i in 0..args.rooms {
            fillers.push(client::fill(args, &room(i), args.fill).await?);
        }
    }
    let before = process.as_ref().map(Process::memory).transpose()?;
    let all = args.rooms * args.connections;
    // All are in before the first writes, and all have written before the first leaves.
    let ready = Arc::new(Barrier::new(all + 1));
    let mut tasks = Vec::with_capacity(all);
    let pause = if args.connect_rate == 0 { None } else { Some(Duration::from_secs(1) / args.connect_rate) };
    for n in 0..all {
        let client = Client {
            args: args.clone(),
            room: room(n % args.rooms),
            number: n,
            writes: n / args.rooms < args.writers,
            ready: Arc::clone(&ready),
            start,
        };
        tasks.push(tokio::spawn(client.run()));
        if let Some(pause) = pause {
            tokio::time::sleep(pause).await;
        }
    }
    let all_in = async {
        let mut all_in = std::pin::pin!(ready.wait());
        loop {
            tokio::select! {
                _ = &mut all_in => return Ok(()),
                () = tokio::time::sleep(Duration::from_millis(50)) => {}
            }
            // A connection that fails ends its task before the others are in: then the barrier never fills.
            if let Some(failed) = tasks.iter().position(tokio::task::JoinHandle::is_finished) {
                return match tasks.swap_remove(failed).await? {
                    Ok(_) => Err(format!("{}: a connection ended before it began", args.url).into()),
                    Err(error) => {
                        Err::<(), Box<dyn std::error::Error>>(format!("{}: {error}", args.url).into())
                    }
                };
            }
        }
    };
    match timeout(Duration::from_secs(30), all_in).await {
        Ok(in_time) => in_time?,
        Err(_) => return Err("not all connections came in within 30 s".into()),
    }
    let inside = process.as_ref().map(Process::memory).transpose()?;
    let cpu = process.as_ref().map(Process::cpu).transpose()?;
    let mut seen = Vec::with_capacity(all);
    for task in tasks {
        seen.push(task.await?.map_err(|error| error.to_string())?);
    }
    let used = match (&process, cpu) {
        (Some(process), Some(before)) => Some(process.cpu()? - before),
        _ => None,
    };
    let memory = before.zip(inside);
    Ok(Report::of(args, &seen, used, memory))
}
