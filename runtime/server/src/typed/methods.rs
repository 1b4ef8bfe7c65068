//! Typed Methods: what handlers get, and binding them to an object or to all objects of a type.

use core::fmt;
use core::future::Future;
use std::sync::Arc;

use uaforge_codec::{Array, FromVariant, NodeId, StatusCode, Variant};
use uaforge_nodes::typed::MethodMember;
use uaforge_types::status;

use super::{HandleOf, HandleType, ObjectHandle};
use crate::Server;
use crate::access::Access;
use crate::cancellation::Cancellation;
use crate::methods::{Handler, MethodBindError, MethodCall, MethodError, MethodResult};
use crate::server::WeakServer;
use crate::space::signature::Arity;

/// An ObjectType all of whose mandatory Methods an `H` handles. Generated, from the trait that `H` implements.
#[diagnostic::on_unimplemented(message = "`{H}` does not handle the Methods of `{Self}`")]
pub trait MethodHandlers<H>: HandleType {
    /// Binds the Methods of the supertypes, then the type's own.
    fn bind(binder: &mut MethodBinder, logic: &Logic<H>);
}

/// What handles the Methods of one object, or of all of a type.
pub type Logic<H> = Arc<H>;

/// An ObjectType without mandatory Methods: its objects need no handler. Generated.
#[diagnostic::on_unimplemented(
    message = "the Methods of `{Self}` have no handler",
    label = "`{Self}` has Methods that every object has to handle",
    note = "say `.handler(…)` with a value that implements the trait of its Methods, or `.unbound()`"
)]
pub trait WithoutMethods: HandleType {}

/// What a typed handler knows of its call.
pub struct MethodContext<T: HandleType> {
    server: Server,
    object: HandleOf<T>,
    access: Access,
    cancellation: Cancellation,
}

impl<T: HandleType> MethodContext<T> {
    /// The object that the Method is called on.
    #[must_use]
    pub fn object(&self) -> &HandleOf<T> {
        &self.object
    }

    /// Who calls.
    #[must_use]
    pub fn access(&self) -> Access {
        self.access
    }

    /// Fired when nobody waits for the result any more; not when the client disconnects.
    #[must_use]
    pub fn cancellation(&self) -> &Cancellation {
        &self.cancellation
    }

    /// Runs what may block on the server's pool of threads ([`Limits::blocking_threads`](crate::Limits)).
    ///
    /// # Errors
    /// Bad_ResourceUnavailable if too many jobs wait, Bad_InternalError if it panics, and the status of the
    /// [cancellation](Self::cancellation) if nobody waits any more when its turn comes.
    pub async fn blocking<R: Send + 'static>(
        &self,
        job: impl FnOnce() -> R + Send + 'static,
    ) -> Result<R, MethodError> {
        let run = self.server.core().blocking.run(self.cancellation.clone(), job);
        run.await.map_err(MethodError::from)
    }
}

impl<T: HandleType> fmt::Debug for MethodContext<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MethodContext").field("access", &self.access).finish_non_exhaustive()
    }
}

/// The input arguments of a call, taken one by one as the types of the model.
#[derive(Debug)]
pub struct InputArguments {
    values: std::vec::IntoIter<Variant>,
    taken: usize,
    error: MethodError,
}

impl InputArguments {
    pub(crate) fn new(values: Vec<Variant>) -> Self {
        Self { values: values.into_iter(), taken: 0, error: MethodError::new(status::BAD_INVALID_ARGUMENT) }
    }

    /// The next one. What is no `T` is noted.
    pub fn take<T: FromVariant>(&mut self) -> Option<T> {
        let value = self.values.next().unwrap_or_default();
        let index = self.taken;
        self.taken += 1;
        let taken = T::from_variant(&value).ok().or_else(|| T::from_null().filter(|_| value.is_null()));
        if taken.is_none() {
            let error = core::mem::replace(&mut self.error, MethodError::new(StatusCode::GOOD));
            self.error = error.and_argument(index, status::BAD_TYPE_MISMATCH);
        }
        taken
    }

    /// The next one, which the caller may have left out.
    pub fn take_optional<T: FromVariant>(&mut self) -> Option<Option<T>> {
        match self.values.as_slice().first() {
            None | Some(Variant::Null) => {
                self.values.next();
                self.taken += 1;
                Some(None)
            }
            Some(_) => self.take().map(Some),
        }
    }

    /// What was noted.
    #[must_use]
    pub fn into_error(self) -> MethodError {
        self.error
    }

    /// The values that were not taken.
    #[must_use]
    pub fn into_values(self) -> Array<Variant> {
        self.values.collect()
    }
}

