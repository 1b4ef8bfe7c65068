//! OPC UA for Devices (DI) as static tables and typed Rust.
#![no_std]

#[rustfmt::skip]
#[path = "generated/tables.rs"]
mod tables;

pub use tables::MODEL;

/// The model: every node of OPC UA for Devices (OPC 10000-100).
#[must_use]
pub fn model() -> &'static uaforge_nodes::table::StaticModel {
    &MODEL
}
