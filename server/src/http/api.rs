//! The REST API under `/api/v1`; `openapi.json` beside this file describes it, and a test holds the two together.
//!
//! Updates are in the first format of Yjs, as on the wire. A change is answered when it is durable.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, Query, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::json;
use subtle::ConstantTimeEq;
use tokio::sync::oneshot;

use super::{Http, content};
use crate::name::RoomName;
use crate::room::Receipt;
use crate::room::document::Refused;
use crate::room::registry::Membership;
use crate::store::{Store, StoreError};
use crate::wire::close::Close;

/// The description of this API.
pub const OPENAPI: &str = include_str!("openapi.json");

/// Every path and method of this API, as the description names them.
pub const ROUTES: &[(&str, &[&str])] = &[
    ("/openapi.json", &["get"]),
    ("/rooms", &["get"]),
    ("/rooms/{name}/close", &["post"]),
    ("/documents", &["get"]),
    ("/documents/{name}", &["get", "post", "put", "delete"]),
    ("/documents/{name}/versions", &["get", "post"]),
    ("/documents/{name}/versions/{id}", &["get"]),
    ("/documents/{name}/versions/{id}/restore", &["post"]),
];

/// A list has at most so many entries a page.
const PAGE: usize = 1000;

pub(super) fn routes(http: Arc<Http>) -> Router {
    let limit = http.context.rooms.shared().limits.message_bytes;
    Router::new()
        .route("/rooms", get(rooms))
        .route("/rooms/{name}/close", post(close))
        .route("/documents", get(documents))
        .route("/documents/{name}", get(read).post(apply).put(seed).delete(remove))
        .route("/documents/{name}/versions", get(versions).post(add_version))
        .route("/documents/{name}/versions/{id}", get(version))
        .route("/documents/{name}/versions/{id}/restore", post(restore))
        .layer(from_fn_with_state(Arc::clone(&http), admit))
        .route("/openapi.json", get(|| async { ([(header::CONTENT_TYPE, "application/json")], OPENAPI) }))
        .layer(DefaultBodyLimit::max(limit))
        .with_state(http)
}

/// What can go wrong, as an answer.
#[derive(Debug)]
enum Failure {
    BadName(String),
    Malformed(String),
    NotFound,
    Exists,
    TooLarge,
    Unavailable(String),
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let (status, error) = match self {
            Self::BadName(error) | Self::Malformed(error) => (StatusCode::BAD_REQUEST, error),
            Self::NotFound => (StatusCode::NOT_FOUND, "there is no such document or version".to_owned()),
            Self::Exists => (StatusCode::CONFLICT, "the document has content already".to_owned()),
            Self::TooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "the document would be too large".to_owned()),
            Self::Unavailable(error) => (StatusCode::SERVICE_UNAVAILABLE, error),
        };
        (status, Json(json!({ "error": error }))).into_response()
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NotFound => Self::NotFound,
            other => Self::Unavailable(other.to_string()),
        }
    }
}

impl From<Refused> for Failure {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Malformed(error) => Self::Malformed(error),
            Refused::TooLarge => Self::TooLarge,
            Refused::Broken => Self::Unavailable("the document cannot be served now".to_owned()),
        }
    }
}

impl From<Close> for Failure {
    fn from(close: Close) -> Self {
        Self::Unavailable(close.reason().to_owned())
    }
}

/// Lets in who shows the token.
async fn admit(State(http): State<Arc<Http>>, request: Request, next: Next) -> Response {
    let options = &http.options;
    let shown = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let shown = shown.and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
    let right =
        options.api_token.as_ref().is_some_and(|token| bool::from(token.as_bytes().ct_eq(shown.as_bytes())));
    if right || (options.api_open && options.api_token.is_none()) {
        return next.run(request).await;
    }
    let error = if options.api_token.is_none() {
        "the API is off: start the server with an API token"
    } else {
        "the API needs its bearer token"
    };
    (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, "Bearer")], Json(json!({ "error": error })))
        .into_response()
}

fn named(name: &str) -> Result<RoomName, Failure> {
    RoomName::new(name).map_err(|bad| Failure::BadName(bad.to_string()))
}

/// Does something with the store on a thread that may block.
async fn with_store<T: Send + 'static>(
    http: &Http,
    f: impl FnOnce(&dyn Store) -> Result<T, StoreError> + Send + 'static,
) -> Result<T, Failure> {
    let shared = Arc::clone(http.context.rooms.shared());
    blocking(move || f(&*shared.store).map_err(Failure::from)).await
}

async fn blocking<T: Send + 'static>(
    f: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    let done = tokio::task::spawn_blocking(f).await;
    done.unwrap_or_else(|error| Err(Failure::Unavailable(error.to_string())))
}

async fn rooms(State(http): State<Arc<Http>>) -> impl IntoResponse {
    Json(json!({ "rooms": http.context.rooms.list() }))
}

async fn close(State(http): State<Arc<Http>>, Path(name): Path<String>) -> Result<StatusCode, Failure> {
    if http.context.rooms.close(&named(&name)?) { Ok(StatusCode::NO_CONTENT) } else { Err(Failure::NotFound) }
}

#[derive(Deserialize)]
struct PageOf {
    after: Option<String>,
    limit: Option<usize>,
}

