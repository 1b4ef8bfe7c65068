//! OPC UA client: sessions, services and typed access.
//!
//! ```no_run
//! use uaforge_client::{Client, Error, ReadItem, WriteItem};
//! use uaforge_codec::NodeId;
//!
//! # async fn example() -> Result<(), Error> {
//! let session = Client::builder().insecure().connect("opc.tcp://brewery:4840").await?;
//! let level = NodeId::string(2, "Kettle1/Level");
//! let curve = NodeId::string(2, "Kettle1/Curve");
//!
//! // One value, with status and timestamps.
//! println!("{:?}", session.read_value(&level).await?);
//! // Several, each with a status of its own; or all of them, or an error that names the first bad one.
//! let results = session.read([ReadItem::value(&level), ReadItem::value(&curve).range("0:9")]).await?;
//! let values = session.read([&level, &curve]).values().await?;
//!
//! // Writing sends the value only.
//! session.write_value(&level, 7.5).await?;
//! session.write([WriteItem::value(&curve, vec![1.0, 2.0]).range("3:4")]).all().await?;
//!
//! // Each change, as often as every 100 ms.
//! let mut samples = session.watch(&level).every(std::time::Duration::from_millis(100)).await?;
//! if let Some(change) = samples.next().await {
//!     println!("{:?} {:?}", change.as_ref().map(|change| &change.value), samples.info().sampling_interval);
//! }
//!
//! // What is below a node.
//! for reference in session.children(&NodeId::numeric(0, 85)).await? {
//!     println!("{} {}", reference.browse_name, reference.node_id);
//! }
//! session.close().await;
//! # Ok(())
//! # }
//! ```
//!
//! A [`Session`] is a cheap handle. The connection itself is one task on the caller's tokio runtime;
//! all calls are pipelined through it. The state machine below knows neither sockets nor clocks:
//! [`ClientBuilder::start`] gives it to whoever wants to drive it.
//!
//! # How much at once
//!
//! Every call may have any number of operations. The session reads the server's limits once
//! ([`Session::limits`]), makes several requests where they ask for it, a bounded number at once, and puts
//! the results together in order. It does the same where a server only refuses (Bad_TooManyOperations) and
//! where a request or response is too large for one side; what a server may have written or called
//! already is never sent again. [`Session::read_many`], [`Session::write_many`],
//! [`Session::browse_many`] and [`Session::walk`] are streams: they need the memory of some requests,
//! however many nodes there are.
//!
//! # Errors
//!
//! An [`Error`] names the service, the node or browse path and the place of the operation, the status with
//! its meaning, and what to do about it. What fails for one operation stands in its place in the results;
//! only what fails for a whole call is an `Err`.

mod address;
mod advice;
mod batch;
mod client;
mod config;
mod dial;
mod error;
mod hierarchy;
mod invocation;
mod link;
mod method_ids;
mod proto;
mod recovery;
mod security;
mod services;
mod session;
mod subscription;
mod tables;
pub mod typed;

pub use client::{Client, ClientBuilder, Connecting, connect, connect_insecure};
pub use error::{ArgumentStatus, Error};
pub use invocation::Invocation;
pub use proto::{Connection, OperationLimits, SessionInfo, SubscriptionStatus};
pub use recovery::{ConnectionState, Reconnect};
pub use security::Security;
pub use services::{
    BrowseAll, BrowseMany, BrowsePage, CallMethod, CallMethods, Discovery, LoadedTypes, Page, Read, ReadItem,
    ReadMany, ReadOptions, Visit, Walk, Write, WriteItem, WriteMany, WriteOptions,
};
pub use session::Session;
pub use subscription::{
    Change, Deadband, Event, EventQuery, Events, ItemInfo, Missed, SampleGroup, Samples, Subscribe,
    Subscription, Watch, WatchItem,
};
