//! Methods of the application: what a handler gets, what it gives, and which handler answers for a Method.

use core::fmt;
use core::future::Future;
use core::hash::BuildHasher as _;
use core::pin::Pin;
use std::sync::{Arc, PoisonError, RwLock};

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use uaforge_codec::{NodeId, NodeIdRef, QualifiedName, StatusCode, UnknownNamespace, Variant};
use uaforge_nodes::BrowseName;
use uaforge_nodes::typed::NodeRef;
use uaforge_types::status;

use crate::Server;
use crate::access::Access;
use crate::cancellation::Cancellation;
use crate::space::signature::{Arity, Signature};

/// A call of a Method (CallMethodRequest, OPC 10000-4 §5.12.2). Number and types of the inputs were checked.
#[derive(Clone, Debug)]
pub struct MethodCall {
    /// The Object, or ObjectType, that the Method is called on.
    pub object: NodeId,
    /// The Method as the client named it: that of the Object or that of its type.
    pub method: NodeId,
    /// Who calls.
    pub access: Access,
    /// The input arguments, as many as are declared.
    pub inputs: Vec<Variant>,
    /// Fired when nobody waits for the result any more; not when the client disconnects.
    pub cancellation: Cancellation,
}

/// Why a call failed: its operation result, and what is wrong with which argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MethodError {
    /// Operation result.
    pub status: StatusCode,
    /// A status for each input argument; empty unless `status` is Bad_InvalidArgument.
    pub input_argument_results: Vec<StatusCode>,
}

impl MethodError {
    /// A failure that is no argument's fault.
    #[must_use]
    pub const fn new(status: StatusCode) -> Self {
        Self { status, input_argument_results: Vec::new() }
    }

    /// Bad_InvalidArgument because of the argument at `index`, such as with Bad_OutOfRange. The server
    /// adds good results for the others.
    #[must_use]
    pub fn argument(index: usize, status: StatusCode) -> Self {
        Self::new(status::BAD_INVALID_ARGUMENT).and_argument(index, status)
    }

    /// Says of one more argument what is wrong with it.
    #[must_use]
    pub fn and_argument(mut self, index: usize, status: StatusCode) -> Self {
        let index = index.min(MAX_ARGUMENTS);
        if self.input_argument_results.len() <= index {
            self.input_argument_results.resize(index + 1, StatusCode::GOOD);
        }
        if let Some(result) = self.input_argument_results.get_mut(index) {
            *result = status;
        }
        self
    }
}

/// Arguments that results are kept for.
const MAX_ARGUMENTS: usize = u16::MAX as usize;

impl From<StatusCode> for MethodError {
    fn from(status: StatusCode) -> Self {
        Self::new(status)
    }
}

impl fmt::Display for MethodError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match status::name(self.status) {
            Some(name) => f.write_str(name),
            None => write!(f, "{}", self.status),
        }
    }
}

impl core::error::Error for MethodError {}

/// The output arguments, as many as are declared; or why there are none.
pub type MethodResult = Result<Vec<Variant>, MethodError>;

/// A result that comes later.
pub(crate) type LateMethod = Pin<Box<dyn Future<Output = MethodResult> + Send>>;

/// What the application does when a Method is called.
#[derive(Clone)]
pub(crate) enum Handler {
    /// Answers at once, on the connection's task.
    Now(Arc<dyn Fn(MethodCall) -> MethodResult + Send + Sync>),
    /// Answers by a future.
    Later(Arc<dyn Fn(MethodCall) -> LateMethod + Send + Sync>),
    /// Answers on the pool of threads.
    Blocking(Arc<dyn Fn(MethodCall) -> MethodResult + Send + Sync>),
}

/// A handler for one Method of an Object, or of all Objects of a type.
pub(crate) struct Binding {
    pub(crate) name: QualifiedName,
    /// The Method when it was bound, and its arguments.
    pub(crate) method: NodeId,
    pub(crate) signature: Arc<Signature>,
    /// Of a typed handler, which is not for calls on the ObjectType itself.
    pub(crate) arity: Option<Arity>,
    pub(crate) handler: Handler,
}

impl Binding {
    pub(crate) fn has_name(&self, name: BrowseName<'_>) -> bool {
        self.name.namespace_index == name.namespace && self.name.name.text() == name.name
    }
}

/// All bindings, by the Object or ObjectType that they were made for.
#[derive(Default)]
pub(crate) struct Bindings {
    table: RwLock<HashTable<Owner>>,
    hasher: RandomState,
}

struct Owner {
    id: NodeId,
    bindings: Vec<Arc<Binding>>,
}

impl Bindings {
    /// Adds a binding; one of the same Method is replaced.
    pub(crate) fn bind(&self, owner: NodeId, binding: Binding) {
        let hash = self.hasher.hash_one(owner.as_ref());
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        let rehash = |owner: &Owner| self.hasher.hash_one(owner.id.as_ref());
        let entry = table.entry(hash, |known| known.id == owner, rehash);
        let mut owner = entry.or_insert(Owner { id: owner, bindings: Vec::new() });
        let bindings = &mut owner.get_mut().bindings;
        bindings.retain(|known| known.method != binding.method);
        bindings.push(Arc::new(binding));
    }

