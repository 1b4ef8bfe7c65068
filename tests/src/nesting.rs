//! Structures in structures, as deep as one wants: every way in which a registered type can hold others.

use std::fmt;

use uaforge_codec::{
    BuiltinType, ConstIdentifier, Decode, DecodeError, Decoder, Encode, Encoder, FieldDescriptor, FieldType,
    NS0_URI, NodeId, StructureDescriptor, StructureKind, TypeKey, TypeRegistry,
};

use crate::hostile::Known;
use crate::notation::encoded;

const STACK: usize = 256 * 1024;
/// Runs `test` on a stack of 256 KiB. An overflow of the stack says the thread's name.
///
/// # Panics
/// It did.
pub fn on_small_stack(name: &str, test: impl FnOnce() + Send + 'static) {
    let builder = std::thread::Builder::new().name(name.into()).stack_size(STACK);
    builder.spawn(test).expect("a thread").join().expect("no panic");
}

/// Decodes all of the bytes.
///
/// # Errors
/// They are no `T`.
pub fn decode<T: Decode>(bytes: &[u8], known: &Known) -> Result<T, DecodeError> {
    let mut d = Decoder::new(bytes, known.decoding());
    let value = T::decode(&mut d)?;
    d.finish()?;
    Ok(value)
}

/// Decodes, does everything that can be done with the value, and drops it; its bytes as they are written.
///
/// # Errors
/// The bytes are no `T`.
///
/// # Panics
/// What was decoded cannot be compared, printed or written.
pub fn again<T>(bytes: &[u8], known: &Known) -> Result<Vec<u8>, DecodeError>
where
    T: Decode + Encode + Clone + PartialEq + fmt::Debug,
{
    let value = decode::<T>(bytes, known)?;
    let other = decode::<T>(bytes, known).expect("the same bytes");
    assert!(value == other && value.clone() == other, "equal");
    assert!(!format!("{value:?}").is_empty() && !format!("{value:#?}").is_empty());
    let mut out = Vec::new();
    let mut e = Encoder::new(&mut out, known.encoding());
    value.encode(&mut e);
    e.finish().expect("it can be written");
    Ok(out)
}

/// How many structures may stand in each other in place before one that holds others.
const IN_PLACE: usize = 12;

/// A structure with one place for another value, as an ExtensionObject.
#[derive(Clone, Debug)]
pub struct Link {
    /// The structure, the fields on the way and what stands in the last one.
    pub name: String,
    /// What the place holds.
    pub holds: Holds,
    type_id: NodeId,
    descriptor: &'static StructureDescriptor,
    /// The DataType that structures in the place must have or derive from.
    base: Option<TypeKey>,
    before: Vec<u8>,
    after: Vec<u8>,
}

/// What a place holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// An ExtensionObject: the field itself, or the value of a Variant.
    Structure,
    /// A DiagnosticInfo.
    Diagnostics,
}

impl Link {
    /// The ExtensionObject of the structure with `inner` in its place.
    #[must_use]
    pub fn around(&self, inner: &[u8]) -> Vec<u8> {
        let body = [&self.before, inner, &self.after].concat();
        let len = i32::try_from(body.len()).expect("short").to_le_bytes();
        [encoded(&self.type_id), vec![1], len.to_vec(), body].concat()
    }

    /// Whether its place may hold the structure of `other`.
    #[must_use]
    pub fn accepts(&self, other: &Self) -> bool {
        self.base.is_none_or(|base| other.descriptor.is_subtype_of(&base))
    }
}