async fn documents(
    State(http): State<Arc<Http>>,
    Query(page): Query<PageOf>,
) -> Result<impl IntoResponse, Failure> {
    let limit = page.limit.unwrap_or(100).clamp(1, PAGE);
    let found = with_store(&http, move |store| store.list(page.after.as_deref(), limit)).await?;
    let next = if found.len() == limit { found.last().map(|info| info.name.clone()) } else { None };
    Ok(Json(json!({ "documents": found, "next": next })))
}

#[derive(Deserialize)]
struct Reading {
    #[serde(default)]
    format: Format,
    root: Option<String>,
    kind: Option<content::Kind>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Format {
    #[default]
    Update,
    Json,
    Text,
}

/// Enters a document that exists: reading one must not make it.
async fn existing(http: &Arc<Http>, name: &str) -> Result<Membership, Failure> {
    let room = http.context.rooms.enter(&named(name)?).await?;
    if room.read(content::is_empty) { Err(Failure::NotFound) } else { Ok(room) }
}

async fn read(
    State(http): State<Arc<Http>>,
    Path(name): Path<String>,
    Query(how): Query<Reading>,
) -> Result<Response, Failure> {
    let room = existing(&http, &name).await?;
    blocking(move || {
        let state = room.read(content::state);
        match how.format {
            Format::Update => Ok(binary(state.into())),
            Format::Json => {
                let doc = content::copy(&state).map_err(Failure::Unavailable)?;
                let json =
                    content::json(&doc, how.root.as_deref(), how.kind).map_err(Failure::Unavailable)?;
                Ok(Json(json).into_response())
            }
            Format::Text => {
                let doc = content::copy(&state).map_err(Failure::Unavailable)?;
                Ok(content::text(&doc, how.root.as_deref(), how.kind).into_response())
            }
        }
    })
    .await
}

fn binary(data: Bytes) -> Response {
    ([(header::CONTENT_TYPE, "application/octet-stream")], data).into_response()
}

/// Applies an update and waits until it is durable.
async fn change(room: Membership, update: Bytes, only_if_empty: bool) -> Result<(), Failure> {
    let (told, wait) = oneshot::channel();
    let receipt = Receipt::Call(Box::new(move |result| {
        // Nobody waits any more if the client went away.
        let _ = told.send(result);
    }));
    blocking(move || {
        let taken = if only_if_empty {
            room.seed(&update, receipt)?
        } else {
            room.update(None, &update, receipt).map(|_| true)?
        };
        if taken { Ok(()) } else { Err(Failure::Exists) }
    })
    .await?;
    wait.await
        .map_err(|_| Failure::Unavailable("the store gave no answer".to_owned()))?
        .map_err(Failure::from)
}

async fn apply(
    State(http): State<Arc<Http>>,
    Path(name): Path<String>,
    update: Bytes,
) -> Result<StatusCode, Failure> {
    let room = http.context.rooms.enter(&named(&name)?).await?;
    change(room, update, false).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn seed(
    State(http): State<Arc<Http>>,
    Path(name): Path<String>,
    update: Bytes,
) -> Result<StatusCode, Failure> {
    let room = http.context.rooms.enter(&named(&name)?).await?;
    change(room, update, true).await?;
    Ok(StatusCode::CREATED)
}

async fn remove(State(http): State<Arc<Http>>, Path(name): Path<String>) -> Result<StatusCode, Failure> {
    if http.context.rooms.remove(&named(&name)?).await? {
        Ok(StatusCode::NO_CONTENT)
    } else {
        Err(Failure::NotFound)
    }
}

async fn versions(
    State(http): State<Arc<Http>>,
    Path(name): Path<String>,
) -> Result<impl IntoResponse, Failure> {
    let name = named(&name)?;
    let versions = with_store(&http, move |store| store.versions(&name)).await?;
    Ok(Json(json!({ "versions": versions })))
}

#[derive(Deserialize)]
struct Labelled {
    label: String,
}

async fn add_version(
    State(http): State<Arc<Http>>,
    Path(name): Path<String>,
    Json(Labelled { label }): Json<Labelled>,
) -> Result<impl IntoResponse, Failure> {
    let room = existing(&http, &name).await?;
    let version = with_store(&http, move |store| {
        let state = room.read(content::state);
        store.add_version(room.name(), &label, state.into())
    })
    .await?;
    Ok((StatusCode::CREATED, Json(version)))
}

async fn version(
    State(http): State<Arc<Http>>,
    Path((name, id)): Path<(String, i64)>,
) -> Result<Response, Failure> {
    let name = named(&name)?;
    Ok(binary(with_store(&http, move |store| store.version(&name, id)).await?))
}

async fn restore(
    State(http): State<Arc<Http>>,
    Path((name, id)): Path<(String, i64)>,
) -> Result<StatusCode, Failure> {
    let key = named(&name)?;
    let version = with_store(&http, move |store| store.version(&key, id)).await?;
    let room = existing(&http, &name).await?;
    let (room, update) = blocking(move || {
        let present = room.read(content::state);
        let update = content::restore(&version, &present).map_err(Failure::Unavailable)?;
        Ok((room, update))
    })
    .await?;
    change(room, update.into(), false).await?;
    Ok(StatusCode::NO_CONTENT)
}
