//! Where traces come from: a folder, or a server.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use indicatif::ProgressBar;
use reqwest::blocking::Client;
use yatta_benchmarks::trace::Source;

use super::Patience;
use super::error::{FetchError, Reason};

/// The largest trace has 0.9 MB; what is far larger is something else, and is not read to its end.
const MAX_BYTES: u64 = 16 << 20;

/// A place that traces are read from.
#[derive(Debug)]
pub(super) enum Origin {
    Folder(PathBuf),
    Server { base: String, client: Client },
}

impl Origin {
    /// Takes a folder or a URL.
    pub(super) fn new(from: &str, patience: Patience) -> Result<Self, FetchError> {
        if from.starts_with("http://") || from.starts_with("https://") {
            // Proxies are taken from the environment unless told otherwise.
            let client = Client::builder()
                .user_agent(concat!("yatta/", env!("CARGO_PKG_VERSION")))
                .connect_timeout(patience.timeout)
                .timeout(patience.timeout)
                .build()
                .map_err(|error| FetchError::of_client(from, error))?;
            return Ok(Self::Server { base: from.trim_end_matches('/').to_owned(), client });
        }
        let folder = Path::new(from);
        if folder.is_dir() { Ok(Self::Folder(folder.to_owned())) } else { Err(FetchError::of_source(from)) }
    }

    /// Says where a trace is looked for.
    pub(super) fn place(&self, source: &Source) -> String {
        match self {
            Self::Folder(folder) => folder_path(folder, source).display().to_string(),
            Self::Server { base, .. } => format!("{base}/{}", source.published_path()),
        }
    }

    /// Reads a trace whole.
    pub(super) fn read(&self, source: &Source, bar: &ProgressBar) -> Result<Vec<u8>, Reason> {
        match self {
            Self::Folder(folder) => {
                let file = File::open(folder_path(folder, source)).map_err(Reason::Read)?;
                let expected = file.metadata().map_err(Reason::Read)?.len();
                read_bounded(file, Some(expected), bar, Reason::Read)
            }
            Self::Server { client, .. } => {
                let answer = client.get(self.place(source)).send().map_err(Reason::Http)?;
                if !answer.status().is_success() {
                    return Err(Reason::Status(answer.status()));
                }
                let expected = answer.content_length();
                read_bounded(answer, expected, bar, |error| {
                    // What goes wrong within a body is told by reqwest inside an I/O error.
                    match error.downcast::<reqwest::Error>() {
                        Ok(error) => Reason::Http(error),
                        Err(error) => Reason::Read(error),
                    }
                })
            }
        }
    }
}

/// The files may lie side by side, or as in the repository.
fn folder_path(folder: &Path, source: &Source) -> PathBuf {
    let published = folder.join(source.published_path());
    if published.is_file() { published } else { folder.join(source.file_name()) }
}

fn read_bounded(
    mut from: impl Read,
    expected: Option<u64>,
    bar: &ProgressBar,
    failed: impl Fn(std::io::Error) -> Reason,
) -> Result<Vec<u8>, Reason> {
    bar.set_position(0);
    if let Some(expected) = expected {
        bar.set_length(expected);
    }
    let mut bytes = Vec::new();
    let mut piece = vec![0; 32 << 10];
    loop {
        let got = bytes.len() as u64;
        match from.read(&mut piece) {
            Ok(0) => return Ok(bytes),
            Ok(len) if got + len as u64 > MAX_BYTES => return Err(Reason::TooLarge { limit: MAX_BYTES }),
            Ok(len) => bytes.extend_from_slice(&piece[..len]),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => {
                let reason = failed(error);
                let broke_off = matches!(&reason, Reason::Http(error) if !error.is_timeout());
                return Err(match expected {
                    Some(expected) if broke_off && got < expected => Reason::Truncated { got, expected },
                    _ => reason,
                });
            }
        }
        bar.set_position(bytes.len() as u64);
    }
}
