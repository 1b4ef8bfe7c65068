//! Variant: a value of any builtin type, an array or a matrix of them (OPC 10000-6 §5.1.9).

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use crate::array::product;
use crate::debug::Inner;
use crate::{
    Array, BuiltinType, ByteString, DataValue, DateTime, DiagnosticInfo, ExpandedNodeId, ExtensionObject,
    Guid, LocalizedText, NodeId, QualifiedName, StatusCode, UaString, XmlElement,
};

/// A value of any builtin type. 24 bytes; cloning copies at most a counter (OPC 10000-6 §5.2.2.16).
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "the names of the specification")]
pub enum Variant {
    /// No value.
    #[default]
    Null,
    Boolean(bool),
    SByte(i8),
    Byte(u8),
    Int16(i16),
    UInt16(u16),
    Int32(i32),
    UInt32(u32),
    Int64(i64),
    UInt64(u64),
    Float(f32),
    Double(f64),
    String(UaString),
    DateTime(DateTime),
    Guid(Guid),
    ByteString(ByteString),
    XmlElement(XmlElement),
    NodeId(NodeId),
    ExpandedNodeId(Arc<ExpandedNodeId>),
    StatusCode(StatusCode),
    QualifiedName(Arc<QualifiedName>),
    LocalizedText(Arc<LocalizedText>),
    ExtensionObject(Arc<ExtensionObject>),
    DataValue(Arc<DataValue>),
    DiagnosticInfo(Arc<DiagnosticInfo>),
    /// A one-dimensional array.
    Array(Arc<VariantArray>),
    /// An array with two or more dimensions.
    Matrix(Arc<VariantMatrix>),
}

const _: () = assert!(size_of::<Variant>() == 24);

/// A one-dimensional array of one builtin type (OPC 10000-6 §5.2.2.16).
#[derive(Clone, PartialEq)]
#[expect(missing_docs, reason = "the names of the specification")]
pub enum VariantArray {
    Boolean(Array<bool>),
    SByte(Array<i8>),
    Byte(Array<u8>),
    Int16(Array<i16>),
    UInt16(Array<u16>),
    Int32(Array<i32>),
    UInt32(Array<u32>),
    Int64(Array<i64>),
    UInt64(Array<u64>),
    Float(Array<f32>),
    Double(Array<f64>),
    String(Array<UaString>),
    DateTime(Array<DateTime>),
    Guid(Array<Guid>),
    ByteString(Array<ByteString>),
    XmlElement(Array<XmlElement>),
    NodeId(Array<NodeId>),
    ExpandedNodeId(Array<ExpandedNodeId>),
    StatusCode(Array<StatusCode>),
    QualifiedName(Array<QualifiedName>),
    LocalizedText(Array<LocalizedText>),
    ExtensionObject(Array<ExtensionObject>),
    DataValue(Array<DataValue>),
    Variant(Array<Variant>),
    DiagnosticInfo(Array<DiagnosticInfo>),
}

/// Calls `$body` with `$items` bound to the array of whatever type.
macro_rules! with_items {
    ($array:expr, $items:ident => $body:expr) => {
        match $array {
            $crate::VariantArray::Boolean($items) => $body,
            $crate::VariantArray::SByte($items) => $body,
            $crate::VariantArray::Byte($items) => $body,
            $crate::VariantArray::Int16($items) => $body,
            $crate::VariantArray::UInt16($items) => $body,
            $crate::VariantArray::Int32($items) => $body,
            $crate::VariantArray::UInt32($items) => $body,
            $crate::VariantArray::Int64($items) => $body,
            $crate::VariantArray::UInt64($items) => $body,
            $crate::VariantArray::Float($items) => $body,
            $crate::VariantArray::Double($items) => $body,
            $crate::VariantArray::String($items) => $body,
            $crate::VariantArray::DateTime($items) => $body,
            $crate::VariantArray::Guid($items) => $body,
            $crate::VariantArray::ByteString($items) => $body,
            $crate::VariantArray::XmlElement($items) => $body,
            $crate::VariantArray::NodeId($items) => $body,
            $crate::VariantArray::ExpandedNodeId($items) => $body,
            $crate::VariantArray::StatusCode($items) => $body,
            $crate::VariantArray::QualifiedName($items) => $body,
            $crate::VariantArray::LocalizedText($items) => $body,
            $crate::VariantArray::ExtensionObject($items) => $body,
            $crate::VariantArray::DataValue($items) => $body,
            $crate::VariantArray::Variant($items) => $body,
            $crate::VariantArray::DiagnosticInfo($items) => $body,
        }
    };
}
pub(crate) use with_items;

