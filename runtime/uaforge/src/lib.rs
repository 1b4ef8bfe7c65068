//! Typed OPC UA for Rust: the façade over codec, types, client and server.
//!
//! Applications depend on this crate and on the crates of the models that they use. A model of your
//! own comes out of a build script and is brought in with [`include_model!`].

#[cfg(feature = "registration")]
mod registration;
#[cfg(feature = "registration")]
pub use registration::{run_registered, run_registered_securely};

#[cfg(feature = "client")]
pub use uaforge_client as client;
#[cfg(feature = "server")]
pub use uaforge_server as server;

/// Values as JSON: `json::to_string` and `json::from_str`.
#[cfg(feature = "json")]
pub use uaforge_codec::json;
/// Values as XML: `xml::to_string` and `xml::from_str`.
#[cfg(feature = "xml")]
pub use uaforge_codec::xml;
pub use uaforge_codec::{
    Array, ByteString, DataValue, DateTime, DecodeContext, DecodeLimits, DynamicStructure, DynamicValue,
    ExpandedNodeId, ExpandedNodeIdRef, ExtensionObject, Guid, LocalizedText, Matrix, NamespaceMap, NodeId,
    NodeIdRef, QualifiedName, StatusCode, TypeRegistry, UaString, Variant,
};
#[cfg(any(feature = "json", feature = "xml"))]
pub use uaforge_codec::{TextError, TextReason};
/// Security policies, certificates and keys, and the providers of cryptography.
pub use uaforge_crypto as crypto;
/// Nodes of an address space: what node managers and edits are made of.
#[cfg(feature = "server")]
pub use uaforge_nodes as nodes;
pub use uaforge_types as types;
pub use uaforge_types::status;

#[cfg(feature = "macros")]
pub use uaforge_macros::{UaEnumeration, UaOptionSet, UaStructure, UaUnion};

/// The standard address space, which every server needs: `ns0()` is its model, and `ns0::FileType` one
/// of its ObjectTypes.
#[cfg(feature = "ns0")]
pub use uaforge_ns0::{self as ns0, model as ns0};

/// Brings a model that the build script generated into the crate, as a module of that name.
///
/// ```ignore
/// uaforge::include_model!(brew_line);
/// ```
#[macro_export]
macro_rules! include_model {
    ($name:ident) => {
        #[allow(
            dead_code,
            unused_imports,
            unreachable_pub,
            missing_docs,
            clippy::all,
            clippy::pedantic,
            reason = "generated for every use, not for this one"
        )]
        #[rustfmt::skip]
        pub mod $name {
            ::core::include!(::core::concat!(::core::env!("OUT_DIR"), "/", ::core::stringify!($name), ".rs"));
        }
    };
}

/// Keeps generated code for clients if the feature `client` is on.
#[cfg(feature = "client")]
#[doc(hidden)]
#[macro_export]
macro_rules! __if_client {
    ($($code:tt)*) => { $($code)* };
}

/// Keeps generated code for clients if the feature `client` is on.
#[cfg(not(feature = "client"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __if_client {
    ($($code:tt)*) => {};
}

/// Keeps generated code for servers if the feature `server` is on.
#[cfg(feature = "server")]
#[doc(hidden)]
#[macro_export]
macro_rules! __if_server {
    ($($code:tt)*) => { $($code)* };
}

/// Keeps generated code for servers if the feature `server` is on.
#[cfg(not(feature = "server"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __if_server {
    ($($code:tt)*) => {};
}

/// What generated code reaches through the façade.
#[doc(hidden)]
pub mod __private {
    #[cfg(feature = "client")]
    pub use uaforge_client as client;
    pub use uaforge_codec as codec;
    pub use uaforge_nodes as nodes;
    #[cfg(feature = "ns0")]
    pub use uaforge_ns0 as ns0;
    #[cfg(feature = "server")]
    pub use uaforge_server as server;
    pub use uaforge_types as types;
}
