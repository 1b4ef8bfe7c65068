//! Our server with the nodes of a space file: `peer_server SPACE`. Prints its address, runs until it is
//! interrupted.

use std::error::Error;

use serde_json::Value;
use uaforge::server::Server;
use uaforge_codec::{Guid, NodeId, QualifiedName, StatusCode};
use uaforge_nodes::{ClassAttributes, Edit, NewNode, ValueCell, VariableAttributes};
use uaforge_tests::interop::{Namespace, items, methods, number, text, value};

const OBJECTS: NodeId = NodeId::numeric(0, 85);
const ORGANIZES: NodeId = NodeId::numeric(0, 35);
const HAS_TYPE_DEFINITION: NodeId = NodeId::numeric(0, 40);
const HAS_PROPERTY: NodeId = NodeId::numeric(0, 46);
const HAS_COMPONENT: NodeId = NodeId::numeric(0, 47);
const BASE_OBJECT_TYPE: NodeId = NodeId::numeric(0, 58);
const PROPERTY_TYPE: NodeId = NodeId::numeric(0, 68);
const ARGUMENT: NodeId = NodeId::numeric(0, 296);
const BASE_DATA_VARIABLE_TYPE: NodeId = NodeId::numeric(0, 63);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: peer_server SPACE")?;
    let space: Value = serde_json::from_str(&std::fs::read_to_string(path)?)?;
    let server = Server::builder()
        .endpoint("opc.tcp://127.0.0.1:0")
        .insecure()
        .application_uri("urn:example:peer:uaforge")
        .model(uaforge::ns0())
        .namespace(text(&space, "uri"))
        .build()?;
    let index = server.space().snapshot().namespaces().index_of(text(&space, "uri"));
    Filler { namespace: Namespace(index.ok_or("the namespace is not there")?) }.fill(&server, &space)?;
    for url in server.endpoints() {
        println!("uaforge listens on {url}");
    }
    server.run_until(tokio::signal::ctrl_c()).await?;
    Ok(())
}

struct Filler {
    namespace: Namespace,
}

impl Filler {
    fn fill(&self, server: &Server, space: &Value) -> Result<(), Box<dyn Error>> {
        let folder = self.namespace.node("Peer")?;
        let added = server.space().edit(|edit| {
            let object = ClassAttributes::Object { event_notifier: 0 };
            let top = NewNode::new(folder.clone(), self.name("Peer"), object.clone());
            add(edit, top, (&OBJECTS, &ORGANIZES), Some(&BASE_OBJECT_TYPE))?;
            let others = [
                ("ByGuid", NodeId::guid(self.namespace.0, Guid::default())),
                ("ByOpaque", NodeId::opaque(self.namespace.0, [0, 255])),
            ];
            for (name, id) in others {
                let node = NewNode::new(id, self.name(name), object.clone());
                add(edit, node, (&folder, &HAS_COMPONENT), Some(&BASE_OBJECT_TYPE))?;
            }
            Ok(())
        });
        added.map_err(|status: StatusCode| status.to_string())?;
        for variable in items(space, "variables") {
            self.add_variable(server, &folder, variable).map_err(|error| format!("{variable}: {error}"))?;
        }
        for method in items(space, "methods") {
            self.add_method(server, &folder, method).map_err(|error| format!("{method}: {error}"))?;
            let name = text(method, "name").to_owned();
            let id = self.namespace.node(&name)?;
            server.on_call(folder.clone(), id, move |call| {
                methods::run(&name, &call.inputs).map_err(Into::into)
            })?;
        }
        Ok(())
    }

    /// A Method with its arguments as Properties (OPC 10000-3 §5.7).
    fn add_method(&self, server: &Server, folder: &NodeId, method: &Value) -> Result<(), Box<dyn Error>> {
        let name = text(method, "name");
        let id = self.namespace.node(name)?;
        let node = NewNode::new(id.clone(), self.name(name), ClassAttributes::Method { executable: true });
        let added = server.space().edit(|edit| add(edit, node, (folder, &HAS_COMPONENT), None));
        added.map_err(|status: StatusCode| status.to_string())?;
        for (side, property) in [("inputs", "InputArguments"), ("outputs", "OutputArguments")] {
            let arguments =
                items(method, side).iter().map(methods::argument).collect::<Result<Vec<_>, _>>()?;
            if arguments.is_empty() {
                continue;
            }
            let attributes = VariableAttributes {
                data_type: ARGUMENT,
                value_rank: 1,
                array_dimensions: vec![u32::try_from(arguments.len())?],
                ..Default::default()
            };
            let property_id = NodeId::string(self.namespace.0, format!("{name}.{property}"));
            let browse_name = QualifiedName { namespace_index: 0, name: property.into() };
            let node = NewNode::new(property_id.clone(), browse_name, ClassAttributes::Variable(attributes));
            let cell = ValueCell::default();
            cell.set(arguments, None);
            let added = server.space().edit(|edit| {
                add(edit, node, (&id, &HAS_PROPERTY), Some(&PROPERTY_TYPE))?;
                edit.attach_cell(&property_id, std::sync::Arc::new(cell)).map(drop)
            });
            added.map_err(|status: StatusCode| status.to_string())?;
        }
        Ok(())
    }

    fn add_variable(&self, server: &Server, folder: &NodeId, variable: &Value) -> Result<(), Box<dyn Error>> {
        let name = text(variable, "name");
        let dimensions = items(variable, "dimensions").iter().filter_map(Value::as_u64);
        let attributes = VariableAttributes {
            data_type: self.namespace.node(text(variable, "type"))?,
            value_rank: number(variable, "rank", -1),
            array_dimensions: dimensions.map(u32::try_from).collect::<Result<_, _>>()?,
            access_level: number(variable, "access", 1),
            ..Default::default()
        };
        let id = self.namespace.node(name)?;
        let node = NewNode::new(id.clone(), self.name(name), ClassAttributes::Variable(attributes));
        let cell = ValueCell::default();
        cell.set(value(text(variable, "value"))?, Some(server.now()));
        let added = server.space().edit(|edit| {
            add(edit, node, (folder, &HAS_COMPONENT), Some(&BASE_DATA_VARIABLE_TYPE))?;
            edit.attach_cell(&id, std::sync::Arc::new(cell)).map(drop)
        });
        Ok(added.map_err(|status: StatusCode| status.to_string())?)
    }

    fn name(&self, name: &str) -> QualifiedName {
        QualifiedName { namespace_index: self.namespace.0, name: name.into() }
    }
}

/// Adds a node with the reference from its parent.
fn add(
    edit: &mut Edit,
    node: NewNode,
    parent: (&NodeId, &NodeId),
    definition: Option<&NodeId>,
) -> Result<(), StatusCode> {
    let id = node.id.clone();
    edit.add_node(node)?;
    edit.add_reference(parent.0, parent.1, &id)?;
    definition.map_or(Ok(()), |definition| edit.add_reference(&id, &HAS_TYPE_DEFINITION, definition))
}
