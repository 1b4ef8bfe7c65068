//! Generated data types, ids, status codes and services of the OPC UA base model.
//!
//! Everything here but the traits of services comes out of the generator: `cargo xtask regen-models`.
#![no_std]

#[rustfmt::skip]
#[path = "generated/ids.rs"]
pub mod ids;
mod service;
pub mod status;
#[rustfmt::skip]
#[path = "generated/types.rs"]
mod types;

pub use service::{ServiceRequest, ServiceResponse};
pub use types::*;

use uaforge_codec as codec;

/// A registry of the structures of the base model, which knows the names of status codes, too.
#[must_use]
pub fn registry() -> codec::TypeRegistry {
    let mut types = codec::TypeRegistry::new();
    register_types(&mut types);
    types.set_status_names(status::name);
    types
}

/// What generated code of model crates reaches through this one.
#[doc(hidden)]
pub mod __private {
    pub use uaforge_codec as codec;
}
