//! One view of a data type, whether compiled in or learnt from a server: what JSON, XML and dynamic
//! values walk.

use alloc::sync::Arc;

use crate::runtime_types::{RuntimeElement, RuntimeEnumeration, RuntimeField, RuntimeStructure};
use crate::{
    BuiltinType, EnumerationDescriptor, FieldDescriptor, FieldType, NodeId, RuntimeTypes,
    StructureDescriptor, StructureKind, TypeKey,
};

/// A structure or union (OPC 10000-3 §8.48).
#[derive(Clone, Copy, Debug)]
pub enum StructureType<'a> {
    /// Compiled in.
    Static(&'static StructureDescriptor),
    /// Known by its DataTypeDefinition alone.
    Runtime(&'a Arc<RuntimeTypes>, &'a RuntimeStructure),
}

impl<'a> StructureType<'a> {
    /// Exact name of the DataType.
    #[must_use]
    pub fn name(self) -> &'a str {
        match self {
            Self::Static(descriptor) => descriptor.name,
            Self::Runtime(_, structure) => &structure.name,
        }
    }

    /// Namespace URI of the DataType.
    #[must_use]
    pub fn namespace(self) -> &'a str {
        match self {
            Self::Static(descriptor) => descriptor.data_type.namespace,
            Self::Runtime(_, structure) => &structure.data_type.0,
        }
    }

    /// Id of the DataType; the namespace index in it does not count.
    #[must_use]
    pub fn data_type(self) -> NodeId {
        match self {
            Self::Static(descriptor) => owned(&descriptor.data_type).1,
            Self::Runtime(_, structure) => structure.data_type.1.clone(),
        }
    }

    /// Namespace URI and id of the Default Binary encoding; `None` if it has none.
    #[must_use]
    pub fn binary_encoding(self) -> Option<(&'a str, NodeId)> {
        match self {
            Self::Static(descriptor) => descriptor.binary_encoding.as_ref().map(owned),
            Self::Runtime(_, structure) => {
                structure.binary_encoding.as_ref().map(|(uri, id)| (&**uri, id.clone()))
            }
        }
    }

    /// Namespace URI and id of the Default XML encoding; `None` if it has none or is not known.
    #[must_use]
    pub fn xml_encoding(self) -> Option<(&'a str, NodeId)> {
        match self {
            Self::Static(descriptor) => descriptor.xml_encoding.as_ref().map(owned),
            Self::Runtime(..) => None,
        }
    }

    /// Layout.
    #[must_use]
    pub fn kind(self) -> StructureKind {
        match self {
            Self::Static(descriptor) => descriptor.kind,
            Self::Runtime(_, structure) => structure.kind,
        }
    }

    /// Number of fields, inherited ones included.
    #[must_use]
    pub fn field_count(self) -> usize {
        match self {
            Self::Static(descriptor) => descriptor.fields.len(),
            Self::Runtime(_, structure) => structure.fields.len(),
        }
    }

    /// A field by its position.
    #[must_use]
    pub fn field(self, index: usize) -> Option<StructureFieldType<'a>> {
        match self {
            Self::Static(descriptor) => descriptor.fields.get(index).map(StructureFieldType::of_static),
            Self::Runtime(types, structure) => {
                structure.fields.get(index).map(|field| StructureFieldType::of_runtime(types, field))
            }
        }
    }

    /// All fields in encoding order.
    pub fn fields(self) -> impl Iterator<Item = StructureFieldType<'a>> {
        (0..self.field_count()).filter_map(move |index| self.field(index))
    }

    pub(crate) fn is_union(self) -> bool {
        matches!(self.kind(), StructureKind::Union | StructureKind::UnionSubtypedValues)
    }
}

fn owned(key: &TypeKey) -> (&'static str, NodeId) {
    (key.namespace, key.id.in_namespace(0).to_owned())
}

/// A field of a structure (OPC 10000-3 §8.51).
#[derive(Clone, Copy, Debug)]
pub struct StructureFieldType<'a> {
    /// Exact name.
    pub name: &'a str,
    /// How one element is encoded.
    pub element: ElementType<'a>,
    /// ValueRank: 1 array, 2 and more matrices, else scalar.
    pub value_rank: i32,
    /// Whether it may be absent.
    pub optional: bool,
}

impl<'a> StructureFieldType<'a> {
    fn of_static(field: &'static FieldDescriptor) -> Self {
        let element = ElementType::of_static(&field.ty);
        Self { name: field.name, element, value_rank: field.value_rank, optional: field.optional }
    }

