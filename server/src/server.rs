//! A server from its settings, from the first listen to the last write (the top).

use std::io::{IsTerminal, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::auth::Auth;
use crate::config::Config;
use crate::connection::Context;
use crate::http::webhook::{self, Webhooks};
use crate::http::{Http, HttpOptions};
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::name::RoomName;
use crate::room::Shared;
use crate::room::compactor::Compactor;
use crate::room::registry::Rooms;
use crate::store::Store;
use crate::store::memory::MemoryStore;
use crate::store::sqlite::SqliteStore;

/// How often idle rooms are looked for.
const TICK: Duration = Duration::from_secs(1);

/// The file of webhooks that wait for the next start, in the folder of the store.
const LEFT_HOOKS: &str = "webhooks.json";

/// A running server.
pub struct Server {
    address: SocketAddr,
    rooms: Arc<Rooms>,
    http: Arc<Http>,
    hooks: Option<Arc<Webhooks>>,
    /// Where webhooks that could not be delivered are kept for the next start.
    left_hooks: Option<PathBuf>,
    stop: watch::Sender<bool>,
    tasks: Vec<JoinHandle<()>>,
    drain: Duration,
}

impl Server {
    /// Starts a server.
    ///
    /// # Errors
    /// When a setting is not right, the store does not open, or the address cannot be listened on; in words.
    pub async fn start(config: Config) -> Result<Self, String> {
        let mut config = config;
        let window = config.commit_window()?;
        let mut documents = "in memory only".to_owned();
        let store: Arc<dyn Store> = if config.memory.unwrap_or_default() {
            Arc::new(MemoryStore::new())
        } else {
            let folder = config.data_dir();
            documents = std::path::absolute(&folder).unwrap_or(folder).display().to_string();
            config.data_dir = Some(config.data_dir());
            let (folder, durability) = (config.data_dir(), config.durability.unwrap_or_default());
            let bound = config.max_store;
            let open = move || SqliteStore::open_bounded(&folder, durability, bound);
            let opened = tokio::task::spawn_blocking(open).await;
            let store = opened.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
            store.set_commit_window(window);
            Arc::new(store)
        };
        let auth = config.auth()?;
        let limits = config.limits();
        Self::launch(config, limits, store, auth, &documents).await
    }

    /// Starts a server within bounds, on a store and with a hook that the caller brings.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub async fn with(
        config: Config,
        limits: Limits,
        store: Arc<dyn Store>,
        auth: Arc<dyn Auth>,
    ) -> Result<Self, String> {
        Self::launch(config, limits, store, auth, "in a store of the program").await
    }

    /// `documents` says in words where they are.
    async fn launch(
        config: Config,
        limits: Limits,
        store: Arc<dyn Store>,
        auth: Arc<dyn Auth>,
        documents: &str,
    ) -> Result<Self, String> {
        let metrics = Arc::new(Metrics::new());
        let hooks = match &config.webhook_url {
            None => None,
            Some(url) => {
                let options = webhook::Options {
                    url: url.clone(),
                    secret: config.webhook_secret.clone(),
                    debounce: Duration::from_millis(config.webhook_debounce.unwrap_or(2000)),
                };
                Some(Webhooks::new(options, Arc::clone(&metrics))?)
            }
        };
        let left_hooks = config.data_dir.as_ref().filter(|_| !config.memory.unwrap_or_default());
        let left_hooks = left_hooks.map(|folder| folder.join(LEFT_HOOKS));
        if let (Some(hooks), Some(path)) = (&hooks, &left_hooks) {
            take_webhooks(hooks, path);
        }
        let compactor =
            Compactor::start(Arc::clone(&store), Arc::clone(&metrics)).map_err(|error| error.to_string())?;
        let changed: Box<dyn Fn(&RoomName) + Send + Sync> = match &hooks {
            None => Box::new(|_| {}),
            Some(hooks) => {
                let hooks = Arc::clone(hooks);
                Box::new(move |name| hooks.changed(name))
            }
        };
        let shared = Shared { store, limits, metrics, compactor, changed };
        let rooms = Rooms::new(Arc::new(shared));
        let context = Arc::new(Context { rooms: Arc::clone(&rooms), auth });
        let options = HttpOptions {
            api_token: config.api_token.clone(),
            api_open: config.api_open.unwrap_or_default(),
            origins: config.origins.clone().unwrap_or_default(),
            tls: match (&config.tls_cert, &config.tls_key) {
                (Some(certificate), Some(key)) => Some(tls(certificate, key)?),
                (None, None) => None,
                _ => return Err("TLS needs a certificate and its key".to_owned()),
            },
        };
        let http = Http::new(context, options);
        let listener = TcpListener::bind(config.listen())
            .await
            .map_err(|error| format!("cannot listen on {}: {error}", config.listen()))?;
        let address = listener.local_addr().map_err(|error| error.to_string())?;
        let (stop, stopped) = watch::channel(false);
        let mut tasks = Vec::new();
        {
            let http = Arc::clone(&http);
            let stopped = stopped.clone();
            tasks.push(tokio::spawn(async move { http.serve(listener, stopped).await }));
        }
        tasks.push(tokio::spawn(tick(Arc::clone(&rooms), stopped)));
        if let Some(hooks) = &hooks {
            tasks.push(tokio::spawn(Arc::clone(hooks).run()));
        }
        tracing::info!(%address, documents, "listening");
        Ok(Self { address, rooms, http, hooks, left_hooks, stop, tasks, drain: config.drain() })
    }

    /// Returns the address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the rooms.
    pub fn rooms(&self) -> &Arc<Rooms> {
        &self.rooms
    }

    /// Ends the server: takes no more connections, sends all peers away, stores what they sent, and closes the store.
    /// Returns whether all of that was done within the bound.
    pub async fn stop(self) -> bool {
        tracing::info!("shutting down");
        self.http.drain();
        let drained = self.rooms.drain(self.drain).await;
        if !drained {
            tracing::error!("not everything could be stored within {:?}", self.drain);
        }
        self.stop.send_replace(true);
        for task in self.tasks {
            task.abort();
        }
        if let Some(hooks) = &self.hooks {
            // Before they are tried: whoever ends the process meanwhile does not lose them.
            let waiting = hooks.waiting();
            if let (Some(path), false) = (self.left_hooks.as_deref(), waiting.is_empty())
                && let Err(error) = write_webhooks(&waiting, path)
            {
                tracing::error!(count = waiting.len(), %error, "webhooks that wait could not be written down");
            }
            let left = hooks.finish(self.drain).await;
            keep_webhooks(&left, self.left_hooks.as_deref());
        }
        let shared = Arc::clone(self.rooms.shared());
        let closed = tokio::task::spawn_blocking(move || {
            shared.compactor.stop();
            shared.store.close();
        });
        let closed = closed.await.is_ok();
        tracing::info!("the end");
        drained && closed
    }
}

