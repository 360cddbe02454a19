//! For operators: `/healthz`, `/readyz`, `/metrics`.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::get;
use tokio::sync::Mutex;

use super::Http;

/// A probe writes to the store; not more often than this.
const PROBE_EVERY: Duration = Duration::from_secs(2);

/// Who could not store an update lately is not ready, though a probe, which is small, may fit on a full disk.
const LATELY: Duration = Duration::from_secs(10);

/// The last probe of the store and what it said.
#[derive(Default)]
pub(super) struct Readiness(Mutex<Option<(Instant, Result<(), String>)>>);

pub(super) fn routes(http: Arc<Http>) -> Router {
    Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .with_state(http)
}

async fn ready(State(http): State<Arc<Http>>) -> impl IntoResponse {
    if http.draining.load(Ordering::Acquire) {
        return (StatusCode::SERVICE_UNAVAILABLE, "draining\n".to_owned());
    }
    let failed = *http.context.rooms.shared().metrics.store_failed.lock();
    if failed.is_some_and(|at| at.elapsed() < LATELY) {
        return (StatusCode::SERVICE_UNAVAILABLE, "the store did not take an update just now\n".to_owned());
    }
    match http.probe().await {
        Ok(()) => (StatusCode::OK, "ready\n".to_owned()),
        Err(error) => (StatusCode::SERVICE_UNAVAILABLE, format!("the store takes no writes: {error}\n")),
    }
}

async fn metrics(State(http): State<Arc<Http>>) -> impl IntoResponse {
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], http.context.rooms.shared().metrics.text())
}

impl Http {
    async fn probe(&self) -> Result<(), String> {
        let mut last = self.ready.0.lock().await;
        if let Some((at, result)) = &*last
            && at.elapsed() < PROBE_EVERY
        {
            return result.clone();
        }
        let shared = Arc::clone(self.context.rooms.shared());
        let probed = tokio::task::spawn_blocking(move || shared.store.probe()).await;
        let result = probed
            .map_err(|error| error.to_string())
            .and_then(|probed| probed.map_err(|error| error.to_string()));
        *last = Some((Instant::now(), result.clone()));
        result
    }
}
