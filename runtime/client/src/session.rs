//! A session: the handle that calls go through.

use core::fmt;
use core::time::Duration;
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};
use uaforge_codec::{IdKind, ModelId, NamespaceMap, NodeId};
use uaforge_nodes::typed::{ObjectType, RegisterTypes};
use uaforge_types::ServiceRequest;

use crate::Error;
use crate::hierarchy::TypeHierarchy;
use crate::proto::{Call, OperationLimits, ServiceCall, SessionInfo};
use crate::tables::Tables;

/// What users ask of the connection.
pub(crate) enum Command {
    Call(Box<dyn Call>),
    Close(oneshot::Sender<()>),
}

/// An activated session (OPC 10000-4 §5.7). A clone is another handle of the same session; the last one
/// that goes away ends it. Calls of many tasks are on their way at once.
#[derive(Clone)]
pub struct Session {
    shared: Arc<Shared>,
}

struct Shared {
    commands: mpsc::Sender<Command>,
    tables: Arc<Tables>,
    info: SessionInfo,
    hierarchy: TypeHierarchy,
}

impl Session {
    pub(crate) fn new(commands: mpsc::Sender<Command>, tables: Arc<Tables>, info: SessionInfo) -> Self {
        Self { shared: Arc::new(Shared { commands, tables, info, hierarchy: TypeHierarchy::default() }) }
    }

    /// The SessionId.
    #[must_use]
    pub fn session_id(&self) -> &NodeId {
        &self.shared.info.session_id
    }

    /// What the server said when the session was made.
    #[must_use]
    pub fn info(&self) -> &SessionInfo {
        &self.shared.info
    }

    /// How many operations the server takes in one call.
    #[must_use]
    pub fn limits(&self) -> OperationLimits {
        self.shared.info.limits
    }

    /// The server's NamespaceArray.
    #[must_use]
    pub fn namespaces(&self) -> Arc<NamespaceMap> {
        self.shared.tables.snapshot().namespaces
    }

    /// The NodeId of a model's constant on this server.
    ///
    /// # Errors
    /// The server does not have the model.
    pub fn resolve<K: IdKind>(&self, id: ModelId<K>) -> Result<NodeId, Error> {
        Ok(id.resolve(&self.shared.tables.snapshot().namespaces)?)
    }

    /// Makes the structures of a model known, so that values of their types are decoded. Typed objects
    /// do it for their own model.
    pub fn register_types(&self, register: RegisterTypes) {
        self.shared.tables.register(register);
    }

    pub(crate) fn register_model<T: ObjectType>(&self) {
        for register in T::REGISTER {
            self.shared.tables.register(*register);
        }
    }

    /// Calls any service. The request header is filled in.
    ///
    /// # Errors
    /// The service failed as a whole, or there was no response.
    pub async fn call_service<Q: ServiceRequest>(&self, request: Q) -> Result<Q::Response, Error> {
        self.call(request, None).await
    }

    /// As [`Session::call_service`] with a time of its own.
    ///
    /// # Errors
    /// The service failed as a whole, or there was no response in time.
    pub async fn call_service_within<Q: ServiceRequest>(
        &self,
        request: Q,
        timeout: Duration,
    ) -> Result<Q::Response, Error> {
        self.call(request, Some(timeout)).await
    }

    async fn call<Q: ServiceRequest>(
        &self,
        request: Q,
        timeout: Option<Duration>,
    ) -> Result<Q::Response, Error> {
        let (reply, response) = oneshot::channel();
        // A caller that went away does not want the response any more.
        let call = ServiceCall::new(request, timeout, move |outcome| drop(reply.send(outcome)));
        let gone = || Error::closed("the connection task has ended");
        self.shared.commands.send(Command::Call(Box::new(call))).await.map_err(|_| gone())?;
        response.await.map_err(|_| gone())?
    }

    /// Closes the session and the connection, and waits until that is done. What other tasks still wait
    /// for is answered with an error.
    pub async fn close(self) {
        let (done, closed) = oneshot::channel();
        if self.shared.commands.send(Command::Close(done)).await.is_ok() {
            // The sender goes away with the connection.
            drop(closed.await);
        }
    }

    pub(crate) fn hierarchy(&self) -> &TypeHierarchy {
        &self.shared.hierarchy
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("info", &self.shared.info).finish_non_exhaustive()
    }
}
