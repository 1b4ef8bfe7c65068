//! Between the ids of the tables and those of the wire.

use core::hash::{BuildHasher, Hasher};

use foldhash::fast::FixedState;
use uaforge_codec::{Guid, NodeIdRef};

use crate::table::NamedKind;

pub(crate) const ORGANIZES: u32 = 35;
pub(crate) const HIERARCHICAL_REFERENCES: u32 = 33;
pub(crate) const HAS_MODELLING_RULE: u32 = 37;
pub(crate) const HAS_TYPE_DEFINITION: u32 = 40;
pub(crate) const AGGREGATES: u32 = 44;
pub(crate) const HAS_SUBTYPE: u32 = 45;
pub(crate) const OBJECTS_FOLDER: u32 = 85;
pub(crate) const HAS_INTERFACE: u32 = 17603;

/// ModellingRules (OPC 10000-3 §6.4.4).
pub(crate) const MANDATORY: u32 = 78;
pub(crate) const OPTIONAL: u32 = 80;
pub(crate) const OPTIONAL_PLACEHOLDER: u32 = 11508;
pub(crate) const MANDATORY_PLACEHOLDER: u32 = 11510;

/// An identifier in the forms that the tables tell apart.
pub(crate) enum Ident<'a> {
    Numeric(u32),
    Named(NamedKind, &'a [u8]),
    Guid([u8; 16]),
}

#[inline]
pub(crate) fn split(id: NodeIdRef<'_>) -> Ident<'_> {
    match id {
        NodeIdRef::Numeric(_, id) => Ident::Numeric(id),
        NodeIdRef::String(_, bytes) => Ident::Named(NamedKind::String, bytes),
        NodeIdRef::Guid(_, guid) => Ident::Guid(guid.0),
        NodeIdRef::Opaque(_, bytes) => Ident::Named(NamedKind::Opaque, bytes),
    }
}

#[inline]
pub(crate) const fn numeric(namespace: u16, id: u32) -> NodeIdRef<'static> {
    NodeIdRef::Numeric(namespace, id)
}

/// An id of ns0.
#[inline]
pub(crate) const fn ns0(id: u32) -> NodeIdRef<'static> {
    NodeIdRef::Numeric(0, id)
}

pub(crate) fn named(namespace: u16, kind: NamedKind, bytes: &'static [u8]) -> NodeIdRef<'static> {
    match kind {
        NamedKind::String => NodeIdRef::String(namespace, bytes),
        NamedKind::Opaque => NodeIdRef::Opaque(namespace, bytes),
        NamedKind::Guid => {
            let guid = bytes.try_into().map_or(Guid::NULL, Guid);
            NodeIdRef::Guid(namespace, guid)
        }
    }
}

#[inline]
pub(crate) fn hash(seed: u64, id: NodeIdRef<'_>) -> u64 {
    match id {
        NodeIdRef::Numeric(namespace, id) => {
            FixedState::with_seed(seed).hash_one(u64::from(namespace) << 32 | u64::from(id))
        }
        // A String and an Opaque id of the same bytes share a hash; few servers have both.
        NodeIdRef::String(namespace, bytes) | NodeIdRef::Opaque(namespace, bytes) => {
            hash_bytes(seed, namespace, bytes)
        }
        NodeIdRef::Guid(namespace, Guid(bytes)) => hash_bytes(seed, namespace, &bytes),
    }
}

/// Fewer steps than the derived hash, which takes in the kind and the length as well.
#[inline]
fn hash_bytes(seed: u64, namespace: u16, bytes: &[u8]) -> u64 {
    let mut hasher = FixedState::with_seed(seed ^ u64::from(namespace) << 48).build_hasher();
    hasher.write(bytes);
    hasher.finish()
}
