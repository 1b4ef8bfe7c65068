//! Data types: kind, builtin type on the wire, fields over the whole chain, encodings
//! (OPC 10000-3 §5.8, OPC 10000-6 §5.2).

use super::types::well_known::{ENUMERATION, HAS_ENCODING, OPTION_SET, STRUCTURE, UNION};
use crate::resolved::{Definition, Field, Id, ModelSet, NodeClass, QName};

/// What a data type is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DataTypeKind {
    /// One of the 25 builtin types that is not abstract.
    Builtin,
    /// BaseDataType, Number, Integer, UInteger, Enumeration, Structure.
    Abstract,
    /// A structure.
    Structure,
    /// A union.
    Union,
    /// An enumeration.
    Enumeration,
    /// An option set below an unsigned integer.
    OptionSet,
    /// Any other subtype of a builtin type.
    Simple,
}

/// StructureType over all fields (OPC 10000-3 §8.49), with the two kinds of subtyped values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StructureType {
    /// Fields only.
    Structure,
    /// Some field is optional: an EncodingMask comes first.
    StructureWithOptionalFields,
    /// Exactly one field is present.
    Union,
    /// Some field allows subtypes.
    StructureWithSubtypedValues,
    /// A union in which some field allows subtypes.
    UnionWithSubtypedValues,
}

/// How one element of a field is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Wire {
    /// A builtin type by its number (OPC 10000-6 §5.1.2); 22 is an ExtensionObject, 24 a Variant.
    Builtin(u8),
    /// The structure's or union's own fields follow directly.
    Inline,
}

/// Encodings of a structure (OPC 10000-3 §5.8.4).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Encodings<'a> {
    /// Default Binary.
    pub binary: Option<&'a Id>,
    /// Default XML.
    pub xml: Option<&'a Id>,
    /// Default JSON.
    pub json: Option<&'a Id>,
    /// All of them, by browse name.
    pub all: Vec<(&'a QName, &'a Id)>,
}

const ABSTRACT: [u32; 6] = [22, 24, 26, 27, 28, 29];

/// Names of the builtin types by number (OPC 10000-6 §5.1.2), with those of the ids 26 to 29.
pub fn builtin_name(number: u8) -> &'static str {
    const NAMES: [&str; 26] = [
        "Null",
        "Boolean",
        "SByte",
        "Byte",
        "Int16",
        "UInt16",
        "Int32",
        "UInt32",
        "Int64",
        "UInt64",
        "Float",
        "Double",
        "String",
        "DateTime",
        "Guid",
        "ByteString",
        "XmlElement",
        "NodeId",
        "ExpandedNodeId",
        "StatusCode",
        "QualifiedName",
        "LocalizedText",
        "ExtensionObject",
        "DataValue",
        "Variant",
        "DiagnosticInfo",
    ];
    NAMES.get(usize::from(number)).copied().unwrap_or("")
}

impl ModelSet {
    /// What a data type is; `None` if the id is no data type of the set.
    pub fn kind_of_data_type(&self, id: &Id) -> Option<DataTypeKind> {
        let node = self.node(id).filter(|node| node.class == NodeClass::DataType)?;
        if let Some(number) = id.ns0_number() {
            if ABSTRACT.contains(&number) {
                return Some(DataTypeKind::Abstract);
            }
            if (1..=25).contains(&number) {
                return Some(DataTypeKind::Builtin);
            }
        }
        let chain = self.supertypes(id);
        if *id == UNION || chain.contains(&&UNION) {
            return Some(DataTypeKind::Union);
        }
        if chain.contains(&&STRUCTURE) {
            return Some(DataTypeKind::Structure);
        }
        if chain.contains(&&ENUMERATION) {
            return Some(DataTypeKind::Enumeration);
        }
        let unsigned = chain.iter().any(|base| matches!(base.ns0_number(), Some(3 | 5 | 7 | 9)));
        let has_bits = node.definition.as_ref().is_some_and(|definition| !definition.fields.is_empty());
        Some(if unsigned && has_bits { DataTypeKind::OptionSet } else { DataTypeKind::Simple })
    }

