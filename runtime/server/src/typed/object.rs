//! Objects: the base of every generated handle.

use core::fmt;
use std::sync::Arc;

use uaforge_codec::{NodeId, NodeIdRef, QualifiedName};
use uaforge_nodes::typed::{InstanceName, MemberName, NodeRef, ObjectType, PlaceholderMember, resolve_key};
use uaforge_nodes::{BrowseName, Direction, Node, NodeClass, ValueCell};
use uaforge_types::ids;

use super::instantiate::add_placeholder;
use super::{HandleOf, HandleType, InstanceError, Named};
use crate::{Server, Variable, VariableHandle};

impl Server {
    /// A handle of an object that exists, such as one of a model, by its id or a model's constant.
    ///
    /// # Errors
    /// There is no such object, it is of another type, or a model is missing.
    pub fn object_at<T: HandleType>(&self, node: impl NodeRef) -> Result<HandleOf<T>, InstanceError> {
        let snapshot = self.space().snapshot();
        let node_id = node.node_id(snapshot.namespaces())?;
        let wanted = T::ID.resolve(snapshot.namespaces())?;
        let node = snapshot.node(node_id.as_ref()).filter(|node| node.class() == NodeClass::Object);
        let found = node.and_then(|node| node.type_definition());
        if !found.is_some_and(|found| snapshot.is_subtype(found, wanted.as_ref())) {
            return Err(InstanceError::NotOfType { node_id, expected: T::NAME });
        }
        Ok(ObjectHandle::new(self.clone(), node_id).into())
    }
}

/// An object of any type on this server. Generated handles dereference to it over those of their supertypes.
#[derive(Clone)]
pub struct ObjectHandle {
    server: Server,
    node_id: Arc<NodeId>,
}

impl ObjectHandle {
    pub(super) fn new(server: Server, node_id: NodeId) -> Self {
        Self { server, node_id: Arc::new(node_id) }
    }

    /// The object's NodeId.
    #[must_use]
    pub fn node_id(&self) -> &NodeId {
        &self.node_id
    }

    pub(super) fn server(&self) -> &Server {
        &self.server
    }

    /// A mandatory variable. Should it have been removed from the address space, what is set is kept
    /// but shown to nobody.
    #[must_use]
    pub fn variable<T>(&self, name: MemberName) -> Variable<T> {
        self.optional_variable(name)
            .unwrap_or_else(|| VariableHandle::new(NodeId::NULL, Arc::new(ValueCell::default())).typed())
    }

    /// A variable that the object may lack.
    #[must_use]
    pub fn optional_variable<T>(&self, name: MemberName) -> Option<Variable<T>> {
        self.named_variable(name)
    }

    /// A variable by its name.
    #[must_use]
    pub fn named_variable<T>(&self, name: impl Into<InstanceName>) -> Option<Variable<T>> {
        let id = self.child(&name.into(), NodeClass::Variable)?;
        self.variable_at(id)
    }

    /// Takes the cell where there is one: only the first use changes the address space.
    fn variable_at<T>(&self, id: NodeId) -> Option<Variable<T>> {
        let snapshot = self.server.space().snapshot();
        match snapshot.node(id.as_ref()).and_then(|node| node.cell()) {
            Some(cell) => Some(VariableHandle::new(id, Arc::clone(cell)).typed()),
            None => self.server.typed_variable(&id).ok(),
        }
    }

    /// A mandatory object. Should it have been removed, its members are kept but shown to nobody.
    #[must_use]
    pub fn object<T: HandleType>(&self, name: MemberName) -> HandleOf<T> {
        let id = self.child(&name.into(), NodeClass::Object).unwrap_or_default();
        Self::new(self.server.clone(), id).into()
    }

    /// An object that may be missing.
    #[must_use]
    pub fn optional_object<T: HandleType>(&self, name: MemberName) -> Option<HandleOf<T>> {
        self.named_object::<T>(name)
    }

    /// An object by its name.
    #[must_use]
    pub fn named_object<T: HandleType>(&self, name: impl Into<InstanceName>) -> Option<HandleOf<T>> {
        let id = self.child(&name.into(), NodeClass::Object)?;
        Some(Self::new(self.server.clone(), id).into())
    }

    /// The variables that stand for a placeholder.
    #[must_use]
    pub fn placeholder_variables<Of: ObjectType, T>(
        &self,
        member: PlaceholderMember<Of>,
    ) -> Named<Variable<T>> {
        let found = self.instances(member, NodeClass::Variable).into_iter();
        found.filter_map(|(name, id)| Some((name, self.variable_at(id)?))).collect()
    }

