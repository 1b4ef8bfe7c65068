//! RegisterNodes and UnregisterNodes (OPC 10000-4 §5.9.5, §5.9.6).

use uaforge_codec::NodeId;
use uaforge_types::{RegisterNodesRequest, UnregisterNodesRequest};

use crate::batch::{self, Limit};
use crate::{Error, Session};

impl Session {
    /// Registers nodes that will be used often. The ids that come back, in the order of the nodes, are to
    /// be used in their place; they hold for this session only. Several calls are made if the server takes
    /// fewer nodes in one.
    ///
    /// # Errors
    /// The service failed as a whole: a call registers all of its nodes or none (OPC 10000-4 §5.9.5). What
    /// another call had registered already is unregistered again.
    pub async fn register_nodes(&self, nodes: Vec<NodeId>) -> Result<Vec<NodeId>, Error> {
        let pieces = batch::pieces(self, RegisterNodesRequest::default(), nodes, None).await;
        let (mut registered, mut failed) = (Vec::new(), None);
        for piece in pieces {
            match piece.outcome {
                Ok(ids) => registered.extend(ids),
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        match failed {
            None => Ok(registered),
            Some(error) => {
                // The first error says what is wrong; ids that stay registered end with the session.
                drop(self.unregister_nodes(registered).await);
                Err(error)
            }
        }
    }

    /// Gives ids of [`Session::register_nodes`] back. Several calls are made if the server takes fewer
    /// nodes in one. No ids are no call.
    ///
    /// # Errors
    /// A call failed as a whole; the others were made.
    pub async fn unregister_nodes(&self, nodes: Vec<NodeId>) -> Result<(), Error> {
        let mut outcome = Ok(());
        let mut nodes = nodes.into_iter().peekable();
        while nodes.peek().is_some() {
            let size = batch::per_call(self, Limit::Register);
            let part: Vec<_> = nodes.by_ref().take(size).collect();
            let request = UnregisterNodesRequest { nodes_to_unregister: part.into(), ..Default::default() };
            outcome = outcome.and(self.call_service(request).await.map(drop));
        }
        outcome
    }
}
