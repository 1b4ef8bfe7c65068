//! Read (OPC 10000-4 §5.11.2).

use uaforge_codec::{DataValue, NodeId, Variant};
use uaforge_nodes::AttributeId;
use uaforge_types::{ReadRequest, ReadValueId, TimestampsToReturn};

use super::{check_count, split};
use crate::{Error, Session};

impl Session {
    /// Reads attributes. Several calls are made if the server takes fewer operations in one; they are
    /// on their way together. The results are in the order of the nodes, each with its own status.
    ///
    /// # Errors
    /// A call failed as a whole.
    pub async fn read(&self, nodes_to_read: Vec<ReadValueId>) -> Result<Vec<DataValue>, Error> {
        let mut parts = split(nodes_to_read, self.limits().max_nodes_per_read);
        if parts.len() == 1 {
            return self.read_once(parts.pop().unwrap_or_default()).await;
        }
        let calls = parts.into_iter().map(|part| self.read_once(part));
        let mut out = Vec::new();
        for results in crate::join::join_all(calls).await {
            out.append(&mut results?);
        }
        Ok(out)
    }

    async fn read_once(&self, nodes_to_read: Vec<ReadValueId>) -> Result<Vec<DataValue>, Error> {
        let asked = nodes_to_read.len();
        let request = ReadRequest {
            timestamps_to_return: TimestampsToReturn::BOTH,
            nodes_to_read: nodes_to_read.into(),
            ..Default::default()
        };
        let results = self.call_service(request).await?.results.into_vec();
        check_count("ReadRequest", asked, results.len())?;
        Ok(results)
    }

    /// Reads one attribute.
    ///
    /// # Errors
    /// The call failed, or the attribute has a bad status.
    pub async fn read_attribute(&self, node_id: &NodeId, attribute: AttributeId) -> Result<Variant, Error> {
        let nodes = vec![attribute_of(node_id, attribute)];
        let value = self.read(nodes).await?.pop().unwrap_or_default();
        match value.status_or_good() {
            status if status.is_bad() => Err(Error::operation(node_id, status)),
            _ => Ok(value.into_value()),
        }
    }

    /// Reads the values of variables, each with its own status and timestamps.
    ///
    /// # Errors
    /// A call failed as a whole.
    pub async fn read_values<'a>(
        &self,
        nodes: impl IntoIterator<Item = &'a NodeId>,
    ) -> Result<Vec<DataValue>, Error> {
        self.read(nodes.into_iter().map(|node_id| attribute_of(node_id, AttributeId::Value)).collect()).await
    }

    /// Reads the value of one variable, with its status and timestamps.
    ///
    /// # Errors
    /// The call failed as a whole.
    pub async fn read_value(&self, node_id: &NodeId) -> Result<DataValue, Error> {
        Ok(self.read_values([node_id]).await?.pop().unwrap_or_default())
    }
}

fn attribute_of(node_id: &NodeId, attribute: AttributeId) -> ReadValueId {
    ReadValueId { node_id: node_id.clone(), attribute_id: attribute as u32, ..Default::default() }
}
