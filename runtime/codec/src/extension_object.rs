//! ExtensionObject: a structure with the id of its encoding (OPC 10000-6 §5.2.2.15).

use alloc::sync::Arc;
use core::fmt;

use crate::debug::Inner;
use crate::structure::DecodeBody;
use crate::{
    ByteString, Decode, DecodeContext, DecodeError, DecodeReason, Decoder, Encode, EncodeError, Encoder,
    NodeId, NodeIdRef, Structure, StructureDescriptor, StructureValue, TypeKey, UaString,
};

/// A structure of any type. Bodies of unknown types stay as they came and are written back bit for
/// bit (OPC 10000-6 §5.2.2.15).
#[derive(Clone, Debug, Default)]
pub struct ExtensionObject {
    type_id: NodeId,
    body: ExtensionObjectBody,
}

/// The body of an [`ExtensionObject`] (OPC 10000-6 §5.2.2.15).
#[derive(Clone, Default)]
pub enum ExtensionObjectBody {
    /// No body.
    #[default]
    None,
    /// A binary body of an unknown type.
    Binary(ByteString),
    /// An XML body.
    Xml(UaString),
    /// A structure of a known type.
    Value(Arc<dyn StructureValue>),
}

impl fmt::Debug for ExtensionObjectBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("None"),
            Self::Binary(bytes) => f.debug_tuple("Binary").field(bytes).finish(),
            Self::Xml(text) => f.debug_tuple("Xml").field(text).finish(),
            Self::Value(value) => f.debug_tuple("Value").field(&Inner(value)).finish(),
        }
    }
}

impl PartialEq for ExtensionObjectBody {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::None, Self::None) => true,
            (Self::Binary(a), Self::Binary(b)) => a == b,
            (Self::Xml(a), Self::Xml(b)) => a == b,
            (Self::Value(a), Self::Value(b)) => a.equals(&**b),
            _ => false,
        }
    }
}

impl PartialEq for ExtensionObject {
    /// A structure has its type in itself: the id that it came with does not count.
    fn eq(&self, other: &Self) -> bool {
        let known = matches!(self.body, ExtensionObjectBody::Value(_));
        self.body == other.body && (known || self.type_id == other.type_id)
    }
}

impl ExtensionObject {
    /// No type, no body.
    pub const NULL: Self = Self { type_id: NodeId::NULL, body: ExtensionObjectBody::None };

    /// A structure; its encoding id is found when it is written, by the receiver's namespace table.
    pub fn new(value: impl Structure) -> Self {
        Self { type_id: NodeId::NULL, body: ExtensionObjectBody::Value(Arc::new(value)) }
    }

    /// A body as it is on the wire.
    #[must_use]
    pub const fn from_parts(type_id: NodeId, body: ExtensionObjectBody) -> Self {
        Self { type_id, body }
    }

    /// The id of the encoding as it came; null for a structure of this side.
    #[must_use]
    pub const fn type_id(&self) -> &NodeId {
        &self.type_id
    }

    /// The body.
    #[must_use]
    pub const fn body(&self) -> &ExtensionObjectBody {
        &self.body
    }

    /// Whether there is neither type nor body.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.type_id.is_null() && matches!(self.body, ExtensionObjectBody::None)
    }

    /// The structure, if it is a `T`.
    #[must_use]
    pub fn downcast_ref<T: Structure>(&self) -> Option<&T> {
        match &self.body {
            ExtensionObjectBody::Value(value) => value.as_any().downcast_ref(),
            _ => None,
        }
    }

    /// The structure as a `T`, decoded from the body if it is not known to the registry.
    ///
    /// # Errors
    /// The body is not that of a `T`.
    pub fn decode_as<T: Structure>(&self, cx: DecodeContext<'_>) -> Result<T, DecodeError> {
        match &self.body {
            ExtensionObjectBody::Value(value) => {
                value.as_any().downcast_ref::<T>().cloned().ok_or_else(|| DecodeReason::WrongType.into())
            }
            ExtensionObjectBody::Binary(bytes) => {
                let own = T::DESCRIPTOR
                    .binary_encoding
                    .and_then(|key| Some(key.id.in_namespace(cx.namespaces.index_of(key.namespace)?)));
                if own != Some(self.type_id.as_ref()) {
                    return Err(DecodeReason::WrongType.into());
                }
                let mut d = Decoder::new(bytes.bytes(), cx);
                let value = T::decode(&mut d)?;
                d.finish()?;
                Ok(value)
            }
            _ => Err(DecodeReason::WrongType.into()),
        }
    }

    /// Writes a structure as an ExtensionObject without building one.
    pub fn encode_structure<T: Structure>(value: &T, e: &mut Encoder<'_>) {
        encode_value(NodeIdRef::NULL, T::DESCRIPTOR, value, e);
    }
}

