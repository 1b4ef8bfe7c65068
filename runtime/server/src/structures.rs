//! DataType nodes of Rust types: what other clients need to read the structures of the application
//! (OPC 10000-3 §5.8.3, §5.8.4).

use std::sync::Arc;

use uaforge_codec::{
    Array, EnumerationDescriptor, ExtensionObject, FieldDescriptor, FieldType, IntoVariant as _,
    LocalizedText, NamespaceMap, NodeId, QualifiedName, StatusCode, StructureDescriptor, StructureKind,
    TypeKey, UaString, Variant,
};
use uaforge_nodes::typed::resolve_key;
use uaforge_nodes::{ClassAttributes, Edit, NewNode, ValueCell, VariableAttributes};
use uaforge_types::{
    EnumDefinition, EnumField, EnumValueType, StructureDefinition, StructureField, StructureType, status,
};

/// Numbers of the base model.
const STRUCTURE: NodeId = NodeId::numeric(0, 22);
const ENUMERATION: NodeId = NodeId::numeric(0, 29);
const HAS_ENCODING: NodeId = NodeId::numeric(0, 38);
const HAS_TYPE_DEFINITION: NodeId = NodeId::numeric(0, 40);
const HAS_SUBTYPE: NodeId = NodeId::numeric(0, 45);
const HAS_PROPERTY: NodeId = NodeId::numeric(0, 46);
const PROPERTY_TYPE: NodeId = NodeId::numeric(0, 68);
const DATA_TYPE_ENCODING_TYPE: NodeId = NodeId::numeric(0, 76);