impl VariantArray {
    /// Number of elements; 0 for a null array.
    #[must_use]
    pub fn len(&self) -> usize {
        with_items!(self, items => items.len())
    }

    /// Whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether this is the null array.
    #[must_use]
    pub fn is_null(&self) -> bool {
        with_items!(self, items => items.is_null())
    }

    /// The type of the elements.
    #[must_use]
    pub fn builtin_type(&self) -> BuiltinType {
        match self {
            Self::Boolean(_) => BuiltinType::Boolean,
            Self::SByte(_) => BuiltinType::SByte,
            Self::Byte(_) => BuiltinType::Byte,
            Self::Int16(_) => BuiltinType::Int16,
            Self::UInt16(_) => BuiltinType::UInt16,
            Self::Int32(_) => BuiltinType::Int32,
            Self::UInt32(_) => BuiltinType::UInt32,
            Self::Int64(_) => BuiltinType::Int64,
            Self::UInt64(_) => BuiltinType::UInt64,
            Self::Float(_) => BuiltinType::Float,
            Self::Double(_) => BuiltinType::Double,
            Self::String(_) => BuiltinType::String,
            Self::DateTime(_) => BuiltinType::DateTime,
            Self::Guid(_) => BuiltinType::Guid,
            Self::ByteString(_) => BuiltinType::ByteString,
            Self::XmlElement(_) => BuiltinType::XmlElement,
            Self::NodeId(_) => BuiltinType::NodeId,
            Self::ExpandedNodeId(_) => BuiltinType::ExpandedNodeId,
            Self::StatusCode(_) => BuiltinType::StatusCode,
            Self::QualifiedName(_) => BuiltinType::QualifiedName,
            Self::LocalizedText(_) => BuiltinType::LocalizedText,
            Self::ExtensionObject(_) => BuiltinType::ExtensionObject,
            Self::DataValue(_) => BuiltinType::DataValue,
            Self::Variant(_) => BuiltinType::Variant,
            Self::DiagnosticInfo(_) => BuiltinType::DiagnosticInfo,
        }
    }
}

impl VariantArray {
    /// The null array of a type.
    #[must_use]
    pub fn null(builtin: BuiltinType) -> Self {
        match builtin {
            BuiltinType::Boolean => Self::Boolean(Array::NULL),
            BuiltinType::SByte => Self::SByte(Array::NULL),
            BuiltinType::Byte => Self::Byte(Array::NULL),
            BuiltinType::Int16 => Self::Int16(Array::NULL),
            BuiltinType::UInt16 => Self::UInt16(Array::NULL),
            BuiltinType::Int32 => Self::Int32(Array::NULL),
            BuiltinType::UInt32 => Self::UInt32(Array::NULL),
            BuiltinType::Int64 => Self::Int64(Array::NULL),
            BuiltinType::UInt64 => Self::UInt64(Array::NULL),
            BuiltinType::Float => Self::Float(Array::NULL),
            BuiltinType::Double => Self::Double(Array::NULL),
            BuiltinType::String => Self::String(Array::NULL),
            BuiltinType::DateTime => Self::DateTime(Array::NULL),
            BuiltinType::Guid => Self::Guid(Array::NULL),
            BuiltinType::ByteString => Self::ByteString(Array::NULL),
            BuiltinType::XmlElement => Self::XmlElement(Array::NULL),
            BuiltinType::NodeId => Self::NodeId(Array::NULL),
            BuiltinType::ExpandedNodeId => Self::ExpandedNodeId(Array::NULL),
            BuiltinType::StatusCode => Self::StatusCode(Array::NULL),
            BuiltinType::QualifiedName => Self::QualifiedName(Array::NULL),
            BuiltinType::LocalizedText => Self::LocalizedText(Array::NULL),
            BuiltinType::ExtensionObject => Self::ExtensionObject(Array::NULL),
            BuiltinType::DataValue => Self::DataValue(Array::NULL),
            BuiltinType::Variant => Self::Variant(Array::NULL),
            BuiltinType::DiagnosticInfo => Self::DiagnosticInfo(Array::NULL),
        }
    }
}