    /// The objects that stand for a placeholder.
    #[must_use]
    pub fn placeholder_objects<Of: ObjectType, T: HandleType>(
        &self,
        member: PlaceholderMember<Of>,
    ) -> Named<HandleOf<T>> {
        let found = self.instances(member, NodeClass::Object).into_iter();
        found.map(|(name, id)| (name, Self::new(self.server.clone(), id).into())).collect()
    }

    /// Adds a variable for a placeholder.
    ///
    /// # Errors
    /// The name is taken, or the object is of a type without the placeholder.
    pub fn add_variable<Of, T>(
        &self,
        member: PlaceholderMember<Of>,
        name: impl Into<InstanceName>,
    ) -> Result<Variable<T>, InstanceError> {
        let id = add_placeholder(self, self.type_definition(), member, &name.into())?;
        let variable = self.server.typed_variable(&id);
        Ok(variable.unwrap_or_else(|_| VariableHandle::new(id, Arc::new(ValueCell::default())).typed()))
    }

    /// Adds an object for a placeholder, with its mandatory members.
    ///
    /// # Errors
    /// The name is taken, the placeholder's type is abstract, or the object is of a type without it.
    pub fn add_object<Of, T: HandleType>(
        &self,
        member: PlaceholderMember<Of>,
        name: impl Into<InstanceName>,
    ) -> Result<HandleOf<T>, InstanceError> {
        let id = add_placeholder(self, self.type_definition(), member, &name.into())?;
        Ok(Self::new(self.server.clone(), id).into())
    }

    fn type_definition(&self) -> NodeId {
        let snapshot = self.server.space().snapshot();
        let node = snapshot.node(self.node_id.as_ref().as_ref());
        node.and_then(|node| node.type_definition()).map(NodeIdRef::to_owned).unwrap_or_default()
    }

    fn child(&self, name: &InstanceName, class: NodeClass) -> Option<NodeId> {
        let snapshot = self.server.space().snapshot();
        let name = name.resolve(snapshot.namespaces()).ok()?;
        let filter = snapshot.reference_filter(hierarchical(), true)?;
        let node = snapshot.node(self.node_id.as_ref().as_ref())?;
        let mut found = node.follow(filter, false, name.namespace_index, name.name.text());
        found.find(|node| node.class() == class).map(|node| node.id().to_owned())
    }

    /// Instances of a placeholder: below its reference, of its type, and not declared by name.
    fn instances<Of: ObjectType>(
        &self,
        member: PlaceholderMember<Of>,
        class: NodeClass,
    ) -> Vec<(QualifiedName, NodeId)> {
        let space = self.server.space();
        let keys = (member.reference_type(), member.type_definition());
        let (Ok(reference_type), Ok(wanted)) =
            (resolve_key(keys.0, space.namespaces()), resolve_key(keys.1, space.namespaces()))
        else {
            return Vec::new();
        };
        let snapshot = space.snapshot();
        let declared: Vec<QualifiedName> =
            Of::MEMBERS.all().filter_map(|name| name.resolve(space.namespaces()).ok()).collect();
        let mut found = self.children(reference_type, class);
        found.retain(|(name, id)| {
            if declared.contains(name) {
                return false;
            }
            let type_definition = snapshot.node(id.as_ref()).and_then(|node| node.type_definition());
            type_definition.is_some_and(|found| snapshot.is_subtype(found, wanted.as_ref()))
        });
        found
    }

    fn children(&self, reference_type: NodeId, class: NodeClass) -> Vec<(QualifiedName, NodeId)> {
        let snapshot = self.server.space().snapshot();
        let filter = snapshot.reference_filter(reference_type.as_ref(), true);
        let node = snapshot.node(self.node_id.as_ref().as_ref());
        let (Some(node), Some(filter)) = (node, filter) else {
            return Vec::new();
        };
        let targets = node.references(Direction::Forward, filter).filter_map(|reference| reference.target());
        let children = targets.filter(|target: &Node<'_>| target.class() == class);
        children.map(|target| (qualified_name(target.browse_name()), target.id().to_owned())).collect()
    }
}

fn qualified_name(name: BrowseName<'_>) -> QualifiedName {
    QualifiedName::new(name.namespace, name.name)
}

/// HierarchicalReferences.
fn hierarchical() -> NodeIdRef<'static> {
    ids::reference_type::HIERARCHICAL_REFERENCES.identifier().in_namespace(0)
}

impl fmt::Debug for ObjectHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ObjectHandle").field(&self.node_id).finish()
    }
}