/// Writes names of documents down, through a file of another name: a crash leaves the old one or the new one.
fn write_webhooks(names: &[RoomName], path: &Path) -> std::io::Result<()> {
    let names: Vec<&str> = names.iter().map(RoomName::as_str).collect();
    let part = path.with_extension("part");
    let mut file = std::fs::File::create(&part)?;
    file.write_all(serde_json::json!(names).to_string().as_bytes())?;
    file.sync_all()?;
    std::fs::rename(&part, path)
}

/// Says of which documents nobody was told, and keeps their names for the next start.
fn keep_webhooks(left: &[RoomName], path: Option<&Path>) {
    if left.is_empty() {
        if let Some(path) = path {
            // Mostly there is none.
            let _ = std::fs::remove_file(path);
        }
        return;
    }
    let kept = path.map(|path| write_webhooks(left, path));
    let shown = left.iter().take(100).map(RoomName::as_str).collect::<Vec<_>>().join(", ");
    match kept {
        Some(Ok(())) => {
            tracing::warn!(count = left.len(), documents = shown, "webhooks wait for the next start");
        }
        Some(Err(error)) => {
            tracing::error!(count = left.len(), documents = shown, %error, "webhooks are lost");
        }
        None => tracing::error!(count = left.len(), documents = shown, "webhooks are lost"),
    }
}

/// Takes up what the last run could not deliver. The file stays until the end: a crash reports them again.
fn take_webhooks(hooks: &Webhooks, path: &Path) {
    let Ok(text) = std::fs::read_to_string(path) else { return };
    match serde_json::from_str::<Vec<String>>(&text) {
        Ok(names) => {
            names.iter().filter_map(|name| RoomName::new(name).ok()).for_each(|name| hooks.changed(&name))
        }
        Err(error) => {
            tracing::error!(file = %path.display(), %error, "webhooks that were kept cannot be read")
        }
    }
}

async fn tick(rooms: Arc<Rooms>, mut stopped: watch::Receiver<bool>) {
    loop {
        tokio::select! {
            () = tokio::time::sleep(TICK) => rooms.tick(),
            _ = stopped.wait_for(|stop| *stop) => return,
        }
    }
}

fn tls(certificate: &Path, key: &Path) -> Result<TlsAcceptor, String> {
    let broken = |path: &Path, error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let chain = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| broken(certificate, &error))?;
    let key = PrivateKeyDer::from_pem_file(key).map_err(|error| broken(key, &error))?;
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(|error| error.to_string())?;
    // WebSockets begin with HTTP/1.1.
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// Runs a server until the process is told to end (SIGTERM or SIGINT); this is `yatta serve`.
///
/// # Errors
/// As [`Server::start`], and when not everything could be stored at the end.
pub fn run(config: Config) -> Result<(), String> {
    let config = config.with_file()?;
    start_log(&config)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("no runtime: {error}"))?;
    runtime.block_on(async {
        let server = Server::start(config).await?;
        wait_for_end().await?;
        if server.stop().await { Ok(()) } else { Err("not everything could be stored".to_owned()) }
    })
}

#[cfg(unix)]
async fn wait_for_end() -> Result<(), String> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate()).map_err(|error| error.to_string())?;
    tokio::select! {
        _ = terminate.recv() => Ok(()),
        result = tokio::signal::ctrl_c() => result.map_err(|error| error.to_string()),
    }
}

#[cfg(not(unix))]
async fn wait_for_end() -> Result<(), String> {
    tokio::signal::ctrl_c().await.map_err(|error| error.to_string())
}

/// Logs are structured: an event with fields, as text or JSON, on standard error.
fn start_log(config: &Config) -> Result<(), String> {
    static STARTED: OnceLock<()> = OnceLock::new();
    if STARTED.set(()).is_err() {
        return Ok(());
    }
    let filter = config.log.as_deref().unwrap_or("info");
    let filter = tracing_subscriber::EnvFilter::try_new(filter).map_err(|error| error.to_string())?;
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    if config.log_json.unwrap_or_default() {
        log.json().init();
    } else {
        log.init();
    }
    Ok(())
}
