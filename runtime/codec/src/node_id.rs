//! NodeId and ExpandedNodeId (OPC 10000-6 §5.2.2.9, §5.2.2.10).

use alloc::sync::Arc;
use core::fmt;

use crate::string::{ARC_HEADER, shared_text};
use crate::{Decode, DecodeError, DecodeReason, Decoder, Encode, Encoder, Guid, NodeIdRef, UaString};

/// A NodeId with the namespace index of the connection (OPC 10000-3 §8.2). 24 bytes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(Repr);

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Repr {
    Numeric(u16, u32),
    String(u16, Arc<str>),
    Guid(u16, Guid),
    Opaque(u16, Arc<[u8]>),
}

const _: () = assert!(size_of::<NodeId>() == 24);

/// The identifier of a NodeId, borrowed (OPC 10000-3 §8.2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IdentifierRef<'a> {
    /// `i=`
    Numeric(u32),
    /// `s=`
    String(&'a str),
    /// `g=`
    Guid(Guid),
    /// `b=`
    Opaque(&'a [u8]),
}

impl NodeId {
    /// `i=0`
    pub const NULL: Self = Self(Repr::Numeric(0, 0));

    /// A numeric id.
    #[inline]
    #[must_use]
    pub const fn numeric(namespace: u16, id: u32) -> Self {
        Self(Repr::Numeric(namespace, id))
    }

    /// A string id.
    #[must_use]
    pub fn string(namespace: u16, id: impl Into<Arc<str>>) -> Self {
        Self(Repr::String(namespace, id.into()))
    }

    /// A Guid id.
    #[must_use]
    pub const fn guid(namespace: u16, id: Guid) -> Self {
        Self(Repr::Guid(namespace, id))
    }

    /// An opaque id.
    #[must_use]
    pub fn opaque(namespace: u16, id: impl Into<Arc<[u8]>>) -> Self {
        Self(Repr::Opaque(namespace, id.into()))
    }

    /// The namespace index.
    #[inline]
    #[must_use]
    pub const fn namespace(&self) -> u16 {
        match self.0 {
            Repr::Numeric(ns, _) | Repr::String(ns, _) | Repr::Guid(ns, _) | Repr::Opaque(ns, _) => ns,
        }
    }

    /// The identifier.
    #[must_use]
    pub fn identifier(&self) -> IdentifierRef<'_> {
        match &self.0 {
            Repr::Numeric(_, id) => IdentifierRef::Numeric(*id),
            Repr::String(_, id) => IdentifierRef::String(id),
            Repr::Guid(_, id) => IdentifierRef::Guid(*id),
            Repr::Opaque(_, id) => IdentifierRef::Opaque(id),
        }
    }

    /// The number of a numeric id.
    #[inline]
    #[must_use]
    pub const fn as_numeric(&self) -> Option<u32> {
        match self.0 {
            Repr::Numeric(_, id) => Some(id),
            _ => None,
        }
    }

    /// Whether this is the null NodeId: namespace 0 and an empty identifier (OPC 10000-3 §8.2.4).
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.namespace() == 0
            && match &self.0 {
                Repr::Numeric(_, id) => *id == 0,
                Repr::String(_, id) => id.is_empty(),
                Repr::Guid(_, id) => *id == Guid::NULL,
                Repr::Opaque(_, id) => id.is_empty(),
            }
    }

    /// The text of a string id of this namespace.
    #[inline]
    #[must_use]
    pub fn as_string_in(&self, namespace: u16) -> Option<&[u8]> {
        match &self.0 {
            Repr::String(own, id) if *own == namespace => Some(id.as_bytes()),
            _ => None,
        }
    }

    /// The same identifier in another namespace.
    #[must_use]
    pub fn with_namespace(&self, namespace: u16) -> Self {
        Self(match &self.0 {
            Repr::Numeric(_, id) => Repr::Numeric(namespace, *id),
            Repr::String(_, id) => Repr::String(namespace, id.clone()),
            Repr::Guid(_, id) => Repr::Guid(namespace, *id),
            Repr::Opaque(_, id) => Repr::Opaque(namespace, id.clone()),
        })
    }

    /// A borrowed view.
    #[inline]
    #[must_use]
    pub fn as_ref(&self) -> NodeIdRef<'_> {
        match &self.0 {
            Repr::Numeric(ns, id) => NodeIdRef::Numeric(*ns, *id),
            Repr::String(ns, id) => NodeIdRef::String(*ns, id.as_bytes()),
            Repr::Guid(ns, id) => NodeIdRef::Guid(*ns, *id),
            Repr::Opaque(ns, id) => NodeIdRef::Opaque(*ns, id),
        }
    }
}