/// Every place of every structure of the registry.
#[must_use]
pub fn links(registry: &TypeRegistry) -> Vec<Link> {
    let mut all = Vec::new();
    for descriptor in registry.descriptors() {
        let Some(type_id) = descriptor.binary_encoding.and_then(wire_id) else { continue };
        for place in places(descriptor, IN_PLACE) {
            all.push(Link {
                name: format!("{}{}", descriptor.name, place.path),
                holds: place.holds,
                type_id: type_id.clone(),
                descriptor,
                base: place.base,
                before: place.before,
                after: place.after,
            });
        }
    }
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

/// The id with the namespace table of the vectors.
fn wire_id(key: TypeKey) -> Option<NodeId> {
    match key.id {
        ConstIdentifier::Numeric(id) => Some(NodeId::numeric(u16::from(key.namespace != NS0_URI), id)),
        _ => None,
    }
}

#[derive(Clone)]
struct Place {
    path: String,
    holds: Holds,
    base: Option<TypeKey>,
    before: Vec<u8>,
    after: Vec<u8>,
}

impl Place {
    fn new(path: &str, holds: Holds, before: &[u8]) -> Self {
        Self { path: path.into(), holds, base: None, before: before.into(), after: Vec::new() }
    }

    fn behind(mut self, before: &[u8]) -> Self {
        self.before.splice(..0, before.iter().copied());
        self
    }
}

fn places(descriptor: &'static StructureDescriptor, depth: usize) -> Vec<Place> {
    let mut all = Vec::new();
    for (position, field) in descriptor.fields.iter().enumerate() {
        for mut place in places_in(field, depth) {
            let (before, after) = around(descriptor, position);
            place = place.behind(&before);
            place.after.extend(after);
            place.path.insert_str(0, &format!(".{}", field.name));
            all.push(place);
        }
    }
    all
}

fn places_in(field: &FieldDescriptor, depth: usize) -> Vec<Place> {
    let mut places = match field.ty {
        FieldType::Builtin(BuiltinType::ExtensionObject) => vec![Place::new("", Holds::Structure, &[])],
        FieldType::Builtin(BuiltinType::Variant) => vec![
            Place::new(" as Variant", Holds::Structure, &[0x16]),
            Place::new(" as Variant array", Holds::Structure, &[0x96, 1, 0, 0, 0]),
        ],
        FieldType::Builtin(BuiltinType::DataValue) => {
            vec![Place::new(" as DataValue", Holds::Structure, &[0x01, 0x16])]
        }
        FieldType::Builtin(BuiltinType::DiagnosticInfo) => vec![Place::new("", Holds::Diagnostics, &[])],
        FieldType::Structure(inner) if depth > 0 => places(inner(), depth - 1),
        _ => return Vec::new(),
    };
    if matches!(field.ty, FieldType::Builtin(BuiltinType::ExtensionObject)) && field.allow_sub_types {
        places.iter_mut().for_each(|place| place.base = Some(field.data_type));
    }
    let one_element = one_element(field.value_rank);
    places.into_iter().map(|place| place.behind(&one_element)).collect()
}

/// What stands before the only element of an array, or of a matrix of this rank.
fn one_element(value_rank: i32) -> Vec<u8> {
    match value_rank {
        ..=-1 => Vec::new(),
        0 | 1 => 1_i32.to_le_bytes().to_vec(),
        rank => [rank.to_le_bytes().to_vec(), 1_i32.to_le_bytes().repeat(rank as usize)].concat(),
    }
}

/// The bytes before and after the field at `position`; the other fields are as short as they can be.
fn around(descriptor: &StructureDescriptor, position: usize) -> (Vec<u8>, Vec<u8>) {
    let (mut before, mut after) = (Vec::new(), Vec::new());
    match descriptor.kind {
        StructureKind::Union | StructureKind::UnionSubtypedValues => {
            return (u32::try_from(position + 1).expect("few").to_le_bytes().to_vec(), after);
        }
        StructureKind::OptionalFields => {
            let optional = descriptor.fields.iter().enumerate().filter(|(_, field)| field.optional);
            let bits = optional.zip(0..).filter(|((at, _), _)| *at == position).map(|(_, bit)| 1_u32 << bit);
            before.extend(bits.sum::<u32>().to_le_bytes());
        }
        StructureKind::Plain | StructureKind::SubtypedValues => {}
    }
    for (at, field) in descriptor.fields.iter().enumerate().filter(|(at, _)| *at != position) {
        least_field(field, if at < position { &mut before } else { &mut after });
    }
    (before, after)
}

fn least_field(field: &FieldDescriptor, out: &mut Vec<u8>) {
    if field.optional {
    } else if field.value_rank >= 0 {
        out.extend((-1_i32).to_le_bytes());
    } else {
        least(field.ty, out);
    }
}

/// The shortest value of a type.
fn least(ty: FieldType, out: &mut Vec<u8>) {
    let builtin = match ty {
        FieldType::Builtin(builtin) => builtin,
        FieldType::Enumeration(_) => BuiltinType::Int32,
        FieldType::OptionSet(bits) => bits.option_set.expect("an option set"),
        FieldType::Structure(inner) => {
            let inner = inner();
            match inner.kind {
                StructureKind::Union | StructureKind::UnionSubtypedValues => return out.extend([0; 4]),
                StructureKind::OptionalFields => out.extend([0; 4]),
                StructureKind::Plain | StructureKind::SubtypedValues => {}
            }
            return inner.fields.iter().for_each(|field| least_field(field, out));
        }
    };
    match builtin {
        BuiltinType::String | BuiltinType::ByteString | BuiltinType::XmlElement => out.extend([0xFF; 4]),
        BuiltinType::QualifiedName => out.extend([0, 0, 0xFF, 0xFF, 0xFF, 0xFF]),
        BuiltinType::Boolean | BuiltinType::SByte | BuiltinType::Byte => out.push(0),
        BuiltinType::Variant | BuiltinType::DataValue => out.push(0),
        BuiltinType::LocalizedText | BuiltinType::DiagnosticInfo => out.push(0),
        BuiltinType::Int16 | BuiltinType::UInt16 => out.extend([0; 2]),
        BuiltinType::NodeId | BuiltinType::ExpandedNodeId => out.extend([0; 2]),
        BuiltinType::ExtensionObject => out.extend([0; 3]),
        BuiltinType::Int64 | BuiltinType::UInt64 => out.extend([0; 8]),
        BuiltinType::Double | BuiltinType::DateTime => out.extend([0; 8]),
        BuiltinType::Guid => out.extend([0; 16]),
        BuiltinType::Int32 | BuiltinType::UInt32 | BuiltinType::Float | BuiltinType::StatusCode => {
            out.extend([0; 4]);
        }
    }
}