/// The namespaces that a structure and the types of its fields need.
pub(crate) fn namespaces(descriptor: &'static StructureDescriptor) -> Vec<&'static str> {
    let mut found = Vec::new();
    for descriptor in with_parts(descriptor) {
        found.extend(keys(descriptor).map(|key| key.namespace));
    }
    found.dedup();
    found
}

/// A structure and those in its fields, each once.
fn with_parts(descriptor: &'static StructureDescriptor) -> Vec<&'static StructureDescriptor> {
    let mut found: Vec<&'static StructureDescriptor> = vec![descriptor];
    let mut next = 0;
    while let Some(descriptor) = found.get(next) {
        for field in descriptor.fields {
            if let FieldType::Structure(part) = field.ty
                && !found.iter().any(|known| known.data_type == part().data_type)
            {
                found.push(part());
            }
        }
        next += 1;
    }
    found
}

fn keys(descriptor: &'static StructureDescriptor) -> impl Iterator<Item = TypeKey> {
    let encodings = [descriptor.binary_encoding, descriptor.xml_encoding, descriptor.json_encoding];
    let fields = descriptor.fields.iter().map(|field| field.data_type);
    let own = core::iter::once(descriptor.data_type).chain(encodings.into_iter().flatten());
    own.chain(descriptor.supertypes.iter().copied()).chain(fields)
}

/// Adds the DataType nodes of a structure and of the types of its fields, with definitions and encodings.
/// What is there already stays as it is.
pub(crate) fn add(edit: &mut Edit, descriptor: &'static StructureDescriptor) -> Result<(), StatusCode> {
    let parts = with_parts(descriptor);
    for descriptor in &parts {
        for field in descriptor.fields {
            if let FieldType::Enumeration(part) | FieldType::OptionSet(part) = field.ty {
                add_enumeration(edit, part)?;
            }
        }
    }
    // A structure stands below its supertype, which may be among the others.
    let mut left = parts;
    while !left.is_empty() {
        let before = left.len();
        let mut waiting = Vec::new();
        for descriptor in left {
            if !add_structure(edit, descriptor)? {
                waiting.push(descriptor);
            }
        }
        if waiting.len() == before {
            return Err(status::BAD_PARENT_NODE_ID_INVALID);
        }
        left = waiting;
    }
    Ok(())
}

/// Adds a structure; `false` if its supertype is not there yet.
fn add_structure(edit: &mut Edit, descriptor: &StructureDescriptor) -> Result<bool, StatusCode> {
    let namespaces = &edit.snapshot().namespaces().clone();
    let id = resolve(descriptor.data_type, namespaces)?;
    if edit.snapshot().node(id.as_ref()).is_some() {
        return Ok(true);
    }
    let definition = structure_definition(descriptor, namespaces)?;
    if edit.snapshot().node(definition.base_data_type.as_ref()).is_none() {
        return Ok(false);
    }
    let base = definition.base_data_type.clone();
    add_data_type(edit, &id, &base, descriptor.name, ExtensionObject::new(definition))?;
    let encodings = [
        (descriptor.binary_encoding, "Default Binary"),
        (descriptor.xml_encoding, "Default XML"),
        (descriptor.json_encoding, "Default JSON"),
    ];
    for (key, name) in encodings {
        let Some(key) = key else { continue };
        let encoding = resolve(key, namespaces)?;
        let object = ClassAttributes::Object { event_notifier: 0 };
        edit.add_node(NewNode::new(encoding.clone(), QualifiedName::new(0, name), object))?;
        edit.add_reference(&encoding, &HAS_TYPE_DEFINITION, &DATA_TYPE_ENCODING_TYPE)?;
        edit.add_reference(&id, &HAS_ENCODING, &encoding)?;
    }
    Ok(true)
}

fn add_enumeration(edit: &mut Edit, descriptor: &EnumerationDescriptor) -> Result<(), StatusCode> {
    let namespaces = &edit.snapshot().namespaces().clone();
    let id = resolve(descriptor.data_type, namespaces)?;
    if edit.snapshot().node(id.as_ref()).is_some() {
        return Ok(());
    }
    // An option set derives from the unsigned integer that holds its bits (OPC 10000-3 §8.52).
    let base = descriptor.option_set.map_or(ENUMERATION, |builtin| NodeId::numeric(0, builtin as u32));
    let definition = ExtensionObject::new(enum_definition(descriptor));
    add_data_type(edit, &id, &base, descriptor.name, definition)?;
    if descriptor.option_set.is_none() {
        add_names(edit, &id, descriptor)?;
    }
    Ok(())
}

fn add_data_type(
    edit: &mut Edit,
    id: &NodeId,
    base: &NodeId,
    name: &str,
    definition: ExtensionObject,
) -> Result<(), StatusCode> {
    let definition = Box::new(Variant::from(definition));
    let attributes = ClassAttributes::DataType { is_abstract: false, definition };
    edit.add_node(NewNode::new(id.clone(), QualifiedName::new(id.namespace(), name), attributes))?;
    edit.add_reference(base, &HAS_SUBTYPE, id)
}

/// EnumStrings if the values count up from 0, else EnumValues (OPC 10000-3 §5.8.3): for clients that do
/// not know DataTypeDefinition.
fn add_names(edit: &mut Edit, id: &NodeId, descriptor: &EnumerationDescriptor) -> Result<(), StatusCode> {
    let is_dense = descriptor.values.iter().zip(0..).all(|(member, number)| member.value == number);
    let (name, data_type, value) = if is_dense {
        let names = descriptor.values.iter().map(|member| LocalizedText::from(member.name));
        ("EnumStrings", 21, names.collect::<Array<_>>().into_variant())
    } else {
        let members = descriptor.values.iter().map(|member| {
            ExtensionObject::new(EnumValueType {
                value: member.value,
                display_name: LocalizedText::from(member.name),
                ..Default::default()
            })
        });
        ("EnumValues", 7_594, members.collect::<Array<_>>().into_variant())
    };
    let property = NodeId::string(id.namespace(), format!("{}.{name}", descriptor.name));
    let attributes = VariableAttributes {
        data_type: NodeId::numeric(0, data_type),
        value_rank: 1,
        array_dimensions: vec![u32::try_from(descriptor.values.len()).unwrap_or(u32::MAX)],
        ..VariableAttributes::default()
    };
    let node =
        NewNode::new(property.clone(), QualifiedName::new(0, name), ClassAttributes::Variable(attributes));
    edit.add_node(node)?;
    edit.add_reference(&property, &HAS_TYPE_DEFINITION, &PROPERTY_TYPE)?;
    edit.add_reference(id, &HAS_PROPERTY, &property)?;
    edit.attach_cell(&property, Arc::new(ValueCell::new(value)))?;
    Ok(())
}

fn resolve(key: TypeKey, namespaces: &NamespaceMap) -> Result<NodeId, StatusCode> {
    resolve_key(key, namespaces).map_err(|_| status::BAD_NODE_ID_REJECTED)
}

/// StructureDefinition (OPC 10000-3 §8.48).
pub(crate) fn structure_definition(
    descriptor: &StructureDescriptor,
    namespaces: &NamespaceMap,
) -> Result<StructureDefinition, StatusCode> {
    let encoding = descriptor.binary_encoding.map(|key| resolve(key, namespaces)).transpose()?;
    let base = descriptor.supertypes.first().map(|key| resolve(*key, namespaces)).transpose()?;
    let subtyped =
        matches!(descriptor.kind, StructureKind::SubtypedValues | StructureKind::UnionSubtypedValues);
    let fields: Result<Vec<_>, _> =
        descriptor.fields.iter().map(|field| structure_field(field, subtyped, namespaces)).collect();
    Ok(StructureDefinition {
        default_encoding_id: encoding.unwrap_or_default(),
        base_data_type: base.unwrap_or(STRUCTURE),
        structure_type: match descriptor.kind {
            StructureKind::Plain => StructureType::STRUCTURE,
            StructureKind::OptionalFields => StructureType::STRUCTURE_WITH_OPTIONAL_FIELDS,
            StructureKind::Union => StructureType::UNION,
            StructureKind::SubtypedValues => StructureType::STRUCTURE_WITH_SUBTYPED_VALUES,
            StructureKind::UnionSubtypedValues => StructureType::UNION_WITH_SUBTYPED_VALUES,
        },
        fields: Array::from(fields?),
    })
}

/// With subtyped values IsOptional says that a field allows subtypes (OPC 10000-3 §8.51).
fn structure_field(
    field: &FieldDescriptor,
    subtyped: bool,
    namespaces: &NamespaceMap,
) -> Result<StructureField, StatusCode> {
    let dimensions = field.array_dimensions;
    Ok(StructureField {
        name: UaString::from(field.name),
        description: LocalizedText::NULL,
        data_type: resolve(field.data_type, namespaces)?,
        value_rank: field.value_rank,
        array_dimensions: if dimensions.is_empty() {
            Array::default()
        } else {
            Array::from(dimensions.to_vec())
        },
        max_string_length: field.max_string_length,
        is_optional: if subtyped { field.allow_sub_types } else { field.optional },
    })
}

/// EnumDefinition (OPC 10000-3 §8.50): of an option set the values are bit numbers.
fn enum_definition(descriptor: &EnumerationDescriptor) -> EnumDefinition {
    let fields = descriptor.values.iter().map(|member| EnumField {
        value: member.value,
        display_name: LocalizedText::from(member.name),
        description: LocalizedText::NULL,
        name: UaString::from(member.name),
    });
    EnumDefinition { fields: fields.collect() }
}
