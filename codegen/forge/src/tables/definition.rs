//! The DataTypeDefinition attribute (OPC 10000-3 §8.47 to §8.52) of data types.

use uaforge_model::resolved::{Definition, Field, Node, Text};

use super::encode::Encoder;
use super::graph::{ENUMERATION, Graph, OPTION_SET, STRUCTURE, ns0};

/// Binary encoding of StructureDefinition and EnumDefinition.
const STRUCTURE_DEFINITION_BINARY: u32 = 122;
const ENUM_DEFINITION_BINARY: u32 = 123;

/// Encodes the definition of a data type as a Variant. False: the type has none.
pub(super) fn encode(e: &mut Encoder<'_>, node: &Node) -> Result<bool, String> {
    let Some(definition) = &node.definition else {
        return Ok(false);
    };
    let graph = e.graph;
    let is_bits = definition.is_option_set
        || (graph.is_below(&node.id, OPTION_SET) && node.id != ns0(OPTION_SET));
    let is_structure = !is_bits && graph.is_below(&node.id, STRUCTURE);
    if !is_structure && !is_bits && !graph.is_below(&node.id, ENUMERATION) {
        return Ok(false);
    }
    e.u8(STRUCTURE as u8);
    if is_structure {
        e.node_id(&ns0(STRUCTURE_DEFINITION_BINARY))?;
        e.sized_body(|e| structure(e, graph, node))?;
    } else {
        e.node_id(&ns0(ENUM_DEFINITION_BINARY))?;
        e.sized_body(|e| enumeration(e, definition))?;
    }
    Ok(true)
}

fn structure(e: &mut Encoder<'_>, graph: &Graph<'_>, node: &Node) -> Result<(), String> {
    let fields = graph.all_fields(&node.id);
    let null = ns0(0);
    // An abstract type has no default encoding (OPC 10000-3 §8.48).
    let encoding = graph.binary_encoding(&node.id).filter(|_| !node.is_abstract);
    e.node_id(encoding.unwrap_or(&null))?;
    e.node_id(graph.supertype(&node.id).unwrap_or(&null))?;
    let subtyped = fields.iter().any(|f| f.allow_sub_types);
    let optional = fields.iter().any(|f| f.is_optional);
    // StructureType (OPC 10000-3 §8.49).
    e.i32(match (graph.is_union(&node.id), subtyped, optional) {
        (true, false, _) => 2,
        (true, true, _) => 4,
        (false, _, true) => 1,
        (false, true, false) => 3,
        (false, false, false) => 0,
    });
    e.len(fields.len())?;
    fields.iter().try_for_each(|field| structure_field(e, field, subtyped && !optional))
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