    /// The binding of an owner that `wanted` accepts.
    pub(crate) fn find(
        &self,
        owner: NodeIdRef<'_>,
        wanted: impl Fn(&Binding) -> bool,
    ) -> Option<Arc<Binding>> {
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        let found = table.find(self.hasher.hash_one(owner), |known| known.id.as_ref() == owner)?;
        found.bindings.iter().find(|binding| wanted(binding)).cloned()
    }

    /// Forgets what was bound for a node.
    pub(crate) fn unbind(&self, owner: NodeIdRef<'_>) {
        let hash = self.hasher.hash_one(owner);
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        if let Ok(entry) = table.find_entry(hash, |known| known.id.as_ref() == owner) {
            entry.remove();
        }
    }
}

/// Why a handler was not bound.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MethodBindError {
    /// A model was not given to the server's builder.
    #[error("{0}; add its model with `.model(…)`")]
    Model(#[from] UnknownNamespace),
    /// The node is no Object or ObjectType, or the Method is not one of its.
    #[error("{method} is no Method of {owner}: {}", status::name(*.status).unwrap_or_default())]
    NoMethod {
        /// The Object or ObjectType.
        owner: NodeId,
        /// The Method.
        method: NodeId,
        /// Bad_NodeIdInvalid or Bad_NodeIdUnknown for the owner, Bad_MethodInvalid for the Method.
        status: StatusCode,
    },
    /// The Object has no Method of this name; an optional one has to be asked for when it is made.
    #[error("{owner} has no Method {name}: {}", status::name(*.status).unwrap_or_default())]
    NotFound {
        /// The Object or ObjectType.
        owner: NodeId,
        /// BrowseName of the Method.
        name: QualifiedName,
        /// Bad_NodeIdInvalid or Bad_NodeIdUnknown for the owner, Bad_MethodInvalid for the Method.
        status: StatusCode,
    },
}

impl Server {
    /// Answers calls of a Method (OPC 10000-4 §5.12.2) of an Object; or, with an ObjectType, of all
    /// Objects of it and its subtypes that have no handler of their own. Number, types and ranks of the
    /// inputs are checked before. The handler runs on the connection's task and must not block.
    ///
    /// # Errors
    /// The owner does not have the Method, or a model is missing.
    pub fn on_call(
        &self,
        owner: impl NodeRef,
        method: impl NodeRef,
        handler: impl Fn(MethodCall) -> MethodResult + Send + Sync + 'static,
    ) -> Result<(), MethodBindError> {
        self.bind_method(&owner, &method, Handler::Now(Arc::new(handler)))
    }

    /// As [`Server::on_call`] with an async handler. Its future is not dropped when the client
    /// disconnects.
    ///
    /// # Errors
    /// As [`Server::on_call`].
    pub fn on_call_async<F>(
        &self,
        owner: impl NodeRef,
        method: impl NodeRef,
        handler: impl Fn(MethodCall) -> F + Send + Sync + 'static,
    ) -> Result<(), MethodBindError>
    where
        F: Future<Output = MethodResult> + Send + 'static,
    {
        let handler = Handler::Later(Arc::new(move |call| Box::pin(handler(call))));
        self.bind_method(&owner, &method, handler)
    }

    /// As [`Server::on_call`] with a handler that may block: it runs on the server's pool of threads
    /// ([`Limits::blocking_threads`](crate::Limits)).
    ///
    /// # Errors
    /// As [`Server::on_call`].
    pub fn on_call_blocking(
        &self,
        owner: impl NodeRef,
        method: impl NodeRef,
        handler: impl Fn(MethodCall) -> MethodResult + Send + Sync + 'static,
    ) -> Result<(), MethodBindError> {
        self.bind_method(&owner, &method, Handler::Blocking(Arc::new(handler)))
    }

    /// Forgets the handlers of an Object, such as before it is removed, or of an ObjectType.
    pub fn unbind_methods(&self, owner: &NodeId) {
        self.core().nodes.methods.unbind(owner.as_ref());
    }

    fn bind_method(
        &self,
        owner: &impl NodeRef,
        method: &impl NodeRef,
        handler: Handler,
    ) -> Result<(), MethodBindError> {
        let core = self.core();
        let snapshot = core.space.snapshot();
        let owner = owner.node_id(snapshot.namespaces())?;
        let method = method.node_id(snapshot.namespaces())?;
        let decode = core.decode_context();
        let bound = core.nodes.bind(&snapshot, decode, &owner, method.as_ref(), handler);
        bound.map_err(|status| MethodBindError::NoMethod { owner, method, status })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_arguments_stand_at_their_places() {
        let error =
            MethodError::argument(2, status::BAD_OUT_OF_RANGE).and_argument(0, status::BAD_TYPE_MISMATCH);
        assert_eq!(error.status, status::BAD_INVALID_ARGUMENT);
        let expected = [status::BAD_TYPE_MISMATCH, StatusCode::GOOD, status::BAD_OUT_OF_RANGE];
        assert_eq!(error.input_argument_results, expected);
        assert_eq!(error.to_string(), "Bad_InvalidArgument");
    }
}