impl Default for NodeId {
    fn default() -> Self {
        Self::NULL
    }
}

impl fmt::Debug for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Encoding bytes (OPC 10000-6 Table 17) and the flags of ExpandedNodeId.
pub(crate) mod form {
    pub(crate) const TWO_BYTE: u8 = 0;
    pub(crate) const FOUR_BYTE: u8 = 1;
    pub(crate) const NUMERIC: u8 = 2;
    pub(crate) const STRING: u8 = 3;
    pub(crate) const GUID: u8 = 4;
    pub(crate) const OPAQUE: u8 = 5;
    pub(crate) const HAS_SERVER_INDEX: u8 = 0x40;
    pub(crate) const HAS_NAMESPACE_URI: u8 = 0x80;
}

impl Encode for NodeId {
    #[inline]
    fn encode(&self, e: &mut Encoder<'_>) {
        self.as_ref().encode_with_flags(0, e);
    }
}

impl Decode for NodeId {
    const MIN_SIZE: usize = 2;
    const IS_LEAF: bool = true;

    #[inline]
    fn decode_into(&mut self, d: &mut Decoder<'_>) -> Result<(), DecodeError> {
        let form = d.u8()?;
        self.decode_form(form, d)
    }
}

impl NodeId {
    #[inline]
    fn decode_form(&mut self, form: u8, d: &mut Decoder<'_>) -> Result<(), DecodeError> {
        match NodeIdRef::decode_form(form, d)? {
            NodeIdRef::Numeric(ns, id) => self.0 = Repr::Numeric(ns, id),
            other => *self = owned(other, d)?,
        }
        Ok(())
    }
}

#[cold]
fn owned(id: NodeIdRef<'_>, d: &mut Decoder<'_>) -> Result<NodeId, DecodeError> {
    match id {
        NodeIdRef::String(ns, bytes) => Ok(NodeId(Repr::String(ns, shared_text(d, bytes)?))),
        NodeIdRef::Opaque(_, bytes) => {
            d.charge(bytes.len() + ARC_HEADER)?;
            Ok(id.to_owned())
        }
        _ => Ok(id.to_owned()),
    }
}

/// A NodeId that may name its namespace by URI and its server (OPC 10000-4 §7.16).
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExpandedNodeId {
    /// The id; its namespace index counts only without a URI.
    pub node_id: NodeId,
    /// The namespace URI, or null.
    pub namespace_uri: UaString,
    /// Index into the server table; 0 is the local server.
    pub server_index: u32,
}

impl From<NodeId> for ExpandedNodeId {
    fn from(node_id: NodeId) -> Self {
        Self { node_id, namespace_uri: UaString::NULL, server_index: 0 }
    }
}

impl Encode for ExpandedNodeId {
    fn encode(&self, e: &mut Encoder<'_>) {
        let uri = if self.namespace_uri.is_null() { 0 } else { form::HAS_NAMESPACE_URI };
        let server = if self.server_index == 0 { 0 } else { form::HAS_SERVER_INDEX };
        self.node_id.as_ref().encode_with_flags(uri | server, e);
        if uri != 0 {
            self.namespace_uri.encode(e);
        }
        if server != 0 {
            e.put_u32(self.server_index);
        }
    }
}

