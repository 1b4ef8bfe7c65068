//! What generated ObjectTypes say about themselves, for clients and servers alike (OPC 10000-3 §6.2).

use core::fmt;
use core::marker::PhantomData;

use uaforge_codec::{
    IdKind, ModelId, ModelNamespaces, NamespaceMap, NodeId, QualifiedName, TypeKey, TypeRegistry,
    UnknownNamespace, kind,
};

/// A browse name with the URI of its namespace, as models know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemberName {
    /// The namespace URI.
    pub namespace: &'static str,
    /// The exact name.
    pub name: &'static str,
}

impl MemberName {
    /// A name in a namespace.
    pub const fn new(namespace: &'static str, name: &'static str) -> Self {
        Self { namespace, name }
    }

    /// The name by a connection's namespace table.
    ///
    /// # Errors
    /// The table lacks the namespace.
    pub fn resolve(self, namespaces: &NamespaceMap) -> Result<QualifiedName, UnknownNamespace> {
        let index = namespaces.index_of(self.namespace).ok_or(UnknownNamespace { uri: self.namespace })?;
        Ok(QualifiedName::new(index, self.name))
    }
}

impl fmt::Display for MemberName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Names of the Objects, Variables and Methods that an ObjectType declares itself; inherited ones stand at its
/// supertype.
#[derive(Debug)]
pub struct Members {
    /// Those that every instance has.
    pub mandatory: &'static [MemberName],
    /// Those that an instance may have.
    pub optional: &'static [MemberName],
    /// Those of the supertype.
    pub supertype: Option<&'static Members>,
}

impl Members {
    /// The members of BaseObjectType.
    pub const NONE: &'static Self = &Self { mandatory: &[], optional: &[], supertype: None };

    /// The type's own, then those of its supertypes.
    pub fn chain(&'static self) -> impl Iterator<Item = &'static Self> {
        core::iter::successors(Some(self), |members| members.supertype)
    }

    /// Every name that all instances have.
    pub fn all_mandatory(&'static self) -> impl Iterator<Item = MemberName> {
        self.chain().flat_map(|members| members.mandatory.iter().copied())
    }

    /// Every declared name but placeholders.
    pub fn all(&'static self) -> impl Iterator<Item = MemberName> {
        self.chain().flat_map(|members| members.mandatory.iter().chain(members.optional).copied())
    }
}

/// An ObjectType of a model: a type without values that stands for it in `instantiate::<T>` and
/// `object::<T>`. Generated.
pub trait ObjectType: Copy + fmt::Debug + Send + Sync + 'static {
    /// The namespaces of its model.
    type Namespaces: ModelNamespaces;
    /// Its id.
    const ID: ModelId<kind::ObjectType<Self::Namespaces>>;
    /// Its browse name.
    const NAME: &'static str;
    /// What it declares.
    const MEMBERS: &'static Members;
    /// The Methods that it declares itself.
    const METHODS: &'static [MethodMember];
    /// Make the structures of its model, and of those that it requires, known.
    const REGISTER: &'static [RegisterTypes];
}

/// A function that makes the structures of a model known: its `register_types`.
pub type RegisterTypes = fn(&mut TypeRegistry);

/// An ObjectType that is not abstract: there are objects of just this type. Generated.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is abstract",
    note = "objects are of one of its subtypes that are not abstract"
)]
pub trait Concrete: ObjectType {}

/// The type or a subtype of `Base`. Generated.
#[diagnostic::on_unimplemented(message = "`{Self}` is not a `{Base}`", label = "declared at `{Base}`")]
pub trait IsA<Base: ?Sized> {}

/// BaseObjectType (OPC 10000-5 §6.2): an object of any type.
#[derive(Clone, Copy, Debug)]
pub struct BaseObjectType;

impl ObjectType for BaseObjectType {
    type Namespaces = uaforge_types::Namespaces;
    const ID: ModelId<kind::ObjectType<Self::Namespaces>> = ModelId::numeric(0, 58);
    const NAME: &'static str = "BaseObjectType";
    const MEMBERS: &'static Members = Members::NONE;
    const METHODS: &'static [MethodMember] = &[];
    const REGISTER: &'static [RegisterTypes] = &[];
}

impl Concrete for BaseObjectType {}

impl IsA<Self> for BaseObjectType {}

/// A Method that an ObjectType declares (OPC 10000-3 §5.7).
#[derive(Clone, Copy, Debug)]
pub struct MethodMember {
    /// Its browse name.
    pub name: MemberName,
    /// The Method of the type.
    pub declaration: TypeKey,
    /// Names of its input arguments.
    pub inputs: &'static [&'static str],
    /// How many of them, at the end, a call may leave out.
    pub optional_inputs: usize,
    /// Names of its output arguments.
    pub outputs: &'static [&'static str],
}

