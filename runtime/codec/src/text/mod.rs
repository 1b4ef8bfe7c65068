//! JSON and XML: one walk along the type descriptors between text and binary (OPC 10000-6 §5.3, §5.4).
//!
//! A value is written by encoding it in binary and walking the bytes along its type, and read by walking
//! its type and writing the bytes that it is then decoded from. So no type has code of its own for a text
//! format, and types that are known by their DataTypeDefinition alone are no special case.

mod error;
#[cfg(feature = "json")]
pub mod json;
mod read;
mod scalars;
mod variant;
mod write;
#[cfg(feature = "xml")]
pub mod xml;

pub use error::{TextError, TextReason};
