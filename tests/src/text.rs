//! Values of any type between binary, JSON and XML, by their types' descriptors.

use uaforge_codec::json::{self, JsonEncoding};
use uaforge_codec::{
    BuiltinType, ByteString, DataValue, DateTime, Decode, DecodeContext, Decoder, Described, DiagnosticInfo,
    Encode, ExpandedNodeId, ExtensionObject, Guid, LocalizedText, NodeId, QualifiedName, StatusCode,
    StructureDescriptor, StructureType, TextError, UaString, Variant, XmlElement, xml,
};
use uaforge_types::{MessageSecurityMode, NodeClass};

use crate::notation::{encoded, number_of};

/// A type whose values go between binary and text.
#[derive(Clone, Copy, Debug)]
pub enum TextType {
    /// Through its Rust type.
    Typed(Functions),
    /// A structure by its descriptor alone.
    Structure(&'static StructureDescriptor),
}

/// What a Rust type does.
#[derive(Clone, Copy, Debug)]
pub struct Functions {
    to_json: fn(&[u8], JsonEncoding, DecodeContext<'_>) -> Result<String, TextError>,
    from_json: fn(&str, DecodeContext<'_>) -> Result<Vec<u8>, TextError>,
    to_xml: fn(&[u8], DecodeContext<'_>) -> Result<String, TextError>,
    from_xml: fn(&str, DecodeContext<'_>) -> Result<Vec<u8>, TextError>,
}

fn value<T: Decode>(bytes: &[u8], cx: DecodeContext<'_>) -> Result<T, TextError> {
    let mut d = Decoder::new(bytes, cx);
    let value = T::decode(&mut d)?;
    d.finish()?;
    Ok(value)
}

/// The text functions of a Rust type.
#[must_use]
pub fn typed<T: Described + Decode + Encode>() -> TextType {
    TextType::Typed(Functions {
        to_json: |bytes, encoding, cx| json::to_string(&value::<T>(bytes, cx)?, encoding, cx),
        from_json: |text, cx| json::from_str::<T>(text, cx).map(|value| encoded(&value)),
        to_xml: |bytes, cx| xml::to_string(&value::<T>(bytes, cx)?, cx),
        from_xml: |text, cx| xml::from_str::<T>(text, cx).map(|value| encoded(&value)),
    })
}

impl TextType {
    /// The type with a name of the vectors.
    ///
    /// # Panics
    /// There is none.
    #[must_use]
    pub fn named(name: &str, cx: DecodeContext<'_>) -> Self {
        if let Some(builtin) = number_of(name) {
            return Self::builtin(builtin);
        }
        match name {
            "NodeClass" => typed::<NodeClass>(),
            "MessageSecurityMode" => typed::<MessageSecurityMode>(),
            _ => {
                let found = cx.types.descriptors().find(|descriptor| descriptor.name == name);
                Self::Structure(found.unwrap_or_else(|| panic!("{name} is not known")))
            }
        }
    }

    /// A builtin type.
    #[must_use]
    pub fn builtin(builtin: BuiltinType) -> Self {
        match builtin {
            BuiltinType::Boolean => typed::<bool>(),
            BuiltinType::SByte => typed::<i8>(),
            BuiltinType::Byte => typed::<u8>(),
            BuiltinType::Int16 => typed::<i16>(),
            BuiltinType::UInt16 => typed::<u16>(),
            BuiltinType::Int32 => typed::<i32>(),
            BuiltinType::UInt32 => typed::<u32>(),
            BuiltinType::Int64 => typed::<i64>(),
            BuiltinType::UInt64 => typed::<u64>(),
            BuiltinType::Float => typed::<f32>(),
            BuiltinType::Double => typed::<f64>(),
            BuiltinType::String => typed::<UaString>(),
            BuiltinType::DateTime => typed::<DateTime>(),
            BuiltinType::Guid => typed::<Guid>(),
            BuiltinType::ByteString => typed::<ByteString>(),
            BuiltinType::XmlElement => typed::<XmlElement>(),
            BuiltinType::NodeId => typed::<NodeId>(),
            BuiltinType::ExpandedNodeId => typed::<ExpandedNodeId>(),
            BuiltinType::StatusCode => typed::<StatusCode>(),
            BuiltinType::QualifiedName => typed::<QualifiedName>(),
            BuiltinType::LocalizedText => typed::<LocalizedText>(),
            BuiltinType::ExtensionObject => typed::<ExtensionObject>(),
            BuiltinType::DataValue => typed::<DataValue>(),
            BuiltinType::Variant => typed::<Variant>(),
            BuiltinType::DiagnosticInfo => typed::<DiagnosticInfo>(),
        }
    }

    /// Binary to JSON.
    ///
    /// # Errors
    /// The bytes are not of the type.
    pub fn to_json(
        &self,
        bytes: &[u8],
        encoding: JsonEncoding,
        cx: DecodeContext<'_>,
    ) -> Result<String, TextError> {
        match self {
            Self::Typed(functions) => (functions.to_json)(bytes, encoding, cx),
            Self::Structure(ty) => json::structure_to_string(StructureType::Static(ty), bytes, encoding, cx),
        }
    }

    /// JSON to binary.
    ///
    /// # Errors
    /// The text is not of the type.
    pub fn from_json(&self, text: &str, cx: DecodeContext<'_>) -> Result<Vec<u8>, TextError> {
        match self {
            Self::Typed(functions) => (functions.from_json)(text, cx),
            Self::Structure(ty) => json::structure_from_str(StructureType::Static(ty), text, cx),
        }
    }

    /// Binary to XML.
    ///
    /// # Errors
    /// The bytes are not of the type, or hold what XML cannot.
    pub fn to_xml(&self, bytes: &[u8], cx: DecodeContext<'_>) -> Result<String, TextError> {
        match self {
            Self::Typed(functions) => (functions.to_xml)(bytes, cx),
            Self::Structure(ty) => xml::structure_to_string(StructureType::Static(ty), bytes, cx),
        }
    }

    /// XML to binary.
    ///
    /// # Errors
    /// The text is not of the type.
    pub fn from_xml(&self, text: &str, cx: DecodeContext<'_>) -> Result<Vec<u8>, TextError> {
        match self {
            Self::Typed(functions) => (functions.from_xml)(text, cx),
            Self::Structure(ty) => xml::structure_from_str(StructureType::Static(ty), text, cx),
        }
    }
}
