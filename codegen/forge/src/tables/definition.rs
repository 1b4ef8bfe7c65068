//! The DataTypeDefinition attribute (OPC 10000-3 §8.47 to §8.52) of data types.

use uaforge_model::query::well_known::{ENUMERATION, STRUCTURE};
use uaforge_model::resolved::{Definition, Field, Id, ModelSet, Node, Text};
use uaforge_model::{DataTypeKind, StructureType};

use super::encode::{EXTENSION_OBJECT, Encoder};

/// Binary encoding of StructureDefinition and EnumDefinition.
const STRUCTURE_DEFINITION_BINARY: u32 = 122;
const ENUM_DEFINITION_BINARY: u32 = 123;

/// Encodes the definition of a data type as a Variant. False: the type has none.
pub(super) fn encode(e: &mut Encoder<'_>, node: &Node) -> Result<bool, String> {
    let Some(definition) = &node.definition else {
        return Ok(false);
    };
    let set = e.set;
    let is_bits = set.is_option_set_structure(&node.id)
        || set.kind_of_data_type(&node.id) == Some(DataTypeKind::OptionSet);
    let is_structure = !is_bits && set.is_subtype_of(&node.id, &STRUCTURE);
    if !is_structure && !is_bits && !set.is_subtype_of(&node.id, &ENUMERATION) {
        return Ok(false);
    }
    e.u8(EXTENSION_OBJECT);
    if is_structure {
        e.node_id(&Id::ns0(STRUCTURE_DEFINITION_BINARY))?;
        e.sized_body(|e| structure(e, set, node))?;
    } else {
        e.node_id(&Id::ns0(ENUM_DEFINITION_BINARY))?;
        e.sized_body(|e| enumeration(e, definition))?;
    }
    Ok(true)
}

fn structure(e: &mut Encoder<'_>, set: &ModelSet, node: &Node) -> Result<(), String> {
    let null = Id::ns0(0);
    // An abstract type has no default encoding (OPC 10000-3 §8.48).
    let encoding = set.encodings(&node.id).binary.filter(|_| !node.is_abstract);
    e.node_id(encoding.unwrap_or(&null))?;
    e.node_id(set.supertype(&node.id).unwrap_or(&null))?;
    let structure_type = set.structure_type(&node.id).unwrap_or(StructureType::Structure);
    e.i32(structure_type as i32);
    let fields = set.all_fields(&node.id);
    e.len(fields.len())?;
    let subtyped = matches!(
        structure_type,
        StructureType::StructureWithSubtypedValues | StructureType::UnionWithSubtypedValues
    );
    fields.iter().try_for_each(|(_, field)| structure_field(e, field, subtyped))
}

/// With subtyped values IsOptional says that a field allows subtypes (OPC 10000-3 §8.51).
fn structure_field(e: &mut Encoder<'_>, field: &Field, subtyped: bool) -> Result<(), String> {
    e.counted(Some(field.name.as_bytes()))?;
    description(e, field)?;
    e.node_id(&field.data_type)?;
    e.i32(field.value_rank);
    if field.array_dimensions.is_empty() {
        e.i32(-1);
    } else {
        e.len(field.array_dimensions.len())?;
        field.array_dimensions.iter().for_each(|d| e.u32(*d));
    }
    e.u32(field.max_string_length);
    e.u8(u8::from(if subtyped { field.allow_sub_types } else { field.is_optional }));
    Ok(())
}

fn enumeration(e: &mut Encoder<'_>, definition: &Definition) -> Result<(), String> {
    e.len(definition.fields.len())?;
    for field in &definition.fields {
        e.i64(field.value.unwrap_or_default());
        let named = Text { locale: None, text: field.name.clone() };
        e.text(field.display_name.first().unwrap_or(&named))?;
        description(e, field)?;
        e.counted(Some(field.name.as_bytes()))?;
    }
    Ok(())
}

fn description(e: &mut Encoder<'_>, field: &Field) -> Result<(), String> {
    let text = field.description.first().filter(|_| e.descriptions);
    e.text(text.unwrap_or(&Text::default()))
}
