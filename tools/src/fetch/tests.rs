//! Against a server on this machine that answers as the test says, one answer a request.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use yatta_benchmarks::trace::{Kind, Source};

use super::error::Reason;
use super::{Fetched, Origin, Patience, fetch, write_whole};

const BODY: &[u8] = b"a trace, for all we know";
/// Its hash is filled in by [`source`].
const SOURCE: Source = Source { name: "made-up", kind: Kind::Concurrent, sha256: "" };

const HASTE: Patience =
    Patience { attempts: 3, pause: Duration::from_millis(5), timeout: Duration::from_millis(400) };

/// One answer of the server.
enum Answer {
    Whole(&'static [u8]),
    /// Promises more than it sends, then hangs up.
    Truncated,
    Status(&'static str),
    /// Reads the request and says nothing.
    Silence,
    /// Sends the head and half of the body, then nothing more.
    Stall,
}

/// The requested paths, and the connections that stay open until this is dropped.
type Served = (Vec<String>, Vec<TcpStream>);

/// Answers the given requests and no more; returns the URL.
fn serve(answers: Vec<Answer>) -> (String, JoinHandle<Served>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("it is bound"));
    let server = thread::spawn(move || {
        let mut paths = Vec::new();
        let mut silent = Vec::new();
        for answer in answers {
            let (mut stream, _) = listener.accept().expect("a client comes");
            paths.push(request_path(&mut stream));
            let head = |status: &str, len: usize| {
                format!("HTTP/1.1 {status}\r\nContent-Length: {len}\r\nConnection: close\r\n\r\n")
            };
            let parts: [Vec<u8>; 2] = match answer {
                Answer::Whole(body) => [head("200 OK", body.len()).into(), body.to_vec()],
                Answer::Truncated => [head("200 OK", BODY.len()).into(), BODY[..10].to_vec()],
                Answer::Status(status) => [head(status, 0).into(), Vec::new()],
                Answer::Silence => {
                    silent.push(stream);
                    continue;
                }
                Answer::Stall => {
                    let started = [head("200 OK", BODY.len()).as_bytes(), &BODY[..10]].concat();
                    stream.write_all(&started).expect("the client reads");
                    silent.push(stream);
                    continue;
                }
            };
            for part in parts {
                stream.write_all(&part).expect("the client reads");
            }
        }
        (paths, silent)
    });
    (url, server)
}

fn request_path(stream: &mut TcpStream) -> String {
    let mut request = Vec::new();
    let mut byte = [0];
    while !request.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).expect("a request");
        request.push(byte[0]);
    }
    let request = String::from_utf8_lossy(&request).into_owned();
    request.split(' ').nth(1).expect("a path").to_owned()
}

/// An empty folder that goes with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("yatta-fetch-{test}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }

    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).expect("a folder");
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn source() -> Source {
    Source { sha256: Box::leak(super::hash_of(BODY).into_boxed_str()), ..SOURCE }
}

/// Fetches from a server that gives these answers.
fn from_server(test: &str, answers: Vec<Answer>) -> (Result<Fetched, Reason>, Vec<String>, Folder) {
    let folder = Folder::new(test);
    let (url, server) = serve(answers);
    let origin = Origin::new(&url, HASTE).expect("a URL");
    let fetched = fetch(&source(), &origin, &folder.0, HASTE).map_err(|error| error.reason);
    (fetched, server.join().expect("the server ends").0, folder)
}

#[test]
fn fetches_and_writes() {
    let (fetched, paths, folder) = from_server("ok", vec![Answer::Whole(BODY)]);
    assert_eq!(fetched.expect("it succeeds"), Fetched::Written);
    assert_eq!(paths, ["/concurrent_traces/made-up.json.gz"]);
    assert_eq!(folder.names(), ["made-up.json.gz"]);
    assert_eq!(std::fs::read(folder.0.join("made-up.json.gz")).expect("the file"), BODY);
}

#[test]
fn hash_is_sha256() {
    // FIPS 180-2, the example "abc".
    let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(super::hash_of(b"abc"), expected);
}

#[test]
fn leaves_a_right_file_alone_and_replaces_a_wrong_one() {
    let folder = Folder::new("present");
    std::fs::write(folder.0.join("made-up.json.gz"), BODY).expect("writable");
    // No server listens there: nothing must be asked.
    let nobody = Origin::new("http://127.0.0.1:9", HASTE).expect("a URL");
    assert_eq!(fetch(&source(), &nobody, &folder.0, HASTE).expect("it is there"), Fetched::Present);

    std::fs::write(folder.0.join("made-up.json.gz"), b"half a tr").expect("writable");
    let (url, server) = serve(vec![Answer::Whole(BODY)]);
    let origin = Origin::new(&url, HASTE).expect("a URL");
    assert_eq!(fetch(&source(), &origin, &folder.0, HASTE).expect("it succeeds"), Fetched::Written);
    server.join().expect("the server ends");
    assert_eq!(std::fs::read(folder.0.join("made-up.json.gz")).expect("the file"), BODY);
}