/// An optional member of the ObjectType `Of`.
pub struct OptionalMember<Of> {
    name: MemberName,
    of: PhantomData<fn() -> Of>,
}

impl<Of> OptionalMember<Of> {
    /// The member with this name.
    pub const fn new(name: MemberName) -> Self {
        Self { name, of: PhantomData }
    }

    /// Its browse name.
    pub const fn name(self) -> MemberName {
        self.name
    }
}

impl<Of> Clone for OptionalMember<Of> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<Of> Copy for OptionalMember<Of> {}

impl<Of> fmt::Debug for OptionalMember<Of> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OptionalMember").field(&self.name).finish()
    }
}

/// A placeholder of the ObjectType `Of` (OPC 10000-3 §6.4.4.4).
pub struct PlaceholderMember<Of> {
    name: MemberName,
    reference_type: TypeKey,
    type_definition: TypeKey,
    of: PhantomData<fn() -> Of>,
}

impl<Of> PlaceholderMember<Of> {
    /// The placeholder with this name in angle brackets, its reference and the type of its instances.
    pub const fn new(name: MemberName, reference_type: TypeKey, type_definition: TypeKey) -> Self {
        Self { name, reference_type, type_definition, of: PhantomData }
    }

    /// Its browse name, such as `<Sensor>`.
    pub const fn name(self) -> MemberName {
        self.name
    }

    /// The reference to its instances.
    pub const fn reference_type(self) -> TypeKey {
        self.reference_type
    }

    /// The type of its instances.
    pub const fn type_definition(self) -> TypeKey {
        self.type_definition
    }
}

impl<Of> Clone for PlaceholderMember<Of> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<Of> Copy for PlaceholderMember<Of> {}

impl<Of> fmt::Debug for PlaceholderMember<Of> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PlaceholderMember").field(&self.name).finish()
    }
}

/// The NodeId of a key by a connection's namespace table.
///
/// # Errors
/// The table lacks the namespace.
pub fn resolve_key(key: TypeKey, namespaces: &NamespaceMap) -> Result<NodeId, UnknownNamespace> {
    let index = namespaces.index_of(key.namespace).ok_or(UnknownNamespace { uri: key.namespace })?;
    Ok(key.id.in_namespace(index).to_owned())
}

/// What names a node: a NodeId or a model's constant.
pub trait NodeRef {
    /// The NodeId by a connection's namespace table.
    ///
    /// # Errors
    /// The table lacks the model.
    fn node_id(&self, namespaces: &NamespaceMap) -> Result<NodeId, UnknownNamespace>;
}

impl NodeRef for NodeId {
    fn node_id(&self, _: &NamespaceMap) -> Result<NodeId, UnknownNamespace> {
        Ok(self.clone())
    }
}

impl NodeRef for &NodeId {
    fn node_id(&self, _: &NamespaceMap) -> Result<NodeId, UnknownNamespace> {
        Ok((*self).clone())
    }
}

impl<K: IdKind> NodeRef for ModelId<K> {
    fn node_id(&self, namespaces: &NamespaceMap) -> Result<NodeId, UnknownNamespace> {
        self.resolve(namespaces)
    }
}

/// Index of the server's own namespace on every connection (OPC 10000-3 §8.2.2).
const APPLICATION: u16 = 1;

/// The name of an instance: text alone is a name in the server's own namespace, which is where
/// applications put their instances.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InstanceName {
    /// A name of the connection.
    Name(QualifiedName),
    /// A name by URI.
    Uri(MemberName),
}

impl InstanceName {
    /// The name by a connection's namespace table.
    ///
    /// # Errors
    /// The table lacks the namespace.
    pub fn resolve(&self, namespaces: &NamespaceMap) -> Result<QualifiedName, UnknownNamespace> {
        match self {
            Self::Name(name) => Ok(name.clone()),
            Self::Uri(name) => name.resolve(namespaces),
        }
    }
}

impl From<&str> for InstanceName {
    fn from(name: &str) -> Self {
        Self::Name(QualifiedName::new(APPLICATION, name))
    }
}

impl From<alloc::string::String> for InstanceName {
    fn from(name: alloc::string::String) -> Self {
        Self::Name(QualifiedName::new(APPLICATION, name))
    }
}

impl From<QualifiedName> for InstanceName {
    fn from(name: QualifiedName) -> Self {
        Self::Name(name)
    }
}

impl From<MemberName> for InstanceName {
    fn from(name: MemberName) -> Self {
        Self::Uri(name)
    }
}

impl fmt::Display for InstanceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => name.name.fmt(f),
            Self::Uri(name) => name.fmt(f),
        }
    }
}
