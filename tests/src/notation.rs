//! The value notation of the vectors, written in OPC UA Binary from type descriptors alone.
//!
//! Builtin types go through the types of `uaforge-codec`; structures are written field by field from
//! their descriptors, so that what comes out does not depend on generated coding.

mod builtin;
mod structure;

pub use builtin::{builtin_value, data_value, extension_object, number_of, variant};
pub use structure::{Field, Kind, Shape, Shapes};

use serde_json::Value;
use uaforge_codec::{Encode, EncodeContext, Encoder, NamespaceMap};

/// The namespace table of the vectors.
#[must_use]
pub fn namespaces() -> NamespaceMap {
    let mut map = NamespaceMap::new();
    map.push("urn:vec:app");
    map
}

/// A value in binary.
#[must_use]
pub fn encoded(value: &impl Encode) -> Vec<u8> {
    let map = namespaces();
    let mut bytes = Vec::new();
    let mut e = Encoder::new(&mut bytes, EncodeContext { namespaces: &map });
    value.encode(&mut e);
    e.finish().expect("it can be written");
    bytes
}

/// A value of any type of the vectors (`Int32`, `Argument[]`, …) in binary.
///
/// # Panics
/// The vectors are wrong.
#[must_use]
pub fn transcode(ty: &str, value: &Value, shapes: &Shapes) -> Vec<u8> {
    let mut out = Vec::new();
    match ty.strip_suffix("[]") {
        Some(element) => shapes.put_array(element, value, &mut out),
        None => shapes.put(ty, value, &mut out),
    }
    out
}