impl Encode for ExtensionObject {
    fn encode(&self, e: &mut Encoder<'_>) {
        match &self.body {
            ExtensionObjectBody::None => {
                self.type_id.encode(e);
                e.put_u8(0);
            }
            ExtensionObjectBody::Binary(bytes) => {
                self.type_id.encode(e);
                e.put_u8(1);
                bytes.encode(e);
            }
            ExtensionObjectBody::Xml(text) => {
                self.type_id.encode(e);
                e.put_u8(2);
                text.encode(e);
            }
            ExtensionObjectBody::Value(value) => {
                encode_value(self.type_id.as_ref(), value.descriptor(), &**value, e);
            }
        }
    }
}

fn encode_value(
    type_id: NodeIdRef<'_>,
    descriptor: &'static StructureDescriptor,
    value: &dyn StructureValue,
    e: &mut Encoder<'_>,
) {
    let resolved = descriptor.binary_encoding.and_then(|key| resolve(key, e));
    // A type id that came over this connection stands when the table has no better one.
    let type_id = resolved.unwrap_or(type_id);
    if type_id.is_null() {
        return e.fail(EncodeError::UnknownNamespace);
    }
    type_id.encode(e);
    e.put_u8(1);
    e.nested(|e| e.put_sized(|e| value.encode_body(e)));
}

fn resolve(key: TypeKey, e: &Encoder<'_>) -> Option<NodeIdRef<'static>> {
    e.namespaces().index_of(key.namespace).map(|index| key.id.in_namespace(index))
}

impl Decode for ExtensionObject {
    const MIN_SIZE: usize = 3;

    fn decode_into(&mut self, d: &mut Decoder<'_>) -> Result<(), DecodeError> {
        match self.decode_head(d) {
            Ok(Some(decode)) => self.decode_known(decode, d),
            Ok(None) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

impl ExtensionObject {
    /// All but the body of a known type, whose decoder is given. Apart, so that only what it takes to go
    /// on is in the frame of what recurses.
    #[inline(never)]
    fn decode_head(&mut self, d: &mut Decoder<'_>) -> Result<Option<DecodeBody>, DecodeError> {
        self.type_id.decode_into(d)?;
        self.body = match d.u8()? {
            0 => ExtensionObjectBody::None,
            1 => match known_decoder(self.type_id.as_ref(), d) {
                Some(decode) => return Ok(Some(decode)),
                None => binary(d)?,
            },
            2 => ExtensionObjectBody::Xml(Decode::decode(d)?),
            _ => return Err(DecodeReason::BadEncodingByte.into()),
        };
        Ok(None)
    }

    fn decode_known(&mut self, decode: DecodeBody, d: &mut Decoder<'_>) -> Result<(), DecodeError> {
        let behind = d.begin_body()?;
        match decode(&mut self.body, d) {
            Ok(()) => d.end_body(behind),
            Err(error) => Err(error),
        }
    }
}

/// The body of an unknown type.
fn binary(d: &mut Decoder<'_>) -> Result<ExtensionObjectBody, DecodeError> {
    // Nobody knows where a body of unknown type and length ends.
    if d.rest().first_chunk().is_some_and(|len| i32::from_le_bytes(*len) < 0) {
        return Err(DecodeReason::BadLength.into());
    }
    Decode::decode(d).map(ExtensionObjectBody::Binary)
}

/// The decoder of the body that follows, if its type is known.
fn known_decoder(type_id: NodeIdRef<'_>, d: &Decoder<'_>) -> Option<DecodeBody> {
    let cx = d.context();
    let uri = cx.namespaces.uri(type_id.namespace())?;
    cx.types.decoder(uri, type_id)
}