    fn of_runtime(types: &'a Arc<RuntimeTypes>, field: &'a RuntimeField) -> Self {
        let element = match &field.element {
            RuntimeElement::Builtin(ty) => ElementType::Builtin(*ty),
            RuntimeElement::Compiled(ty) => ElementType::Structure(StructureType::Static(ty)),
            RuntimeElement::Structure(index) => match types.structure_at(*index) {
                Some(structure) => ElementType::Structure(StructureType::Runtime(types, structure)),
                None => ElementType::Builtin(BuiltinType::ExtensionObject),
            },
            RuntimeElement::Enumeration(index) => match types.enumeration_at(*index) {
                Some(enumeration) => ElementType::Enumeration(EnumerationType::Runtime(enumeration)),
                None => ElementType::Builtin(BuiltinType::Int32),
            },
        };
        Self { name: &field.name, element, value_rank: field.value_rank, optional: field.optional }
    }
}

/// How one element of a field is encoded (OPC 10000-6 §5.2.6).
#[derive(Clone, Copy, Debug)]
pub enum ElementType<'a> {
    /// As a builtin type.
    Builtin(BuiltinType),
    /// The fields of a structure, in place.
    Structure(StructureType<'a>),
    /// An Int32, or the unsigned integer of an option set.
    Enumeration(EnumerationType<'a>),
}

impl ElementType<'_> {
    pub(crate) fn of_static(ty: &FieldType) -> Self {
        match *ty {
            FieldType::Builtin(builtin) => Self::Builtin(builtin),
            FieldType::Structure(descriptor) => Self::Structure(StructureType::Static(descriptor())),
            FieldType::Enumeration(descriptor) | FieldType::OptionSet(descriptor) => {
                Self::Enumeration(EnumerationType::Static(descriptor))
            }
        }
    }

    /// The fewest bytes of an element in binary.
    pub(crate) fn min_size(self) -> usize {
        match self {
            Self::Builtin(builtin) => builtin_min_size(builtin),
            // Without looking into it: one without fields takes nothing.
            Self::Structure(_) => 0,
            Self::Enumeration(enumeration) => builtin_min_size(enumeration.base()),
        }
    }
}

fn builtin_min_size(builtin: BuiltinType) -> usize {
    match builtin {
        BuiltinType::Int16 | BuiltinType::UInt16 | BuiltinType::NodeId | BuiltinType::ExpandedNodeId => 2,
        BuiltinType::ExtensionObject => 3,
        BuiltinType::Int32
        | BuiltinType::UInt32
        | BuiltinType::Float
        | BuiltinType::String
        | BuiltinType::ByteString
        | BuiltinType::XmlElement
        | BuiltinType::StatusCode => 4,
        BuiltinType::QualifiedName => 6,
        BuiltinType::Int64 | BuiltinType::UInt64 | BuiltinType::Double | BuiltinType::DateTime => 8,
        BuiltinType::Guid => 16,
        _ => 1,
    }
}

/// An enumeration or option set (OPC 10000-3 §8.50).
#[derive(Clone, Copy, Debug)]
pub enum EnumerationType<'a> {
    /// Compiled in.
    Static(&'static EnumerationDescriptor),
    /// Known by its DataTypeDefinition alone.
    Runtime(&'a RuntimeEnumeration),
}

impl<'a> EnumerationType<'a> {
    /// Exact name of the DataType.
    #[must_use]
    pub fn name(self) -> &'a str {
        match self {
            Self::Static(descriptor) => descriptor.name,
            Self::Runtime(enumeration) => &enumeration.name,
        }
    }

    /// What it is encoded as: Int32, or the unsigned integer of an option set.
    #[must_use]
    pub fn base(self) -> BuiltinType {
        let option_set = match self {
            Self::Static(descriptor) => descriptor.option_set,
            Self::Runtime(enumeration) => enumeration.option_set,
        };
        option_set.unwrap_or(BuiltinType::Int32)
    }

    /// Whether it is an option set: the values of its members are numbers of bits.
    #[must_use]
    pub fn is_option_set(self) -> bool {
        match self {
            Self::Static(descriptor) => descriptor.option_set.is_some(),
            Self::Runtime(enumeration) => enumeration.option_set.is_some(),
        }
    }

    /// The name of a value; `None` for an unknown one.
    #[must_use]
    pub fn name_of(self, value: i64) -> Option<&'a str> {
        match self {
            Self::Static(descriptor) => {
                descriptor.values.iter().find(|member| member.value == value).map(|member| member.name)
            }
            Self::Runtime(enumeration) => {
                enumeration.values.iter().find(|(_, known)| *known == value).map(|(name, _)| &**name)
            }
        }
    }

    /// The value of a name.
    #[must_use]
    pub fn value_of(self, name: &str) -> Option<i64> {
        match self {
            Self::Static(descriptor) => {
                descriptor.values.iter().find(|member| member.name == name).map(|member| member.value)
            }
            Self::Runtime(enumeration) => {
                enumeration.values.iter().find(|(known, _)| **known == *name).map(|(_, value)| *value)
            }
        }
    }
}
