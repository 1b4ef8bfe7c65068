//! Reads NodeSet2 files, resolves them by namespace URI, and reads and writes model interface files.

pub mod canonical;
mod dates;
pub mod diagnostic;
pub mod diff;
mod identifiers;
mod ids;
pub mod interface;
mod known;
mod lint;
mod loader;
pub mod query;
mod repair;
mod resolve;
pub mod resolved;
mod schema;
mod source;
mod value;

pub use diagnostic::{Code, Diagnostic, Label, Severity};
pub use loader::{Loaded, LoadedDocument, Loader};
pub use query::{DataTypeKind, StructureType, Wire};
pub use source::{Source, Sources};

/// The namespace URI of OPC UA itself, always index 0.
pub const NS0_URI: &str = "http://opcfoundation.org/UA/";
