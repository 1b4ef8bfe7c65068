//! OPC UA dictionary of IRDIs (OPC 10000-19) as typed Rust.
#![no_std]

use uaforge_types::__private::codec;

#[cfg(feature = "client")]
#[rustfmt::skip]
#[path = "generated/client.rs"]
pub mod client;
#[rustfmt::skip]
#[path = "generated/ids.rs"]
pub mod ids;
#[rustfmt::skip]
#[path = "generated/objects.rs"]
mod objects;
#[cfg(feature = "server")]
#[rustfmt::skip]
#[path = "generated/server.rs"]
pub mod server;
#[rustfmt::skip]
#[path = "generated/tables.rs"]
mod tables;
#[rustfmt::skip]
#[path = "generated/types.rs"]
mod types;

pub use tables::MODEL;
pub use types::*;

/// The model: every node of `http://opcfoundation.org/UA/Dictionary/IRDI`.
#[must_use]
pub fn model() -> &'static uaforge_nodes::table::StaticModel {
    &MODEL
}
