//! The standard OPC UA address space: static tables, and its ObjectTypes as Rust types.
#![no_std]

#[cfg(feature = "client")]
#[rustfmt::skip]
#[path = "generated/client.rs"]
pub mod client;
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

pub use objects::*;
pub use tables::MODEL;

/// The model: every node of the OPC UA address space (OPC 10000-5).
#[must_use]
pub fn model() -> &'static uaforge_nodes::table::StaticModel {
    &MODEL
}
