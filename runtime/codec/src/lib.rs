//! OPC UA builtin types and their binary encoding, with limits (OPC 10000-6 §5.1.2, §5.2).
//!
//! Encoding never fails in the middle: an [`Encoder`] keeps its first error. Decoding is bounded by
//! [`DecodeLimits`] and reuses the capacity of what it decodes into.
#![no_std]
extern crate alloc;

use alloc::vec::Vec;

mod array;
mod bytes;
mod context;
mod data_value;
mod data_value_ref;
mod datetime;
mod debug;
mod decoder;
mod described;
mod descriptor;
mod diagnostic_info;
mod dynamic;
mod encoder;
mod entropy;
mod error;
mod extension_object;
mod guid;
mod limits;
mod model_id;
mod names;
mod namespaces;
mod node_id;
mod node_id_text;
mod primitives;
mod range;
mod runtime_types;
mod status_code;
mod string;
mod structure;
mod subtypes;
#[cfg(any(feature = "json", feature = "xml"))]
mod text;
mod ticks;
mod type_view;
mod variant;
mod variant_codec;
mod variant_convert;
mod views;

pub use array::{Array, Matrix};
pub use bytes::ByteString;
pub use context::{DecodeContext, EncodeContext};
pub use data_value::DataValue;
pub use data_value_ref::DataValueRef;
pub use datetime::DateTime;
pub use decoder::Decoder;
pub use described::Described;
pub use descriptor::{
    BuiltinType, EnumValue, EnumerationDescriptor, FieldDescriptor, FieldType, StructureDescriptor,
    StructureKind, TypeKey,
};
pub use diagnostic_info::DiagnosticInfo;
pub use dynamic::{DynamicStructure, DynamicValue};
pub use encoder::{ChunkLayout, Encoder, Mark};
pub use entropy::{Entropy, SeededEntropy};
pub use error::{DecodeError, DecodeReason, EncodeError};
pub use extension_object::{ExtensionObject, ExtensionObjectBody};
pub use guid::Guid;
pub use limits::DecodeLimits;
pub use model_id::{
    ConstIdentifier, IdKind, ModelId, ModelNamespaces, NodeClassMask, UnknownNamespace, kind,
};
pub use names::{LocalizedText, QualifiedName};
pub use namespaces::{NS0_URI, NamespaceMap};
pub use node_id::{ExpandedNodeId, IdentifierRef, NodeId};
pub use node_id_text::ParseNodeIdError;
pub use range::{EncodedPiece, NumericRange, RangeError};
pub use runtime_types::{
    ElementSource, EnumerationSource, FieldSource, RuntimeEnumeration, RuntimeStructure, RuntimeTypes,
    StructureSource, UnknownFieldType,
};
pub use status_code::StatusCode;
pub use string::{UaString, XmlElement};
pub use structure::{Structure, StructureValue, TypeRegistry};
pub use subtypes::HoldsStructures;
#[cfg(feature = "json")]
pub use text::json;
#[cfg(feature = "xml")]
pub use text::xml;
#[cfg(any(feature = "json", feature = "xml"))]
pub use text::{TextError, TextReason};
pub use ticks::{Now, Ticks};
pub use type_view::{ElementType, EnumerationType, StructureFieldType, StructureType};
pub use variant::{Variant, VariantArray, VariantMatrix};
pub use variant_convert::{FromVariant, IntoVariant, VariantTypeError};
pub use views::{
    ArrayRef, ArrayRefIter, BytesRef, DecodeEach, DecodeRef, ExpandedNodeIdRef, ExtensionObjectRef,
    LocalizedTextRef, NodeIdRef, QualifiedNameRef, StrRef,
};

/// What generated code needs besides this crate's public items.
#[doc(hidden)]
pub mod __private {
    pub use alloc::boxed::Box;
}

/// A value that can be written in OPC UA Binary (OPC 10000-6 §5.2).
pub trait Encode {
    /// Appends the value; the encoder keeps the first error.
    fn encode(&self, e: &mut Encoder<'_>);

    /// Appends the values without a length. Fixed-width types copy in bulk.
    fn encode_items(items: &[Self], e: &mut Encoder<'_>)
    where
        Self: Sized,
    {
        for item in items {
            item.encode(e);
        }
    }
}

/// A value that can be read from OPC UA Binary (OPC 10000-6 §5.2).
pub trait Decode: Default {
    /// The fewest bytes that an encoded value takes; 0 where unknown. Lengths of arrays are checked
    /// with it before anything is allocated.
    const MIN_SIZE: usize = 0;

    /// Whether a value holds no others, so that decoding it takes little stack whatever the input.
    const IS_LEAF: bool = false;

    /// Replaces `self` by the next value, reusing its capacity.
    fn decode_into(&mut self, d: &mut Decoder<'_>) -> Result<(), DecodeError>;

    /// Replaces the content of `items` by the next `len` values, reusing capacity and elements.
    /// `len` is one that [`Decoder::array_len`] gave.
    #[inline(always)]
    fn decode_items(items: &mut Vec<Self>, len: usize, d: &mut Decoder<'_>) -> Result<(), DecodeError> {
        d.elements_into(items, len)
    }

    /// Reads the next value.
    fn decode(d: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        let mut value = Self::default();
        value.decode_into(d)?;
        Ok(value)
    }
}
