//! Static descriptions of data types: what JSON, XML, DataTypeDefinition and run-time types walk (D3).

use crate::ConstIdentifier;

/// An id that does not depend on a namespace table: URI and identifier (OPC 10000-3 §8.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TypeKey {
    /// The namespace URI.
    pub namespace: &'static str,
    /// The identifier.
    pub id: ConstIdentifier,
}

/// How a structure is laid out (OPC 10000-3 §8.49, StructureType).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StructureKind {
    /// All fields, in order.
    Plain,
    /// A mask first, then the fields that are present.
    OptionalFields,
    /// A switch value, then one field.
    Union,
    /// All fields; some may hold subtypes.
    SubtypedValues,
    /// A switch value, then one field, which may hold a subtype.
    UnionSubtypedValues,
}

/// A structure or union (OPC 10000-3 §8.48).
#[derive(Debug)]
pub struct StructureDescriptor {
    /// Exact name of the DataType.
    pub name: &'static str,
    /// Id of the DataType.
    pub data_type: TypeKey,
    /// Id of its Default Binary encoding.
    pub binary_encoding: Option<TypeKey>,
    /// Id of its Default XML encoding.
    pub xml_encoding: Option<TypeKey>,
    /// Id of its Default JSON encoding.
    pub json_encoding: Option<TypeKey>,
    /// Layout.
    pub kind: StructureKind,
    /// All fields in encoding order, inherited ones first.
    pub fields: &'static [FieldDescriptor],
    /// How many of them are inherited.
    pub inherited: usize,
    /// The structures that it derives from, nearest first, without Structure itself.
    pub supertypes: &'static [TypeKey],
}

impl StructureDescriptor {
    /// Whether the structure is `data_type` or derives from it.
    #[must_use]
    pub fn is_subtype_of(&self, data_type: &TypeKey) -> bool {
        self.data_type == *data_type || self.supertypes.contains(data_type)
    }

    /// The number of its Default Binary encoding, as it stands before the body of a message
    /// (OPC 10000-6 §6.7.2); 0 if it has none or one that is no number, as no structure of a message does.
    #[must_use]
    pub const fn binary_id(&self) -> u32 {
        match self.binary_encoding {
            Some(TypeKey { id: ConstIdentifier::Numeric(id), .. }) => id,
            _ => 0,
        }
    }
}

/// A field of a structure (OPC 10000-3 §8.51).
#[derive(Debug)]
pub struct FieldDescriptor {
    /// Exact name.
    pub name: &'static str,
    /// Id of its DataType.
    pub data_type: TypeKey,
    /// How one element is encoded.
    pub ty: FieldType,
    /// ValueRank: −1 scalar, 1 array, 2 and more matrices.
    pub value_rank: i32,
    /// Whether it may be absent.
    pub optional: bool,
    /// Whether subtypes are allowed, so that a structure is an ExtensionObject.
    pub allow_sub_types: bool,
    /// Most characters of a String or bytes of a ByteString; 0 for no limit.
    pub max_string_length: u32,
    /// Most elements by dimension; 0 for no limit.
    pub array_dimensions: &'static [u32],
}

/// How one element of a field is encoded (OPC 10000-6 §5.2.6).
#[derive(Clone, Copy, Debug)]
pub enum FieldType {
    /// As a builtin type; abstract structures are ExtensionObject, abstract numbers Variant.
    Builtin(BuiltinType),
    /// The fields of a structure, in place. A function, as types may contain themselves.
    Structure(fn() -> &'static StructureDescriptor),
    /// An Int32.
    Enumeration(&'static EnumerationDescriptor),
    /// An unsigned integer of bits.
    OptionSet(&'static EnumerationDescriptor),
}

/// An enumeration, or the bits of an option set (OPC 10000-3 §8.50).
#[derive(Debug)]
pub struct EnumerationDescriptor {
    /// Exact name of the DataType.
    pub name: &'static str,
    /// Id of the DataType.
    pub data_type: TypeKey,
    /// The unsigned integer of an option set; `None` for an enumeration.
    pub option_set: Option<BuiltinType>,
    /// Members by value, or bits by number.
    pub values: &'static [EnumValue],
}

/// A member of an enumeration or a bit of an option set (OPC 10000-3 §8.52).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EnumValue {
    /// Exact name.
    pub name: &'static str,
    /// Value, or bit number.
    pub value: i64,
}

/// The builtin types with their numbers (OPC 10000-6 §5.1.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[expect(missing_docs, reason = "the names of the specification")]
pub enum BuiltinType {
    Boolean = 1,
    SByte = 2,
    Byte = 3,
    Int16 = 4,
    UInt16 = 5,
    Int32 = 6,
    UInt32 = 7,
    Int64 = 8,
    UInt64 = 9,
    Float = 10,
    Double = 11,
    String = 12,
    DateTime = 13,
    Guid = 14,
    ByteString = 15,
    XmlElement = 16,
    NodeId = 17,
    ExpandedNodeId = 18,
    StatusCode = 19,
    QualifiedName = 20,
    LocalizedText = 21,
    ExtensionObject = 22,
    DataValue = 23,
    Variant = 24,
    DiagnosticInfo = 25,
}

impl BuiltinType {
    /// All of them, by number.
    pub const ALL: [Self; 25] = [
        Self::Boolean,
        Self::SByte,
        Self::Byte,
        Self::Int16,
        Self::UInt16,
        Self::Int32,
        Self::UInt32,
        Self::Int64,
        Self::UInt64,
        Self::Float,
        Self::Double,
        Self::String,
        Self::DateTime,
        Self::Guid,
        Self::ByteString,
        Self::XmlElement,
        Self::NodeId,
        Self::ExpandedNodeId,
        Self::StatusCode,
        Self::QualifiedName,
        Self::LocalizedText,
        Self::ExtensionObject,
        Self::DataValue,
        Self::Variant,
        Self::DiagnosticInfo,
    ];

    /// The type with this number (OPC 10000-6 §5.1.2).
    #[inline]
    #[must_use]
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number.checked_sub(1)?)).copied()
    }
}
