//! Handles of Variables, one by one and many at once.

use std::sync::Arc;

use uaforge_codec::{NodeId, StatusCode};
use uaforge_nodes::{Edit, Node, NodeClass, Snapshot, ValueCell};
use uaforge_types::status;

use crate::Server;
use crate::handle::{Variable, VariableHandle};

impl Server {
    /// A handle of a Variable; from now on the node shows what is set by handles.
    ///
    /// The first handle of a Variable changes the address space; for many of them there is
    /// [`Server::variables`].
    ///
    /// # Errors
    /// Bad_NodeIdUnknown, Bad_NodeClassInvalid for what is no Variable.
    pub fn variable(&self, id: &NodeId) -> Result<VariableHandle, StatusCode> {
        // Most Variables that are asked for have their cell already.
        let known = variable(&self.space().snapshot(), id)?.cell().map(Arc::clone);
        let cell = known.map_or_else(|| self.space().edit(|edit| cell(edit, id)), Ok)?;
        Ok(VariableHandle::new(id.clone(), cell))
    }

    /// As [`Server::variable`], for values of one type.
    ///
    /// # Errors
    /// As [`Server::variable`].
    pub fn typed_variable<T>(&self, id: &NodeId) -> Result<Variable<T>, StatusCode> {
        self.variable(id).map(VariableHandle::typed)
    }

    /// Handles of many Variables, in the order of their ids. All are made with one change of the address
    /// space: the time for each does not grow with their number.
    ///
    /// # Errors
    /// As [`Server::variable`], for the first one that fails; then nothing has changed.
    pub fn variables(&self, ids: &[NodeId]) -> Result<Vec<VariableHandle>, StatusCode> {
        self.space().edit(|edit| {
            ids.iter().map(|id| cell(edit, id).map(|cell| VariableHandle::new(id.clone(), cell))).collect()
        })
    }
}

fn variable<'s>(snapshot: &'s Snapshot, id: &NodeId) -> Result<Node<'s>, StatusCode> {
    let node = snapshot.node(id.as_ref()).ok_or(status::BAD_NODE_ID_UNKNOWN)?;
    match node.class() {
        NodeClass::Variable => Ok(node),
        _ => Err(status::BAD_NODE_CLASS_INVALID),
    }
}

/// The cell of a Variable, a new one if it has none.
fn cell(edit: &mut Edit, id: &NodeId) -> Result<Arc<ValueCell>, StatusCode> {
    if let Some(cell) = variable(edit.snapshot(), id)?.cell() {
        return Ok(Arc::clone(cell));
    }
    let cell = Arc::new(ValueCell::default());
    edit.attach_cell(id, Arc::clone(&cell))?;
    Ok(cell)
}
