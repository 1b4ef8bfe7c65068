//! Structures and the registry that decodes them out of ExtensionObjects.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::any::Any;
use core::fmt;

use hashbrown::HashMap;

use crate::string::ARC_HEADER;
use crate::{
    ConstIdentifier, Decode, DecodeError, Decoder, Encode, Encoder, ExtensionObjectBody, IdentifierRef,
    NodeIdRef, RuntimeTypes, StatusCode, StructureDescriptor, StructureType, TypeKey,
};

/// A structure or union, generated or derived (OPC 10000-6 §5.2.6).
pub trait Structure: Encode + Decode + Clone + PartialEq + fmt::Debug + Send + Sync + 'static {
    /// Id of its DataType. Apart from the description, so that a structure may contain itself.
    const DATA_TYPE: TypeKey;
    /// Its static description.
    const DESCRIPTOR: &'static StructureDescriptor;
}

/// A structure behind a pointer. Implemented for every [`Structure`] (OPC 10000-6 §5.2.6).
pub trait StructureValue: fmt::Debug + Send + Sync + 'static {
    /// The description of its type.
    fn descriptor(&self) -> &'static StructureDescriptor;
    /// Writes its fields.
    fn encode_body(&self, e: &mut Encoder<'_>);
    /// For downcasts.
    fn as_any(&self) -> &dyn Any;
    /// Equality with a value of any type.
    fn equals(&self, other: &dyn StructureValue) -> bool;
}

impl<T: Structure> StructureValue for T {
    fn descriptor(&self) -> &'static StructureDescriptor {
        T::DESCRIPTOR
    }

    fn encode_body(&self, e: &mut Encoder<'_>) {
        self.encode(e);
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn equals(&self, other: &dyn StructureValue) -> bool {
        other.as_any().downcast_ref::<T>() == Some(self)
    }
}