impl fmt::Debug for VariantArray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}(", self.builtin_type())?;
        with_items!(self, items => Inner(items).fmt(f))?;
        f.write_str(")")
    }
}

impl Default for VariantArray {
    /// A null array of Boolean.
    fn default() -> Self {
        Self::null(BuiltinType::Boolean)
    }
}

/// An array with dimensions, the last one fastest (OPC 10000-6 §5.2.2.16).
#[derive(Clone, Debug, PartialEq)]
pub struct VariantMatrix {
    dimensions: Vec<u32>,
    elements: VariantArray,
}

impl VariantMatrix {
    /// A matrix; `None` unless the product of the dimensions is the number of elements.
    #[must_use]
    pub fn new(dimensions: Vec<u32>, elements: VariantArray) -> Option<Self> {
        (product(&dimensions) == Some(elements.len())).then_some(Self { dimensions, elements })
    }

    /// Lengths of the dimensions.
    #[must_use]
    pub fn dimensions(&self) -> &[u32] {
        &self.dimensions
    }

    /// The elements.
    #[must_use]
    pub const fn elements(&self) -> &VariantArray {
        &self.elements
    }

    /// The elements, to be replaced by as many.
    pub(crate) const fn elements_mut(&mut self) -> &mut VariantArray {
        &mut self.elements
    }
}

impl Variant {
    /// Whether there is no value.
    #[must_use]
    pub const fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// The builtin type of the value or of its elements; `None` for no value.
    #[must_use]
    pub fn builtin_type(&self) -> Option<BuiltinType> {
        Some(match self {
            Self::Null => return None,
            Self::Boolean(_) => BuiltinType::Boolean,
            Self::SByte(_) => BuiltinType::SByte,
            Self::Byte(_) => BuiltinType::Byte,
            Self::Int16(_) => BuiltinType::Int16,
            Self::UInt16(_) => BuiltinType::UInt16,
            Self::Int32(_) => BuiltinType::Int32,
            Self::UInt32(_) => BuiltinType::UInt32,
            Self::Int64(_) => BuiltinType::Int64,
            Self::UInt64(_) => BuiltinType::UInt64,
            Self::Float(_) => BuiltinType::Float,
            Self::Double(_) => BuiltinType::Double,
            Self::String(_) => BuiltinType::String,
            Self::DateTime(_) => BuiltinType::DateTime,
            Self::Guid(_) => BuiltinType::Guid,
            Self::ByteString(_) => BuiltinType::ByteString,
            Self::XmlElement(_) => BuiltinType::XmlElement,
            Self::NodeId(_) => BuiltinType::NodeId,
            Self::ExpandedNodeId(_) => BuiltinType::ExpandedNodeId,
            Self::StatusCode(_) => BuiltinType::StatusCode,
            Self::QualifiedName(_) => BuiltinType::QualifiedName,
            Self::LocalizedText(_) => BuiltinType::LocalizedText,
            Self::ExtensionObject(_) => BuiltinType::ExtensionObject,
            Self::DataValue(_) => BuiltinType::DataValue,
            Self::DiagnosticInfo(_) => BuiltinType::DiagnosticInfo,
            Self::Array(array) => array.builtin_type(),
            Self::Matrix(matrix) => matrix.elements.builtin_type(),
        })
    }

    /// Whether the value is an array or a matrix.
    #[must_use]
    pub const fn is_array(&self) -> bool {
        matches!(self, Self::Array(_) | Self::Matrix(_))
    }
}

impl From<VariantArray> for Variant {
    fn from(array: VariantArray) -> Self {
        Self::Array(Arc::new(array))
    }
}

impl From<VariantMatrix> for Variant {
    fn from(matrix: VariantMatrix) -> Self {
        Self::Matrix(Arc::new(matrix))
    }
}