impl Decode for ExpandedNodeId {
    const MIN_SIZE: usize = 2;
    const IS_LEAF: bool = true;

    fn decode_into(&mut self, d: &mut Decoder<'_>) -> Result<(), DecodeError> {
        let form = d.u8()?;
        let flags = form::HAS_NAMESPACE_URI | form::HAS_SERVER_INDEX;
        self.node_id.decode_form(form & !flags, d)?;
        if form & form::HAS_NAMESPACE_URI != 0 {
            self.namespace_uri.decode_into(d)?;
        } else {
            self.namespace_uri = UaString::NULL;
        }
        self.server_index = if form & form::HAS_SERVER_INDEX != 0 { d.u32()? } else { 0 };
        Ok(())
    }
}

impl NodeIdRef<'_> {
    /// Writes the shortest form, with the flags of an ExpandedNodeId in the encoding byte.
    #[inline]
    pub(crate) fn encode_with_flags(self, flags: u8, e: &mut Encoder<'_>) {
        match self {
            Self::Numeric(ns, id) => encode_numeric(ns, id, flags, e),
            other => encode_rest(other, flags, e),
        }
    }
}

#[inline]
fn encode_numeric(ns: u16, id: u32, flags: u8, e: &mut Encoder<'_>) {
    // The bytes of an id as one number.
    let (form, rest, len) = match (ns, id) {
        (0, 0..=0xFF) => (form::TWO_BYTE, u64::from(id), 2),
        (0..=0xFF, 0..=0xFFFF) => (form::FOUR_BYTE, u64::from(id) << 8 | u64::from(ns), 4),
        _ => (form::NUMERIC, u64::from(id) << 16 | u64::from(ns), 7),
    };
    e.put_short(rest << 8 | u64::from(form | flags), len);
}

#[cold]
fn encode_rest(id: NodeIdRef<'_>, flags: u8, e: &mut Encoder<'_>) {
    match id {
        NodeIdRef::Numeric(ns, id) => encode_numeric(ns, id, flags, e),
        NodeIdRef::String(ns, text) => {
            e.put_u8(form::STRING | flags);
            e.put_u16(ns);
            e.put_bytes(Some(text));
        }
        NodeIdRef::Guid(ns, guid) => {
            e.put_u8(form::GUID | flags);
            e.put_u16(ns);
            guid.encode(e);
        }
        NodeIdRef::Opaque(ns, bytes) => {
            e.put_u8(form::OPAQUE | flags);
            e.put_u16(ns);
            e.put_bytes(Some(bytes));
        }
    }
}

impl<'a> NodeIdRef<'a> {
    /// Reads what follows the encoding byte. Null strings read as empty ones: an id has no null.
    #[inline]
    pub(crate) fn decode_form(form: u8, d: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        match form {
            form::TWO_BYTE => Ok(Self::Numeric(0, u32::from(d.u8()?))),
            form::FOUR_BYTE => {
                let [ns, low, high] = d.array()?;
                Ok(Self::Numeric(u16::from(ns), u32::from(u16::from_le_bytes([low, high]))))
            }
            form::NUMERIC => {
                let [n0, n1, i0, i1, i2, i3] = d.array()?;
                Ok(Self::Numeric(u16::from_le_bytes([n0, n1]), u32::from_le_bytes([i0, i1, i2, i3])))
            }
            form::STRING => Ok(Self::String(d.u16()?, d.bytes()?.unwrap_or_default())),
            _ => Self::decode_rest(form, d),
        }
    }

    #[cold]
    fn decode_rest(form: u8, d: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        match form {
            form::GUID => {
                let ns = d.u16()?;
                let mut guid = Guid::NULL;
                guid.decode_into(d)?;
                Ok(Self::Guid(ns, guid))
            }
            form::OPAQUE => Ok(Self::Opaque(d.u16()?, d.bytes()?.unwrap_or_default())),
            _ => Err(DecodeReason::BadEncodingByte.into()),
        }
    }
}