pub(crate) type DecodeBody = fn(&mut ExtensionObjectBody, &mut Decoder<'_>) -> Result<(), DecodeError>;

#[derive(Clone, Copy)]
struct Entry {
    decode: DecodeBody,
    descriptor: &'static StructureDescriptor,
}

/// The structures that ExtensionObject bodies are decoded as, by the id of their binary
/// encoding (OPC 10000-6 §5.2.2.15).
#[derive(Clone, Default)]
pub struct TypeRegistry {
    /// Numeric ids by namespace URI; a handful of namespaces.
    namespaces: alloc::vec::Vec<(&'static str, HashMap<u32, Entry, foldhash::fast::FixedState>)>,
    others: alloc::vec::Vec<(TypeKey, Entry)>,
    runtime: Option<Arc<RuntimeTypes>>,
    status_name: Option<fn(StatusCode) -> Option<&'static str>>,
}

static EMPTY: TypeRegistry = TypeRegistry {
    namespaces: alloc::vec::Vec::new(),
    others: alloc::vec::Vec::new(),
    runtime: None,
    status_name: None,
};

impl TypeRegistry {
    /// A registry without types.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The shared registry without types.
    #[must_use]
    pub fn empty() -> &'static Self {
        &EMPTY
    }

    /// Makes `T` known. A type without a binary encoding is left out.
    pub fn register<T: Structure>(&mut self) {
        let Some(key) = T::DESCRIPTOR.binary_encoding else {
            return;
        };
        let entry = Entry { decode: decode_body::<T>, descriptor: T::DESCRIPTOR };
        let ConstIdentifier::Numeric(id) = key.id else {
            self.others.retain(|(known, _)| *known != key);
            self.others.push((key, entry));
            return;
        };
        let position = self.namespaces.iter().position(|(uri, _)| *uri == key.namespace);
        let position = position.unwrap_or_else(|| {
            self.namespaces.push((key.namespace, HashMap::default()));
            self.namespaces.len() - 1
        });
        if let Some((_, types)) = self.namespaces.get_mut(position) {
            types.insert(id, entry);
        }
    }

    /// Makes structures known that have no Rust type; they replace earlier ones.
    pub fn set_runtime_types(&mut self, types: Arc<RuntimeTypes>) {
        self.runtime = Some(types);
    }

    /// Sets where the symbolic names of status codes come from, which texts in JSON show.
    pub fn set_status_names(&mut self, name: fn(StatusCode) -> Option<&'static str>) {
        self.status_name = Some(name);
    }

    /// The symbolic name of a status code, if names are known.
    #[must_use]
    pub fn status_name(&self, status: StatusCode) -> Option<&'static str> {
        self.status_name.and_then(|name| name(status))
    }

    /// The structure with this id: of its DataType or of one of its encodings. Structures without a Rust
    /// type are found by the ids of DataType and Default Binary encoding.
    #[must_use]
    pub fn structure_type(&self, uri: &str, id: NodeIdRef<'_>) -> Option<StructureType<'_>> {
        if let Some(entry) = self.find(uri, id) {
            return Some(StructureType::Static(entry.descriptor));
        }
        let is = |key: &TypeKey| key.namespace == uri && key.id.in_namespace(id.namespace()) == id;
        let known = self.descriptors().find(|descriptor| {
            let encodings = [&descriptor.xml_encoding, &descriptor.json_encoding];
            is(&descriptor.data_type) || encodings.into_iter().flatten().any(is)
        });
        known.map(StructureType::Static).or_else(|| self.runtime.as_ref()?.find(uri, id))
    }

    fn find(&self, uri: &str, id: NodeIdRef<'_>) -> Option<Entry> {
        if let Some(id) = id.as_numeric() {
            let (_, types) = self.namespaces.iter().find(|(known, _)| *known == uri)?;
            return types.get(&id).copied();
        }
        let found = self
            .others
            .iter()
            .find(|(key, _)| key.namespace == uri && key.id.in_namespace(id.namespace()) == id);
        found.map(|(_, entry)| *entry)
    }

    /// The description of the structure with this binary encoding.
    #[must_use]
    pub fn descriptor(&self, uri: &str, encoding: NodeIdRef<'_>) -> Option<&'static StructureDescriptor> {
        self.find(uri, encoding).map(|entry| entry.descriptor)
    }

    /// Every known structure.
    pub fn descriptors(&self) -> impl Iterator<Item = &'static StructureDescriptor> {
        let numeric = self.namespaces.iter().flat_map(|(_, types)| types.values());
        numeric.chain(self.others.iter().map(|(_, entry)| entry)).map(|entry| entry.descriptor)
    }

    /// The decoder of the structure with this binary encoding, if it is known.
    pub(crate) fn decoder(&self, uri: &str, encoding: NodeIdRef<'_>) -> Option<DecodeBody> {
        self.find(uri, encoding).map(|entry| entry.decode)
    }
}

impl fmt::Debug for TypeRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.descriptors().map(|descriptor| descriptor.name)).finish()
    }
}

fn decode_body<T: Structure>(body: &mut ExtensionObjectBody, d: &mut Decoder<'_>) -> Result<(), DecodeError> {
    let mut value = crate::decoder::shared_default::<T>();
    if let Some(value) = Arc::get_mut(&mut value) {
        d.charge(size_of::<T>() + ARC_HEADER)?;
        if let Err(error) = value.decode_into(d) {
            return Err(error.in_field(T::DESCRIPTOR.name));
        }
    }
    *body = ExtensionObjectBody::Value(value);
    Ok(())
}

impl ConstIdentifier {
    /// The identifier, borrowed.
    #[must_use]
    pub const fn as_ref(&self) -> IdentifierRef<'_> {
        match self {
            Self::Numeric(id) => IdentifierRef::Numeric(*id),
            Self::String(id) => IdentifierRef::String(id),
            Self::Guid(id) => IdentifierRef::Guid(*id),
            Self::Opaque(id) => IdentifierRef::Opaque(id),
        }
    }
}

impl<T: Encode> Encode for Box<T> {
    fn encode(&self, e: &mut Encoder<'_>) {
        (**self).encode(e);
    }
}

/// Only recursive structures box their fields; they count their levels themselves.
impl<T: Decode> Decode for Box<T> {
    const MIN_SIZE: usize = T::MIN_SIZE;

    fn decode_into(&mut self, d: &mut Decoder<'_>) -> Result<(), DecodeError> {
        d.charge(size_of::<T>())?;
        (**self).decode_into(d)
    }
}
