//! The standard OPC UA address space as static tables.
#![no_std]

#[rustfmt::skip]
#[path = "generated/tables.rs"]
mod tables;

pub use tables::MODEL;

/// The model: every node of the OPC UA address space (OPC 10000-5).
#[must_use]
pub fn model() -> &'static uaforge_nodes::table::StaticModel {
    &MODEL
}
