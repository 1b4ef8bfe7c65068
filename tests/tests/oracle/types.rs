//! Data types, reference types and methods.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};
use uaforge_model::DataTypeKind;
use uaforge_model::query::{StructureType, Wire, builtin_name};
use uaforge_model::resolved::{Field, Id, Node, Value as UaValue};

use crate::facts::Facts;

fn structure_type(kind: StructureType) -> &'static str {
    match kind {
        StructureType::Structure => "Structure",
        StructureType::StructureWithOptionalFields => "StructureWithOptionalFields",
        StructureType::Union => "Union",
        StructureType::StructureWithSubtypedValues => "StructureWithSubtypedValues",
        StructureType::UnionWithSubtypedValues => "UnionWithSubtypedValues",
    }
}

impl Facts<'_> {
    pub(crate) fn kind(&self, id: &Id) -> &'static str {
        match self.set.kind_of_data_type(id) {
            Some(DataTypeKind::Builtin) => "builtin",
            Some(DataTypeKind::Abstract) => "abstract",
            Some(DataTypeKind::Structure) => "structure",
            Some(DataTypeKind::Union) => "union",
            Some(DataTypeKind::Enumeration) => "enumeration",
            Some(DataTypeKind::OptionSet) => "optionset",
            Some(DataTypeKind::Simple) => "simple",
            None => "none",
        }
    }

    pub(crate) fn data_type(&self, node: &Node) -> Value {
        let id = &node.id;
        let kind = self.kind(id);
        let mut entry = Map::new();
        entry.insert("name".into(), self.name(&node.browse_name).into());
        entry.insert("id".into(), self.id(id).into());
        entry.insert("kind".into(), kind.into());
        if let Some(name) = &node.symbolic_name {
            entry.insert("symbolic".into(), name.as_str().into());
        }
        if node.is_abstract {
            entry.insert("abstract".into(), true.into());
        }
        if let Some(status) = &node.release_status {
            entry.insert("release_status".into(), status.as_str().into());
        }
        let base = self.set.supertype(id);
        entry.insert("base".into(), base.map(|base| self.name_of(base)).into());
        entry.insert("base_id".into(), base.map(|base| self.id(base)).into());
        entry.insert("builtin".into(), builtin_name(self.set.builtin_type(id)).into());
        let encodings = self.set.encodings(id).all;
        if !encodings.is_empty() {
            let all = encodings.into_iter().map(|(name, id)| (self.name(name), Value::from(self.id(id))));
            entry.insert("encodings".into(), all.collect::<Map<_, _>>().into());
        }
        match kind {
            "structure" | "union" => self.structure(node, &mut entry),
            "enumeration" => self.enumeration(node, &mut entry),
            "optionset" => {
                entry.insert("option_set_bits".into(), values(node));
            }
            _ => {}
        }
        entry.into()
    }

    fn structure(&self, node: &Node, entry: &mut Map<String, Value>) {
        let id = &node.id;
        entry.insert("has_definition".into(), node.definition.is_some().into());
        let kind = self.set.structure_type(id).map(structure_type);
        entry.insert("structure_type".into(), kind.into());
        let own = self.set.own_fields(id);
        entry.insert("fields".into(), own.iter().map(|field| self.field(field)).collect::<Vec<_>>().into());
        let all = self.set.all_fields(id);
        if all.len() > own.len() {
            entry.insert("inherited_fields".into(), (all.len() - own.len()).into());
            let names: Vec<&str> = all.iter().map(|(_, field)| field.name.as_str()).collect();
            entry.insert("all_fields".into(), names.into());
        }
        if self.set.is_option_set_structure(id) {
            entry.insert("option_set_bits".into(), values(node));
        }
    }

    fn field(&self, field: &Field) -> Value {
        let mut entry = Map::new();
        entry.insert("name".into(), field.name.as_str().into());
        entry.insert("type".into(), self.name_of(&field.data_type).into());
        entry.insert("type_id".into(), self.id(&field.data_type).into());
        let wire = match self.set.wire(field) {
            Wire::Builtin(number) => builtin_name(number),
            Wire::Inline => "inline",
        };
        entry.insert("wire".into(), wire.into());
        if let Some(name) = &field.symbolic_name {
            entry.insert("symbolic".into(), name.as_str().into());
        }
        if field.value_rank != -1 {
            entry.insert("rank".into(), field.value_rank.into());
        }
        if !field.array_dimensions.is_empty() {
            let sizes: Vec<String> = field.array_dimensions.iter().map(u32::to_string).collect();
            entry.insert("dims".into(), sizes.join(",").into());
        }
        if field.is_optional {
            entry.insert("optional".into(), true.into());
        }
        if field.allow_sub_types {
            entry.insert("allow_subtypes".into(), true.into());
        }
        if field.max_string_length != 0 {
            entry.insert("max_string_length".into(), field.max_string_length.into());
        }
        entry.into()
    }

    fn enumeration(&self, node: &Node, entry: &mut Map<String, Value>) {
        entry.insert("values".into(), values(node));
        for name in ["EnumStrings", "EnumValues"] {
            let Some(property) = self.set.property(&node.id, name) else {
                continue;
            };
            entry.insert("property".into(), name.into());
            let texts = property_texts(property.value.as_ref());
            let fields = node.definition.iter().flat_map(|definition| &definition.fields);
            let defined: Vec<(i64, &str)> =
                fields.map(|field| (field.value.unwrap_or(-1), field.name.as_str())).collect();
            if texts.iter().map(|(value, text)| (*value, text.as_str())).ne(defined) {
                let texts: Vec<Value> = texts.into_iter().map(|(value, text)| json!([value, text])).collect();
                entry.insert("property_texts".into(), texts.into());
            }
        }
    }

    pub(crate) fn reference_type(&self, node: &Node) -> Value {
        let mut entry = Map::new();
        entry.insert("name".into(), self.name(&node.browse_name).into());
        entry.insert("id".into(), self.id(&node.id).into());
        entry.insert("base".into(), self.set.supertype(&node.id).map(|base| self.name_of(base)).into());
        entry.insert("inverse".into(), node.inverse_name.first().map(|text| text.text.as_str()).into());
        if node.symmetric {
            entry.insert("symmetric".into(), true.into());
        }
        if node.is_abstract {
            entry.insert("abstract".into(), true.into());
        }
        entry.insert("hierarchical".into(), self.set.is_hierarchical(&node.id).into());
        entry.into()
    }

    pub(crate) fn method(&self, node: &Node) -> Value {
        let mut entry = Map::new();
        entry.insert("name".into(), self.name(&node.browse_name).into());
        entry.insert("id".into(), self.id(&node.id).into());
        let links = self.set.inverse(&node.id).iter();
        let parents = links.filter(|link| self.set.is_hierarchical(&link.reference_type));
        let parents: BTreeSet<&Id> = parents.map(|link| &link.target).collect();
        let parents: Vec<String> = parents.into_iter().map(|id| self.id(id)).collect();
        entry.insert("parents".into(), parents.into());
        if let Some(declaration) = &node.method_declaration {
            entry.insert("declaration".into(), self.id(declaration).into());
        }
        for (key, name) in [("inputs", "InputArguments"), ("outputs", "OutputArguments")] {
            if let Some(property) = self.set.property(&node.id, name) {
                entry.insert(key.into(), self.arguments(property.value.as_ref()));
            }
        }
        entry.into()
    }

    fn arguments(&self, value: Option<&UaValue>) -> Value {
        let Some(UaValue::Array { items, .. }) = value else {
            return Value::Null;
        };
        items.iter().map(|item| self.argument(item)).collect::<Vec<_>>().into()
    }

    fn argument(&self, item: &UaValue) -> Value {
        let mut row = Vec::new();
        for name in ["Name", "DataType", "ValueRank", "ArrayDimensions"] {
            match part(item, name) {
                Some(UaValue::String(text)) => row.push(json!(text.as_deref())),
                Some(UaValue::NodeId(id)) => row.push(self.name_of(id).into()),
                Some(UaValue::Int32(rank)) => row.push((*rank).into()),
                Some(UaValue::Array { items, .. }) if !items.is_empty() => {
                    let sizes = items.iter().map(|size| match size {
                        UaValue::UInt32(size) => json!(size),
                        _ => Value::Null,
                    });
                    row.push(sizes.collect::<Vec<_>>().into());
                }
                _ => {}
            }
        }
        row.into()
    }
}

