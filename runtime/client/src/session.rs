//! A session: the handle that calls go through.

use core::fmt;
use std::sync::Arc;

use tokio::sync::watch;
use uaforge_codec::{IdKind, ModelId, NamespaceMap, NodeId};
use uaforge_nodes::typed::{ObjectType, RegisterTypes};
use uaforge_types::ServiceRequest;

use crate::Error;
use crate::batch::Learned;
use crate::hierarchy::TypeHierarchy;
use crate::invocation::Invocation;
use crate::link::{CallOptions, Link};
use crate::method_ids::MethodIds;
use crate::proto::{OperationLimits, SessionInfo};
use crate::recovery::ConnectionState;
use crate::subscription::Pool;

/// An activated session (OPC 10000-4 §5.7). A clone is another handle of the same session; the last one
/// that goes away ends it. Calls of many tasks are on their way at once.
///
/// # Time and cancellation
///
/// Each call ends within its time: that of the builder
/// ([`request_timeout`](crate::ClientBuilder::request_timeout)) or its own. A call whose future is dropped
/// is given up: if it was not sent it never is, and if it was, the server is sent a Cancel for it (OPC
/// 10000-4 §5.7.5), so that `select!` and time limits of the caller stop the work on both sides. Whether a
/// Write or Call that was given up has taken effect is not known. A call that ran out of time is not
/// cancelled on top: the server knows its timeoutHint.
///
/// # When the connection is lost
///
/// Every call that waits gets the reason at once, as does every later one; [`Session::closed`] waits for
/// it. With [`ClientBuilder::reconnect`](crate::ClientBuilder::reconnect) the session comes back by itself.
#[derive(Clone)]
pub struct Session {
    shared: Arc<Shared>,
}

struct Shared {
    link: Link,
    info: SessionInfo,
    hierarchy: TypeHierarchy,
    learned: Learned,
    methods: MethodIds,
    subscriptions: Pool,
}

impl Session {
    pub(crate) fn new(link: Link, info: SessionInfo) -> Self {
        let (hierarchy, learned, methods, subscriptions) = Default::default();
        Self { shared: Arc::new(Shared { link, info, hierarchy, learned, methods, subscriptions }) }
    }

    /// The SessionId, of the session that was made first: one that took its place after a loss of the connection
    /// has another one.
    #[must_use]
    pub fn session_id(&self) -> &NodeId {
        &self.shared.info.session_id
    }

    /// What the server said when the session was made.
    #[must_use]
    pub fn info(&self) -> &SessionInfo {
        &self.shared.info
    }

    /// How many operations the server takes in one call. Calls with more are taken apart.
    #[must_use]
    pub fn limits(&self) -> OperationLimits {
        self.shared.info.limits
    }

    /// The server's NamespaceArray (OPC 10000-5 §6.3.1).
    #[must_use]
    pub fn namespaces(&self) -> Arc<NamespaceMap> {
        self.shared.link.tables.snapshot().namespaces
    }

    /// The NodeId of a model's constant on this server.
    ///
    /// # Errors
    /// The server does not have the model.
    pub fn resolve<K: IdKind>(&self, id: ModelId<K>) -> Result<NodeId, Error> {
        Ok(id.resolve(&self.shared.link.tables.snapshot().namespaces)?)
    }

    /// Makes the structures of a model known, so that values of their types are decoded. Typed objects
    /// do it for their own model.
    pub fn register_types(&self, register: RegisterTypes) {
        self.shared.link.tables.register(register);
    }

    pub(crate) fn register_model<T: ObjectType>(&self) {
        for register in T::REGISTER {
            self.register_types(*register);
        }
    }

    /// Calls any service: await it. The request header is filled in.
    ///
    /// ```no_run
    /// # use std::time::Duration;
    /// # async fn example(session: uaforge_client::Session) -> Result<(), uaforge_client::Error> {
    /// let request = uaforge_types::QueryFirstRequest::default();
    /// let response = session.call_service(request).timeout(Duration::from_secs(60)).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The service failed as a whole, or there was no response.
    pub fn call_service<Q: ServiceRequest>(&self, request: Q) -> Invocation<Q> {
        Invocation::new(self.clone(), request)
    }

    pub(crate) async fn call<Q: ServiceRequest>(
        &self,
        request: Q,
        options: CallOptions,
    ) -> Result<Q::Response, Error> {
        self.shared.link.call(request, options).await
    }

    /// Waits until the session has ended, by [`Session::close`], by the server, or because the connection
    /// was lost. Gives the reason. At once if it has ended already.
    ///
    /// ```no_run
    /// # async fn example(session: uaforge_client::Session) {
    /// let watched = session.clone();
    /// tokio::spawn(async move { eprintln!("session ended: {}", watched.closed().await) });
    /// # }
    /// ```
    pub async fn closed(&self) -> Error {
        self.shared.link.closed().await
    }

    /// Whether the session has ended.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.shared.link.ended().is_some()
    }

    /// Whether the session can be used, or comes back; see [`ClientBuilder::reconnect`](crate::ClientBuilder::reconnect).
    #[must_use]
    pub fn connection_state(&self) -> ConnectionState {
        self.shared.link.states.borrow().clone()
    }

    /// Each change of the connection's state, from now on. The last one is [`ConnectionState::Ended`].
    #[must_use]
    pub fn connection_changes(&self) -> watch::Receiver<ConnectionState> {
        self.shared.link.states.clone()
    }

    /// Closes the session and the connection, and waits until that is done (OPC 10000-4 §5.7.4). What
    /// other tasks still wait for is answered with an error.
    pub async fn close(self) {
        self.shared.link.close().await;
    }

    pub(crate) fn link(&self) -> &Link {
        &self.shared.link
    }

    pub(crate) fn hierarchy(&self) -> &TypeHierarchy {
        &self.shared.hierarchy
    }

    pub(crate) fn method_ids(&self) -> &MethodIds {
        &self.shared.methods
    }

    pub(crate) fn subscriptions(&self) -> &Pool {
        &self.shared.subscriptions
    }

    pub(crate) fn learned(&self) -> &Learned {
        &self.shared.learned
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("info", &self.shared.info).finish_non_exhaustive()
    }
}
