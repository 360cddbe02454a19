//! The pages at `/` and `/status`: files of `page/`, built by `server/page/build.sh` and compiled in, so that they work
//! without a network.

use axum::Router;
use axum::http::header;
use axum::response::IntoResponse;
use axum::routing::get;

/// Only what the server itself serves is loaded. Quill sets styles of elements, hence `unsafe-inline` for styles.
const POLICY: &str = "default-src 'self'; connect-src 'self' ws: wss:; style-src 'self' 'unsafe-inline'; \
                      img-src 'self' data:; frame-ancestors 'none'";

const FILES: &[(&str, &str, &str)] = &[
    ("/", "text/html; charset=utf-8", include_str!("page/index.html")),
    ("/status", "text/html; charset=utf-8", include_str!("page/status.html")),
    ("/assets/page.css", "text/css; charset=utf-8", include_str!("page/page.css")),
    ("/assets/main.js", "text/javascript; charset=utf-8", include_str!("page/main.js")),
    ("/assets/main.js.LEGAL.txt", "text/plain; charset=utf-8", include_str!("page/main.js.LEGAL.txt")),
    ("/assets/status.js", "text/javascript; charset=utf-8", include_str!("page/status.js")),
];

pub(super) fn routes() -> Router {
    FILES.iter().fold(Router::new(), |router, (path, kind, content)| {
        router.route(path, get(async || file(kind, content)))
    })
}

fn file(kind: &'static str, content: &'static str) -> impl IntoResponse {
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CACHE_CONTROL, "no-cache"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (headers, content)
}