fn part<'a>(value: &'a UaValue, name: &str) -> Option<&'a UaValue> {
    match value {
        UaValue::Structure { fields, .. } => fields.iter().find(|(field, _)| field == name)?.1.as_ref(),
        _ => None,
    }
}

fn values(node: &Node) -> Value {
    let fields = node.definition.iter().flat_map(|definition| &definition.fields);
    let rows = fields.map(|field| match &field.symbolic_name {
        Some(symbolic) => json!([field.name, field.value, symbolic]),
        None => json!([field.name, field.value]),
    });
    rows.collect::<Vec<_>>().into()
}

fn property_texts(value: Option<&UaValue>) -> Vec<(i64, String)> {
    let Some(UaValue::Array { items, .. }) = value else {
        return Vec::new();
    };
    let text = |item: &UaValue, index: usize| match item {
        UaValue::LocalizedText(text) => (index as i64, text.text.clone()),
        _ => {
            let number = match part(item, "Value") {
                Some(UaValue::Int64(number)) => *number,
                _ => -1,
            };
            let text = match part(item, "DisplayName") {
                Some(UaValue::LocalizedText(text)) => text.text.clone(),
                _ => String::new(),
            };
            (number, text)
        }
    };
    items.iter().enumerate().map(|(index, item)| text(item, index)).collect()
}
