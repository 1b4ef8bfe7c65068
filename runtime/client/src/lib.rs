//! OPC UA client: sessions, services and typed access.
//!
//! ```no_run
//! # async fn example() -> Result<(), uaforge_client::Error> {
//! let session = uaforge_client::connect_insecure("opc.tcp://brewery:4840").await?;
//! let value = session.read_value(&"ns=2;s=Kettle1/Temperature".parse().unwrap_or_default()).await?;
//! println!("{value:?}");
//! session.close().await;
//! # Ok(())
//! # }
//! ```
//!
//! A [`Session`] is a cheap handle. The connection itself is one task on the caller's tokio runtime;
//! all calls are pipelined through it. The state machine below knows neither sockets nor clocks.

mod address;
mod advice;
mod batch;
mod client;
mod config;
mod error;
mod hierarchy;
mod invocation;
mod link;
mod method_ids;
mod proto;
mod services;
mod session;
mod tables;
pub mod typed;

pub use client::{Client, ClientBuilder, Connecting, connect, connect_insecure};
pub use error::{ArgumentStatus, Error};
pub use invocation::Invocation;
pub use proto::{Connection, OperationLimits, SessionInfo};
pub use services::{
    BrowseAll, BrowseMany, BrowsePage, CallMethod, CallMethods, Discovery, Page, Read, ReadItem, ReadMany,
    ReadOptions, Visit, Walk, Write, WriteItem, WriteMany, WriteOptions,
};
pub use session::Session;
