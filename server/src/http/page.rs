//! The page at `/`.

use axum::Router;
use axum::http::header;
use axum::response::IntoResponse;
use axum::routing::get;

pub(super) fn routes() -> Router {
    Router::new().route("/", get(index))
}

async fn index() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], "yatta: a Yjs sync server\n")
}
