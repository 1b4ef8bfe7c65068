//! Nodes that a test adds to a server, and short ways to read and write them.

use uaforge_codec::{Array, DataValue, NodeId, QualifiedName, StatusCode, Variant};
use uaforge_nodes::{AttributeId, ClassAttributes, NewNode, VariableAttributes};
use uaforge_server::{Server, VariableHandle};
use uaforge_types::{ReadRequest, ReadValueId, TimestampsToReturn, WriteRequest, WriteValue};

use crate::peer::{Peer, Wire};

/// The attribute id of Value (OPC 10000-6 §A.1).
pub const VALUE: u32 = AttributeId::Value as u32;

const OBJECTS: NodeId = NodeId::numeric(0, 85);
const ORGANIZES: NodeId = NodeId::numeric(0, 35);
const HAS_PROPERTY: NodeId = NodeId::numeric(0, 46);

/// CurrentRead and CurrentWrite of AccessLevel (OPC 10000-3 §8.57).
pub const READ_WRITE: u32 = 3;

/// A scalar Variable that may be read and written.
#[must_use]
pub fn scalar(data_type: u32) -> VariableAttributes {
    VariableAttributes {
        data_type: NodeId::numeric(0, data_type),
        access_level: READ_WRITE,
        ..VariableAttributes::default()
    }
}

/// An array or matrix that may be read and written.
#[must_use]
pub fn array(data_type: u32, value_rank: i32, dimensions: &[u32]) -> VariableAttributes {
    VariableAttributes { value_rank, array_dimensions: dimensions.to_vec(), ..scalar(data_type) }
}

/// Adds a node of the application's namespace below Objects; its name is its number.
///
/// # Panics
/// If there is one with this number.
pub fn add(server: &Server, id: u32, attributes: ClassAttributes) -> NodeId {
    add_below(server, &OBJECTS, &ORGANIZES, id, QualifiedName::new(1, id.to_string()), attributes)
}

fn add_below(
    server: &Server,
    parent: &NodeId,
    reference: &NodeId,
    id: u32,
    name: QualifiedName,
    attributes: ClassAttributes,
) -> NodeId {
    let id = NodeId::numeric(1, id);
    let added: Result<(), StatusCode> = server.space().edit(|edit| {
        edit.add_node(NewNode::new(id.clone(), name, attributes))?;
        edit.add_reference(parent, reference, &id)
    });
    added.expect("the node is added");
    id
}

/// Adds a Variable with a value.
///
/// # Panics
/// As [`add`].
pub fn variable(
    server: &Server,
    id: u32,
    attributes: VariableAttributes,
    value: impl Into<Variant>,
) -> VariableHandle {
    let id = add(server, id, ClassAttributes::Variable(attributes));
    let handle = server.variable(&id).expect("a Variable");
    handle.cell().set(value.into(), Some(crate::peer::start_time().utc));
    handle
}

/// Adds a Property of the base model to a Variable.
///
/// # Panics
/// As [`add`].
pub fn property(server: &Server, of: &NodeId, id: u32, name: &str, value: impl Into<Variant>) {
    let attributes = ClassAttributes::Variable(VariableAttributes::default());
    let id = add_below(server, of, &HAS_PROPERTY, id, QualifiedName::new(0, name), attributes);
    server.variable(&id).expect("a Variable").cell().set(value.into(), None);
}

/// Sets an attribute other than the Value.
///
/// # Panics
/// If the node does not have it.
pub fn set(server: &Server, id: &NodeId, attribute: AttributeId, value: impl Into<Variant>) {
    server.space().edit(|edit| edit.set_attribute(id, attribute, value.into())).expect("it is set");
}

/// An attribute to read.
#[must_use]
pub fn item(node: &NodeId, attribute: u32) -> ReadValueId {
    ReadValueId { node_id: node.clone(), attribute_id: attribute, ..ReadValueId::default() }
}

/// A Read with both timestamps.
#[must_use]
pub fn read_request(items: Vec<ReadValueId>) -> ReadRequest {
    ReadRequest {
        timestamps_to_return: TimestampsToReturn::BOTH,
        nodes_to_read: Array::from(items),
        ..ReadRequest::default()
    }
}

/// Reads one attribute, with both timestamps.
///
/// # Panics
/// If the whole call fails.
pub fn read<W: Wire>(peer: &mut Peer<W>, node: &NodeId, attribute: u32) -> DataValue {
    read_item(peer, item(node, attribute))
}

/// Reads one item, with both timestamps.
///
/// # Panics
/// If the whole call fails.
pub fn read_item<W: Wire>(peer: &mut Peer<W>, item: ReadValueId) -> DataValue {
    peer.call(read_request(vec![item])).expect("the Read is answered").results[0].clone()
}

/// The value of one attribute.
///
/// # Panics
/// If it cannot be read.
pub fn value<W: Wire>(peer: &mut Peer<W>, node: &NodeId, attribute: u32) -> Variant {
    let read = read(peer, node, attribute);
    assert!(read.status_or_good().is_good(), "{read:?}");
    read.into_value()
}

/// A value to write, without status and timestamps.
#[must_use]
pub fn write_item(node: &NodeId, attribute: u32, value: impl Into<Variant>) -> WriteValue {
    WriteValue {
        node_id: node.clone(),
        attribute_id: attribute,
        value: DataValue::new(value),
        ..WriteValue::default()
    }
}

/// Writes items in one call; a result for each.
///
/// # Panics
/// If the whole call fails.
pub fn write_all<W: Wire>(peer: &mut Peer<W>, items: Vec<WriteValue>) -> Vec<StatusCode> {
    let count = items.len();
    let request = WriteRequest { nodes_to_write: Array::from(items), ..WriteRequest::default() };
    let response = peer.call(request).expect("the Write is answered");
    assert_eq!(response.results.len(), count);
    response.results.to_vec()
}

/// Writes the Value of a node.
///
/// # Panics
/// If the whole call fails.
pub fn write<W: Wire>(peer: &mut Peer<W>, node: &NodeId, value: impl Into<Variant>) -> StatusCode {
    write_all(peer, vec![write_item(node, VALUE, value)])[0]
}
