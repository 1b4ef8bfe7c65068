//! Structures from the notation, by their descriptors.

use std::collections::BTreeMap;

use serde_json::Value;
use uaforge_codec::{
    BuiltinType, ConstIdentifier, FieldDescriptor, FieldType, NS0_URI, NodeId, StructureDescriptor,
    StructureKind, TypeRegistry,
};

use super::{builtin_value, number_of};

/// How a structure is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// All fields.
    Plain,
    /// A mask, then the fields that are there.
    Optional,
    /// A switch, then one field.
    Union,
}

/// What a field is, as far as its encoding goes.
#[derive(Clone, Debug)]
pub struct Field {
    /// Exact name.
    pub name: String,
    /// A builtin type or a structure of [`Shapes`]; enumerations are Int32.
    pub ty: String,
    /// Whether it is an array.
    pub array: bool,
    /// Whether it may be absent.
    pub optional: bool,
}

/// A structure.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Its layout.
    pub kind: Kind,
    /// Its fields, inherited ones first.
    pub fields: Vec<Field>,
    /// The id of its binary encoding on the wire of the vectors.
    pub binary_encoding: Option<NodeId>,
}

/// All structures by name.
#[derive(Clone, Debug, Default)]
pub struct Shapes(BTreeMap<String, Shape>);

impl Shapes {
    /// The structures of a registry and those of `custom_types.json`.
    ///
    /// # Panics
    /// The file is wrong.
    #[must_use]
    pub fn new(registry: &TypeRegistry, custom: &Value) -> Self {
        let mut shapes = Self::default();
        for descriptor in registry.descriptors() {
            shapes.add(descriptor);
        }
        for (name, description) in custom.as_object().expect("an object") {
            shapes.0.insert(name.clone(), custom_shape(description));
        }
        shapes
    }

    fn add(&mut self, descriptor: &'static StructureDescriptor) {
        if self.0.contains_key(descriptor.name) {
            return;
        }
        let kind = match descriptor.kind {
            StructureKind::OptionalFields => Kind::Optional,
            StructureKind::Union | StructureKind::UnionSubtypedValues => Kind::Union,
            StructureKind::Plain | StructureKind::SubtypedValues => Kind::Plain,
        };
        let binary_encoding = descriptor.binary_encoding.and_then(|key| match key.id {
            ConstIdentifier::Numeric(id) => Some(NodeId::numeric(u16::from(key.namespace != NS0_URI), id)),
            _ => None,
        });
        let fields = descriptor.fields.iter().map(field).collect();
        self.0.insert(descriptor.name.into(), Shape { kind, fields, binary_encoding });
        for field in descriptor.fields {
            if let FieldType::Structure(inner) = field.ty {
                self.add(inner());
            }
        }
    }

    /// A structure by name.
    ///
    /// # Panics
    /// There is none.
    #[must_use]
    pub fn get(&self, name: &str) -> &Shape {
        self.0.get(name).unwrap_or_else(|| panic!("{name} is not a known structure"))
    }

    /// Whether there is a structure of this name.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Appends a value of any type.
    pub fn put(&self, ty: &str, value: &Value, out: &mut Vec<u8>) {
        if let Some(builtin) = number_of(ty) {
            out.extend(builtin_value(builtin, value, self));
        } else if self.contains(ty) {
            self.put_structure(self.get(ty), value, out);
        } else {
            // What is neither is an enumeration.
            assert!(value.is_i64() || value.is_u64(), "{ty} is not known");
            out.extend(builtin_value(BuiltinType::Int32, value, self));
        }
    }

    /// Appends an array of values of any type.
    pub fn put_array(&self, ty: &str, value: &Value, out: &mut Vec<u8>) {
        let Some(items) = value.as_array() else {
            out.extend((-1_i32).to_le_bytes());
            return;
        };
        out.extend(i32::try_from(items.len()).expect("short").to_le_bytes());
        for item in items {
            self.put(ty, item, out);
        }
    }

    fn put_structure(&self, shape: &Shape, value: &Value, out: &mut Vec<u8>) {
        match shape.kind {
            Kind::Plain => {
                for field in &shape.fields {
                    let value = value.get(&field.name).unwrap_or_else(|| panic!("{} is missing", field.name));
                    self.put_field(field, value, out);
                }
            }
            Kind::Optional => {
                let optional = shape.fields.iter().filter(|field| field.optional);
                let bits = optional.enumerate().map(|(bit, field)| match value.get(&field.name) {
                    Some(_) => 1_u32 << bit,
                    None => 0,
                });
                out.extend(bits.sum::<u32>().to_le_bytes());
                for field in &shape.fields {
                    if let Some(value) = value.get(&field.name) {
                        self.put_field(field, value, out);
                    }
                }
            }
            Kind::Union => {
                let chosen = shape.fields.iter().enumerate().find_map(|(position, field)| {
                    value.get(&field.name).map(|value| (position + 1, field, value))
                });
                let switch = chosen.map_or(0, |(switch, _, _)| switch);
                out.extend(u32::try_from(switch).expect("few").to_le_bytes());
                if let Some((_, field, value)) = chosen {
                    self.put_field(field, value, out);
                }
            }
        }
    }

    fn put_field(&self, field: &Field, value: &Value, out: &mut Vec<u8>) {
        if field.array {
            self.put_array(&field.ty, value, out);
        } else {
            self.put(&field.ty, value, out);
        }
    }
}

fn field(descriptor: &FieldDescriptor) -> Field {
    let ty = match descriptor.ty {
        FieldType::Builtin(builtin) => format!("{builtin:?}"),
        FieldType::Structure(inner) => inner().name.into(),
        FieldType::Enumeration(_) => "Int32".into(),
        FieldType::OptionSet(bits) => format!("{:?}", bits.option_set.expect("an option set")),
    };
    Field {
        name: descriptor.name.into(),
        ty,
        array: descriptor.value_rank >= 0,
        optional: descriptor.optional,
    }
}

fn custom_shape(description: &Value) -> Shape {
    let kind = match description["kind"].as_str() {
        Some("opt") => Kind::Optional,
        Some("union") => Kind::Union,
        _ => Kind::Plain,
    };
    let fields = description["fields"].as_array().expect("a list").iter().map(|field| Field {
        name: field["name"].as_str().expect("a name").into(),
        ty: field["type"].as_str().expect("a type").into(),
        array: field["array"] == true,
        optional: field["optional"] == true,
    });
    let number = description["binary_encoding_id"]["i"].as_u64().and_then(|id| u32::try_from(id).ok());
    Shape { kind, fields: fields.collect(), binary_encoding: number.map(|id| NodeId::numeric(1, id)) }
}