/// The result of a handler whose outputs are declared.
///
/// # Errors
/// None: the handler succeeded.
pub fn outputs<const N: usize>(values: [Variant; N]) -> MethodResult {
    Ok(values.into())
}

/// The result of a handler whose outputs the model leaves open.
///
/// # Errors
/// None: the handler succeeded.
pub fn open_outputs(values: Array<Variant>) -> MethodResult {
    Ok(values.into_vec())
}

/// Binds handlers of one object, or of all objects of a type.
pub struct MethodBinder {
    server: Server,
    owner: NodeId,
    result: Result<(), MethodBindError>,
}

impl MethodBinder {
    pub(crate) fn new(server: Server, owner: NodeId) -> Self {
        Self { server, owner, result: Ok(()) }
    }

    pub(crate) fn finish(self) -> Result<(), MethodBindError> {
        self.result
    }

    /// Binds one Method; after one that fails, nothing more.
    pub fn bind<T: HandleType, F>(
        &mut self,
        method: &MethodMember,
        handler: impl Fn(MethodContext<T>, InputArguments) -> F + Send + Sync + 'static,
    ) where
        F: Future<Output = MethodResult> + Send + 'static,
    {
        if self.result.is_ok() {
            self.result = self.server.bind_member(&self.owner, method, typed(&self.server, handler));
        }
    }
}

impl fmt::Debug for MethodBinder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MethodBinder").field("owner", &self.owner).finish_non_exhaustive()
    }
}

/// A typed handler as the address space calls it. It does not keep the server alive.
fn typed<T: HandleType, F>(
    server: &Server,
    handler: impl Fn(MethodContext<T>, InputArguments) -> F + Send + Sync + 'static,
) -> Handler
where
    F: Future<Output = MethodResult> + Send + 'static,
{
    let server: WeakServer = server.downgrade();
    Handler::Later(Arc::new(move |call: MethodCall| match server.upgrade() {
        Some(server) => {
            let object = ObjectHandle::new(server.clone(), call.object).into();
            let context =
                MethodContext { server, object, access: call.access, cancellation: call.cancellation };
            Box::pin(handler(context, InputArguments::new(call.inputs)))
        }
        None => Box::pin(core::future::ready(Err(status::BAD_SHUTDOWN.into()))),
    }))
}

impl Server {
    /// Binds handlers for the mandatory Methods of all objects of a type and its subtypes, those of the
    /// models too, that have none of their own.
    ///
    /// # Errors
    /// The model of the type was not given to the server's builder.
    pub fn bind_methods<T: MethodHandlers<H>, H>(&self, logic: H) -> Result<(), MethodBindError> {
        let owner = T::ID.resolve(self.space().namespaces())?;
        let mut binder = MethodBinder::new(self.clone(), owner);
        T::bind(&mut binder, &Arc::new(logic));
        binder.finish()
    }

    /// Binds a handler to a Method by its browse name.
    fn bind_member(
        &self,
        owner: &NodeId,
        method: &MethodMember,
        handler: Handler,
    ) -> Result<(), MethodBindError> {
        let core = self.core();
        let snapshot = core.space.snapshot();
        let name = method.name.resolve(snapshot.namespaces())?;
        let decode = core.decode_context();
        let arity = Arity { inputs: method.inputs.len(), outputs: method.outputs.len() };
        let bound = core.nodes.bind_named(&snapshot, decode, owner, (&name, arity), handler);
        bound.map_err(|status| MethodBindError::NotFound { owner: owner.clone(), name, status })
    }
}

impl ObjectHandle {
    /// Binds handlers for the mandatory Methods of a type that the object is of. Generated handles have
    /// `bind_methods` for it.
    ///
    /// # Errors
    /// The object is gone, or is not of the type.
    pub fn bind<T: MethodHandlers<H>, H>(&self, logic: H) -> Result<(), MethodBindError> {
        self.bind_shared::<T, H>(&Arc::new(logic))
    }

    pub(super) fn bind_shared<T: MethodHandlers<H>, H>(&self, logic: &Arc<H>) -> Result<(), MethodBindError> {
        let mut binder = MethodBinder::new(self.server().clone(), self.node_id().clone());
        T::bind(&mut binder, logic);
        binder.finish()
    }

    /// Binds a handler to one Method. Generated handles have a method for each.
    ///
    /// # Errors
    /// The object does not have the Method.
    pub fn on_method<T: HandleType, F>(
        &self,
        method: &MethodMember,
        handler: impl Fn(MethodContext<T>, InputArguments) -> F + Send + Sync + 'static,
    ) -> Result<(), MethodBindError>
    where
        F: Future<Output = MethodResult> + Send + 'static,
    {
        let mut binder = MethodBinder::new(self.server().clone(), self.node_id().clone());
        binder.bind(method, handler);
        binder.finish()
    }
}
