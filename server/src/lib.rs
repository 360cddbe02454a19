//! A sync server for Yjs clients: the dialects of y-websocket and hocuspocus over the yatta engine.
//!
//! Layers, each importing downwards only: [`wire`], [`name`], [`limits`], [`metrics`] < [`store`] < [`room`], [`auth`] <
//! [`connection`] < [`http`], [`transfer`] < [`config`], [`server`]. docs/SERVER.md says how to run it and why it is as it is.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

pub mod auth;
pub mod config;
pub mod connection;
pub mod http;
pub mod limits;
pub mod metrics;
pub mod name;
pub mod room;
pub mod server;
pub mod store;
pub mod transfer;
pub mod wire;

pub use config::Config;
pub use server::Server;
