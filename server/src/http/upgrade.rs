//! From a request to a WebSocket.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::body::Body;
use hyper::body::Incoming;
use hyper::header::{
    AUTHORIZATION, CONNECTION, HeaderMap, HeaderName, HeaderValue, ORIGIN, SEC_WEBSOCKET_ACCEPT,
    SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION, UPGRADE,
};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

use super::door::Pass;
use super::stream::Stream;
use super::{Http, Ordering};
use crate::connection::{Opening, serve};
use crate::name::RoomName;
use crate::wire::close::Close;

fn says(headers: &HeaderMap, name: HeaderName, word: &str) -> bool {
    let value = headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    value.split(',').any(|part| part.trim().eq_ignore_ascii_case(word))
}

/// Returns whether a request wants to become a WebSocket.
pub(super) fn is_websocket(request: &Request<Incoming>) -> bool {
    says(request.headers(), CONNECTION, "upgrade") && says(request.headers(), UPGRADE, "websocket")
}

/// The value of a key in the query, percent decoded.
fn query(request: &Request<Incoming>, key: &str) -> Option<String> {
    let pairs = request.uri().query()?.split('&');
    let value = pairs.filter_map(|pair| pair.split_once('=')).find(|(name, _)| *name == key)?.1;
    // In a query a plus is a space; tokens in base64 are sent as %2B by every client that encodes at all.
    let value = value.replace('+', " ");
    Some(percent_encoding::percent_decode_str(&value).decode_utf8_lossy().into_owned())
}

fn bearer(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(AUTHORIZATION)?.to_str().ok()?;
    value.strip_prefix("Bearer ").map(str::to_owned)
}

fn answer(status: StatusCode, text: &'static str) -> Response<Body> {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    response
}

impl Http {
    /// Whether a page of this origin may connect. Who sends no origin is no browser.
    fn allows_origin(&self, headers: &HeaderMap) -> bool {
        let Some(origin) = headers.get(ORIGIN) else { return true };
        let allowed = &self.options.origins;
        allowed.is_empty() || origin.to_str().is_ok_and(|origin| allowed.iter().any(|one| one == origin))
    }

    /// Answers an upgrade and starts the connection behind it.
    pub(super) fn upgrade(
        self: &Arc<Self>,
        mut request: Request<Incoming>,
        address: SocketAddr,
        pass: Arc<Pass>,
    ) -> Response<Body> {
        let headers = request.headers();
        if request.method() != Method::GET || !says(headers, SEC_WEBSOCKET_VERSION, "13") {
            return answer(StatusCode::BAD_REQUEST, "a WebSocket of version 13 begins with GET\n");
        }
        let Some(key) = headers.get(SEC_WEBSOCKET_KEY).map(|key| derive_accept_key(key.as_bytes())) else {
            return answer(StatusCode::BAD_REQUEST, "Sec-WebSocket-Key is missing\n");
        };
        let Ok(accept) = HeaderValue::from_str(&key) else {
            return answer(StatusCode::BAD_REQUEST, "Sec-WebSocket-Key is odd\n");
        };
        let refused = if self.draining.load(Ordering::Acquire) {
            Some((Close::GoingAway, "the server shuts down"))
        } else if !self.allows_origin(headers) {
            Some((Close::Forbidden, "pages of this origin may not connect"))
        } else {
            None
        };
        let path = request.uri().path();
        let opening = Opening {
            room: RoomName::from_path(path.strip_prefix('/').unwrap_or(path)),
            token: query(&request, "token").or_else(|| bearer(request.headers())),
            address: address.ip(),
            refused,
        };
        let context = Arc::clone(&self.context);
        let upgrade = hyper::upgrade::on(&mut request);
        tokio::spawn(async move {
            let Ok(upgraded) = upgrade.await else { return };
            // Ours again: what HTTP needed of it is dropped.
            let Ok(parts) = upgraded.downcast::<TokioIo<Stream>>() else { return };
            if !parts.read_buf.is_empty() {
                // No client speaks before it is answered.
                return;
            }
            let metrics = Arc::clone(&context.rooms.shared().metrics);
            metrics.connections.inc();
            Box::pin(serve(parts.io.into_inner(), context, opening)).await;
            metrics.connections.dec();
            drop(pass);
        });
        let mut response = answer(StatusCode::SWITCHING_PROTOCOLS, "");
        let headers = response.headers_mut();
        headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
        headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
        headers.insert(SEC_WEBSOCKET_ACCEPT, accept);
        response
    }
}
