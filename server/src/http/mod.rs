//! HTTP (layer 4): the accept loop, the upgrade to a WebSocket, and everything that is not one.
//!
//! A WebSocket upgrade on any path is a connection; its path names the room of a y-websocket client. Everything else goes
//! to the router: page, API, health, metrics.

pub mod api;
mod content;
mod door;
mod ops;
mod page;
mod stream;
mod upgrade;
pub mod webhook;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use hyper::Request;
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;
use tower::ServiceExt;

use self::door::{Door, Pass};
use self::stream::Stream;
use crate::connection::Context;
use crate::connection::pipe::Pipe;

/// A request head must come within this time, and a TLS handshake too: idle sockets that say nothing are no connections.
const HEAD_TIME: Duration = Duration::from_secs(10);
/// Bytes of a request head.
const HEAD_BYTES: usize = 16 << 10;

/// How the HTTP side behaves.
#[derive(Clone, Default)]
pub struct HttpOptions {
    /// Opens `/api/v1` to those who show it as a bearer token.
    pub api_token: Option<String>,
    /// Opens `/api/v1` to everybody: for development.
    pub api_open: bool,
    /// Origins that browsers may connect from; empty: all.
    pub origins: Vec<String>,
    /// Encrypts, if set.
    pub tls: Option<TlsAcceptor>,
}

/// What the HTTP side shares.
pub struct Http {
    context: Arc<Context>,
    options: HttpOptions,
    door: Arc<Door>,
    draining: AtomicBool,
    ready: ops::Readiness,
}

impl Http {
    /// Makes the HTTP side of a server.
    pub fn new(context: Arc<Context>, options: HttpOptions) -> Arc<Self> {
        let limits = &context.rooms.shared().limits;
        let door = Door::new(limits.connections, limits.connections_per_address);
        Arc::new(Self {
            context,
            options,
            door,
            draining: AtomicBool::new(false),
            ready: ops::Readiness::default(),
        })
    }

    /// Says no to `/readyz` from now on.
    pub fn drain(&self) {
        self.draining.store(true, Ordering::Release);
    }

    /// Accepts connections until `stop` turns true.
    pub async fn serve(self: &Arc<Self>, listener: TcpListener, mut stop: watch::Receiver<bool>) {
        let router = self.router();
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                _ = stop.wait_for(|stop| *stop) => return,
            };
            match accepted {
                Ok((socket, address)) => {
                    // Over the bound: closing at once is all that costs nothing.
                    let Some(pass) = self.door.enter(address.ip()) else { continue };
                    let (http, router) = (Arc::clone(self), router.clone());
                    tokio::spawn(async move { http.connection(socket, address, pass, router).await });
                }
                Err(error) => {
                    // Out of file descriptors, mostly: waiting is all that helps.
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }
        }
    }

    async fn connection(
        self: Arc<Self>,
        socket: tokio::net::TcpStream,
        address: SocketAddr,
        pass: Pass,
        router: Router,
    ) {
        // Small frames go out at once; without it they wait for the acknowledgement of the one before.
        let _ = socket.set_nodelay(true);
        let stream = match &self.options.tls {
            None => Stream::Plain(Pipe::new(socket)),
            Some(tls) => match tokio::time::timeout(HEAD_TIME, tls.accept(socket)).await {
                Ok(Ok(stream)) => Stream::Tls(Box::new(stream)),
                Ok(Err(error)) => return tracing::debug!(%address, %error, "no TLS handshake"),
                Err(_) => return,
            },
        };
        let pass = Arc::new(pass);
        let service = hyper::service::service_fn(move |request: Request<Incoming>| {
            let (http, pass, router) = (Arc::clone(&self), Arc::clone(&pass), router.clone());
            async move {
                if upgrade::is_websocket(&request) {
                    return Ok(http.upgrade(request, address, pass));
                }
                router.oneshot(request.map(Body::new)).await
            }
        });
        let served = hyper::server::conn::http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_TIME)
            .max_buf_size(HEAD_BYTES)
            .serve_connection(TokioIo::new(stream), service)
            .with_upgrades()
            .await;
        if let Err(error) = served {
            tracing::debug!(%address, %error, "an HTTP connection ended");
        }
    }

    fn router(self: &Arc<Self>) -> Router {
        Router::new()
            .merge(page::routes())
            .merge(ops::routes(Arc::clone(self)))
            .nest("/api/v1", api::routes(Arc::clone(self)))
    }
}
