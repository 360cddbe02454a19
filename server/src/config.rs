//! Configuration: flags, then environment, then a TOML file, then defaults; the first that says something wins.
//!
//! One struct is all three: clap reads flags and environment into it, serde the file, and both meet in
//! [`Config::or`].

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;

use crate::auth::jwt::{Algorithm, Jwt};
use crate::auth::token_file::TokenFile;
use crate::auth::{Auth, Open};
use crate::limits::{GatherLimits, Limits};
use crate::store::Durability;

/// What the first page of the documentation promises.
const LISTEN: &str = "127.0.0.1:1234";
const DATA_DIR: &str = "yatta-data";
const DRAIN: Duration = Duration::from_secs(10);
/// Clients wait for acknowledgements: a larger window is a slip of the pen.
const LONGEST_WINDOW: Duration = Duration::from_secs(1);

macro_rules! config {
    ($($(#[$attr:meta])* $name:ident: $kind:ty,)*) => {
        /// The settings of a server; what is `None` was not said.
        #[derive(Clone, Debug, Default, PartialEq, clap::Args, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct Config {
            $($(#[$attr])* pub $name: Option<$kind>,)*
        }

        impl Config {
            /// Takes from `other` what this one does not say.
            #[must_use]
            pub fn or(self, other: Self) -> Self {
                Self { $($name: self.$name.or(other.$name),)* }
            }
        }
    };
}

config! {
    /// Read further settings from this TOML file
    #[arg(long, env = "YATTA_CONFIG", value_name = "FILE")]
    #[serde(skip)]
    config: PathBuf,
    /// Address and port to listen on [default: 127.0.0.1:1234]
    #[arg(long, env = "YATTA_LISTEN", value_name = "ADDR:PORT")]
    listen: SocketAddr,
    /// Folder of the embedded store [default: yatta-data]
    #[arg(long, env = "YATTA_DATA_DIR", value_name = "DIR")]
    data_dir: PathBuf,
    /// Keep documents in memory only: all are gone when the server ends
    #[arg(long, env = "YATTA_MEMORY", num_args = 0..=1, default_missing_value = "true")]
    memory: bool,
    /// When an update is acknowledged: when the disk has it, or the operating system [default: full]
    #[arg(long, env = "YATTA_DURABILITY", value_enum)]
    durability: Durability,
    /// Milliseconds that an update may wait for others to be committed with, which delays only its acknowledgement; saves
    /// processor time when many write; 1000 at most [default: 0]
    #[arg(long, env = "YATTA_COMMIT_WINDOW", value_name = "MS")]
    commit_window: u64,
    /// Bytes that the file of the store may have; beyond, as on a full disk, nothing is taken [default: no bound]
    #[arg(long, env = "YATTA_MAX_STORE", value_name = "BYTES")]
    max_store: u64,
    /// What to log, as in `info` or `yatta_server=debug` [default: info]
    #[arg(long, env = "YATTA_LOG", value_name = "FILTER")]
    log: String,
    /// Log in JSON, one object a line
    #[arg(long, env = "YATTA_LOG_JSON", num_args = 0..=1, default_missing_value = "true")]
    log_json: bool,
    /// File of tokens that admit clients (see docs/SERVER.md)
    #[arg(long, env = "YATTA_TOKENS", value_name = "FILE", conflicts_with = "jwt_key")]
    tokens: PathBuf,
    /// Key that JSON Web Tokens of clients are checked with: a secret, or a public key in PEM
    #[arg(long, env = "YATTA_JWT_KEY", value_name = "FILE")]
    jwt_key: PathBuf,
    /// Algorithm of these tokens: HS256, RS256 or EdDSA [default: HS256]
    #[arg(long, env = "YATTA_JWT_ALGORITHM", value_name = "NAME")]
    jwt_algorithm: String,
    /// Audience that tokens must name
    #[arg(long, env = "YATTA_JWT_AUDIENCE", value_name = "NAME")]
    jwt_audience: String,
    /// Issuer that tokens must name
    #[arg(long, env = "YATTA_JWT_ISSUER", value_name = "NAME")]
    jwt_issuer: String,
    /// Bearer token that opens the REST API; without it the API is off
    #[arg(long, env = "YATTA_API_TOKEN", value_name = "TOKEN", hide_env_values = true)]
    api_token: String,
    /// Open the REST API to everybody who reaches it: for development
    #[arg(long, env = "YATTA_API_OPEN", num_args = 0..=1, default_missing_value = "true")]
    api_open: bool,
    /// Origins that browsers may connect from, as in `https://example.com`, separated by commas [default: all]
    #[arg(long, env = "YATTA_ORIGINS", value_delimiter = ',', value_name = "ORIGIN")]
    origins: Vec<String>,
    /// Certificate chain in PEM: the server speaks TLS
    #[arg(long, env = "YATTA_TLS_CERT", value_name = "FILE", requires = "tls_key")]
    tls_cert: PathBuf,
    /// Private key in PEM
    #[arg(long, env = "YATTA_TLS_KEY", value_name = "FILE", requires = "tls_cert")]
    tls_key: PathBuf,
    /// URL that is told of changed documents
    #[arg(long, env = "YATTA_WEBHOOK_URL", value_name = "URL")]
    webhook_url: String,
    /// Secret that webhooks are signed with
    #[arg(long, env = "YATTA_WEBHOOK_SECRET", value_name = "TEXT", hide_env_values = true)]
    webhook_secret: String,
    /// Milliseconds a document must be quiet before it is reported [default: 2000]
    #[arg(long, env = "YATTA_WEBHOOK_DEBOUNCE", value_name = "MS")]
    webhook_debounce: u64,
    /// Seconds that the end may take: storing what clients sent [default: 10]
    #[arg(long, env = "YATTA_DRAIN", value_name = "S")]
    drain: u64,
    /// Connections in all [default: 20000]
    #[arg(long, env = "YATTA_MAX_CONNECTIONS", value_name = "N")]
    max_connections: usize,
    /// Connections from one address; raise it behind a proxy [default: 2000]
    #[arg(long, env = "YATTA_MAX_CONNECTIONS_PER_ADDRESS", value_name = "N")]
    max_connections_per_address: usize,
    /// Connections to one document [default: 2000]
    #[arg(long, env = "YATTA_MAX_CONNECTIONS_PER_DOCUMENT", value_name = "N")]
    max_connections_per_document: usize,
    /// Documents in memory [default: 10000]
    #[arg(long, env = "YATTA_MAX_ROOMS", value_name = "N")]
    max_rooms: usize,
    /// Bytes of a message [default: 67108864]
    #[arg(long, env = "YATTA_MAX_MESSAGE", value_name = "BYTES")]
    max_message: usize,
    /// Bytes of a document as stored [default: 268435456]
    #[arg(long, env = "YATTA_MAX_DOCUMENT", value_name = "BYTES")]
    max_document: usize,
    /// Messages a second of one connection; more are read later. 0: no bound [default: 1000]
    #[arg(long, env = "YATTA_MAX_RATE", value_name = "N")]
    max_rate: u32,
    /// Seconds that a document without peers stays in memory [default: 30]
    #[arg(long, env = "YATTA_IDLE_ROOM", value_name = "S")]
    idle_room: u64,
    /// Milliseconds for which a busy document collects updates, to send them as one; 0: never [default: 15]
    #[arg(long, env = "YATTA_GATHER", value_name = "MS")]
    gather: u64,
    /// Deliveries a second (updates times clients) above which a document is busy [default: 4000]
    #[arg(long, env = "YATTA_GATHER_ABOVE", value_name = "N")]
    gather_above: u32,
}

impl Config {
    /// Reads the file that the settings name, if they do, below what they say themselves.
    ///
    /// # Errors
    /// When it cannot be read, or has a setting that does not exist; in words.
    pub fn with_file(self) -> Result<Self, String> {
        let Some(path) = self.config.clone() else { return Ok(self) };
        let text = read_text(&path)?;
        let file: Self = toml::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(self.or(file))
    }

    /// Returns the address to listen on.
    ///
    /// # Panics
    /// Never: the default is an address.
    pub fn listen(&self) -> SocketAddr {
        self.listen.unwrap_or_else(|| LISTEN.parse().expect("the default is an address"))
    }

    /// Returns the folder of the store.
    pub fn data_dir(&self) -> PathBuf {
        self.data_dir.clone().unwrap_or_else(|| DATA_DIR.into())
    }

    /// Returns how long the end may take.
    pub fn drain(&self) -> Duration {
        self.drain.map_or(DRAIN, Duration::from_secs)
    }

    /// Returns how long an update may wait for others to be committed with.
    ///
    /// # Errors
    /// When that is too long; in words.
    pub fn commit_window(&self) -> Result<Duration, String> {
        let window = self.commit_window.map_or(Duration::ZERO, Duration::from_millis);
        if window > LONGEST_WINDOW {
            return Err(format!("a commit window of {window:?} is longer than {LONGEST_WINDOW:?}"));
        }
        Ok(window)
    }

    /// Returns the bounds.
    pub fn limits(&self) -> Limits {
        let default = Limits::default();
        Limits {
            connections: self.max_connections.unwrap_or(default.connections),
            connections_per_address: self
                .max_connections_per_address
                .unwrap_or(default.connections_per_address),
            connections_per_document: self
                .max_connections_per_document
                .unwrap_or(default.connections_per_document),
            rooms: self.max_rooms.unwrap_or(default.rooms),
            message_bytes: self.max_message.unwrap_or(default.message_bytes),
            document_bytes: self.max_document.unwrap_or(default.document_bytes),
            messages_per_second: self.max_rate.unwrap_or(default.messages_per_second),
            gather: GatherLimits {
                window: self.gather.map_or(default.gather.window, Duration::from_millis),
                above: self.gather_above.unwrap_or(default.gather.above),
            },
            idle_room: self.idle_room.map_or(default.idle_room, Duration::from_secs),
            ..default
        }
    }

    /// Returns who decides who may enter.
    ///
    /// # Errors
    /// When a file cannot be read or is not right; in words.
    pub fn auth(&self) -> Result<Arc<dyn Auth>, String> {
        if let Some(path) = &self.tokens {
            return Ok(Arc::new(TokenFile::read(path)?));
        }
        let Some(path) = &self.jwt_key else { return Ok(Arc::new(Open)) };
        let algorithm = match self.jwt_algorithm.as_deref() {
            None | Some("HS256") => Algorithm::HS256,
            Some("RS256") => Algorithm::RS256,
            Some("EdDSA") => Algorithm::EdDSA,
            Some(other) => return Err(format!("the algorithm {other:?} is none of HS256, RS256, EdDSA")),
        };
        let key = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let jwt = Jwt::new(algorithm, &key, self.jwt_audience.as_deref(), self.jwt_issuer.as_deref());
        Ok(Arc::new(jwt.map_err(|error| format!("{}: {error}", path.display()))?))
    }
}

fn read_text(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_that_says_something_wins() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("yatta.toml");
        std::fs::write(&path, "listen = '127.0.0.1:9'\nmax_rooms = 5\norigins = ['https://a.example']\n")
            .unwrap();
        let said = Config { max_rooms: Some(7), config: Some(path.clone()), ..Config::default() };
        let config = said.clone().with_file().unwrap();
        assert_eq!((config.listen().port(), config.limits().rooms), (9, 7));
        assert_eq!(config.origins.unwrap(), ["https://a.example"]);
        std::fs::write(&path, "max_roms = 5").unwrap();
        assert!(said.with_file().is_err_and(|error| error.contains("max_roms")));
        assert_eq!(Config::default().listen().to_string(), LISTEN);
        let window = |ms| Config { commit_window: Some(ms), ..Config::default() }.commit_window();
        assert_eq!(window(1000), Ok(LONGEST_WINDOW));
        assert!(window(1001).is_err() && window(u64::MAX).is_err());
    }
}
