//! Ids of models: constants that hold a slot of their model, not a namespace index.

use core::fmt;
use core::hash::{Hash, Hasher};
use core::marker::PhantomData;

use crate::{Guid, NamespaceMap, NodeId, NodeIdRef};

/// An identifier that can stand in a constant (OPC 10000-3 §8.2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConstIdentifier {
    /// `i=`
    Numeric(u32),
    /// `s=`
    String(&'static str),
    /// `g=`
    Guid(Guid),
    /// `b=`
    Opaque(&'static [u8]),
}

impl ConstIdentifier {
    /// The wire NodeId in a namespace, borrowed.
    #[inline]
    #[must_use]
    pub const fn in_namespace(self, namespace: u16) -> NodeIdRef<'static> {
        match self {
            Self::Numeric(id) => NodeIdRef::Numeric(namespace, id),
            Self::String(id) => NodeIdRef::String(namespace, id.as_bytes()),
            Self::Guid(id) => NodeIdRef::Guid(namespace, id),
            Self::Opaque(id) => NodeIdRef::Opaque(namespace, id),
        }
    }
}

/// The namespaces that a model's constants refer to by slot.
pub trait ModelNamespaces {
    /// Slot 0 is the model itself, slot 1 the OPC UA namespace, then the required models.
    /// The base model has its own slot alone.
    const SLOTS: &'static [&'static str];
}

/// NodeClass bits (OPC 10000-3 §8.29).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeClassMask(pub u32);

/// What a [`ModelId`] is the id of.
pub trait IdKind {
    /// The model whose slots the id uses.
    type Model: ModelNamespaces;
    /// The NodeClass.
    const CLASS: NodeClassMask;
}

/// Kinds of model ids: the NodeClass, the model and, for variables, the type of the value.
pub mod kind {
    use super::{IdKind, ModelNamespaces, NodeClassMask, PhantomData};

    macro_rules! kinds {
        ($($name:ident<M $(, $value:ident)?> = $class:literal, $doc:literal;)*) => {$(
            #[doc = $doc]
            #[derive(Debug)]
            pub struct $name<M $(, $value)?>(PhantomData<fn() -> (M, $($value)?)>);

            impl<M: ModelNamespaces $(, $value)?> IdKind for $name<M $(, $value)?> {
                type Model = M;
                const CLASS: NodeClassMask = NodeClassMask($class);
            }
        )*};
    }

    kinds! {
        Object<M> = 1, "An Object.";
        Variable<M, T> = 2, "A Variable with values of type `T`.";
        Method<M> = 4, "A Method.";
        ObjectType<M> = 8, "An ObjectType.";
        VariableType<M, T> = 16, "A VariableType with values of type `T`.";
        ReferenceType<M> = 32, "A ReferenceType.";
        DataType<M> = 64, "A DataType.";
        View<M> = 128, "A View.";
    }
}

/// The id of a node of a model. Constant; becomes a [`NodeId`] by the table of a
/// connection (OPC 10000-3 §8.2).
pub struct ModelId<K> {
    slot: u8,
    identifier: ConstIdentifier,
    kind: PhantomData<fn() -> K>,
}

impl<K> ModelId<K> {
    /// Any identifier.
    #[must_use]
    pub const fn new(slot: u8, identifier: ConstIdentifier) -> Self {
        Self { slot, identifier, kind: PhantomData }
    }

    /// A numeric id.
    #[must_use]
    pub const fn numeric(slot: u8, id: u32) -> Self {
        Self::new(slot, ConstIdentifier::Numeric(id))
    }

    /// A string id.
    #[must_use]
    pub const fn string(slot: u8, id: &'static str) -> Self {
        Self::new(slot, ConstIdentifier::String(id))
    }

    /// A Guid id.
    #[must_use]
    pub const fn guid(slot: u8, id: Guid) -> Self {
        Self::new(slot, ConstIdentifier::Guid(id))
    }

    /// An opaque id.
    #[must_use]
    pub const fn opaque(slot: u8, id: &'static [u8]) -> Self {
        Self::new(slot, ConstIdentifier::Opaque(id))
    }

    /// The slot of its model's namespace list.
    #[must_use]
    pub const fn slot(self) -> u8 {
        self.slot
    }

    /// The identifier.
    #[must_use]
    pub const fn identifier(self) -> ConstIdentifier {
        self.identifier
    }
}

impl<K: IdKind> ModelId<K> {
    /// The namespace URI; empty if the slot is not one of the model.
    #[must_use]
    pub fn namespace_uri(self) -> &'static str {
        K::Model::SLOTS.get(usize::from(self.slot)).copied().unwrap_or_default()
    }

    /// The NodeId on a connection with this namespace table.
    ///
    /// # Errors
    /// The peer does not have the model's namespace.
    pub fn resolve(self, namespaces: &NamespaceMap) -> Result<NodeId, UnknownNamespace> {
        self.resolve_ref(namespaces).map(NodeIdRef::to_owned)
    }

    /// As [`ModelId::resolve`], without owning.
    ///
    /// # Errors
    /// The peer does not have the model's namespace.
    pub fn resolve_ref(self, namespaces: &NamespaceMap) -> Result<NodeIdRef<'static>, UnknownNamespace> {
        let uri = self.namespace_uri();
        let index = namespaces.index_of(uri).ok_or(UnknownNamespace { uri })?;
        Ok(self.identifier.in_namespace(index))
    }
}

/// A model's namespace is not in the peer's NamespaceArray.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the server does not have the namespace `{uri}`")]
pub struct UnknownNamespace {
    /// The missing URI.
    pub uri: &'static str,
}

impl<K> Clone for ModelId<K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K> Copy for ModelId<K> {}

impl<K> PartialEq for ModelId<K> {
    fn eq(&self, other: &Self) -> bool {
        self.slot == other.slot && self.identifier == other.identifier
    }
}

impl<K> Eq for ModelId<K> {}

impl<K> Hash for ModelId<K> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.slot.hash(state);
        self.identifier.hash(state);
    }
}

impl<K> fmt::Debug for ModelId<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ModelId(slot {}, {:?})", self.slot, self.identifier)
    }
}
