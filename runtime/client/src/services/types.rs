//! Types that a server has and this program has not: their definitions, read and made known.

use std::collections::HashMap;
use std::sync::Arc;

use uaforge_codec::{
    BuiltinType, DynamicStructure, ElementSource, EnumerationSource, ExtensionObject, FieldSource, NodeId,
    RuntimeTypes, StructureKind, StructureSource, UnknownFieldType, Variant,
};
use uaforge_nodes::AttributeId;
use uaforge_types::{EnumDefinition, StructureDefinition, StructureType, ids};

use super::read::ReadItem;
use crate::{Error, Session};

/// Data types that are asked about; a server with more is not believed.
const MAX_TYPES: usize = 100_000;
/// Builtin types are the DataTypes up to DiagnosticInfo (OPC 10000-6 §5.1.2).
const LAST_BUILTIN: u32 = 25;

/// What [`Session::load_types`] has found.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct LoadedTypes {
    /// Structures that are known now by their definitions alone.
    pub structures: usize,
    /// Structures whose fields have types that the server does not define; they stay unknown.
    pub skipped: Vec<UnknownFieldType>,
}

/// A DataType node of the server.
struct DataType {
    id: NodeId,
    parent: NodeId,
    name: Arc<str>,
    is_abstract: bool,
    definition: Definition,
}

enum Definition {
    None,
    Structure(StructureDefinition),
    Enumeration(EnumDefinition),
}

impl Session {
    /// Reads the DataTypeDefinition of every data type of the server (OPC 10000-3 §5.8.3), in batches, and
    /// makes the structures known that this program has no Rust type for, so that
    /// [`Session::dynamic`] gives their fields by name.
    ///
    /// ```no_run
    /// # use uaforge_client::{Error, Session};
    /// # use uaforge_codec::{NodeId, Variant};
    /// # async fn example(session: Session) -> Result<(), Error> {
    /// session.load_types().await?;
    /// if let Variant::ExtensionObject(object) = session.read_value(&NodeId::numeric(2, 7)).await?.into_value() {
    ///     for (name, value) in session.dynamic(&object)?.fields() {
    ///         println!("{name} = {value:?}");
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// A call failed as a whole. What a server says of single types is taken as it is.
    pub async fn load_types(&self) -> Result<LoadedTypes, Error> {
        let mut types = self.data_types().await?;
        self.read_definitions(&mut types).await?;
        let tables = &self.link().tables;
        let snapshot = tables.snapshot();
        let known = Known::new(&types, &snapshot.types, &snapshot.namespaces);
        let (structures, enumerations) = known.sources();
        let uri_of = |index| snapshot.namespaces.uri(index);
        let (loaded, skipped) = RuntimeTypes::new(structures, enumerations, uri_of);
        let structures = loaded.len();
        tables.set_runtime_types(Arc::new(loaded));
        Ok(LoadedTypes { structures, skipped })
    }

    /// The fields of a structure by name, of whatever type that is known: compiled in, registered, or read
    /// by [`Session::load_types`].
    ///
    /// # Errors
    /// The type is not known, or the body is not one of it.
    pub fn dynamic(&self, object: &ExtensionObject) -> Result<DynamicStructure, Error> {
        let snapshot = self.link().tables.snapshot();
        let limits = uaforge_codec::DecodeLimits::DEFAULT;
        DynamicStructure::from_extension_object(object, snapshot.decode_context(&limits)).map_err(Error::from)
    }

    /// The known structures and the names of status codes, as texts in JSON and XML need them.
    #[must_use]
    pub fn types(&self) -> Arc<uaforge_codec::TypeRegistry> {
        self.link().tables.snapshot().types
    }

    async fn data_types(&self) -> Result<Vec<DataType>, Error> {
        let root = self.resolve(ids::data_type::BASE_DATA_TYPE)?;
        let has_subtype = self.resolve(ids::reference_type::HAS_SUBTYPE)?;
        let mut walk = self.walk(root).references(has_subtype).max_nodes(MAX_TYPES);
        let mut types = Vec::new();
        while let Some(visit) = walk.next().await {
            let visit = visit?;
            types.push(DataType {
                id: visit.reference.node_id.node_id,
                parent: visit.parent,
                name: visit.reference.browse_name.name.text().into(),
                is_abstract: false,
                definition: Definition::None,
            });
        }
        Ok(types)
    }

    async fn read_definitions(&self, types: &mut [DataType]) -> Result<(), Error> {
        let items: Vec<ReadItem> = types
            .iter()
            .flat_map(|ty| {
                let attributes = [AttributeId::DataTypeDefinition, AttributeId::IsAbstract];
                attributes.map(|attribute| ReadItem::attribute(&ty.id, attribute))
            })
            .collect();
        let mut values = self.read_many(items);
        for ty in types {
            let definition = values.next().await.transpose()?.map(uaforge_codec::DataValue::into_value);
            let is_abstract = values.next().await.transpose()?.map(uaforge_codec::DataValue::into_value);
            ty.is_abstract = is_abstract == Some(Variant::Boolean(true));
            // Types without a definition answer with a status (OPC 10000-3 §5.8.3).
            let Some(Variant::ExtensionObject(object)) = definition else { continue };
            ty.definition = if let Some(definition) = object.downcast_ref::<StructureDefinition>() {
                Definition::Structure(definition.clone())
            } else if let Some(definition) = object.downcast_ref::<EnumDefinition>() {
                Definition::Enumeration(definition.clone())
            } else {
                Definition::None
            };
        }
        Ok(())
    }
}

