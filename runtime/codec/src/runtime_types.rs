//! Data types that are known by their DataTypeDefinition alone, as read from a server (OPC 10000-3 §8.47).

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::{BuiltinType, NodeId, NodeIdRef, StructureDescriptor, StructureKind, StructureType};

/// Namespace URI and an id whose namespace index is 0.
pub(crate) type OwnedKey = (Arc<str>, NodeId);

/// The definition of a structure or union, with ids as a server has them (OPC 10000-3 §8.48).
#[derive(Clone, Debug)]
pub struct StructureSource {
    /// Id of the DataType.
    pub data_type: NodeId,
    /// Name of the DataType.
    pub name: Arc<str>,
    /// Id of its Default Binary encoding; null if it has none.
    pub binary_encoding: NodeId,
    /// Layout.
    pub kind: StructureKind,
    /// All fields, inherited ones first.
    pub fields: Vec<FieldSource>,
}

/// A field of a [`StructureSource`] (OPC 10000-3 §8.51).
#[derive(Clone, Debug)]
pub struct FieldSource {
    /// Name.
    pub name: Arc<str>,
    /// How one element is encoded.
    pub element: ElementSource,
    /// ValueRank: 1 array, 2 and more matrices, else scalar.
    pub value_rank: i32,
    /// Whether it may be absent.
    pub optional: bool,
}

/// How an element of a [`FieldSource`] is encoded (OPC 10000-6 §5.2.6).
#[derive(Clone, Debug)]
pub enum ElementSource {
    /// As a builtin type.
    Builtin(BuiltinType),
    /// As a structure that is compiled in.
    Compiled(&'static StructureDescriptor),
    /// As the structure, enumeration or option set with this id, defined in the same set.
    Defined(NodeId),
}

/// The definition of an enumeration or option set (OPC 10000-3 §8.50).
#[derive(Clone, Debug)]
pub struct EnumerationSource {
    /// Id of the DataType.
    pub data_type: NodeId,
    /// Name of the DataType.
    pub name: Arc<str>,
    /// The unsigned integer of an option set; `None` for an enumeration.
    pub option_set: Option<BuiltinType>,
    /// Names and values, or names and numbers of bits.
    pub values: Vec<(Arc<str>, i64)>,
}

/// A field names a type that is neither compiled in nor defined, or a namespace index has no URI.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{structure}.{field}`: its data type {data_type} is not known")]
pub struct UnknownFieldType {
    /// Name of the structure.
    pub structure: Arc<str>,
    /// Name of the field.
    pub field: Arc<str>,
    /// The data type, as the server has it.
    pub data_type: NodeId,
}

/// A structure known at run time.
#[derive(Debug)]
pub struct RuntimeStructure {
    pub(crate) name: Arc<str>,
    pub(crate) data_type: OwnedKey,
    pub(crate) binary_encoding: Option<OwnedKey>,
    pub(crate) kind: StructureKind,
    pub(crate) fields: Vec<RuntimeField>,
}

#[derive(Debug)]
pub(crate) struct RuntimeField {
    pub(crate) name: Arc<str>,
    pub(crate) element: RuntimeElement,
    pub(crate) value_rank: i32,
    pub(crate) optional: bool,
}

#[derive(Debug)]
pub(crate) enum RuntimeElement {
    Builtin(BuiltinType),
    Compiled(&'static StructureDescriptor),
    Structure(usize),
    Enumeration(usize),
}

/// An enumeration or option set known at run time.
#[derive(Debug)]
pub struct RuntimeEnumeration {
    pub(crate) name: Arc<str>,
    pub(crate) option_set: Option<BuiltinType>,
    pub(crate) values: Vec<(Arc<str>, i64)>,
}

/// Structures and enumerations that are known by their definitions alone. They go into a
/// [`TypeRegistry`](crate::TypeRegistry).
#[derive(Debug, Default)]
pub struct RuntimeTypes {
    structures: Vec<RuntimeStructure>,
    enumerations: Vec<RuntimeEnumeration>,
    /// By the ids of DataType and Default Binary encoding.
    by_id: BTreeMap<OwnedKey, usize>,
}

impl RuntimeTypes {
    /// Types from their definitions; ids are resolved by `uri_of`, the server's namespace table. What is
    /// wrong with a structure leaves it, and those that hold it in place, out of the set.
    pub fn new<'u>(
        structures: Vec<StructureSource>,
        enumerations: Vec<EnumerationSource>,
        uri_of: impl Fn(u16) -> Option<&'u str>,
    ) -> (Self, Vec<UnknownFieldType>) {
        let mut wrong = Vec::new();
        let structures = usable(structures, &enumerations, &uri_of, &mut wrong);
        let index_of: BTreeMap<&NodeId, usize> =
            structures.iter().enumerate().map(|(index, source)| (&source.data_type, index)).collect();
        let enumeration_of: BTreeMap<&NodeId, usize> =
            enumerations.iter().enumerate().map(|(index, source)| (&source.data_type, index)).collect();
        let resolve = |element: &ElementSource| match element {
            ElementSource::Builtin(ty) => Some(RuntimeElement::Builtin(*ty)),
            ElementSource::Compiled(ty) => Some(RuntimeElement::Compiled(ty)),
            ElementSource::Defined(id) => match (index_of.get(id), enumeration_of.get(id)) {
                (Some(index), _) => Some(RuntimeElement::Structure(*index)),
                (None, Some(index)) => Some(RuntimeElement::Enumeration(*index)),
                (None, None) => None,
            },
        };
        let field = |field: &FieldSource| {
            Some(RuntimeField {
                name: field.name.clone(),
                element: resolve(&field.element)?,
                value_rank: field.value_rank,
                optional: field.optional,
            })
        };
        let mut set = Self::default();
        for source in &structures {
            let Some(data_type) = key(&source.data_type, &uri_of) else { continue };
            let binary_encoding = Some(&source.binary_encoding).filter(|id| !id.is_null());
            let binary_encoding = binary_encoding.and_then(|id| key(id, &uri_of));
            let position = set.structures.len();
            set.by_id.insert(data_type.clone(), position);
            if let Some(encoding) = &binary_encoding {
                set.by_id.insert(encoding.clone(), position);
            }
            set.structures.push(RuntimeStructure {
                name: source.name.clone(),
                data_type,
                binary_encoding,
                kind: source.kind,
                fields: source.fields.iter().filter_map(field).collect(),
            });
        }
        let enumeration = |source: EnumerationSource| RuntimeEnumeration {
            name: source.name,
            option_set: source.option_set,
            values: source.values,
        };
        set.enumerations = enumerations.into_iter().map(enumeration).collect();
        (set, wrong)
    }