#[test]
fn truncation_is_tried_again_and_then_told() {
    let answers = vec![Answer::Truncated, Answer::Truncated, Answer::Truncated];
    let (fetched, paths, folder) = from_server("truncated", answers);
    let reason = fetched.expect_err("every answer breaks off");
    assert_eq!(reason.to_string(), "the answer broke off after 10 of 24 bytes");
    assert_eq!((paths.len(), folder.names()), (3, vec![]));
}

#[test]
fn a_wrong_hash_is_told_at_once_and_writes_nothing() {
    let (fetched, paths, folder) = from_server("hash", vec![Answer::Whole(b"another version")]);
    let reason = fetched.expect_err("it is another file");
    assert!(matches!(reason, Reason::WrongHash { .. }), "{reason}");
    assert_eq!((paths.len(), folder.names()), (1, vec![]));
}

#[test]
fn a_missing_file_is_told_at_once() {
    let (fetched, paths, folder) = from_server("missing", vec![Answer::Status("404 Not Found")]);
    assert_eq!(fetched.expect_err("no such file").to_string(), "the server answered 404 Not Found");
    assert_eq!((paths.len(), folder.names()), (1, vec![]));
}

#[test]
fn a_silent_server_times_out() {
    for (test, answer) in [("silence", Answer::Silence), ("stall", Answer::Stall)] {
        let patience = Patience { attempts: 1, ..HASTE };
        let folder = Folder::new(test);
        let (url, server) = serve(vec![answer]);
        let origin = Origin::new(&url, patience).expect("a URL");
        let start = Instant::now();
        let error = fetch(&source(), &origin, &folder.0, patience).expect_err("nothing comes");
        // Joined last: until then the connection stays open.
        server.join().expect("the server ends");
        assert_eq!(error.reason.to_string(), "timed out", "{test}");
        assert!(start.elapsed() < Duration::from_secs(5), "{test}: {:?}", start.elapsed());
        assert_eq!(folder.names(), Vec::<String>::new());
    }
}

#[test]
fn a_retry_succeeds() {
    let answers = vec![Answer::Status("503 Service Unavailable"), Answer::Truncated, Answer::Whole(BODY)];
    let (fetched, paths, folder) = from_server("retry", answers);
    assert_eq!(fetched.expect("the third answer is whole"), Fetched::Written);
    assert_eq!((paths.len(), folder.names()), (3, vec!["made-up.json.gz".to_owned()]));
}

#[test]
fn nobody_listening_is_told_with_the_cause() {
    let folder = Folder::new("refused");
    let port =
        TcpListener::bind("127.0.0.1:0").expect("a free port").local_addr().expect("it is bound").port();
    let origin = Origin::new(&format!("http://127.0.0.1:{port}"), HASTE).expect("a URL");
    let error = fetch(&source(), &origin, &folder.0, HASTE).expect_err("nobody is there");
    let text = error.to_string();
    assert!(text.contains("refused") && text.contains("--from DIR"), "{text}");
}

#[test]
fn reads_folders_flat_or_cloned() {
    for flat in [true, false] {
        let (from, to) = (Folder::new(&format!("from-{flat}")), Folder::new(&format!("to-{flat}")));
        let path = from.0.join(if flat { SOURCE.file_name() } else { SOURCE.published_path() });
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("writable");
        std::fs::write(&path, BODY).expect("writable");
        let origin = Origin::new(&from.0.to_string_lossy(), HASTE).expect("a folder");
        assert_eq!(fetch(&source(), &origin, &to.0, HASTE).expect("it is there"), Fetched::Written);
    }
    let text = Origin::new("/no/such/folder", HASTE).expect_err("no folder").to_string();
    assert!(text.contains("/no/such/folder") && text.contains("http://"), "{text}");
}

#[test]
fn a_write_that_fails_leaves_no_part() {
    let folder = Folder::new("rename");
    // A folder that is not empty stands where the file should go: renaming onto it fails.
    std::fs::create_dir_all(folder.0.join("taken").join("inside")).expect("writable");
    write_whole(&folder.0.join("taken"), BODY).expect_err("a folder is in the way");
    assert_eq!(folder.names(), ["taken"]);
}