/// The types of a server by their ids.
struct Known<'a> {
    types: &'a [DataType],
    by_id: HashMap<&'a NodeId, &'a DataType>,
    registry: &'a uaforge_codec::TypeRegistry,
    namespaces: &'a uaforge_codec::NamespaceMap,
}

impl<'a> Known<'a> {
    fn new(
        types: &'a [DataType],
        registry: &'a uaforge_codec::TypeRegistry,
        namespaces: &'a uaforge_codec::NamespaceMap,
    ) -> Self {
        let by_id = types.iter().map(|ty| (&ty.id, ty)).collect();
        Self { types, by_id, registry, namespaces }
    }

    fn sources(&self) -> (Vec<StructureSource>, Vec<EnumerationSource>) {
        let (mut structures, mut enumerations) = (Vec::new(), Vec::new());
        for ty in self.types {
            match &ty.definition {
                // Compiled-in types keep theirs.
                Definition::Structure(_) if self.compiled(&ty.id).is_some() => {}
                Definition::Structure(definition) => structures.push(self.structure(ty, definition)),
                Definition::Enumeration(definition) => enumerations.extend(self.enumeration(ty, definition)),
                Definition::None => {}
            }
        }
        (structures, enumerations)
    }

    fn compiled(&self, id: &NodeId) -> Option<&'static uaforge_codec::StructureDescriptor> {
        let uri = self.namespaces.uri(id.namespace())?;
        match self.registry.structure_type(uri, id.as_ref())? {
            uaforge_codec::StructureType::Static(descriptor) => Some(descriptor),
            uaforge_codec::StructureType::Runtime(..) => None,
        }
    }

    fn structure(&self, ty: &DataType, definition: &StructureDefinition) -> StructureSource {
        let kind = match definition.structure_type {
            StructureType::STRUCTURE_WITH_OPTIONAL_FIELDS => StructureKind::OptionalFields,
            StructureType::UNION => StructureKind::Union,
            StructureType::STRUCTURE_WITH_SUBTYPED_VALUES => StructureKind::SubtypedValues,
            StructureType::UNION_WITH_SUBTYPED_VALUES => StructureKind::UnionSubtypedValues,
            _ => StructureKind::Plain,
        };
        // IsOptional means AllowSubTypes in the two kinds that have those (OPC 10000-3 §8.49).
        let subtyped = matches!(kind, StructureKind::SubtypedValues | StructureKind::UnionSubtypedValues);
        let field = |field: &uaforge_types::StructureField| FieldSource {
            name: field.name.text().into(),
            element: self.element(&field.data_type, subtyped && field.is_optional),
            value_rank: field.value_rank,
            optional: kind == StructureKind::OptionalFields && field.is_optional,
        };
        StructureSource {
            data_type: ty.id.clone(),
            name: ty.name.clone(),
            binary_encoding: definition.default_encoding_id.clone(),
            kind,
            fields: definition.fields.iter().map(field).collect(),
        }
    }

    /// Option sets are subtypes of unsigned integers, enumerations of Enumeration (OPC 10000-3 §8.14, §8.40).
    fn enumeration(&self, ty: &DataType, definition: &EnumDefinition) -> Option<EnumerationSource> {
        let option_set = match self.builtin(&ty.id) {
            Some(
                base @ (BuiltinType::Byte | BuiltinType::UInt16 | BuiltinType::UInt32 | BuiltinType::UInt64),
            ) => Some(base),
            Some(BuiltinType::Int32) => None,
            _ => return None,
        };
        let values = definition.fields.iter().map(|field| (field.name.text().into(), field.value)).collect();
        Some(EnumerationSource { data_type: ty.id.clone(), name: ty.name.clone(), option_set, values })
    }

    fn element(&self, id: &NodeId, allow_subtypes: bool) -> ElementSource {
        let builtin = self.builtin(id);
        match builtin {
            Some(BuiltinType::ExtensionObject) => {}
            Some(builtin) => {
                let named = self.by_id.get(id).map(|ty| &ty.definition);
                return match named {
                    Some(Definition::Enumeration(_)) => ElementSource::Defined(id.clone()),
                    _ => ElementSource::Builtin(builtin),
                };
            }
            None => return ElementSource::Defined(id.clone()),
        }
        let is_abstract = self.by_id.get(id).is_some_and(|ty| ty.is_abstract);
        if allow_subtypes || is_abstract || *id == NodeId::numeric(0, BuiltinType::ExtensionObject as u32) {
            return ElementSource::Builtin(BuiltinType::ExtensionObject);
        }
        match self.compiled(id) {
            Some(descriptor) => ElementSource::Compiled(descriptor),
            None => ElementSource::Defined(id.clone()),
        }
    }

    /// What the type is encoded as, by its supertypes; structures are ExtensionObject.
    fn builtin(&self, id: &NodeId) -> Option<BuiltinType> {
        let mut id = id;
        // A server's types may form a circle.
        for _ in 0..100 {
            match id.as_numeric().filter(|_| id.namespace() == 0) {
                // Number, Integer, UInteger and BaseDataType are any value (OPC 10000-6 §5.1.9).
                Some(24 | 26..=28) => return Some(BuiltinType::Variant),
                Some(29) => return Some(BuiltinType::Int32),
                Some(number @ 1..=LAST_BUILTIN) => {
                    return BuiltinType::from_number(u8::try_from(number).ok()?);
                }
                _ => id = &self.by_id.get(id)?.parent,
            }
        }
        None
    }
}