    /// Number of structures.
    #[must_use]
    pub fn len(&self) -> usize {
        self.structures.len()
    }

    /// Whether there is no structure.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.structures.is_empty()
    }

    pub(crate) fn structure_at(&self, index: usize) -> Option<&RuntimeStructure> {
        self.structures.get(index)
    }

    pub(crate) fn enumeration_at(&self, index: usize) -> Option<&RuntimeEnumeration> {
        self.enumerations.get(index)
    }

    /// The structure with this DataType or Default Binary encoding.
    #[must_use]
    pub fn find<'a>(self: &'a Arc<Self>, uri: &str, id: NodeIdRef<'_>) -> Option<StructureType<'a>> {
        if self.structures.is_empty() {
            return None;
        }
        let index = self.by_id.get(&(uri.into(), id.to_owned().with_namespace(0)))?;
        self.structures.get(*index).map(|structure| StructureType::Runtime(self, structure))
    }
}

fn key<'u>(id: &NodeId, uri_of: &impl Fn(u16) -> Option<&'u str>) -> Option<OwnedKey> {
    Some((uri_of(id.namespace())?.into(), id.with_namespace(0)))
}

/// The structures all of whose fields are known, until no further one falls away.
fn usable<'u>(
    mut structures: Vec<StructureSource>,
    enumerations: &[EnumerationSource],
    uri_of: &impl Fn(u16) -> Option<&'u str>,
    wrong: &mut Vec<UnknownFieldType>,
) -> Vec<StructureSource> {
    structures.sort_by(|a, b| a.data_type.cmp(&b.data_type));
    structures.dedup_by(|a, b| a.data_type == b.data_type);
    structures.retain(|structure| uri_of(structure.data_type.namespace()).is_some());
    loop {
        let mut known: Vec<&NodeId> = structures.iter().map(|source| &source.data_type).collect();
        known.extend(enumerations.iter().map(|source| &source.data_type));
        known.sort();
        let unknown = |field: &&FieldSource| match &field.element {
            ElementSource::Builtin(_) | ElementSource::Compiled(_) => false,
            ElementSource::Defined(id) => known.binary_search(&id).is_err(),
        };
        let found = |structure: &StructureSource| {
            let field = structure.fields.iter().find(unknown)?;
            let ElementSource::Defined(data_type) = &field.element else { return None };
            Some(UnknownFieldType {
                structure: structure.name.clone(),
                field: field.name.clone(),
                data_type: data_type.clone(),
            })
        };
        let errors: Vec<Option<UnknownFieldType>> = structures.iter().map(found).collect();
        if errors.iter().all(Option::is_none) {
            return structures;
        }
        let mut verdicts = errors.iter();
        structures.retain(|_| verdicts.next().is_some_and(Option::is_none));
        wrong.extend(errors.into_iter().flatten());
    }
}
