//! What encoder and decoder need to know besides the bytes.

use crate::{DecodeLimits, NamespaceMap, TypeRegistry};

/// What encoding needs: the receiver's namespace table.
#[derive(Clone, Copy, Debug)]
pub struct EncodeContext<'a> {
    /// Indexes of the namespace URIs on this connection.
    pub namespaces: &'a NamespaceMap,
}

/// What decoding needs: limits, the sender's namespace table and the known structures.
#[derive(Clone, Copy, Debug)]
pub struct DecodeContext<'a> {
    /// Bounds of one message.
    pub limits: &'a DecodeLimits,
    /// Indexes of the namespace URIs on this connection.
    pub namespaces: &'a NamespaceMap,
    /// Structures that ExtensionObject bodies are decoded as; others stay opaque.
    pub types: &'a TypeRegistry,
}

impl Default for EncodeContext<'static> {
    fn default() -> Self {
        Self { namespaces: NamespaceMap::ns0_only() }
    }
}

impl Default for DecodeContext<'static> {
    fn default() -> Self {
        Self {
            limits: &DecodeLimits::DEFAULT,
            namespaces: NamespaceMap::ns0_only(),
            types: TypeRegistry::empty(),
        }
    }
}