    /// The builtin type number that a value of this data type is transported as; 24 for BaseDataType and the
    /// abstract numbers, 22 for structures, 6 for enumerations.
    pub fn builtin_type(&self, id: &Id) -> u8 {
        let chain = std::iter::once(id).chain(self.supertypes(id));
        for base in chain {
            match base.ns0_number() {
                Some(29) => return 6,
                Some(24 | 26..=28) => return 24,
                Some(number @ 1..=25) => return number as u8,
                _ => {}
            }
        }
        24
    }

    /// The definition of a data type.
    pub fn definition(&self, id: &Id) -> Option<&Definition> {
        self.node(id)?.definition.as_ref()
    }

    /// True for a structure below OptionSet: its fields are bits, on the wire are Value and ValidBits.
    pub fn is_option_set_structure(&self, id: &Id) -> bool {
        *id != OPTION_SET && self.is_subtype_of(id, &OPTION_SET)
    }

    /// Own fields of a structure on the wire: bits of an option set structure are none.
    pub fn own_fields(&self, id: &Id) -> &[Field] {
        if self.is_option_set_structure(id) {
            return &[];
        }
        self.definition(id).map_or(&[], |definition| &definition.fields)
    }

    /// All fields of a structure in encoding order, inherited ones first, each with the type that declares it.
    pub fn all_fields(&self, id: &Id) -> Vec<(&Id, &Field)> {
        let mut chain = self.supertypes(id);
        chain.reverse();
        let mut fields = Vec::new();
        for base in chain {
            fields.extend(self.own_fields(base).iter().map(|field| (base, field)));
        }
        if let Some(node) = self.node(id) {
            fields.extend(self.own_fields(id).iter().map(|field| (&node.id, field)));
        }
        fields
    }

    /// StructureType over all fields; `None` if the id is no structure or union.
    pub fn structure_type(&self, id: &Id) -> Option<StructureType> {
        let kind = self.kind_of_data_type(id)?;
        let fields = self.all_fields(id);
        let subtyped = fields.iter().any(|(_, field)| field.allow_sub_types);
        match kind {
            DataTypeKind::Union if subtyped => Some(StructureType::UnionWithSubtypedValues),
            DataTypeKind::Union => Some(StructureType::Union),
            DataTypeKind::Structure => Some(if fields.iter().any(|(_, field)| field.is_optional) {
                StructureType::StructureWithOptionalFields
            } else if subtyped {
                StructureType::StructureWithSubtypedValues
            } else {
                StructureType::Structure
            }),
            _ => None,
        }
    }

    /// How one element of a field is encoded.
    pub fn wire(&self, field: &Field) -> Wire {
        match self.kind_of_data_type(&field.data_type) {
            Some(DataTypeKind::Structure | DataTypeKind::Union) => {
                let is_abstract = self.node(&field.data_type).is_some_and(|node| node.is_abstract);
                if is_abstract || field.allow_sub_types { Wire::Builtin(22) } else { Wire::Inline }
            }
            _ => Wire::Builtin(self.builtin_type(&field.data_type)),
        }
    }

    /// Encodings of a data type.
    pub fn encodings(&self, id: &Id) -> Encodings<'_> {
        let mut encodings = Encodings::default();
        for link in self.forward(id).iter().filter(|link| link.reference_type == HAS_ENCODING) {
            let Some(node) = self.node(&link.target) else {
                continue;
            };
            match &*node.browse_name.name {
                "Default Binary" => encodings.binary = Some(&link.target),
                "Default XML" => encodings.xml = Some(&link.target),
                "Default JSON" => encodings.json = Some(&link.target),
                _ => {}
            }
            encodings.all.push((&node.browse_name, &link.target));
        }
        encodings
    }

    /// The data type that an encoding object belongs to.
    pub fn data_type_of_encoding(&self, encoding: &Id) -> Option<&Id> {
        self.inverse(encoding)
            .iter()
            .find(|link| link.reference_type == HAS_ENCODING)
            .map(|link| &link.target)
    }
}
