//! What can go wrong, and what to do about it.

use std::fmt;
use std::io;

use yatta_benchmarks::trace::Source;

/// A trace could not be fetched.
#[derive(Debug)]
pub(super) struct FetchError {
    trace: &'static str,
    place: String,
    pub(super) reason: Reason,
}

/// Why a trace could not be fetched.
#[derive(Debug)]
pub(super) enum Reason {
    /// No answer, or a broken one.
    Http(reqwest::Error),
    /// The server answered with an error.
    Status(reqwest::StatusCode),
    /// The body ended early.
    Truncated { got: u64, expected: u64 },
    /// The body is larger than any trace.
    TooLarge { limit: u64 },
    /// The file is not the one that was expected.
    WrongHash { got: String, expected: &'static str },
    /// A file of the source cannot be read.
    Read(io::Error),
    /// The trace cannot be written.
    Write(io::Error),
    /// The source is neither a folder nor a URL.
    Source,
}

impl FetchError {
    pub(super) fn new(source: &Source, place: String, reason: Reason) -> Self {
        Self { trace: source.name, place, reason }
    }

    pub(super) fn of_client(from: &str, error: reqwest::Error) -> Self {
        Self { trace: "traces", place: from.to_owned(), reason: Reason::Http(error) }
    }

    pub(super) fn of_source(from: &str) -> Self {
        Self { trace: "traces", place: from.to_owned(), reason: Reason::Source }
    }
}

impl Reason {
    /// Tells whether the next attempt may go better.
    pub(super) fn may_pass(&self) -> bool {
        match self {
            Self::Http(error) => !error.is_builder(),
            Self::Status(status) => {
                let code = status.as_u16();
                status.is_server_error() || code == 408 || code == 429
            }
            Self::Truncated { .. } => true,
            _ => false,
        }
    }

    fn advice(&self) -> &'static str {
        match self {
            Self::Http(error) if error.is_timeout() => {
                "The server is slow or out of reach: try later, set HTTPS_PROXY if you need a proxy, or give a \
                 copy with `yatta fetch-traces --from DIR`"
            }
            Self::Http(_) | Self::Truncated { .. } => {
                "Check the network (HTTPS_PROXY is honoured), try later, or give a copy with `yatta fetch-traces --from DIR`"
            }
            Self::Status(status) if status.is_client_error() => {
                "The source has no such file, or does not let you have it: check --from"
            }
            Self::Status(_) => {
                "The server has a problem: try later, or give a copy with `yatta fetch-traces --from DIR`"
            }
            Self::TooLarge { .. } | Self::WrongHash { .. } => {
                "This is another version, or something on the way changed it: use another source (--from); \
                 nothing was written"
            }
            Self::Read(_) => "The folder must hold NAME.json.gz, or be a clone of josephg/editing-traces",
            Self::Write(_) => "Check the folder's rights and space, or name another one with --to DIR",
            Self::Source => {
                "--from takes a folder that exists, or a URL that begins with http:// or https://"
            }
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Http(error) if error.is_timeout() => f.write_str("timed out"),
            Self::Http(error) => {
                // reqwest keeps the cause ("connection refused") below its own words.
                let mut cause: &dyn std::error::Error = error;
                while let Some(below) = cause.source() {
                    cause = below;
                }
                write!(f, "no complete answer ({cause})")
            }
            Self::Status(status) => write!(f, "the server answered {status}"),
            Self::Truncated { got, expected } => {
                write!(f, "the answer broke off after {got} of {expected} bytes")
            }
            Self::TooLarge { limit } => write!(f, "the answer is longer than {limit} bytes"),
            Self::WrongHash { got, expected } => write!(f, "its SHA-256 is {got}, expected {expected}"),
            Self::Read(error) => write!(f, "cannot be read: {error}"),
            Self::Write(error) => write!(f, "cannot be written: {error}"),
            Self::Source => f.write_str("no such source"),
        }
    }
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}. {}.", self.trace, self.place, self.reason, self.reason.advice())
    }
}

impl std::error::Error for FetchError {}
