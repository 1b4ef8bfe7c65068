//! Making instances of generated ObjectTypes (OPC 10000-3 §6.2).

use core::marker::PhantomData;
use std::sync::Arc;

use uaforge_codec::{NamespaceMap, NodeId, QualifiedName, UnknownNamespace};
use uaforge_nodes::instantiate::{Methods, Placeholder};
use uaforge_nodes::typed::{
    Concrete, InstanceName, IsA, MemberName, NodeRef, OptionalMember, PlaceholderMember, resolve_key,
};
use uaforge_nodes::{Instantiate, InstantiateError};

use super::{HandleOf, HandleType, MethodHandlers, ObjectHandle, WithoutMethods};
use crate::Server;
use crate::methods::MethodBindError;

/// Why an instance was not made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InstanceError {
    /// A model was not given to the server's builder.
    #[error("{0}; add its model with `.model(…)`")]
    Model(#[from] UnknownNamespace),
    /// The address space refused it.
    #[error(transparent)]
    Instance(#[from] InstantiateError),
    /// There is no such object, or it is of another type.
    #[error("{node_id} is no {expected}")]
    NotOfType {
        /// The node.
        node_id: NodeId,
        /// Browse name of the wanted type.
        expected: &'static str,
    },
    /// The object was made, but a Method that its handler is for is not among its members.
    #[error(transparent)]
    Methods(#[from] MethodBindError),
}

impl Server {
    /// Begins an object of type `T` with its mandatory members; text is a name in the application's
    /// namespace. It is put under Objects by Organizes unless said otherwise. A type with mandatory
    /// Methods needs a [`handler`](NewObject::handler).
    pub fn instantiate<T: HandleType + Concrete>(&self, name: impl Into<InstanceName>) -> NewObject<T> {
        NewObject {
            server: self.clone(),
            name: name.into(),
            parent: Ok(None),
            reference_type: Ok(None),
            optional: Vec::new(),
            method_nodes: Methods::Shared,
            methods: NoHandler,
            of: PhantomData,
        }
    }
}

/// An object to be made: nothing happens before [`NewObject::build`]. `M` says who handles its Methods.
#[derive(Debug)]
#[must_use = "nothing is made before `build`"]
pub struct NewObject<T, M = NoHandler> {
    server: Server,
    name: InstanceName,
    parent: Result<Option<NodeId>, UnknownNamespace>,
    reference_type: Result<Option<NodeId>, UnknownNamespace>,
    optional: Vec<MemberName>,
    method_nodes: Methods,
    methods: M,
    of: PhantomData<fn() -> T>,
}

/// No handler was given yet.
#[derive(Clone, Copy, Debug)]
pub struct NoHandler;

/// Calls are answered with Bad_NotImplemented until a handler is bound.
#[derive(Clone, Copy, Debug)]
pub struct Unbound;

/// A handler was given.
#[derive(Clone, Debug)]
pub struct Handled<H>(Arc<H>);

/// Whether all is said that is needed for an object of type `T`.
pub trait Complete<T> {
    /// Binds the handlers.
    ///
    /// # Errors
    /// A Method is not there.
    fn bind(self, object: &ObjectHandle) -> Result<(), MethodBindError>;
}

impl<T: WithoutMethods> Complete<T> for NoHandler {
    fn bind(self, _: &ObjectHandle) -> Result<(), MethodBindError> {
        Ok(())
    }
}

impl<T> Complete<T> for Unbound {
    fn bind(self, _: &ObjectHandle) -> Result<(), MethodBindError> {
        Ok(())
    }
}

impl<T: MethodHandlers<H>, H> Complete<T> for Handled<H> {
    fn bind(self, object: &ObjectHandle) -> Result<(), MethodBindError> {
        object.bind_shared::<T, H>(&self.0)
    }
}

impl<T: HandleType + Concrete> NewObject<T> {
    /// Handles the object's mandatory Methods, inherited ones too. Those of the objects within it are
    /// Methods of their own types: [`Server::bind_methods`] binds them for all objects of such a type.
    pub fn handler<H>(self, logic: H) -> NewObject<T, Handled<H>>
    where
        T: MethodHandlers<H>,
    {
        self.with(Handled(Arc::new(logic)))
    }

    /// Leaves its Methods without a handler: calls are answered with Bad_NotImplemented, unless one is
    /// bound later or for the type.
    pub fn unbound(self) -> NewObject<T, Unbound> {
        self.with(Unbound)
    }

    fn with<M>(self, methods: M) -> NewObject<T, M> {
        let Self { server, name, parent, reference_type, optional, method_nodes, of, .. } = self;
        NewObject { server, name, parent, reference_type, optional, method_nodes, methods, of }
    }
}

impl<T: HandleType + Concrete, M> NewObject<T, M> {
    /// Puts it under this node.
    pub fn under(mut self, parent: impl NodeRef) -> Self {
        self.parent = parent.node_id(self.server.space().namespaces()).map(Some);
        self
    }

    /// Puts it under its parent by this ReferenceType.
    pub fn by(mut self, reference_type: impl NodeRef) -> Self {
        self.reference_type = reference_type.node_id(self.server.space().namespaces()).map(Some);
        self
    }

    /// Gives it an optional member of its type or a supertype.
    pub fn with_optional<Of>(mut self, member: OptionalMember<Of>) -> Self
    where
        T: IsA<Of>,
    {
        self.optional.push(member.name());
        self
    }

    /// Gives it Method nodes of its own, with their arguments. Otherwise it refers to those of its type, as
    /// OPC 10000-3 §6.2.6 allows, which takes less memory.
    pub fn with_own_methods(mut self) -> Self {
        self.method_nodes = Methods::Copied;
        self
    }

    /// Makes it, whole or not at all.
    ///
    /// # Errors
    /// A model is missing, the name is taken, or a parent or reference does not fit.
    pub fn build(self) -> Result<HandleOf<T>, InstanceError>
    where
        M: Complete<T>,
    {
        let namespaces = self.server.space().namespaces();
        let mut instance = Instantiate::new(T::ID.resolve(namespaces)?, self.name.resolve(namespaces)?);
        if let Some(parent) = self.parent? {
            instance.parent = parent;
        }
        if let Some(reference_type) = self.reference_type? {
            instance.reference_type = reference_type;
        }
        instance.methods = self.method_nodes;
        for name in self.optional {
            instance.optional.push(vec![name.resolve(namespaces)?]);
        }
        let made = self.server.instantiate_with(&instance)?;
        let object = ObjectHandle::new(self.server.clone(), made.id);
        self.methods.bind(&object)?;
        Ok(object.into())
    }
}

/// Adds an instance of a placeholder to an object that exists; gives its id.
pub(super) fn add_placeholder<Of>(
    object: &ObjectHandle,
    type_definition: NodeId,
    member: PlaceholderMember<Of>,
    name: &InstanceName,
) -> Result<NodeId, InstanceError> {
    let server = object.server();
    let namespaces: &NamespaceMap = server.space().namespaces();
    let path: QualifiedName = member.name().resolve(namespaces)?;
    let name = name.resolve(namespaces)?;
    // That the reference and type are known says that the model of the placeholder is loaded.
    resolve_key(member.reference_type(), namespaces)?;
    let mut instance = Instantiate::extend(object.node_id().clone(), type_definition);
    instance.placeholders.push(Placeholder { path: vec![path], name: name.clone(), type_definition: None });
    let made = server.instantiate_with(&instance)?;
    let added = made.member_at(&[name]).map(|member| member.id.clone());
    Ok(added.unwrap_or_default())
}
